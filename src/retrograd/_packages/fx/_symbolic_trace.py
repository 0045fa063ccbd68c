"""A graph of a program, by running it once with Proxies."""
from __future__ import annotations

import copy
import inspect
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import chain
from types import FunctionType
from typing import Any, ClassVar

from retrograd._tensor import Tensor
from retrograd.fx._naming import ours, torch
from retrograd.fx._patching import Patcher, find_proxy
from retrograd.fx._patching import _wrapped_fns_to_patch as _wrapped_fns_to_patch
from retrograd.fx._patching import _wrapped_methods_to_patch as _wrapped_methods_to_patch
from retrograd.fx._patching import wrap as wrap
from retrograd.fx.graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from retrograd.fx.graph_module import GraphModule
from retrograd.fx.node import base_types
from retrograd.fx.proxy import ParameterProxy, Scope, ScopeContextManager, TracerBase
from retrograd.nn.module import Module
from retrograd.nn.modules.container import Sequential
from retrograd.nn.parameter import Parameter
from retrograd.utils import _pytree as pytree

VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_proxyable_classes: dict[type, None] = {}
_tracing = 0


def is_fx_tracing() -> bool:
    """Is a program being traced?"""
    return _tracing > 0


def is_fx_symbolic_tracing() -> bool:
    """Is a program being traced?"""
    return _tracing > 0


