"""What a trace is made of: values, and entries that make values from values."""
from __future__ import annotations

from typing import Any, Final

import numpy as np

from .. import _kernels
from .._tensor.owner import owner

SINGLE: Final = np.dtype("float32")
DOUBLE: Final = np.dtype("float64")
Guards: Final[Any] = getattr(_kernels.nn, "Guards", None)


class Refused(Exception):
    """A call cannot be replayed, and why."""


class Value:
    """An array of each call, as it was in the recorded one.

    kind    "input", "held" (by a tensor that was there before), "grad" (of such a tensor), "const" or "made";
            "tensor" is no array but such a tensor itself
    index   which of its kind; of "made" none
    array   the recorded array; None of values between the operations of one rule
    full    of a view that repeats one element: the value with that element
    """

    __slots__ = (
        "_size", "array", "dtype", "entry", "full", "index", "kind", "mark", "past", "shape", "slot", "stale", "straight")

    def __init__(self, kind: str, shape: Any, dtype: Any, array: Any = None, index: int = -1, straight: bool = True) -> None:
        """straight: in C order, and aligned"""
        self.kind, self.index = kind, index
        self.shape, self.dtype, self.array, self.straight = shape, dtype, array, straight
        self.full: Value | None = None
        self.entry: Entry | None = None
        self.stale = False                      # its memory was edited since
        self.past = False                       # `array` holds what came after it
        self.slot = -1
        self.mark = 0                           # of the look for what is needed that met it last: see `alive`
        self._size = -1

    @property
    def size(self) -> int:
        if self._size < 0:
            n = 1
            for k in self.shape:
                n *= k
            self._size = n
        return self._size


class Entry:
    """fn(*args) -> the arrays of outs.

    op     the same as one operation on elements, which runs may join; "" for none
    fixed  it has an effect: it stays, and stays in its place
    after  a value that must be made before: its making leaves something in a node
    """

    __slots__ = ("after", "args", "fixed", "fn", "name", "op", "outs", "where")

    def __init__(self, name: str, fn: Any, args: list[Any], outs: list[Value], op: str = "", fixed: bool = False,
                 where: str = "", after: Value | None = None) -> None:
        self.name, self.fn, self.args, self.outs, self.op, self.fixed = name, fn, args, outs, op, fixed
        self.where = where
        self.after = after if after is not None and after.entry is not None and not after.entry.op else None
        for out in outs:
            out.entry = self


def of_array(array: Any, kind: str = "made", index: int = -1) -> Value:
    found: tuple[Any, Any, bool] = looks(array)
    return Value(kind, found[0], found[1], array, index, found[2])


def seen(array: Any) -> tuple[Any, Any, bool]:
    """Its shape and dtype; does it lie in C order, and aligned?"""
    return array.shape, array.dtype, bool(array.flags.c_contiguous and array.flags.aligned)


looks: Final[Any] = seen if Guards is None else Guards.looks
root: Final[Any] = owner if Guards is None else Guards.root
