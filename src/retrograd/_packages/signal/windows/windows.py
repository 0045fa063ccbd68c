"""torch.signal.windows.windows: names of torch.signal.windows.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.forwarded import forwarded

forwarded(
    __name__,
    "retrograd.signal.windows",
    "bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann kaiser nuttall ")
