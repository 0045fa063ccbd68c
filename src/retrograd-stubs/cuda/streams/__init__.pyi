"""Where retrograd.cuda.streams is written.

Written by `make generate`.
"""
