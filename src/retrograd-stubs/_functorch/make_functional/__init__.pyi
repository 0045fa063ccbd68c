"""Where retrograd._functorch.make_functional is written.

Written by `make generate`.
"""
