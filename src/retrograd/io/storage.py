"""Storages: the blocks of memory that tensors of one file share, and their names in PyTorch."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.mirror import turned
from .._engine.views import address
from .._tensor import dtypes
from .._tensor.owner import owner
from ..storage import STORAGES as STORAGES

STORAGE_OF = {name: storage for storage, name in STORAGES.items()}
FOREIGN = ("QUInt8Storage", "QInt8Storage", "QInt32Storage",
           "QUInt4x2Storage", "QUInt2x4Storage")
MOST_DIMS = 64                                  # of NumPy


class StorageType:
    """What `torch.FloatStorage` stands for in a file; dtype None: bytes."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype


class Storage:
    """A block of memory read from a file: bytes, and the elements that its type makes of them."""

    def __init__(self, raw: Any, dtype: Any) -> None:
        self.raw = raw
        self.dtype = dtype
        self.mirrors: list[Any] = []            # NOTE [Lazy conjugates] in _engine/mirror.py
        self.shown: dict[Any, Any] = {}         # the whole block, conjugated or negated
        self.meta = False                       # do its tensors go to the meta device?

    def view(self, dtype: Any, offset: Any, size: Any, stride: Any) -> Any:
        """An array over the block.  ValueError when it would leave it."""
        sizes, strides = whole(size), whole(stride)
        if type(offset) is not int or offset < 0 or len(sizes) != len(strides) or len(sizes) > MOST_DIMS:
            raise ValueError(f"a tensor of {len(sizes)} sizes and {len(strides)} strides, or a negative offset")
        d = dtype.numpy
        last = offset
        for n, s in zip(sizes, strides):
            last += (n - 1) * s
        have = self.raw.nbytes // d.itemsize
        if 0 in sizes:
            if offset > have:
                raise ValueError(f"a tensor at {offset} in a storage of {have} elements")
            return np.empty(sizes, d)
        if last >= have:
            raise ValueError(
                f"a tensor of size {list(sizes)}, stride {list(strides)}, offset {offset} in a storage of {have} "
                "elements")
        return np.ndarray(sizes, d, self.raw, offset * d.itemsize, tuple(s * d.itemsize for s in strides))

    def turned(self, array: Any, turn: Any) -> Any:
        """What a view of the block shows, conjugated or negated: one such block, however many views there are."""
        whole = np.ndarray((self.raw.nbytes // array.itemsize,), array.dtype, self.raw)
        if (array.dtype, turn) not in self.shown:
            self.shown[array.dtype, turn] = turned(self.mirrors, whole, turn)
        at = address(array) - address(whole)
        return np.ndarray(array.shape, array.dtype, self.shown[array.dtype, turn], at, array.strides)


def whole(given: Any) -> tuple[int, ...]:
    # Never shown in a message: the repr of containers that share parts can be longer than any memory.
    if not isinstance(given, tuple) or any(type(n) is not int or n < 0 for n in given):
        raise ValueError("sizes and strides must be tuples of numbers from 0 on")
    return given


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in C order, as PyTorch has them for tensors without elements."""
    out, step = [], 1
    for n in reversed(shape):
        out.append(step)
        step *= max(n, 1)
    return tuple(reversed(out))


class Block:
    """The memory that an array lives in, seen for saving: the whole block, so that what shares it still does."""

    def __init__(self, array: Any) -> None:
        self.dtype = dtypes.of(array.dtype)
        self.size = array.shape
        step = array.itemsize
        root = owner(array)
        offset = address(array) - address(root) if array.size else 0
        fits = (
            array.size and (root.flags.c_contiguous or root.flags.f_contiguous) and root.nbytes % step == 0
            and offset % step == 0 and all(s >= 0 and s % step == 0 for s in array.strides))
        if not fits:                            # no block that PyTorch could describe: a copy is its own
            root = array = np.ascontiguousarray(array).reshape(array.shape)
            offset = 0
        self.root = root
        self.offset = offset // step
        self.stride = tuple(s // step for s in array.strides) if array.size else _dense(array.shape)
        self.key: Any = (address(root), root.nbytes) if root.nbytes else id(root)

    def bytes(self) -> Any:
        """All bytes of the block."""
        flat = self.root.reshape(-1, order="A")
        return np.ndarray((flat.nbytes,), np.uint8, flat.data if flat.dtype.kind != "V" else flat.view(np.uint8).data)
