"""Where retrograd.multiprocessing.queue is written.

Written by `make generate`.
"""
