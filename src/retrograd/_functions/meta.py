"""Tensors on device="meta": shapes, dtypes and graphs without memory.

NOTE [Meta tensors]
A meta tensor is of a subclass of Tensor that takes part in __torch_function__, so that ordinary tensors know nothing of it.  Its
array lies in a mapping of zeros that the system has not given memory, the same for all: pages that are read are one page, and
what is written there means nothing.  A function of meta tensors computes with those zeros, which takes time and, while it runs,
memory; its result is put into the mapping.  Factories, initializers and other edits in place that nobody records do nothing.
"""
from __future__ import annotations

import math
import sys
from functools import cache
from typing import Any

import numpy as np

from .._engine.modes import grad_on
from .._engine.tensor import TensorBase, bump, wants_grad, wrap
from .._tensor import DisableTorchFunctionSubclass, Tensor, dtypes
from .._tensor.printing import _graph_suffix, _joined
from ..random import get_rng_state, set_rng_state

NO_DATA = "Cannot copy out of meta tensor; no data!"
NO_KERNEL = (
    "aten::{}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered.")
NONZERO = (
    "The register_meta function for torch.nonzero() raises unimplemented by default, as a correct data-independent "
    "implementation does not exist.")
UNABLE = {"equal", "unique", "unique_consecutive", "masked_select", "bincount"}
NORESERVE = 0x4000                              # of Linux's mmap: pages count when they are written
START = 1 << 34 if sys.maxsize > 1 << 34 else 1 << 28
_mappings: dict[bool, Any] = {}


