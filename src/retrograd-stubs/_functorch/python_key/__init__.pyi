"""Where retrograd._functorch.python_key is written.

Written by `make generate`.
"""
