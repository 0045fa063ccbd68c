"""Products of factors: by our own kernels where the numbers are in the processor's memory, else by the engine.

PyTorch has no product of a matrix with itself that computes only half of it, and on some processors its BLAS works at half
speed (docs/kernels.md, gram.c and multiply.c).  A tensor of PyTorch's shares its memory with an array, so the kernels work on
both engines, on as many threads as the engine may use.  float32 and float64 on processors with AVX-512; everything else, and
an install without kernels, goes the plain way.

N samples, T tokens, I in, O out.
"""
from __future__ import annotations

import math
import sys
from functools import cache
from typing import Any

import numpy as np

from ..._kernels import kernel

LEAST = 32      # of rows or columns of a result: a BLAS is faster where they are few and the terms many
LARGE = 1 << 22     # bytes from which it pays to ask for huge pages
PAGE = 1 << 21
GHOST = 1.25    # what the kernel for ghost norms does while dense gradients are multiplied out once

_gram = kernel("gram")
_mirror = kernel("mirror")
_layer_norm = kernel("layer_norm")
_row_norms = kernel("row_norms")
_token_sums = kernel("token_sums")
_ghost = kernel("ghost")
_multiply_into = kernel("multiply_into")


def multiplied(T: Any, a: Any, b: Any) -> Any:
    """a (..., n, m) @ b (..., m, p), of equal stacks."""
    if T.__name__ == "torch" and max(a.shape[-2], b.shape[-1]) >= LEAST and not torch_is_fast():
        found = arrays(T, a, b)
        if found is not None:
            y = spacious(T, (*a.shape[:-1], b.shape[-1]), a)
            if _multiply_into(*found, y.numpy(), T.get_num_threads()):
                return y
    return a @ b


def times(T: Any, a: Any, b: Any) -> Any:
    """a * b of one dtype, or of a tensor and a number, broadcast; for results that may be large."""
    shape = a.shape if isinstance(b, (int, float)) else T.broadcast_shapes(a.shape, b.shape)
    if a.dtype.itemsize * math.prod(shape) < LARGE or not ours(T, a):
        return a * b
    return T.mul(a, b, out=spacious(T, shape, a))


