"""Where retrograd.distributions._chances is written.

Written by `make generate`.
"""
from retrograd._packages.distributions._chances import (
    BOTH as BOTH,
    Chances as Chances,
    Odds as Odds,
    along as along,
)
