"""Which functions of a family are public, and where: under each name that PyTorch has in torch, as a method, in nn.functional."""
from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

from .pytorch_names import FUNCTIONAL, TENSOR, TORCH


def placed(family: ModuleType, methods: Iterable[str]) -> ModuleType:
    """Give the family its lists: `__all__`, the names for torch, METHODS, those for Tensor, FUNCTIONAL, those for nn.functional.

    Of the module's own functions all count that bear such a name, but for those in its PRIVATE.  `F_x` is the x of nn.functional
    and `T_x` the method x, where torch has another x.   methods: what Tensor has already
    """
    space: dict[str, Any] = vars(family)
    private = space.get("PRIVATE", "").split()
    own = [name for name, value in space.items() if name not in private and (
        value.__module__ == family.__name__ if type(value) is FunctionType else type(value) is property)]
    space["__all__"] = [*space.get("__all__", ()), *(name for name in own if name in TORCH)]
    for place, names, prefix in (("METHODS", TENSOR, "T_"), ("FUNCTIONAL", FUNCTIONAL, "F_")):
        instead = {name[2:]: name for name in own if name.startswith(prefix)}
        for name, f in instead.items():
            if type(space[f]) is FunctionType:
                space[f].__name__ = space[f].__qualname__ = name
        space[place] = [name for name in own if name in names and name not in instead and (prefix != "T_" or name not in methods)]
        space[place] += [f"{f} as {name}" for name, f in instead.items()]
    return family
