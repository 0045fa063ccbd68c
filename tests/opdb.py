"""The table of operations: samples, a NumPy reference, names.  An operation is one row of `OPS`.

A sample holds NumPy arrays where the operation takes tensors, so that retrograd and PyTorch can be given the same ones.
References compute in float64 and never call retrograd.  Error inputs are in `op_errors.py`.
"""

from __future__ import annotations

import math
import operator
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

try:
    import ml_dtypes

    BFLOAT16 = [np.dtype(ml_dtypes.bfloat16)]
except ImportError:
    BFLOAT16 = []

f64, f32, f16 = np.dtype("float64"), np.dtype("float32"), np.dtype("float16")
i64, i32, i8, u8 = np.dtype("int64"), np.dtype("int32"), np.dtype("int8"), np.dtype("uint8")
b8 = np.dtype("bool")
FLOATS = (f64, f32, f16, *BFLOAT16)
WIDE = (f64, f32)
INTS = (i64, i32, u8)
BOOL = (b8,)
NUMBERS = FLOATS + INTS
ALL = NUMBERS + BOOL
HALVES = {"float16", "bfloat16"}


def is_float(dtype: Any) -> bool:
    return dtype.kind in "fV"


# ---- samples ----


class S:
    """Arguments of one call.  `node`: the grad_fn's name where it is not the row's; `twice`: so is `twice`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs
        self.node: str | None = None
        self.twice: bool | None = None
        self.order2 = True
        self.grad = True

    def by(self, node: str, twice: bool | None = None) -> S:
        self.node, self.twice = node, twice
        return self

    def once(self) -> S:
        """No second derivative."""
        self.order2 = False
        return self

    def plain(self) -> S:
        """Not for gradients (at a kink, for instance)."""
        self.grad = False
        return self

    def __repr__(self) -> str:
        shown = [describe(a) for a in self.args] + [f"{k}={describe(v)}" for k, v in self.kwargs.items()]
        return f"({', '.join(shown)})"


def describe(a: Any) -> str:
    if isinstance(a, np.ndarray):
        layout = "" if a.flags.c_contiguous else f" strides {tuple(s // a.itemsize for s in a.strides)}"
        return f"{a.dtype}{list(a.shape)}{layout}"
    if isinstance(a, (list, tuple)):
        return "[" + ", ".join(describe(x) for x in a) + "]"
    return repr(a)


class Make:
    """Makes a row's arrays: seeded, in [low, high], no two elements equal, none within `gap` of a kink."""

    def __init__(self, name: str, dtype: Any, low: float, high: float, kinks: Sequence[float], gap: float) -> None:
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.dtype, self.low, self.high, self.kinks, self.gap = dtype, low, high, kinks, gap

    @property
    def floats(self) -> bool:
        return is_float(self.dtype)

    def x(self, *shape: int, low: float | None = None, high: float | None = None, dtype: Any = None) -> Any:
        """Contiguous."""
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        low = self.low if low is None else low
        high = self.high if high is None else high
        n = math.prod(shape)
        if dtype.kind == "b":
            return self.rng.integers(0, 2, shape).astype(dtype)
        if dtype.kind in "iu":
            return self.rng.integers(max(math.ceil(low), 0 if dtype.kind == "u" else -99), math.floor(high) + 1,
                shape).astype(dtype)
        grid = (np.arange(n) + self.rng.uniform(0.1, 0.9, n)) / max(n, 1) * (high - low) + low
        out = self.rng.permutation(grid).reshape(shape)
        for kink in self.kinks:
            out = out + np.where(out < kink, -self.gap, self.gap)
        return np.asarray(out).astype(dtype)

    def t(self, *shape: int, **kw: Any) -> Any:
        """Dimensions stored in reverse order."""
        return self.x(*shape[::-1], **kw).transpose()

    def e(self, *shape: int, **kw: Any) -> Any:
        """The first dimension has stride 0."""
        row = self.x(*shape[1:], **kw)
        return np.lib.stride_tricks.as_strided(row, shape, (0, *row.strides), writeable=True)

    def s(self, *shape: int, **kw: Any) -> Any:
        """Every second element of a larger block, not from its start."""
        block = self.x(*[2 * n + 1 for n in shape], **kw)
        return block[tuple(slice(1, None, 2) for _ in shape)]

    def i(self, high: int, *shape: int, low: int = 0) -> Any:
        """int64 indices, low <= index < high."""
        return self.rng.integers(low, high, shape)

    def distinct(self, high: int, n: int) -> Any:
        return self.rng.permutation(high)[:n]

    def mask(self, *shape: int) -> Any:
        out = self.rng.integers(0, 2, shape).astype(bool)
        if out.size > 1:
            out.flat[0], out.flat[-1] = True, False
        return out


Samples = Callable[[Make], Iterator[S]]


@dataclass
class Op:
    """One row.

    result    dtype of the result, by `result_dtypes`; one per output
    twice     may its backward run twice without retain_graph?  None: it depends
    order2    does it have a second derivative?
    method    the method's name; True: the function's; None: it has none.  inplace: likewise, of the in-place method
    node      name of the grad_fn
    picks     picks elements: not differentiable where two are equal
    checks    it refuses values out of its domain
    rough     PyTorch computes a constant of it in single precision
    fixed     positions among the float arrays that take no gradient
    errors    (sample, exception class, how its text begins) by `op_errors.py`
    """

    name: str
    samples: Samples
    ref: Callable[..., Any]
    path: str = ""
    call: Callable[[Any], Callable[..., Any]] | None = None
    dtypes: Sequence[Any] = FLOATS
    low: float = -2.0
    high: float = 2.0
    kinks: Sequence[float] = ()
    gap: float = 0.05
    result: str | Sequence[str] = "same"
    grad: bool = True
    order2: bool = True
    twice: bool | None = False
    method: str | bool | None = True
    inplace: str | bool | None = None
    out: bool = False
    view: bool = False
    node: str | None = None
    fixed: Sequence[int] = ()
    seeded: bool = False
    picks: bool = False
    rough: bool = False
    checks: bool = False
    tol: float = 1.0
    exact: bool = False
    oracle: bool = True
    errors: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.path = self.path or self.name
        leaf = self.path.rpartition(".")[2]
        if self.call is not None or self.path.startswith(("operator.", "Tensor.", "nn.", "special.", "linalg.")):
            self.method = None if self.method is True else self.method
        elif self.method is True:
            self.method = leaf
        if self.inplace is True:
            self.inplace = leaf + "_"

    def __str__(self) -> str:
        return self.name

    def make(self, dtype: Any) -> list[S]:
        return list(self.samples(Make(self.name, dtype, self.low, self.high, self.kinks, self.gap)))

    def function(self, torch: Any) -> Callable[..., Any] | None:
        """The function in a torch-like module; None when it is not there."""
        if self.call is not None:
            return self.call(torch)
        if self.path.startswith("operator."):
            return getattr(operator, self.path[9:])
        found: Any = torch
        for part in self.path.split("."):
            found = getattr(found, part, None)
        return found


# ---- dtypes, written anew from PyTorch's documentation of type promotion ----

ORDER = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]


def common(names: list[str]) -> str:
    if {"float16", "bfloat16"} <= set(names) or {"uint8", "int8"} <= set(names):
        names = [n for n in names if n not in HALVES] + ["float32"] if "float16" in names else [*names, "int16"]
    return max(names, key=ORDER.index)


def kind_of(name: str) -> int:
    return 0 if name == "bool" else 2 if "float" in name else 1


def promoted(values: list[Any]) -> str:
    """Tensors with dimensions decide, then 0-dim ones, then numbers, unless a later group is of a higher kind."""
    groups: list[list[str]] = [[], [], []]
    for v in values:
        if isinstance(v, np.ndarray):
            groups[0 if v.ndim else 1].append(v.dtype.name)
        elif isinstance(v, (bool, int, float)):
            groups[2].append({bool: "bool", int: "int64", float: "float32"}[type(v)])
    best = ""
    for group in groups:
        if group:
            name = common(group)
            if not best or kind_of(name) > kind_of(best):
                best = name
    return best


def result_dtypes(op: Op, sample: S) -> list[str]:
    kinds = [op.result] if isinstance(op.result, str) else list(op.result)
    leaves = list(flatten(sample.args)) + list(flatten(list(sample.kwargs.values())))
    arrays = [a for a in leaves if isinstance(a, np.ndarray)]
    out = []
    for kind in kinds:
        if kind == "same":
            out.append(promoted(leaves))
        elif kind == "branches":
            out.append(promoted(leaves[1:]))
        elif kind == "tensors":
            out.append(promoted(arrays))
        elif kind == "first":
            out.append(arrays[0].dtype.name)
        elif kind == "float":
            name = promoted(leaves)
            out.append(name if "float" in name else "float32")
        elif kind == "sum":
            out.append("int64" if arrays[0].dtype.kind in "iub" else arrays[0].dtype.name)
        else:
            out.append(kind)
    return out


def flatten(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from flatten(v)
    else:
        yield value


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """`value` with every array changed."""
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(v, change) for v in value)
    if isinstance(value, dict):
        return {k: mapped(v, change) for k, v in value.items()}
    return change(value) if isinstance(value, np.ndarray) else value


def exact(a: Any) -> Any:
    """What references compute with: floats as float64."""
    return a.astype(np.float64) if is_float(a.dtype) else a


def reference(op: Op, sample: S) -> Any:
    def widen(a: Any) -> Any:
        return a.astype(np.float64) if op.result == "float" else exact(a)

    with np.errstate(all="ignore"):
        return op.ref(*mapped(sample.args, widen), **mapped(sample.kwargs, widen))


# ---- sample sets that many rows share ----


def one(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4))
    yield S(m.t(3, 4))
    yield S(m.e(3, 4))
    yield S(m.s(2, 3))
    yield S(m.x())
    yield S(m.x(1))
    yield S(m.x(0, 3))
    yield S(m.x(2, 1, 2))


def two(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), m.x(3, 4))
    yield S(m.x(3, 4), m.x(4))
    yield S(m.x(3, 1), m.t(3, 4))
    yield S(m.x(2, 1, 3), m.x(4, 1))
    yield S(m.t(3, 4), m.e(3, 4))
    yield S(m.s(2, 3), m.x())
    yield S(m.x(), m.x(2))
    yield S(m.x(), m.x())
    yield S(m.x(0, 3), m.x(1, 3))
    yield S(m.x(1), m.x(1))


def two_or_number(m: Make) -> Iterator[S]:
    yield from two(m)
    yield S(m.x(3, 4), 2)
    yield S(m.t(3, 4), 1.5)
    yield S(m.x(), 2)


def number_first(m: Make) -> Iterator[S]:
    yield S(2, m.x(3, 4))
    yield S(1.5, m.t(3, 4))
    yield S(2, m.x())
    yield S(2, m.x(0))


def int_twos(m: Make) -> Iterator[S]:
    yield from two(m)
    yield S(m.x(3, 4), 2 if m.dtype.kind != "b" else True)


def reductions(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4))
    yield S(m.t(3, 4))
    yield S(m.e(3, 2))
    yield S(m.x())
    yield S(m.x(1))


def along(m: Make) -> Iterator[S]:
    """x, dim, keepdim"""
    yield S(m.x(3, 4), 0)
    yield S(m.x(3, 4), -1)
    yield S(m.t(3, 4), 1, True)
    yield S(m.x(2, 3, 2), 1)
    yield S(m.e(3, 4), dim=0, keepdim=True)
    yield S(m.x(5), -1)
    yield S(m.x(1, 3), 0)


def dims(m: Make) -> Iterator[S]:
    """x, several dims"""
    yield from along(m)
    yield S(m.x(2, 3, 2), (0, 2))
    yield S(m.x(2, 3, 2), (-1, 1), True)
    yield S(m.x(), 0)
    yield S(m.x(), -1, True)


def softmaxes(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0)
    yield S(m.x(3, 4), -1)
    yield S(m.t(3, 4), 1)
    yield S(m.x(2, 3, 2), 1)
    yield S(m.e(3, 4), dim=0)
    yield S(m.x(5), 0)
    yield S(m.x(), 0)
    yield S(m.x(0, 3), 1)


# ---- references ----


def vector(f: Callable[[float], float]) -> Callable[[Any], Any]:
    def on_array(x: Any) -> Any:
        return np.array([f(float(v)) for v in np.asarray(x).ravel()], np.float64).reshape(np.shape(x))

    return on_array


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def axis_of(dim: Any, x: Any) -> Any:
    return None if x.ndim == 0 else tuple(dim) if isinstance(dim, (list, tuple)) else dim


def reduced(f: Callable[..., Any]) -> Callable[..., Any]:
    def ref(x: Any, dim: Any = None, keepdim: bool = False, **kw: Any) -> Any:
        return f(x, axis=axis_of(dim, x), keepdims=keepdim, **kw)

    return ref


