"""Nodes of results whose graph was used up."""
from __future__ import annotations

from functools import lru_cache
from typing import Any

from .._engine.node import Node
from .._engine.saved import freed


class Past(Node):
    """The node of a result whose graph was used up: what comes after it is that of the recorded call."""

    stands_in = True                            # its class has the name of another one

    def __init__(self, of: Any) -> None:
        self.of = of

    def edge_count(self) -> int:
        return int(self.of.edge_count())

    def edge_node(self, i: int) -> Any:
        return self.of.edge_node(i)

    def edge_nr(self, i: int) -> int:
        return int(self.of.edge_nr(i))

    def backward(self, gs: list[Any], graph: bool) -> list[Any]:
        got: list[Any] = self.of.backward(gs, graph)
        return got


class Spent(Past):
    """Besides, some of its graph was not used: a pass from it comes to what was."""

    def backward(self, gs: list[Any], graph: bool) -> list[Any]:
        raise freed()


class Shown(Past):
    """The node of a tensor that forward hooks are shown: like that of the recorded call."""

    to: Any = None                              # where gradients go in an eager call that goes on from here

    def edge_count(self) -> int:
        return super().edge_count() if self.to is None else 1

    def edge_node(self, i: int) -> Any:
        return super().edge_node(i) if self.to is None else self.to[0]

    def edge_nr(self, i: int) -> int:
        return super().edge_nr(i) if self.to is None else int(self.to[1])

    def backward(self, gs: list[Any], graph: bool) -> list[Any]:
        if self.to is None:
            raise freed()
        return gs


@lru_cache(maxsize=500)
def pasts(name: str, module: str, base: type[Past]) -> type[Past]:
    return type(name, (base,), {"__module__": module})
