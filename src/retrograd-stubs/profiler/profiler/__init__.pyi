"""Where retrograd.profiler.profiler is written.

Written by `make generate`.
"""