def whole_sum(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return np.sum(x, axis=axis_of(dim, x), keepdims=keepdim, dtype=np.int64 if x.dtype.kind in "iub" else None)


def whole_prod(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return np.prod(x, axis=axis_of(dim, x), keepdims=keepdim, dtype=np.int64 if x.dtype.kind in "iub" else None)


def extreme(pick: Callable[..., Any], where: Callable[..., Any]) -> Callable[..., Any]:
    def ref(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if isinstance(dim, np.ndarray):
            return (np.maximum if pick is np.max else np.minimum)(x, dim)
        if dim is None:
            return pick(x)
        if x.ndim == 0:
            return x, np.zeros((), np.int64)
        return pick(x, axis=dim, keepdims=keepdim), where(x, axis=dim, keepdims=keepdim)

    return ref


def softmax(x: Any, dim: int) -> Any:
    e = np.exp(x)
    return e / e.sum(axis=dim if x.ndim else None, keepdims=True)


def norm(x: Any, p: Any = 2.0, dim: Any = None, keepdim: bool = False) -> Any:
    axis = None if dim is None else tuple(np.atleast_1d(dim).tolist())
    a = np.abs(x)
    if p == "fro":
        p = 2.0
    if p == math.inf:
        return a.max(axis=axis, keepdims=keepdim)
    if p == -math.inf:
        return a.min(axis=axis, keepdims=keepdim)
    if p == 0:
        return (a != 0).sum(axis=axis, keepdims=keepdim).astype(np.float64)
    return (a**p).sum(axis=axis, keepdims=keepdim) ** (1 / p)


def split(x: Any, size: Any, dim: int = 0) -> Any:
    n = x.shape[dim]
    sizes = [min(size, n - i) for i in range(0, n, size)] or [0] if isinstance(size, int) else list(size)
    out, at = [], 0
    for s in sizes:
        out.append(np.take(x, range(at, at + s), axis=dim))
        at += s
    return tuple(out)


def chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    return split(x, max(-(-x.shape[dim] // chunks), 1), dim)


def unbind(x: Any, dim: int = 0) -> Any:
    return tuple(np.moveaxis(x, dim, 0))


def squeeze(x: Any, dim: Any = None) -> Any:
    if dim is None:
        return np.squeeze(x)
    axes = tuple(d for d in np.atleast_1d(dim).tolist() if x.ndim and x.shape[d] == 1)
    return np.squeeze(x, axis=axes)


def flat(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    if x.ndim == 0:
        return x.reshape(1)
    a, b = start_dim % x.ndim, end_dim % x.ndim
    return x.reshape(x.shape[:a] + (-1 if x.size else math.prod(x.shape[a : b + 1]),) + x.shape[b + 1 :])


def expand(x: Any, *sizes: Any) -> Any:
    to = sizes[0] if isinstance(sizes[0], (list, tuple)) else sizes
    lead = len(to) - x.ndim
    return np.broadcast_to(x, [x.shape[i - lead] if n == -1 else n for i, n in enumerate(to)])


def view_sizes(x: Any, *sizes: Any) -> Any:
    return x.reshape(sizes[0] if isinstance(sizes[0], (list, tuple)) else sizes)


def permuted(x: Any, *d: Any) -> Any:
    return x.transpose(d[0] if isinstance(d[0], (list, tuple)) else d)


def written(x: Any, where: Any, value: Any) -> Any:
    out = x.copy()
    out[where] = value
    return out


def clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    if min is not None:
        x = np.maximum(x, min)
    return x if max is None else np.minimum(x, max)


def matmul(a: Any, b: Any) -> Any:
    return np.einsum("...ij,...jk->...ik", a, b) if a.ndim > 1 and b.ndim > 1 else np.matmul(a, b)


def addmm(c: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return beta * c + alpha * np.einsum("ij,jk->ik", a, b)


def linear(x: Any, w: Any, bias: Any = None) -> Any:
    y = np.einsum("...i,oi->...o", x, w) if w.ndim == 2 else np.einsum("...i,i->...", x, w)
    return y if bias is None else y + bias


def reduction_of(loss: Any, reduction: str) -> Any:
    return loss if reduction == "none" else loss.sum() if reduction == "sum" else loss.mean()


def nll(x: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:
    """x (N, C, ...) or (C,)"""
    if x.ndim == 1:
        return nll(x[None], target[None], weight, ignore_index, reduction)[0] if reduction == "none" else nll(
            x[None], target[None], weight, ignore_index, reduction)
    w = np.ones(x.shape[1]) if weight is None else weight
    out, total = np.zeros(target.shape), 0.0
    for at in np.ndindex(*target.shape):
        c = int(target[at])
        if c != ignore_index:
            out[at] = -w[c] * x[(at[0], c, *at[1:])]
            total += w[c]
    return out if reduction == "none" else out.sum() if reduction == "sum" else out.sum() / total


def cross_entropy(
    x: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    dim = 0 if x.ndim == 1 else 1
    logp = np.log(softmax(x, dim))
    n = x.shape[dim]
    if target.dtype.kind == "f":
        t = target * (1 - label_smoothing) + label_smoothing / n
        w = np.ones(n) if weight is None else weight
        loss = -(t * logp * w.reshape([-1 if i == dim else 1 for i in range(x.ndim)])).sum(dim)
        if reduction == "mean":
            return loss.sum() / (x.size / n)
        return reduction_of(loss, reduction)
    sharp = nll(logp, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return sharp
    w = np.ones(n) if weight is None else weight
    keep = (target != ignore_index).astype(float)
    smooth = -(logp * w.reshape([-1 if i == dim else 1 for i in range(x.ndim)])).sum(dim) * keep
    if reduction == "mean":
        mass = (w[np.where(keep > 0, target, 0)] * keep).sum()
        smooth = smooth.sum() / mass
    else:
        smooth = reduction_of(smooth, reduction)
    return (1 - label_smoothing) * sharp + label_smoothing / n * smooth


# ---- arithmetic ----


def true_or_floor(a: Any, b: Any, rounding_mode: Any = None) -> Any:
    if rounding_mode is None:
        return np.true_divide(a, b)
    q = np.true_divide(a, b)
    q = np.floor(q) if rounding_mode == "floor" else np.trunc(q)
    return q if "f" in (np.result_type(a).kind, np.result_type(b).kind) else q.astype(np.int64)


def rounded_divs(m: Make) -> Iterator[S]:
    for mode in ("floor", "trunc"):
        yield S(m.x(3, 4), m.x(4), rounding_mode=mode)
        yield S(m.t(3, 4), 2, rounding_mode=mode)


def compared_in_place(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 2)
    yield S(m.x(3, 4), m.x(4))


def trapezoids(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4)).by("MulBackward1", True)
    yield S(m.x(3, 4), dx=0.5, dim=0).by("MulBackward1", True)
    yield S(m.x(3, 4), m.x(4)).by("DivBackward1")
    yield S(m.x(3, 4), m.x(3, 4), dim=0).by("DivBackward1")


def trapezoid(y: Any, x: Any = None, dx: float = 1, dim: int = -1) -> Any:
    y = np.moveaxis(y, dim, -1)
    if x is not None:
        dx = np.diff(x if x.ndim == 1 else np.moveaxis(x, dim, -1))
    return ((y[..., 1:] + y[..., :-1]) * dx).sum(-1) / 2


def scaled(m: Make) -> Iterator[S]:
    yield from two_or_number(m)
    yield S(m.x(3, 4), m.x(4), alpha=2 if m.dtype.kind in "iu" else 0.5)
    yield S(m.x(3, 4), 3, alpha=2)


def powers(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 2)
    yield S(m.t(3, 4), 3)
    yield S(m.x(2, 3), 1)
    yield S(m.x(2, 3), 0)
    yield S(m.x(), 2)
    if m.floats:
        yield S(m.e(2, 3), -1)
        yield S(m.x(2, 3), 0.5)
        yield S(m.x(4), -1.5)


ARITHMETIC = [
    Op("add", scaled, lambda a, b, alpha=1: a + alpha * b, inplace=True, out=True, node="AddBackward0", dtypes=NUMBERS,
       twice=True),
    Op("sub", scaled, lambda a, b, alpha=1: a - alpha * b, inplace=True, out=True, node="SubBackward0", dtypes=NUMBERS,
       twice=True),
    Op("mul", two_or_number, lambda a, b: a * b, inplace=True, out=True, node="MulBackward0", dtypes=ALL),
    Op("div", two_or_number, np.true_divide, inplace=True, out=True, node="DivBackward0", dtypes=NUMBERS,
       result="float", kinks=(0,), gap=0.3, low=1),
    Op("div_rounded", rounded_divs, true_or_floor, path="div", inplace=True, out=True, node="DivBackward2",
       dtypes=WIDE + INTS,
       kinks=(0,), gap=0.3, low=1),
    Op("true_divide", two_or_number, np.true_divide, inplace=True, out=True, node="DivBackward0", dtypes=NUMBERS,
       result="float", low=1, high=3),
    Op("floor_divide", two_or_number, np.floor_divide, inplace=True, out=True, dtypes=WIDE + INTS, low=1, high=9,
       grad=False),
    Op("remainder", two_or_number, np.remainder, inplace=True, out=True, dtypes=WIDE + INTS,
       low=1, high=9,
       twice=None),
    Op("neg", one, np.negative, inplace=True, out=True, node="NegBackward0", dtypes=NUMBERS, twice=True),
    Op("reciprocal", one, lambda x: 1 / x, inplace=True, out=True, node="ReciprocalBackward0", dtypes=NUMBERS,
       result="float", low=1, high=3),
    Op("square", one, np.square, inplace=True, out=True, node="PowBackward0", dtypes=NUMBERS),
    Op("pow", powers, lambda a, b: np.power(a, b), inplace=True, out=True, node="PowBackward0", dtypes=NUMBERS, low=1,
       high=3),
    Op("pow_tensor", two, np.power, path="pow", inplace=True, out=True, node="PowBackward1", dtypes=NUMBERS, low=1,
       high=3),
    Op("pow_number", number_first, np.power, path="pow", method=None, node="PowBackward2", dtypes=NUMBERS, low=1,
       high=3),
    Op("rsub", two_or_number, lambda a, b: b - a, dtypes=WIDE + INTS, method=None, twice=True),
    Op("subtract", two, np.subtract, inplace=True, out=True, node="SubBackward0", twice=True),
    Op("multiply", two, np.multiply, inplace=True, out=True, node="MulBackward0"),
    Op("divide", two, np.divide, inplace=True, out=True, node="DivBackward0", low=1, high=3),
    Op("negative", one, np.negative, inplace=True, out=True, node="NegBackward0", twice=True),
    Op("float_power", powers, lambda a, b: np.power(a.astype(float), b), out=True, result="float64", low=1, high=3,
       method=None),
    # operators
    Op("operator.add", two_or_number, np.add, node="AddBackward0", dtypes=NUMBERS, twice=True),
    Op("operator.sub", two_or_number, np.subtract, node="SubBackward0", dtypes=NUMBERS, twice=True),
    Op("operator.mul", two_or_number, np.multiply, node="MulBackward0", dtypes=NUMBERS),
    Op("operator.truediv", two_or_number, np.true_divide, node="DivBackward0", dtypes=NUMBERS, result="float", low=1,
       high=3),
    Op("operator.pow", two_or_number, np.power, dtypes=NUMBERS, low=1, high=3),
    Op("operator.mod", two_or_number, np.remainder, dtypes=WIDE + INTS, low=1, high=9,
       twice=None),
    Op("operator.floordiv", two_or_number, np.floor_divide, dtypes=WIDE + INTS, low=1, high=9, grad=False),
    Op("operator.neg", one, np.negative, node="NegBackward0", dtypes=NUMBERS, twice=True),
    Op("number + x", number_first, np.add, path="operator.add", node="AddBackward0", dtypes=NUMBERS, twice=True),
    Op("number - x", number_first, np.subtract, path="operator.sub", node="RsubBackward1", dtypes=WIDE + INTS,
       twice=True),
    Op("number * x", number_first, np.multiply, path="operator.mul", node="MulBackward0", dtypes=NUMBERS),
    Op("number / x", number_first, np.true_divide, path="operator.truediv", node="MulBackward0", dtypes=WIDE + INTS,
       result="float", low=1, high=3),
    Op("number ** x", number_first, np.power, path="operator.pow", node="PowBackward2", dtypes=NUMBERS, low=1, high=3),
    Op("number % x", number_first, np.remainder, path="operator.mod", dtypes=WIDE + INTS,
       low=1, high=9, grad=False),
    Op("number // x", number_first, np.floor_divide, path="operator.floordiv", dtypes=WIDE + INTS, low=1, high=9,
       grad=False),
]

COMPARISONS = [
    Op(name, two_or_number, ref, out=True, inplace=name + "_", result="bool", grad=False, dtypes=ALL, exact=True)
    for name, ref in [("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal),
                      ("gt", np.greater), ("ge", np.greater_equal)]
] + [
    Op(f"operator.{name}", two_or_number, ref, result="bool", grad=False, dtypes=WIDE + INTS, exact=True)
    for name, ref in [("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal),
                      ("gt", np.greater), ("ge", np.greater_equal)]
] + [
    Op(f"number {symbol} x", number_first, ref, path=f"operator.{name}", result="bool", grad=False, dtypes=WIDE + INTS,
       exact=True)
    for symbol, name, ref in [("==", "eq", np.equal), ("<", "lt", np.less), (">=", "ge", np.greater_equal)]
] + [
    Op(f"operator.{name}", int_twos, ref, grad=False, dtypes=INTS + BOOL, exact=True)
    for name, ref in [("and_", np.bitwise_and), ("or_", np.bitwise_or), ("xor", np.bitwise_xor)]
] + [
    Op("operator.invert", one, np.invert, grad=False, dtypes=INTS + BOOL, exact=True),
    *[Op(name, int_twos, ref, grad=False, dtypes=INTS + BOOL, exact=True, out=True, inplace=True)
      for name, ref in [("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or),
          ("bitwise_xor", np.bitwise_xor)]],
    Op("bitwise_not", one, np.invert, grad=False, dtypes=INTS + BOOL, exact=True, out=True, inplace=True),
    *[Op(name, two, ref, grad=False, result="bool", dtypes=WIDE + INTS + BOOL, exact=True, out=True, inplace=True)
      for name, ref in [("logical_and", np.logical_and), ("logical_or", np.logical_or),
          ("logical_xor", np.logical_xor)]],
    Op("logical_not", one, np.logical_not, grad=False, result="bool", dtypes=WIDE + INTS + BOOL, exact=True, out=True,
       inplace=True),
    *[Op(name, one, ref, grad=False, result="bool", dtypes=WIDE + INTS, exact=True)
      for name, ref in [("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)]],
    Op("maximum", two, np.maximum, out=True, node="MaximumBackward0", dtypes=ALL, exact=True),
    Op("minimum", two, np.minimum, out=True, node="MinimumBackward0", dtypes=ALL, exact=True),
]


# ---- element by element ----


def pointwise(name: str, ref: Any, low: float = -2, high: float = 2, **kw: Any) -> Op:
    kw.setdefault("dtypes", ALL)
    kw.setdefault("result", "float")
    kw.setdefault("inplace", True)
    kw.setdefault("out", True)
    kw.setdefault("node", "".join(p.capitalize() for p in name.split("_")) + "Backward0")
    return Op(name, one, ref, low=low, high=high, **kw)


def clamps(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), -1, 1) if m.dtype.kind != "u" else S(m.x(3, 4), 0, 1)
    yield S(m.t(3, 4), min=0)
    yield S(m.e(3, 4), max=1)
    yield S(m.x(), 0, 1)
    yield S(m.x(0, 2), 0, 1)
    if m.floats:
        yield S(m.x(3, 4), -0.5, 0.5)


def tensor_clamps(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), m.x(3, 4, low=0, high=0.7), m.x(3, 4, low=1, high=2))
    yield S(m.x(3, 4), min=m.x(4))
    yield S(m.x(3, 4), max=m.x(3, 1))


def wheres(m: Make) -> Iterator[S]:
    yield S(m.mask(3, 4), m.x(3, 4), m.x(3, 4))
    yield S(m.mask(3, 1), m.x(4), m.t(3, 4))
    yield S(m.mask(4), m.x(3, 1), m.x())
    yield S(m.mask(3, 4), m.x(3, 4), 2)
    yield S(m.mask(3, 4), 1.5, m.x(3, 4)) if m.floats else S(m.mask(3, 4), 1, m.x(3, 4))
    yield S(m.mask(), m.x(2), m.x(2))
    yield S(m.mask(0, 2), m.x(0, 2), m.x(2))


def fills(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), m.mask(3, 4), 2)
    yield S(m.t(3, 4), m.mask(4), 0)
    yield S(m.e(3, 4), m.mask(3, 1), 1)
    yield S(m.x(), m.mask(), 1)
    if m.floats:
        yield S(m.x(2, 2), m.mask(2, 2), -math.inf).plain()


def gelus(m: Make) -> Iterator[S]:
    yield from one(m)
    yield S(m.x(3, 4), approximate="tanh")


def gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + vector(math.erf)(x / math.sqrt(2)))


KINK = {"kinks": (0.0,)}
POINTWISE = [
    pointwise("exp", np.exp),
    pointwise("log", np.log, 0.5, 3),
    pointwise("sqrt", np.sqrt, 0.5, 3),
    pointwise("abs", np.abs, result="same", dtypes=NUMBERS, exact=True, **KINK),
    pointwise("sin", np.sin),
    pointwise("cos", np.cos),
    pointwise("tanh", np.tanh),
    pointwise("sigmoid", sigmoid),
    Op("relu", one, lambda x: np.maximum(x, 0), inplace=True, node="ReluBackward0", dtypes=NUMBERS, exact=True, **KINK),
    Op("clamp", clamps, clamp, inplace=True, out=True, node="ClampBackward1", dtypes=NUMBERS,
       kinks=(-1, -0.5, 0, 0.5, 1), gap=0.01, exact=True),
    Op("clamp_tensor", tensor_clamps, clamp, path="clamp", inplace=True, out=True, node="ClampBackward0",
       dtypes=WIDE + INTS, exact=True),
    Op("where", wheres, np.where, method=None, node="WhereBackward0", dtypes=ALL, result="branches", exact=True),
    Op("masked_fill", fills, lambda x, mask, v: np.where(mask, v, x), method=True, inplace=True,
       node="MaskedFillBackward0", dtypes=NUMBERS,
       result="first", exact=True),
    pointwise("tan", np.tan, -1, 1),
    pointwise("asin", np.arcsin, -0.8, 0.8),
    pointwise("acos", np.arccos, -0.8, 0.8),
    pointwise("atan", np.arctan),
    pointwise("sinh", np.sinh),
    pointwise("cosh", np.cosh),
    pointwise("asinh", np.arcsinh),
    pointwise("acosh", np.arccosh, 1.3, 3),
    pointwise("atanh", np.arctanh, -0.8, 0.8, dtypes=FLOATS),
    pointwise("exp2", np.exp2),
    pointwise("expm1", np.expm1),
    pointwise("log2", np.log2, 0.5, 3),
    pointwise("log10", np.log10, 0.5, 3),
    pointwise("log1p", np.log1p, -0.5, 3, node="Log1PBackward0"),
    pointwise("rsqrt", lambda x: 1 / np.sqrt(x), 0.5, 3),
    pointwise("erf", vector(math.erf)),
    pointwise("erfc", vector(math.erfc)),
    pointwise("lgamma", vector(math.lgamma), 0.5, 4, dtypes=FLOATS),
    pointwise("deg2rad", np.deg2rad, node="Deg2RadBackward0", twice=True, dtypes=FLOATS),
    pointwise("rad2deg", np.rad2deg, node="Rad2DegBackward0", twice=True, dtypes=FLOATS),
    pointwise("floor", np.floor, result="same", dtypes=NUMBERS, twice=True, kinks=(-1, 0, 1), exact=True),
    pointwise("ceil", np.ceil, result="same", dtypes=NUMBERS, twice=True, kinks=(-1, 0, 1), exact=True),
    pointwise("trunc", np.trunc, result="same", dtypes=NUMBERS, twice=True, kinks=(-1, 0, 1), exact=True),
    pointwise("round", np.round, result="same", dtypes=NUMBERS, twice=True, kinks=(-1.5, -0.5, 0.5, 1.5), exact=True),
    pointwise("frac", lambda x: x - np.trunc(x), result="same", dtypes=FLOATS, twice=True, kinks=(-1, 0, 1)),
    pointwise("sign", np.sign, result="same", dtypes=NUMBERS, twice=True, exact=True, **KINK),
    pointwise("sgn", np.sign, result="same", dtypes=NUMBERS, exact=True, twice=None, **KINK),
    pointwise("sinc", np.sinc, kinks=(0.0,)),
    pointwise("signbit", np.signbit, result="bool", dtypes=WIDE + INTS, grad=False, inplace=None, node=None,
        exact=True),
    pointwise("nan_to_num", np.nan_to_num, result="same", dtypes=NUMBERS, node="NanToNumBackward0"),
    pointwise("logit", lambda x: np.log(x / (1 - x)), 0.1, 0.9, dtypes=FLOATS),
    Op("atan2", two, np.arctan2, inplace=True, out=True, node="Atan2Backward0", low=0.5, high=2),
    Op("hypot", two, np.hypot, inplace=True, out=True, node="HypotBackward0", low=0.5, high=2),
    Op("logaddexp", two, np.logaddexp, out=True, node="LogaddexpBackward0"),
    Op("logaddexp2", two, np.logaddexp2, out=True, node="Logaddexp2Backward0"),
    Op("copysign", two, np.copysign, inplace=True, out=True, node="CopysignBackward0", **KINK),
    Op("fmod", two, np.fmod, inplace=True, out=True, node="FmodBackward1", low=1, high=3, dtypes=WIDE + INTS),
    Op("fmax", two, np.fmax, out=True, node="FmaxBackward0", dtypes=ALL, exact=True),
    Op("fmin", two, np.fmin, out=True, node="FminBackward0", dtypes=ALL, exact=True),
    Op("xlogy", two, lambda a, b: a * np.log(b), inplace=True, out=True, node="XlogyBackward0", low=0.5, high=3),
    Op("heaviside", two, np.heaviside, inplace=True, out=True, grad=False, dtypes=WIDE + INTS, exact=True),
    Op("lerp", lambda m: iter([S(m.x(3, 4), m.x(3, 4), 0.3), S(m.t(3, 4), m.x(4), 0.7), S(m.x(), m.x(), 0.5)]),
       lambda a, b, w: a + w * (b - a), inplace=True, out=True, node="LerpBackward0", twice=True),
    Op("lerp_tensor", lambda m: iter([S(m.x(3, 4), m.x(3, 4), m.x(3, 4)), S(m.t(3, 4), m.x(4), m.x(3, 1))]), lambda a,
       b, w: a + w * (b - a),
       path="lerp", inplace=True, out=True, node="LerpBackward1"),
    Op("addcmul", lambda m: iter([S(m.x(3, 4), m.x(3, 4), m.x(4)), S(m.t(3, 4), m.x(3, 1), m.x(4), value=0.5),
       S(m.x(), m.x(), m.x())]),
       lambda c, a, b, value=1: c + value * a * b, inplace=True, out=True, node="AddcmulBackward0"),
    Op("addcdiv", lambda m: iter([S(m.x(3, 4), m.x(3, 4), m.x(4)), S(m.t(3, 4), m.x(3, 1), m.x(4), value=0.5),
       S(m.x(), m.x(), m.x())]),
       lambda c, a, b, value=1: c + value * a / b, inplace=True, out=True, node="AddcdivBackward0", low=1, high=3),
]


# ---- reductions ----


def plain_or(more: Samples, **kw: Any) -> Samples:
    def samples(m: Make) -> Iterator[S]:
        yield from reductions(m)
        yield from more(m)

    return samples


def sums(m: Make) -> Iterator[S]:
    yield from reductions(m)
    yield S(m.x(0, 3))
    yield S(m.x(0, 3), 0)
    yield S(m.x(0, 3), 1)
    yield from dims(m)


def prods(m: Make) -> Iterator[S]:
    yield from reductions(m)
    yield S(m.x(0, 3))
    yield from along(m)
    if m.floats:
        zeros = m.x(2, 3)
        zeros[0, 1] = 0
        yield S(zeros)
        yield S(zeros, 1)
        both = m.x(2, 3)
        both[0, :2] = 0
        yield S(both, 1)
        yield S(both)


def norms(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4))
    yield S(m.t(3, 4))
    yield S(m.x())
    yield S(m.x(3, 4), 2, 0)
    yield S(m.x(3, 4), 3, -1, True)
    yield S(m.x(2, 3, 2), 2, (0, 2))
    yield S(m.x(3, 4), 1)
    yield S(m.x(3, 4), 1.5, 1)
    yield S(m.e(3, 4), 2, 1)
    yield S(m.x(3, 4), math.inf, 1)
    yield S(m.x(3, 4), -math.inf, 1)
    yield S(m.x(3, 4), 0, 1)


def reduced_by(name: str, ref: Any, samples: Samples = sums, **kw: Any) -> Op:
    return Op(name, samples, ref, **kw)


def variances(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4))
    yield S(m.t(3, 4))
    yield S(m.x(3, 4), 0)
    yield S(m.x(3, 4), -1, keepdim=True)
    yield S(m.x(2, 3, 2), (0, 2))
    yield S(m.x(3, 4), 1, correction=0)
    yield S(m.e(3, 4), 1, unbiased=False)


def spread(root: bool) -> Callable[..., Any]:
    def ref(x: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, correction: int = 1) -> Any:
        v = np.var(x, axis=axis_of(dim, x), ddof=correction if unbiased else 0, keepdims=keepdim)
        return np.sqrt(v) if root else v

    return ref


def logsumexp(x: Any, dim: Any, keepdim: bool = False) -> Any:
    return np.log(np.sum(np.exp(x), axis=axis_of(dim, x), keepdims=keepdim))


def lower_median(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    if dim is None:
        return np.sort(x.ravel())[(x.size - 1) // 2]
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    order = np.argsort(x, axis=dim, kind="stable")
    at = np.take(order, [(x.shape[dim] - 1) // 2], axis=dim)
    y = np.take_along_axis(x, at, dim)
    return (y, at) if keepdim else (np.squeeze(y, dim), np.squeeze(at, dim))


def running(f: Any) -> Callable[..., Any]:
    def ref(x: Any, dim: int) -> Any:
        if x.ndim == 0:
            return (x, np.zeros((), np.int64)) if f in (np.maximum, np.minimum) else x
        if f in (np.maximum, np.minimum):
            y = f.accumulate(x, axis=dim)
            at = np.zeros(x.shape, np.int64)
            for where in np.ndindex(*x.shape):
                line = x[tuple(slice(None) if i == dim % x.ndim else w for i, w in enumerate(where))][: where[dim] + 1]
                at[where] = int(np.flatnonzero(line == y[where])[-1])
            return y, at
        return f.accumulate(x, axis=dim, dtype=np.int64 if x.dtype.kind in "iub" else None)

    return ref


def running_samples(m: Make) -> Iterator[S]:
    for s in softmaxes(m):
        if s.args[0].size:
            yield s


REDUCTIONS = [
    Op("sum", sums, whole_sum, dtypes=ALL, result="sum", out=False, twice=True),
    Op("mean", plain_or(dims), reduced(np.mean), dtypes=FLOATS, twice=True),
    Op("prod", prods, whole_prod, dtypes=ALL, result="sum", node=None),
    Op("max", reductions, np.max, node="MaxBackward1", dtypes=ALL, exact=True),
    Op("max_dim", along, extreme(np.max, np.argmax), path="max", result=("first", "int64"), node="MaxBackward0",
       dtypes=WIDE + (f16,), exact=True),
    Op("max_other", two, np.maximum, path="max", node="MaximumBackward0", dtypes=WIDE, exact=True),
    Op("min", reductions, np.min, node="MinBackward1", dtypes=ALL, exact=True),
    Op("min_dim", along, extreme(np.min, np.argmin), path="min", result=("first", "int64"), node="MinBackward0",
       dtypes=WIDE + (f16,), exact=True),
    Op("min_other", two, np.minimum, path="min", node="MinimumBackward0", dtypes=WIDE, exact=True),
    Op("norm", norms, norm, node="LinalgVectorNormBackward0", dtypes=FLOATS, kinks=(0.0,)),
    Op("linalg.vector_norm", lambda m: iter([S(m.x(3, 4)), S(m.x(3, 4), 3), S(m.t(3, 4), 2, 0, True)]), norm,
       node="LinalgVectorNormBackward0",
       dtypes=FLOATS, kinks=(0.0,)),
    Op("amax", plain_or(dims), reduced(np.max), node="AmaxBackward0", result="first", dtypes=ALL, exact=True, out=True),
    Op("amin", plain_or(dims), reduced(np.min), node="AminBackward0", result="first", dtypes=ALL, exact=True, out=True),
    Op("argmax", plain_or(along), reduced(np.argmax), grad=False, result="int64", dtypes=WIDE + (f16,), exact=True),
    Op("argmin", plain_or(along), reduced(np.argmin), grad=False, result="int64", dtypes=WIDE + (f16,), exact=True),
    Op("all", plain_or(along), reduced(np.all), grad=False, result="bool", dtypes=(f32, i64, b8), exact=True),
    Op("any", plain_or(along), reduced(np.any), grad=False, result="bool", dtypes=(f32, i64, b8), exact=True),
    Op("var", variances, spread(False), node="VarBackward0", dtypes=FLOATS),
    Op("std", variances, spread(True), node="StdBackward0", dtypes=FLOATS),
    Op("logsumexp", dims, logsumexp, node="LogsumexpBackward0", dtypes=FLOATS, out=True),
    Op("median", reductions, lower_median, node="MedianBackward0", dtypes=WIDE + INTS, exact=True),
    Op("median_dim", along, lower_median, path="median", result=("first", "int64"), node="MedianBackward1",
       dtypes=WIDE, exact=True, oracle=False),
    Op("cumsum", running_samples, running(np.add), node="CumsumBackward0", dtypes=ALL, result="sum", out=True,
       inplace=None, twice=True),
    Op("cumprod", running_samples, running(np.multiply), node="CumprodBackward0", dtypes=WIDE + INTS, result="sum",
       out=True, kinks=(0.0,)),
    Op("cummax", running_samples, running(np.maximum), node="CummaxBackward0", dtypes=WIDE, result=("first", "int64"),
       exact=True),
    Op("cummin", running_samples, running(np.minimum), node="CumminBackward0", dtypes=WIDE, result=("first", "int64"),
       exact=True),
    Op("logcumsumexp", running_samples, lambda x, dim: np.log(np.cumsum(np.exp(x), axis=dim)) if x.ndim else x,
       node="LogcumsumexpBackward0", dtypes=WIDE),
    Op("softmax", softmaxes, softmax, node="SoftmaxBackward0"),
    Op("log_softmax", softmaxes, lambda x, dim: np.log(softmax(x, dim)), node="LogSoftmaxBackward0"),
]


# ---- shapes ----


def views(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 4, 3)
    yield S(m.x(3, 4), (2, -1))
    yield S(m.x(2, 3, 2), -1)
    yield S(m.x(6), 2, 3)
    yield S(m.x(), 1)
    yield S(m.x(1), ())
    yield S(m.x(0, 3), 3, 0)
    yield S(m.t(2, 3, 2), 2, 3, 2, 1)


def reshapes(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), (4, 3)).by("ViewBackward0")
    yield S(m.t(3, 4), (12,)).by("UnsafeViewBackward0")
    yield S(m.e(3, 4), (-1, 6)).by("UnsafeViewBackward0")
    yield S(m.x(), (1, 1)).by("ViewBackward0")
    yield S(m.x(0, 3), (0,)).by("ViewBackward0")


def flattens(m: Make) -> Iterator[S]:
    yield S(m.x(2, 3, 2)).by("ViewBackward0")
    yield S(m.x(2, 3, 2), 1).by("ViewBackward0")
    yield S(m.t(2, 3, 2), 0, -2).by("UnsafeViewBackward0")
    yield S(m.x()).by("ViewBackward0")
    yield S(m.x(2, 3), start_dim=-2, end_dim=-1).by("ViewBackward0")


def squeezes(m: Make) -> Iterator[S]:
    yield S(m.x(2, 1, 3, 1)).by("SqueezeBackward0")
    yield S(m.x(2, 1, 3, 1), 1).by("SqueezeBackward1")
    yield S(m.x(2, 1, 3, 1), -1).by("SqueezeBackward1")
    yield S(m.x(2, 1, 3, 1), 0).by("SqueezeBackward1")
    yield S(m.x(2, 1, 3, 1), (1, 3)).by("SqueezeBackward2")
    yield S(m.x(1)).by("SqueezeBackward0")
    yield S(m.x()).by("SqueezeBackward0")
    yield S(m.t(2, 1, 3)).by("SqueezeBackward0")


def expands(m: Make) -> Iterator[S]:
    yield S(m.x(3, 1), 3, 4)
    yield S(m.x(3, 1), (2, -1, 4))
    yield S(m.x(), 2, 2)
    yield S(m.x(1), 3)
    yield S(m.t(3, 1), -1, 2)
    yield S(m.x(1, 3), 0, 3)


def of(path: str) -> Callable[[Any], Any]:
    """The Tensor method as a function, for what is a method only."""
    return lambda torch: getattr(torch.Tensor, path, None)


def write(x: Any, where: Any, value: Any) -> Any:
    y = x.clone()
    y[where] = value
    return y


def reads(m: Make) -> Iterator[S]:
    at = slice
    yield S(m.x(3, 4), 0).by("SelectBackward0", True)
    yield S(m.x(3, 4), -1).by("SelectBackward0", True)
    yield S(m.x(4), 2).by("SelectBackward0", True)
    yield S(m.x(3, 4), at(1, 3)).by("SliceBackward0", True)
    yield S(m.x(3, 4), at(None)).by("SliceBackward0", True)
    yield S(m.x(5), at(None, None, 2)).by("SliceBackward0", True)
    yield S(m.x(3, 4), at(5, 9)).by("SliceBackward0", True)
    yield S(m.x(3, 4), at(-2, None)).by("SliceBackward0", True)
    yield S(m.x(3, 4), None).by("UnsqueezeBackward0", True)
    yield S(m.x(3, 4), Ellipsis).by("AliasBackward0", True)
    yield S(m.x(2, 3, 2), (Ellipsis, 0)).by("SelectBackward0", True)
    yield S(m.x(2, 3, 2), (at(None), 1)).by("SelectBackward0", True)
    yield S(m.x(2, 3, 2), (1, at(0, 2), None)).by("UnsqueezeBackward0", True)
    yield S(m.t(3, 4), (at(0, 2), at(1, 3))).by("SliceBackward0", True)
    yield S(m.e(3, 4), 1).by("SelectBackward0", True)
    yield S(m.x(3, 4), ()).by("AliasBackward0", True)
    yield S(m.x(), ()).by("AliasBackward0", True)
    yield S(m.x(), None).by("UnsqueezeBackward0", True)
    yield S(m.x(0, 3), at(None)).by("SliceBackward0", True)
    # with tensors
    yield S(m.x(3, 4), m.i(3, 2)).by("IndexBackward0")
    yield S(m.x(3, 4), m.i(3, 2, low=-3)).by("IndexBackward0")
    yield S(m.x(3, 4), m.i(3, 2, 3)).by("IndexBackward0")
    yield S(m.x(3, 4), [0, 2, 0]).by("IndexBackward0")
    yield S(m.x(3, 4), m.mask(3, 4)).by("IndexBackward0")
    yield S(m.x(3, 4), m.mask(3)).by("IndexBackward0")
    yield S(m.t(3, 4), (m.i(3, 2), m.i(4, 2))).by("IndexBackward0")
    yield S(m.x(2, 3, 4), (at(None), m.i(3, 2))).by("IndexBackward0")
    yield S(m.x(2, 3, 4), (m.i(2, 3), at(None), m.i(4, 3))).by("IndexBackward0")
    yield S(m.x(2, 3, 4), (0, m.i(3, 2))).by("IndexBackward0")
    yield S(m.x(2, 3, 4), (m.i(2, 2, 1), m.i(3, 3))).by("IndexBackward0")
    yield S(m.x(3), m.i(3, 0)).by("IndexBackward0")
    yield S(m.e(3, 4), (at(None), m.i(4, 5))).by("IndexBackward0")


def read(x: Any, where: Any) -> Any:
    return x[tuple(where) if isinstance(where, tuple) else where]


def writes(m: Make) -> Iterator[S]:
    at = slice
    yield S(m.x(3, 4), 0, m.x(4)).by("CopySlices")
    yield S(m.x(3, 4), 0, 1).by("CopySlices")
    yield S(m.t(3, 4), at(1, 3), m.x(2, 4)).by("CopySlices")
    yield S(m.x(3, 4), (at(None), 1), m.x(3)).by("CopySlices")
    yield S(m.x(3, 4), (0, 0), m.x()).by("CopySlices")
    yield S(m.x(3, 4), at(None), m.x(1, 4)).by("CopyBackwards", True)
    yield S(m.x(3, 4), Ellipsis, m.x(4)).by("CopyBackwards", True)
    yield S(m.x(5), at(None, None, 2), m.x(3)).by("CopySlices")
    yield S(m.x(3, 4), m.distinct(3, 2), m.x(2, 4)).by("IndexPutBackward0")
    yield S(m.x(3, 4), m.distinct(3, 2), m.x(4)).by("IndexPutBackward0")
    yield S(m.x(3, 4), m.mask(3, 4), 2).by("IndexPutBackward0")
    yield S(m.x(3, 4), m.mask(3, 4), m.x()).by("IndexPutBackward0")
    yield S(m.x(2, 3), (m.distinct(2, 2), m.distinct(3, 2)), m.x(2)).by("IndexPutBackward0")
    yield S(m.x(2, 3, 4), (at(None), m.distinct(3, 2)), m.x(2, 2, 4))
    yield S(m.x(2, 3, 4), (0, m.distinct(3, 2)), m.x(2, 4)).by("CopySlices")


def cats(m: Make) -> Iterator[S]:
    yield S([m.x(2, 3), m.x(1, 3)])
    yield S([m.x(2, 3), m.t(2, 2)], 1)
    yield S([m.x(2, 3), m.e(2, 3), m.x(2, 1)], dim=-1)
    yield S([m.x(3)])
    yield S([m.x(2, 3), m.x(0, 3)])
    yield S([m.x(0), m.x(2, 3)])


def stacks(m: Make) -> Iterator[S]:
    yield S([m.x(2, 3), m.t(2, 3)])
    yield S([m.x(2, 3), m.x(2, 3), m.e(2, 3)], 1)
    yield S([m.x(2), m.x(2)], dim=-1)
    yield S([m.x(), m.x()])
    yield S([m.x(0, 2), m.x(0, 2)])


def splits(m: Make) -> Iterator[S]:
    yield S(m.x(4, 3), 2).by("SplitBackward0")
    yield S(m.x(5, 3), 2).by("SplitBackward0")
    yield S(m.t(3, 4), 3, 1).by("SplitBackward0")
    yield S(m.x(3, 4), [1, 3], -1).by("SplitWithSizesBackward0")
    yield S(m.x(3, 4), 9).by("SplitBackward0")


def chunks(m: Make) -> Iterator[S]:
    yield S(m.x(4, 3), 2)
    yield S(m.x(5, 3), 3)
    yield S(m.t(3, 4), 3, 1)
    yield S(m.x(3, 4), 9, -1)


def unbinds(m: Make) -> Iterator[S]:
    yield S(m.x(3, 2))
    yield S(m.t(3, 2), 1)
    yield S(m.e(3, 2), -1)
    yield S(m.x(3))


def repeated(x: Any, *n: Any) -> Any:
    return np.tile(x, n[0] if isinstance(n[0], (list, tuple)) else n)


def diag_pairs(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4))
    yield S(m.t(3, 4), 1)
    yield S(m.x(3, 4), -1)
    yield S(m.x(3, 4), -9)
    yield S(m.x(0, 3))


def tris(m: Make) -> Iterator[S]:
    yield from diag_pairs(m)
    yield S(m.x(2, 3, 3), 1)
    yield S(m.e(3, 3))


SHAPES = [
    Op("view", views, view_sizes, call=of("view"), node="ViewBackward0", dtypes=ALL, result="first", view=True,
       twice=True, exact=True),
    Op("reshape", reshapes, lambda x, s: x.reshape(s), dtypes=ALL, result="first", twice=True, exact=True),
    Op("flatten", flattens, flat, dtypes=ALL, result="first", twice=True, exact=True),
    Op("permute", lambda m: iter([S(m.x(2, 3, 4), (2, 0, 1)), S(m.t(2, 3), (-1, 0)), S(m.x(), ()),
       S(m.x(0, 2), (1, 0))]), permuted,
       node="PermuteBackward0", dtypes=ALL, result="first", view=True, twice=True, exact=True),
    Op("transpose", lambda m: iter([S(m.x(2, 3, 4), 0, 2), S(m.x(2, 3), -1, -2), S(m.x(2, 3), 1, 1), S(m.x(), 0, -1),
       S(m.e(2, 3), 0, 1)]),
       lambda x, a, b: np.swapaxes(x, a,
           b) if x.ndim else x, node="TransposeBackward0", dtypes=ALL, result="first", view=True, inplace=True,
       twice=True, exact=True),
    Op("t", lambda m: iter([S(m.x(2, 3)), S(m.x(3)), S(m.x()), S(m.e(2, 3))]), np.transpose, node="TBackward0",
       dtypes=ALL, result="first",
       view=True, inplace=True, twice=True, exact=True),
    Op("squeeze", squeezes, squeeze, dtypes=ALL, result="first", view=True, inplace=True, twice=True, exact=True),
    Op("unsqueeze", lambda m: iter([S(m.x(2, 3), 0), S(m.x(2, 3), -1), S(m.t(2, 3), 1), S(m.x(), 0), S(m.x(0), -2)]),
       np.expand_dims,
       node="UnsqueezeBackward0", dtypes=ALL, result="first", view=True, inplace=True, twice=True, exact=True),
    Op("expand", expands, expand, call=of("expand"), node="ExpandBackward0", dtypes=ALL, result="first", view=True,
       twice=True, exact=True),
    Op("broadcast_to", lambda m: iter([S(m.x(3, 1), (2, 3, 4)), S(m.x(), (2,))]), np.broadcast_to,
       node="ExpandBackward0", result="first",
       view=True, twice=True, exact=True),
    Op("getitem", reads, read, path="operator.getitem", dtypes=ALL, result="first", exact=True),
    Op("setitem", writes, written, call=lambda torch: write, dtypes=WIDE + INTS, result="first", exact=True),
    Op("cat", cats, lambda xs, dim=0: np.concatenate([x for x in xs if x.shape != (0,)], dim), node="CatBackward0",
       dtypes=ALL, result="tensors",
       method=None, out=True, twice=True, exact=True),
    Op("stack", stacks, lambda xs, dim=0: np.stack(xs, dim), node="StackBackward0", dtypes=ALL, result="tensors",
       method=None, out=True, twice=True,
       exact=True),
    Op("split", splits, split, dtypes=ALL, result="first", view=True, twice=True, exact=True),
    Op("chunk", chunks, chunk, node="SplitBackward0", dtypes=ALL, result="first", view=True, twice=True, exact=True),
    Op("unbind", unbinds, unbind, node="UnbindBackward0", dtypes=ALL, result="first", view=True, twice=True,
       exact=True),
    Op("clone", one, np.copy, node="CloneBackward0", dtypes=ALL, twice=True, exact=True),
    Op("contiguous", one, np.copy, call=of("contiguous"), dtypes=ALL, twice=True, exact=True),
    Op("detach", one, np.copy, method=True, dtypes=ALL, grad=False, exact=True),
    Op("repeat", lambda m: iter([S(m.x(2, 3), 2, 1), S(m.x(3), (2, 2)), S(m.x(), 2), S(m.t(2, 3), 1, 1)]), repeated,
       call=of("repeat"),
       node="RepeatBackward0", result="first", twice=True, exact=True),
    Op("flip", lambda m: iter([S(m.x(2, 3), (0,)), S(m.t(2, 3), (0, 1)), S(m.x(2, 3), (-1,))]), lambda x,
       d: np.flip(x, d),
       node="FlipBackward0", dtypes=ALL, result="first", twice=True, exact=True),
    Op("roll", lambda m: iter([S(m.x(2, 3), 1), S(m.x(2, 3), 1, 0), S(m.t(2, 3), (1, -1), (0, 1))]), lambda x, s,
       d=None: np.roll(x, s, d),
       node=None, dtypes=ALL, result="first", twice=True, exact=True),
    Op("rot90", lambda m: iter([S(m.x(2, 3), 1, (0, 1)), S(m.x(2, 3), 2, (0, 1)), S(m.x(2, 3), -1, (1, 0))]), lambda x,
       k, d: np.rot90(x, k, d),
       node="Rot90Backward0", dtypes=ALL, result="first", twice=True, exact=True),
    Op("tril", tris, np.tril, node="TrilBackward0", dtypes=ALL, result="first", inplace=True, out=True, twice=True,
       exact=True),
    Op("triu", tris, np.triu, node="TriuBackward0", dtypes=ALL, result="first", inplace=True, out=True, twice=True,
       exact=True),
    Op("diagonal", diag_pairs, lambda x, k=0: np.diagonal(x, k), node="DiagonalBackward0", dtypes=ALL, result="first",
       view=True, twice=True, exact=True),
    Op("trace", lambda m: iter([S(m.x(3, 3)), S(m.t(2, 3))]), lambda x: np.trace(x,
       dtype=np.int64 if x.dtype.kind in "iu" else None),
       node="TraceBackward0", dtypes=WIDE + INTS, result="sum", twice=True),
    Op("diag", lambda m: iter([S(m.x(3)), S(m.x(3), 1), S(m.x(3, 4)), S(m.t(3, 4), -1)]), lambda x, k=0: np.diag(x, k),
       result="first", twice=True,
       exact=True),
    Op("to_double", one, lambda x: x, call=of("double"), dtypes=(f32, f16, i64), result="float64",
       node="ToCopyBackward0", twice=True, exact=True),
    Op("to_half", one, lambda x: x, call=of("half"), dtypes=(f32, i64), result="float16", node="ToCopyBackward0",
       twice=True),
    Op("movedim", lambda m: iter([S(m.x(2, 3, 4), 0, 2), S(m.x(2, 3, 4), (0, 1), (1, 2))]), np.moveaxis,
       node="PermuteBackward0", view=True, twice=True,
       exact=True),
]


# ---- products ----

PRODUCTS = [
    Op("mm", lambda m: iter([S(m.x(2, 3), m.x(3, 4)), S(m.t(2, 3), m.t(3, 2)), S(m.e(2, 3), m.x(3, 1)),
       S(m.x(0, 3), m.x(3, 2)),
                             S(m.x(2, 0), m.x(0, 2))]), matmul, node="MmBackward0", dtypes=FLOATS, out=True, tol=4),
    Op("mv", lambda m: iter([S(m.x(2, 3), m.x(3)), S(m.t(2, 3), m.s(3)), S(m.x(0, 3), m.x(3))]), np.matmul,
       node="MvBackward0", dtypes=FLOATS, out=True, tol=4),
    Op("dot", lambda m: iter([S(m.x(3), m.x(3)), S(m.s(3), m.x(3)), S(m.x(0), m.x(0))]), np.dot, node="DotBackward0",
       dtypes=FLOATS, out=True, tol=4),
    Op("bmm", lambda m: iter([S(m.x(2, 3, 2), m.x(2, 2, 4)), S(m.e(2, 3, 2), m.x(2, 2, 1)),
       S(m.x(0, 2, 2), m.x(0, 2, 2))]), matmul,
       node="BmmBackward0", dtypes=FLOATS, out=True, tol=4),
    Op("addmm", lambda m: iter([S(m.x(2, 4), m.x(2, 3), m.x(3, 4)), S(m.x(4), m.t(2, 3), m.x(3, 4)),
       S(m.x(), m.x(2, 3), m.x(3, 4), beta=0.5, alpha=2),
                                S(m.x(2, 1), m.x(2, 3), m.t(3, 4),
                                    alpha=-1)]), addmm, node="AddmmBackward0", dtypes=FLOATS, out=True, tol=4),
    Op("matmul", lambda m: iter([S(m.x(2, 3), m.x(3, 4)).by("MmBackward0"), S(m.x(2, 3), m.x(3)).by("MvBackward0"),
       S(m.x(3), m.x(3)).by("DotBackward0"),
                                 S(m.x(3), m.x(3, 2)).by("SqueezeBackward4"), S(m.x(2, 2, 3),
                                     m.x(3, 2)).by("UnsafeViewBackward0"),
                                 S(m.x(2, 2, 3), m.x(2, 3, 2)).by("UnsafeViewBackward0"), S(m.x(2, 2, 3),
                                     m.x(3)).by("UnsafeViewBackward0"),
                                 S(m.x(2, 1, 2, 3), m.t(2, 3, 2)).by("UnsafeViewBackward0"), S(m.x(3), m.x(2, 3, 2)),
                                 S(m.t(2, 2, 3), m.e(3,
                                     2)).by("UnsafeViewBackward0")]), np.matmul, dtypes=FLOATS, out=True, tol=4),
    Op("operator.matmul", lambda m: iter([S(m.x(2, 3), m.x(3, 4)), S(m.t(2, 3), m.t(3, 2))]), matmul,
       node="MmBackward0", dtypes=FLOATS, tol=4),
    Op("outer", lambda m: iter([S(m.x(2), m.x(3)), S(m.s(2), m.x(1))]), np.outer, node="MulBackward0", dtypes=FLOATS,
       out=True),
]


# ---- torch.nn.functional ----


def losses(m: Make) -> Iterator[S]:
    for reduction in ("mean", "sum", "none"):
        yield S(m.x(3, 4), m.x(3, 4), reduction=reduction)
    yield S(m.t(3, 4), m.e(3, 4))
    yield S(m.x(), m.x())


def nlls(m: Make) -> Iterator[S]:
    for reduction in ("mean", "sum", "none"):
        yield S(m.x(3, 4), m.i(4, 3), reduction=reduction)
    yield S(m.x(3, 4), m.i(4, 3), m.x(4, low=0.5))
    yield S(m.t(3, 4), m.i(4, 3), None, ignore_index=1, reduction="sum")
    yield S(m.x(4), m.i(4))
    yield S(m.x(2, 3, 2), m.i(3, 2, 2)).by("NllLoss2DBackward0")


def entropies(m: Make) -> Iterator[S]:
    for reduction in ("mean", "sum", "none"):
        yield S(m.x(3, 4), m.i(4, 3), reduction=reduction)
    yield S(m.x(3, 4), m.i(4, 3), m.x(4, low=0.5))
    yield S(m.t(3, 4), m.i(4, 3), ignore_index=1)
    yield S(m.x(4), m.i(4))
    yield S(m.x(3, 4), m.i(4, 3), label_smoothing=0.1)
    yield S(m.x(3, 4), m.i(4, 3), m.x(4, low=0.5), label_smoothing=0.1)
    yield S(m.x(2, 3, 2), m.i(3, 2, 2))


def soft_entropies(m: Make) -> Iterator[S]:
    p = softmax(m.x(3, 4).astype(float), 1).astype(m.dtype)
    yield S(m.x(3, 4), p)
    yield S(m.x(3, 4), p, reduction="sum", label_smoothing=0.1)


def linears(m: Make) -> Iterator[S]:
    yield S(m.x(2, 3), m.x(4, 3), m.x(4)).by("AddmmBackward0")
    yield S(m.x(2, 3), m.x(4, 3)).by("MmBackward0")
    yield S(m.x(3), m.x(4, 3), m.x(4)).by("ViewBackward0")
    yield S(m.x(3), m.x(4, 3)).by("SqueezeBackward4")
    yield S(m.x(2, 2, 3), m.x(4, 3), m.x(4)).by("ViewBackward0")
    yield S(m.x(2, 2, 3), m.x(4, 3)).by("UnsafeViewBackward0")
    yield S(m.t(2, 3), m.t(4, 3), m.e(4)).by("AddmmBackward0")


def dropouts(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0.5, False)
    yield S(m.x(3, 4), 0.0, True)
    yield S(m.x(3, 4), 1.0, True)


FUNCTIONAL = [
    Op("F.linear", linears, linear, path="nn.functional.linear", dtypes=FLOATS, tol=4),
    Op("F.mse_loss", losses, lambda a, b, reduction="mean": reduction_of((a - b) ** 2, reduction),
       path="nn.functional.mse_loss",
       node="MseLossBackward0", dtypes=FLOATS),
    Op("F.l1_loss", losses, lambda a, b, reduction="mean": reduction_of(np.abs(a - b), reduction),
       path="nn.functional.l1_loss", dtypes=FLOATS),
    Op("F.nll_loss", nlls, nll, path="nn.functional.nll_loss", node="NllLossBackward0", dtypes=WIDE, fixed=(1,)),
    Op("F.cross_entropy", entropies, cross_entropy, path="nn.functional.cross_entropy", dtypes=WIDE, fixed=(1,)),
    Op("F.cross_entropy_soft", soft_entropies, cross_entropy, path="nn.functional.cross_entropy", dtypes=WIDE),
    Op("F.dropout", dropouts, lambda x, p, training: x * (p < 1 or not training), path="nn.functional.dropout",
       twice=None),
    Op("F.relu", one, lambda x: np.maximum(x, 0), path="nn.functional.relu", node="ReluBackward0", kinks=(0.0,)),
    Op("F.softmax", softmaxes, softmax, path="nn.functional.softmax", node="SoftmaxBackward0"),
    Op("F.log_softmax", softmaxes, lambda x, dim: np.log(softmax(x, dim)), path="nn.functional.log_softmax",
       node="LogSoftmaxBackward0"),
    Op("F.gelu", gelus, gelu, path="nn.functional.gelu", node="GeluBackward0"),
]


# ---- activations ----


def activation(name: str, ref: Any, samples: Samples = one, **kw: Any) -> Op:
    kw.setdefault("node", "".join(p.capitalize() for p in name.split("_")) + "Backward0")
    return Op(f"F.{name}", samples, ref, path=f"nn.functional.{name}", **kw)


def with_number(*numbers: Any, **kw: Any) -> Samples:
    def samples(m: Make) -> Iterator[S]:
        yield S(m.x(3, 4))
        yield S(m.t(3, 4), *numbers, **kw)
        yield S(m.e(3, 4))
        yield S(m.x())
        yield S(m.x(0, 2))

    return samples


def in_place_flag(*numbers: Any) -> Samples:
    """F.f(x * 1, ..., inplace=True) by a row of its own: the node may differ."""
    def samples(m: Make) -> Iterator[S]:
        yield S(m.x(3, 4), *numbers)
        yield S(m.t(3, 4), *numbers)

    return samples


def edited(name: str) -> Callable[[Any], Any]:
    """F.name in place on a copy."""
    def find(torch: Any) -> Any:
        f = getattr(torch.nn.functional, name, None)
        return None if f is None else lambda x, *a: f(x * 1, *a, inplace=True)

    return find


def elu(x: Any, alpha: float = 1.0, scale: float = 1.0) -> Any:
    return scale * np.where(x > 0, x, alpha * np.expm1(x))


def softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta)


def glu(x: Any, dim: int = -1) -> Any:
    a, b = np.split(x, 2, axis=dim)
    return a * sigmoid(b)


def prelu(x: Any, w: Any) -> Any:
    if w.size > 1:
        w = w.reshape([-1 if i == 1 else 1 for i in range(x.ndim)])
    return np.where(x > 0, x, w * x)


SELU = (1.6732632423543772848170429916717, 1.0507009873554804934193349852946)
ACTIVATIONS = [
    activation("leaky_relu", lambda x, s=0.01: np.where(x > 0, x, s * x), with_number(0.2), **KINK),
    Op("F.leaky_relu_", in_place_flag(0.2), lambda x, s: np.where(x > 0, x, s * x), call=edited("leaky_relu"),
       node="LeakyReluBackward1", **KINK),
    activation("elu", elu, with_number(0.7), **KINK),
    Op("F.elu_", in_place_flag(0.7), elu, call=edited("elu"), node="EluBackward1", **KINK),
    activation("selu", lambda x: elu(x, *SELU), node="EluBackward0", **KINK),
    activation("celu", lambda x, a=1.0: np.where(x > 0, x, a * np.expm1(x / a)), with_number(0.7), **KINK, rough=True),
    Op("F.celu_", in_place_flag(0.7), lambda x, a: np.where(x > 0, x, a * np.expm1(x / a)), call=edited("celu"),
       node="CeluBackward1", **KINK, rough=True),
    activation("silu", lambda x: x * sigmoid(x)),
    activation("mish", lambda x: x * np.tanh(softplus(x))),
    activation("softplus", softplus, with_number(2.0, 1.0), kinks=(0.5,)),
    activation("softsign", lambda x: x / (1 + np.abs(x)), node="DivBackward0", **KINK),
    activation("logsigmoid", lambda x: -softplus(-x), node="LogSigmoidBackward0"),
    activation("hardtanh", lambda x, a=-1.0, b=1.0: np.clip(x, a, b), with_number(-0.5, 0.5), kinks=(-1, -0.5, 0.5, 1),
        gap=0.01),
    activation("relu6", lambda x: np.clip(x, 0, 6), node="HardtanhBackward0", low=-3, high=9, kinks=(0, 6)),
    activation("hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6, low=-5, high=5, kinks=(-3, 3)),
    activation("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6, low=-5, high=5, kinks=(-3, 3), rough=True),
    activation("tanhshrink", lambda x: x - np.tanh(x), node="SubBackward0"),
    activation("softshrink", lambda x, a=0.5: np.sign(x) * np.maximum(np.abs(x) - a, 0), with_number(0.3),
        kinks=(-0.5, -0.3, 0.3, 0.5), gap=0.01),
    activation("hardshrink", lambda x, a=0.5: np.where(np.abs(x) > a, x, 0), with_number(0.3),
        kinks=(-0.5, -0.3, 0.3, 0.5), gap=0.01),
    activation("threshold", lambda x, t, v: np.where(x > t, x, v), lambda m: iter([S(m.x(3, 4), 0.1, 20),
        S(m.t(3, 4), 0.1, -1.0)]), kinks=(0.1,)),
    Op("F.threshold_", in_place_flag(0.1, 2.0), lambda x, t, v: np.where(x > t, x, v), call=edited("threshold"),
       node="ThresholdBackward1", kinks=(0.1,)),
    Op("F.relu_", in_place_flag(), lambda x: np.maximum(x, 0), call=edited("relu"), node="ReluBackward0", **KINK),
    activation("glu", glu, lambda m: iter([S(m.x(3, 4)), S(m.t(4, 3), 0), S(m.x(2, 4, 3), 1)])),
    activation("prelu", prelu, lambda m: iter([S(m.x(3, 4), m.x(4)), S(m.t(3, 4), m.x(1)), S(m.x(2, 3, 2), m.x(3))]),
        node="PreluKernelBackward0", **KINK),
    activation("rrelu", lambda x, a, b, t: np.where(x > 0, x, x * (a + b) / 2),
        lambda m: iter([S(m.x(3, 4), 0.1, 0.3, False)]),
               node="RreluWithNoiseBackward0", **KINK),
    activation("softmin", lambda x, dim: softmax(-x, dim), softmaxes, node="SoftmaxBackward0"),
]


# ---- reading and writing along a dim ----


def gathers(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0, m.i(3, 2, 4))
    yield S(m.t(3, 4), 1, m.i(4, 3, 2))
    yield S(m.x(3, 4), -1, m.i(4, 2, 5))
    yield S(m.x(5), 0, m.i(5, 7))
    yield S(m.e(3, 4), 0, m.i(3, 1, 3))


def gathered(x: Any, dim: int, index: Any) -> Any:
    out = np.zeros(index.shape, x.dtype)
    for at in np.ndindex(*index.shape):
        where = list(at)
        where[dim] = index[at]
        out[at] = x[tuple(where)]
    return out


def scattered(mode: str) -> Callable[..., Any]:
    def ref(x: Any, dim: int, index: Any, src: Any, reduce: Any = None) -> Any:
        out = x.copy()
        for at in np.ndindex(*index.shape):
            where: Any = list(at)
            where[dim] = index[at]
            where = tuple(where)
            value = src[at] if isinstance(src, np.ndarray) else src
            how = reduce or mode
            out[where] = {"put": value, "add": out[where] + value, "sum": out[where] + value,
                "prod": out[where] * value,
                          "amax": max(out[where], value), "amin": min(out[where], value)}[how]
        return out

    return ref


def unique_rows(m: Make, n: int, k: int, columns: int) -> Any:
    return np.stack([m.distinct(n, k) for _ in range(columns)], 1)


def scatters(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0, unique_rows(m, 3, 2, 4), m.x(2, 4))
    yield S(m.t(3, 4), 0, unique_rows(m, 3, 2, 3), m.x(2, 3))
    yield S(m.x(5), 0, m.distinct(5, 3), m.x(3))
    yield S(m.x(3, 4), 1, unique_rows(m, 4, 3, 2).T.copy(), m.t(2, 3))


def number_scatters(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0, unique_rows(m, 3, 2, 4), 2)
    yield S(m.t(3, 4), -1, m.i(4, 3, 2), 1)


def adding_scatters(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0, m.i(3, 2, 4), m.x(2, 4))
    yield S(m.t(3, 4), 1, m.i(4, 3, 6), m.x(3, 6))
    yield S(m.x(5), 0, m.i(5, 3), m.x(3))


def reducing_scatters(m: Make) -> Iterator[S]:
    for how in ("sum", "prod", "amax", "amin"):
        yield S(m.x(3, 4), 0, m.i(3, 2, 4), m.x(2, 4), reduce=how).by("ScatterReduceBackward0")


def index_refs(how: str) -> Callable[..., Any]:
    def ref(x: Any, dim: int, index: Any, src: Any, alpha: Any = 1) -> Any:
        out = np.moveaxis(x.copy(), dim, 0)
        part = np.moveaxis(src, dim, 0) if isinstance(src, np.ndarray) and src.ndim else src
        for k, at in enumerate(np.atleast_1d(index)):
            value = part[k] if isinstance(part, np.ndarray) and part.ndim else part
            out[at] = out[at] + alpha * value if how == "add" else value
        return np.moveaxis(out, 0, dim)

    return ref


def index_writes(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0, m.distinct(3, 2), m.x(2, 4))
    yield S(m.t(3, 4), -1, m.distinct(4, 2), m.x(3, 2))


def taken(x: Any, index: Any) -> Any:
    return x.reshape(-1)[index]


def put(x: Any, index: Any, src: Any, accumulate: bool = False) -> Any:
    out = x.copy()
    line = out.reshape(-1)
    for k, at in enumerate(index.ravel()):
        line[at] = line[at] + src.ravel()[k] if accumulate else src.ravel()[k]
    return line.reshape(x.shape)


def masked_scatter(x: Any, mask: Any, src: Any) -> Any:
    out = x.copy()
    at = np.broadcast_to(mask, x.shape)
    out[at] = src.ravel()[: at.sum()]
    return out


def placed(x: Any, b: Any, part: Any) -> Any:
    """x with b in the part of it that a view shows."""
    out = x.copy()
    part(out)[...] = b
    return out


def index_reduce(x: Any, d: int, index: Any, b: Any, how: str) -> Any:
    out = x.copy()
    for i in range(x.shape[0]):
        rows = np.concatenate([x[i:i + 1], b[index == i]])
        out[i] = {"prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}[how](rows, axis=0)
    return out


GATHERING = [
    Op("gather", gathers, gathered, node="GatherBackward0", dtypes=ALL, result="first", exact=True),
    Op("scatter", scatters, scattered("put"), node="ScatterBackward0", dtypes=WIDE + INTS, result="first",
       inplace=True, exact=True),
    Op("scatter_number", number_scatters, scattered("put"), path="scatter", node="ScatterBackward1",
       dtypes=WIDE + INTS, result="first", inplace=True,
       exact=True),
    Op("scatter_add", adding_scatters, scattered("add"), node="ScatterAddBackward0", dtypes=WIDE + INTS,
       result="first", inplace=True),
    Op("scatter_reduce", reducing_scatters, lambda x, d, i, s, reduce: scattered("")(x, d, i, s, reduce), dtypes=WIDE,
       result="first", inplace=True),
    Op("index_select", lambda m: iter([S(m.x(3, 4), 0, m.i(3, 5)), S(m.t(3, 4), -1, m.i(4, 2)),
       S(m.x(3), 0, m.i(3, 1))]),
       lambda x, d, i: np.take(x, i, d), node="IndexSelectBackward0", dtypes=ALL, result="first", out=True, exact=True),
    Op("index_add", lambda m: iter([*index_writes(m), S(m.x(3, 4), 0, np.array([1, 1]), m.x(2, 4), alpha=2)]),
       index_refs("add"),
       node="IndexAddBackward0", dtypes=WIDE + INTS, result="first", inplace=True, out=True),
    Op("index_copy", index_writes, index_refs("put"), node="IndexCopyBackward0", dtypes=WIDE + INTS, result="first",
       inplace=True, out=True, exact=True),
    Op("index_fill", lambda m: iter([S(m.x(3, 4), 0, m.i(3, 2), 2).by("IndexFillBackward0"),
       S(m.t(3, 4), 1, m.i(4, 2), m.x()).by("IndexFillBackward1")]),
       index_refs("put"), dtypes=WIDE + INTS, result="first", inplace=True, exact=True),
    Op("take", lambda m: iter([S(m.x(3, 4), m.i(12, 2, 3)), S(m.t(3, 4), m.i(12, 5))]), taken, node="TakeBackward0",
       dtypes=ALL, result="first",
       exact=True),
    Op("put", lambda m: iter([S(m.x(3, 4), m.distinct(12, 3), m.x(3)), S(m.t(3, 4), np.array([1, 1]), m.x(2), True)]),
       put, node="PutBackward0",
       dtypes=WIDE, result="first", inplace=True),
    Op("masked_select", lambda m: iter([S(m.x(3, 4), m.mask(3, 4)), S(m.t(3, 4), m.mask(4)), S(m.x(4), m.mask(3, 1))]),
       lambda x, k: np.broadcast_arrays(x, k)[0][np.broadcast_arrays(x,
           k)[1]], node="MaskedSelectBackward0", dtypes=ALL, result="first", out=True, exact=True),
    Op("masked_scatter", lambda m: iter([S(m.x(3, 4), m.mask(3, 4), m.x(12)), S(m.t(3, 4), m.mask(4), m.x(4, 3))]),
       masked_scatter,
       node="MaskedScatterBackward0", dtypes=WIDE + INTS, result="first", inplace=True, exact=True),
    Op("masked_fill_tensor", lambda m: iter([S(m.x(3, 4), m.mask(3, 4), m.x()), S(m.t(3, 4), m.mask(4), m.x())]),
       lambda x, mask, v: np.where(mask, v,
           x), path="masked_fill", inplace=True, node="MaskedFillBackward1", dtypes=WIDE, result="first", exact=True),
    Op("select_scatter", lambda m: iter([S(m.x(3, 4), m.x(4), 0, 1), S(m.t(3, 4), m.x(3), -1, -2)]),
       lambda x, b, d, i: placed(x, b, lambda out: np.moveaxis(out, d, 0)[i, ...]), node="SelectScatterBackward0",
       dtypes=ALL, result="first", twice=True, exact=True),
    Op("slice_scatter", lambda m: iter([S(m.x(3, 4), m.x(2, 4), 0, 1), S(m.t(3, 4), m.x(3, 2), 1, 0, 4, 2)]),
       lambda x, b, d=0, *part: placed(x, b, lambda out: np.moveaxis(np.moveaxis(out, d, 0)[slice(*part, *[None] * (
           2 - len(part)))], 0, d)), node="SliceScatterBackward0", dtypes=ALL, result="first", twice=True,
       exact=True),
    Op("diagonal_scatter", lambda m: iter([S(m.x(3, 4), m.x(3)), S(m.t(3, 4), m.x(2), -1)]),
       lambda x, b, k=0: placed(x, b, lambda out: np.einsum("ii->i", out[max(-k, 0):, max(k, 0):][:b.size, :b.size])),
       node="DiagonalScatterBackward0", dtypes=ALL, result="first", twice=True, exact=True),
    Op("narrow_copy", lambda m: iter([S(m.x(3, 4), 0, 1, 2), S(m.t(3, 4), 1, 0, 3)]),
       lambda x, d, start, n: np.take(x, range(start, start + n), d), node="NarrowCopyBackward0", dtypes=ALL,
       result="first", twice=True, exact=True),
    Op("index_reduce", lambda m: iter([S(m.x(3, 4), 0, np.array([0, 2, 0]), m.x(3, 4), how)
                                       for how in ("prod", "mean", "amax", "amin")]),
       index_reduce, node="IndexReduceBackward0", dtypes=WIDE, result="first", order2=False),
    Op("renorm", lambda m: iter([S(m.x(3, 4), 2, 0, 1.0), S(m.t(3, 4), 1, 1, 0.5), S(m.x(2, 3, 2), 3, 1, 0.1)]),
       lambda x, p, d, top: x * np.minimum(1, top / ((np.abs(x.astype(np.float64)) ** p).sum(tuple(
           i for i in range(x.ndim) if i != d), keepdims=True) ** (1 / p) + 1e-7)),
       node="RenormBackward0", dtypes=WIDE, result="first", tol=10),
]


# ---- order ----


def sorts(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4))
    yield S(m.x(3, 4), 0)
    yield S(m.t(3, 4), -1, True)
    yield S(m.x(5))
    yield S(m.x())


def sort(x: Any, dim: int = -1, descending: bool = False) -> Any:
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    at = np.argsort(-x if descending else x, axis=dim, kind="stable")
    return np.take_along_axis(x, at, dim), at


def topk(x: Any, k: int, dim: int = -1, largest: bool = True) -> Any:
    y, at = sort(x, dim, largest)
    return np.take(y, range(k), dim), np.take(at, range(k), dim)


def kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    y, at = sort(x, dim)
    pick = (lambda v: np.take(v, [k - 1], dim)) if keepdim else (lambda v: np.take(v, k - 1, dim))
    return pick(y), pick(at)


ORDERS = [
    Op("sort", sorts, sort, node="SortBackward0", dtypes=WIDE, result=("first", "int64"), exact=True),
    Op("argsort", sorts, lambda *a: sort(*a)[1], dtypes=WIDE, result="int64", grad=False, exact=True),
    Op("topk", lambda m: iter([S(m.x(3, 4), 2), S(m.t(3, 4), 1, 0), S(m.x(5), 3, 0, False)]), topk,
       node="TopkBackward0", dtypes=WIDE,
       result=("first", "int64"), exact=True),
    Op("kthvalue", lambda m: iter([S(m.x(3, 4), 2), S(m.t(3, 4), 1, 0, True)]), kthvalue, node="KthvalueBackward0",
       dtypes=WIDE,
       result=("first", "int64"), exact=True),
    Op("msort", lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4))]), lambda x: np.sort(x, 0), dtypes=WIDE, exact=True),
    Op("bincount", lambda m: iter([S(m.i(4, 9))]), np.bincount, dtypes=(f32,), grad=False, result="int64", exact=True),
]


# ---- the rest of reductions, shapes, joins ----


def moments(root: bool) -> Callable[..., Any]:
    def ref(x: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, correction: int = 1) -> Any:
        return spread(root)(x, dim, unbiased, keepdim, correction), np.mean(x, axis=axis_of(dim, x), keepdims=keepdim)

    return ref


def dist(a: Any, b: Any, p: float = 2.0) -> Any:
    return norm(a - b, p)


def modes(x: Any, dim: int = -1, keepdim: bool = False) -> Any:
    values = np.apply_along_axis(lambda r: min(r, key=lambda v: (-np.sum(r == v), v)), dim, x)
    at = np.apply_along_axis(lambda r: int(np.flatnonzero(r == min(r, key=lambda v: (-np.sum(r == v), v)))[-1]), dim, x)
    return (np.expand_dims(values, dim), np.expand_dims(at, dim)) if keepdim else (values, at)


def unfold(x: Any, dim: int, size: int, step: int) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=dim)
    return np.take(windows, range(0, x.shape[dim] - size + 1, step), axis=dim)


def diag_embed(x: Any, offset: int = 0) -> Any:
    n = x.shape[-1] + abs(offset)
    out = np.zeros((*x.shape[:-1], n, n))
    for at in np.ndindex(*x.shape):
        i = at[-1]
        out[(*at[:-1], i + max(-offset, 0), i + max(offset, 0))] = x[at]
    return out


def strided(x: Any, size: Any, stride: Any, offset: int = 0) -> Any:
    line = x.reshape(-1)
    return np.array([line[offset + sum(i * s for i, s in zip(at, stride))] for at in np.ndindex(*size)]).reshape(size)


def block_diag(*xs: Any) -> Any:
    xs = tuple(np.atleast_2d(x) for x in xs)
    out = np.zeros((sum(x.shape[0] for x in xs), sum(x.shape[1] for x in xs)))
    i = j = 0
    for x in xs:
        out[i : i + x.shape[0], j : j + x.shape[1]] = x
        i, j = i + x.shape[0], j + x.shape[1]
    return out


MORE = [
    Op("nansum", plain_or(along), reduced(np.nansum), node="NansumBackward0", dtypes=WIDE),
    Op("nanmean", plain_or(along), reduced(np.nanmean), dtypes=WIDE),
    Op("nanmedian", reductions, lower_median, node="NanmedianBackward0", dtypes=WIDE, exact=True, picks=True),
    Op("nanmedian_dim", along, lower_median, path="nanmedian", result=("first", "int64"), node="NanmedianBackward1",
       dtypes=WIDE, exact=True, picks=True,
       oracle=False),
    Op("aminmax", lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4), dim=0), S(m.x(3, 4), dim=-1, keepdim=True)]),
       lambda x, dim=None, keepdim=False: (np.min(x, dim, keepdims=keepdim),
           np.max(x, dim, keepdims=keepdim)), node="AminmaxBackward0", dtypes=WIDE,
       result=("first", "first"), exact=True),
    Op("mode", lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4), 0, True)]), modes, node="ModeBackward0", dtypes=WIDE,
       result=("first", "int64"), exact=True),
    Op("dist", lambda m: iter([S(m.x(3, 4), m.x(3, 4)), S(m.t(3, 4), m.x(4), 3), S(m.x(3), m.x(3), 1)]), dist,
       node="DistBackward0", dtypes=WIDE),
    Op("var_mean", variances, moments(False), node="VarMeanBackward0", dtypes=FLOATS, method=None,
       result=("first", "first")),
    Op("std_mean", variances, moments(True), node="StdMeanBackward0", dtypes=FLOATS, method=None,
       result=("first", "first")),
    Op("count_nonzero", lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4), 0)]), lambda x,
       dim=None: np.count_nonzero(x, axis=dim), dtypes=(f32, i64, b8),
       grad=False, result="int64", exact=True),
    Op("clamp_min", lambda m: iter([S(m.x(3, 4), 0).by("ClampMinBackward0"),
       S(m.t(3, 4), m.x(4)).by("ClampMinBackward1")]), np.maximum, inplace=True,
       out=True, dtypes=WIDE + INTS, exact=True, kinks=(0.0,)),
    Op("clamp_max", lambda m: iter([S(m.x(3, 4), 0).by("ClampMaxBackward0"),
       S(m.t(3, 4), m.x(4)).by("ClampMaxBackward1")]), np.minimum, inplace=True,
       out=True, dtypes=WIDE + INTS, exact=True, kinks=(0.0,)),
    Op("fmod_number", lambda m: iter([S(m.x(3, 4), 2), S(m.t(3, 4), 1.5)]), np.fmod, path="fmod", inplace=True,
       out=True, node="FmodBackward0", twice=True,
       low=1.1, high=1.4),
    Op("copysign_number", lambda m: iter([S(m.x(3, 4), -2), S(m.t(3, 4), 1.5)]), np.copysign, path="copysign",
       inplace=True, node="CopysignBackward1", **KINK),
    Op("xlogy_number", lambda m: iter([S(m.x(3, 4), 2).by("XlogyBackward2")]), lambda a, b: a * np.log(b),
       path="xlogy", low=0.5, high=3),
    Op("number_xlogy", lambda m: iter([S(2, m.x(3, 4)).by("XlogyBackward1")]), lambda a, b: a * np.log(b),
       path="xlogy", method=None, low=0.5, high=3),
    Op("round_decimals", lambda m: iter([S(m.x(3, 4), decimals=1), S(m.t(3, 4), decimals=2)]), lambda x,
       decimals: np.round(x, decimals), path="round",
       node="RoundBackward1", dtypes=(f64,), twice=True, low=0.01, high=0.04, kinks=(0.015, 0.025), gap=0.001),
    pointwise("erfinv", vector(lambda y: _inverse(math.erf, y)), -0.8, 0.8, dtypes=FLOATS),
    pointwise("digamma", vector(lambda x: _slope(math.lgamma, x)), 0.5, 4, dtypes=(f32,), tol=50),
    Op("polygamma", lambda m: iter([S(1, m.x(3, 4)), S(2, m.t(3, 4)), S(0, m.x())]), lambda n,
       x: vector(lambda v: _polygamma(n, v))(x), method=None,
       node="PolygammaBackward0", low=0.5, high=4, dtypes=WIDE, tol=1e4),
    Op("diag_embed", lambda m: iter([S(m.x(3)), S(m.x(2, 3), 1), S(m.t(2, 3), -1)]), diag_embed,
       node="DiagEmbedBackward0", result="first", twice=True),
    Op("unfold", lambda m: iter([S(m.x(3, 5), 1, 3, 2), S(m.t(4, 3), 0, 2, 1)]), unfold, call=of("unfold"),
       node="UnfoldBackward0", result="first",
       twice=True, exact=True),
    Op("as_strided", lambda m: iter([S(m.x(3, 4), (2, 2), (4, 1)), S(m.x(12), (3, 3), (2, 1), 1)]), strided,
       node="AsStridedBackward0", result="first",
       twice=True, exact=True),
    Op("block_diag", lambda m: iter([S(m.x(2, 2), m.x(1, 3)), S(m.x(2), m.t(2, 3))]), block_diag, method=None,
       node="BlockDiagBackward0", dtypes=WIDE,
       result="tensors", twice=True),
    Op("fill_", lambda m: iter([S(m.x(3, 4), m.x()).by("FillBackward3"), S(m.t(3, 4), 2)]), lambda x,
       v: np.broadcast_to(v, x.shape),
       call=lambda torch: lambda x, v: (x + 0).fill_(v), node="FillBackward2", result="first", twice=True, exact=True),
    Op("zero_", lambda m: iter([S(m.x(3, 4))]), np.zeros_like, call=lambda torch: lambda x: (x + 0).zero_(),
       node="ZeroBackward0", twice=True, exact=True),
    Op("copy_", lambda m: iter([S(m.x(3, 4), m.x(3, 4)), S(m.t(3, 4), m.x(4))]), lambda x,
       v: np.broadcast_to(v, x.shape),
       call=lambda torch: lambda x, v: (x + 0).copy_(v), node="CopyBackwards", result="first", twice=True, exact=True),
    Op("diff", lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4), 1, 0), S(m.x(5), 2)]), lambda x, n=1,
       dim=-1: np.diff(x, n, dim), dtypes=WIDE, twice=True),
    Op("repeat_interleave", lambda m: iter([S(m.x(2, 3), 2), S(m.t(2, 3), 2, 0), S(m.x(2, 3), m.i(3, 2) + 1, 0)]),
       lambda x, r, dim=None: np.repeat(x, r, dim), dtypes=WIDE, result="first", exact=True, twice=None),
    *[Op(name, lambda m: iter([S((m.x(2, 3), m.t(2, 3)))]), ref, method=None, out=True, node=None, twice=True,
        dtypes=WIDE, result="tensors", exact=True)
      for name, ref in [("vstack", np.vstack), ("hstack", np.hstack), ("dstack", np.dstack),
          ("column_stack", np.column_stack)]],
    Op("addmv", lambda m: iter([S(m.x(2), m.x(2, 3), m.x(3)), S(m.x(1), m.t(2, 3), m.x(3), beta=0.5, alpha=2)]),
       lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b), node="AddmvBackward0", out=True, tol=4),
    Op("addr", lambda m: iter([S(m.x(2, 3), m.x(2), m.x(3)), S(m.x(3), m.x(2), m.x(3), beta=0.5, alpha=2)]),
       lambda c, a, b, beta=1, alpha=1: beta * c + alpha * np.outer(a,
           b), node="AddrBackward0", inplace=None, out=True, tol=4),
    Op("baddbmm", lambda m: iter([S(m.x(2, 2, 2), m.x(2, 2, 3), m.x(2, 3, 2)),
       S(m.x(2), m.t(2, 2, 3), m.x(2, 3, 2), beta=0.5, alpha=2)]),
       lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b), node="BaddbmmBackward0", out=True, tol=8),
    Op("addbmm", lambda m: iter([S(m.x(2, 2), m.x(2, 2, 3), m.x(2, 3, 2)),
       S(m.x(2), m.t(2, 2, 3), m.x(2, 3, 2), beta=0.5, alpha=2)]),
       lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b).sum(0), node="AddbmmBackward0", out=True, tol=8),
    Op("vdot", lambda m: iter([S(m.x(3), m.x(3)), S(m.s(3), m.x(3))]), np.vdot, node="VdotBackward0", tol=4),
    Op("linalg.cross", lambda m: iter([S(m.x(2, 3), m.x(2, 3)), S(m.t(2, 3), m.x(1, 3))]), np.cross,
       node="LinalgCrossBackward0", tol=4, oracle=True),
    Op("cdist", lambda m: iter([S(m.x(3, 2), m.x(4, 2)), S(m.x(2, 3, 2), m.t(2, 4, 2), 1.0),
       S(m.x(3, 2), m.x(4, 2), 3.0)]),
       lambda a, b, p=2.0: (np.abs(a[..., :, None, :] - b[..., None, :,
           :]) ** p).sum(-1) ** (1 / p), node="CdistBackward0", dtypes=WIDE, method=None,
       order2=False, tol=100),
]


