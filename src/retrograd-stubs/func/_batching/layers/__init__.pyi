"""Where retrograd.func._batching.layers is written.

Written by `make generate`.
"""
from retrograd._packages.func._batching.layers import (
    BATCH_NORM as BATCH_NORM,
    ELEMENTWISE as ELEMENTWISE,
    RULES as RULES,
    _scaled as _scaled,
    _unfolded as _unfolded,
    batch_norm as batch_norm,
    class_loss as class_loss,
    convolution as convolution,
    elementwise_loss as elementwise_loss,
    embedding as embedding,
    folded as folded,
    group_norm as group_norm,
    layer_norm as layer_norm,
    pooled as pooled,
)
