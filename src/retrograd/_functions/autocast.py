"""Automatic casts of torch.autocast("cpu"): which function computes in which dtype, and the switches of the running thread.

A mode of the dispatch point below all others casts the arguments of the functions in the tables below, which are PyTorch's for
the CPU; what calls several of PyTorch's operators is cast as the first of those is.
https://pytorch.org/docs/stable/amp.html#cpu-op-specific-behavior
"""
from __future__ import annotations

import threading
from typing import Any, Final, Literal

from .._engine.dispatch import engage
from .._engine.modes import state
from .._engine.scopes import Recording
from .._engine.tensor import TensorBase, wants_grad
from .._tensor import dtypes

__all__ = [
    "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache", "get_autocast_cpu_dtype",
    "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_cache_enabled", "is_autocast_cpu_enabled",
    "is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
    "set_autocast_dtype", "set_autocast_enabled",
]
LOWER: Final = frozenset("""
    addbmm addmm baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
    corrcoef cov linear matmul __matmul__ __rmatmul__ linalg_matmul linalg_matrix_power linalg_multi_dot linalg_vecdot
    matrix_power mm prelu scaled_dot_product_attention
""".split())
WIDER: Final = frozenset("cat concat concatenate stack hstack vstack dstack column_stack row_stack index_copy".split())
SINGLE: Final = frozenset("""
    adaptive_avg_pool3d adaptive_max_pool3d adaptive_max_pool3d_with_indices avg_pool3d binary_cross_entropy
    binary_cross_entropy_with_logits cdist cholesky cholesky_inverse cholesky_solve cosine_embedding_loss cross_entropy ctc_loss
    fft_fft fft_fft2 fft_fftn fft_hfft fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2
    fft_rfftn fractional_max_pool2d fractional_max_pool3d fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices
    geqrf grid_sample grid_sampler hinge_embedding_loss huber_loss inverse kl_div l1_loss linalg_cholesky linalg_cholesky_ex
    linalg_cond linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product linalg_inv linalg_inv_ex
    linalg_lstsq linalg_matrix_rank linalg_qr linalg_solve linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve lu_solve
    margin_ranking_loss max_pool3d max_pool3d_with_indices max_unpool2d max_unpool3d mse_loss multi_margin_loss
    multilabel_margin_loss nanquantile nll_loss orgqr ormqr pinverse poisson_nll_loss polar prod qr quantile smooth_l1_loss
    soft_margin_loss stft svd trace triangular_solve triplet_margin_loss view_as_complex
""".split())
SOMETIMES: Final = frozenset("einsum inner pad tensordot".split())
PASSES: Final = frozenset(("backward", "grad"))           # hooks inside are the user's code: cast there, too


class _Thread(threading.local):
    """What a thread has switched on."""

    def __init__(self) -> None:
        self.enabled: dict[str, bool] = {"cpu": False, "cuda": False}
        self.dtypes: dict[str, Any] = {"cpu": dtypes.bfloat16}
        self.cached, self.depth = True, 0
        self.caster = _Caster(self)


class _Caster:
    """The mode."""

    hidden = True                               # no part of the stack of modes that programs see

    def __init__(self, thread: Any) -> None:
        self.thread = thread
        self.cache: dict[tuple[int, Any], tuple[Any, Any]] = {}     # (id, dtype) of a leaf: (the leaf, cast)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in SOMETIMES:
            name = which(name, args, kwargs)
        if kwargs.get("out") is None:
            if name in LOWER:
                return self.call(func, args, kwargs, self.lower)
            if name in SINGLE:
                return self.call(func, args, kwargs, dtypes.float32)
            if name in WIDER:
                kind = self.lower if narrow((args, kwargs), self.lower) else dtypes.float32
                return self.call(func, args, kwargs, kind)
        if name not in PASSES and not hasattr(func, "_qualified_op_name"):      # nor an operator of the user's
            return func(*args, **kwargs)
        it = state()
        it.functions.insert(0, self)
        it.skip = True
        try:
            return func(*args, **kwargs)
        finally:
            it.skip = False
            if self in it.functions:
                it.functions.remove(self)

    @property
    def lower(self) -> Any:
        return self.thread.dtypes["cpu"]

    def call(self, func: Any, args: Any, kwargs: Any, dtype: Any) -> Any:
        """func of what was cast, the last argument first, as C++ evaluates arguments: backward meets the casts in this order."""
        named = {k: self.cast(kwargs[k], dtype) for k in reversed(kwargs)}
        placed = [self.cast(x, dtype) for x in reversed(args)]
        return func(*reversed(placed), **named)

    def cast(self, x: Any, dtype: Any) -> Any:
        """x, or what it contains, in the dtype: tensors of floats but doubles."""
        if isinstance(x, (list, tuple)):
            return type(x)([self.cast(y, dtype) for y in x]) if type(x) in (list, tuple) else x
        if not isinstance(x, TensorBase) or not castable(x) or x.dtype is dtype:  # type: ignore[attr-defined]
            return x
        t: Any = x
        if dtype is not self.lower or t.dtype is not dtypes.float32 or not self.thread.cached or not (
                wants_grad(x) and x.fn is None and x.origin is None):
            return t.to(dtype)
        key = id(x), dtype
        if key not in self.cache:
            with Recording():                   # what no_grad computes with first may be recorded later
                self.cache[key] = t, t.to(dtype)
        return self.cache[key][1]