def spacious(T: Any, shape: Any, like: Any) -> Any:
    """An empty tensor of like's dtype and device; a large one has huge pages, where the system gives them when asked.

    New memory comes in pages of 4 KB, and each takes longer to get than to fill.  NumPy asks for its arrays, too.
    """
    y = T.empty(*shape, dtype=like.dtype, device=like.device)
    size = y.numel() * y.dtype.itemsize
    if size >= LARGE and y.device.type == "cpu" and (ask := advice()) is not None:
        first = -(-y.data_ptr() // PAGE) * PAGE
        last = (y.data_ptr() + size) // PAGE * PAGE
        ask(first, last - first, 14)            # MADV_HUGEPAGE; an answer that it cannot be changes nothing
    return y


@cache
def advice() -> Any:
    """Linux's madvise(address, length, number); None elsewhere."""
    if sys.platform != "linux":
        return None
    import ctypes
    try:
        call = ctypes.CDLL(None).madvise
    except (OSError, AttributeError):
        return None
    call.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return call


def with_itself(T: Any, x: Any) -> Any:
    """x (n, k) @ x.T"""
    n = x.shape[0]
    if n >= 2 * LEAST:
        y = T.empty(n, n, dtype=x.dtype, device=x.device)
        if lower(T, y, x.T, 0.0, 1.0) and _mirror(y.numpy()):
            return y
    return multiplied(T, x, x.T)


def add_gram(T: Any, A: Any, x: Any, keep: float, share: float) -> None:
    """A = keep A + share x' x in place, x (n, k): its lower half, and keep 0 does not read it."""
    if lower(T, A, x, keep, share):
        return
    k = x.shape[1]
    step = k if k < 128 else -(-k // (2 if k < 256 else 4))
    for i in range(0, k, step):
        end = min(i + step, k)
        A[i:end, :end].addmm_(x[:, i:end].T, x[:, :end], beta=keep, alpha=share)


def lower(T: Any, A: Any, x: Any, keep: float, share: float) -> bool:
    """add_gram by the kernel; False when it is not for this case."""
    found = arrays(T, x, A)
    return found is not None and bool(_gram(*found, keep, share, threads(T)))


def whole(T: Any, lower: Any) -> Any:
    """The symmetric matrix of a lower half."""
    return T.tril(lower) + T.tril(lower, -1).T


def ghost_is_less(T: Any, a: Any, ds: list[Any]) -> bool:
    """Are norms of d' a for all d, a (N, T, I), d (N, T, O), cheaper by Gram matrices?"""
    tokens, I, O = a.shape[1], a.shape[2], sum(d.shape[2] for d in ds)
    return bool(tokens * (I + O) <= I * O * (GHOST if ours(T, a) else 1))


def ghost_norms2(T: Any, a: Any, ds: list[Any]) -> Any:
    """(N,) squared norms of the gradients d' a for all d together, a (N, T, I), d (N, T, O): Goodfellow 2015, Li et al. 2022."""
    found = arrays(T, a, *ds)
    if found is not None:
        y = T.empty(a.shape[0], dtype=a.dtype)
        if _ghost(found[0], tuple(found[1:]), y.numpy(), threads(T)):
            return y.clamp(min=0)
    gram = ds[0] @ ds[0].transpose(1, 2)
    for d in ds[1:]:
        gram = gram + d @ d.transpose(1, 2)
    return (a @ a.transpose(1, 2) * gram).sum((1, 2)).clamp(min=0)


def token_sums(T: Any, d: Any, x: Any = None) -> Any:
    """(N, *F): d (N, T, *F), or d times x of the same shape, summed over tokens."""
    given = (d,) if x is None else (d, x)
    found = arrays(T, *(t.reshape(*t.shape[:2], -1) for t in given)) if d.numel() else None
    if found is not None:
        y = T.empty(d.shape[0], *d.shape[2:], dtype=d.dtype)
        if _token_sums(found[0], found[1] if len(found) > 1 else None, y.numpy().reshape(d.shape[0], -1)):
            return y
    return (d if x is None else d * x).sum(1)


def row_norms2(T: Any, ids: Any, d: Any, rows: int) -> Any:
    """(N,) squared norms of tables with that many rows, to which d (N, T, C) is added at ids (N, T); None without the kernel.

    Rows numbered `rows` are nowhere (padding).
    """
    found = arrays(T, d)
    if found is not None and ids.device.type == "cpu":
        y = T.empty(d.shape[0], dtype=d.dtype)
        if _row_norms(ids.numpy(), found[0], rows, y.numpy()):
            return y
    return None


def layer_norm(T: Any, x: Any, shape: Any, eps: float) -> Any:
    """F.layer_norm without weight and bias: PyTorch's takes several times as long."""
    found = arrays(T, x)
    made = None if found is None else _layer_norm(found[0], None, None, len(shape), eps)
    return T.nn.functional.layer_norm(x, shape, None, None, eps) if made is None else T.from_numpy(made[0])


def arrays(T: Any, *tensors: Any) -> list[Any] | None:
    """The tensors' memory as arrays; None when it is elsewhere, of another type, or a subclass has its own ideas."""
    found = []
    for x in tensors:
        if not ours(T, x):
            return None
        try:
            found.append(x.numpy())
        except (RuntimeError, TypeError):       # recorded, sparse, negated lazily, of a functional transform
            return None
    return found


def ours(T: Any, x: Any) -> bool:
    """May x be one for a kernel?"""
    return (type(x) is T.Tensor and x.device.type == "cpu" and x.dtype in (T.float32, T.float64) and there()
            and not (T.__name__ == "torch" and T.is_autocast_enabled("cpu")))


@cache
def there() -> bool:
    """Are there kernels, and vectors for which they are made?"""
    x = np.ones((1, 1), np.float32)
    return bool(_gram(x, x.copy(), 0.0, 1.0, 1))


def threads(T: Any) -> int:
    """How many the kernels may use; 0: what retrograd.set_num_threads says."""
    return int(T.get_num_threads()) if T.__name__ == "torch" else 0


@cache
def torch_is_fast() -> bool:
    """PyTorch's BLAS has code of its own for the widest vectors of Intel's processors."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return any("GenuineIntel" in line for line in lines if line.startswith("vendor_id"))
    except OSError:
        return False
