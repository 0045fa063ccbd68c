"""Where retrograd._functorch is written.

Written by `make generate`.
"""
