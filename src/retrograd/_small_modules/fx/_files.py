"""Graphs of torch's functions as text, JSON: what is read runs no code but theirs."""
from __future__ import annotations

import builtins
import json
import math
import operator
from collections.abc import Callable
from typing import Any

from retrograd._ops import OpOverload
from retrograd._tensor import dtypes
from retrograd.fx._naming import torch
from retrograd.fx.graph import Graph
from retrograd.fx.node import Node
from retrograd.overrides import resolve_name

NAMED = {"dtype": dtypes.dtype, "memory_format": dtypes.memory_format, "layout": dtypes.layout}


def name_of(function: Any) -> str:
    """What `function` is found by.  NotImplementedError for one that is not of torch."""
    if isinstance(function, OpOverload):
        return f"torch.ops.{function}"
    name = function.__name__
    path: str = "builtins.getattr" if function is getattr else (
        f"_operator.{name}" if getattr(operator, name, None) is function else resolve_name(function) or f"torch.{name}")
    try:
        if found(path) is function:
            return path
    except ValueError:
        pass
    raise NotImplementedError(f"a graph that calls {function!r} cannot be saved: it is no function of torch")


def found(path: str) -> Any:
    """The function of that name; ValueError for what is none of torch's."""
    root, *names = path.split(".")
    hidden = any(name.startswith("_") and name not in ("_C", "_nn") for name in names)
    if hidden or root not in ("torch", "_operator", "builtins") or (root == "builtins" and names != ["getattr"]):
        raise ValueError(f"{path!r} is no function that a graph may call")
    at: Any = torch() if root == "torch" else operator if root == "_operator" else builtins
    for name in names:
        at = getattr(at, name, None)
    if root == "torch" and not isinstance(at, OpOverload) and (at is None or resolve_name(at) is None):
        raise ValueError(f"{path!r} is no function that a graph may call")
    return at


def written(a: Any) -> Any:
    """a as JSON has it."""
    if a is None or isinstance(a, (bool, int, str)):
        return a
    if isinstance(a, float):
        return a if math.isfinite(a) else {"float": repr(a)}
    if isinstance(a, Node):
        return {"node": a.name}
    if isinstance(a, (list, tuple)):
        return {"list" if isinstance(a, list) else "tuple": [written(x) for x in a]}
    if isinstance(a, dict):
        return {"dict": {k: written(x) for k, x in a.items()}}
    if isinstance(a, slice):
        return {"slice": [written(x) for x in (a.start, a.stop, a.step)]}
    if isinstance(a, complex):
        return {"complex": [a.real, a.imag]}
    if a is Ellipsis:
        return {"ellipsis": None}
    if isinstance(a, dtypes.device):
        return {"device": str(a)}
    for word, kind in NAMED.items():
        if isinstance(a, kind):
            return {word: str(a)}
    raise NotImplementedError(f"a graph with an argument of type {type(a).__name__} cannot be saved")


def read(a: Any, nodes: dict[str, Node]) -> Any:
    """What `written` wrote."""
    if not isinstance(a, dict):
        return a
    [(word, value)] = a.items()
    if word in ("list", "tuple"):
        return (list if word == "list" else tuple)(read(x, nodes) for x in value)
    if word == "dict":
        return {k: read(x, nodes) for k, x in value.items()}
    if word == "slice":
        return slice(*[read(x, nodes) for x in value])
    if word in NAMED:
        made = getattr(torch(), value.removeprefix("torch."))
        if not isinstance(made, NAMED[word]):
            raise ValueError(f"{value!r} is no {word}")
        return made
    kinds: dict[str, Callable[[Any], Any]] = {
        "node": nodes.get, "float": float, "complex": lambda v: complex(*v), "ellipsis": lambda v: ...,
        "device": dtypes.device}
    return kinds[word](value)


def dumps(graph: Graph) -> str:
    """The graph as text."""
    return json.dumps([{
        "op": n.op, "name": n.name, "target": name_of(n.target) if n.op == "call_function" else n.target,
        "args": written(tuple(n.args)), "kwargs": written(dict(n.kwargs))} for n in graph.nodes])


def loads(text: str) -> Graph:
    """The graph that dumps wrote.  ValueError for one that calls anything else than torch's functions."""
    graph = Graph()
    nodes: dict[str, Node] = {}
    for step in json.loads(text):
        op, target = step["op"], step["target"]
        if op not in ("placeholder", "get_attr", "call_function", "call_method", "output") or (
                op == "call_method" and target.startswith("_")):
            raise ValueError(f"{op} {target!r} is no step of a graph that was saved")
        nodes[step["name"]] = graph.create_node(
            op, found(target) if op == "call_function" else target, read(step["args"], nodes), read(step["kwargs"], nodes),
            name=step["name"])
    return graph
