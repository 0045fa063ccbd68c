"""Specs of trees as text: the JSON of torch.utils._pytree.treespec_dumps, which PyTorch reads and writes, too."""
from __future__ import annotations

import enum
import importlib
import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

from .._tensor.size import Size

PROTOCOL = 1
NAMELESS = "NO_SERIALIZED_TYPE_NAME_FOUND"


class Named(NamedTuple):
    """What a container is called in text, and how its context goes there and back; None: as JSON in a string."""

    typ: Any
    serialized_type_name: str
    to_dumpable_context: Callable[[Any], Any] | None
    from_dumpable_context: Callable[[Any], Any] | None


NAMES: dict[Any, Named] = {}
TYPES: dict[str, Any] = {}


def name(cls: Any, called: str | None, there: Any = None, back: Any = None) -> None:
    """Call a container so; ValueError where its context goes one way only."""
    if (there is None) != (back is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    NAMES[cls] = Named(cls, NAMELESS if called is None else called, there, back)
    TYPES[NAMES[cls].serialized_type_name] = cls


def tuple_name(cls: Any) -> str:
    if cls not in NAMES:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {cls} because we didn't register a serializated_type_name. Please "
            "register using `_register_namedtuple`.")
    return NAMES[cls].serialized_type_name


def tuple_type(called: str) -> Any:
    if called not in TYPES:
        raise NotImplementedError(
            f"Can't deserialize TreeSpec of namedtuple class {called} because we couldn't find a serializated name.")
    return TYPES[called]


def factory_parts(context: Any) -> dict[str, Any]:
    factory, keys = context
    return {"default_factory_module": factory.__module__, "default_factory_name": factory.__qualname__, "dict_context": keys}


def factory_of(parts: dict[str, Any]) -> list[Any]:
    module = importlib.import_module(parts["default_factory_module"])
    return [getattr(module, parts["default_factory_name"]), parts["dict_context"]]


name(tuple, "builtins.tuple")
name(list, "builtins.list")
name(dict, "builtins.dict")
name(namedtuple, "collections.namedtuple", tuple_name, tuple_type)
name(OrderedDict, "collections.OrderedDict")
name(defaultdict, "collections.defaultdict", factory_parts, factory_of)
name(deque, "collections.deque")
name(Size, "torch.Size")


def enumerated(x: Any) -> Any:
    """A member of an enum, for JSON."""
    if isinstance(x, enum.Enum):
        return {"__enum__": True, "fqn": f"{type(x).__module__}:{type(x).__qualname__}", "name": x.name}
    raise TypeError(f"Object of type {type(x).__name__} is not JSON serializable")


def member(parts: dict[str, Any]) -> Any:
    if not parts.get("__enum__"):
        return parts
    module, _, path = parts["fqn"].partition(":")
    found: Any = importlib.import_module(module)
    for step in path.split("."):
        found = getattr(found, step)
    return found[parts["name"]]


def encoded(spec: Any) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    named = NAMES.get(spec.type)
    if named is None or named.serialized_type_name == NAMELESS:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. Please update your _register_pytree_node call with a "
            "`serialized_type_name` kwarg.")
    if named.to_dumpable_context is not None:
        context = named.to_dumpable_context(spec.context)
    else:
        try:
            context = json.dumps(spec.context, default=enumerated)
        except TypeError as e:
            raise TypeError(
                "Unable to serialize context. Please make the context json dump-able, or register a custom serializer using "
                "_register_pytree_node.") from e
    return {"type": named.serialized_type_name, "context": context, "children_spec": [encoded(c) for c in spec.children_specs]}


def decoded(parts: Any, leaf: Callable[[], Any], node: Callable[[Any, Any, list[Any]], Any]) -> Any:
    """The spec, of leaf() and node(type, context, children)."""
    called, text, children = parts["type"], parts["context"], parts["children_spec"]
    if called is None and text is None and not children:
        return leaf()
    if called not in TYPES:
        raise NotImplementedError(f"Deserializing {called} in pytree is not registered.")
    named = NAMES[TYPES[called]]
    if named.from_dumpable_context is not None:
        context = named.from_dumpable_context(text)
    else:
        try:
            context = json.loads(text, object_hook=member)
        except TypeError as e:
            raise TypeError(
                "Unable to deserialize context. Please make the context json load-able, or register a custom serializer using "
                "_register_pytree_node.") from e
    return node(named.typ, context, [decoded(c, leaf, node) for c in children])


def known(protocol: Any) -> None:
    if protocol != PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[PROTOCOL]}")