# ---- losses ----


def smooth_l1(a: Any, b: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    d = np.abs(a - b)
    return reduction_of(np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta), reduction)


def huber(a: Any, b: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    d = np.abs(a - b)
    return reduction_of(np.where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta)), reduction)


def bce(a: Any, b: Any, weight: Any = None, reduction: str = "mean") -> Any:
    loss = -(b * np.log(a) + (1 - b) * np.log(1 - a))
    return reduction_of(loss if weight is None else loss * weight, reduction)


def bce_logits(a: Any, b: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None) -> Any:
    p = 1.0 if pos_weight is None else pos_weight
    loss = p * b * softplus(-a) + (1 - b) * softplus(a)
    return reduction_of(loss if weight is None else loss * weight, reduction)


def bces(m: Make) -> Iterator[S]:
    for reduction in ("mean", "sum", "none"):
        yield S(m.x(3, 4), m.x(3, 4), reduction=reduction)
    yield S(m.t(3, 4), m.e(3, 4), m.x(3, 4))


def kl_div(a: Any, b: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    loss = np.exp(b) * (b - a) if log_target else b * (np.log(b) - a)
    return loss.sum() / a.shape[0] if reduction == "batchmean" else reduction_of(loss, reduction)


def signs(m: Make, *shape: int) -> Any:
    return (m.rng.integers(0, 2, shape) * 2 - 1).astype(m.dtype)


def multi_margin(x: Any, target: Any, p: int = 1, margin: float = 1.0) -> Any:
    out = []
    for row, t in zip(x, target):
        terms = [max(0.0, margin - row[t] + v) ** p for k, v in enumerate(row) if k != t]
        out.append(sum(terms) / len(row))
    return np.mean(out)


def multilabel_margin(x: Any, target: Any) -> Any:
    out = []
    for row, labels in zip(x, target):
        good = []
        for t in labels:
            if t < 0:
                break
            good.append(int(t))
        out.append(sum(max(0.0,
            1 - (row[g] - row[k])) for g in good for k in range(len(row)) if k not in good) / len(row))
    return np.mean(out)


def triplet(a: Any, p: Any, n: Any, margin: float = 1.0) -> Any:
    return np.mean(np.maximum(0, norm(a - p + 1e-6, 2.0, 1) - norm(a - n + 1e-6, 2.0, 1) + margin))


def loss(name: str, ref: Any, samples: Samples = losses, **kw: Any) -> Op:
    kw.setdefault("dtypes", WIDE)
    return Op(f"F.{name}", samples, ref, path=f"nn.functional.{name}", **kw)


LOSSES = [
    loss("smooth_l1_loss", smooth_l1, node="SmoothL1LossBackward0"),
    loss("huber_loss", huber, node="HuberLossBackward0"),
    loss("binary_cross_entropy", bce, bces, node="BinaryCrossEntropyBackward0", low=0.1, high=0.9, fixed=(2,),
         checks=True),
    loss("binary_cross_entropy_with_logits", bce_logits,
         lambda m: iter([*bces(m), S(m.x(3, 4), m.x(3, 4),
             pos_weight=m.x(4))]), node="BinaryCrossEntropyWithLogitsBackward0", fixed=(2,)),
    loss("kl_div", kl_div, lambda m: iter([S(m.x(3, 4), m.x(3, 4), reduction="batchmean"),
        S(m.x(3, 4), m.x(3, 4), reduction="sum", log_target=True)]),
         low=0.1, high=0.9),
    loss("soft_margin_loss", lambda a, b: np.mean(softplus(-a * b)), lambda m: iter([S(m.x(3, 4), signs(m, 3, 4))]),
        node="SoftMarginLossBackward0",
         fixed=(1,)),
    loss("multi_margin_loss", multi_margin, lambda m: iter([S(m.x(3, 4), m.i(4, 3)), S(m.x(3, 4), m.i(4, 3), 2)]),
        node="MultiMarginLossBackward0"),
    loss("multilabel_margin_loss", multilabel_margin, lambda m: iter([S(m.x(2, 4),
        np.array([[1, 3, -1, 0], [0, -1, 1, 1]]))]),
         node="MultilabelMarginLossBackward0"),
    loss("hinge_embedding_loss", lambda x, y: np.mean(np.where(y == 1, x, np.maximum(0, 1 - x))),
         lambda m: iter([S(m.x(3, 4), signs(m, 3, 4))]), fixed=(1,), kinks=(1.0,)),
    loss("margin_ranking_loss", lambda a, b, y: np.mean(np.maximum(0, -y * (a - b))),
        lambda m: iter([S(m.x(3), m.x(3), signs(m, 3))]), fixed=(2,)),
    loss("cosine_similarity", lambda a, b, dim=1: (a * b).sum(dim) / np.sqrt((a * a).sum(dim) * (b * b).sum(dim)),
         lambda m: iter([S(m.x(3, 4), m.x(3, 4)), S(m.t(3, 4), m.x(3, 4), 0)]), tol=10),
    loss("poisson_nll_loss", lambda x, t: np.mean(np.exp(x) - t * x), lambda m: iter([S(m.x(3, 4),
        m.x(3, 4, low=0.1, high=3))])),
    loss("gaussian_nll_loss", lambda x, t, v: np.mean(0.5 * (np.log(v) + (x - t) ** 2 / v)),
         lambda m: iter([S(m.x(3, 4), m.x(3, 4), m.x(3, 4, low=0.5, high=2))]), order2=False, checks=True),
    loss("triplet_margin_loss", triplet, lambda m: iter([S(m.x(3, 4), m.x(3, 4), m.x(3, 4)),
        S(m.t(3, 4), m.x(3, 4), m.x(3, 4), margin=3.0)]),
         order2=False),
    loss("pairwise_distance", lambda a, b: norm(a - b + 1e-6, 2.0, 1), lambda m: iter([S(m.x(3, 4), m.x(3, 4))]),
        order2=False),
    loss("normalize", lambda x, p=2.0, dim=1: x / norm(x, p, dim, True),
        lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4), 1.0, 0)]), node="DivBackward0", **KINK),
]


