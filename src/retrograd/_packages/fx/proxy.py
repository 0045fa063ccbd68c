"""What stands for a value while a program is traced: each operation on it becomes a node."""
from __future__ import annotations

import copy
import dis
import enum
import inspect
import logging
import operator
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from retrograd._ops import OpOverload
from retrograd.fx._codegen import magic_methods, reflectable_magic_methods
from retrograd.fx.node import Node, base_types, map_aggregate, map_arg
from retrograd.nn.parameter import Parameter
from retrograd.overrides import is_tensor_method_or_property

__all__ = ["Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "Scope", "ScopeContextManager", "TraceError",
           "TracerBase"]
log = logging.getLogger(__name__)


class TraceError(ValueError):
    """The program does something with a value that tracing does not know."""


class Scope:
    """The module whose call is being traced: its path, its type."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path, self.module_type = module_path, module_type


class ScopeContextManager:
    """For the length of a with block, `scope` is as `current_scope`."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._before = copy.copy(scope)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type
        self._scope = scope

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *_: Any) -> None:
        self._scope.module_path, self._scope.module_type = self._before.module_path, self._before.module_type


class TracerBase:
    """What makes nodes of operations; Tracer follows a program."""

    graph: Any
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"

    def __init__(self) -> None:
        self.scope = Scope("", None)
        self.module_stack: OrderedDict[str, tuple[str, Any]] = OrderedDict()
        self.node_name_to_scope: dict[str, tuple[str, Any]] = {}

    def create_node(self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None,
                    type_expr: Any = None) -> Node:
        """A node of the graph; a subclass may refuse some, or note more about them."""
        node: Node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = self.scope.module_path, self.scope.module_type
        from retrograd.fx import traceback as notes

        if notes.has_preserved_node_meta():
            kept = notes.get_current_meta()
            node.meta.update({k: copy.copy(kept[k]) for k in notes.COPIED if k in kept})
            if kept.get("stack_trace"):
                node.stack_trace = kept["stack_trace"]
        elif self.module_stack:
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        if self.record_stack_traces and not node.stack_trace:
            frames = traceback.extract_stack()
            first = next((i for i, frame in enumerate(frames) if frame.name == "forward"), len(frames))
            shown = [f for f in frames[first:] if "/retrograd/" not in f.filename]
            if shown:
                node.stack_trace = "".join(traceback.StackSummary.from_list(shown).format()).strip()
        return node

    def proxy(self, node: Node) -> Proxy:
        """What stands for the node's value in the program."""
        return Proxy(node, self)

    def create_proxy(self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None,
                     type_expr: Any = None, proxy_factory_fn: Callable[[Node], Proxy] | None = None) -> Proxy:
        """A new node, from arguments as the program has them, and what stands for it there."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a: Any) -> Any:
        """a as an argument of a node.  NotImplementedError for what cannot be one."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(x) for x in a]
            return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            return {self._key(k): self.create_arg(x) for k, x in a.items()}
        if isinstance(a, (slice, range)):
            return type(a)(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if is_dataclass(a) and not isinstance(a, type):
            return self.create_node("call_function", type(a), (), {
                field.name: self.create_arg(getattr(a, field.name)) for field in fields(a)})
        if isinstance(a, (*base_types, enum.Enum, *_plain())) or a is None or a is ... or isinstance(a, OpOverload):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _key(self, key: Any) -> Any:
        def refuse(node: Node) -> Any:
            raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {key}")

        if not isinstance(key, str):
            key = self.create_arg(key)
            map_arg(key, refuse)
        return key

    def to_bool(self, obj: Proxy) -> bool:
        """What `if obj` gets; a subclass may know."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """What `for x in obj` gets; a subclass may know."""
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs "
            "function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control "
            "flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy iteration errors")

    def keys(self, obj: Proxy) -> Any:
        """What obj.keys() and ** get."""
        return Attribute(obj, "keys")()


def _plain() -> tuple[type, ...]:
    """Types besides Python's that nodes hold as they are."""
    from retrograd._tensor.dtypes import device, dtype, layout, memory_format

    return device, dtype, layout, memory_format


class GraphAppendingTracer(TracerBase):
    """For a Proxy around a node: what is done with it is appended to the node's graph."""

    def __init__(self, graph: Any) -> None:
        super().__init__()
        self.graph = graph


def assert_fn(x: Any) -> None:
    """assert, as a node."""
    if not x:
        raise AssertionError("Assertion failed")


def _instruction(frame: Any, after: int = 0) -> Any:
    """What a frame executes, or the instruction so many further on."""
    found = list(dis.get_instructions(frame.f_code))
    return next((found[i + after] for i, one in enumerate(found) if one.offset >= frame.f_lasti), None)


class Proxy:
    """A value of a program that is traced: functions of torch, operators, methods and attributes of it become nodes.

    It has no value, so it cannot be iterated (unpacked, it can) or decide a branch: TraceError.
    https://pytorch.org/docs/stable/fx.html#torch.fx.Proxy
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Any:
        return Attribute(self, k)               # no node yet: most are called, and a call of a method is one node

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        made = Proxy.__new__(Proxy)
        made.__dict__ = {k: copy.deepcopy(v, memo) for k, v in self.__dict__.items()}
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        frame = inspect.currentframe()
        unpack = _instruction(frame.f_back) if frame is not None and frame.f_back is not None else None
        if unpack is not None and unpack.opname == "UNPACK_SEQUENCE":
            return (self[i] for i in range(unpack.argval))  # type: ignore[index]
        return self.tracer.iter(self)

    def __abs__(self) -> Any:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        frame = inspect.currentframe()
        if self.tracer.trace_asserts and frame is not None and frame.f_back is not None:
            jump, then = _instruction(frame.f_back), _instruction(frame.f_back, 1)
            if "JUMP" in jump.opname and "IF_TRUE" in jump.opname and then.opname == "LOAD_ASSERTION_ERROR":
                self.tracer.create_proxy("call_function", assert_fn, (self,), {})
                return True
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """What ** asks for."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please "
                           "call torch.fx.wrap('len') at module scope")

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None) -> Any:
        def note(a: Any) -> Any:
            if isinstance(a, cls):
                tracers[a.tracer] = None
            return a

        tracers: dict[TracerBase, None] = {}
        args, kwargs = args or (), kwargs or {}
        map_aggregate((args, kwargs), note)
        if len(tracers) > 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}")
        tracer = next(iter(tracers))
        if is_tensor_method_or_property(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs,
                                   name=tracer.graph._target_to_str(orig_method.__name__))


