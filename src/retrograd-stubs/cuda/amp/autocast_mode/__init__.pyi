"""Where retrograd.cuda.amp.autocast_mode is written.

Written by `make generate`.
"""
