"""One value of a graph: what is called, with what, and who uses the result."""
from __future__ import annotations

from collections.abc import Callable
from operator import setitem
from typing import Any, Union

from retrograd._engine.dispatch import parts
from retrograd._tensor.printing import typename
from retrograd.fx._naming import qualified_name as _get_qualified_name
from retrograd.fx._naming import torch
from retrograd.fx._naming import type_name as _type_repr
from retrograd.fx.immutable_collections import immutable_dict, immutable_list

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]
Argument = Any
Target = Union[Callable[..., Any], str]
base_types = (str, int, float, bool, complex)
OPS = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root")
# Functions that stay although nobody uses their result; those at the end by name, since the namespace may not be there yet.
_side_effectful_functions: set[Callable[..., Any]] = {setitem, parts.set_grad}
BY_NAME = """_assert rand randn randint randperm rand_like randn_like randint_like normal poisson bernoulli
    multinomial""".split()


def has_side_effect(fn: Any) -> Any:
    """fn, whose calls elimination of dead code leaves alone from now on."""
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """a, with fn of each leaf of its tuples, lists, dicts and slices; lists and dicts cannot be changed then."""
    if isinstance(a, tuple):
        mapped = [map_aggregate(x, fn) for x in a]
        return type(a)(*mapped) if hasattr(a, "_fields") else tuple(mapped)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict({k: map_aggregate(x, fn) for k, x in a.items()})
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """a, with fn of each Node in it."""
    assert callable(fn), "torch.fx.map_arg(a, fn): fn must be a callable"
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


