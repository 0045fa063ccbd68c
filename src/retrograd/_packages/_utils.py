"""The helpers of torch._utils that libraries import."""
from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from retrograd._functions import cat, tensor
from retrograd._missing import late_names
from retrograd._tensor import dtypes

late_names(__name__)


def _flatten_dense_tensors(tensors: Any) -> Any:
    """All elements in one dimension, tensor by tensor."""
    return cat([t.reshape(-1) for t in tensors]) if len(tensors) else tensor([])


def _unflatten_dense_tensors(flat: Any, tensors: Any) -> tuple[Any, ...]:
    """`flat` as views of the tensors' shapes."""
    return tuple(part.view_as(t) for part, t in zip(flat.split([t.numel() for t in tensors]), tensors))


def _take_tensors(tensors: Any, size_limit: int) -> Iterator[list[Any]]:
    """Lists of tensors of one dtype, of more than size_limit bytes but for the last."""
    kept: dict[Any, tuple[list[Any], int]] = {}
    for t in tensors:
        size = t.numel() * t.element_size()
        bucket, filled = kept.setdefault(t.type(), ([], 0))
        if bucket and filled + size > size_limit:
            yield bucket
            bucket, filled = [], 0
        bucket.append(t)
        kept[t.type()] = bucket, filled + size
    for bucket, _ in kept.values():
        if bucket:
            yield bucket


def _reorder_tensors_as(tensors: Any, ordered_tensors: Any) -> tuple[Any, ...]:
    """`tensors`, in the order in which their dtypes stand in ordered_tensors."""
    by_type: dict[Any, list[Any]] = {}
    for t in tensors:
        by_type.setdefault(t.type(), []).append(t)
    queues = {kind: iter(found) for kind, found in by_type.items()}
    return tuple(next(queues[t.type()]) for t in ordered_tensors)


def _element_size(dtype: Any) -> int:
    """Bytes an element."""
    if not isinstance(dtype, dtypes.dtype):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    return int(dtype.itemsize)


def _get_available_device_type() -> None:
    """None: no device but the CPU."""


def _get_device_module(device_type: str) -> Any:
    """torch.cpu for "cpu", as PyTorch has a module of each kind of device."""
    try:
        return import_module(f"retrograd.{device_type}")
    except ImportError:
        raise RuntimeError(
            f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'.") from None
