"""The mean over the ranks, as it is or in 16 bits. Each hook's state is the process group, or None for all ranks."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...._tensor.dtypes import bfloat16, float16
from ....futures import Future
from ...collectives import all_reduce
from ...process_group import found

__all__ = ["allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook", "fp16_compress_wrapper"]
Hook = Callable[[Any, Any], Future[Any]]


def allreduce_hook(process_group: Any, bucket: Any) -> Future[Any]:
    """The mean: what happens without a hook."""
    return mean(process_group, bucket.buffer())


def fp16_compress_hook(process_group: Any, bucket: Any) -> Future[Any]:
    """The mean of gradients rounded to float16."""
    return fp16_compress_wrapper(allreduce_hook)(process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: Any) -> Future[Any]:
    """The mean of gradients rounded to bfloat16."""
    return bf16_compress_wrapper(allreduce_hook)(process_group, bucket)


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """`hook`, given the bucket in float16."""
    return in_dtype(hook, float16)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """`hook`, given the bucket in bfloat16."""
    return in_dtype(hook, bfloat16)


def in_dtype(hook: Hook, dtype: Any) -> Hook:
    def compressed(state: Any, bucket: Any) -> Future[Any]:
        whole = bucket.buffer()
        bucket.set_buffer(whole.to(dtype))
        return hook(state, bucket).then(lambda done: whole.copy_(done.value()))

    return compressed


def mean(process_group: Any, tensor: Any) -> Future[Any]:
    """A Future of the tensor once it is the mean of the ranks'; divided first, so that 16 bits do not overflow."""
    tensor.div_(found(process_group).size())
    work = all_reduce(tensor, group=process_group, async_op=True)
    assert work is not None
    return work.get_future().then(lambda done: done.value()[0])
