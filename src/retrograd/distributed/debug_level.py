"""How much programs want to be told about collectives: TORCH_DISTRIBUTED_DEBUG.  Ours check as much at each level."""
from __future__ import annotations

import os
from enum import IntEnum


class DebugLevel(IntEnum):
    """The debug level: OFF, INFO or DETAIL."""

    OFF, INFO, DETAIL = range(3)

    def __str__(self) -> str:
        return f"DebugLevel.{self.name}"

    def __repr__(self) -> str:
        return f"<DebugLevel.{self.name}: {self.value}>"


DebugLevel.__module__ = f"{__package__}.distributed_c10d"       # as PyTorch's says
_level = [DebugLevel.OFF]


def get_debug_level() -> DebugLevel:
    """The debug level that set_debug_level or the environment set."""
    return _level[0]


def set_debug_level(arg0: DebugLevel, /) -> None:
    """Set the debug level: arg0, one of DebugLevel's."""
    _level[0] = DebugLevel(arg0)


def set_debug_level_from_env() -> None:
    """Set the debug level from TORCH_DISTRIBUTED_DEBUG.  ValueError unless it is OFF, INFO or DETAIL."""
    said = os.environ.get("TORCH_DISTRIBUTED_DEBUG") or "OFF"
    if said.upper() not in DebugLevel.__members__:
        raise ValueError("The value of TORCH_DISTRIBUTED_DEBUG must be OFF, INFO, or DETAIL.")
    _level[0] = DebugLevel[said.upper()]


set_debug_level_from_env()
