"""torch.Size: the shape of a tensor, a tuple of ints that prints as PyTorch's."""
from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex

from .dtypes import typename


class Size(tuple[int, ...]):
    """Size([2, 3]) of a sequence of ints, sizes.  Slices, sums and multiples are Sizes too."""

    __module__ = "retrograd"

    __slots__ = ()

    def __new__(cls, sizes: Iterable[SupportsIndex] = (), /) -> Size:
        if type(sizes) is Size:
            return tuple.__new__(cls, sizes)
        return tuple.__new__(cls, [x if type(x) is int and _fits(x) else _dim(i, x) for i, x in enumerate(sizes)])

    def numel(self) -> int:
        """The number of elements of a tensor of this shape; 1 for Size([])."""
        n = 1
        for x in self:
            n *= x
        return n

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)

    def __getitem__(self, where: Any) -> Any:
        found = tuple.__getitem__(self, where)
        return tuple.__new__(Size, found) if type(found) is tuple else found

    def __add__(self, other: Any) -> Any:
        if type(other) is Size:
            return tuple.__new__(Size, tuple.__add__(self, other))
        if not isinstance(other, tuple):
            turned = getattr(type(other), "__radd__", None)
            found = NotImplemented if turned is None else turned(other, self)
            if found is not NotImplemented:
                return found
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size([*self, *other])

    def __radd__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            name = type(other).__name__
            raise TypeError(f'can only concatenate {name} (not "torch.Size") to {name}')
        return Size([*other, *self])

    def __mul__(self, times: Any) -> Any:
        return tuple.__new__(Size, tuple(self) * times)

    __rmul__ = __mul__


def of(shape: tuple[int, ...]) -> Size:
    """The Size of an array's shape, unchecked."""
    return tuple.__new__(Size, shape)


def _fits(x: int) -> bool:
    return -0x8000000000000000 <= x <= 0x7FFFFFFFFFFFFFFF


def _dim(i: int, x: Any) -> int:
    try:
        n = operator.index(x)
    except TypeError:
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {i} is '{typename(x)}')") from None
    if not _fits(n):
        raise ValueError("Overflow when unpacking long long")
    return n
