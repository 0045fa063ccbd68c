"""torch.nn.attention: which kernels F.scaled_dot_product_attention may use.

At least one of the CPU's two kernels must be allowed: FLASH_ATTENTION, a single operation, or MATH,
made of products and a softmax.
"""
from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..._functions.attention import KERNELS
from ..._missing import late_names

__all__ = ["SDPBackend", "sdpa_kernel"]
late_names(__name__, lazy=("flex_attention",))


class SDPBackend(enum.Enum):
    """A kernel of attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self) -> int:
        return int(self.value)


FLAGS = {SDPBackend.MATH: "math", SDPBackend.FLASH_ATTENTION: "flash", SDPBackend.EFFICIENT_ATTENTION: "mem_efficient",
         SDPBackend.CUDNN_ATTENTION: "cudnn"}


@contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[dict[Any, Any]]:
    """Allow only `backends`, one or a list, in the block; also a decorator.  set_priority, which orders them, has no effect."""
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
                             f"{type(backends).__name__}")
    wanted = backends if isinstance(backends, list) else [backends]
    before = dict(KERNELS)
    KERNELS.update({name: kernel in wanted for kernel, name in FLAGS.items()})
    try:
        yield {}
    finally:
        KERNELS.update(before)
