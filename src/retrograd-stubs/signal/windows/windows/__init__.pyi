"""Where retrograd.signal.windows.windows is written.

Written by `make generate`.
"""
