"""Where retrograd.accelerator.memory is written.

Written by `make generate`.
"""
