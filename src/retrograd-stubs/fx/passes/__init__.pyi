"""Where retrograd.fx.passes is written.

Written by `make generate`.
"""
