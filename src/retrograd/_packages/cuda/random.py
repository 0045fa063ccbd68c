"""torch.cuda.random: names of torch.cuda.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.forwarded import forwarded

forwarded(
    __name__,
    "retrograd.cuda",
    "get_rng_state get_rng_state_all set_rng_state set_rng_state_all manual_seed manual_seed_all seed seed_all "
    "initial_seed ")
