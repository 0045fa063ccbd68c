"""torch.library: operators that programs define, with derivatives and names in torch.ops.

https://pytorch.org/docs/stable/library.html

op, qualname, op_name   "namespace::name"; op may also be an operator of torch.ops or what custom_op returned
name, namespace         its parts
ns, kind        the namespace, and what the library does there
fn, func        the function; None: a decorator waits for it
schema          "(Tensor x, int n=2) -> Tensor"; None: from the function's annotations
tags, alias_analysis, with_keyset, allow_override   accepted without effect: the latest registration counts
lib             the Library that keeps the registration alive; None: for good
device_types, types   "cpu" or several; None: all
device_type     "cpu", or another kind of device
cast_inputs     the dtype to which floats are cast
enabled         False: the kernel is left out
dispatch_key    "CPU", "Autograd", "CompositeImplicitAutograd", ...
torch_dispatch_class   a class with __torch_dispatch__, of which there are none
prototype_function     a function with annotated parameters
args, kwargs    what the operator is called with
test_utils      which tests: one name or several; all by default
raise_exception   False: an exception is an entry of the result
rtol, atol      how close the results must be
"""
from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, overload

from retrograd._library.schema import FunctionSchema
from retrograd._library.schema import infer_schema as infer_schema
from retrograd._missing import late_names
from retrograd._ops import FAKING, Entry, OpOverload, OpOverloadPacket, ops, registry
from retrograd._tensor import Tensor
from retrograd.amp.autocast_mode import is_autocast_available
from retrograd.utils._pytree import tree_leaves, tree_map

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "get_ctx", "impl", "impl_abstract", "infer_schema",
    "opcheck", "register_autocast", "register_autograd", "register_fake", "register_kernel", "register_torch_dispatch",
    "register_vmap",
]
late_names(__name__)
log = logging.getLogger(__name__)
RESERVED = ("prim",)
KEYS = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta", "mps": "MPS", "xpu": "XPU", "default": "CompositeExplicitAutograd"}


class OpCheckError(Exception):
    """An operator is not registered as it behaves."""


def fallthrough_kernel() -> None:
    """To impl(): the dispatch key does nothing."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class Library:
    """Operators of a namespace `ns`: "DEF" defines them, "FRAGMENT" adds to them, "IMPL" implements those defined elsewhere.

    https://pytorch.org/docs/stable/library.html#torch.library.Library
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in RESERVED and kind in ("DEF", "FRAGMENT"):
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._op_defs: set[str] = set()
        self._op_impls: set[tuple[str, str]] = set()

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Add the operator of a schema: "mul2(Tensor x, Scalar a=2) -> Tensor" -> its name."""
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        parsed = FunctionSchema(schema)
        parsed.name = f"{self.ns}::{parsed.name}"
        overloads = registry.setdefault(parsed.name, {})
        if parsed.overload_name in overloads:
            raise RuntimeError(
                f"Tried to register an operator ({parsed}) with the same name and overload name multiple times. Each overload's "
                "schema should only be registered with a single call to def().")
        overloads[parsed.overload_name] = Entry(parsed)
        overloads[parsed.overload_name].fake = undefined.pop(f"{parsed.name}.{parsed.overload_name}".rstrip("."), None)
        self._op_defs.add(parsed.name)
        name = parsed.name.split("::")[1]
        return f"{name}.{parsed.overload_name}" if parsed.overload_name else name

    def impl(self, op_name: str | OpOverload, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False,
             allow_override: bool = False) -> None:
        """fn computes the operator for a dispatch key: "CPU", "Autograd", "CompositeImplicitAutograd", ..."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        name = op_name._name if isinstance(op_name, OpOverload) else op_name
        name, _, overload = name.rpartition("::")[2].partition(".")
        name = f"{self.ns}::{name}"
        if name not in registry and self.ns == "aten":
            raise NotImplementedError(f"operators of aten cannot be given another kernel here: {name} for {key}")
        if fn is not fallthrough_kernel:
            _entry(name, overload, create=True).kernels[key] = fn
        self._op_impls.add((name, key))

    def _register_fake(self, op_name: str, fn: Callable[..., Any], _stacklevel: int = 1, *, allow_override: bool = False) -> None:
        register_fake(f"{self.ns}::{op_name}", fn)

    def _destroy(self) -> None:
        for name in self._op_defs:
            registry.pop(name, None)
            vars(getattr(ops, self.ns)).pop(name.split("::")[1], None)


undefined: dict[str, Callable[..., Any]] = {}   # what register_fake was given for operators that nobody has defined yet


