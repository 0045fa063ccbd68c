"""Operations on few elements: a list of them, whatever their types and shapes, is one step of a Program.

Most of what they give lies in memory of the Program's, which is used again after the last that reads it; views of it are places
in it.  Only what a call takes, or the user gets, is an array.
"""
from __future__ import annotations

import math
import types
from typing import Any, Final

import numpy as np

from .._engine.op import View
from .._rules.join import CatBackward0, StackBackward0
from .._rules.linalg import MmBackward0
from .._rules.reduce import MeanBackward0, SumBackward0
from .._rules.slices import Put, SelectBackward0, SliceBackward0
from . import lower
from .values import DOUBLE, SINGLE, Entry, Value

FEW: Final = 512               # elements: BLOCK in plan.c
MUCH: Final = 4096             # elements of a sum: MANY in _fast.c
TERMS: Final = 2048            # of a product: SMALL in kernels.h
ROWS: Final = 16               # that are summed one by one
EACH: Final = 0
JOIN: Final = 1
PUT: Final = 2
SHOW: Final = 3
PRODUCT: Final = 4
TOTAL: Final = 5
SUM_ROWS: Final = 6
MSE: Final = 7
OURS: Final = 0         # bases
NUMBERS: Final = 1
METHODS: Final = (types.MethodType, types.BuiltinMethodType)
What = tuple[int, Any]
EACH_ALONE: Final[What] = (EACH, None)
SHOWN_WHOLE: Final[What] = (SHOW, [0])


def usable(x: Any) -> bool:
    return isinstance(x, Value) and (x.dtype is SINGLE or x.dtype is DOUBLE) and x.straight and x.size > 0


def few(x: Any) -> bool:
    return usable(x) and x.size <= FEW


def small(entries: list[Entry], results: list[Value]) -> tuple[dict[int, What], set[int]]:
    """What entries of few elements do, by identity; and which values are needed as arrays.

    EACH  an operation on elements
    JOIN  its arguments one after the other
    PUT   its argument from an element on, else zeros
    SHOW  part of its argument: from which elements on its results are
    PRODUCT   of two matrices, turned or not, perhaps with a bias
    TOTAL     the sum of all elements, over their number or not
    SUM_ROWS  the sum of the rows
    MSE   the gradient of mse_loss
    """
    arrays = {id(v) for v in results}
    found: dict[int, What] = {}
    for entry in reversed(entries):
        what = kind(entry)
        if what is not None and what[0] == SHOW and any(id(v) in arrays for v in entry.outs):
            what = None
        if what is None:
            arrays.update(id(x) for x in entry.args if isinstance(x, Value))
        else:
            found[id(entry)] = what
    return found, arrays


