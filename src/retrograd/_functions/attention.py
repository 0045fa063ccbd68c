"""F.scaled_dot_product_attention"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._engine import names
from .._engine.modes import grad_on
from .._engine.tensor import wants_grad, wrap
from .._rules import attention, create, linalg, number, shape
from .._rules.cast import cast
from .._rules.index import check_number

# Which kernels programs allow (torch.nn.attention.sdpa_kernel); one of the first two must be.
BOTH = "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
KERNELS = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}
NO_KERNEL = (
    "No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both the math kernel "
    "and the fused kernels.")


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:
    """softmax(query keyT * scale + mask) value, for (*, L, E), (*, S, E), (*, S, V) -> (*, L, V).   Vaswani et al. 2017

    attn_mask: bool (True: may attend) or numbers to add; is_causal: position i attends to positions up to i.
    dropout_p: probability that a weight becomes zero, at every call: pass 0 in evaluation.
    scale defaults to 1/sqrt(E).  enable_gqa: fewer heads in key and value, each shared by several of query.
    """
    q, k, v = query, key, value
    own = q.array.dtype
    if k.array.dtype != own or v.array.dtype != own:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{names.C[own.name]} key.dtype: {names.C[k.array.dtype.name]} and value.dtype: "
            f"{names.C[v.array.dtype.name]} "
            "instead.")
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{q.ndim} key.dim: {k.ndim} and value.dim: {v.ndim} instead.")
    if attn_mask is not None:
        kind = attn_mask.array.dtype
        if kind != np.bool_ and kind != own and kind != np.float32:
            raise RuntimeError(
                "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
                f"{names.C[kind.name]} and  query.dtype: {names.C[own.name]} instead.")
        if attn_mask.ndim < 2 and q.ndim == 4 and q.array.size and k.array.size:
            raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got -2)" if attn_mask.ndim
                             else "Dimension specified as -2 but tensor has no dimensions")
    if dropout_p > 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p:g}")
    if not (KERNELS["math"] or KERNELS["flash"]):
        raise RuntimeError(NO_KERNEL)
    rows, columns = q.array.shape[-2], k.array.shape[-2]
    if own.kind in "iub" and q.array.size and k.array.size and v.array.size:
        if attn_mask is not None and attn_mask.array.dtype.kind == "b":
            check_number(-math.inf, own)
        if is_causal and attn_mask is not None:
            raise RuntimeError(BOTH)
        if q.array.ndim == 2:
            raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: float != {names.C[own.name]}")
        raise RuntimeError(f"expected scalar type Float but found {names.SCALAR[own.name]}")
    mask = attn_mask
    if mask is not None and mask.array.dtype == np.bool_:
        mask = wrap(np.where(mask.array, 0.0, -np.inf).astype(own))
    factor = float(scale) if scale is not None else 1.0 / math.sqrt(q.array.shape[-1]) if q.array.shape[-1] else 1.0
    if KERNELS["flash"] and fused(q, k, v, attn_mask, dropout_p, rows, columns):
        added = None if mask is None else mask.array
        if added is not None and added.shape[-2:] != (rows, columns):
            added = np.ascontiguousarray(np.broadcast_to(added, (*added.shape[:-2], rows, columns)))
        if is_causal and added is not None:
            added = np.where(np.tri(rows, columns, dtype=bool), added, -np.inf).astype(own)
        op = attention.ScaledDotProductFlashAttentionForCpuBackward0(
            None if attn_mask is None else attn_mask.array, bool(is_causal), scale, factor, added)
        return op.run([q, k, v])
    if not KERNELS["math"]:
        raise RuntimeError("No available kernel.  Aborting execution.")
    if 0 in (*q.array.shape[:-1], *k.array.shape[:-1], *v.array.shape):         # nothing looks, or at nothing
        nothing = wrap(np.zeros((*q.array.shape[:-1], v.array.shape[-1]), own))
        return nothing + (q.sum() + k.sum() + v.sum()) * 0
    if is_causal:
        if mask is not None:
            raise RuntimeError(BOTH)
        mask = wrap(np.where(np.tri(rows, columns, dtype=bool), 0.0, -np.inf).astype(own))
    if enable_gqa:
        k, v = shared(q, k), shared(q, v)
    half = math.sqrt(factor) if factor > 0 else 1.0
    left = number.MulBackward1(half).run(q)
    right = number.MulBackward1(half if factor > 0 else factor).run(shape.transpose(k, -2, -1))
    scores = linalg.matmul(left, right)
    if mask is not None:
        have, both = tuple(scores.array.shape), linalg.batch_shape(tuple(scores.array.shape), tuple(mask.array.shape))
        if both != have:
            raise RuntimeError(f"output with shape {list(have)} doesn't match the broadcast shape {list(both)}")
        scores = scores + (mask if mask.array.dtype == own else cast(mask, own))
    weights = attention.safe_softmax(scores, -1)
    if dropout_p > 0:
        from .activation import dropout  # draws random numbers; the rest does not
        weights = dropout(weights, dropout_p, True)
    return linalg.matmul(weights, v)


def fused(q: Any, k: Any, v: Any, mask: Any, dropout_p: float, rows: int, columns: int) -> bool:
    """Would PyTorch use its one-node attention here?"""
    if dropout_p > 0 or not q.ndim == k.ndim == v.ndim == 4 or not (rows and columns) or q.array.dtype.kind in "iub":
        return False
    if q.array.shape[:2] != k.array.shape[:2] or k.array.shape[:3] != v.array.shape[:3]:
        return False
    if not q.array.shape[3] == k.array.shape[3] == v.array.shape[3] > 0:
        return False
    if any(x.array.strides[3] != x.array.itemsize for x in (q, k, v)):
        return False
    if mask is None:
        return True
    if grad_on() and wants_grad(mask):
        return False
    s = mask.array.shape
    if len(s) not in (2, 4):
        return False
    return all(n in (1, whole) for n, whole in zip(s, (*q.array.shape[:2], rows, columns)[-len(s):], strict=True))


def shared(q: Any, x: Any) -> Any:
    """Each head of x repeated for the heads of q that share it."""
    heads, own = q.array.shape[-3], x.array.shape[-3]
    if heads == own:
        return x
    if heads % own:
        raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
    sizes = tuple(x.array.shape)
    wide = shape.expand(
        shape.unsqueeze(x, x.ndim - 2), sizes[:-2] + (heads // own,) + sizes[-2:])
    return shape.reshape(create.contiguous_copy(wide), sizes[:-3] + (heads,) + sizes[-2:])
