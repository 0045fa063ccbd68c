"""Where retrograd.cuda.amp.grad_scaler is written.

Written by `make generate`.
"""
