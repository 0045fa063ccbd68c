"""What of a call's arguments must be the same at each call."""
from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict
from typing import Any, Final

import numpy as np

from .._engine.tensor import TensorBase
from .._tensor import dtypes
from .reach import written
from .values import Refused

DEEP: Final = 100       # what is nested deeper contains itself
PLAIN: Final = (int, float, bool, str, type(None), complex, bytes)


class Same:
    """An argument that is known by who it is."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.x is self.x

    def __hash__(self) -> int:
        return id(self.x)


def leaf(x: Any, inputs: list[TensorBase], depth: int = 0) -> Any:
    """What of an argument must be the same at each call; its tensors go to `inputs`."""
    if depth > DEEP:
        raise Refused("an argument that contains itself")
    if isinstance(x, TensorBase):
        for i, t in enumerate(inputs):
            if t is x:
                return ("again", i)
        inputs.append(x)
        return "tensor"
    kind: Any = type(x)
    if kind in PLAIN:
        return (kind, repr(x) if kind is float or kind is complex else x)
    if kind in (tuple, list):
        return (kind, *[leaf(y, inputs, depth + 1) for y in x])
    if kind is dict or kind is OrderedDict:
        keys = tuple(x) if all([type(key) is str for key in x]) else tuple([leaf(key, inputs, depth + 1) for key in x])
        return (kind, keys, *[leaf(y, inputs, depth + 1) for y in x.values()])
    if isinstance(x, (dtypes.dtype, dtypes.device)):
        return x
    if kind is range:
        return (kind, x.start, x.stop, x.step)
    if isinstance(x, np.generic) and not x.dtype.hasobject:
        return (kind, x.tobytes())
    if is_record(kind):
        return (Same(kind), *[leaf(y, inputs, depth + 1) for y in x])
    if is_data(kind):
        return (Same(kind), tuple(vars(x)), *[leaf(y, inputs, depth + 1) for y in vars(x).values()])
    return Same(x)


@functools.lru_cache(maxsize=200)
def is_record(kind: Any) -> bool:
    """Is it a type of tuples with names, whose instances hold nothing but their elements?"""
    return issubclass(kind, tuple) and not kind.__dictoffset__ and all([written(k) or k is tuple for k in kind.__mro__[:-1]])


@functools.lru_cache(maxsize=200)
def is_data(kind: Any) -> bool:
    """Is it a dataclass whose instances hold nothing but their __dict__?"""
    return all(map(written, kind.__mro__[:-1])) and dataclasses.is_dataclass(kind)


def containers(x: Any) -> set[int]:
    """The lists, dicts and dataclasses in arguments, by identity."""
    kind: Any = type(x)
    if kind in PLAIN or isinstance(x, TensorBase):
        return set()
    if kind in (tuple, list) or is_record(kind):
        many = x
    elif kind is dict or kind is OrderedDict:
        many = x.values()
    else:
        many = vars(x).values() if is_data(kind) else ()
    return {y for z in many for y in containers(z)} | (set() if isinstance(x, tuple) or many == () else {id(x)})


def objects_in(key: Any) -> list[Any]:
    if isinstance(key, Same):
        return [key.x]
    return [y for x in key for y in objects_in(x)] if type(key) is tuple else []
