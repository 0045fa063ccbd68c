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


def wide(x: Any) -> Any:
    """Integers as on a system of 64 bits: elsewhere NumPy's own have 32."""
    if isinstance(x, (list, tuple)) and any(isinstance(y, np.ndarray) for y in x):
        return type(x)(map(wide, x))
    return x.astype(np.int64) if isinstance(x, np.ndarray) and x.dtype == np.intp != np.int64 else x


class S:
    """Arguments of one call.  `node`: the grad_fn's name where it is not the row's; `twice`: so is `twice`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = tuple(map(wide, args)), {name: wide(x) for name, x in kwargs.items()}
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
