"""Where retrograd.onnx is written.

Written by `make generate`.
"""
from retrograd._packages.onnx import (
    ONNXProgram as ONNXProgram,
    TensorProtoDataType as TensorProtoDataType,
    export as export,
    is_in_onnx_export as is_in_onnx_export,
    register_custom_op_symbolic as register_custom_op_symbolic,
    registered as registered,
    unregister_custom_op_symbolic as unregister_custom_op_symbolic,
)
