"""The memory that a tensor shows: strides, storage, and taking other memory."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import bump, wants_grad
from .._engine.views import address
from ._args import dim_of, shape_of

__all__: list[str] = []
METHODS = [
    "stride", "storage_offset", "data_ptr", "untyped_storage", "is_set_to", "set_", "resize_", "resize_as_",
]


class UntypedStorage:
    """A block of memory, in bytes."""

    __module__ = "retrograd"

    def __init__(self, shown: Any) -> None:
        self._block = block(shown.array)

    def nbytes(self) -> int:
        """Length in bytes."""
        return int(self._block.nbytes)

    size = __len__ = nbytes

    def data_ptr(self) -> int:
        """Address of the first byte."""
        return address(self._block)


def block(array: Any) -> Any:
    """The array that owns the memory of `array`."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def stride(input: Any, dim: int | None = None) -> Any:
    """Steps in elements from one index to the next, per dimension."""
    steps = steps_of(input.array)
    return steps if dim is None else steps[dim_of(dim, input.array.ndim)]


def steps_of(array: Any) -> tuple[int, ...]:
    """Strides in elements; NumPy's mean nothing for an array without elements, so C order is told then."""
    if array.size:
        return tuple(s // array.itemsize for s in array.strides)
    out, step = [], 1
    for n in reversed(array.shape):
        out.append(step)
        step *= max(n, 1)
    return tuple(reversed(out))


def storage_offset(input: Any) -> int:
    """Elements between the start of the memory block and the first element."""
    return int((address(input.array) - address(block(input.array))) // input.array.itemsize)


def data_ptr(input: Any) -> int:
    """Memory address of the first element."""
    return address(input.array)


def untyped_storage(input: Any) -> UntypedStorage:
    """The block of memory that this tensor and its views show."""
    return UntypedStorage(input)


def is_set_to(input: Any, tensor: Any) -> bool:
    """Do both show the same memory in the same way?"""
    a, b = input.array, tensor.array
    return bool(address(a) == address(b) and a.shape == b.shape and a.strides == b.strides)


def set_(input: Any, source: Any = None) -> Any:
    """Show the memory of `source` from now on."""
    if input.fn is not None or source is None:
        raise RuntimeError("set_(): only a leaf can take over the memory of another tensor; use copy_() or clone()")
    input.array = source.array
    if input.sink is not None:
        input.sink.array = input.array
    bump(input)
    return input


def resize_(input: Any, *sizes: Any, memory_format: Any = None) -> Any:
    """Change the shape in place; new elements are uninitialised.  RuntimeError when it requires grad."""
    to = shape_of(sizes)
    if wants_grad(input):
        raise RuntimeError("cannot resize variables that require grad")
    if to != input.array.shape:
        fresh = np.empty(to, input.array.dtype)
        n = min(fresh.size, input.array.size)
        fresh.reshape(-1)[:n] = input.array.reshape(-1)[:n]
        input.array = fresh
    return input


def resize_as_(input: Any, the_template: Any) -> Any:
    """resize_ to the shape of `the_template`."""
    return input.resize_(the_template.array.shape)
