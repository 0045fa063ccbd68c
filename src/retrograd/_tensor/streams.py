"""torch.Stream and torch.Event on the CPU, where work is done by the time a call returns."""
from __future__ import annotations

from typing import Any, NoReturn

from .dtypes import check_device
from .dtypes import device as Device

NO_EVENTS = "cpu backend doesn't support events."


class Stream:
    """The CPU's one stream: what was given to it is done."""

    __module__ = "retrograd"
    device = Device("cpu")
    device_index, device_type, stream_id = -1, 0, 0

    def __init__(self, device: Any = None, *, priority: int = 0, **_: Any) -> None:
        if isinstance(device, int):
            raise RuntimeError("Cannot access accelerator device when none is available.")
        check_device(device)

    def query(self) -> bool:
        """True: all is done."""
        return True

    def synchronize(self) -> None:
        """There is nothing to wait for."""

    def wait_event(self, event: Any) -> None:
        """There is nothing to wait for."""

    def wait_stream(self, stream: Any) -> NoReturn:
        """RuntimeError, as in PyTorch: the CPU has no events."""
        raise RuntimeError(NO_EVENTS)

    def record_event(self, event: Any = None) -> NoReturn:
        """RuntimeError, as in PyTorch."""
        raise RuntimeError(NO_EVENTS)

    def is_capturing(self) -> bool:
        """False."""
        return False

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return hash(Stream)

    def __repr__(self) -> str:
        return "torch.Stream device_type=cpu, device_index=-1, stream_id=0"


class Event:
    """What would mark a moment in a stream; the CPU's cannot be recorded."""

    __module__ = "retrograd"
    device = Device("cpu")
    event_id = 0

    def __init__(self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False,
                 **_: Any) -> None:
        check_device(device)
        self._timing = enable_timing

    def query(self) -> bool:
        """True: all is done."""
        return True

    def synchronize(self) -> None:
        """There is nothing to wait for."""

    def wait(self, stream: Any = None) -> None:
        """There is nothing to wait for."""

    def record(self, stream: Any = None) -> NoReturn:
        """RuntimeError, as in PyTorch: the CPU has no events."""
        raise RuntimeError(NO_EVENTS)

    def elapsed_time(self, end_event: Event) -> NoReturn:
        """ValueError: nothing was recorded."""
        if not (self._timing and end_event._timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        raise ValueError("Both events must be recorded before calculating elapsed time.")

    def __repr__(self) -> str:
        return f"torch.Event device_type=cpu, device_index=-1, event_flag={int(self._timing)}, event_id=0"
