"""torch._dynamo.eval_frame: the module that torch.compile gives for a module."""
from __future__ import annotations

from typing import Any

from retrograd._compile.wrapper import Wrapper
from retrograd.nn.module import Module

__all__ = ["OptimizedModule"]
OWN = {"_orig_mod", "_compiler", "forward"}


class OptimizedModule(Module):
    """A module whose calls are compiled; its attributes are that module's."""

    _orig_mod: Module

    def __init__(self, mod: Module, compiler: Any) -> None:
        """compiler(f) -> f compiled"""
        super().__init__()
        self._orig_mod = mod
        self._compiler = compiler
        self.forward = compiler(mod)

    def __getattr__(self, name: str) -> Any:
        modules = self.__dict__.get("_modules", {})
        return modules["_orig_mod"] if name == "_orig_mod" else getattr(modules["_orig_mod"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        if "forward" not in self.__dict__ or name in OWN or name in self.__dict__ or hasattr(type(self), name):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    @property
    def training(self) -> bool:
        return self._orig_mod.training

    @training.setter
    def training(self, mode: bool) -> None:
        if "_orig_mod" in self.__dict__.get("_modules", {}):
            self._orig_mod.training = mode

    def __len__(self) -> int:
        return len(self._orig_mod)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        del state["forward"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        object.__setattr__(self, "forward", self._compiler(self._orig_mod))

    def explain(self) -> str:
        """What its calls do: the plans, and why calls ran eagerly."""
        call: Wrapper = self.__dict__["forward"]
        return call.explain()
