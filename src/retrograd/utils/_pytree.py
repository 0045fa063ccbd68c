"""torch.utils._pytree: trees made of lists, tuples, dicts, ..., taken apart into leaves and a TreeSpec, and put together again.

A leaf is whatever is no container; None is one.  Private in PyTorch by its name, and imported by many programs.
"""
from __future__ import annotations

import dataclasses
import json
import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .._missing import late_names
from .._tensor.size import Size
from . import _treespec_text as text

__all__ = [
    "Context", "DumpableContext", "FlattenFn", "FromDumpableContextFn", "GetAttrKey", "LeafSpec", "MappingKey", "PyTree",
    "PyTreeSpec", "SequenceKey", "SUPPORTED_NODES", "ToDumpableContextFn", "TreeSpec", "UnflattenFn", "arg_tree_leaves",
    "is_namedtuple", "is_namedtuple_class", "is_namedtuple_instance", "is_structseq", "is_structseq_class",
    "is_structseq_instance", "key_get", "keystr", "register_dataclass", "register_pytree_node", "tree_all", "tree_all_only",
    "tree_any", "tree_any_only", "tree_flatten", "tree_flatten_with_path", "tree_is_leaf", "tree_iter", "tree_leaves",
    "tree_leaves_with_path", "tree_map", "tree_map_", "tree_map_only", "tree_map_only_", "tree_map_with_path", "tree_structure",
    "tree_unflatten", "treespec_dict", "treespec_dumps", "treespec_leaf", "treespec_loads", "treespec_pprint", "treespec_tuple",
]
late_names(__name__)

PyTree = Any
IsLeaf = Callable[[Any], bool] | None
Path = tuple[Any, ...]
Context = Any        # what a container knows beside its children
DumpableContext = Any        # the same, as JSON has it
FlattenFn = Callable[[PyTree], tuple[list[Any], Context]]
UnflattenFn = Callable[[Iterable[Any], Context], PyTree]
ToDumpableContextFn = Callable[[Context], DumpableContext]
FromDumpableContextFn = Callable[[DumpableContext], Context]
SUPPORTED_SERIALIZED_TYPES, SERIALIZED_TYPE_TO_PYTHON_TYPE = text.NAMES, text.TYPES


class SequenceKey(NamedTuple):
    """A step of a path: into a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        return sequence[self.idx]


class MappingKey(NamedTuple):
    """A step of a path: into a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        return mapping[self.key]


