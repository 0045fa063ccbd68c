"""Where retrograd.distributions.studentT is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.studentT import (
    StudentT as StudentT,
)
