"""torch.ao.quantization: the marks that models which can be quantized carry.  Nothing is quantized."""
from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

from retrograd._functions import tensor
from retrograd._missing import late_names
from retrograd._tensor.dtypes import uint8
from retrograd.nn.module import Module

__all__ = ["DeQuantStub", "FakeQuantizeBase", "ObserverBase", "QuantStub"]
late_names(__name__)


class QuantStub(Module):
    """Where a quantized model would quantize its input; otherwise the identity."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        return x


class DeQuantStub(QuantStub):
    """Where it would dequantize its output; otherwise the identity."""


class _PartialWrapper:
    """A class with some of its arguments; with_args adds more."""

    def __init__(self, p: Any) -> None:
        self.p = p

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.p(*args, **keywords)

    def __repr__(self) -> str:
        return repr(self.p)

    def with_args(self, **kwargs: Any) -> _PartialWrapper:
        return _PartialWrapper(partial(self, **kwargs))


def _with_args(cls_or_self: Any, /, **kwargs: Any) -> _PartialWrapper:
    return _PartialWrapper(partial(cls_or_self, **kwargs))


class ObserverBase(ABC, Module):
    """What observers of a program's own derive from: they watch values and choose a scale."""

    def __init__(self, dtype: Any, is_dynamic: bool = False) -> None:
        super().__init__()
        self.dtype, self.is_dynamic = dtype, is_dynamic

    @abstractmethod
    def forward(self, x: Any) -> Any: ...

    @abstractmethod
    def calculate_qparams(self, **kwargs: Any) -> Any: ...

    with_args = classmethod(_with_args)


class FakeQuantizeBase(ABC, Module):
    """What modules of a program's own derive from that round values as a quantized model would."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("fake_quant_enabled", tensor([1], dtype=uint8))
        self.register_buffer("observer_enabled", tensor([1], dtype=uint8))

    @abstractmethod
    def forward(self, x: Any) -> Any: ...

    @abstractmethod
    def calculate_qparams(self, **kwargs: Any) -> Any: ...

    def enable_fake_quant(self, enabled: bool = True) -> None:
        self.fake_quant_enabled[0] = int(enabled)

    def disable_fake_quant(self) -> None:
        self.enable_fake_quant(False)

    def enable_observer(self, enabled: bool = True) -> None:
        self.observer_enabled[0] = int(enabled)

    def disable_observer(self) -> None:
        self.enable_observer(False)

    with_args = classmethod(_with_args)
