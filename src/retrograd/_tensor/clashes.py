"""Names of subclasses of Tensor's that the engine has for itself: `array`, `version`, `origin`, ...

NOTE [Own names]
The engine keeps a tensor's state in attributes, some of which are plain words.  Where a program's class gives such a word a
meaning of its own, a descriptor answers the engine's code with the engine's value, and everybody else with the class's.  It
tells them apart by the module whose code asks.  Other classes have no such descriptor and pay nothing.
"""
from __future__ import annotations

import sys
from typing import Any

from .._engine.tensor import TensorBase

OWN = ("array", "rg", "fn", "nr", "version", "sink", "kept", "origin", "listeners", "inference", "cut")


def keep_apart(cls: type) -> None:
    """Descriptors for the engine's names to which cls, or what it derives from besides Tensor, gives another meaning."""
    for name in OWN:
        for base in cls.__mro__[:cls.__mro__.index(TensorBase)]:
            value = vars(base).get(name, TensorBase)
            if isinstance(value, Apart):
                break
            if value is not TensorBase:
                setattr(cls, name, Apart(name, value))
                break


def engine_asks() -> bool:
    name = sys._getframe(2).f_globals.get("__name__", "")
    return isinstance(name, str) and name.partition(".")[0] == "retrograd"


class Apart:
    """An attribute of two meanings: NOTE [Own names]."""

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value, self.slot = name, value, vars(TensorBase)[name]

    def __get__(self, x: Any, cls: Any) -> Any:
        if x is not None and engine_asks():
            return self.slot.__get__(x, cls) if hasattr(self.slot, "__set__") else vars(x).get(self.name, self.slot)
        if hasattr(self.value, "__get__"):
            return self.value.__get__(x, cls)
        return self.value if x is None else vars(x).get(f"own {self.name}", self.value)

    def __set__(self, x: Any, value: Any) -> None:
        if not engine_asks():
            if hasattr(self.value, "__set__"):
                self.value.__set__(x, value)
            else:
                vars(x)[f"own {self.name}"] = value
        elif hasattr(self.slot, "__set__"):
            self.slot.__set__(x, value)
        else:
            vars(x)[self.name] = value
