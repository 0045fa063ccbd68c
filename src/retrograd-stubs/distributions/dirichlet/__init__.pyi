"""Where retrograd.distributions.dirichlet is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.dirichlet import (
    Dirichlet as Dirichlet,
    _Dirichlet as _Dirichlet,
)
