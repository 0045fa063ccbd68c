"""Batches between processes: arrays of some size go through shared memory, everything else is pickled.

Such memory is a file without a name, whose descriptor is sent along: the system frees it with the last process that holds
it, however that ends.
"""
from __future__ import annotations

import io
import os
import pickle
import sys
import tempfile
from collections import OrderedDict
from mmap import mmap
from multiprocessing.reduction import ForkingPickler
from typing import Any
from weakref import WeakSet

import numpy as np

from ..._engine.tensor import TensorBase, wants_grad
from ..._engine.views import address
from ..._tensor import Tensor, _attributes, _rebuild
from ..hooks import warn_if_has_hooks

LARGE = 1 << 16         # bytes from which a block of shared memory costs less than copying twice
BLOCKS = 250            # descriptors that one message may carry, of Linux's 253
MAPPED = 200            # an mmap keeps a descriptor before Python 3.13: beyond so many, blocks are copied
NON_LEAF = (
    "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing process "
    "boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing (e.g., putting it on "
    "the queue).")

_mapped: WeakSet[mmap] = WeakSet()


class _Shared(mmap):
    """Memory that another process has, too."""

    shared = True                       # for Tensor.is_shared


def pack(message: Any, share: bool) -> tuple[Any, list[int]]:
    """A message as a pickle and the descriptors of the blocks it speaks of.  An empty pickle: it is in the last block."""
    file = io.BytesIO()
    pickler = _Pickler(file, share)
    pickler.dump(message)
    text: Any = file.getbuffer()
    blocks: list[int] = []
    try:
        for buffer in pickler.apart:
            blocks.append(_block(buffer))
        if share and len(text) >= LARGE:
            blocks.append(_block(text))
            text = b""
    except BaseException:
        close(blocks)
        raise
    return text, blocks


def unpack(text: Any, blocks: list[int]) -> Any:
    """The message; closes the descriptors."""
    try:
        memory = [_memory(block) for block in blocks]
    finally:
        close(blocks)
    return pickle.loads(text or memory.pop(), buffers=memory)


def close(blocks: Any) -> None:
    for block in blocks:
        os.close(block)


def _block(data: Any) -> int:
    """The descriptor of a nameless file with these bytes."""
    try:
        block = os.memfd_create("retrograd")
    except (AttributeError, OSError):
        with tempfile.TemporaryFile() as file:
            block = os.dup(file.fileno())
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(block, left):]
    except BaseException:
        os.close(block)
        raise
    return block


def _memory(block: int) -> Any:
    size = os.fstat(block).st_size
    if sys.version_info >= (3, 13):
        return _Shared(block, size, trackfd=False)
    if len(_mapped) < MAPPED:
        out = _Shared(block, size)
        _mapped.add(out)
        return out
    copied = bytearray(size)
    left = memoryview(copied)
    os.lseek(block, 0, os.SEEK_SET)
    while left:
        left = left[os.readv(block, [left]):]
    return copied


class _Pickler(ForkingPickler):
    """apart: the memory of large arrays, one piece for all arrays that show the same."""

    def __init__(self, file: Any, share: bool) -> None:
        super().__init__(file, 5, True, self.inside)
        self.share = share
        self.apart: list[pickle.PickleBuffer] = []
        self.known: dict[tuple[int, int], Any] = {}

    def inside(self, buffer: pickle.PickleBuffer) -> bool:
        """Whether a buffer is written into the pickle."""
        if not self.share or buffer.raw().nbytes < LARGE or len(self.apart) == BLOCKS:
            return True
        self.apart.append(buffer)
        return False

    def reducer_override(self, x: Any) -> Any:
        if isinstance(x, TensorBase):
            if wants_grad(x) and x.fn is not None:
                raise RuntimeError(NON_LEAF)
            if type(x).__reduce_ex__ is Tensor.__reduce_ex__:
                warn_if_has_hooks(x)
                return _rebuild, (type(x), x.array, wants_grad(x), OrderedDict(), _attributes(x))
        elif type(x) is np.ndarray and x.size and not x.dtype.hasobject:
            flat, strides = _shown(x)
            # a tuple, which the pickle remembers: the second array of this memory gets the same
            cell = self.known.setdefault((address(flat), flat.nbytes), (pickle.PickleBuffer(flat),))
            return _array, (cell, x.dtype, x.shape, strides)
        return NotImplemented


def _shown(x: Any) -> tuple[Any, tuple[int, ...]]:
    """The bytes from the first to the last element, and strides; of a copy when most of those bytes are others'."""
    step = x.itemsize
    items = 1 + sum((n - 1) * s for n, s in zip(x.shape, x.strides)) // step
    if any(s < 0 or s % step for s in x.strides) or items > 2 * x.size:
        x = np.ascontiguousarray(x)
        items = x.size
    if x.flags.c_contiguous:
        return x.reshape(-1).view(np.uint8), x.strides
    flat = np.lib.stride_tricks.as_strided(x, (items,), (step,), writeable=False)
    return flat.view(np.uint8), x.strides


def _array(cell: Any, dtype: Any, shape: Any, strides: Any) -> Any:
    memory = cell[0]
    return np.ndarray(shape, dtype, bytearray(memory) if isinstance(memory, bytes) else memory, 0, strides)
