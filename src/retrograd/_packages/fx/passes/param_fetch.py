"""Parameters of layers on the nodes that call them."""
from __future__ import annotations

from typing import Any

from retrograd import nn

__all__ = ["default_matching", "extract_attrs_for_lowering", "lift_lowering_attrs_to_nodes"]
LAYERS = {
    **{f"Conv{d}d": "weight bias kernel_size stride padding dilation groups padding_mode" for d in "123"},
    **{f"BatchNorm{d}d": "weight bias running_mean running_var eps" for d in "123"},
    "Linear": "weight bias", "EmbeddingBag": "weight", "LayerNorm": "weight bias", "ReLU": "inplace",
    "MaxPool2d": "kernel_size stride padding dilation return_indices ceil_mode",
}


def default_matching(name: str, target_version: int) -> str:
    """name"""
    return name


def extract_attrs_for_lowering(mod: Any) -> dict[str, Any]:
    """The attributes of a layer that say what it computes."""
    names = LAYERS.get(type(mod).__name__)
    if names is None or getattr(nn, type(mod).__name__, None) is not type(mod):
        raise RuntimeError(f"No lowering of {type(mod)} is known")
    return {"name": type(mod), **{name: getattr(mod, name) for name in names.split()}}


def lift_lowering_attrs_to_nodes(fx_module: Any) -> None:
    """Put them into attrs_for_lowering of each node that calls a layer."""
    for node in fx_module.graph.nodes:
        if node.op == "call_module":
            module = fx_module.get_submodule(node.target)
            if hasattr(module, "graph"):
                lift_lowering_attrs_to_nodes(module)
            else:
                node.attrs_for_lowering = extract_attrs_for_lowering(module)
