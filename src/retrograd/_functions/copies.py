"""Copies, casts, and elements replaced from outside the graph: clone, copy_, to, float, new_zeros, ..."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine import names
from .._engine.tensor import TensorBase, bump, wants_grad, wrap
from .._engine.views import OVERLAP, apart, repeats
from .._engine.warn import warn, warn_discarded
from .._missing import dtypes as more
from .._rules import cast, index
from .._rules import create as ops
from .._tensor import Tensor, dtypes
from .._tensor.conversion import conversion
from .._tensor.size import Size
from . import create, fromdata, meta
from .arguments import refused
from .memory import shown
from .parsing import StorageBase, refuse_edit

NAMED = {name.removeprefix("torch.") for name in names.TENSOR.values()}       # FloatTensor, ...
OPTIONS = (
    "TensorOptions(dtype={}, device=cpu, layout=Strided, requires_grad=false (default), pinned_memory=false (default), "
    "memory_format=(nullopt))")


def clone(input: Any, *, memory_format: Any = dtypes.preserve_format) -> Any:
    """A copy that stays in the graph."""
    if memory_format is dtypes.contiguous_format:
        return ops.contiguous_copy(input)
    if memory_format is not dtypes.preserve_format:
        dtypes.check_format(memory_format, input.array.ndim)
    return ops.clone(input)


def copy_(input: Any, other: Any, non_blocking: bool = False) -> Any:
    """other, cast and broadcast, into this memory; -> itself."""
    if not isinstance(other, (TensorBase, bool, int, float, complex)):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
    have: Any = other.array.shape if isinstance(other, TensorBase) else ()
    want = input.array.shape
    if len(have) > len(want) or any(a not in (1, b) for a, b in zip(have[::-1], want[::-1])):
        refuse_edit(input, [other])
        if repeats(input.array):
            raise RuntimeError(OVERLAP)
        apart(input, other)  # type: ignore[arg-type]  # a number has no dims
        if not broadcasts(have, want):
            raise mismatch(want, have)
        raise RuntimeError(
            f"output with shape {list(want)} doesn't match the broadcast shape {list(np.broadcast_shapes(have, want))}")
    if isinstance(other, TensorBase):
        warn_discarded(other.array.dtype, input.array.dtype)
    return index.copy_(input, other)


def broadcasts(a: Any, b: Any) -> bool:
    """Do the shapes go together?"""
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        return False
    return True


def mismatch(want: Any, have: Any) -> RuntimeError:
    """The error for a shape `have` that does not go into a shape `want`."""
    n = max(len(have), len(want))
    for i in range(1, min(len(have), len(want)) + 1):
        if want[-i] != have[-i] and 1 not in (want[-i], have[-i]):
            return RuntimeError(
                f"The size of tensor a ({want[-i]}) must match the size of tensor b ({have[-i]}) at non-singleton "
                f"dimension {n - i}")
    return RuntimeError(f"output with shape {list(want)} doesn't match the broadcast shape {list(have)}")


def fill_(input: Any, value: Any) -> Any:
    """Every element becomes `value`."""
    if isinstance(value, TensorBase):
        if value.array.ndim:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {value.array.ndim} dimensions.")
        return index.fill_(input, value)
    if not isinstance(value, (bool, int, float, complex, np.generic)):
        raise refused("fill_", (value,), "(Tensor value)", "(Number value)")
    dtypes.check_long(value)
    index.check_fill(value, input.array.dtype, input.array.size)
    return ops.fill_(input, value)


def zero_(input: Any) -> Any:
    """Every element becomes 0."""
    return ops.zero_(input)


def apply_(input: Any, callable: Callable[[Any], Any]) -> Any:
    """Each element becomes callable(element); slow, and unknown to autograd."""
    if wants_grad(input):
        raise RuntimeError("Can't call apply_() on Variable that requires grad. Use var.detach().apply_() instead.")
    input.array[...] = np.vectorize(callable, otypes=[object])(input.array) if input.array.size else input.array
    bump(input)
    return input


def map_(input: Any, other: Any, callable: Callable[[Any, Any], Any]) -> Any:
    """Each element becomes callable(element, that of other); slow, and unknown to autograd."""
    if wants_grad(input) or wants_grad(other):
        raise RuntimeError("Can't call map_() on Variable that requires grad. Use var.detach().map_() instead.")
    input.array[...] = np.vectorize(callable, otypes=[object])(input.array, other.array)
    bump(input)
    return input


def map2_(input: Any, x: Any, y: Any, callable: Callable[[Any, Any, Any], Any]) -> Any:
    """Each element becomes callable(element, that of x, that of y); slow, and unknown to autograd."""
    if any(map(wants_grad, (input, x, y))):
        raise RuntimeError("Can't call map2_() on Variable that requires grad. Use var.detach().map2_() instead.")
    x, y = x.expand(input.shape), y.expand(input.shape)
    input.array[...] = np.vectorize(callable, otypes=[object])(input.array, x.array, y.array)
    bump(input)
    return input


def to(input: Any, *args: Any, **kwargs: Any) -> Any:
    """In another dtype: to(dtype), to(tensor), to(device[, dtype]).  Itself when nothing changes and not copy."""
    layout = kwargs.get("memory_format")
    try:
        dtype, copy = conversion(args, kwargs)
    except dtypes.OnMeta:
        given = [x.numpy for x in (*args, *kwargs.values()) if isinstance(x, dtypes.dtype)]
        return meta.made(input.array.shape, given[0] if given else input.array.dtype)
    if layout is not None:
        dtypes.check_format(layout, input.array.ndim)
    want = None if dtype is None else dtypes.to_numpy(dtype, "to")
    if want is not None:
        warn_discarded(input.array.dtype, want)
    if want is None or want == input.array.dtype:
        out = cast.cast(input, input.array.dtype) if copy else input
    else:
        out = cast.cast(input, want)
    return out.contiguous() if layout is dtypes.contiguous_format else out


def _caster(name: str, dtype: Any) -> Any:
    def method(input: Any, *, memory_format: Any = None) -> Any:
        if memory_format is not None:
            return to(input, dtype, memory_format=memory_format)
        have, want = input.array.dtype, dtypes.to_numpy(dtype, "to")
        if want == have:
            return input
        warn_discarded(have, want)
        return cast.cast(input, want)
    method.__name__ = name
    method.__doc__ = f"In {dtype.name}{' (package ml_dtypes)' if name == 'bfloat16' else ''}."
    return method


for _name, _dtype in {
    "double": dtypes.float64, "float": dtypes.float32, "half": dtypes.float16, "bfloat16": dtypes.bfloat16,
    "long": dtypes.int64, "int": dtypes.int32, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8,
    "bool": dtypes.bool, "cfloat": more.complex64, "cdouble": more.complex128,
}.items():
    globals()[f"T_{_name}"] = _caster(_name, _dtype)


def T_type(input: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Without argument the name, such as 'torch.FloatTensor'; else the tensor cast to it."""
    if dtype is None:
        return names.TENSOR[input.array.dtype.name]
    if isinstance(dtype, str):
        called, dtype = dtype, next((getattr(dtypes, n) for n, long in names.TENSOR.items() if long == dtype), None)
    elif isinstance(dtype, type):                                   # torch.FloatTensor, ...
        called = f"torch.cuda.{dtype.__name__}" if getattr(dtype, "is_cuda", False) is True else dtype.__name__
        dtype = dtypes.get_default_dtype() if dtype is Tensor else getattr(dtype, "dtype", None)
    elif isinstance(dtype, dtypes.dtype):
        called = ""
    else:
        raise TypeError("dtype must be a type, str, or dtype object")
    if called.startswith("torch.cuda.") and called.removeprefix("torch.cuda.") in NAMED:
        raise RuntimeError("Cannot initialize CUDA without ATen_cuda library. retrograd computes on the CPU: leave the "
                           "type out, or choose it with torch.cuda.is_available().")
    if not isinstance(dtype, dtypes.dtype):
        raise ValueError(f"invalid type: '{called}'")
    return input.to(dtype)


