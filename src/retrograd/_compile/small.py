"""Operations on few elements: a list of them, whatever their types and shapes, is one step of a Program.

Most of what they give lies in memory of the Program's, which is used again after the last that reads it; views of it are places
in it.  Only what a call takes, or the user gets, is an array.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._engine.op import View
from .._rules.join import CatBackward0, StackBackward0
from .._rules.linalg import MmBackward0
from .._rules.reduce import MeanBackward0, SumBackward0
from .._rules.slices import Put, SelectBackward0, SliceBackward0
from . import lower
from .values import DOUBLE, SINGLE, Entry, Value

FEW = 512               # elements: BLOCK in plan.c
MUCH = 4096             # elements of a sum: MANY in _fast.c
TERMS = 2048            # of a product: SMALL in kernels.h
ROWS = 16               # that are summed one by one
EACH, JOIN, PUT, SHOW, PRODUCT, TOTAL, SUM_ROWS, MSE = range(8)
OURS, NUMBERS = 0, 1    # bases
What = tuple[int, Any]


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
        return EACH, None
    fn = entry.fn
    out = outs[0]
    values = [x for x in entry.args if isinstance(x, Value)]
    if not values or not all(map(usable, values)) or not all(map(few, outs)) or any(v.dtype is not out.dtype for v in values):
        return None
    if isinstance(fn, lower.MseOf):
        g, a, b = values
        return (MSE, None) if g.shape == () and a.shape == b.shape == out.shape else None
    if len(values) < sum(x is not None for x in entry.args):
        return None
    node = getattr(fn, "node", None)
    if fn is lower.linear:
        return product(values, False, True, out)
    if isinstance(fn, lower.Linear1) or (isinstance(fn, lower.TwoOf) and isinstance(node, MmBackward0)):
        return product(values, False, False, out)
    if isinstance(fn, lower.Linear2):
        return product(values, True, False, out) if fn.turned else None
    if isinstance(fn, lower.Total):
        return (TOTAL, fn.mean) if values[0].size < MUCH else None
    if isinstance(fn, lower.OneOf) and isinstance(node, (SumBackward0, MeanBackward0)):
        return (TOTAL, isinstance(node, MeanBackward0)) if node.dtype is None and values[0].size < MUCH else None
    if isinstance(fn, lower.Fitted):
        one = len(out.shape) == 1 and values[0].shape[-1:] == out.shape
        return (SUM_ROWS, values[0].size // out.size) if one and values[0].size <= ROWS * out.size else None
    if isinstance(fn, lower.AllOf) and isinstance(node, (CatBackward0, StackBackward0)):
        one = node.dtype is None and math.prod(out.shape[:node.dim]) == 1 and out.size == sum(v.size for v in values)
        return (JOIN, None) if one else None
    if isinstance(fn, lower.GradOf) and isinstance(node, (SelectBackward0, SliceBackward0)):
        return put(node.forward(numbered(node.was)), values[0])
    if isinstance(fn, lower.OneOf) and isinstance(node, Put):
        return put(numbered(node.into)[node.where], values[0])
    g = values[0]
    if g.size > MUCH:
        return None
    if isinstance(fn, lower.GradsOf) and isinstance(node, (CatBackward0, StackBackward0)):
        return shown(node.grads(numbered(g.shape), [None] * fn.count, None, fn.want), fn.wanted)
    if isinstance(fn, lower.Shaped):
        return SHOW, [0]
    if isinstance(getattr(fn, "__self__", None), View):
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
                        key = id(self.root(x)[0])
                        self.left[key] = self.left.get(key, 0) + 1

    def root(self, x: Value) -> tuple[Value, int]:
        return self.roots.get(id(x), (x, 0))

    def take(self, size: int) -> int:
        free = self.free.get(size)
        if free:
            return free.pop()
        self.size += size
        return self.size - size

    def make(self, v: Value) -> int:
        self.at[id(v)] = at = self.take(room(v))
        return at

    def read(self, x: Value) -> None:
        """One of its readers is done."""
        of = self.root(x)[0]
        self.left[id(of)] -= 1
        if not self.left[id(of)] and id(of) in self.at:
            self.free.setdefault(room(of), []).append(self.at.pop(id(of)))


def room(v: Value) -> int:
    """The bytes that it takes."""
    return -(-v.size * v.dtype.itemsize // 16) * 16
