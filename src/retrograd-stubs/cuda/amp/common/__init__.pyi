"""Where retrograd.cuda.amp.common is written.

Written by `make generate`.
"""