def castable(x: Any) -> bool:
    return x.array.dtype.kind in "fV" and x.array.itemsize < 8


def narrow(x: Any, lower: Any) -> bool:
    """Are all tensors of floats among x of the lower dtype?"""
    if isinstance(x, TensorBase):
        return not castable(x) or x.dtype is lower  # type: ignore[attr-defined]
    if isinstance(x, dict):
        x = list(x.values())
    return not isinstance(x, (list, tuple)) or all(narrow(y, lower) for y in x)


def which(name: str, args: Any, kwargs: Any) -> str:
    """A function of the tables that is cast as this call is; "" where it is not."""
    if name == "pad":
        mode = kwargs.get("mode", args[2] if len(args) > 2 else "constant")
        return "grid_sample" if mode in ("reflect", "replicate") else ""
    if name == "inner":
        return "mm" if all(x.dim() > 1 for x in (*args, *kwargs.values()) if isinstance(x, TensorBase)) else ""  # type: ignore[attr-defined]
    if name == "tensordot":
        a, b = args[:2]
        dims = kwargs.get("dims", args[2] if len(args) > 2 else 2)
        summed = len(dims[0]) if isinstance(dims, (list, tuple)) else int(dims)
        return "mm" if a.dim() + b.dim() > 2 * summed else ""
    if not args or not isinstance(args[0], str):
        return "mm" if len(args) > 3 else ""
    left, _, right = args[0].replace(" ", "").partition("->")
    terms = left.split(",")
    shared = {letter for letter in left if sum(letter in term for term in terms) > 1}
    return "mm" if len(terms) > 1 and shared - set(right) else ""


_thread: Final = _Thread()


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Does autocast cast for device_type?"""
    known = type(device_type) is str and device_type in _thread.enabled     # half the time of a device
    return _thread.enabled.get(device_type if known else dtypes.device(device_type).type, False)


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Switch it for device_type; set_autocast_enabled(enabled) means "cuda"."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    kind = dtypes.device(device_type).type
    _thread.enabled[kind] = bool(enabled)
    if kind == "cpu":
        it, caster = state(), _thread.caster
        on = caster in it.functions
        if enabled and not on:
            it.functions.insert(0, caster)
            it.busy = False
        elif on and not enabled:
            it.functions.remove(caster)
        engage(it)


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """What autocast casts to on device_type: bfloat16 on the CPU, else float16, unless set otherwise."""
    kind = dtypes.device(device_type).type
    if kind == "meta":
        raise RuntimeError("unsupported scalarType")
    found: dtypes.dtype = _thread.dtypes.get(kind, dtypes.float16)
    return found


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Set what autocast casts to on device_type."""
    _thread.dtypes[dtypes.device(device_type).type] = dtype


def is_autocast_cpu_enabled() -> bool:
    """is_autocast_enabled("cpu")"""
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """set_autocast_enabled("cpu", enabled)"""
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> dtypes.dtype:
    """get_autocast_dtype("cpu")"""
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: dtypes.dtype) -> None:
    """set_autocast_dtype("cpu", dtype)"""
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> dtypes.dtype:
    """get_autocast_dtype("cuda")"""
    return get_autocast_dtype("cuda")


def is_autocast_cache_enabled() -> bool:
    """Are casts of leaves that require grad kept until autocast ends?"""
    return _thread.cached


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Keep casts of parameters while autocast is on (enabled), or not."""
    _thread.cached = bool(enabled)


def clear_autocast_cache() -> None:
    """Forget them."""
    _thread.caster.cache.clear()


def autocast_increment_nesting() -> int:
    """One context more -> how many there are."""
    _thread.depth += 1
    return _thread.depth


def autocast_decrement_nesting() -> int:
    """One context less -> how many there are."""
    _thread.depth -= 1
    return _thread.depth


class Switched:
    """A context in which autocast for `device` is as the attributes say."""

    device: str
    fast_dtype: Any
    _enabled: bool
    _cache_enabled: bool

    def __enter__(self) -> Any:
        self.prev_cache_enabled = is_autocast_cache_enabled()
        self.prev = is_autocast_enabled(self.device)
        self.prev_fastdtype = get_autocast_dtype(self.device)
        set_autocast_enabled(self.device, self._enabled)
        set_autocast_dtype(self.device, self.fast_dtype)
        autocast_increment_nesting()
        set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *error: object) -> Literal[False]:
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        set_autocast_enabled(self.device, self.prev)
        set_autocast_dtype(self.device, self.prev_fastdtype)
        set_autocast_cache_enabled(self.prev_cache_enabled)
        return False


class As(Switched):
    """Autocast as it was when this was made."""

    def __init__(self) -> None:
        self.device, self._enabled, self.fast_dtype = "cpu", is_autocast_cpu_enabled(), get_autocast_cpu_dtype()
        self._cache_enabled = is_autocast_cache_enabled()