T_type.__name__ = "type"


def type_as(input: Any, other: Any) -> Any:
    """Cast to the dtype of `other`."""
    return input.to(other.dtype)


def cpu(input: Any, *, memory_format: Any = None) -> Any:
    """Itself."""
    dtypes.check_format(memory_format, input.array.ndim)
    return input


def cuda(input: Any, device: Any = None, non_blocking: Any = False) -> Any:
    """RuntimeError: tensors live on the CPU."""
    dtypes.check_device("cuda")


def new(
    input: Any, *args: Any, size: Any = None, data: Any = None, other: Any = None, storage: Any = None, device: Any = None,
) -> Any:
    """A tensor of input's dtype: new(sizes...) or new(size=...), uninitialized, or new(data), of a sequence, an
    array, a tensor (other=) or a storage (storage=), whose memory it shares.  Older than new_tensor and new_empty, which are
    clearer: new(2) has two elements, new([2]) one.
    """
    dtypes.check_device(device)
    if not args:
        args = (tuple(size) if size is not None else ()) or tuple(x for x in (data, other, storage) if x is not None)
    if not args:
        return create.empty(0, dtype=input.dtype)
    first: Any = args[0]
    if len(args) > 1 or isinstance(first, (int, np.integer, Size)):
        for i, n in enumerate(args):
            if len(args) > 1 and not isinstance(n, (int, np.integer)):
                raise TypeError(f"new(): argument 'size' failed to unpack the object at pos {i + 1} with error "
                                f'"type must be tuple of ints,but got {type(n).__name__}"')
        return create.empty(*args, dtype=input.dtype)
    if isinstance(first, StorageBase):
        return wrap(shown(first, input.dtype))
    if isinstance(first, TensorBase):
        if first.array.dtype != input.array.dtype:
            have, came = (OPTIONS.format(names.C[x.array.dtype.name]) for x in (input, first))
            raise TypeError(f"expected {have} (got {came})")
        return wrap(first.array)
    if isinstance(first, str) or not hasattr(first, "__len__"):
        raise TypeError(f"new(): invalid data type '{type(first).__name__}'" if isinstance(first, str) else
                        f"new(): data must be a sequence (got {type(first).__name__})")
    return fromdata.build(first, input.dtype, False)


