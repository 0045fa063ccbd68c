"""torch.cpu.amp.grad_scaler: names of torch.cpu.amp.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.forwarded import forwarded

forwarded(
    __name__,
    "retrograd.cpu.amp",
    "GradScaler ")
