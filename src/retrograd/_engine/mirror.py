"""Memory that shows other memory conjugated or negated: what conj() and the imaginary part of a conjugate share with it.

NOTE [Lazy conjugates]
NumPy's arrays have no bit that says "read me conjugated".  So x.conj() has memory of its own with x's strides, and an edit of
one of them, which `bump` counts, is carried over to the other at once.  The version that both share knows of the mirrors;
tensors without any pay one comparison per edit.  Edits that nobody counts, those of NumPy, are not carried over.
"""
from __future__ import annotations

from typing import Any, Final, Optional, final
from weakref import ref

import numpy

from .node import Array
from .region import address, as_strided

np: Final[Any] = numpy
ndarray: Final[Any] = numpy.ndarray
conjugate: Final[Any] = numpy.conjugate
negative: Final[Any] = numpy.negative


@final
class Mirror:
    """What shows `plain` through `turn`, as long as somebody holds that memory."""

    def __init__(self, plain: Array, turn: Any, memory: Array) -> None:
        self.plain: Array = plain
        self.turn: Any = turn
        self.start: int = address(memory)
        self.end: int = self.start + memory.nbytes
        self.memory: Any = ref(memory)

    def shown(self) -> Array:
        """The mirror as a whole; None when it is gone."""
        memory: Array = self.memory()
        return None if memory is None else ndarray(self.plain.shape, self.plain.dtype, memory, 0, self.plain.strides)

    def shift(self) -> int:
        """How many bytes behind an element that of `plain` lies."""
        return address(self.plain) - self.start

    def back(self, array: Array) -> Array:
        """What a view of the mirror shows, in the memory of `plain`."""
        first = as_strided(self.plain, (1,), (self.plain.itemsize,)).view(np.uint8)
        run = as_strided(first, (self.end - self.start,), (1,))
        return ndarray(array.shape, array.dtype, run, address(array) - self.start, array.strides)


def mirror_of(mirrors: Optional[list[Mirror]], array: Array) -> Optional[Mirror]:
    """The one whose memory `array` shows."""
    if mirrors is not None:
        at = address(array)
        for mirror in mirrors:
            if mirror.start <= at < mirror.end and mirror.memory() is not None:
                return mirror
    return None


def turned(mirrors: list[Mirror], array: Array, turn: Any) -> Array:
    """`array` conjugated or negated, in memory that will follow its edits; what a mirror shows, if that turned it already."""
    mirror = mirror_of(mirrors, array)
    if mirror is not None and mirror.turn is turn:
        return mirror.back(array)
    span: int = array.itemsize
    for n, s in zip(array.shape, array.strides):
        span += (n - 1) * s
    memory = np.empty(max(1, -(-span // array.itemsize)), array.dtype)
    shown = ndarray(array.shape, array.dtype, memory, 0, array.strides)        # it holds the memory
    turn(array, out=shown)
    mirrors.append(Mirror(array, turn, memory))
    return shown


def reflect(mirrors: list[Mirror], array: Array) -> None:
    """`array` was edited: what it mirrors, and what mirrors that, follows."""
    mirror = mirror_of(mirrors, array)
    while mirror is not None:
        mirror.turn(mirror.shown(), out=mirror.plain)
        mirror = mirror_of(mirrors, mirror.plain)
    gone = False
    for mirror in mirrors:
        shown = mirror.shown()
        if shown is None:
            gone = True
        else:
            mirror.turn(mirror.plain, out=shown)
    if gone:
        mirrors[:] = [m for m in mirrors if m.memory() is not None]


def plain_of(mirrors: list[Mirror], array: Array) -> Array:
    """An array in the memory that is no mirror: `array`, or what its mirror shows."""
    mirror = mirror_of(mirrors, array)
    while mirror is not None:
        array = mirror.plain
        mirror = mirror_of(mirrors, array)
    return array


def behind(mirrors: list[Mirror], array: Array) -> Array:
    """What `array` shows, of the same shape, in the memory that is no mirror."""
    mirror = mirror_of(mirrors, array)
    while mirror is not None:
        array = mirror.back(array)
        mirror = mirror_of(mirrors, array)
    return array


def depths(mirrors: Optional[list[Mirror]], array: Array) -> tuple[int, bool, bool]:
    """(bytes to the memory that is no mirror, conjugated?, negated?)"""
    shift = 0
    conj = neg = False
    mirror = mirror_of(mirrors, array)
    while mirror is not None:
        shift += mirror.shift()
        if mirror.turn is conjugate:
            conj = not conj
        else:
            neg = not neg
        mirror = mirror_of(mirrors, mirror.plain)
    return shift, conj, neg


def join(version: Any, mirrors: Optional[list[Mirror]]) -> None:
    """Edits that `version` counts are from now on carried over to these mirrors, too."""
    if mirrors is None or version.mirrors is mirrors:
        return
    if version.mirrors is None:
        version.mirrors = mirrors
    else:
        version.mirrors.extend(mirrors)


def bits_of(x: Any) -> tuple[bool, bool]:
    """Does the tensor x show memory conjugated, negated?"""
    if x.version is None or not x.version.mirrors:
        return False, False
    _, conj, neg = depths(x.version.mirrors, x.array)
    return conj, neg
