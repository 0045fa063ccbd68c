"""torch.ops: operators by namespace, those of torch.library and, under aten, those that torch has."""
from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from retrograd._engine.tensor import wants_grad
from retrograd._functions.autocast import is_autocast_enabled
from retrograd._functions.meta import is_meta
from retrograd._library.nodes import OPERATORS
from retrograd._library.schema import FunctionSchema
from retrograd._missing.lacks import why
from retrograd._rules import shape
from retrograd._tensor import Tensor, dtypes
from retrograd.amp.autocast_mode import autocast
from retrograd.autograd.function import Function
from retrograd.autograd.grad_mode import is_grad_enabled, no_grad
from retrograd.overrides import handle_torch_function, has_torch_function
from retrograd.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from retrograd.utils.hooks import look

BELOW = threading.local()                       # .on: the kernel that knows nothing of derivatives is asked
BACKENDS = ("CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "default")
OVERLOADS = frozenset("""default Tensor Scalar int dim out self other Tensor_Scalar Scalar_Tensor Tensor_Tensor dim_IntList
    IntList_out Tensor_mode Scalar_mode using_ints vec names stable Tensor_out Scalar_out grad_input""".split()).union(
        path.partition(".")[2] for path in OPERATORS.values())
# Operators within functions of torch's, and on GPUs: they can be named, as policies of checkpoints do.
WITHIN = frozenset(path.partition(".")[0] for path in OPERATORS.values()).union("""
    _scaled_dot_product_attention_math _scaled_dot_product_cudnn_attention _scaled_dot_product_efficient_attention
    _scaled_dot_product_flash_attention native_dropout native_batch_norm""".split())


@contextmanager
def below_autograd() -> Iterator[None]:
    """Within it, operators run their kernels of the CPU without derivatives."""
    before = getattr(BELOW, "on", False)
    BELOW.on = True
    try:
        with no_grad():
            yield
    finally:
        BELOW.on = before


class Entry:
    """One registered operator: its schema, its kernels by dispatch key, its derivative."""

    def __init__(self, schema: FunctionSchema) -> None:
        self.schema = schema
        self.kernels: dict[str, Callable[..., Any]] = {}
        self.fake: Callable[..., Any] | None = None
        self.backward: Callable[..., Any] | None = None
        self.setup_context: Callable[..., Any] | None = None
        self.vmap: Callable[..., Any] | None = None
        self.autocast: dict[str, Any] = {}      # device type -> the dtype that arguments are cast to
        self.disabled: set[str] = set()         # keys of kernels that custom's own function replaces for now
        self.custom: Any = None                 # its CustomOpDef
        self.function: type[Function] | None = None

    def kernel(self) -> Callable[..., Any] | None:
        """What computes on the CPU."""
        key = next((key for key in BACKENDS if key in self.kernels), None)
        return None if key is None else self.custom._init_fn if key in self.disabled else self.kernels[key]

    def call(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if "cpu" in self.autocast and is_autocast_enabled("cpu"):
            with autocast("cpu", enabled=False):
                return self.call(tree_map(partial(_cast, self.autocast["cpu"]), args), kwargs)
        for a, value in zip(self.schema.arguments, args):
            if a.is_write and isinstance(value, Tensor):
                import_module("retrograd.autograd.graph").increment_version(value)
        if not getattr(BELOW, "on", False):
            for key in ("Autograd", "AutogradCPU", "CompositeImplicitAutograd"):
                if key in self.kernels:
                    return self.kernels[key](*args, **kwargs)
            given = tree_leaves((args, kwargs))
            look(given)
            wanted = is_grad_enabled() and not self.schema.is_mutable and any(
                isinstance(x, Tensor) and wants_grad(x) for x in given)
            if wanted and (self.backward is not None or self.custom is not None):
                return self.derivable(args, kwargs)
            if wanted:
                return self.warned(self.run(args, kwargs))
        if self.custom is None:
            return self.run(args, kwargs)
        with no_grad():
            return self.run(args, kwargs)

    def run(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if any(is_meta(x) for x in tree_leaves((args, kwargs))):
            return self.on_meta(args, kwargs)
        kernel = self.kernel()
        if kernel is None and "CompositeImplicitAutograd" in self.kernels:
            kernel = self.kernels["CompositeImplicitAutograd"]
        if kernel is None:
            raise NotImplementedError(
                f"Could not run '{self.schema.name}' with arguments from the 'CPU' backend. This could be because the operator "
                "doesn't exist for this backend, or was omitted during the selective/custom build process (if using custom "
                "build). If you are a Facebook employee using PyTorch on mobile, please visit https://fburl.com/ptmfixes for "
                f"possible resolutions. '{self.schema.name}' is only available for these backends: "
                f"[{', '.join(self.kernels)}].")
        found = kernel(*args, **kwargs)
        if self.custom is not None and not self.schema.is_mutable:
            self.check_aliases((args, kwargs), found)
        return found

    def on_meta(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The result for tensors without memory: kernels of the CPU are not asked."""
        made = self.fake or self.kernels.get("Meta")
        name = self.schema.name
        if made is None and self.custom is not None:
            if self.schema.is_mutable and not self.schema.returns:
                return None
            raise RuntimeError(
                f"There was no fake impl registered for {self.custom}. This is necessary for torch.compile/export/fx tracing "
                f"to work. Please use `{self.custom._init_fn.__name__}.register_fake` to add an fake impl.")
        composite = (self.kernels.get(key) for key in (*BACKENDS[1:], "CompositeImplicitAutograd"))
        made = made or next((kernel for kernel in composite if kernel is not None), None)
        if made is None:
            raise NotImplementedError(
                f"{name}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel "
                "registered. You may have run into this message while using an operator with PT2 compilation APIs (torch.compile/"
                "torch.export); in order to use this operator with those APIs you'll need to add a fake impl. Please see the "
                "following for next steps:  https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html")
        fake = next((x.fake_mode for x in tree_leaves((args, kwargs)) if hasattr(x, "fake_mode")), None)
        FAKING.append(FakeImplCtx(dotted(self.schema), fake))
        try:
            with nullcontext() if fake is None else fake:
                return made(*args, **kwargs)
        finally:
            FAKING.pop()

    def check_aliases(self, inputs: Any, outputs: Any) -> None:
        taken = {x.untyped_storage().data_ptr() for x in tree_leaves(inputs) if isinstance(x, Tensor) and x.numel()}
        for y in tree_leaves(outputs):
            if isinstance(y, Tensor) and y.numel():
                place = y.untyped_storage().data_ptr()
                if place in taken:
                    name = self.schema.name.rpartition("::")[2]
                    raise RuntimeError(
                        f"{name} (with implementation in {self.custom._init_fn.__module__}): The output of this custom operator "
                        "(1) must not also be an input to this custom operator and (2) may not alias any inputs to this custom "
                        "operator or other returns. The most common way to trigger this error is if we have y = custom_op(x) and "
                        "y and x are the same Tensor. Please instead return a clone of the offending output tensor(s) (e.g. "
                        "return x.clone()) or refactor the custom operator to not return y.")
                taken.add(place)

    def warned(self, found: Any) -> Any:
        def tell(_: Any) -> None:
            warnings.warn(
                f"{self.schema.name}: an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop "
                "through it. This may lead to silently incorrect behavior. This behavior is deprecated and will be removed in a "
                "future version of PyTorch. If your operator is differentiable, please ensure you have registered an autograd "
                "kernel to the correct Autograd key (e.g. DispatchKey::Autograd, DispatchKey::CompositeImplicitAutograd). If "
                "your operator is not differentiable, or to squash this warning and use the previous behavior, please register "
                "torch::CppFunction::makeFallthrough() to DispatchKey::Autograd.",
                stacklevel=2)
        for y in tree_leaves(found):
            if isinstance(y, Tensor) and wants_grad(y):
                y.register_hook(tell)
        return found

    def derivable(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The result, of a node that calls the registered derivative."""
        flat, form = tree_flatten(args)
        if self.function is None:
            self.function = self.made()
        forms: list[Any] = []                   # of the result
        return tree_unflatten(list(self.function.apply(form, kwargs, forms, *flat)), forms[0])

    def made(self) -> type[Function]:
        entry = self

        def forward(ctx: Any, form: Any, kwargs: dict[str, Any], forms: list[Any], *flat: Any) -> Any:
            args = tree_unflatten(list(flat), form)
            ctx._form = form
            with below_autograd():
                found = entry.run(args, kwargs)
            if entry.setup_context is not None:
                inputs, names = entry.schema.filled(args, kwargs)
                more = {"keyword_only_inputs": names} if names else {}
                entry.setup_context(ctx=ctx, inputs=inputs, output=found, **more)
            leaves, ctx._out = tree_flatten(found)
            forms.append(ctx._out)
            return tuple(leaves)

        def backward(ctx: Any, *grads: Any) -> Any:
            if entry.backward is None:
                raise RuntimeError(
                    f"Trying to backward through {dotted(entry.schema)} but no autograd formula was registered. Please use "
                    "register_autograd to add one.")
            of_results = tree_unflatten(list(grads), ctx._out)
            several = isinstance(of_results, tuple)
            found = entry.backward(_Context(ctx), *(of_results if several else [of_results]))
            found = found if isinstance(found, tuple) else (found,)
            count = ctx._form.num_children
            if len(found) < count or any(g is not None for g in found[count:]):     # None for what was left out
                raise RuntimeError(f"function {made.__name__}Backward returned an incorrect number of gradients (expected "
                                   f"{count}, got {len(found)})")
            flat: list[Any] = []
            for g, child in zip(found, ctx._form.children_specs):
                flat += [g] if child.is_leaf() else [None] * child.num_leaves if g is None else list(g)
            return None, None, None, *flat

        namespace, _, name = self.schema.name.partition("::")
        made: Any = type(Function)(  # type: ignore[misc]
            f"GeneratedBackwardFor_{namespace}_{name}_{self.schema.overload_name or 'default'}", (Function,),
            {"forward": staticmethod(forward), "backward": staticmethod(backward)})
        kind: type[Function] = made
        return kind


class _Context:
    """ctx as the operator's own derivative sees it: of its arguments alone."""

    def __init__(self, ctx: Any) -> None:
        object.__setattr__(self, "_ctx", ctx)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ctx, name)
        if name != "needs_input_grad":
            return found
        flat = iter(found[3:])              # after form, kwargs and forms
        return tuple(next(flat) if child.is_leaf() else [next(flat) for _ in range(child.num_leaves)]
                     for child in self._ctx._form.children_specs)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._ctx, name, value)


class FakeImplCtx:
    """What get_ctx() gives within a fake function."""

    def __init__(self, op: str, mode: Any) -> None:
        self._op, self._fake_mode = op, mode

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> NoReturn:
        """DynamicOutputShapeException: a size that depends on values has no number here."""
        raise import_module("retrograd._subclasses.fake_tensor").DynamicOutputShapeException(self._op)

    def create_unbacked_symint(self, *, min: int = 2, max: int | None = None) -> NoReturn:
        """new_dynamic_size, by its older name."""
        warnings.warn(
            "`create_unbacked_symint` is deprecated, please use `new_dynamic_size` instead", FutureWarning, stacklevel=2)
        self.new_dynamic_size(min=min, max=max)


FAKING: list[FakeImplCtx] = []


def _cast(dtype: Any, x: Any) -> Any:
    return x.to(dtype) if isinstance(x, Tensor) and x.is_floating_point() and x.dtype is not dtypes.float64 else x


def dotted(schema: FunctionSchema) -> str:
    return schema.name.replace("::", ".") + "." + (schema.overload_name or "default")


registry: dict[str, dict[str, Entry]] = {}      # {"mylib::op": {overload: entry}}


class OpOverload:
    """One overload of an operator: torch.ops.aten.add.Tensor"""

    def __init__(self, packet: OpOverloadPacket, overload: str, entry: Entry | None) -> None:
        self._overloadpacket = packet
        self._overloadname = overload
        self._qualified_op_name = packet._qualified_op_name
        self._entry = entry
        self._schema = None if entry is None else entry.schema
        self._namespace, self._opname = self._qualified_op_name.split("::")
        self._name = self._qualified_op_name + (f".{overload}" if overload != "default" else "")
        self.__name__ = self.__qualname__ = f"{self._opname}.{overload}"
        self.__module__ = packet.__module__

    @property
    def namespace(self) -> str:
        """'aten'"""
        return self._namespace

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """The operator."""
        return self._overloadpacket

    def name(self) -> str:
        """'aten::add.Tensor'"""
        return self._name

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if has_torch_function(relevant := tuple(tree_leaves((args, kwargs)))):
            return handle_torch_function(self, relevant, *args, **kwargs)
        if self._entry is None:
            op: Any = self._overloadpacket._op
            return op(*args, **{"input" if k == "self" else k: v for k, v in kwargs.items()})
        return self._entry.call(*self._entry.schema.bind(args, kwargs))

    def redispatch(self, /, keyset: Any, *args: Any, **kwargs: Any) -> Any:
        """The operator's kernel, without derivatives."""
        with below_autograd():
            return self(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self._namespace}.{self._opname}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self._namespace}.{self._opname}', overload='{self._overloadname}')>"

    def __hash__(self) -> int:
        return hash(self._name)

    def __deepcopy__(self, memo: Any) -> OpOverload:
        return self

    def __reduce__(self) -> Any:
        return _overload, (self._namespace, self._opname, self._overloadname)


class OpOverloadPacket:
    """An operator: torch.ops.aten.add; calling it chooses the overload."""

    def __init__(self, name: str, op: Callable[..., Any] | None) -> None:
        namespace, opname = name.split("::")
        self._qualified_op_name, self._op = name, op
        self.__name__ = self.__qualname__ = opname
        self.__module__ = f"retrograd._ops.{namespace}"
        self._made: dict[str, OpOverload] = {}

    def overloads(self) -> list[str]:
        """Their names, of a registered operator."""
        return [name or "default" for name in registry.get(self._qualified_op_name, {"": None})]

    def __getattr__(self, key: str) -> OpOverload:
        if key.startswith("__") or key == "_made":
            raise AttributeError(key)
        if key not in self._made:
            entries = registry.get(self._qualified_op_name, {})
            entry = entries.get("" if key == "default" else key)
            if entry is None and (self._op is None or key not in OVERLOADS):
                raise AttributeError(f"The underlying op of '{self}' has no overload name '{key}'")
            self._made[key] = OpOverload(self, key, entry)
        return self._made[key]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if has_torch_function(relevant := tuple(tree_leaves((args, kwargs)))):
            return handle_torch_function(self, relevant, *args, **kwargs)
        return self._chosen(args, kwargs)(*args, **kwargs)

    def _chosen(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OpOverload:
        """The overload for these arguments.  RuntimeError if none fits."""
        if self._op is not None:
            return self.default
        names = self.overloads()
        errors = []
        for name in names:
            overload: OpOverload = getattr(self, name)
            if len(names) == 1:
                return overload
            try:
                overload._schema.bind(args, kwargs)  # type: ignore[union-attr]
            except RuntimeError as e:
                errors.append(str(e))
                continue
            return overload
        raise RuntimeError("\n".join(errors))

    def __str__(self) -> str:
        return self._qualified_op_name.replace("::", ".")

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __hash__(self) -> int:
        return hash(self._qualified_op_name)

    def __deepcopy__(self, memo: Any) -> OpOverloadPacket:
        return self

    def __reduce__(self) -> Any:
        return getattr, (getattr(ops, self._qualified_op_name.split("::")[0]), self.__name__)


def _overload(namespace: str, name: str, overload: str) -> Any:
    return getattr(getattr(getattr(ops, namespace), name), overload)


class _OpNamespace:
    """torch.ops.NAME"""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = f"torch.ops.{name}"
        self.__file__ = "torch.ops"

    def __getattr__(self, key: str) -> OpOverloadPacket:
        if key.startswith("__"):
            raise AttributeError(f"Invalid attribute '{key}' for '_OpNamespace' '{self.name}'")
        name = f"{self.name}::{key}"
        op = _aten(key) if self.name == "aten" and name not in registry else None
        if op is None and name not in registry:
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{key}'")
        found = OpOverloadPacket(name, op)
        setattr(self, key, found)
        return found

    def __dir__(self) -> list[str]:
        return [name.split("::")[1] for name in registry if name.startswith(f"{self.name}::")]

    def __repr__(self) -> str:
        return f"<module 'torch.ops.{self.name}' from 'torch.ops'>"

    def __reduce__(self) -> Any:
        return getattr, (ops, self.name)


def _to_copy(self: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None,
             non_blocking: bool = False, memory_format: Any = None) -> Any:
    """self.to(...), always a copy."""
    return self.to(dtype=dtype or self.dtype, device=device, non_blocking=non_blocking, copy=True)


def _slice(self: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """self[start:end:step] along dim."""
    return self[(slice(None),) * (dim % max(self.dim(), 1)) + (slice(start, end, step),)]


def _index(self: Any, indices: Any) -> Any:
    """self[indices], where None is a whole dimension."""
    return self[tuple(slice(None) if index is None else index for index in indices)]


def _convolution_backward(grad_output: Any, input: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any,
                          transposed: bool, output_padding: Any, groups: int, output_mask: Any) -> Any:
    """The gradients of input, weight and bias of a convolution that the mask asks for, None for the others."""
    torch: Any = import_module("retrograd")
    bias = input.new_zeros(weight.shape[1] * groups if transposed else weight.shape[0])
    given = [x.detach().requires_grad_() for x in (input, weight, bias)]
    with torch.enable_grad():
        y = torch.convolution(*given, stride, padding, dilation, transposed, output_padding, groups)
    found = iter(torch.autograd.grad(y, [x for x, wanted in zip(given, output_mask) if wanted], grad_output))
    return tuple(next(found) if wanted else None for wanted in output_mask)


def _safe_softmax(self: Any, dim: int, dtype: Any = None) -> Any:
    """softmax, but zeros where a whole row is masked by -inf."""
    torch: Any = import_module("retrograd")
    masked = (self == float("-inf")).all(dim, keepdim=True)
    return torch.softmax(self.masked_fill(masked, 0.0), dim, dtype=dtype).masked_fill(masked, 0.0)


# Operators that torch has no function for.
INTERNAL: dict[str, Any] = {
    "_to_copy": _to_copy, "convolution_backward": _convolution_backward,
    "_pin_memory": Tensor.pin_memory, "alias": shape.alias, "slice": _slice, "index": _index,
    "_safe_softmax": _safe_softmax}


def _refused(name: str, *args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(f"aten::{name}: {why(name)}")


def _within(name: str, *args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(
        f"aten::{name} can be named, but not called: call the function of torch or torch.nn.functional that uses it")


def _aten(name: str) -> Any:
    """What torch has under an operator's name: a function, or a method."""
    torch: Any = import_module("retrograd")
    if name in INTERNAL:
        return INTERNAL[name]
    if why(name) is not None:
        return partial(_refused, name)
    for place in ("linalg", "special"):
        if name.startswith(f"{place}_"):
            return getattr(getattr(torch, place), name.removeprefix(f"{place}_"), None)
    for owner in (torch, Tensor, torch.nn.functional, torch._C._nn):
        found = getattr(owner, name, None)
        if callable(found) and not isinstance(found, type):
            return found
    return partial(_within, name) if name in WITHIN else None


class _Ops:
    """torch.ops"""

    __name__ = "torch.ops"

    def __init__(self) -> None:
        self.loaded_libraries: set[str] = set()

    def __getattr__(self, name: str) -> _OpNamespace:
        if name.startswith("__"):
            raise AttributeError(name)
        found = _OpNamespace(name)
        setattr(self, name, found)
        return found

    def load_library(self, path: str) -> None:
        """OSError: operators compiled for PyTorch cannot be loaded."""
        raise OSError(f"Could not load this library: {path}\noperators compiled for PyTorch need PyTorch")

    def __repr__(self) -> str:
        return "<module 'torch.ops' from '_ops.py'>"

    def __reduce__(self) -> str:
        return "ops"


ops = _Ops()
