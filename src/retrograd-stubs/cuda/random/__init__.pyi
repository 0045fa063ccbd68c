"""Where retrograd.cuda.random is written.

Written by `make generate`.
"""
