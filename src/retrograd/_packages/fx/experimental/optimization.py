"""Fewer layers for inference: a convolution takes over the batch norm after it, dropout goes."""
from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from retrograd import nn
from retrograd.fx._symbolic_trace import symbolic_trace
from retrograd.fx.graph import Graph
from retrograd.fx.graph_module import GraphModule
from retrograd.fx.node import Node
from retrograd.nn.utils.fusion import fuse_conv_bn_eval

__all__ = ["extract_subgraph", "fuse", "matches_module_pattern", "remove_dropout", "replace_node_module"]


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Any]) -> bool:
    """Is the node a call of a module of the second type, whose argument is a call of one of the first?"""
    if not node.args or not isinstance(node.args[0], Node):
        return False
    return all(n.op == "call_module" and type(modules.get(n.target)) is kind for kind, n in zip(pattern, (node.args[0], node)))


def replace_node_module(node: Node, modules: dict[str, Any], new_module: Any) -> None:
    """Put new_module where the node's is."""
    parent, _, name = node.target.rpartition(".")
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: Any, inplace: bool = False, no_trace: bool = False) -> Any:
    """A GraphModule of model, in eval mode, where no batch norm follows a convolution."""
    model = model if inplace else copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for conv, norm in ((nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d)):
        for node in graph.nodes:
            if not matches_module_pattern((conv, norm), node, modules) or len(node.args[0].users) > 1:
                continue
            after = modules[node.target]
            if not after.track_running_stats:
                continue
            replace_node_module(node.args[0], modules, fuse_conv_bn_eval(modules[node.args[0].target], after))
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return GraphModule(traced, graph)


def remove_dropout(model: Any) -> GraphModule:
    """A GraphModule of model without its Dropout modules."""
    from retrograd.fx.interpreter import Transformer

    class Without(Transformer):
        def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if isinstance(self.submodules[target], nn.Dropout):
                assert len(args) == 1
                return args[0]
            return super().call_module(target, args, kwargs)
    return Without(symbolic_trace(model)).transform()


def extract_subgraph(orig_module: Any, nodes: list[Node], inputs: list[Node], outputs: list[Node]) -> GraphModule:
    """A GraphModule of some nodes of another, with these inputs and outputs."""
    graph = Graph()
    known = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        known[node] = graph.node_copy(node, lambda n: known[n])
    graph.output([known[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)