def zeros_of(shape: Any, dtype: Any, strides: Any = None) -> Any:
    """An array in the mapping."""
    strides = strides if strides is not None and min(strides, default=0) >= 0 else None
    size = math.prod(shape) if strides is None or 0 in shape else 1 + sum(
        (n - 1) * (s // dtype.itemsize) for n, s in zip(shape, strides))
    return np.ndarray(shape, dtype, mapped(max(size, 1) * dtype.itemsize, dtype.kind in "fcV"), 0, strides)


def mapped(size: int, floats: bool) -> Any:
    """At least as many bytes; those of integers, which may be indices, are apart from those that are written."""
    found = _mappings.get(floats)
    if found is None or len(found) < size:
        import mmap

        size = max(START, 1 << size.bit_length())
        try:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE
            found = mmap.mmap(-1, size, flags)
        except (AttributeError, OSError, OverflowError, ValueError):
            found = np.zeros(size, np.uint8)    # the system gives pages when they are written
        _mappings[floats] = found
    return found


@cache
def kind() -> Any:
    """The class; until it is made, operators ask nobody."""
    class Meta(Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return call(func, args, kwargs or {})

        device = property(lambda self: dtypes.device("meta"))
        is_meta = property(lambda self: True)
        is_cpu = property(lambda self: False)

        def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
            suffixes = ["device='meta'", f"size={tuple(self.array.shape)}"]
            if self.dtype is not dtypes.get_default_dtype():
                suffixes += [f"dtype={self.dtype}"]
            head = "Parameter containing:\n" if getattr(self, "_is_param", False) else ""
            with DisableTorchFunctionSubclass():
                return head + _joined("tensor(...", [*suffixes, *filter(None, [_graph_suffix(self)])], 7)

        __str__ = __repr__

        def __format__(self, spec: str) -> str:
            return object.__format__(self, spec)

        def __contains__(self, element: object) -> bool:
            return bool((self == element).any())

        def data_ptr(self) -> int:
            return 0

        def item(self) -> Any:
            raise RuntimeError("Tensor.item() cannot be called on meta tensors")

        __bool__ = __int__ = __float__ = __index__ = __complex__ = item

        def tolist(self) -> Any:
            raise NotImplementedError(NO_DATA)

        def numpy(self, *, force: bool = False) -> Any:
            raise TypeError("can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory "
                            "first.")

        __array__ = numpy                       # type: ignore[assignment]

        def cpu(self, *, memory_format: Any = None) -> Any:
            raise NotImplementedError(NO_DATA)

        def to(self, *args: Any, **kwargs: Any) -> Any:
            """In another dtype; on another device: NotImplementedError."""
            device = args[0] if args and isinstance(args[0], (str, dtypes.device)) else kwargs.get("device")
            if isinstance(device, (str, dtypes.device)) and dtypes.device(device).type != "meta":
                raise NotImplementedError(NO_DATA)
            args = tuple(x for x in args if x is None or x is not device)
            kwargs.pop("device", None)
            with DisableTorchFunctionSubclass():
                return become(Tensor.to(self, *args, **kwargs)) if args or kwargs else self

        def __deepcopy__(self, memo: Any) -> Any:
            if id(self) not in memo:
                memo[id(self)] = out = made(self.array.shape, self.array.dtype, wants_grad(self), self.array.strides)
                out.__dict__.update(self.__dict__)
            return memo[id(self)]

        def __reduce_ex__(self, protocol: Any) -> Any:
            return _again, (tuple(self.array.shape), dtypes.of(self.array.dtype), wants_grad(self), dict(self.__dict__))

    Meta.__name__ = Meta.__qualname__ = "Tensor"
    Meta.__module__ = Tensor.__module__
    return Meta


def _again(shape: Any, dtype: Any, wants: bool, attributes: Any) -> Any:
    out = made(shape, dtype.numpy, wants)
    out.__dict__.update(attributes)
    return out


def is_meta(x: Any) -> bool:
    """Is it such a tensor?"""
    return kind.cache_info().currsize > 0 and isinstance(x, kind())


def made(shape: Any, dtype: Any, requires_grad: bool = False, strides: Any = None) -> Any:
    """A leaf."""
    out = wrap(zeros_of(shape, dtype, strides))
    out.__class__ = kind()
    out.rg = bool(requires_grad)
    return out


def become(x: Any) -> Any:
    """x, or what it contains, without memory."""
    if isinstance(x, TensorBase):
        if type(x) is Tensor:
            x.array = zeros_of(x.array.shape, x.array.dtype, x.array.strides)
            x.__class__ = kind()
        return x
    if isinstance(x, (list, tuple)):
        for y in x:
            become(y)
    return x


def create(f: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """f(*args, **kwargs), a factory, on the meta device."""
    kwargs = {key: value for key, value in kwargs.items() if key != "device"}
    return call(f, args, kwargs)


def call(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """func of meta tensors."""
    if hasattr(func, "_chosen") and func._op is None:
        func = func._chosen(args, kwargs)
    if getattr(func, "_entry", None) is not None:               # an operator of torch.library, which looks at its arguments
        return func._entry.call(*func._entry.schema.bind(args, kwargs))
    name = getattr(func, "__name__", "")
    tensors = list(inside((args, kwargs)))
    metas = [is_meta(t) for t in tensors]
    check(name, tensors, metas, args)
    device = kwargs.get("device")
    if device is not None and not dtypes.on_meta(device):       # of zeros_like, new_zeros and similar
        like = args[0].array
        return func(wrap(np.broadcast_to(np.zeros((), like.dtype), like.shape)), *args[1:], **kwargs)
    kwargs.pop("device", None)
    edits = name.endswith("_") and not name.startswith("__") or name in EDITS
    recorded = grad_on() and any(wants_grad(t) for t in tensors) and not getattr(func, "__module__", "").endswith("nn.init")
    if edits and metas and not recorded and name not in NO_EDIT:
        if metas[0]:
            bump(tensors[0])
        return None if name == "__setitem__" else tensors[0]
    drawn = get_rng_state()
    try:
        with DisableTorchFunctionSubclass():
            out = func(*args, **kwargs)
    finally:
        set_rng_state(drawn)
    return become(out)


EDITS = {"__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__"}
NO_EDIT = {"requires_grad_", "detach_", "t_", "transpose_", "squeeze_", "unsqueeze_", "resize_", "as_strided_", "swapaxes_",
           "swapdims_", "set_", "share_memory_"}


def check(name: str, tensors: list[Any], metas: list[bool], args: Any) -> None:
    """RuntimeError for tensors on two devices, and for what reads values."""
    if name in UNABLE:
        raise NotImplementedError(NO_KERNEL.format(name))
    if name in ("nonzero", "argwhere") or name in ("__getitem__", "__setitem__") and any(
            t.array.dtype.kind == "b" and t.array.ndim and m for t, m in zip(tensors[1:], metas[1:])):
        raise NotImplementedError(NONZERO)
    if name == "allclose":
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
    if name == "copy_" and len(metas) > 1 and not metas[0]:
        raise NotImplementedError(NO_DATA)
    if any(metas) and name not in ("copy_", "__getitem__", "__setitem__") and not name.endswith("__"):
        for t, meta in zip(tensors, metas):
            if meta is not metas[0] and t.array.ndim and tensors[0].array.ndim and not name.endswith("_"):
                here, there = ("meta", "cpu") if meta else ("cpu", "meta")
                raise RuntimeError(f"Tensor on device {here} is not on the expected device {there}!")


def inside(x: Any) -> Any:
    """The tensors in it."""
    if isinstance(x, TensorBase):
        yield x
    elif isinstance(x, (list, tuple)):
        for y in x:
            yield from inside(y)
    elif isinstance(x, dict):
        yield from inside(list(x.values()))
