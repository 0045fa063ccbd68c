"""What a recording of one run becomes: a graph, the tensors that it reads, the form of its arguments and results."""
from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

from retrograd._tensor import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.fx._codegen import _PyTreeCodeGen, _PyTreeInfo
from retrograd.fx._files import dumps, identifier, loads, tensor_path
from retrograd.fx._recorded import Recorder, Refused
from retrograd.fx.graph import Graph
from retrograd.fx.graph_module import GraphModule
from retrograd.fx.node import Node, map_arg
from retrograd.nn.module import Module
from retrograd.nn.parameter import Parameter
from retrograd.random import fork_rng
from retrograd.utils._pytree import tree_flatten, tree_flatten_with_path, tree_unflatten, treespec_dumps, treespec_loads


class Program:
    """A graph of torch's functions.

    attributes  the tensors that it reads, by path; branches: the graphs that it reads, those of cond
    persistent  {path of a buffer: is it in the state dict?}
    names       of the arguments; specs: the forms of (args, kwargs) and of the result
    """

    def __init__(self, graph: Graph, attributes: dict[str, Tensor], persistent: dict[str, bool], names: list[str],
                 specs: tuple[Any, Any], branches: dict[str, GraphModule]) -> None:
        self.flat, self.attributes, self.persistent, self.names, self.specs = graph, attributes, persistent, names, specs
        self.branches = branches

    def inputs(self) -> list[Node]:
        """The nodes of the arguments."""
        return [n for n in self.flat.nodes if n.op == "placeholder"]

    def as_module(self) -> GraphModule:
        """A Module with these tensors, whose forward takes the arguments as the program did."""
        graph = Graph()
        copied: dict[Node, Any] = {}
        graph.graph_copy(self.flat, copied)
        graph.output(map_arg(tuple(self.flat.output_node().args[0]), lambda n: copied[n]))
        graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(list(self.names), *self.specs)))
        made = GraphModule({**self.attributes, **self.branches}, graph)
        for m in made.modules():
            m._parameters.clear()               # they are in the order of the graph
            m._buffers.clear()
        for path, t in self.attributes.items():
            *above, name = path.split(".")
            parent: Any = made
            for part in above:
                if part not in parent._modules:
                    parent.add_module(part, Module())
                parent = parent._modules[part]
            if isinstance(t, Parameter):
                parent.register_parameter(name, t)
            else:
                parent.register_buffer(name, t, persistent=self.persistent.get(path, False))
        return made

    def state(self) -> dict[str, Any]:
        """All of it, for a file."""
        return {"program": json.dumps({
            "graph": dumps(self.flat), "names": self.names, "specs": [treespec_dumps(s) for s in self.specs],
            "persistent": self.persistent, "branches": _written(self.branches),
            "parameters": {path: t.requires_grad for path, t in self.attributes.items() if isinstance(t, Parameter)}}),
            "tensors": {path: t.detach() for path, t in self.attributes.items()}}

    @staticmethod
    def of_state(state: dict[str, Any]) -> Program:
        """The program that state() described.  ValueError for what it cannot have described."""
        try:
            told = json.loads(state["program"])
            wanted = told["parameters"]
            attributes = {tensor_path(name): Parameter(t, wanted[name]) if name in wanted else t
                          for name, t in state["tensors"].items()}
            if not all(isinstance(t, Tensor) for t in attributes.values()):
                raise TypeError("what stands for a tensor is none")
            first, second = map(treespec_loads, told["specs"])
            graph, names = loads(told["graph"]), [identifier(name) for name in told["names"]]
            branches = _read(told["branches"])
            if unknown := [n.target for n in graph.nodes if n.op == "get_attr" and n.target not in {**attributes, **branches}]:
                raise KeyError(f"no tensor {unknown[0]}")
            return Program(graph, attributes, {tensor_path(name): bool(kept) for name, kept in told["persistent"].items()}, names,
                           (first, second), branches)
        except (AttributeError, KeyError, RecursionError, TypeError) as error:
            raise ValueError(f"the file is damaged: {type(error).__name__}: {error}") from None


def _written(branches: Any) -> dict[str, Any]:
    """Graphs of branches for a file, with those in them."""
    return {path: {"graph": dumps(branch.graph), "branches": _written(dict(branch.named_children()))}
            for path, branch in branches.items()}


def _read(told: Any) -> dict[str, GraphModule]:
    """What _written wrote."""
    return {identifier(path): GraphModule(_read(branch["branches"]), loads(branch["graph"])) for path, branch in told.items()}


