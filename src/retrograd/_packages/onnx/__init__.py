"""torch.onnx: feed-forward models are exported; libraries may register how their operators are, which is kept and not used."""
from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from retrograd._missing import late_names
from retrograd.onnx._export import ONNXProgram, export

__all__ = ["ONNXProgram", "export", "is_in_onnx_export", "register_custom_op_symbolic", "unregister_custom_op_symbolic"]
late_names(__name__, lazy=("symbolic_helper", "symbolic_opset11"))
registered: dict[tuple[str, int], Callable[..., Any]] = {}


class TensorProtoDataType(IntEnum):
    """The numbers of ONNX's element types."""

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16


def is_in_onnx_export() -> bool:
    """False."""
    return False


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int) -> None:
    """Keep how an operator is exported: symbolic_name "namespace::operator", by symbolic_fn, from opset_version on.

    ValueError for another form of name.
    """
    namespace, _, name = symbolic_name.partition("::")
    if not namespace or not name:
        raise ValueError(f"symbolic_name={symbolic_name!r}: expected 'namespace::operator'")
    registered[symbolic_name, opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Forget what symbolic_name was registered with for opset_version."""
    registered.pop((symbolic_name, opset_version), None)