def new_tensor(input: Any, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: Any = False) -> Any:
    """A copy of data, in input's dtype unless said otherwise."""
    if not isinstance(data, TensorBase):
        return fromdata.tensor(data, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad)
    dtypes.check_device(device)
    warn(fromdata.COPY_CONSTRUCT.format("tensor.new_tensor"))
    return fromdata.build(data, dtype or input.dtype, requires_grad)


def new_zeros(input: Any, *size: Any, dtype: Any = None, device: Any = None, requires_grad: Any = False) -> Any:
    """Zeros of the given size, in input's dtype unless said otherwise."""
    dtypes.check_device(device)
    return create.zeros(*size, dtype=dtype or input.dtype, requires_grad=requires_grad)


def new_ones(input: Any, *size: Any, dtype: Any = None, device: Any = None, requires_grad: Any = False) -> Any:
    """Ones of the given size, in input's dtype unless said otherwise."""
    dtypes.check_device(device)
    return create.ones(*size, dtype=dtype or input.dtype, requires_grad=requires_grad)


def new_empty(input: Any, *size: Any, dtype: Any = None, device: Any = None, requires_grad: Any = False) -> Any:
    """Uninitialized, of the given size, in input's dtype unless said otherwise."""
    dtypes.check_device(device)
    return create.empty(*size, dtype=dtype or input.dtype, requires_grad=requires_grad)


def new_full(input: Any, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None,
             requires_grad: Any = False) -> Any:
    """fill_value everywhere, of the given size, in input's dtype unless said otherwise."""
    dtypes.check_device(device)
    return create.full(size, fill_value, dtype=dtype or input.dtype, requires_grad=requires_grad)
