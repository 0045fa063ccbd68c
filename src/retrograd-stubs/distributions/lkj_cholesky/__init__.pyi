"""Where retrograd.distributions.lkj_cholesky is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.lkj_cholesky import (
    LKJCholesky as LKJCholesky,
)
