"""Where retrograd.ao is written.

Written by `make generate`.
"""
