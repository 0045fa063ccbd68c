"""Tensors whose memory processes have in common: a file without a name, mapped by each that has its descriptor."""
from __future__ import annotations

import os
import tempfile
from mmap import mmap
from typing import Any

import numpy as np

from .._engine.tensor import wrap


class Block(mmap):
    """Shared memory; children made by fork have it, and others get its descriptor."""

    fd: int
    size_: int
    shared = True                               # what is_shared() looks for

    @staticmethod
    def of(fd: int, size: int) -> Block:
        """The memory behind a descriptor, which is closed with it."""
        made = Block(fd, size)
        made.fd, made.size_ = fd, size
        return made

    @staticmethod
    def new(size: int) -> Block:
        """Memory of zeros."""
        size = max(size, 1)
        try:
            fd = os.memfd_create("retrograd")
        except (AttributeError, OSError):
            with tempfile.TemporaryFile() as file:
                fd = os.dup(file.fileno())
        os.truncate(fd, size)
        return Block.of(fd, size)

    def __del__(self) -> None:
        if "fd" in self.__dict__:
            os.close(self.__dict__.pop("fd"))


def block_of(array: Any) -> Block | None:
    """The shared memory in which an array lies."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array if isinstance(array, Block) else None


def share(x: Any) -> None:
    """Move a tensor's values to shared memory; other tensors that showed the same memory keep the old."""
    array = x.array
    if block_of(array) is not None:
        return
    if x._is_view():
        raise RuntimeError("share_memory_(): this tensor is a view of another one's memory, which would not go along. Share that "
                           "one before its views are made, or a clone of this one.")
    made: Any = np.ndarray(array.shape, array.dtype, Block.new(array.nbytes), 0, array.strides)
    made[...] = array
    x.data = wrap(made)