def _entry(name: str, overload: str = "", create: bool = False) -> Entry:
    found = registry.get(name, {}).get(overload)
    if found is None and create:                # implemented before it is defined: kept for nobody
        return Entry(FunctionSchema(f"{name}() -> ()"))
    if found is None:
        raise RuntimeError(f"operator {name} does not exist")
    return found


def _found(op: Any) -> Entry:
    """The entry of an operator, given by its name, as an overload, or as what custom_op returned."""
    if isinstance(op, CustomOpDef):
        return op._entry
    if isinstance(op, OpOverload):
        assert op._entry is not None, f"{op} is torch's own"
        return op._entry
    if not isinstance(op, str):
        raise ValueError(f"got unexpected type for op: {type(op)}")
    name, _, overload = op.partition(".")
    return _entry(name, "" if overload == "default" else overload)


class CustomOpDef:
    """An operator made by custom_op: call it, or register more about it."""

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable[..., Any], tags: Any = None) -> None:
        self._namespace, self._name, self._init_fn = namespace, name, fn
        self._lib = Library(namespace, "FRAGMENT")
        registry.pop(self._qualname, None)      # defined again: in a notebook, say
        vars(getattr(ops, namespace)).pop(name, None)
        self._lib.define(name + schema, tags=tags or ())
        self._entry = _entry(self._qualname)
        self._entry.custom = self
        self._schema = schema

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    @property
    def _opoverload(self) -> OpOverload:
        found: OpOverload = getattr(getattr(ops, self._namespace), self._name).default
        return found

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None, /) -> Any:
        """A decorator: the function computes it on these devices."""
        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            for kind in [device_types] if device_types is None or isinstance(device_types, str) else device_types:
                self._lib.impl(self._name, fn, KEYS[kind or "default"])
            return fn
        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """A decorator: the function makes a result of the right shape from tensors without values.

    The operator need not be there: libraries define some in C++, and their Python goes on without them.
    """
        self._entry.fake = fn
        return fn

    def register_torch_dispatch(self, torch_dispatch_class: Any, fn: Any = None, /) -> Any:
        """NotImplementedError: there is no __torch_dispatch__."""
        return register_torch_dispatch(self, torch_dispatch_class, fn)

    def register_autograd(self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None) -> None:
        """backward(ctx, *grads) gives a gradient for each argument; setup_context(ctx, inputs, output) keeps what it needs."""
        if self._entry.schema.is_mutable:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self} with schema {self._entry.schema}. Please "
                "create a functional operator and register an autograd formula for that.")
        register_autograd(self, backward, setup_context=setup_context)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> Any:
        """Under autocast of the device, floats are cast to the dtype, and the operator runs without autocast."""
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        return register_autocast(self, device_type, cast_inputs)

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """Context in which a kernel of register_kernel is replaced by the function of custom_op, or is not."""
        key, disabled = KEYS.get(device_type, device_type), self._entry.disabled
        action, had = "enable" if enabled else "disable", key in disabled
        if key not in self._entry.kernels:
            log.warning("Attempted to %s kernel for %s but no kernel was registered for this device type.", action, device_type)
        if had is not enabled:
            log.warning("Attempted to %s kernel for %s but it was already %sd.", action, device_type, action)
        (disabled.discard if enabled else disabled.add)(key)
        try:
            yield
        finally:
            (disabled.add if had else disabled.discard)(key)

    def register_vmap(self, func: Any = None) -> Any:
        """A decorator: func(info, in_dims, *args) computes a whole batch -> (output, out_dims)."""
        return register_vmap(self, func)


@overload
def custom_op(name: str, fn: None = None, /, *, mutates_args: str | Iterable[str], device_types: Any = None,
              schema: str | None = None, tags: Any = None) -> Callable[[Callable[..., object]], CustomOpDef]: ...
@overload
def custom_op(name: str, fn: Callable[..., object], /, *, mutates_args: str | Iterable[str], device_types: Any = None,
              schema: str | None = None, tags: Any = None) -> CustomOpDef: ...
def custom_op(name: str, fn: Any = None, /, *, mutates_args: str | Iterable[str], device_types: Any = None,
              schema: str | None = None, tags: Any = None) -> Any:
    """A decorator: the function becomes the operator "namespace::name", a step that tracing and derivatives see as a whole.

    mutates_args    names of the arguments that it changes, or "unknown"
    device_types    for which devices it is; None for all
    https://pytorch.org/docs/stable/library.html#torch.library.custom_op
    """
    def make(fn: Callable[..., Any]) -> CustomOpDef:
        text = infer_schema(fn, mutates_args=mutates_args) if schema is None else schema
        namespace, op = parse_namespace(name)
        made = CustomOpDef(namespace, op, text, fn, tags)
        made.register_kernel(device_types)(fn)
        return made
    return make if fn is None else make(fn)


