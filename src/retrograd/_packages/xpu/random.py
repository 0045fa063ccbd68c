"""torch.xpu.random: names of torch.xpu.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.forwarded import forwarded

forwarded(
    __name__,
    "retrograd.xpu",
    "manual_seed manual_seed_all ")
