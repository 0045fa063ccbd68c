"""Where retrograd.cpu.amp.grad_scaler is written.

Written by `make generate`.
"""