def program_in(f: Any, form: str, by: str, fields: dict[str, type]) -> tuple[Program, dict[str, Any]]:
    """The program in a file, and all that the file has; fields: what it must have besides, and of which types.

    ValueError for a file that `by` did not write as `form`, OSError for one that cannot be read.
    """
    from retrograd.io.archive import OTHER_KINDS
    from retrograd.serialization import load

    try:
        found = load(f, weights_only=True)
    except OSError:
        raise
    except Exception as error:
        if str(error) in OTHER_KINDS.values():
            raise ValueError(f"{f} was not written by retrograd's {by}, and files of PyTorch's {by} are not read: save the "
                             "state_dict there, load it into the model here") from None
        raise ValueError(f"{f} was not written by retrograd's {by}: {error}") from error
    if not isinstance(found, dict) or found.get("format") != form:
        raise ValueError(f"{f} was not written by retrograd's {by}")
    for name, kind in fields.items():
        if type(found.get(name)) is not kind:
            raise ValueError(f"{f} is damaged: its {name!r} should be of type {kind.__name__}, and is "
                             f"{type(found[name]).__name__ if name in found else 'not there'}")
    try:
        return Program.of_state(found), found
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{f} is damaged: {type(error).__name__}: {error}") from None


def bound(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by the names of the function's, in order."""
    try:
        names = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        names = []
    found: dict[str, Any] = {}
    for i, x in enumerate(args):
        p = names[min(i, len(names) - 1)] if names else None
        found[f"args_{i}" if p is None else p.name if p.kind is not p.VAR_POSITIONAL else f"{p.name}_{i}"] = x
    return {**found, **kwargs}


def leaf_names(names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """A name for each leaf: that of the argument, and where it is in it."""
    found = []
    first: Any
    for path, _ in tree_flatten_with_path((args, kwargs))[0]:
        kind, first, *rest = [getattr(key, "idx", getattr(key, "key", getattr(key, "name", "x"))) for key in path]
        found.append("_".join(str(part) for part in (names[first] if kind == 0 else first, *rest)))
    return found


def recorded(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], read: Callable[[str], None], *, sizes: bool,
    constant: str = "_tensor_constant", suffix: str = "", elements: bool = False, there: dict[int, Tensor] | None = None,
) -> tuple[Program, Any]:
    """The program that function(*args, **kwargs) runs, and its result.

    It runs on copies; a module's buffers and the generator of random numbers stay as they are.
    """
    module = function if isinstance(function, Module) else None
    paths = dict(tensors_of(module)) if module is not None else {}
    kept = set(module.state_dict()) if module is not None else set()
    persistent = {path: path in kept for path, _ in module.named_buffers()} if module is not None else {}
    before = [(t, t.detach().clone(), t._version) for t in paths.values()]
    leaves, spec = tree_flatten((args, kwargs))
    copies = [x.detach().clone().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in leaves]
    names = list(bound(function if module is None else module.forward, args, kwargs))
    recorder = Recorder(paths, sizes, read, constant, elements, there)
    for name, x in zip(leaf_names([n + suffix for n in names], args, kwargs), copies):
        recorder.placeholder(name, x)
    taken = tree_unflatten(copies, spec)
    with fork_rng():
        try:
            with recorder:
                result = function(*taken[0], **taken[1])
            flat, out_spec = tree_flatten(result)
            recorder.graph.output(tuple(recorder.argument(x) for x in flat))
        finally:
            now = tensors_of(module) if module is not None else {}
            replaced = [path for path, t in now.items() if paths.get(path) is not t]
            with no_grad():
                for t, was, version in before:
                    if t._version != version:
                        t.copy_(was)
            for path in paths if replaced else ():
                set_tensor(module, path, paths[path])
    if replaced:
        raise Refused(
            f"the program puts another tensor in the place of {', '.join(replaced)}, which the graph would lose; edit it in "
            "place (copy_, add_)")
    return Program(recorder.graph, recorder.attributes, persistent, names, (spec, out_spec), recorder.branches), result


def set_tensor(module: Any, path: str, t: Tensor) -> None:
    """Put a tensor back where it was."""
    *above, name = path.split(".")
    setattr(module.get_submodule(".".join(above)), name, t)


def tensors_of(module: Module) -> dict[str, Tensor]:
    """A module's parameters, buffers and other tensors by their paths."""
    others = {f"{path}.{name}" if path else name: value for path, m in module.named_modules()
              for name, value in vars(m).items() if isinstance(value, Tensor)}
    return {**dict(module.named_parameters()), **dict(module.named_buffers()), **others}
