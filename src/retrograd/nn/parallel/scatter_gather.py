"""torch.nn.parallel.scatter_gather: containers for several devices.  There are no devices to divide a tensor among."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._engine.tensor import TensorBase
from ..._missing import late_names
from ..._tensor.dtypes import check_device

late_names(__name__)
__all__ = ["gather", "scatter", "scatter_kwargs"]


def named(x: Any) -> bool:
    return isinstance(x, tuple) and hasattr(x, "_fields")


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """A copy of `inputs` for each of target_gpus, with the same contents.  AssertionError for tensors, which dim would cut."""
    if isinstance(inputs, TensorBase):
        check_device("cuda")
    if not inputs or not isinstance(inputs, (tuple, list, dict)):
        return [inputs for _ in target_gpus]
    items = inputs.items() if isinstance(inputs, dict) else inputs
    parts = zip(*(scatter(x, target_gpus, dim) for x in items))
    return [type(inputs)(*part) if named(inputs) else part if type(inputs) is tuple else type(inputs)(part) for part in parts]


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0,
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Positional and named arguments for each device."""
    found = scatter(inputs, target_gpus, dim) if inputs else []
    named_ones = scatter(kwargs, target_gpus, dim) if kwargs else []
    count = max(len(found), len(named_ones))
    return (tuple(found + [()] * (count - len(found))), tuple(named_ones + [{} for _ in range(count - len(named_ones))]))


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """`outputs` of several devices as one.  AssertionError for tensors, to join along dim on target_device: no GPU."""
    first = outputs[0]
    if isinstance(first, TensorBase):
        raise AssertionError("Gather function not implemented for CPU tensors")
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(first) != len(d) for d in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((k, gather([d[k] for d in outputs], target_device, dim)) for k in first)
    parts = (gather(part, target_device, dim) for part in zip(*outputs, strict=True))
    return type(first)._make(parts) if named(first) else type(first)(parts)
