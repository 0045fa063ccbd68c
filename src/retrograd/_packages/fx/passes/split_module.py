"""A GraphModule cut into several, called one after the other."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import reduce
from typing import Any

from retrograd._engine.dispatch import parts
from retrograd.fx.graph import Graph
from retrograd.fx.graph_module import GraphModule
from retrograd.fx.node import Node, map_arg
from retrograd.fx.proxy import Proxy
from retrograd.nn.module import Module

__all__ = ["Partition", "split_module"]


class Partition:
    """One piece: its nodes, what comes in, what goes out."""

    def __init__(self, name: str) -> None:
        self.name, self.submod_name = name, f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[str, None] = {}
        self.outputs: dict[str, None] = {}
        self.dependencies: dict[str, None] = {}
        self.dependents: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return (f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n outputs: {self.outputs},\n "
                f"partitions depended on: {self.dependencies},\n partition dependents: {self.dependents}")


def split_module(m: GraphModule, root_m: Any, split_callback: Callable[[Node], Any], qualname_map: dict[str, str] | None = None,
                 keep_original_order: bool | None = False, keep_original_node_name: bool | None = False,
                 keep_original_input_name: bool = True, *, partition_affix: str | None = None,
                 tuple_return: bool = False) -> GraphModule:
    """A GraphModule of submodules submod_0, ...: split_callback gives for each node the piece to which it goes.

    keep_original_order    call the pieces in the order in which their first nodes come; else as their results are needed
    """
    cut = _Cut(m, split_callback, partition_affix)
    cut.names = {"node": bool(keep_original_node_name), "input": keep_original_input_name}
    order = cut.order()
    for name in order:
        cut.take_inputs(cut.pieces[name])
    cut.copy_nodes(qualname_map)
    return cut.joined([*cut.pieces] if keep_original_order else order, bool(keep_original_order), tuple_return)


class _Cut:
    def __init__(self, m: GraphModule, callback: Callable[[Node], Any], affix: str | None) -> None:
        self.m = m
        self.names: dict[str, bool] = {}
        self.nodes = {node.name: node for node in m.graph.nodes}
        self.pieces: dict[str, Partition] = {}
        self.of: dict[Node, Partition] = {}
        for node in m.graph.nodes:
            if node.op in ("placeholder", "get_attr", "output"):
                continue
            if node.target is parts.set_grad:
                raise NotImplementedError("split_module of a graph that switches grad mode")
            name = str(callback(node)) if affix is None else f"{affix}_{callback(node)}"
            piece = self.of[node] = self.pieces.setdefault(name, Partition(name))
            piece.node_names.append(node.name)
            node._fx_partition = name
        for node in m.graph.nodes:
            if node.op not in ("placeholder", "get_attr"):
                for used in node.all_input_nodes:
                    self.note(used, self.of.get(node))

    def note(self, made: Node, user: Partition | None) -> None:
        """A piece, or the output, uses a value."""
        maker = self.of.get(made)
        if maker is user:
            return
        if maker is not None:
            maker.outputs.setdefault(made.name)
        if user is not None:
            user.inputs.setdefault(made.name)
            if maker is not None:
                maker.dependents.setdefault(user.name)
                user.dependencies.setdefault(maker.name)

    def order(self) -> list[str]:
        """The pieces, each after those that it needs."""
        ready = [name for name, piece in self.pieces.items() if not piece.dependencies]
        waiting = {name: set(piece.dependencies) for name, piece in self.pieces.items()}
        found = []
        while ready:
            name = ready.pop()
            found.append(name)
            for other in self.pieces[name].dependents:
                waiting[other].discard(name)
                if not waiting[other]:
                    ready.append(other)
        if len(found) != len(self.pieces):
            raise RuntimeError("cycle exists between partitions!")
        return found

    def value(self, target: str) -> Any:
        try:
            return reduce(getattr, target.split("."), self.m)
        except AttributeError:
            raise AttributeError(f"Node target {target} not found!") from None

    def take_inputs(self, piece: Partition) -> None:
        attributes = [n for n in piece.inputs if self.nodes[n].op == "get_attr"]
        modules = [n for n in attributes if isinstance(self.value(self.nodes[n].target), Module)]
        inputs = [n for n in piece.inputs if n not in modules]
        for i, name in enumerate([*inputs, *modules]):
            node = self.nodes[name]
            if name in modules:
                made = piece.graph.get_attr(node.target)
                piece.targets[node.target] = self.value(node.target)
            else:
                made = piece.graph.placeholder(name if self.names["input"] else f"arg_{i}", type_expr=node.type)
            made.meta = node.meta.copy()
            piece.environment[node] = made
        piece.inputs = dict.fromkeys(inputs)

    def copy_nodes(self, qualname_map: dict[str, str] | None) -> None:
        for node, piece in self.of.items():
            target = node.target
            if node.op == "call_module":
                target = node.target.replace(".", "_")
                piece.targets[target] = self.value(node.target)
                if qualname_map is not None:
                    qualname_map[f"{piece.submod_name}.{target}"] = node.target
            args, kwargs = (map_arg(a, piece.environment.__getitem__) for a in (node.args, node.kwargs))
            made = piece.graph.create_node(node.op, target, args, kwargs, node.name if self.names["node"] else None, node.type)
            made.meta = node.meta.copy()
            piece.environment[node] = made

    def joined(self, order: list[str], keep: bool, tuple_return: bool) -> GraphModule:
        """The module that calls the pieces."""
        graph, known, attributes = Graph(), dict[str, Node](), dict[str, Any]()

        def outer(node: Node) -> None:
            if node.name in known:
                return
            if node.op == "placeholder":
                name = node.name if self.names["node"] else node.target
                known[node.name] = graph.placeholder(name, node.type, node.args[0] if node.args else inspect.Signature.empty)
            elif node.op == "get_attr":
                known[node.name] = graph.get_attr(node.target)
                attributes[node.target] = self.value(node.target)
            else:
                return
            known[node.name].meta = node.meta.copy()

        for node in self.m.graph.nodes:
            if not keep or node.op == "placeholder":
                outer(node)
        for name in order:
            piece = self.pieces[name]
            values = tuple(piece.environment[self.nodes[n]] for n in piece.outputs)
            alone = len(values) == 1 and not tuple_return
            piece.graph.output(values[0] if alone else values)
            for wanted in piece.inputs:
                outer(self.nodes[wanted])
            attributes[piece.submod_name] = GraphModule(piece.targets, piece.graph)
            call = graph.call_module(piece.submod_name, tuple(known[n] for n in piece.inputs))
            for i, result in enumerate(piece.outputs):
                known[result] = call if alone else Proxy(call)[i].node  # type: ignore[index]
        output = self.m.graph.output_node()
        for node in output.all_input_nodes:
            outer(node)
        graph.output(map_arg(output.args[0], lambda n: known[n.name]))
        made = GraphModule(attributes, graph)
        made.meta["partition_names"] = {piece.submod_name for piece in self.pieces.values()}
        return made
