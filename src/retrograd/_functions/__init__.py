"""The documented functions of the torch namespace.  Each is the method of the same name, too.

A family module lists the names it gives the namespace in `__all__`, those it gives Tensor in `METHODS`, and those it
gives torch.nn.functional in `FUNCTIONAL`.
"""
from importlib import import_module

from .._tensor import Tensor, seal

FAMILIES = [import_module(f"{__name__}.{name}") for name in (
    "arith", "fromdata", "create", "sampling", "pointwise", "compare", "activation", "loss", "reduce", "shape", "rearrange",
    "join", "order", "gather", "linalg", "products", "einsum", "decomp", "lu", "conv", "pool", "norm", "pad", "embed", "whole",
    "windows", "ctc", "grid", "rarer", "place",
)]

__all__ = []
for family in FAMILIES:
    for name in family.__all__:
        globals()[name] = getattr(family, name)
        __all__.append(name)
    for name in getattr(family, "METHODS", ()):
        setattr(Tensor, name, getattr(family, name))
seal()
