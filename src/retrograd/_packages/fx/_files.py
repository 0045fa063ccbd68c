"""Graphs of torch's functions as text, JSON: what is read runs no code but theirs.

A file is a stranger's.  Functions, methods and attributes are those of lists, and every name becomes part of the module's
source, so it must be an identifier.
"""
from __future__ import annotations

import builtins
import json
import keyword
import math
import operator
from collections.abc import Callable
from typing import Any

from retrograd._ops import OpOverload
from retrograd._tensor import Tensor, dtypes
from retrograd.fx._naming import torch
from retrograd.fx.graph import Graph
from retrograd.fx.node import Node
from retrograd.overrides import resolve_name

NAMED = {"dtype": dtypes.dtype, "memory_format": dtypes.memory_format, "layout": dtypes.layout}

ATTRIBUTES = frozenset("T mT H mH real imag data grad".split())
OPERATORS = frozenset("""abs add and_ eq floordiv ge getitem gt iadd iand ifloordiv ilshift imod imul invert ior ipow irshift isub
    itruediv ixor le lshift lt matmul mod mul ne neg or_ pos pow rshift setitem sub truediv xor""".split())
# What reads or writes files and memory, calls Python, or hands out what is no tensor
BARRED = frozenset("""apply_ as_subclass backward data_ptr from_dlpack from_file from_numpy frombuffer map2_ map_ module_load
    numpy register_hook register_post_accumulate_grad_hook set_ share_memory_ storage tolist to_dlpack untyped_storage""".split())


def unpacked(parts: Any, count: int) -> Any:
    """The parts of a tensor, of which a trace saw `count`.  RuntimeError for another number."""
    if len(parts) != count:
        raise RuntimeError(f"Expected {count} elements in a list but found {len(parts)}")
    return parts


def name_of(function: Any) -> str:
    """What `function` is found by.  NotImplementedError for one that is not of torch."""
    if function is unpacked:
        return "unpacked"
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
    if path == "unpacked":
        return unpacked
    root, *names = path.split(".")
    hidden = any(name.startswith("_") and name not in ("_C", "_nn") for name in names) or names[-1:] and names[-1] in BARRED
    if hidden or root not in ("torch", "_operator", "builtins") or (root == "builtins" and names != ["getattr"]) or (
            root == "_operator" and not (len(names) == 1 and names[0] in OPERATORS)):
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
        "node": nodes.__getitem__, "float": float, "complex": lambda v: complex(*v), "ellipsis": lambda v: ...,
        "device": dtypes.device}
    return kinds[word](value)


def identifier(name: Any) -> str:
    """name, which becomes part of Python's source.  ValueError for what is none."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
        raise ValueError(f"{name!r} is no name in a graph")
    return name


def tensor_path(name: Any) -> str:
    """name, of a tensor in a module.  ValueError for what is none."""
    for part in name.split(".") if isinstance(name, str) else [name]:
        if not (isinstance(part, str) and part.isdecimal()):
            identifier(part)
    return str(name)


def target_of(op: str, target: Any, args: Any, kwargs: Any) -> Any:
    """What a step calls or reads.  ValueError for what no graph of ours does."""
    for key in kwargs:
        identifier(key)
    if op == "call_function":
        function = found(target)
        if function is getattr and (len(args) != 2 or not isinstance(args[0], Node) or args[1] not in ATTRIBUTES):
            raise ValueError(f"{args!r} is no attribute that a graph may read")
        return function
    if op == "call_method":
        if identifier(target).startswith("_") or target in BARRED or not callable(getattr(Tensor, target, None)) or not (
                args and isinstance(args[0], Node)):
            raise ValueError(f"{target!r} is no method that a graph may call")
        return target
    if op == "get_attr":
        return tensor_path(target)
    if op not in ("placeholder", "output"):
        raise ValueError(f"{op!r} is no step of a graph that was saved")
    return identifier(target)


def dumps(graph: Graph) -> str:
    """The graph as text.  NotImplementedError where it does what a file must not ask for."""
    text = json.dumps([{
        "op": n.op, "name": n.name, "target": name_of(n.target) if n.op == "call_function" else n.target,
        "args": written(tuple(n.args)), "kwargs": written(dict(n.kwargs))} for n in graph.nodes])
    try:
        loads(text)
    except ValueError as error:
        raise NotImplementedError(f"the graph cannot be saved: {error}") from None
    return text


def loads(text: str) -> Graph:
    """The graph that dumps wrote.  ValueError for any other text, and for one that calls anything else than torch's functions."""
    graph = Graph()
    nodes: dict[str, Node] = {}
    try:
        for step in json.loads(text):
            name, op, target = identifier(step["name"]), step["op"], step["target"]
            args, kwargs = read(step["args"], nodes), read(step["kwargs"], nodes)
            if name in nodes or type(args) is not tuple or type(kwargs) is not dict:
                raise ValueError(f"{name!r} is no step of a graph that was saved")
            nodes[name] = graph.create_node(op, target_of(op, target, args, kwargs), args, kwargs, name=name)
        graph.output_node()
    except (AssertionError, AttributeError, KeyError, RecursionError, TypeError) as error:
        raise ValueError(f"no graph that was saved: {type(error).__name__}: {error}") from None
    return graph
