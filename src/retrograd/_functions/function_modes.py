"""What a program subclasses to see every call of a public function: TorchFunctionMode (torch.overrides)."""
from __future__ import annotations

from typing import Any

from .._engine.dispatch import engage
from .._engine.modes import state
from .._engine.warn import warn


class TorchFunctionMode:
    """`with` it, every call of a public function goes through __torch_function__(self, func, types, args=(), kwargs=None).

    Inside that method the mode is off, and the one around it, if any, is the next to be asked.
    """

    __module__ = "retrograd.overrides"
    inner: TorchFunctionMode

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """NotImplementedError: subclasses define it."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        _push_mode(self)
        return self

    def __exit__(self, *_: Any) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """An instance; `with` it."""
        warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`")
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that calls the function."""

    __module__ = "retrograd.overrides"

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **kwargs or {})


def _push_mode(mode: Any) -> None:
    it = state()
    it.functions.append(mode)
    it.busy = False                             # a hook in a pass that began before anybody was asked
    engage(it)


def _pop_mode() -> Any:
    it = state()
    if not it.functions:
        raise RuntimeError("trying to pop from empty mode stack")
    mode = it.functions.pop()
    engage(it)
    return mode
