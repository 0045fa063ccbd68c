"""Where retrograd.cuda.memory is written.

Written by `make generate`.
"""
