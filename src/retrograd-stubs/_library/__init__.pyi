"""Where retrograd._library is written.

Written by `make generate`.
"""
