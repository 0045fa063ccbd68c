"""torch.nn.attention.flex_attention: names that programs import; calling them raises NotImplementedError."""
from __future__ import annotations

from ..._missing.unshared import unshared

unshared(
    __name__, "AuxOutput AuxRequest BlockMask FlexKernelOptions",
    "_DEFAULT_SPARSE_BLOCK_SIZE and_masks create_block_mask create_mask flex_attention noop_mask or_masks",
    why="attention in blocks is compiled for GPUs; F.scaled_dot_product_attention takes masks")
