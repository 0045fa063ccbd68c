"""Where retrograd.distributions.kumaraswamy is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.kumaraswamy import (
    Kumaraswamy as Kumaraswamy,
)
