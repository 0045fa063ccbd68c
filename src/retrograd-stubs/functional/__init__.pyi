"""Where retrograd.functional is written.

Written by `make generate`.
"""
from retrograd._packages.functional import (
    atleast_1d as atleast_1d,
    atleast_2d as atleast_2d,
    atleast_3d as atleast_3d,
    block_diag as block_diag,
    broadcast_shapes as broadcast_shapes,
    broadcast_tensors as broadcast_tensors,
    cartesian_prod as cartesian_prod,
    cdist as cdist,
    chain_matmul as chain_matmul,
    einsum as einsum,
    istft as istft,
    lu as lu,
    meshgrid as meshgrid,
    norm as norm,
    split as split,
    stft as stft,
    tensordot as tensordot,
    unique as unique,
    unique_consecutive as unique_consecutive,
    unravel_index as unravel_index,
)
