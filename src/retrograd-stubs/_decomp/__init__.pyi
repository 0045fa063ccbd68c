"""Where retrograd._decomp is written.

Written by `make generate`.
"""
from retrograd._packages._decomp import (
    FORMULAS as FORMULAS,
    TABLE as TABLE,
    _reduced as _reduced,
    addcdiv as addcdiv,
    addcmul as addcmul,
    core_aten_decompositions as core_aten_decompositions,
    formula as formula,
    get_decompositions as get_decompositions,
    glu as glu,
    lerp as lerp,
    linear as linear,
    loss as loss,
    masked_fill as masked_fill,
    row as row,
    stack as stack,
    t as t,
    transpose as transpose,
)
