"""How a loss was reduced: read off its graph, so that 1/N and loss scales in delta can be undone."""
from __future__ import annotations

import math
from typing import Any, NamedTuple

from .engines import Engine
from .errors import CaptureError

THROUGH = ("ViewBackward0", "ReshapeAliasBackward0", "SqueezeBackward0", "SqueezeBackward1", "ToCopyBackward0",
           "AliasBackward0", "CloneBackward0", "UnsafeViewBackward0", "SelectBackward0", "DtypeViewBackward0")


class Reduction(NamedTuple):
    """kind "mean" (of `count` terms), "sum" or "unknown"; factor: what the loss was multiplied with besides."""

    kind: str
    count: float
    factor: float
    equal: bool                                 # does every sample have as many terms?
    why: str

    def undo(self, to: str, samples: int) -> float:
        """What to multiply gradients with; to "sum" or "sample".  CaptureError when it cannot be told."""
        if self.kind == "unknown":
            raise CaptureError(
                f"how the loss was reduced cannot be read off its graph ({self.why}); give scale= as a number")
        if self.factor == 0 or not math.isfinite(self.factor):
            raise CaptureError(f"the loss was multiplied by {self.factor}: that cannot be undone")
        if self.kind == "sum":
            return 1 / self.factor
        if to == "sum":
            return self.count / self.factor
        if not self.equal:
            raise CaptureError(
                f"the mean is over {self.count:g} terms, not as many for each of {samples} samples (ignored targets or "
                "class weights?), so a sample's own mean is unknown; use scale='sum'")
        return samples / self.factor


def reduction_of(engine: Engine, loss: Any) -> Reduction:
    """Walk from a loss to where it was summed up."""
    factor = 1.0
    node = getattr(loss, "grad_fn", None)
    if loss.ndim != 0 and loss.numel() != 1:
        return Reduction("unknown", 1, 1, False, f"backward() of a tensor of shape {tuple(loss.shape)}")
    for _ in range(20):
        if node is None:
            return Reduction("unknown", 1, 1, False, "the loss has no graph")
        name = node.name()
        edges = [n for n, _ in node.next_functions]
        if name in ("MulBackward0", "DivBackward0"):
            if len(edges) > 1 and edges[1] is not None and (edges[0] is not None or name == "DivBackward0"):
                return Reduction("unknown", 1, 1, False, f"{name} of two tensors with gradients")
            other = node._saved_other if edges[0] is not None else node._saved_self
            if other is None:
                return Reduction("unknown", 1, 1, False, f"{name} without a saved factor")
            if hasattr(other, "numel") and other.numel() != 1:
                return Reduction("unknown", 1, 1, False, f"{name} by a tensor of shape {tuple(other.shape)}")
            factor = factor * float(other) if name == "MulBackward0" else factor / float(other)
            node = edges[0] if edges[0] is not None else edges[1]
        elif name in ("AddBackward0", "SubBackward0") and sum(e is not None for e in edges) == 1 and edges[0] is not None:
            node = edges[0]
        elif name in THROUGH:
            node = edges[0]
        elif name in ("SumBackward0", "SumBackward1"):
            return Reduction("sum", 1, factor, True, name)
        elif name in ("MeanBackward0", "MeanBackward1"):
            count = mean_count(node)
            return Reduction("unknown" if count is None else "mean", count or 1, factor, True, name)
        elif hasattr(node, "_saved_reduction"):
            return loss_node(node, name, factor)
        else:
            return Reduction("unknown", 1, 1, False, f"it ends in {name}")
    return Reduction("unknown", 1, 1, False, "the graph is deep")


def mean_count(node: Any) -> float | None:
    for field in ("_saved_self_sym_numel", "_saved_self_numel"):
        if hasattr(node, field):
            return float(getattr(node, field))
    sizes = getattr(node, "_saved_self_sym_sizes", None)
    return None if sizes is None else float(math.prod(sizes))


def loss_node(node: Any, name: str, factor: float) -> Reduction:
    """Nodes that keep the reduction they were asked for: 0 none, 1 mean, 2 sum."""
    how = node._saved_reduction
    how = {"none": 0, "mean": 1, "sum": 2}.get(how, how)
    if how == 2:
        return Reduction("sum", 1, factor, True, name)
    if how != 1:
        return Reduction("unknown", 1, 1, False, f"{name} without a reduction")
    if name.startswith("NllLoss"):
        count = float(node._saved_total_weight)
        return Reduction("mean", count, factor, count == float(node._saved_target.numel()), name)
    value = getattr(node, "_saved_self", None)
    if value is None:
        return Reduction("unknown", 1, 1, False, f"{name} without a saved input")
    return Reduction("mean", float(value.numel()), factor, True, name)
