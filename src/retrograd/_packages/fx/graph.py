"""A program as a list of nodes."""
from __future__ import annotations

import contextlib
import copy
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from retrograd._tensor.printing import typename
from retrograd.fx._codegen import CodeGen as CodeGen
from retrograd.fx._codegen import PythonCode as PythonCode
from retrograd.fx._codegen import _PyTreeCodeGen as _PyTreeCodeGen
from retrograd.fx._codegen import _PyTreeInfo as _PyTreeInfo
from retrograd.fx._codegen import inplace_methods as inplace_methods
from retrograd.fx._codegen import magic_methods as magic_methods
from retrograd.fx._codegen import reflectable_magic_methods as reflectable_magic_methods
from retrograd.fx._naming import BUILTINS, snake_case
from retrograd.fx._naming import Namespace as _Namespace
from retrograd.fx._naming import qualified_name as _get_qualified_name  # noqa: F401
from retrograd.fx._naming import type_name as _type_repr  # noqa: F401
from retrograd.fx.immutable_collections import immutable_dict
from retrograd.fx.node import OPS, Node, map_arg
from retrograd.nn.module import Module

__all__ = ["CodeGen", "Graph", "PythonCode"]


def _register_custom_builtin(name: str, import_str: str, obj: Any) -> None:
    BUILTINS[name] = import_str, obj


