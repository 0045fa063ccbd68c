"""retrograd's listener of a thread (NOTE [Listener] in _engine/dispatch.py), and what lets it hear inside an implementation."""
from __future__ import annotations

from functools import partial
from typing import Any

from ..._engine.dispatch import engage
from ..._engine.modes import State, state


class Heeded:
    """Context: calls are heard although an implementation makes them."""

    def __init__(self) -> None:
        self.busy: bool = False

    def __enter__(self) -> None:
        it = state()
        self.busy = it.busy
        it.busy = False

    def __exit__(self, *_: Any) -> None:
        state().busy = self.busy


class Heard:
    """Context: ear hears the calls of this thread; who heard them before hears those that it lets through."""

    def __init__(self, ear: Any) -> None:
        self.ear: Any = ear
        self.outer: Any = None
        self.state: State = state()

    def __enter__(self) -> Heard:
        it = self.state = state()
        outer = it.listener
        if outer is not None and hasattr(outer, "aside"):
            outer.aside()                       # torch.compile, where Python runs
            outer = it.listener
        self.outer = outer
        it.listener = self if outer is not None else self.ear
        engage(it)
        return self

    def __exit__(self, *_: Any) -> None:
        it = self.state
        outer = self.outer
        inner = it.listener
        if inner is self or inner is self.ear:
            it.listener = outer
        else:                                   # blocks may end in any order
            while inner is not None and inner.outer is not self and inner.outer is not self.ear:
                inner = inner.outer
            if inner is not None:
                inner.outer = outer
        engage(it)

    def call(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        return self.ear.call(func, partial(self.pass_on, func, impl), args, kwargs)

    def pass_on(self, func: Any, impl: Any, *args: Any, **kwargs: Any) -> Any:
        if self.outer is None:                  # its block is over
            return impl(*args, **kwargs)
        return self.outer.call(func, impl, args, kwargs)
