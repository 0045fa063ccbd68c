"""Where retrograd.multiprocessing.pool is written.

Written by `make generate`.
"""
