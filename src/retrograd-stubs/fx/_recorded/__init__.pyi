"""Where retrograd.fx._recorded is written.

Written by `make generate`.
"""
from retrograd._packages.fx._recorded import (
    ASKED as ASKED,
    Branch as Branch,
    COUNTED as COUNTED,
    Computed as Computed,
    DERIVATIVES as DERIVATIVES,
    Item as Item,
    Number as Number,
    Recorder as Recorder,
    Refused as Refused,
    SHAPES as SHAPES,
    VALUES as VALUES,
    _arithmetic as _arithmetic,
    _value as _value,
    alive as alive,
    modes as modes,
    plain as plain,
)
