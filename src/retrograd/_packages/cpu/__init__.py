"""torch.cpu, for programs that name their device's module: one device, whose work is done when a call returns."""
from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cache
from types import MappingProxyType
from typing import Any

from retrograd._missing import late_names

__all__ = [
    "is_available", "is_initialized", "synchronize", "current_device", "current_stream", "stream", "set_device", "device_count",
    "Stream", "StreamContext", "Event", "get_capabilities",
]
late_names(__name__, lazy=("amp",))


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """True."""
    return True


def synchronize(device: Any = None) -> None:
    """Nothing: there is nothing to wait for."""


def current_device() -> str:
    """ "cpu" """
    return "cpu"


def set_device(device: Any) -> None:
    """Nothing: there is one."""


def device_count() -> int:
    """1"""
    return 1


class Stream:
    """A stream whose work is done at once."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Nothing."""

    def record_event(self) -> None:
        """Nothing."""

    def wait_event(self, event: Any) -> None:
        """Nothing."""


class Event:
    """An event that has happened."""

    def query(self) -> bool:
        """True."""
        return True

    def record(self, stream: Any = None) -> None:
        """Nothing."""

    def synchronize(self) -> None:
        """Nothing."""

    def wait(self, stream: Any = None) -> None:
        """Nothing."""


_current = Stream()


def current_stream(device: Any = None) -> Stream:
    """The stream of the innermost StreamContext."""
    return _current


class StreamContext(contextlib.AbstractContextManager[None]):
    """A context in which `stream` is the current one; None changes nothing."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        global _current
        self.before = _current
        _current = self.stream or _current

    def __exit__(self, *error: object) -> None:
        global _current
        _current = self.before


def stream(stream: Stream) -> AbstractContextManager[None]:
    """StreamContext(stream)"""
    return StreamContext(stream)


@cache
def get_capabilities() -> Mapping[str, Any]:
    """What is known of the processor: its architecture, how many logical cores, and on Linux the sets of instructions."""
    found: dict[str, Any] = {"architecture": platform.machine(), "num_logical_cores": os.cpu_count()}
    with contextlib.suppress(OSError):
        with open("/proc/cpuinfo") as lines:
            flags = next((line.split(":")[1].split() for line in lines if line.startswith(("flags", "Features"))), [])
        found |= {flag.replace("avx512f", "avx512_f"): True for flag in flags}
    return MappingProxyType(found)
