"""Where retrograd.xpu.random is written.

Written by `make generate`.
"""