def parse_namespace(qualname: str) -> tuple[str, str]:
    """("namespace", "name") of "namespace::name"."""
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The qualname passed to the '
            "torch.library APIs must consist of a namespace and a name, e.g. aten::sin")
    return parts[0], parts[1]


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> None:
    """Add the operator "namespace::name" of a schema: "(Tensor x) -> Tensor".

    https://pytorch.org/docs/stable/library.html#torch.library.define
    """
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    namespace, name = parse_namespace(qualname)
    if re.match(r"\(.*\) -> .*", schema) is None:
        raise ValueError(
            f'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got "{schema}"')
    (lib or Library(namespace, "FRAGMENT")).define(name + schema, tags=tags)


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Library | None = None) -> Any:
    """A decorator: the function computes the operator "namespace::name" on devices of these types.

    https://pytorch.org/docs/stable/library.html#torch.library.impl
    """
    if isinstance(qualname, Library):           # the older form: impl(lib, "name", "CPU")
        def old(f: Callable[..., Any]) -> Callable[..., Any]:
            qualname.impl(types, f, func or "")
            return f
        return old

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        namespace, _, name = qualname.partition("::")
        for kind in [types] if isinstance(types, str) else types:
            (lib or Library(namespace, "FRAGMENT")).impl(name, f, KEYS.get(kind, kind))
        return f
    return register if func is None else register(func)


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Library | None = None) -> Any:
    """A decorator: the function computes the operator on these devices."""
    if isinstance(op, CustomOpDef):
        return op.register_kernel(device_types, func)
    name = op._name if isinstance(op, OpOverload) else op
    return impl(name, "default" if device_types is None else device_types, func, lib=lib)


def register_fake(op: Any, func: Any = None, /, *, lib: Library | None = None, _stacklevel: int = 1,
                  allow_override: bool = True) -> Any:
    """A decorator: the function makes a result of the right shape from tensors without values."""
    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(op, str) and op.partition(".")[0] not in registry:
            undefined[op] = f
        else:
            _found(op).fake = f
        return f
    return register if func is None else register(func)


def impl_abstract(qualname: str, func: Any = None, *, lib: Library | None = None, _stacklevel: int = 1) -> Any:
    """register_fake, by its older name."""
    warnings.warn(
        "`torch.library.impl_abstract` was renamed to `torch.library.register_fake`. Please use that instead; we will remove "
        "`torch.library.impl_abstract` in a future version of PyTorch.", FutureWarning, stacklevel=2)
    return register_fake(qualname, func, lib=lib)


def register_autograd(op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None,
                      lib: Library | None = None) -> None:
    """backward(ctx, *grads) gives a gradient for each argument; setup_context(ctx, inputs, output) keeps what it needs.

    https://pytorch.org/docs/stable/library.html#torch.library.register_autograd
    """
    entry = _found(op)
    if entry.schema.is_mutable:
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {op} with schema {entry.schema}. Please create a "
            "functional operator and register an autograd formula for that.")
    entry.backward, entry.setup_context = backward, setup_context


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None) -> Any:
    """Under autocast of the device, floats are cast to the dtype, and the operator runs without autocast.

    https://pytorch.org/docs/stable/library.html#torch.library.register_autocast
    """
    if not isinstance(op, (str, OpOverload, CustomOpDef)):
        raise ValueError(f"register_autocast({op}): got unexpected type for op: {type(op)}")
    if not is_autocast_available(device_type):
        raise ValueError(f"Device type '{device_type}' does not support autocast.")
    entry = _found(op)
    entry.autocast.setdefault(device_type, cast_inputs)
    return entry.call


def register_vmap(op: Any, func: Any = None, /, *, lib: Library | None = None) -> Any:
    """A decorator: func(info, in_dims, *args) computes a whole batch -> (output, out_dims).

    https://pytorch.org/docs/stable/library.html#torch.library.register_vmap
    """
    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        _found(op).vmap = f
        return f
    return register if func is None else register(func)


def register_torch_dispatch(op: Any, torch_dispatch_class: Any, func: Any = None, /, *, lib: Library | None = None) -> Any:
    """NotImplementedError: there is no __torch_dispatch__."""
    raise NotImplementedError("there is no dispatcher and no __torch_dispatch__; use __torch_function__")


