"""retrograd: its functions ask who listens (NOTE [Listener] in _engine/dispatch.py)."""
from __future__ import annotations

import sys
from functools import partial
from typing import Any

from ..._engine.dispatch import engage
from ..._engine.modes import state
from .engine import Engine
from .sizes import quick

retrograd = sys.modules[__name__.partition(".")[0]]     # the namespace, which is above us: imports point one way


class RetrogradEngine(Engine):
    """retrograd: a listener of the running thread."""

    name = "retrograd"

    def __init__(self) -> None:
        super().__init__()
        self.torch = retrograd
        self.Tensor = retrograd.Tensor
        self.Module = retrograd.nn.Module
        self.passes = {retrograd.Tensor.backward, retrograd.autograd.backward}
        self.composites = ()
        self.random: tuple[int, Any] = -1, None         # uses of the generator so far, and where it stood

    def in_backward(self) -> bool:
        return state().task is not None

    def here(self, t: Any) -> Any:
        return getattr(t, "array", t)

    def lent(self, tensors: list[Any]) -> tuple[Any, ...]:
        return tuple([t.array for t in tensors])

    def square(self, t: Any) -> Any:
        found = quick(t.array)                  # the usual case in one call
        return super().square(t) if found is None else found

    def random_state(self) -> Any:
        generator = retrograd.default_generator         # to read it takes longer than a small layer
        if self.random[0] != generator._uses:
            state = generator.get_state()
            self.random = generator._uses, state
        return self.random[1]

    def calls(self, ear: Any, had: Any = None) -> Any:
        return Heard(ear) if had is None else had

    def within(self, ear: Any) -> Any:
        return Heeded()

    def inside(self, heard: Any, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        return impl(*args, **kwargs)            # the engine lets code that runs in a pass be heard


class Heeded:
    """Context: calls are heard although an implementation makes them."""

    def __enter__(self) -> None:
        it = state()
        self.busy = it.busy
        it.busy = False

    def __exit__(self, *_: object) -> None:
        state().busy = self.busy


class Heard:
    """Context: ear hears the calls of this thread; who heard them before hears those that it lets through."""

    def __init__(self, ear: Any) -> None:
        self.ear = ear
        self.outer: Any = None
        self.state: Any = None

    def __enter__(self) -> Heard:
        it = self.state = state()
        if hasattr(it.listener, "aside"):
            it.listener.aside()                 # torch.compile, where Python runs
        self.outer = it.listener
        it.listener = self if self.outer is not None else self.ear
        engage(it)
        return self

    def __exit__(self, *_: object) -> None:
        it, outer = self.state, self.outer
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
