"""Where retrograd.fx.passes.utils is written.

Written by `make generate`.
"""
