"""Where retrograd.onnx.symbolic_opset11 is written.

Written by `make generate`.
"""
