"""What torch.func asks of trees besides torch.utils._pytree."""
from __future__ import annotations

from typing import Any

from retrograd.utils._pytree import SUPPORTED_NODES, TreeSpec, _get_node_type, tree_is_leaf, tree_unflatten


def spread(tree: Any, spec: TreeSpec) -> list[Any] | None:
    """A leaf for each leaf of spec, where a leaf of `tree` may stand for a whole container; None where the forms differ."""
    if tree_is_leaf(tree):
        return [tree] * spec.num_leaves
    kind = _get_node_type(tree)
    if spec.is_leaf() or kind != spec.type:
        return None
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    if context != spec.context or len(children) != spec.num_children:
        return None
    out: list[Any] = []
    for child, part in zip(children, spec.children_specs):
        found = spread(child, part)
        if found is None:
            return None
        out += found
    return out


class _Star:
    def __repr__(self) -> str:
        return "*"


def stars(spec: TreeSpec) -> str:
    """The form in short: (*, [*, *])"""
    return repr(tree_unflatten([_Star()] * spec.num_leaves, spec))