# ---- convolution, pooling, padding, normalisation ----


def padded(x: Any, pads: Sequence[int], value: float = 0.0) -> Any:
    """The last len(pads) dims by pads[i] on both sides."""
    widths = [(0, 0)] * (x.ndim - len(pads)) + [(p, p) for p in pads]
    return np.pad(x, widths, constant_values=value)


def each(n: int, v: Any) -> tuple[int, ...]:
    return (v,) * n if isinstance(v, int) else tuple(v)


def conv(n: int) -> Callable[..., Any]:
    def ref(x: Any, w: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1) -> Any:
        stride, padding, dilation = each(n, stride), each(n, padding), each(n, dilation)
        if x.ndim == n + 1:
            return ref(x[None], w, bias, stride, padding, dilation, groups)[0]
        x = padded(x, padding)
        out_sizes = [(s - d * (k - 1) - 1) // t + 1 for s, k, t, d in zip(x.shape[2:], w.shape[2:], stride, dilation)]
        out = np.zeros((x.shape[0], w.shape[0], *out_sizes))
        per_in, per_out = w.shape[1], w.shape[0] // groups
        for o in range(w.shape[0]):
            g = o // per_out
            for at in np.ndindex(*out_sizes):
                window = tuple(slice(a * t, a * t + d * (k - 1) + 1, d) for a, t, d,
                    k in zip(at, stride, dilation, w.shape[2:]))
                part = x[(slice(None), slice(g * per_in, (g + 1) * per_in), *window)]
                out[(slice(None), o, *at)] = (part * w[o]).sum(tuple(range(1, n + 2)))
        return out if bias is None else out + bias.reshape(-1, *[1] * n)

    return ref


def conv_transpose(n: int) -> Callable[..., Any]:
    def ref(x: Any, w: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, dilation: Any = 1) -> Any:
        stride, padding, dilation, extra = each(n, stride), each(n, padding), each(n, dilation), each(n, output_padding)
        full = [(s - 1) * t + d * (k - 1) + 1 + e for s, t, d, k, e in zip(x.shape[2:], stride, dilation, w.shape[2:],
            extra)]
        out = np.zeros((x.shape[0], w.shape[1] * groups, *full))
        per_in = x.shape[1] // groups
        for i in range(x.shape[1]):
            g = i // per_in
            for at in np.ndindex(*x.shape[2:]):
                window = tuple(slice(a * t, a * t + d * (k - 1) + 1, d) for a, t, d,
                    k in zip(at, stride, dilation, w.shape[2:]))
                rows = slice(g * w.shape[1], (g + 1) * w.shape[1])
                out[(slice(None), rows, *window)] += x[(slice(None), i, *at)].reshape(-1, 1, *[1] * n) * w[i][None]
        out = out[(slice(None), slice(None), *[slice(p, s - p) for p, s in zip(padding, full)])]
        return out if bias is None else out + bias.reshape(-1, *[1] * n)

    return ref


def pool(n: int, how: Callable[..., Any], fill: float) -> Callable[..., Any]:
    def ref(x: Any, size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
        count_include_pad: bool = True) -> Any:
        k, p, d = each(n, size), each(n, padding), each(n, dilation)
        t = k if stride is None else each(n, stride)
        lead = x.shape[: x.ndim - n]
        x = padded(x, p, fill)
        sizes = [(s - b * (a - 1) - 1) // c + 1 for s, a, b, c in zip(x.shape[-n:], k, d, t)]
        out = np.zeros((*lead, *sizes))
        for at in np.ndindex(*sizes):
            window = tuple(slice(i * c, i * c + b * (a - 1) + 1, b) for i, a, b, c in zip(at, k, d, t))
            out[(Ellipsis, *at)] = how(x[(Ellipsis, *window)], axis=tuple(range(-n, 0)))
        return out

    return ref


def adaptive(n: int, how: Callable[..., Any]) -> Callable[..., Any]:
    def ref(x: Any, size: Any) -> Any:
        want = each(n, size)
        out = np.zeros((*x.shape[: x.ndim - n], *want))
        for at in np.ndindex(*want):
            window = tuple(slice(i * s // o, -(-(i + 1) * s // o)) for i, o, s in zip(at, want, x.shape[-n:]))
            out[(Ellipsis, *at)] = how(x[(Ellipsis, *window)], axis=tuple(range(-n, 0)))
        return out

    return ref


SPACES = {1: (5,), 2: (4, 5), 3: (3, 4, 3)}


def convs(n: int) -> Samples:
    def samples(m: Make) -> Iterator[S]:
        space, k = SPACES[n], (2,) * n
        yield S(m.x(2, 2, *space), m.x(3, 2, *k), m.x(3))
        yield S(m.t(1, 2, *space), m.x(2, 2, *k), None, 2, 1)
        if n < 3:
            yield S(m.x(2, 4, *space), m.x(2, 2, *k), m.x(2), groups=2, dilation=2)
            yield S(m.x(2, *space), m.x(3, 2, *k), m.x(3)).by("SqueezeBackward1")

    return samples


def transposed_convs(n: int) -> Samples:
    def samples(m: Make) -> Iterator[S]:
        space, k = (3,) * n if n < 3 else (2, 2, 2), (2,) * n
        yield S(m.x(2, 2, *space), m.x(2, 3, *k), m.x(3))
        if n < 3:
            yield S(m.x(1, 4, *space), m.x(4, 2, *k), None, stride=2, padding=1, output_padding=1, groups=2)

    return samples


def pools(n: int, padding: bool = True) -> Samples:
    def samples(m: Make) -> Iterator[S]:
        space = SPACES[n]
        yield S(m.x(2, 2, *space), 2)
        yield S(m.t(1, 2, *space), 2, 1)
        if padding:
            yield S(m.x(1, 2, *space), 3, 2, 1)

    return samples


def pads(m: Make) -> Iterator[S]:
    yield S(m.x(2, 3), (1, 2))
    yield S(m.t(2, 3), (1, 0, 0, 2), "constant", 1.5 if m.floats else 1)
    yield S(m.x(3, 4), (-1, 1))


def pad(x: Any, widths: Any, mode: str = "constant", value: float = 0.0) -> Any:
    pairs = [(0, 0)] * (x.ndim - len(widths) // 2) + [(widths[i], widths[i + 1]) for i in range(len(widths) - 2, -1,
        -2)]
    cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(pairs, x.shape))
    grow = [(max(a, 0), max(b, 0)) for a, b in pairs]
    how = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    return np.pad(x[cut], grow, mode=how,
        **({"constant_values": value} if mode == "constant" else {}))  # type: ignore[call-overload]


def mirror_pads(mode: str) -> Samples:
    def samples(m: Make) -> Iterator[S]:
        end = {"reflect": "ReflectionPad", "replicate": "ReplicationPad"}.get(mode)
        for n, widths in ((1, (1, 2)), (2, (1, 2, 2, 0)), (3, (1, 1, 0, 1, 1, 0))):
            s = S(m.x(1, 2, *SPACES[n]), widths, mode)
            yield s.by(f"{end}{n}DBackward0") if end else s

    return samples


def layer_norm(x: Any, shape: Any, w: Any = None, b: Any = None, eps: float = 1e-5) -> Any:
    axes = tuple(range(-len(shape), 0))
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)
    return (y if w is None else y * w) + (0 if b is None else b)


def batch_norm(x: Any, mean: Any, var: Any, w: Any = None, b: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5) -> Any:
    axes = tuple(i for i in range(x.ndim) if i != 1)
    to = [-1 if i == 1 else 1 for i in range(x.ndim)]
    if training:
        mean, var = x.mean(axes), x.var(axes)
    y = (x - mean.reshape(to)) / np.sqrt(var.reshape(to) + eps)
    return (y if w is None else y * w.reshape(to)) + (0 if b is None else b.reshape(to))


def group_norm(x: Any, groups: int, w: Any = None, b: Any = None, eps: float = 1e-5) -> Any:
    to = [-1 if i == 1 else 1 for i in range(x.ndim)]
    parts = x.reshape(x.shape[0], groups, -1)
    y = ((parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + eps)).reshape(x.shape)
    return (y if w is None else y * w.reshape(to)) + (0 if b is None else b.reshape(to))


def rms_norm(x: Any, shape: Any, w: Any = None, eps: float = 1e-5) -> Any:
    y = x / np.sqrt((x * x).mean(tuple(range(-len(shape), 0)), keepdims=True) + eps)
    return y if w is None else y * w


def nearest(x: Any, scale: int) -> Any:
    for axis in range(2, x.ndim):
        x = np.repeat(x, scale, axis)
    return x


def linear_resize(x: Any, size: Any) -> Any:
    """Half-pixel centres, edges clamped."""
    for axis, want in zip(range(2, x.ndim), size):
        n = x.shape[axis]
        at = np.maximum((np.arange(want) + 0.5) * n / want - 0.5, 0)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, n - 1)
        part = (at - low).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        x = np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part
    return x


