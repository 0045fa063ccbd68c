"""How tensors go to another process: those in shared memory by its descriptor, others by their values.

Large values go through shared memory of their own, not through the pipe; they are a copy all the same.
"""
from __future__ import annotations

from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

import numpy as np

from retrograd._engine.tensor import wants_grad, wrap
from retrograd._engine.views import address
from retrograd._functions.shared_memory import Block, block_of
from retrograd._tensor import Tensor
from retrograd.nn.parameter import Parameter
from retrograd.utils.data.handover import NON_LEAF

__all__ = ["init_reductions", "reduce_tensor"]
LARGE = 1 << 22                                 # bytes; below, the pipe is as quick


def reduce_tensor(tensor: Any) -> Any:
    """What a pickle between processes holds of it."""
    if wants_grad(tensor) and tensor.fn is not None:
        raise RuntimeError(NON_LEAF)
    array = tensor.array
    block = block_of(array)
    if block is None:
        if array.nbytes < LARGE:
            return tensor.__reduce_ex__(5)
        block = Block.new(array.nbytes)
        copied: Any = np.ndarray(array.shape, array.dtype, block, 0, np.empty_like(array).strides)
        copied[...] = array
        array = copied
    offset = address(array) - address(np.frombuffer(block, np.uint8))
    return rebuild_shared, (type(tensor), DupFd(block.fd), block.size_, array.dtype, array.shape, offset, array.strides,
                            wants_grad(tensor))


def rebuild_shared(kind: Any, descriptor: Any, size: int, dtype: Any, shape: Any, offset: int, strides: Any, wants: bool) -> Any:
    """The tensor in this process."""
    array: Any = np.ndarray(shape, dtype, Block.of(descriptor.detach(), size), offset, strides)
    made: Any = wrap(array)
    if issubclass(kind, Parameter):
        return Parameter(made, wants)
    return made.requires_grad_() if wants else made


def init_reductions() -> None:
    """Queues, pipes and arguments of processes carry tensors from now on."""
    for kind in (Tensor, Parameter):
        ForkingPickler.register(kind, reduce_tensor)
