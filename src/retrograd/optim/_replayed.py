"""Methods that change nothing but their object and numbers of an optimizer: torch.compile replays them by calling them."""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from .._engine.modes import modes

P = ParamSpec("P")


def live(method: Callable[P, None]) -> Callable[P, None]:
    """NOTE [Recorder] in _engine/modes.py."""
    @wraps(method)
    def told(*args: P.args, **kwargs: P.kwargs) -> None:
        if modes.recorder is None:
            method(*args, **kwargs)
        else:
            modes.recorder.live(method, args[0], args[1:], kwargs)
    return told
