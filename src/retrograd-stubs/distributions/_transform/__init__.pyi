"""Where retrograd.distributions._transform is written.

Written by `make generate`.
"""
from retrograd._packages.distributions._transform import (
    ComposeTransform as ComposeTransform,
    FEW as FEW,
    IndependentTransform as IndependentTransform,
    Transform as Transform,
    _InverseTransform as _InverseTransform,
    identity_transform as identity_transform,
    wrapped as wrapped,
)
