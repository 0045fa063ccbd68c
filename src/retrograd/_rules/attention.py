"""Attention in one node, and the softmax that attention is made of elsewhere."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.nary import Nary
from .._engine.node import Array, Value
from .._engine.op import Unary
from .._engine.tensor import TensorBase
from .._kernels import kernel
from . import linalg, shape
from .softmax import softmax_grad

np: Final[Any] = numpy
quick_safe_softmax: Final[Any] = kernel("safe_softmax")
quick_attention: Final[Any] = kernel("attention")
quick_attention_grad: Final[Any] = kernel("attention_grad")


@final
class SafeSoftmaxBackward0(Unary):
    """Softmax in which a row of -inf gives zeros."""

    shows: ClassVar[Any] = {"dim": "dim"}

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: Array) -> Array:
        return safe_softmax_of(x, self.dim)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return softmax_grad(g, y, self.dim if self.dim >= 0 else self.dim + y.ndim)


def safe_softmax_of(x: Array, dim: int) -> Array:
    if dim == -1 or dim == x.ndim - 1:
        quick = quick_safe_softmax(x, None)
        if quick is not None:
            return quick
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    if x.shape[dim] == 0:
        return np.zeros_like(x)
    top = wide.max(dim, keepdims=True)
    top = np.where(top == -np.inf, wide.dtype.type(0), top)
    y = np.exp(wide - top)
    total = y.sum(dim, keepdims=True)
    y /= np.where(total == 0, wide.dtype.type(1), total)
    return y if y.dtype is x.dtype else y.astype(x.dtype)


def safe_softmax(x: Value, dim: int) -> Value:
    return SafeSoftmaxBackward0(dim).run(x)


@final
class ScaledDotProductFlashAttentionForCpuBackward0(Nary):
    """softmax(q kt * scale + mask) v in one node, which keeps of each row of weights the logarithm of its sum alone.

    mask: an array to add (-inf where forbidden), or None; causal: besides, row i sees columns up to i.
    """

    holds: bool = True
    names: ClassVar[Any] = {"query": 0, "key": 1, "value": 2, "output": "y"}
    shows: ClassVar[Any] = {
        "attn_mask": "mask", "dropout_p": "dropout", "is_causal": "causal", "scale": "scale", "logsumexp": "lse"}

    def __init__(self, mask: Array, causal: bool, scale: Any, factor: float, added: Array) -> None:
        super().__init__()
        self.mask: Array = mask
        self.added: Array = added
        self.causal = causal
        self.scale: Any = scale
        self.factor = factor
        self.dropout: float = 0.0
        self.lse: Array = None                  # (B, H, T)

    def drop(self) -> None:
        self.lse = None
        self.added = None

    def hidden(self, s: Value) -> Array:
        """What is added to scores (..., T, S), or None."""
        if not self.causal or self.added is not None:
            return self.added
        found = linalg.sizes(s)
        dtype = linalg.raw(s).dtype
        rows = len(found) - 2
        return np.where(np.tri(found[rows], found[rows + 1], dtype=bool), dtype.type(0), dtype.type(-np.inf))

    def weights(self, q: Value, k: Value) -> Value:
        s = linalg.matmul(q * self.factor, shape.mT(k))
        add = self.hidden(s)
        return safe_softmax(s if add is None else s + add, -1)

    def forward(self, xs: list[Array]) -> Array:
        quick = quick_attention(xs[0], xs[1], xs[2], self.added, self.causal, self.factor)
        if quick is not None:
            self.lse = quick[1].swapaxes(1, 2)
            return quick[0]
        wide = [x.astype(np.float32) if x.dtype.itemsize == 2 else x for x in xs]
        s: Array = linalg.matmul(wide[0] * self.factor, shape.mT(wide[1]))
        add = self.hidden(s)
        if add is not None:
            s = s + add
        top = s.max(-1, keepdims=True)
        top = np.where(top == -np.inf, s.dtype.type(0), top)
        p = np.exp(s - top)
        total = p.sum(-1, keepdims=True)
        self.lse = np.where(total == 0, np.inf, top + np.log(total))[..., 0].astype(s.dtype)
        p /= np.where(total == 0, s.dtype.type(1), total)
        y: Array = linalg.matmul(p, wide[2])
        out = np.empty_like(xs[0])              # lies as q does
        out[...] = y
        return out

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        q = xs[0]
        k = xs[1]
        v = xs[2]
        if not isinstance(q, TensorBase) and not isinstance(k, TensorBase):
            quick = quick_attention_grad(g, q, k, v, y, self.lse.swapaxes(1, 2), self.added, self.causal, self.factor)
            if quick is not None:
                return list(quick)
        p = self.weights(q, k)
        out: list[Value] = [None, None, None]
        if want[2]:
            out[2] = linalg.matmul(shape.mT(p), g)
        if want[0] or want[1]:
            gs = linalg.matmul(g, shape.mT(v))
            last = len(linalg.sizes(p)) - 1
            gs = softmax_grad(gs, p, last) * self.factor
            if want[0]:
                out[0] = linalg.matmul(gs, k)
            if want[1]:
                out[1] = linalg.matmul(shape.mT(gs), q)
        return out
