"""Where retrograd.func._maps is written.

Written by `make generate`.
"""
from retrograd._packages.func._maps import (
    _check_out_dims as _check_out_dims,
    _inputs as _inputs,
    _mapped as _mapped,
    _out_places as _out_places,
    check_randomness as check_randomness,
    name_of as name_of,
    vmap as vmap,
)
