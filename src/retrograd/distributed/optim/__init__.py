"""torch.distributed.optim: optimizers whose state, or whose model, is shared among ranks."""
from __future__ import annotations

from ..._missing import late_names
from .post_localSGD_optimizer import PostLocalSGDOptimizer
from .zero_redundancy_optimizer import ZeroRedundancyOptimizer

__all__ = ["PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]
late_names(__name__)
