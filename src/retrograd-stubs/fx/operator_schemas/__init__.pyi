"""Where retrograd.fx.operator_schemas is written.

Written by `make generate`.
"""
from retrograd._packages.fx.operator_schemas import (
    ArgsKwargsPair as ArgsKwargsPair,
    _named as _named,
    normalize_function as normalize_function,
    normalize_module as normalize_module,
)
