"""Where retrograd.onnx._export is written.

Written by `make generate`.
"""
from retrograd._packages.onnx._export import (
    Exporter as Exporter,
    ONNXProgram as ONNXProgram,
    OPSET as OPSET,
    QUIET as QUIET,
    Value as Value,
    WAY_OUT as WAY_OUT,
    axes_of as axes_of,
    compare as compare,
    example_of as example_of,
    export as export,
    holds as holds,
    model_of as model_of,
    renamed as renamed,
)
