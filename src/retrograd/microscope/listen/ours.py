"""retrograd: its functions ask who listens (NOTE [Listener] in _engine/dispatch.py)."""
from __future__ import annotations

import sys
from typing import Any

from ..._engine.modes import state
from .engine import Engine
from .heard import Heard, Heeded

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

    def transformed(self, x: Any) -> bool:
        return getattr(x, "_of_transform", 0) != 0 or type(x).__name__ == "Batched"     # leaves, or samples of vmap

    def here(self, t: Any) -> Any:
        return getattr(t, "array", t)

    def lend(self, t: Any) -> Any:
        return t.array

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
