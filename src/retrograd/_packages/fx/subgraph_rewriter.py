"""One piece of a graph in the place of another, wherever that occurs."""
from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from retrograd.fx._symbolic_trace import symbolic_trace
from retrograd.fx.graph import Graph
from retrograd.fx.graph_module import GraphModule
from retrograd.fx.node import Node
from retrograd.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from retrograd.nn.module import Module

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """One place: the last node, and for each node of the pattern the graph's."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """One place, and the nodes that it has now."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Replace, in gm, what does as the function `pattern` does by what `replacement` does -> the places.

    Both take the same inputs, by place; occurrences do not overlap.
    https://pytorch.org/docs/stable/fx.html#torch.fx.replace_pattern
    """
    return [Match(m.anchor, m.nodes_map) for m in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(
    gm: GraphModule, pattern: Any, replacement: Any = None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None, ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None, node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """As replace_pattern, only where all match_filters(match, graph, pattern) are true; the callback may make replacements."""
    graph, wanted = gm.graph, _graph_of(pattern)
    matches = SubgraphMatcher(wanted, ignore_literals=ignore_literals).match(graph, node_name_match)
    assert replacement is not None or replacement_callback is not None, (
        "Must provide either a replacement GraphModule or a replacement callback")
    common = None if replacement is None else _graph_of(replacement)
    changed: dict[Any, Node] = {}
    found = []
    for match in [m for m in matches if all(allows(m, graph, wanted) for allows in match_filters or ())]:
        new = common if replacement_callback is None else replacement_callback(match, graph, wanted)
        assert new is not None
        found.append(_replaced(graph, wanted, new, match, changed))
    gm.recompile()
    if isinstance(replacement, Module):
        _take_attributes(gm, replacement)
    return found


def _graph_of(program: Any) -> Graph:
    if isinstance(program, Graph):
        return program
    return program.graph if isinstance(program, GraphModule) else symbolic_trace(program).graph


def _replaced(graph: Graph, wanted: Graph, new: Graph, match: InternalMatch, changed: dict[Any, Node]) -> ReplacedPatterns:
    inputs = [n for n in new.nodes if n.op == "placeholder"]
    assert len(match.placeholder_nodes) == len(inputs), (
        f"Placeholder count mismatch: {len(match.placeholder_nodes)} vs {len(inputs)}")
    for pn, gn in match.nodes_map.items():      # what an earlier replacement put in the place of an input
        if pn.op == "placeholder" and isinstance(gn, Node):
            match.nodes_map[pn] = changed.get(gn, gn)
    match.placeholder_nodes = [changed.get(gn, gn) if isinstance(gn, Node) else gn for gn in match.placeholder_nodes]
    known: dict[Node, Any] = dict(zip(inputs, match.placeholder_nodes))
    users = {user for node in match.returning_nodes for user in node.users}
    place = min(users) if users else max(match.returning_nodes).next
    with graph.inserting_before(place):
        results = graph.graph_copy(new, known)
    results = (results,) if isinstance(results, Node) else results
    made = [v for v in known.values() if v not in match.placeholder_nodes]
    assert len(match.returning_nodes) == len(results), (
        f"Returning nodes count mismatch: {len(match.returning_nodes)} vs {len(results)}")
    for old, result in zip(match.returning_nodes, results):
        old.replace_all_uses_with(result)
        changed[old] = result
    for node in reversed(wanted.nodes):
        if node.op not in ("placeholder", "output"):
            graph.erase_node(match.nodes_map[node])
    return ReplacedPatterns(match.anchors[0], match.nodes_map, made)


def _take_attributes(gm: GraphModule, replacement: Any) -> None:
    """gm has what the replacement's nodes refer to; what nobody refers to any more goes."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or _attribute(gm, node.target) is not None:
            continue
        value = _attribute(replacement, node.target)
        if value is None:
            raise RuntimeError('Attempted to create a "', node.op, '" node during subgraph rewriting '
                               f"with target {node.target}, but the referenced attribute does not exist in the replacement "
                               "GraphModule")
        if isinstance(value, Module):
            gm.add_submodule(node.target, copy.deepcopy(value))
        else:
            setattr(gm, node.target, copy.deepcopy(value))
    gm.graph.lint()


def _attribute(module: Any, target: str) -> Any:
    path, _, name = target.rpartition(".")
    try:
        return getattr(module.get_submodule(path), name, None)
    except AttributeError:
        return None
