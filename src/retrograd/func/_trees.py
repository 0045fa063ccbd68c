"""Containers in containers: tuples, lists, dicts, named tuples.  Everything else is a leaf, None, too."""
from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

DICTS = (dict, OrderedDict, defaultdict)


class Spec:
    """The form of a tree.  `kind` None: a leaf; context: a dict's keys, a named tuple's class."""

    def __init__(self, kind: Any = None, context: Any = None, children: tuple[Spec, ...] = ()) -> None:
        self.kind, self.context, self.children = kind, context, children
        self.count: int = sum(child.count for child in children) if kind else 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and (self.kind, self.context, self.children) == (other.kind, other.context, other.children)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self.shown(0)

    def shown(self, indent: int) -> str:
        """As PyTorch prints a TreeSpec."""
        if self.kind is None:
            return "*"
        parts = [child.shown(indent + 2) for child in self.children]
        return f"TreeSpec({self.kind}, {self.context}, [" + f",\n{' ' * (indent + 2)}".join(parts) + "])"


class _Star:
    def __repr__(self) -> str:
        return "*"


def kind_of(tree: Any) -> str | None:
    """The name of the kind of container; None for a leaf."""
    cls = type(tree)
    if cls in (tuple, list, deque) or cls in DICTS:
        return str(cls.__name__)
    if isinstance(tree, tuple):
        if hasattr(cls, "_fields"):
            return "namedtuple"
        if cls.__module__.endswith("return_types"):
            return str(cls.__name__)
    return None


def parts_of(tree: Any, kind: str) -> tuple[Any, list[Any]]:
    """(context, children)"""
    if type(tree) in DICTS:
        return list(tree), list(tree.values())
    return (type(tree) if kind not in ("tuple", "list", "deque") else None), list(tree)


def flatten(tree: Any) -> tuple[list[Any], Spec]:
    """(leaves, spec)"""
    kind = kind_of(tree)
    if kind is None:
        return [tree], Spec()
    context, children = parts_of(tree, kind)
    leaves, specs = [], []
    for child in children:
        found, spec = flatten(child)
        leaves += found
        specs.append(spec)
    return leaves, Spec(kind, context, tuple(specs))


def unflatten(leaves: Any, spec: Spec) -> Any:
    """The tree of that form."""
    return _built(iter(leaves), spec)


def _built(leaves: Any, spec: Spec) -> Any:
    if spec.kind is None:
        return next(leaves)
    children = [_built(leaves, child) for child in spec.children]
    if spec.kind in ("dict", "OrderedDict", "defaultdict"):
        pairs = zip(spec.context, children)
        return OrderedDict(pairs) if spec.kind == "OrderedDict" else dict(pairs)
    if spec.kind == "namedtuple":
        return spec.context(*children)
    if spec.context is not None:
        return spec.context(children)
    return {"tuple": tuple, "list": list, "deque": deque}[spec.kind](children)


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """The tree with every leaf changed."""
    leaves, spec = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves], spec)


def spread(tree: Any, spec: Spec) -> list[Any] | None:
    """A leaf for each leaf of spec, where a leaf of `tree` may stand for a whole container; None where the forms differ."""
    kind = kind_of(tree)
    if kind is None:
        return [tree] * spec.count
    if kind != spec.kind:
        return None
    context, children = parts_of(tree, kind)
    if context != spec.context or len(children) != len(spec.children):
        return None
    out: list[Any] = []
    for child, part in zip(children, spec.children):
        found = spread(child, part)
        if found is None:
            return None
        out += found
    return out


def stars(spec: Spec) -> str:
    """The form in short: (*, [*, *])"""
    return repr(unflatten([_Star()] * spec.count, spec))