class _InsertPoint:
    """Where new nodes go, from now on or for the length of a with block."""

    def __init__(self, graph: Graph, new_insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self.orig_insert, graph._insert = graph._insert, new_insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        self.graph._insert = self.orig_insert


class _node_list:
    """The nodes in their order; the graph may change meanwhile."""

    def __init__(self, graph: Graph, direction: str = "_next") -> None:
        assert direction in ("_next", "_prev"), f"direction must be '_next' or '_prev', got {direction}"
        self.graph, self.direction = graph, direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root, at = self.graph._root, getattr(self.graph._root, self.direction)
        while at is not root:
            if not at._erased:
                yield at
            at = getattr(at, self.direction)

    def __reversed__(self) -> Iterator[Node]:
        return iter(_node_list(self.graph, "_prev" if self.direction == "_next" else "_next"))


class Graph:
    """Nodes, each after those whose results it uses: first inputs, at last the output.

    https://pytorch.org/docs/stable/fx.html#torch.fx.Graph
    """

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: dict[str, Any] | None = None) -> None:
        self._places: dict[Node, int] | None = None
        self._len = 0
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()
        self._co_fields: dict[str, Any] = {}
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend

    @property
    def owning_module(self) -> Any:
        """The GraphModule whose graph it is, if any."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod: Any) -> None:
        self._owning_module = mod

    @property
    def nodes(self) -> _node_list:
        """Its nodes, in order; reversed() and len() work, too."""
        return _node_list(self)

    def _moved(self) -> None:
        self._places = None

    def _order(self) -> dict[Node, int]:
        if self._places is None:
            self._places = {node: i for i, node in enumerate(self.nodes)}
        return self._places

    def output_node(self) -> Node:
        """The last node."""
        found: Node = self._root.prev
        assert found.op == "output", f"Expected output node, got op={found.op}"
        return found

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The nodes with this op, and this target where one is given."""
        assert op != "call_function" or target is not None, "target must not be None for call_function op"
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    # Making and removing nodes

    def create_node(self, op: str, target: Any, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
                    name: str | None = None, type_expr: Any = None) -> Node:
        """A new node at the place where new nodes go: the end, unless inserting_before or inserting_after said otherwise."""
        args, kwargs = args or (), kwargs or immutable_dict()
        assert isinstance(args, tuple), f"args must be a tuple, got {type(args)}"
        assert isinstance(kwargs, dict), f"kwargs must be a dict, got {type(kwargs)}"
        name = self._graph_namespace.create_name(name if name is not None else self._target_to_str(target), None)
        node = Node(self, name, op, target, args, kwargs, type_expr)
        for hook in getattr(self.owning_module, "_create_node_hooks", None) or ():
            hook(node)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target: Any) -> str:
        name: str = target.__name__ if callable(target) else target
        if not callable(target) and name.startswith("__") and name.endswith("__"):
            name = name[2:-2]
        return snake_case(name)

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = inspect.Signature.empty) -> Node:
        """A new input."""
        return self.create_node("placeholder", name, () if default_value is inspect.Signature.empty else (default_value,),
                                type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """A new node for an attribute of the module: "linear.weight"."""
        if self.owning_module and not self._refers(qualified_name):
            warnings.warn("Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
                          "GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the "
                          "necessary Parameter, or nn.Module.register_buffer to add the necessary buffer", stacklevel=2)
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def _refers(self, qualified_name: str) -> bool:
        path, _, name = qualified_name.rpartition(".")
        try:
            return hasattr(self.owning_module.get_submodule(path), name)
        except AttributeError:
            warnings.warn(f"Failed to fetch module {path}!", stacklevel=3)
            return False

    def call_module(self, module_name: str, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
                    type_expr: Any = None) -> Node:
        """A new call of a submodule."""
        if self.owning_module and self.owning_module.get_submodule(module_name) is None:
            warnings.warn("Attempted to insert a call_module Node with no underlying reference in the owning GraphModule! Call "
                          "GraphModule.add_submodule to add the necessary submodule", stacklevel=2)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name: str, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
                    type_expr: Any = None) -> Node:
        """A new call of a method of args[0]."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function: Callable[..., Any], args: tuple[Any, ...] | None = None,
                      kwargs: dict[str, Any] | None = None, type_expr: Any = None, name: str | None = None) -> Node:
        """A new call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """A new output."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """A new node like one of another graph; arg_transform gives this graph's node for one of its arguments."""
        made = self.create_node(node.op, node.target, map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform),
                                node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Copy the nodes of g, except those in val_map, where the copies are put -> what the output gives, as nodes of this."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda n: val_map[n])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: Any = None) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls)
        known: dict[Node, Node] = {}
        found = made.graph_copy(self, known, return_output_node=True)
        made._codegen = copy.deepcopy(self._codegen)
        if memo is not None:
            memo.update(known)
        if found is not None:
            output = made.output(found[0], type_expr=found[1].type)
            output.meta = copy.copy(found[1].meta)
        return made

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that nobody uses."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} "
                               f"users in the graph: {to_erase.users}!")
        if to_erase.graph != self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", None) or ():
            hook(to_erase)
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        to_erase._update_args_kwargs(map_arg(to_erase.args, lambda n: None), map_arg(to_erase.kwargs, lambda n: None))

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """New nodes go before n; without one, to the start.  `with` it, for a while."""
        if n is None:
            return self.inserting_after(self._root)
        assert n.graph == self, "Node to insert before is not in graph."
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """New nodes go after n; without one, to the end.  `with` it, for a while."""
        if n is None:
            return self.inserting_before(self._root)
        assert n.graph == self, "Node to insert after is not in graph."
        return _InsertPoint(self, n.append)

    # As a whole

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of the generated function as inputs of the graph."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """The graph's result as that of the generated function."""
        return self._codegen.process_outputs(out)

    def set_codegen(self, codegen: CodeGen) -> None:
        """How it becomes source from now on."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer: Callable[[Any], Any]) -> Any:
        """Have the lines of the source transformed; make_transformer is given the transformer so far.  `with` it, to undo it."""
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextlib.contextmanager
        def undo() -> Iterator[None]:
            try:
                yield
            finally:
                self._codegen._body_transformer = before
        return undo()

    def python_code(self, root_module: str, *, verbose: bool = False, include_stride: bool = False, include_device: bool = False,
                    colored: bool = False, expanded_def: bool = False, record_func: bool = False,
                    additional_meta: list[str] | None = None) -> PythonCode:
        """It as source; root_module: the name of the module there."""
        namespace = _Namespace()
        before = {node: node._repr_fn for node in self.nodes}
        for node in before:
            node._repr_fn = lambda n: namespace.create_name(n.name, n)
        try:
            return self._codegen._gen_python_code(
                self.nodes, root_module, namespace, verbose=verbose, include_stride=include_stride,
                include_device=include_device, colored=colored, expanded_def=expanded_def, record_func=record_func,
                additional_meta=additional_meta)
        finally:
            for node, shown in before.items():
                node._repr_fn = shown

    def __str__(self) -> str:
        names: list[str] = []
        lines = [line for line in [node.format_node(names) for node in self.nodes] if line]
        return "\n    ".join([f"graph({', '.join(names)}):", *lines])

    def print_tabular(self) -> None:
        """Print it as a table, which the library `tabulate` lays out."""
        try:
            from tabulate import tabulate  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            sys.stdout.write("`print_tabular` relies on the library `tabulate`, which could not be found on this machine. Run "
                             "`pip install tabulate` to install the library.\n")
            raise
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes]
        sys.stdout.write(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]) + "\n")

    def lint(self) -> None:
        """RuntimeError where nodes use what comes later or belongs elsewhere, have one name, or refer to nothing."""
        names: set[str] = set()
        values: set[Node] = set()
        for node in self.nodes:
            if node.op not in OPS[:-1]:
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for arg in node._input_nodes:
                if arg.graph is not self:
                    raise RuntimeError(
                        f"Argument '{arg}' of Node '{node}' does not belong to this Graph, but was used as an argument! If you "
                        f"are copying nodes from another graph, make sure to use ``arg_transform`` on node_copy() to remap "
                        f"values\n{self}")
                if arg not in values:
                    raise RuntimeError(
                        f"Argument '{arg}' of Node '{node}' was used before it has been defined! Please check that Nodes in "
                        f"the graph are topologically ordered\n{self}")
            values.add(node)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
        for node in self.nodes if self.owning_module else ():
            wanted = "Callable" if node.op == "call_function" else "str"
            if not (callable(node.target) if wanted == "Callable" else isinstance(node.target, str)):
                raise ValueError(
                    f"Node {node} target {node.target} has type {typename(node.target)} but a {wanted} is expected")
            if node.op in ("get_attr", "call_module"):
                self._lint_target(node)

    def _lint_target(self, node: Node) -> None:
        at = self.owning_module
        parts = node.target.split(".")
        for i, part in enumerate(parts):
            at, above = getattr(at, part, None), ".".join(parts[:i])
            if at is None:
                raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {part} of {above}")
            if node.op == "call_module" and not isinstance(at, Module):
                raise RuntimeError(f"Node {node} target {node.target} {part} of {above} does not reference an nn.Module")

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove nodes that nobody uses and that do nothing besides -> was there one?"""
        self.lint()
        before = self._len
        for node in reversed(self.nodes):
            if not node.users and not (node.is_impure() if is_impure_node is None else is_impure_node(node)):
                self.erase_node(node)
        changed = self._len != before
        if self.owning_module is not None:
            from retrograd.fx.graph_module import GraphModule

            used = {node.target for node in self.find_nodes(op="get_attr")}
            for name, child in self.owning_module.named_children():
                if name in used and isinstance(child, GraphModule):
                    changed |= child.graph.eliminate_dead_code()
                    child.recompile()
        return changed
