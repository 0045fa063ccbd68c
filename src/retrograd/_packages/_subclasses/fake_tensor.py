"""Fake tensors: shapes, dtypes and a device without memory.  They are tensors of the device meta that name another one."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from retrograd._functions import meta
from retrograd._missing import late_names
from retrograd._tensor import DisableTorchFunctionSubclass, Tensor, dtypes
from retrograd._tensor.printing import _graph_suffix, _joined
from retrograd.overrides import TorchFunctionMode
from retrograd.utils._pytree import tree_map

late_names(__name__)
ITEM = "aten._local_scalar_dense.default"
COUNTED = {"argwhere": "nonzero", "unique": "_unique2", **{name: name for name in (
    "nonzero", "unique_consecutive", "masked_select", "bincount", "repeat_interleave")}}


@dataclass
class DataDependentOutputException(RuntimeError):
    """func reads a value, which a fake tensor does not have."""

    func: Any


@dataclass
class DynamicOutputShapeException(RuntimeError):
    """The shape of what func gives depends on values."""

    func: Any


class _OfFake(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return kind.cache_info().currsize > 0 and isinstance(x, kind())


class FakeTensor(metaclass=_OfFake):
    """What isinstance asks for: a tensor without memory."""


@cache
def kind() -> Any:
    """The class of fake tensors, which takes part in calls once it is made."""
    Meta: Any = meta.kind()

    class Fake(Meta):  # type: ignore[misc]
        fake_mode: FakeTensorMode
        fake_device: Any
        constant: Any = None                    # of torch.tensor(number), the number

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            mode = next(t.fake_mode for t in meta.inside((args, kwargs or {})) if isinstance(t, Fake))
            return mode.call(func, args, kwargs or {})

        device = property(lambda self: self.fake_device)
        is_meta = property(lambda self: self.fake_device.type == "meta")
        is_cpu = property(lambda self: self.fake_device.type == "cpu")

        def __repr__(self, *, tensor_contents: Any = None) -> str:
            suffixes = [f"size={tuple(self.array.shape)}"]
            if self.dtype is not dtypes.get_default_dtype():
                suffixes += [f"dtype={self.dtype}"]
            with DisableTorchFunctionSubclass():
                return _joined("FakeTensor(...", [*suffixes, *filter(None, [_graph_suffix(self)])], 11)

        __str__ = __repr__

        def item(self) -> Any:
            if self.constant is None:
                raise DataDependentOutputException(ITEM)
            return self.constant

        tolist = item

        def __bool__(self) -> bool:
            return bool(self.item())

        def __int__(self) -> int:
            return int(self.item())

        __index__ = __int__

        def __float__(self) -> float:
            return float(self.item())

        def __complex__(self) -> complex:
            return complex(self.item())

        def numpy(self, *, force: bool = False) -> Any:
            raise RuntimeError(".numpy() is not supported for tensor subclasses.")

        def cpu(self, *, memory_format: Any = None) -> Any:
            return self.to("cpu")

        def to(self, *args: Any, **kwargs: Any) -> Any:
            """In another dtype, on another device."""
            device = next((x for x in (*args[:1], kwargs.pop("device", None)) if isinstance(x, (str, dtypes.device))), None)
            args = tuple(x for x in args if x is not device)
            out = Meta.to(self, *args, **kwargs)
            if out is self and device is not None and dtypes.device(device) != self.fake_device:
                out = self.view_as(self)
            return self.fake_mode.faked(out, self.fake_device if device is None else dtypes.device(device))

    Fake.__name__ = Fake.__qualname__ = "FakeTensor"
    Fake.__module__ = __name__
    return Fake


class FakeTensorMode(TorchFunctionMode):
    """Context in which new tensors have no memory.

    allow_non_fake_inputs  takes ordinary tensors for fake ones; otherwise AssertionError
    Reading a value is DataDependentOutputException, a shape that depends on values DynamicOutputShapeException.
    """

    def __init__(self, *, allow_fallback_kernels: bool = True, allow_non_fake_inputs: bool = False, shape_env: Any = None,
                 static_shapes: bool | None = None, export: bool = False) -> None:
        self.allow_non_fake_inputs, self.shape_env = allow_non_fake_inputs, shape_env
        self._open: list[Any] = []

    def __enter__(self) -> FakeTensorMode:
        self._open.append(dtypes.device("meta").__enter__())        # so that factories take no memory
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._open.pop().__exit__(*error)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.call(func, args, kwargs or {})

    def from_tensor(self, tensor: Tensor, **options: Any) -> Tensor:
        """One of the tensor's shape, dtype and device, without memory."""
        x: Any = tensor
        if isinstance(x, kind()):
            return x
        return self.faked(meta.made(x.array.shape, x.array.dtype, x.requires_grad, x.array.strides), x.device)

    def faked(self, x: Any, device: Any) -> Any:
        """x, or what it contains: tensors of the device meta are fake ones of this device."""
        for t in meta.inside(x):
            if meta.is_meta(t):
                t.__class__ = kind()
                t.fake_mode, t.fake_device = self, device
        return x

    def call(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """func of fake tensors, or of none."""
        name = getattr(func, "__name__", "")
        tensors = list(meta.inside((args, kwargs)))
        fakes = [t for t in tensors if isinstance(t, kind())]
        for t in fakes:
            if t.fake_mode is not self:
                raise AssertionError(f"Mixing fake modes NYI x.fake_mode={t.fake_mode} vs self={self}")
        if len(fakes) < len(tensors):
            if not fakes:
                out = func(*args, **kwargs)
                if not any(True for _ in meta.inside(out)):
                    return out                  # a question about the tensors
            if not self.allow_non_fake_inputs:
                told = ", ".join(repr(x) if isinstance(x, kind()) else f"tensor(..., size={tuple(x.shape)})" for x in tensors)
                raise AssertionError(
                    "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with 'allow_non_fake_inputs'. "
                    f"Found in aten.{name}({told})")
            args, kwargs = tree_map(lambda x: self.from_tensor(x) if isinstance(x, Tensor) else x, (args, kwargs))
            fakes = list(meta.inside((args, kwargs)))
        if not hasattr(func, "_qualified_op_name"):
            self.check(name, args)
        if name in ("to", "cpu") and fakes:
            return getattr(args[0], name)(*args[1:], **kwargs)
        device = kwargs.pop("device", None) or (fakes[0].fake_device if fakes else dtypes.cpu)
        if fakes:
            same = [(t, t.fake_device) for t in fakes]
            out = self.faked(meta.call(func, args, kwargs), dtypes.device(device))
            for t, its in same:
                t.fake_device = its
            return out
        out = self.faked(func(*args, **kwargs), dtypes.device(device))
        if name == "tensor" and isinstance(args[0], (bool, int, float, complex)):
            out.constant = args[0]
        return out

    def check(self, name: str, args: Any) -> None:
        """The exceptions, for what needs values."""
        if name in ("item", "tolist", "is_nonzero"):
            if args[0].constant is None:
                raise DataDependentOutputException(ITEM)
        elif name in ("equal", "allclose"):
            raise DataDependentOutputException(f"aten.{name}.default")
        elif name == "where" and len(args) == 1 or name == "__getitem__" and any(
                t.array.dtype.kind == "b" and t.array.ndim for t in meta.inside(args[1:])):
            raise DynamicOutputShapeException("aten.nonzero.default")
        elif name in COUNTED and (name != "repeat_interleave" or any(True for _ in meta.inside(args[1:2])) or len(args) == 1):
            overload = "Tensor" if name == "repeat_interleave" else "default"
            raise DynamicOutputShapeException(f"aten.{COUNTED[name]}.{overload}")


def is_fake(x: Any) -> bool:
    """Is x a tensor without memory?"""
    return isinstance(x, FakeTensor)
