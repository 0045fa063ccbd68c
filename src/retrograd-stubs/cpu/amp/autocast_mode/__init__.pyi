"""Where retrograd.cpu.amp.autocast_mode is written.

Written by `make generate`.
"""
