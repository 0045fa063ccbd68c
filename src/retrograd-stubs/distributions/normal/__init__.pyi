"""Where retrograd.distributions.normal is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.normal import (
    Normal as Normal,
)
