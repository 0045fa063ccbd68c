"""torch.cuda.amp.common: names of torch.cuda.amp.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.forwarded import forwarded

forwarded(
    __name__,
    "retrograd.cuda.amp",
    "amp_definitely_not_available ")
