"""Where retrograd._VF is written.

Written by `make generate`.
"""
