"""Activations that are called as functions: F.relu(x), x.tanh().  They are heard inside a call of the model, at looks alone."""
from __future__ import annotations

import os
import sys
from typing import Any
from weakref import ref

from .._own_hook import OwnHook
from ..listen.sites import Sites

# what a function is called -> the type of module that does the same
KINDS = {"relu": "ReLU", "relu_": "ReLU", "relu6": "ReLU6", "threshold": "Threshold", "threshold_": "Threshold",
         "hardshrink": "Hardshrink", "softshrink": "Softshrink", "tanh": "Tanh", "tanh_": "Tanh", "sigmoid": "Sigmoid",
         "sigmoid_": "Sigmoid", "hardsigmoid": "Hardsigmoid", "softsign": "Softsign"}


class Functional:
    """The ear of a Watch (microscope/listen).

    watch  gets `_saw(name, kind, out)` of each
    """

    def __init__(self, watch: Any, model: Any, engine: Any) -> None:
        self.watch, self.engine = ref(watch), engine
        self.sites = Sites()
        if engine.name == "torch":
            self.sites.skip(str(engine.torch.__path__[0]))
        self.paths = {id(module): path for path, module in model.named_modules()}
        self.kinds: dict[Any, str | None] = {}          # function -> of KINDS
        self.within: list[tuple[str, bool]] = []        # (path, is it an activation, which has a hook?) of modules that run
        self.context: Any = None

    def arm(self, model: Any) -> list[Any]:
        """Hooks that hear the next call of the model; -> their handles."""
        eager, found = self.engine.eager, []
        for module in model.modules():
            found += [module.register_forward_pre_hook(OwnHook(eager(self.enter))),
                      module.register_forward_hook(OwnHook(eager(self.leave)), always_call=True)]
        return found

    def enter(self, module: Any, args: Any) -> None:
        self.within.append((self.paths.get(id(module), "?"), type(module).__name__ in KINDS.values()))
        if self.context is None:
            self.context = self.engine.calls(self)
            self.context.__enter__()

    def leave(self, *_: Any) -> None:
        if self.within:
            self.within.pop()
        if not self.within:
            self.rest()

    def rest(self) -> None:
        """Stop listening."""
        self.within.clear()
        if self.context is not None:
            self.context.__exit__(None, None, None)
            self.context = None

    def call(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        out = impl(*args) if kwargs is None else impl(*args, **kwargs)
        if func not in self.kinds:
            self.kinds[func] = KINDS.get(self.engine.plain_name(func))
        kind = self.kinds[func]
        if kind is not None and self.within and not self.within[-1][1] and (it := self.watch()) is not None:
            path, name = self.within[-1][0], self.engine.plain_name(func).rstrip("_")
            file, line, _ = self.sites.table[site] if (site := self.sites.here(sys._getframe())) >= 0 else ("?", 0, "")
            it._saw(f"{path + '.' if path else ''}{name} ({os.path.basename(file)}:{line})", kind, out)
        return out