def get_ctx() -> Any:
    """Within a fake function, what makes sizes that depend on values (RuntimeError for meta tensors); elsewhere None."""
    if not FAKING:
        return None
    if FAKING[-1]._fake_mode is None:
        name = FAKING[-1]._op.rpartition(".")[0].replace(".", "::")
        raise RuntimeError(
            f"{name}: You're trying to run this operator with meta Tensors (as opposed to FakeTensors), but this operator may "
            "return an output Tensor with data-dependent shape. Meta Tensors don't support operators with outputs that have "
            "data-dependent shapes but FakeTensors do. If your operator does not return an output with data-dependent shape, "
            "make sure the FakeTensor and/or meta kernel does not call torch.library.get_ctx(). Otherwise, please use "
            "FakeTensors.")
    return FAKING[-1]


def opcheck(op: Any, args: Sequence[Any], kwargs: dict[str, Any] | None = None, *,
            test_utils: str | Sequence[str] = ("test_schema", "test_autograd_registration", "test_faketensor"),
            raise_exception: bool = True, atol: float | None = None, rtol: float | None = None) -> dict[str, Any]:
    """{test: "SUCCESS", or the exception}: does the operator do with these arguments what is registered?

    test_schema                 it changes only arguments of which the schema says so
    test_autograd_registration  its result has a derivative where an argument requires grad
    test_faketensor             the fake function gives the result's shapes and dtypes
    https://pytorch.org/docs/stable/library.html#torch.library.opcheck
    """
    op = op._opoverload if isinstance(op, CustomOpDef) else op.default if isinstance(op, OpOverloadPacket) else op
    tests = {"test_schema": _check_schema, "test_autograd_registration": _check_autograd, "test_faketensor": _check_fake}
    found: dict[str, Any] = {}
    for name in [test_utils] if isinstance(test_utils, str) else test_utils:
        if name not in tests:
            raise ValueError(f"opcheck: {name!r} is not one of {[*tests]}")
        try:
            tests[name](op, args, kwargs or {})
            found[name] = "SUCCESS"
        except Exception as e:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck(op, ...): {name} failed with {e} (scroll up for stack trace)") from e
            found[name] = e
    return found


def _copied(args: Any, kwargs: Any) -> Any:
    return tree_map(lambda x: x.detach().clone() if isinstance(x, Tensor) else x, (list(args), kwargs))


def _check_schema(op: OpOverload, args: Any, kwargs: Any) -> None:
    given, before = _copied(args, kwargs), _copied(args, kwargs)
    op(*given[0], **given[1])
    schema = _found(op).schema
    for i, a in enumerate(schema.arguments):
        was, now = ((pair[0][i] if i < len(pair[0]) else pair[1].get(a.name)) for pair in (before, given))
        for x, y in zip(tree_leaves(was), tree_leaves(now)):
            if isinstance(x, Tensor) and not a.is_write and not x.equal(y):
                raise RuntimeError(f"Argument {a.name} is not defined as mutable but was mutated")


def _check_autograd(op: OpOverload, args: Any, kwargs: Any) -> None:
    entry = _found(op)
    if entry.custom is not None or entry.backward is not None or (
            {"Autograd", "AutogradCPU", "CompositeImplicitAutograd"}.intersection(entry.kernels)):
        return
    given = tree_leaves((list(args), kwargs))
    made = [y for y in tree_leaves(op(*args, **kwargs)) if not any(y is x for x in given)]
    if any(isinstance(y, Tensor) and y.requires_grad for y in made):
        raise AssertionError(
            f"autograd_registration_check: {op} returns a tensor that requires grad, but has no derivative registered: use "
            "torch.library.register_autograd")


def _check_fake(op: OpOverload, args: Any, kwargs: Any) -> None:
    entry = _found(op)
    fake = entry.fake or entry.kernels.get("Meta") or entry.kernels.get("CompositeImplicitAutograd")
    if fake is None and entry.schema.is_mutable and not entry.schema.returns:
        return              # nothing comes back that would have a shape
    if fake is None:
        raise RuntimeError(
            f"There was no fake impl registered for {entry.custom or op}. This is necessary for torch.compile/export/fx tracing "
            f"to work. Please use `{op._opname}.register_fake` to add an fake impl.")
    real, made = (tree_leaves(f(*given, **named)) for f in (op, fake) for given, named in [_copied(args, kwargs)])
    if len(real) != len(made):
        raise RuntimeError(f"the fake impl of {op} gives {len(made)} results, the operator {len(real)}")
    for x, y in zip(real, made):
        if isinstance(x, Tensor) and (x.shape, x.dtype) != (y.shape, y.dtype):
            raise RuntimeError(f"the fake impl of {op} gives {y.dtype} of size {list(y.shape)}, the operator {x.dtype} of size "
                               f"{list(x.shape)}")
