"""Parameters as one vector and back (torch.nn.utils.convert_parameters)."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._engine.tensor import TensorBase
from ..._functions import cat
from ..._tensor.printing import typename

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """All elements of `parameters` as one vector, one parameter after the other."""
    return cat([param.view(-1) for param in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Make the parameters views of slices of `vec`."""
    if not isinstance(vec, TensorBase):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    vector: Any = vec
    start = 0
    for param in parameters:
        stop = start + param.numel()
        param.data = vector[start:stop].view_as(param).data
        start = stop