class ProxyableClassMeta(type):
    """A metaclass: while a program is traced, an instance made of Proxies is a node."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs) if _tracing else None
        if proxy is not None:
            return proxy.tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


class PHBase:
    """In concrete_args: an input that is not fixed."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """As PH; its attributes go to the node of the input."""

    def __init__(self, ph_key: str | None = None) -> None:
        super().__init__()
        self.ph_key = ph_key


def _transfer_attrs(fr: Any, to: Any) -> None:
    for name in dir(fr):
        value = getattr(fr, name)
        if not callable(value) and not name.startswith("__") and not hasattr(to, name):
            setattr(to, name, value)


class Tracer(TracerBase):
    """Runs a program with Proxies; subclasses say which modules stay as they are, and more.

    https://pytorch.org/docs/stable/fx.html#torch.fx.Tracer
    """

    _qualname_counter: ClassVar[dict[str, int]] = defaultdict(int)

    def __init__(self, autowrap_modules: Iterable[Any] = (math,), autowrap_functions: Iterable[Any] = (),
                 param_shapes_constant: bool = False) -> None:
        super().__init__()
        modules = list(autowrap_modules)
        self._autowrap_function_ids = {id(value) for name, value in chain.from_iterable(vars(m).items() for m in modules)
                                       if not name.startswith("_") and callable(value)}
        self._autowrap_function_ids.update(map(id, autowrap_functions))
        self._autowrap_search = modules
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Any, str] | None = None
        self.root_module_name = ""
        self.num_calls: dict[str, int] = {}

    def get_fresh_qualname(self, prefix: str) -> str:
        """prefix and a number: an attribute that the root does not have."""
        if not hasattr(self.root, f"{prefix}0"):
            self._qualname_counter[prefix] = 0
            return f"{prefix}0"
        number = self._qualname_counter[prefix]
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        self._qualname_counter[prefix] = number + 1
        return f"{prefix}{number}"

    def create_arg(self, a: Any) -> Any:
        """a as an argument of a node; parameters, buffers and modules are attributes of the root, as are other tensors then."""
        if isinstance(a, Parameter):
            name = next((n for n, p in self.root.named_parameters() if p is a), None)
            if name is None:
                raise NameError("parameter is not a member of this module")
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, (Tensor, Module)):
            members = self.root.named_buffers() if isinstance(a, Tensor) else self.root.named_modules()
            for name, value in members:
                if value is a:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(x) for x in a), {})
        if isinstance(a, Tensor):
            return self.create_node("get_attr", self._constant(a, "_tensor_constant"), (), {})
        if type(a) in _proxyable_classes:
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def _constant(self, a: Any, prefix: str) -> str:
        name = self.tensor_attrs.get(a)
        if not name:
            name = self.tensor_attrs[a] = self.get_fresh_qualname(prefix)
            setattr(self.root, name, a)
        return name

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
        """Does a call of m stay one node?  By default that of torch.nn's modules does, except Sequential's."""
        return m.__module__.startswith(("retrograd.nn", "torch.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Any) -> str:
        """Where mod is in the root: "encoder.layers.0".  NameError if it is not."""
        known = self.submodule_paths or {m: n for n, m in self.root.named_modules(remove_duplicate=False)}
        if mod not in known:
            raise NameError("module is not installed as a submodule")
        return known[mod]

    def call_module(self, m: Any, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call of a submodule gives: a node if it is a leaf, else what forward gives."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))) as scope:
            calls = self.num_calls.get(path, 0)
            key = f"{scope.module_path}@{calls}" if calls else scope.module_path
            self.module_stack[key] = path, scope.module_type
            self.num_calls[path] = calls + 1
            leaf = self.is_leaf_module(m, path)
            found = self.create_proxy("call_module", path, args, kwargs) if leaf else forward(*args, **kwargs)
            self.module_stack.popitem(last=True)
        return found

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What an attribute of a module gives: a Proxy for a parameter, and for a buffer if proxy_buffer_attributes."""
        if isinstance(attr_val, Parameter):
            members = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            members = self.root.named_buffers()
        else:
            return attr_val
        name = next((name for name, value in members if value is attr_val), None)
        if name is None:
            return attr_val
        if name not in parameter_proxy_cache:
            more: dict[str, Any] = {}
            if self.param_shapes_constant and "proxy_factory_fn" in inspect.signature(self.create_proxy).parameters:
                more["proxy_factory_fn"] = lambda node: ParameterProxy(self, node, name, attr_val)
            parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, **more)
        return parameter_proxy_cache[name]

    def create_args_for_root(self, root_fn: Any, is_module: bool, concrete_args: Any = None) -> tuple[Any, list[Any]]:
        """An input for each argument of root_fn -> the function to call, what to call it with."""
        inner = inspect.unwrap(root_fn)
        code = inner.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        names = iter(code.co_varnames)
        args: list[Any] = []
        if is_module:
            if count == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            next(names)
            args.append(self.root)
        signature = inspect.signature(inner)
        if isinstance(concrete_args, tuple) and concrete_args and code.co_flags & VARIADIC and count == 1:
            for i, value in enumerate(concrete_args):
                out = self.create_proxy("placeholder", f"input_{i}", (), {})
                if isinstance(value, PHBase) and value is not PH:
                    _transfer_attrs(value, out.node)
                args.append(out)
            return root_fn, args
        wanted = [next(names) for _ in range(len(args), count)]
        if isinstance(concrete_args, tuple):
            if len(wanted) != len(concrete_args):
                raise RuntimeError(f"Tracing expected {len(wanted)} arguments but got {len(concrete_args)} concrete arguments")
            concrete_args = dict(zip(wanted, concrete_args))
        args += [self._proxy_placeholder(name, concrete_args, signature, inner) for name in wanted]
        if code.co_kwonlyargcount or code.co_flags & VARIADIC:
            for flag, stars in ((inspect.CO_VARARGS, "*"), (inspect.CO_VARKEYWORDS, "**")):
                if code.co_flags & flag:
                    args.append(self._proxy_placeholder(stars + next(names), concrete_args, signature, inner))
            root_fn = _by_place(root_fn, len(args))
        flat, spec = pytree.tree_flatten(tuple(args))
        if all(child.is_leaf() for child in spec.children_specs):
            return root_fn, args
        codegen = _PyTreeCodeGen(_PyTreeInfo(list(code.co_varnames[:count]), spec, None))
        self.graph._codegen = codegen

        def flat_fn(*leaves: Any) -> Any:
            out, out_spec = pytree.tree_flatten(root_fn(*pytree.tree_unflatten(list(leaves), spec)))
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return out
        return flat_fn, flat

    def _proxy_placeholder(self, name: str, concrete_args: Any, signature: inspect.Signature, inner: Any) -> Any:
        default: tuple[Any, ...] = ()
        if name[0] != "*" and signature.parameters[name].default is not inspect.Parameter.empty:
            default = (signature.parameters[name].default,)
        if concrete_args is None or name not in concrete_args:
            return self.create_proxy("placeholder", name, default, {}, type_expr=_annotation(inner, name))
        count = 0

        def fixed(x: Any) -> Any:
            nonlocal count
            count += 1
            out = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            if isinstance(x, PHBase):
                if x is not PH:
                    _transfer_attrs(x, out.node)
                return out
            if type(x) in base_types:
                torch()._assert(out == x, f"{name} has been specialized to have value {x} but got another value")
            elif x is None:
                self.create_proxy("call_function", _assert_is_none, (
                    out, f"{name} has been specialized to have value None but got another value"), {})
            else:
                warnings.warn(
                    f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to the "
                    "user to make sure that your inputs match the inputs you specialized the function with.", stacklevel=2)
            return x
        return pytree.tree_map(fixed, concrete_args[name])

    def trace(self, root: Any, concrete_args: Any = None) -> Graph:
        """The graph of a module's forward or of a function."""
        global _tracing
        _tracing += 1
        try:
            if isinstance(root, Module):
                self.root: Any = root
                assert hasattr(type(root), self.traced_func_name), (
                    f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
                fn: Any = getattr(type(root), self.traced_func_name)
                self.root_module_name = root._get_name()
                self.submodule_paths = {module: name for name, module in root.named_modules()}
            else:
                self.root, fn = Module(), root
            self.graph = Graph(tracer_cls=type(self))
            if hasattr(fn, "__code__"):
                self.graph._co_fields = {f"co_{what}": getattr(fn.__code__, f"co_{what}")
                                         for what in ("name", "filename", "firstlineno")}
            self.tensor_attrs: dict[Any, str] = {
                value: f"{path}.{name}" if path else name for path, module in self.root.named_modules()
                for name, value in vars(module).items() if isinstance(value, Tensor)}
            assert isinstance(fn, FunctionType), f"Expected FunctionType, got {type(fn)}"
            self._run(fn, *self.create_args_for_root(fn, isinstance(root, Module), concrete_args))
            self.submodule_paths = None
        finally:
            _tracing -= 1
        return self.graph

    def _run(self, original: Any, fn: Any, args: list[Any]) -> None:
        cache: dict[str, Any] = {}
        call, attribute = Module.__call__, Module.__getattr__

        def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:
            patcher.autowrap(getattr(getattr(module, "forward", module), "__globals__", {}), self._autowrap_function_ids)
            return self.call_module(module, lambda *args, **kwargs: call(module, *args, **kwargs), args, kwargs)

        def __getattr__(module: Any, name: str) -> Any:
            return self.getattr(name, attribute(module, name), cache)

        with Patcher() as patcher:
            patcher.method(Module, "__getattr__", __getattr__)
            patcher.method(Module, "__call__", __call__)
            patcher.wrapped()
            for names in (original.__globals__, *map(vars, self._autowrap_search)):
                patcher.autowrap(names, self._autowrap_function_ids)
            result = self.create_arg(fn(*args))
            self.create_node("output", "output", (result,), {}, type_expr=_annotation(inspect.unwrap(original), "return"))

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        made = Tracer.__new__(Tracer)
        for k, v in self.__dict__.items():
            made.__dict__[k] = copy.copy(v) if k == "_autowrap_search" else copy.deepcopy(v, memo)
        return made


def _annotation(fn: Any, name: str) -> Any:
    """What a program says of an argument; our layers say what helps editors."""
    return None if ours(fn.__module__) else fn.__annotations__.get(name)


def _by_place(fn: Any, count: int) -> Any:
    """fn, which takes its *args and **kwargs as two more arguments: so a Proxy may stand for each."""
    code = fn.__code__.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0,
                               co_flags=fn.__code__.co_flags & ~VARIADIC)
    return FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)


def symbolic_trace(root: Any, concrete_args: Any = None) -> GraphModule:
    """A GraphModule that does what `root`, a Module or a function, does; concrete_args fixes some of its arguments.

    https://pytorch.org/docs/stable/fx.html#torch.fx.symbolic_trace
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    return GraphModule(tracer.root, graph, type(root).__name__ if isinstance(root, Module) else root.__name__)


@wrap
def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


