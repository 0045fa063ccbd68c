"""Where retrograd.func._batching.products is written.

Written by `make generate`.
"""
from retrograd._packages.func._batching.products import (
    LETTERS as LETTERS,
    MATRICES as MATRICES,
    MATRIX as MATRIX,
    RANKS as RANKS,
    RULES as RULES,
    affine as affine,
    attention as attention,
    einsum as einsum,
    linear as linear,
    outer as outer,
    product as product,
    solve as solve,
    times as times,
)
