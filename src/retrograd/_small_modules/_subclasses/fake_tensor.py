"""Fake tensors have shapes and no memory: here they are tensors of the device meta, and say so where PyTorch's say cpu."""
from __future__ import annotations

from typing import Any

from retrograd._missing import late_names
from retrograd._tensor import Tensor
from retrograd._tensor.dtypes import device

late_names(__name__)


class _OfMeta(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.is_meta


class FakeTensor(metaclass=_OfMeta):
    """What isinstance asks for: a tensor without memory."""


class FakeTensorMode:
    """Context in which new tensors have no memory; reading a value is NotImplementedError."""

    def __init__(self, *, allow_fallback_kernels: bool = True, allow_non_fake_inputs: bool = False, shape_env: Any = None,
                 static_shapes: bool | None = None, export: bool = False) -> None:
        self.allow_non_fake_inputs, self.shape_env = allow_non_fake_inputs, shape_env
        self._open: list[Any] = []

    def __enter__(self) -> FakeTensorMode:
        place = device("meta")
        place.__enter__()
        self._open.append(place)
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.pop().__exit__(*error)

    def from_tensor(self, tensor: Tensor, **options: Any) -> Tensor:
        """One of the tensor's shape and dtype, without memory."""
        made = tensor.detach().to("meta")
        return made.requires_grad_() if tensor.requires_grad else made


def is_fake(x: Any) -> bool:
    """Is x a tensor without memory?"""
    return isinstance(x, FakeTensor)
