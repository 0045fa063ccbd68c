"""Shapes and dtypes of all values of a graph, found by executing it."""
from __future__ import annotations

import traceback
from typing import Any, NamedTuple

from retrograd._tensor import Tensor
from retrograd._tensor.dtypes import channels_last, channels_last_3d, contiguous_format
from retrograd.fx.interpreter import Interpreter
from retrograd.fx.node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What is known of a tensor without its values."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Any, include_contiguity: bool = True) -> TensorMetadata:
    dims = {channels_last: 4, channels_last_3d: 5}
    formats = (contiguous_format, channels_last, channels_last_3d) if include_contiguity else ()
    kept = next((f for f in formats if dims.get(f, result.dim()) == result.dim()
                 and result.is_contiguous(memory_format=f)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), kept, False, {})


class ShapeProp(Interpreter):
    """Executes a GraphModule: propagate(*args) puts into meta["tensor_meta"] and meta["type"] of each node what its value was."""

    def __init__(self, gm: Any, fake_mode: None = None) -> None:
        super().__init__(gm)

    def run_node(self, n: Node) -> Any:
        """The value of the node, noted."""
        try:
            result = super().run_node(n)
        except Exception as e:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from e
        tensors = []

        def noted(x: Any) -> Any:
            if not isinstance(x, Tensor):
                return x
            tensors.append(x)
            return _extract_tensor_metadata(x)
        meta = map_aggregate(result, noted)
        if tensors:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """The result for these arguments."""
        return super().run(*args)
