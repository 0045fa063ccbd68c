"""torch.utils._foreach_utils: what optimizers that work on lists of tensors ask beforehand."""
from __future__ import annotations

from typing import Any, TypeAlias

from .._missing import late_names
from .._tensor import Tensor, dtypes

TensorListList: TypeAlias = list[list[Any]]
Indices: TypeAlias = list[int]
_STEPS = (dtypes.float32, dtypes.float64, dtypes.bfloat16)


late_names(__name__)
_foreach_supported_types: list[type] = [Tensor]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Devices for which PyTorch prefers lists; the CPU, which takes them, is not among them."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _device_has_foreach_support(device: Any) -> bool:
    return device.type in [*_get_foreach_kernels_supported_devices(), "cpu"]


def _has_foreach_support(tensors: list[Any], device: Any) -> bool:
    return _device_has_foreach_support(device) and all(t is None or type(t) in _foreach_supported_types for t in tensors)


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[Any]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]:
    """{(device, dtype): (the lists, of tensors whose partner in the first list is of that kind; their places)}.

    A list may be empty, and stays so; but for the first it may have None in it.
    """
    if not tensorlistlist or not tensorlistlist[0]:
        empty = "nested_tensorlist[0]" if tensorlistlist else "nested_tensorlist"
        raise RuntimeError(f"Expected !{empty}.empty() to be true, but got false.")
    first = tensorlistlist[0]
    if any(len(other) not in (0, len(first)) for other in tensorlistlist):
        raise RuntimeError(
            f"Expected lists of {len(first)} tensors or of none, but got {[len(other) for other in tensorlistlist]}")
    found: dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]] = {}
    for i, t in enumerate(first):
        if t is None:
            raise RuntimeError(
                f"Tensors of the first list of nested Tensor lists are supposed to be defined but the {i}-th Tensor is not.")
        lists, places = found.setdefault((t.device, t.dtype), ([[] for _ in tensorlistlist], []))
        for into, other in zip(lists, tensorlistlist):
            if other:
                if other[i] is not None and other[i].dtype not in (t.dtype, *_STEPS):
                    raise RuntimeError(
                        "Tensors of the same index must be on the same device and the same dtype except `step` tensors that can "
                        "be CPU and float32/64, and optimizer states that can be bfloat16 for mixed-precision training")
                into.append(other[i])
        if with_indices:
            places.append(i)
    return found
