"""Where retrograd.onnx.symbolic_helper is written.

Written by `make generate`.
"""
from retrograd._packages.onnx.symbolic_helper import (
    parse_args as parse_args,
)
