"""How generated code takes containers apart: as the form says that tracing saw."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from retrograd.utils._pytree import TreeSpec, tree_flatten

SUPPORTED_NODES: dict[Any, Callable[[Any, TreeSpec], list[Any]]] = {}
SUPPORTED_NODES_EXACT_MATCH: dict[Any, Callable[[Any, TreeSpec], bool] | None] = {}


def register_pytree_flatten_spec(cls: Any, flatten_fn_spec: Callable[[Any, TreeSpec], list[Any]],
                                 flatten_fn_exact_match_spec: Callable[[Any, TreeSpec], bool] | None = None) -> None:
    """How to take a cls apart, given the form of one."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def tree_flatten_spec(pytree: Any, spec: TreeSpec) -> list[Any]:
    """The leaves of pytree at the places where spec has its leaves."""
    if spec.is_leaf():
        return [pytree]
    if spec.type in SUPPORTED_NODES:
        parts = SUPPORTED_NODES[spec.type](pytree, spec)
        return [leaf for part, form in zip(parts, spec.children_specs) for leaf in tree_flatten_spec(part, form)]
    leaves, found = tree_flatten(pytree)
    if spec != found:
        raise RuntimeError(f"Real spec {found} of object {pytree} is different from expected spec {spec}. ")
    return leaves


def _by_place(xs: Any, spec: TreeSpec) -> list[Any]:
    return [xs[i] for i in range(spec.num_children)]


def _as_many(xs: Any, spec: TreeSpec) -> bool:
    return len(xs) == spec.num_children


register_pytree_flatten_spec(dict, lambda d, spec: [d[k] for k in spec.context], _as_many)
for kind in (list, tuple, namedtuple):
    register_pytree_flatten_spec(kind, _by_place, _as_many)
