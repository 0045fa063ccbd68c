"""Where retrograd.distributions.fishersnedecor is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.fishersnedecor import (
    FisherSnedecor as FisherSnedecor,
)
