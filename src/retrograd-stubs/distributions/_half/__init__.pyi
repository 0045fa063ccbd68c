"""Where retrograd.distributions._half is written.

Written by `make generate`.
"""
from retrograd._packages.distributions._half import (
    Half as Half,
)