class GetAttrKey(NamedTuple):
    """A step of a path: into an object with attributes."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        return getattr(obj, self.name)


class Kind(NamedTuple):
    """How containers of one type are taken apart (children, context) and put together."""

    type: Any
    flatten_fn: Callable[[Any], tuple[Any, Any]]
    unflatten_fn: Callable[[Any, Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[Any, Any]] | None


SUPPORTED_NODES: dict[Any, Kind] = {}


def register_pytree_node(
    cls: type[Any], flatten_fn: Callable[[Any], tuple[Any, Any]], unflatten_fn: Callable[[Any, Any], Any], *,
    serialized_type_name: str | None = None, to_dumpable_context: Any = None, from_dumpable_context: Any = None,
    flatten_with_keys_fn: Callable[[Any], tuple[Any, Any]] | None = None,
) -> None:
    """Make a container of cls: flatten_fn(obj) -> (children, context), unflatten_fn(children, context) -> obj.

    flatten_with_keys_fn(obj) -> ([(key, child), ...], context) is for the functions that give paths.  treespec_dumps
    writes serialized_type_name and to_dumpable_context(context), by default the context as JSON.
    ValueError when cls is a container already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if cls not in text.NAMES:                   # those of Python have names
        text.name(cls, serialized_type_name, to_dumpable_context, from_dumpable_context)
    SUPPORTED_NODES[cls] = Kind(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


def register_dataclass(
    cls: type[Any], *, field_names: list[str] | None = None, drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Make a container of a dataclass: its fields are the children, but for drop_field_names."""
    if field_names is None:
        if not dataclasses.is_dataclass(cls):
            raise ValueError("field_names must be specified with a list of all fields used to initialize the class, as it is "
                             "not a dataclass.")
        field_names = [f.name for f in dataclasses.fields(cls) if f.init]
    names = [n for n in field_names if n not in (drop_field_names or [])]

    def parts(obj: Any) -> tuple[Any, Any]:
        there = [n for n in names if getattr(obj, n) is not None]
        return [getattr(obj, n) for n in there], [there, [n for n in names if n not in there]]

    def whole(children: Any, context: Any) -> Any:
        return cls(**dict(zip(context[0], children, strict=True)), **dict.fromkeys(context[1]))

    def keyed(obj: Any) -> tuple[Any, Any]:
        children, context = parts(obj)
        return [(GetAttrKey(n), c) for n, c in zip(context[0], children, strict=True)], context

    register_pytree_node(cls, parts, whole, serialized_type_name=serialized_type_name, flatten_with_keys_fn=keyed)


def is_namedtuple_class(cls: Any) -> bool:
    """Was it made by namedtuple, or derived from such a class?"""
    fields = getattr(cls, "_fields", None)
    return (isinstance(cls, type) and issubclass(cls, tuple) and isinstance(fields, tuple)
            and all(type(f) is str for f in fields) and callable(getattr(cls, "_make", None)))


def is_namedtuple(obj: Any) -> bool:
    """Is it a named tuple, or a class of them?"""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_instance(obj: Any) -> bool:
    """Is it a named tuple?"""
    return is_namedtuple_class(type(obj))


def is_structseq_class(cls: Any) -> bool:
    """Is it one of torch.return_types, or of Python's own tuples with names?"""
    return (isinstance(cls, type) and issubclass(cls, tuple)
            and all(isinstance(getattr(cls, n, None), int) for n in ("n_fields", "n_sequence_fields", "n_unnamed_fields")))


def is_structseq(obj: Any) -> bool:
    """Is it such a tuple, or a class of them?"""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_instance(obj: Any) -> bool:
    """Is it such a tuple?"""
    return is_structseq_class(type(obj))


def _get_node_type(tree: Any) -> Any:
    """The key of tree's container in SUPPORTED_NODES; its own type, which is no key, for a leaf."""
    cls = type(tree)
    if cls not in SUPPORTED_NODES and is_namedtuple_class(cls):
        return namedtuple
    if cls not in SUPPORTED_NODES and is_structseq_class(cls) and cls.__module__ == "torch.return_types":
        register_pytree_node(cls, as_children, lambda children, context: cls(children), flatten_with_keys_fn=as_keyed)
    return cls


def as_children(sequence: Any) -> tuple[Any, Any]:
    return list(sequence), None


def as_keyed(sequence: Any) -> tuple[Any, Any]:
    return [(SequenceKey(i), x) for i, x in enumerate(sequence)], None


def mapped(mapping: Any) -> tuple[Any, Any]:
    return [(MappingKey(k), v) for k, v in mapping.items()], list(mapping)


def default_context(d: Any) -> list[Any]:
    return [d.default_factory, list(d)]


register_pytree_node(tuple, as_children, lambda children, context: tuple(children), flatten_with_keys_fn=as_keyed)
register_pytree_node(list, as_children, lambda children, context: list(children), flatten_with_keys_fn=as_keyed)
register_pytree_node(
    dict, lambda d: (list(d.values()), list(d)), lambda children, context: dict(zip(context, children, strict=True)),
    flatten_with_keys_fn=mapped)
SUPPORTED_NODES[namedtuple] = Kind(
    namedtuple, lambda t: (list(t), type(t)), lambda children, context: context(*children),
    lambda t: ([(GetAttrKey(f), x) for f, x in zip(t._fields, t, strict=True)], type(t)))
register_pytree_node(
    OrderedDict, lambda d: (list(d.values()), list(d)),
    lambda children, context: OrderedDict(zip(context, children, strict=True)), flatten_with_keys_fn=mapped)
register_pytree_node(
    defaultdict, lambda d: (list(d.values()), default_context(d)),
    lambda children, context: defaultdict(context[0], zip(context[1], children, strict=True)),
    flatten_with_keys_fn=lambda d: (mapped(d)[0], default_context(d)))
register_pytree_node(
    deque, lambda d: (list(d), d.maxlen), lambda children, context: deque(children, maxlen=context),
    flatten_with_keys_fn=lambda d: (as_keyed(d)[0], d.maxlen))
register_pytree_node(Size, as_children, lambda children, context: tuple(children), flatten_with_keys_fn=as_keyed)
for kind in list(SUPPORTED_NODES.values()):     # libraries register by _dict_flatten and its like
    name = f"_{getattr(kind.type, '__name__', kind.type).lower()}"
    globals().update({
        f"{name}_flatten": kind.flatten_fn, f"{name}_unflatten": kind.unflatten_fn,
        f"{name}_flatten_with_keys": kind.flatten_with_keys_fn})
del kind, name
DICTS = (dict, OrderedDict, defaultdict)


class TreeSpec:
    """The structure of a tree without its leaves: the containers' types, contexts (a dict's keys, say) and children."""

    def __init__(self, type: Any, context: Any, children_specs: list[Any]) -> None:
        self.type, self._context, self._children = type, context, children_specs
        self.num_nodes = 1 + sum(c.num_nodes for c in children_specs)
        self.num_leaves = sum(c.num_leaves for c in children_specs)
        self.num_children = len(children_specs)

    @property
    def context(self) -> Any:
        """What the container needs beside its children."""
        return self._context

    @property
    def children_specs(self) -> list[Any]:
        """The children's specs."""
        return self._children

    def children(self) -> list[Any]:
        """The children's specs."""
        return list(self._children)

    def child(self, index: int) -> Any:
        """One child's spec."""
        return self._children[index]

    def is_leaf(self) -> bool:
        """Is it the spec of a leaf?"""
        return False

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree of these leaves; ValueError when there are not num_leaves of them."""
        given = list(leaves)
        if len(given) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(given)} but the spec refers to a pytree that holds "
                f"{self.num_leaves} items ({self}).")
        return self._build(iter(given))

    def _build(self, leaves: Iterator[Any]) -> Any:
        return SUPPORTED_NODES[self.type].unflatten_fn([c._build(leaves) for c in self._children], self._context)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """What stands in tree at the places of the leaves; ValueError where its structure is another."""
        found: list[Any] = []
        self._match(tree, found)
        return found

    def _match(self, tree: Any, found: list[Any]) -> None:
        kind = _get_node_type(tree)
        alike = self.type in DICTS and kind in DICTS
        if kind != self.type and not alike:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {kind!r}.")
        children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(children)}.")
        if alike:
            wanted = self._context[1] if self.type is defaultdict else self._context
            lack, more = set(wanted).difference(tree), set(tree).difference(wanted)
            if lack or more:
                words = [f" missing key(s): {lack}"] * bool(lack) + [f" extra key(s): {more}"] * bool(more)
                raise ValueError(f"Node keys mismatch;{';'.join(words)}.")
            children = [tree[k] for k in wanted]
        elif self.type is not deque and context != self._context:   # how long a deque may get does not matter
            raise ValueError(f"Node context mismatch for node type {self.type!r}; expected {self._context!r}, but got "
                             f"{context!r}.")
        for spec, child in zip(self._children, children, strict=True):
            spec._match(child, found)

    def __repr__(self) -> str:
        return self._show(0)

    def _show(self, indent: int) -> str:
        gap = ",\n" + " " * (indent + 2)
        return f"TreeSpec({self.type.__name__}, {self._context}, [{gap.join(c._show(indent + 2) for c in self._children)}])"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type, self._context, self._children) == (other.type, other._context, other._children)

    def __hash__(self) -> int:
        context = self._context[1] if self.type is defaultdict else self._context
        return hash((self.type, tuple(context) if isinstance(context, list) else context, tuple(self._children)))


class LeafSpec(TreeSpec):
    """The spec of a leaf: `*`."""

    def __init__(self) -> None:
        super().__init__(None, None, [])
        self.num_leaves = 1

    def is_leaf(self) -> bool:
        return True

    def _build(self, leaves: Iterator[Any]) -> Any:
        return next(leaves)

    def _match(self, tree: Any, found: list[Any]) -> None:
        found.append(tree)

    def _show(self, indent: int) -> str:
        return "*"


PyTreeSpec = TreeSpec


def tree_is_leaf(tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Is tree no container, or does is_leaf say that it is a leaf?"""
    return bool(is_leaf is not None and is_leaf(tree)) or _get_node_type(tree) not in SUPPORTED_NODES


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """tree -> (leaves, spec); what is_leaf says yes to is not taken apart."""
    leaves: list[Any] = []
    return leaves, collect(tree, is_leaf, leaves)


def collect(tree: Any, is_leaf: IsLeaf, leaves: list[Any]) -> TreeSpec:
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return LeafSpec()
    kind = _get_node_type(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [collect(child, is_leaf, leaves) for child in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """The tree of a spec with these leaves; ValueError when there are too many or too few."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    return treespec.unflatten(leaves)


def tree_iter(tree: Any, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves, one by one."""
    if tree_is_leaf(tree, is_leaf):
        yield tree
        return
    for child in SUPPORTED_NODES[_get_node_type(tree)].flatten_fn(tree)[0]:
        yield from tree_iter(child, is_leaf)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves."""
    return list(tree_iter(tree, is_leaf))


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> TreeSpec:
    """The spec."""
    return tree_flatten(tree, is_leaf)[1]


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """The leaves of all arguments."""
    return [leaf for arg in (*args, *kwargs.values()) for leaf in tree_iter(arg)]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """A tree like tree of func(leaf, what stands there in each of rests); ValueError when those are not of its structure."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *[spec.flatten_up_to(rest) for rest in rests]))


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """Call func as tree_map does, for what it does to the leaves; -> tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *[spec.flatten_up_to(rest) for rest in rests]), maxlen=0)
    return tree


def chooser(wanted: Any) -> Callable[[Any], bool]:
    if isinstance(wanted, (type, tuple, types.UnionType)):
        return lambda x: isinstance(x, wanted)
    if callable(wanted):
        return wanted
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def only(wanted: Any, func: Callable[[Any], Any]) -> Callable[[Any], Any]:
    chosen = chooser(wanted)
    return lambda x: func(x) if chosen(x) else x


def tree_map_only(type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf = None) -> Any:
    """tree_map of the leaves of a type, of several types, or of those that a predicate chooses."""
    return tree_map(only(type_or_types_or_pred, func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf = None) -> Any:
    """tree_map_ of such leaves."""
    return tree_map_(only(type_or_types_or_pred, func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Does pred hold for all leaves?"""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Does pred hold for a leaf?"""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Does pred hold for all leaves of a type?"""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Does pred hold for a leaf of a type?"""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def keyed_leaves(path: Path, tree: Any, is_leaf: IsLeaf) -> Iterator[tuple[Path, Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    keyed = SUPPORTED_NODES[_get_node_type(tree)].flatten_with_keys_fn
    if keyed is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {_get_node_type(tree)}. Please pass a flatten_with_keys_fn argument "
            "to register_pytree_node.")
    for key, child in keyed(tree)[0]:
        yield from keyed_leaves((*path, key), child, is_leaf)


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[tuple[Path, Any]]:
    """(path, leaf) of each leaf; a path is a tuple of keys."""
    return list(keyed_leaves((), tree, is_leaf))


def tree_flatten_with_path(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[tuple[Path, Any]], TreeSpec]:
    """tree_flatten with (path, leaf) for each leaf."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """tree_map of func(path, leaf, ...)."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    paths, leaves = [p for p, _ in found], [x for _, x in found]
    return spec.unflatten(map(func, paths, leaves, *[spec.flatten_up_to(rest) for rest in rests]))


def keystr(kp: Path) -> str:
    """A path as one would write it in Python."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: Path) -> Any:
    """What stands in obj at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def treespec_leaf() -> LeafSpec:
    """The spec of a leaf."""
    return LeafSpec()


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The spec of a tuple of such trees."""
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The spec of a dict of such trees."""
    specs = dict(mapping, **kwargs)
    return TreeSpec(dict, list(specs), list(specs.values()))


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """The spec as JSON; TypeError for what is no spec, NotImplementedError for containers without a name in text."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    text.known(text.PROTOCOL if protocol is None else protocol)
    return json.dumps([text.PROTOCOL, text.encoded(treespec)], default=text.enumerated)


def treespec_loads(serialized: str) -> TreeSpec:
    """The spec that treespec_dumps wrote."""
    protocol, parts = json.loads(serialized)
    text.known(protocol)
    found: TreeSpec = text.decoded(parts, LeafSpec, TreeSpec)
    return found


class Star:
    """Stands for a leaf."""

    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """The containers as Python prints them, with * for leaves."""
    return repr(tree_unflatten([Star()] * treespec.num_leaves, treespec))


def _register_namedtuple(cls: Any, *, serialized_type_name: str) -> None:
    """Name a class of named tuples for treespec_dumps."""
    text.name(cls, serialized_type_name, text.tuple_name, text.tuple_type)
