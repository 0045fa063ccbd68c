"""Where retrograd.xpu.memory is written.

Written by `make generate`.
"""
