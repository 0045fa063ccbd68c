"""Where retrograd.fx._program is written.

Written by `make generate`.
"""
from retrograd._small_modules.fx._program import (
    Program as Program,
    bound as bound,
    leaf_names as leaf_names,
    recorded as recorded,
    tensors_of as tensors_of,
)
