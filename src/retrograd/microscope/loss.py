"""How a loss was reduced: read off its graph, so that 1/N and loss scales in delta can be undone."""
from __future__ import annotations

import math
from typing import Any, NamedTuple

from . import shares
from .errors import CaptureError
from .runs import Run

THROUGH = ("ViewBackward0", "ReshapeAliasBackward0", "SqueezeBackward0", "SqueezeBackward1", "ToCopyBackward0",
           "AliasBackward0", "CloneBackward0", "UnsafeViewBackward0", "SelectBackward0", "DtypeViewBackward0")


class Reduction(NamedTuple):
    """kind "mean" (of `count` terms), "sum" or "unknown"; factor: what the loss was multiplied with besides.

    places   where the terms are when samples may not have as many (shares.traced), `entries` numbers for each
    """

    kind: str
    count: float
    factor: float
    equal: bool                                 # does every sample have as many terms?
    why: str
    places: dict[int, Any] | None = None
    entries: int = 1

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields[:5])
        return f"Reduction({shown})"

    def undo(self, to: str, samples: int, own: Any = None) -> Any:
        """What to multiply gradients with; to "sum" or "sample".  CaptureError when it cannot be told.

        own   (N,) how many terms each sample has, when not as many: then it is a tensor (N,)
        """
        if self.kind == "unknown":
            raise CaptureError(
                f"how the loss was reduced cannot be read off its graph ({self.why}); give scale= as a number")
        if self.factor == 0 or not math.isfinite(self.factor):
            raise CaptureError(f"the loss was multiplied by {self.factor}: that cannot be undone")
        if self.kind == "sum":
            if to == "sample" and not self.equal and samples > 1:
                raise CaptureError(
                    f"whether the loss adds up what each sample has alone cannot be read off its graph ({self.why}); use "
                    "scale='sum', or give a number")
            return 1 / self.factor
        if to == "sum":
            return self.count / self.factor
        if own is not None:                     # no terms: no gradient
            return (self.count / self.factor) * (own > 0) / own.clamp(min=1e-30)
        if not self.equal and samples > 1:
            raise CaptureError(
                f"the mean is over {self.count:g} terms, not as many for each of {samples} samples (ignored targets, class "
                "weights or picked rows?), and how many each has cannot be read off the graph, so a sample's own mean is "
                "unknown; use scale='sum'")
        return samples / self.factor


def loss_of(run: Run) -> Reduction | None:
    """How the loss of a run was reduced; None when it was not seen.  "unknown" after passes of several kinds."""
    losses = run.losses
    if not losses or any(loss is None for loss in losses):
        return None
    first: Reduction = losses[0]
    if len(losses) > 1 and (first.places is not None or any(loss[:4] != first[:4] for loss in losses)):
        return Reduction("unknown", 1, 1, False, "backward() ran for several losses, not reduced alike")
    return first


def reduction_of(loss: Any, ends: list[Run]) -> Reduction:
    """Walk from a loss to where it was summed up.  ends: the calls of the model that it was made from."""
    factor, divided = 1.0, ""                   # divided by what may be a number of terms, another one for each sample?
    samples = sum(run.size or 0 for run in ends)
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
            scale = abs(float(other))           # the sign is the loss's own
            factor = factor * scale if name == "MulBackward0" else factor / scale if scale else float("inf")
            if name == "DivBackward0" and float(other) not in (1.0, samples):
                divided = f"it was divided by {float(other):g}, which may be a number of terms"
            node = edges[0] if edges[0] is not None else edges[1]
        elif name in ("AddBackward0", "SubBackward0") and sum(e is not None for e in edges) == 1 and edges[0] is not None:
            node = edges[0]
        elif name in ("NegBackward0", "RsubBackward0") and edges[0] is not None:
            node = edges[0]
        elif name in THROUGH or name[:-1] in ("SumBackward", "MeanBackward") and one_number(node):
            node = edges[0]
        elif name in ("SumBackward0", "SumBackward1"):
            return sum_of(node, factor, ends, divided)
        elif name in ("MeanBackward0", "MeanBackward1"):
            shape = mean_shape(node)
            if shape is None:
                return Reduction("unknown", 1, factor, True, name)
            return mean_of(loss, node, factor, shape, ends)
        elif hasattr(node, "_saved_reduction"):
            return loss_node(loss, node, factor, ends, divided)
        else:
            return Reduction("unknown", 1, 1, False, f"it ends in {name}")
    return Reduction("unknown", 1, 1, False, "the graph is deep")


def one_number(node: Any) -> bool:
    """Was it computed from one number?"""
    shape = shares.shape_below(node)
    return shape is not None and math.prod(shape) == 1


def mean_shape(node: Any) -> tuple[int, ...] | None:
    """Of what a mean over everything was taken of."""
    sizes = getattr(node, "_saved_self_sym_sizes", None)
    if sizes is not None:
        return tuple(sizes)
    for field in ("_saved_self_sym_numel", "_saved_self_numel"):
        if hasattr(node, field):
            return (int(getattr(node, field)),)
    return None


def loss_node(loss: Any, node: Any, factor: float, ends: list[Run], divided: str) -> Reduction:
    """Nodes that keep the reduction they were asked for: 0 none, 1 mean, 2 sum."""
    name = node.name()
    how = node._saved_reduction
    how = {"none": 0, "mean": 1, "sum": 2}.get(how, how)
    if how == 2:
        return sum_of(node, factor, ends, divided)
    if how != 1:
        return Reduction("unknown", 1, 1, False, f"{name} without a reduction")
    value = getattr(node, "_saved_self", None)
    if value is None:
        return Reduction("unknown", 1, 1, False, f"{name} without a saved input")
    return mean_of(loss, node, factor, tuple(value.shape), ends)


def sum_of(node: Any, factor: float, ends: list[Run], divided: str) -> Reduction:
    """A sum over everything; samples may have been picked before."""
    first = node.next_functions[0][0]
    what = "" if first is None else shares.mixes(first, ends)
    if what in ("Mean", "Stack", "Cat"):        # a mean inside, or several losses
        return Reduction("unknown", 1, factor, False, f"a sum over {what}Backward")
    if what and shares.reached(first, ends):
        what = ""
    why = f"it passes {what}Backward" if what else divided or str(node.name())
    return Reduction("sum", 1, factor, not what and not divided, why)


def mean_of(loss: Any, node: Any, factor: float, shape: tuple[int, ...], ends: list[Run]) -> Reduction:
    """A mean over what has this shape."""
    name = node.name()
    count, entries, even = float(math.prod(shape)), 1, True
    if name.startswith("NllLoss"):
        count, entries = float(node._saved_total_weight), shape[min(1, len(shape) - 1)]
        even = node._saved_weight is None and count == float(node._saved_target.numel())
    first = node.next_functions[0][0]
    if first is None or even and not shares.mixes(first, ends):
        return Reduction("mean", count, factor, even, name)
    if name.startswith("NllLoss"):
        weights = shares.weights_of(node)
    else:
        weights = loss.detach().new_ones(()).expand(shape)
    return Reduction("mean", count, factor, False, name, shares.traced(first, weights), entries)