def pixel_shuffle(x: Any, r: int) -> Any:
    n, c, h, w = x.shape
    return x.reshape(n, c // r**2, r, r, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // r**2, h * r, w * r)


def pixel_unshuffle(x: Any, r: int) -> Any:
    n, c, h, w = x.shape
    return x.reshape(n, c, h // r, r, w // r, r).transpose(0, 1, 3, 5, 2, 4).reshape(n, c * r**2, h // r, w // r)


def im2col(x: Any, k: int, stride: int = 1) -> Any:
    n, c, h, w = x.shape
    cols = [x[:, :, i : i + k, j : j + k].reshape(n, -1) for i in range(0, h - k + 1, stride) for j in range(0,
        w - k + 1, stride)]
    return np.stack(cols, -1)


def col2im(x: Any, size: Any, k: int, stride: int = 1) -> Any:
    n, ck, _ = x.shape
    out = np.zeros((n, ck // k**2, *size))
    places = [(i, j) for i in range(0, size[0] - k + 1, stride) for j in range(0, size[1] - k + 1, stride)]
    for column, (i, j) in enumerate(places):
        out[:, :, i : i + k, j : j + k] += x[:, :, column].reshape(n, -1, k, k)
    return out


def F(name: str, samples: Samples, ref: Any, **kw: Any) -> Op:
    kw.setdefault("dtypes", WIDE)
    kw.setdefault("tol", 10)
    row = kw.pop("row", name)
    return Op(f"F.{row}", samples, ref, path=f"nn.functional.{name}", **kw)


LAYERS = [
    *[F(f"conv{n}d", convs(n), conv(n), node="ConvolutionBackward0") for n in (1, 2, 3)],
    *[F(f"conv_transpose{n}d", transposed_convs(n), conv_transpose(n), node="ConvolutionBackward0") for n in (1, 2, 3)],
    F("unfold", lambda m: iter([S(m.x(2, 2, 3, 4), 2), S(m.x(1, 1, 4, 4), 2, stride=2)]), im2col,
       node="Im2ColBackward0", twice=True),
    F("fold", lambda m: iter([S(m.x(2, 8, 6), (3, 4), 2), S(m.x(1, 4, 4), (4, 4), 2, stride=2)]), col2im,
       node="Col2ImBackward0", twice=True),
    F("max_pool1d", pools(1), pool(1, np.max, -np.inf), exact=True),
    F("max_pool2d", pools(2), pool(2, np.max, -np.inf), node="MaxPool2DWithIndicesBackward0", exact=True),
    F("max_pool3d", pools(3), pool(3, np.max, -np.inf), node="MaxPool3DWithIndicesBackward0", exact=True),
    F("avg_pool1d", pools(1), pool(1, np.mean, 0.0)),
    F("avg_pool2d", pools(2), pool(2, np.mean, 0.0), node="AvgPool2DBackward0"),
    F("avg_pool3d", pools(3, False), pool(3, np.mean, 0.0), node="AvgPool3DBackward0"),
    F("adaptive_avg_pool1d", lambda m: iter([S(m.x(1, 2, 5), 3)]), adaptive(1, np.mean)),
    F("adaptive_avg_pool2d", lambda m: iter([S(m.x(1, 2, 4, 5), (3, 2)), S(m.t(1, 2, 4, 5), 2)]), adaptive(2, np.mean),
       node="AdaptiveAvgPool2DBackward0"),
    F("adaptive_avg_pool3d", lambda m: iter([S(m.x(1, 1, 4, 3, 3), 2)]), adaptive(3, np.mean),
       node="AdaptiveAvgPool3DBackward0"),
    F("adaptive_max_pool1d", lambda m: iter([S(m.x(1, 2, 5), 3)]), adaptive(1, np.max), exact=True),
    F("adaptive_max_pool2d", lambda m: iter([S(m.x(1, 2, 4, 5), (3, 2))]), adaptive(2, np.max),
       node="AdaptiveMaxPool2DBackward0", exact=True),
    F("adaptive_max_pool3d", lambda m: iter([S(m.x(1, 1, 4, 3, 3), 2)]), adaptive(3, np.max),
       node="AdaptiveMaxPool3DBackward0", exact=True),
    F("pad", pads, pad, node="ConstantPadNdBackward0", dtypes=ALL, result="first", twice=True, exact=True),
    F("pad", mirror_pads("reflect"), pad, row="pad_reflect", exact=True),
    F("pad", mirror_pads("replicate"), pad, row="pad_replicate", exact=True),
    F("pad", mirror_pads("circular"), pad, row="pad_circular", exact=True, twice=None),
    F("layer_norm", lambda m: iter([S(m.x(3, 4), (4,)), S(m.x(2, 3, 4), (3, 4), m.x(3, 4), m.x(3, 4)),
       S(m.t(3, 4), (4,), m.x(4))]), layer_norm,
      node="NativeLayerNormBackward0", tol=40),
    F("batch_norm", lambda m: iter([S(m.x(4, 3), m.x(3), m.x(3, low=0.5), m.x(3), m.x(3)),
       S(m.t(4, 3), m.x(3), m.x(3, low=0.5))]), batch_norm,
      node="NativeBatchNormBackward0", fixed=(1, 2), tol=40),
    F("batch_norm", lambda m: iter([S(m.x(4, 3, 2), None, None, m.x(3), m.x(3), True),
       S(m.t(4, 3), None, None, None, None, True)]), batch_norm,
      row="batch_norm_training", node="NativeBatchNormBackward0", tol=40),
    F("group_norm", lambda m: iter([S(m.x(2, 4, 3), 2, m.x(4), m.x(4)), S(m.x(2, 4), 2)]), group_norm,
       node="NativeGroupNormBackward0", tol=40),
    F("instance_norm", lambda m: iter([S(m.x(2, 3, 4))]), lambda x: group_norm(x, x.shape[1]), tol=40),
    F("rms_norm", lambda m: iter([S(m.x(3, 4), (4,), None, 1e-5), S(m.x(3, 4), (4,), m.x(4), 1e-5)]), rms_norm, tol=40,
       twice=None),
    F("embedding", lambda m: iter([S(m.i(4, 2, 3), m.x(4, 3)), S(m.i(4, 5), m.t(4, 3))]), lambda i, w: w[i],
       node="EmbeddingBackward0", exact=True),
    F("one_hot", lambda m: iter([S(m.i(4, 5), 4)]), lambda i, n: np.eye(n, dtype=np.int64)[i], grad=False,
       dtypes=(f32,), result="int64", exact=True),
    *[F("interpolate", lambda m, n=n: iter([S(m.x(1, 2, *SPACES[n]), scale_factor=2)]),  # type: ignore[misc]
        lambda x, scale_factor: nearest(x,
            scale_factor), row=f"upsample_nearest{n}d", node=f"UpsampleNearest{n}DBackward0", exact=True, twice=None)
      for n in (1, 2, 3)],
    *[F("interpolate", lambda m, n=n, mode=mode: iter([S(m.x(1, 1, *SPACES[n]), size=tuple(s + 2 for s in SPACES[n]),
        mode=mode)]),  # type: ignore[misc]
        lambda x, size, mode: linear_resize(x,
            size), row=f"upsample_{mode}", node=f"Upsample{mode.capitalize()}{n}DBackward0", twice=None)
      for n, mode in ((1, "linear"), (2, "bilinear"), (3, "trilinear"))],
    F("pixel_shuffle", lambda m: iter([S(m.x(1, 8, 2, 3), 2)]), pixel_shuffle, node="PixelShuffleBackward0",
       twice=True, exact=True),
    F("pixel_unshuffle", lambda m: iter([S(m.x(1, 2, 4, 6), 2)]), pixel_unshuffle, node="PixelUnshuffleBackward0",
       twice=True, exact=True),
]


# ---- what only these reach ----


def bags(m: Make) -> Iterator[S]:
    for mode in ("sum", "mean", "max"):
        yield S(m.i(4, 2, 3), m.x(4, 3), mode=mode)


def bag(i: Any, w: Any, mode: str) -> Any:
    return {"sum": np.sum, "mean": np.mean, "max": np.max}[mode](w[i], axis=1)  # type: ignore[operator]


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    return softmax(scores, -1) @ v


def unpool(x: Any, indices: Any, size: int) -> Any:
    n, c, h, w = x.shape
    out = np.zeros((n, c, h * size * w * size))
    for a, b in np.ndindex(n, c):
        out[a, b, indices[a, b].ravel()] = x[a, b].ravel()
    return out.reshape(n, c, h * size, w * size)


def channel_shuffle(x: Any, groups: int) -> Any:
    n, c, *space = x.shape
    return x.reshape(n, groups, c // groups, *space).swapaxes(1, 2).reshape(x.shape)


RARE = [
    F("embedding_bag", bags, bag, twice=None, oracle=False),
    F("scaled_dot_product_attention", lambda m: iter([S(m.x(2, 3, 4), m.x(2, 5, 4), m.x(2, 5, 4))]), attention,
       twice=None,
      order2=False),
    F("max_unpool2d", lambda m: iter([S(m.x(1, 1, 2, 2), np.array([[[[0, 3], [9, 14]]]]), 2)]), unpool, twice=None,
       exact=True),
    Op("channel_shuffle", lambda m: iter([S(m.x(1, 4, 2), 2)]), channel_shuffle, path="nn.functional.channel_shuffle",
       dtypes=WIDE, twice=None, exact=True),
    *[F("interpolate", lambda m, n=n: iter([S(m.x(1, 2, *SPACES[n]), scale_factor=2, mode="nearest-exact")]),
         # type: ignore[misc]
        lambda x, scale_factor, mode: nearest(x, scale_factor), row=f"upsample_exact{n}d",
        node=f"UpsampleNearestExact{n}DBackward0", exact=True, twice=None)
      for n in (1, 2, 3)],
    Op("F.rrelu_training", lambda m: iter([S(m.x(3, 4, low=0.1))]), lambda x: x,
       call=lambda torch: lambda x: torch.nn.functional.rrelu(x + 0, 0.1, 0.3, True, inplace=True),
       node="RreluWithNoiseBackward1", dtypes=WIDE, twice=None, seeded=True, oracle=False, order2=False),
    *[Op(name + "_", compared_in_place, lambda x, v, ref=ref: ref(x, v).astype(float),
         call=lambda torch, name=name: lambda x, v: getattr(x + 0, name + "_")(v), dtypes=WIDE, twice=True)
      for name, ref in [("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal),
          ("gt", np.greater), ("ge", np.greater_equal)]],
    Op("logical_and_", lambda m: iter([S(m.x(3, 4), m.x(4)).plain()]), lambda x, v: np.logical_and(x, v).astype(float),
       call=lambda torch: lambda x, v: (x + 0).logical_and_(v), dtypes=WIDE, twice=None, fixed=(1,)),
    Op("trapezoid", trapezoids, trapezoid, dtypes=WIDE, method=None),
    Op("angle", one, lambda x: np.where(x < 0, np.pi, 0.0), out=True, node="AngleBackward0", dtypes=WIDE, kinks=(0,)),
    Op("ldexp", two, lambda a, b: a * 2.0 ** b, inplace=True, out=True, node="LdexpBackward0", dtypes=WIDE),
]


# ---- torch.linalg ----


def well(m: Make, *batch: int, n: int = 3) -> Any:
    """Well-conditioned matrices."""
    return (m.x(*batch, n, n) + 4 * np.eye(n)).astype(m.dtype)


def spd(m: Make, *batch: int, n: int = 3) -> Any:
    a = m.x(*batch, n, n).astype(np.float64)
    return (a @ np.swapaxes(a, -1, -2) + n * np.eye(n)).astype(m.dtype)


def symmetric_part(f: Callable[[Any, Any], Any]) -> Callable[[Any], Callable[..., Any]]:
    """f on (torch, (A + A^T) / 2): decompositions of symmetric matrices look at one triangle only."""
    return lambda torch: None if getattr(torch, "linalg", None) is None else lambda a: f(torch, (a + a.mT) / 2)


def matrix_exp(x: Any) -> Any:
    """By eigenvalues, of float64."""
    values, vectors = np.linalg.eig(x.astype(np.float64))
    return ((vectors * np.exp(values)[..., None, :]) @ np.linalg.inv(vectors)).real



LINALG = [
    Op("linalg.det", lambda m: iter([S(well(m)), S(well(m, 2))]), np.linalg.det, node="LinalgDetBackward0",
       dtypes=WIDE, tol=40),
    Op("linalg.slogdet", lambda m: iter([S(well(m)), S(well(m, 2))]), lambda a: tuple(np.linalg.slogdet(a)),
       node="LinalgSlogdetBackward0", dtypes=WIDE, tol=40),
    Op("linalg.matrix_exp", lambda m: iter([S(m.x(3, 3)), S(m.x(2, 2, 2)), S(m.x(3, 3) * 5)]), matrix_exp,
       node="LinalgMatrixExpBackward0", dtypes=WIDE, tol=100),
    Op("linalg.inv", lambda m: iter([S(well(m)), S(well(m, 2))]), np.linalg.inv, node="LinalgInvExBackward0",
       dtypes=WIDE, tol=40),
    Op("linalg.solve", lambda m: iter([S(well(m), m.x(3, 2)), S(well(m), m.x(3)), S(well(m, 2), m.x(2, 3, 2))]),
       lambda a, b: np.linalg.solve(a, b[..., None])[..., 0] if b.ndim == 1 else np.linalg.solve(a,
           b), node="LinalgSolveExBackward0", dtypes=WIDE, tol=40),
    Op("linalg.cholesky", lambda m: iter([S(spd(m)), S(spd(m, 2))]), np.linalg.cholesky,
       call=symmetric_part(lambda torch, a: torch.linalg.cholesky(a)),
       dtypes=WIDE, tol=40, node="LinalgCholeskyExBackward0"),
    Op("linalg.svdvals", lambda m: iter([S(m.x(3, 2)), S(m.x(2, 3, 3))]), lambda a: np.linalg.svd(a, compute_uv=False),
       dtypes=WIDE, tol=40, order2=False,
       node="LinalgSvdBackward0"),
    Op("linalg.eigvalsh", lambda m: iter([S(spd(m))]), np.linalg.eigvalsh,
       call=symmetric_part(lambda torch, a: torch.linalg.eigvalsh(a)), dtypes=WIDE,
       tol=40, order2=False, node="LinalgEighBackward0"),
    Op("linalg.qr", lambda m: iter([S(m.x(3, 2)), S(well(m, 2))]), lambda a: tuple(np.linalg.qr(a)), dtypes=WIDE,
       tol=40,
       result=("first", "first"), node="LinalgQrBackward0", order2=False),
    Op("linalg.lstsq", lambda m: iter([S(m.x(4, 2), m.x(4, 3))]), lambda a, b: np.linalg.pinv(a) @ b, dtypes=(f64,),
       tol=40,
       call=lambda torch: None if getattr(torch, "linalg", None) is None else lambda a, b: torch.linalg.lstsq(a,
           b).solution,
       node="LinalgLstsqBackward0", order2=False),
    Op("cholesky", lambda m: iter([S(spd(m))]), np.linalg.cholesky,
       call=lambda torch: lambda a: torch.cholesky((a + a.mT) / 2),
       dtypes=WIDE, tol=40, node="CholeskyBackward0", oracle=False),
    Op("linalg.matrix_power", lambda m: iter([S(m.x(3, 3), 3), S(well(m), -2)]), np.linalg.matrix_power, dtypes=WIDE,
       tol=40),
    Op("linalg.pinv", lambda m: iter([S(m.x(3, 2)), S(m.x(2, 3))]), np.linalg.pinv, dtypes=WIDE, tol=100, order2=False,
       twice=None),
]


def _inverse(f: Callable[[float], float], y: float) -> float:
    low, high = -10.0, 10.0
    for _ in range(200):
        mid = (low + high) / 2
        low, high = (mid, high) if f(mid) < y else (low, mid)
    return (low + high) / 2


def _slope(f: Callable[[float], float], x: float) -> float:
    h = 1e-4
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


def _polygamma(n: int, x: float) -> float:
    """By its series, the tail as an integral (Euler-Maclaurin)."""
    if n == 0:
        total = 0.0
        while x < 30:
            total -= 1 / x
            x += 1
        return total + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)
    total = 0.0
    while x < 30:
        total += x ** -(n + 1)
        x += 1
    total += x**-n / n + x ** -(n + 1) / 2 + (n + 1) * x ** -(n + 2) / 12
    total -= (n + 1) * (n + 2) * (n + 3) * x ** -(n + 4) / 720
    return (-1) ** (n + 1) * math.factorial(n) * total


for _op in LINALG:
    _op.checks = True                                       # of matrices without inverse, or not finite
for _op in REDUCTIONS:
    _op.picks = _op.name.startswith(("max", "min", "amax", "amin", "median", "cummax", "cummin"))

OPS: list[Op] = ARITHMETIC + COMPARISONS + POINTWISE + REDUCTIONS + SHAPES + PRODUCTS + FUNCTIONAL
OPS += ACTIVATIONS + GATHERING + ORDERS + MORE + LOSSES + LAYERS + RARE + LINALG