class Attribute(Proxy):
    """proxy.name: a method if it is called, else a value."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node of the value, made when it is asked for."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter whose shape is known while a program is traced."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        assert isinstance(param, Parameter), f"Expected Parameter, got {type(param)}"
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """The parameter's."""
        return self.param.shape

    @property
    def ndim(self) -> int:
        """The parameter's."""
        return int(self.param.ndim)

    def size(self) -> Any:
        """The parameter's."""
        return self.param.size()

    def dim(self) -> int:
        """The parameter's."""
        return int(self.param.dim())

    def numel(self) -> int:
        """The parameter's."""
        return int(self.param.numel())

    def nelement(self) -> int:
        """The parameter's."""
        return int(self.param.nelement())


def _operator(name: str, swapped: bool) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        given = args[::-1] if swapped else args
        return args[0].tracer.create_proxy("call_function", getattr(operator, name), given, kwargs)
    called.__name__ = called.__qualname__ = f"__r{name.strip('_')}__" if swapped else name
    return called


for _name in magic_methods:
    if hasattr(operator, _name):
        setattr(Proxy, f"__{_name.strip('_')}__", _operator(_name, False))
for _name in reflectable_magic_methods:
    if hasattr(operator, _name):
        setattr(Proxy, f"__r{_name.strip('_')}__", _operator(_name, True))
