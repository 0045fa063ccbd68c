"""torch.distributed.algorithms.model_averaging: parameters, rather than gradients, averaged over ranks."""
from __future__ import annotations

from ...._missing import late_names

late_names(__name__, lazy=("averagers", "hierarchical_model_averager", "utils"))
