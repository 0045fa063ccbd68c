"""Where a small graph, the pattern, occurs in a large one."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from retrograd._tensor import Tensor
from retrograd.fx.graph import Graph
from retrograd.fx.node import Node

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclass
class InternalMatch:
    """One place: for each node of the pattern the graph's."""

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)


class SubgraphMatcher:
    """Matches from the pattern's results upwards; its inputs stand for anything.

    match_output, match_placeholder   the pattern's output or inputs are those of the graph
    ignore_literals                   numbers and the like may differ
    """

    def __init__(self, pattern: Graph, match_output: bool = False, match_placeholder: bool = False,
                 remove_overlapping_matches: bool = True, ignore_literals: bool = False) -> None:
        self.pattern, self.match_output, self.match_placeholder = pattern, match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            assert node.op == "output" or node.is_impure() or node.users, (
                "SubgraphMatcher cannot be initialized with an pattern with dead code")
        output = pattern.output_node()
        self.pattern_placeholder_nodes = [n for n in pattern.nodes if n.op == "placeholder"]
        self.pattern_returning_nodes = output.all_input_nodes
        self.pattern_anchors = [output] if match_output else [n for n in output.all_input_nodes if len(n.users) == 1]

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """All places; without overlaps if remove_overlapping_matches."""
        candidates = [(anchor, found) for anchor in self.pattern_anchors
                      if (found := [n for n in graph.nodes if self._alike(anchor, n, node_name_match)])]
        maps: list[dict[Node, Any]] = [{}]
        for anchor, nodes in candidates:
            maps = [grown for known in maps for node in nodes
                    if (grown := self._matched(anchor, node, known, node_name_match)) is not None]
        matches: list[InternalMatch] = []
        taken: set[Node] = set()
        for nodes_map in maps if candidates else ():
            inner = [gn for pn, gn in nodes_map.items() if pn.op not in ("placeholder", "output")]
            if not self._contained(nodes_map) or _would_be_circle(inner):
                continue
            if self.remove_overlapping_matches and taken.intersection(inner):
                continue
            taken.update(inner)
            matches.append(InternalMatch(self.pattern_anchors, nodes_map, [nodes_map[n] for n in self.pattern_placeholder_nodes],
                                         [nodes_map[n] for n in self.pattern_returning_nodes]))
        return matches

    def _alike(self, pn: Node, gn: Node, name: str = "") -> bool:
        if (pn.op == "placeholder" and not self.match_placeholder) or (name and name in gn.name):
            return True
        if pn.op != gn.op or pn.op in ("placeholder", "output"):
            return pn.op == gn.op
        if pn.op != "get_attr":
            return bool(pn.target == gn.target)
        wanted, value = (reduce(getattr, n.target.split("."), n.graph.owning_module) for n in (pn, gn))
        if type(wanted) is not type(value):
            return False
        if not isinstance(wanted, Tensor):
            raise RuntimeError(f"Unsupported type {wanted} when matching attributes")
        return True

    def _matched(self, pn: Node, gn: Node, known: dict[Node, Any], name: str = "") -> dict[Node, Any] | None:
        """`known` and what follows if pn is gn; None if it cannot be."""
        if pn in known:
            return known if known[pn] is gn else None
        if any(gn is other for other in known.values()) or not self._alike(pn, gn, name):
            return None
        known = {**known, pn: gn}
        if pn.op == "placeholder":
            return known
        if len(pn.args) != len(gn.args) or list(pn.kwargs) != list(gn.kwargs):
            return None
        return self._matched_all((*pn.args, *pn.kwargs.values()), (*gn.args, *gn.kwargs.values()), known)

    def _matched_all(self, wanted: Any, given: Any, known: dict[Node, Any]) -> dict[Node, Any] | None:
        if len(wanted) != len(given):
            return None
        found: dict[Node, Any] | None = known
        for a, b in zip(wanted, given):
            assert found is not None
            if isinstance(a, Node) and isinstance(b, Node):
                found = self._matched(a, b, found)
            elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
                found = self._matched_all(a, b, found)
            elif isinstance(a, Node) and a.op == "placeholder" and a not in found:
                found = {**found, a: b}
            elif not self.ignore_literals and (
                    isinstance(b, Node) or (found.get(a) != b if isinstance(a, Node) else type(a) is not type(b) or a != b)):
                found = None
            if found is None:
                return None
        return found

    def _contained(self, nodes_map: dict[Node, Any]) -> bool:
        """Is what the pattern computes on the way used inside only?"""
        inside = {gn: pn for pn, gn in nodes_map.items() if pn.op != "placeholder"}
        return all(user in inside for gn, pn in inside.items() if pn not in self.pattern_returning_nodes for user in gn.users)


def _would_be_circle(nodes: Iterable[Node]) -> bool:
    """Does a way lead out of these nodes and back in?"""
    inside = set(nodes)
    todo = [user for node in inside for user in node.users if user not in inside]
    seen: set[Node] = set()
    while todo:
        node = todo.pop()
        if node in inside:
            return True
        if node not in seen:
            seen.add(node)
            todo += node.users
    return False
