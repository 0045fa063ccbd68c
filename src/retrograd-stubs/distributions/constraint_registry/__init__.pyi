"""Where retrograd.distributions.constraint_registry is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.constraint_registry import (
    ConstraintRegistry as ConstraintRegistry,
    between as between,
    biject_to as biject_to,
    shifted as shifted,
    transform_to as transform_to,
)
