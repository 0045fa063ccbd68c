"""torch.distributed.algorithms.ddp_comm_hooks: communication hooks of DistributedDataParallel, and their names."""
from __future__ import annotations

from enum import Enum, member
from functools import partial
from typing import Any

from ...._missing import late_names
from . import debugging_hooks as debugging_hooks
from . import default_hooks as default_hooks
from . import post_localSGD_hook as post_localSGD_hook
from . import powerSGD_hook as powerSGD_hook
from . import quantization_hooks as quantization_hooks

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]
late_names(__name__)


def _register(hook: Any, model: Any, state: Any) -> None:
    model.register_comm_hook(state, hook)


class DDPCommHookType(Enum):
    """A hook by its name: value(model=..., state=...) registers it."""

    ALLREDUCE = member(partial(_register, default_hooks.allreduce_hook))
    FP16_COMPRESS = member(partial(_register, default_hooks.fp16_compress_hook))
    BF16_COMPRESS = member(partial(_register, default_hooks.bf16_compress_hook))
    QUANTIZE_PER_TENSOR = member(partial(_register, quantization_hooks.quantization_pertensor_hook))
    QUANTIZE_PER_CHANNEL = member(partial(_register, quantization_hooks.quantization_perchannel_hook))
    POWER_SGD = member(partial(_register, powerSGD_hook.powerSGD_hook))
    BATCHED_POWER_SGD = member(partial(_register, powerSGD_hook.batched_powerSGD_hook))
    NOOP = member(partial(_register, debugging_hooks.noop_hook))


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """model.register_comm_hook(state, the hook of that name)."""
    comm_hook_type.value(model=model, state=state)
