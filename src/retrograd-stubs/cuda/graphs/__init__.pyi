"""Where retrograd.cuda.graphs is written.

Written by `make generate`.
"""