def kind(entry: Entry) -> What | None:
    outs = entry.outs
    if entry.fixed or not outs or not few(outs[0]):
        return None
    if entry.op:
        return EACH_ALONE
    fn = entry.fn
    out = outs[0]
    values: list[Value] = []
    others = 0                                  # arguments that are numbers
    for x in entry.args:
        if isinstance(x, Value):
            if x.dtype is not out.dtype or not usable(x):
                return None
            values.append(x)
        elif x is not None:
            others += 1
    if not values or any(not few(v) for v in outs):
        return None
    g = values[0]
    if isinstance(fn, lower.MseOf):
        _, a, b = values
        return (MSE, None) if g.shape == () and a.shape == b.shape == out.shape else None
    if others:
        return None
    if isinstance(fn, lower.Linear1):
        return product(values, False, False, out)
    if isinstance(fn, lower.Linear2):
        return product(values, True, False, out) if fn.turned else None
    if isinstance(fn, lower.Total):
        return (TOTAL, fn.mean) if g.size < MUCH else None
    if isinstance(fn, lower.Fitted):
        one = len(out.shape) == 1 and g.shape[-1:] == out.shape
        return (SUM_ROWS, g.size // out.size) if one and g.size <= ROWS * out.size else None
    if isinstance(fn, lower.TwoOf):
        return product(values, False, False, out) if isinstance(fn.node, MmBackward0) else None
    if isinstance(fn, lower.OneOf):
        node = fn.node
        if isinstance(node, (SumBackward0, MeanBackward0)):
            return (TOTAL, isinstance(node, MeanBackward0)) if node.dtype is None and g.size < MUCH else None
        return put(numbered(node.into)[node.where], g) if isinstance(node, Put) else None
    if isinstance(fn, lower.AllOf):
        node = fn.node
        if not isinstance(node, (CatBackward0, StackBackward0)):
            return None
        one = node.dtype is None and math.prod(out.shape[:node.dim]) == 1 and out.size == sum([v.size for v in values])
        return (JOIN, None) if one else None
    if isinstance(fn, lower.GradOf):
        node = fn.node
        return put(node.forward(numbered(node.was)), g) if isinstance(node, (SelectBackward0, SliceBackward0)) else None
    if fn is lower.linear:
        return product(values, False, True, out)
    if g.size > MUCH:
        return None
    if isinstance(fn, lower.GradsOf):
        if not isinstance(fn.node, (CatBackward0, StackBackward0)):
            return None
        return shown(fn.node.grads(numbered(g.shape), [None] * fn.count, None, fn.want), fn.wanted)
    if isinstance(fn, lower.Shaped):
        return SHOWN_WHOLE
    if isinstance(fn, METHODS) and isinstance(fn.__self__, View):
        return shown([fn(numbered(g.shape))], [0])
    return None


def product(values: list[Value], turn_a: bool, turn_b: bool, out: Value) -> What | None:
    """(turn a, turn b, rows, terms, columns)"""
    a, b = values[0].shape, values[1].shape
    if len(a) != 2 or len(b) != 2:
        return None
    n, m = a[::-1] if turn_a else a
    p = b[0] if turn_b else b[1]
    fits = out.shape == (n, p) and max(n, m, p) <= TERMS and n * m * p <= TERMS
    return (PRODUCT, (turn_a, turn_b, n, m, p)) if fits else None


def numbered(shape: Any) -> Any:
    """An array that says of each element which one it is."""
    return np.arange(math.prod(shape)).reshape(shape)


def begin(places: Any) -> int:
    """The first of the elements, where each is the next one; else -1."""
    flat = np.asarray(places).ravel()
    return int(flat[0]) if flat[-1] - flat[0] == flat.size - 1 and (flat.size < 3 or bool((np.diff(flat) == 1).all())) else -1


def put(places: Any, g: Value) -> What | None:
    at = begin(places) if np.size(places) == g.size else -1
    return None if at < 0 else (PUT, at)


def shown(parts: list[Any], wanted: list[int]) -> What | None:
    found = [begin(parts[i]) for i in wanted]
    return None if min(found) < 0 else (SHOW, found)


class Memory:
    """Where values of few elements lie in the memory of a Program."""

    def __init__(self, entries: list[Entry], whats: dict[int, What], arrays: set[int]) -> None:
        self.arrays = arrays
        self.roots: dict[int, tuple[Value, int]] = {}   # of parts: of what, and from which element on
        self.left: dict[int, int] = {}          # how often a value is still read
        self.at: dict[int, int] = {}
        self.free: dict[int, list[int]] = {}    # by size
        self.size = 0
        for entry in entries:
            what = whats.get(id(entry))
            if what is not None and what[0] == SHOW:
                of, start = self.root(entry.args[0])
                for v, begins in zip(entry.outs, what[1]):
                    self.roots[id(v)] = (of, start + begins)
            elif what is not None:
                for x in entry.args:
                    if isinstance(x, Value):
                        key: Any = id(self.root(x)[0])
                        self.left[key] = self.left.get(key, 0) + 1

    def root(self, x: Value) -> tuple[Value, int]:
        found = self.roots.get(id(x))
        return (x, 0) if found is None else found

    def take(self, size: int) -> int:
        free = self.free.get(size)
        if free:
            return free.pop()
        self.size += size
        return self.size - size

    def give_back(self, size: int, at: int) -> None:
        free = self.free.get(size)
        if free is None:
            self.free[size] = [at]
        else:
            free.append(at)

    def make(self, v: Value) -> int:
        self.at[id(v)] = at = self.take(room(v))
        return at

    def read(self, x: Value) -> None:
        """One of its readers is done."""
        of = self.root(x)[0]
        key: Any = id(of)
        left = self.left[key] = self.left[key] - 1
        at = self.at.get(key, -1) if left == 0 else -1
        if at >= 0:
            del self.at[key]
            self.give_back(room(of), at)


def width(v: Value) -> int:
    """The bytes of an element."""
    return 4 if v.dtype is SINGLE else 8


def room(v: Value) -> int:
    """The bytes that it takes."""
    return (v.size * width(v) + 15) // 16 * 16