class Node:
    """One step of a Graph.

    op      target and what it does
    placeholder    the name of an input; args has its default, if any
    get_attr       the path of an attribute of the module
    call_function  the function; args and kwargs hold its arguments
    call_module    the path of a submodule
    call_method    the name of a method; args[0] is self
    output         "output"; args[0] is what is returned
    https://pytorch.org/docs/stable/fx.html#torch.fx.Node
    """

    graph: Any
    name: str
    op: str
    target: Any
    type: Any
    meta: dict[str, Any]
    users: dict[Node, None]
    _prev: Any
    _next: Any
    _args: Any
    _kwargs: Any
    _input_nodes: dict[Node, None]
    _repr_fn: Any
    _erased: bool

    def __init__(self, graph: Any, name: str, op: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
                 return_type: Any = None) -> None:
        wanted = "Callable" if op == "call_function" else "str"
        assert op in OPS, f"op '{op}' is not in _legal_ops"
        if not (callable(target) if wanted == "Callable" else isinstance(target, str)):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {typename(target)} "
                             f"but a {wanted} is expected")
        own = self.__dict__
        own.update(graph=graph, name=name, op=op, target=target, type=return_type, meta={}, users={}, _input_nodes={}, _args=(),
                   _kwargs={}, _erased=False, _repr_fn=None)
        own["_prev"] = own["_next"] = self
        self._update_args_kwargs(args, kwargs)

    # Its place in the list of the graph

    @property
    def next(self) -> Node:
        """The node after it; after the last one the graph's root."""
        found: Node = self._next
        return found

    @property
    def prev(self) -> Node:
        """The node before it; before the first one the graph's root."""
        found: Node = self._prev
        return found

    def prepend(self, x: Node) -> None:
        """Move x right before this node."""
        if not isinstance(x, Node):
            raise TypeError("_prepend() argument must be a Node")
        assert self.graph == x.graph, "Attempting to move a Node into a different Graph"
        if self is x:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev, x._next, self._prev = x, before, self, x
        self.graph._moved()

    def append(self, x: Node) -> None:
        """Move x right after this node."""
        self._next.prepend(x)

    def _remove_from_list(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev
        self.graph._moved()

    def __lt__(self, other: Node) -> bool:
        order = self.graph._order()
        return bool(order[self] < order[other])

    def __gt__(self, other: Node) -> bool:
        return other < self

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or other < self

    # Its arguments

    @property
    def args(self) -> tuple[Any, ...]:
        """What is given by place; assign a new tuple to change it."""
        found: tuple[Any, ...] = self._args
        return found

    @args.setter
    def args(self, a: tuple[Any, ...]) -> None:
        self._update_args_kwargs(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """What is given by name; assign a new dict to change it."""
        found: dict[str, Any] = self._kwargs
        return found

    @kwargs.setter
    def kwargs(self, k: dict[str, Any]) -> None:
        self._update_args_kwargs(self._args, k)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among its arguments, each once."""
        return list(self._input_nodes)

    def _update_args_kwargs(self, args: Any, kwargs: Any) -> None:
        def note(node: Node) -> Node:
            found.setdefault(node)
            return node

        found: dict[Node, None] = {}
        args, kwargs = map_arg(args, note), map_arg(kwargs, note)
        for old in self._input_nodes:
            old.users.pop(self, None)
        self._args, self._kwargs, self._input_nodes = args, kwargs, found
        for node in found:
            node.users.setdefault(self)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Put arg in the place of argument `idx`."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put arg before argument `idx`."""
        assert 0 <= idx <= len(self.args), f"insert_args index must be between 0 and len(self.args), got {idx}"
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Give arg under the name `key`."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use new_input wherever old_input is an argument."""
        self._tell(old_input, new_input.name, self)
        self._replace_input_with(old_input, new_input)

    def _replace_input_with(self, old: Node, new: Node) -> None:
        self._update_args_kwargs(*(map_arg(a, lambda n: new if n is old else n) for a in (self.args, self.kwargs)))

    def replace_all_uses_with(self, replace_with: Node, delete_user_cb: Callable[[Node], bool] | None = None, *,
                              propagate_meta: bool = False) -> list[Node]:
        """Let those who use this node (and for whom delete_user_cb is true) use the other -> these users."""
        if propagate_meta:
            assert not replace_with.meta, (
                "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has .meta keys")
            replace_with.meta.update(self.meta)
        chosen = [user for user in [*self.users] if delete_user_cb is None or delete_user_cb(user)]
        for user in chosen:
            self._tell(self, replace_with.name, user)
            user._replace_input_with(self, replace_with)
        return chosen

    def _tell(self, old: Node, new: str, user: Node) -> None:
        for hook in getattr(self.graph.owning_module, "_replace_hooks", None) or ():
            hook(old=old, new=new, user=user)

    def _rename(self, candidate: str) -> None:
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace._rename_object(self, self.name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "name" and "name" in self.__dict__:
            for user in self.users:
                self._tell(self, value, user)
        object.__setattr__(self, name, value)

    # What is known of it

    @property
    def stack_trace(self) -> str | None:
        """Where the program made it, if the tracer noted it."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Does elimination of dead code leave it alone?"""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_module":
            assert self.graph.owning_module is not None, "self.graph.owning_module not set for purity check"
            return bool(getattr(self.graph.owning_module.get_submodule(self.target), "_is_impure", False))
        if self.op != "call_function":
            return False
        if self.target in _side_effectful_functions or self.target in [getattr(torch(), name) for name in BY_NAME]:
            return True
        schema = getattr(self.target, "_schema", None)
        return schema is not None and bool(schema.is_mutable)

    def normalized_arguments(self, root: Any, arg_types: Any = None, kwarg_types: Any = None,
                             normalize_to_only_use_kwargs: bool = False) -> Any:
        """(args, kwargs) with names for what has them; None where the signature is not known."""
        from retrograd.fx.operator_schemas import normalize_function, normalize_module

        if self.op == "call_function":
            return normalize_function(self.target, self.args, self.kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs)
        if self.op == "call_module":
            return normalize_module(root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs)
        return None

    def __repr__(self) -> str:
        return str(self._repr_fn(self)) if self._repr_fn else self.name

    @staticmethod
    def _pretty_print_target(target: Any) -> str:
        if isinstance(target, str):
            return target
        module = getattr(target, "__module__", None)
        if module in ("builtins", "_operator"):
            return f"{module.strip('_')}.{target.__name__}"
        return _get_qualified_name(target)

    def format_node(self, placeholder_names: list[str] | None = None, maybe_return_typename: list[str] | None = None, *,
                    include_tensor_metadata: bool = False) -> str | None:
        """Its line in the text of a graph; None for an input whose name went to placeholder_names."""
        kind = "" if self.type is None else f"{_type_repr(self.type)} "
        head = f"[num_users={len(self.users)}] = {self.op}[target={self._pretty_print_target(self.target)}]"
        if self.op == "placeholder":
            if placeholder_names:
                placeholder_names.append(self.target * 2 + f": {kind[:-1]}" if self.type else self.target)
                return None
            default = f"(default={self.args[0]})" if self.args else ""
            return f"%{self.name} : {kind}{head}{default}"
        if self.op == "get_attr":
            return f"%{self.name} : {kind}{head}"
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {_type_repr(self.type)}"
            return f"return {self.args[0]}"
        value = self.meta.get("val", self.meta.get("tensor_meta", self.meta.get("example_value")))
        if include_tensor_metadata and isinstance(value, torch().Tensor):
            from retrograd.utils._dtype_abbrs import dtype_abbrs

            kind = f'Tensor "{dtype_abbrs[value.dtype]}{list(value.shape)}{list(value.stride())}{value.device}"'
        return f"%{self.name} : {kind}{head}(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"


def _format_arg(arg: Any, max_list_len: float = float("inf")) -> str:
    if hasattr(arg, "_custom_fx_repr_fn"):
        return str(arg._custom_fx_repr_fn())
    if isinstance(arg, (list, tuple)):
        items = ", ".join(_format_arg(a) for i, a in enumerate(arg) if i < max_list_len)
        more = f", ...[total_len={len(arg)}]" if len(arg) >= max_list_len + 1 else ""
        comma = "," if len(arg) == 1 and isinstance(arg, tuple) else ""
        return f"[{items}{more}]" if isinstance(arg, list) else f"({items}{comma}{more})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k}: {_format_arg(v)}" for k, v in arg.items()) + "}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


