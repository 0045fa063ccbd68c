"""Where retrograd.fx.experimental is written.

Written by `make generate`.
"""
