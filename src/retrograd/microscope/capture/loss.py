"""How a loss was reduced: read off its graph, so that 1/N and loss scales in delta can be undone."""
from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..errors import CaptureError
from ..listen import Engine
from . import sample_weights
from .batch_dims import (
    FAR,
    JOINING,
    LOSSES,
    MOVING,
    NLL,
    SPLITTING,
    VIEWS,
    Mixed,
    Places,
    below,
    inputs,
    is_leaf,
    kind,
    signed,
)
from .loss_key import key_of
from .runs import Run

# Nodes that read one number and change neither it nor, but for the sign and constants, its gradient
THROUGH = VIEWS | {"ToCopy", "Alias", "Clone", "DtypeView", "Neg", "Rsub", "Add", "Sub", "Sum", "Mean", "Select"}
MARGINS = {"MultiMarginLoss", "MultilabelMarginLoss"}       # a term is a row, already divided by its length
MASKS = ("_saved_other", "_saved_self", "_saved_condition", "_saved_mask", "_saved_weight")      # where nodes keep constants
ENDS = {"Sum", "Mean"} | LOSSES | NLL | MARGINS


class Reduction(NamedTuple):
    """kind "mean" (of `count` terms), "sum" or "unknown"; factor: what the loss was multiplied with besides.

    places   where the terms are when samples may not have as many (sample_weights.traced), `entries` numbers for each
    parts    of a loss that is several added: theirs, whose factors are the loss's own.  count 0: means over unlike numbers
    mixes    a node that is not known to keep samples apart
    """

    kind: str
    count: float                                # type: ignore[assignment]  # the report shows this name; tuple.count
    factor: float
    equal: bool                                 # does every sample have as many terms?
    why: str
    places: dict[int, Any] | None = None
    entries: float = 1
    parts: tuple[Reduction, ...] = ()
    mixes: str = ""

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields[:5])
        return f"Reduction({shown})"

    def undo(self, to: str, samples: int, own: Any = None) -> Any:
        """What to multiply gradients with; to "sum" or "sample".  CaptureError when it cannot be told.

        own   (N,) which share of the terms each sample has (sample_weights.own_terms), if not the same: then a tensor (N,)
        """
        if self.kind == "unknown":
            raise CaptureError(
                f"the graph does not show how the loss was reduced ({self.why}). Give scale= as a number")
        if self.factor == 0 or not math.isfinite(self.factor):
            raise CaptureError(f"the loss was multiplied by {self.factor}, which cannot be undone")
        if self.kind == "sum":
            if to == "sample" and not self.equal and samples > 1 and own is None:
                raise CaptureError(
                    f"the graph does not show that the loss is a sum of the samples' own losses ({self.why}). Use "
                    "scale='sum', or give a number")
            return 1 / self.factor
        if to == "sum":
            if not self.count:
                raise CaptureError("the loss adds means over different numbers of terms, so no single factor turns it into a "
                                   "sum. Use scale='sample', or give a number")
            return self.count / self.factor
        if own is not None:                     # no terms: no gradient
            return (own > 0) / own.clamp(min=1e-30) / self.factor
        if not self.equal and samples > 1:
            raise CaptureError(
                f"the mean is over {f'{self.count:g} terms' if self.count else 'different numbers of terms'}, and the graph does "
                f"not show how many of them each of the {samples} samples has ({self.why}): targets may be ignored, classes "
                "weighted, rows picked. So a sample's own mean is unknown. Use scale='sum'")
        return samples / self.factor


def unknown(why: str, mixes: str = "") -> Reduction:
    return Reduction("unknown", 1, 1, False, why, mixes=mixes)


def loss_of(run: Run) -> Reduction | None:
    """How the loss of a run was reduced; None when it was not seen.  "unknown" after passes of several kinds."""
    losses = run.losses
    if not losses or any(loss is None for loss in losses):
        return None
    first: Reduction = losses[0]
    if len(losses) > 1 and (first.places is not None or first.parts or any(loss[:4] != first[:4] for loss in losses)):
        return unknown("backward() ran for several losses, not reduced alike")
    return first


def reduction_of(engine: Engine, loss: Any, seed: Any, ends: list[Run], known: dict[Any, Reduction]) -> Reduction:
    """Walk from a loss, at which the gradient `seed` arrives, to where it was summed up.

    ends: the calls of the model that it was made from; known: by key_of()
    """
    if loss.numel() != 1:
        return unknown(f"backward() of a tensor of shape {tuple(loss.shape)}")
    if loss.grad_fn is None:
        return unknown("the loss has no graph")
    try:
        key = None if seed is not None else key_of(loss, ends)
        found = known.get(key)
        if found is None:
            with engine.no_grad():
                factor = 1.0 if seed is None else abs(seed.item())
                found = Reader(loss.detach(), ends).read(loss.grad_fn, tuple(loss.shape), factor)
            if key is not None and found.equal:         # else numbers were asked, too
                known[key] = found
        return found
    except Mixed as stop:
        return unknown(f"it ends in {stop}", str(stop))
    except RuntimeError as freed:               # backward will say so
        return unknown(str(freed))


class Reader:
    """Reads a loss's graph."""

    def __init__(self, like: Any, ends: list[Run]) -> None:
        self.like = like
        self.places = Places(like, ends)
        self.ends = ends
        self.sizes = {run.size or 1 for run in ends}
        self.nodes = 0

    def read(self, node: Any, shape: tuple[int, ...], factor: float = 1.0, divisors: tuple[Any, ...] = ()) -> Reduction:
        """How one number was made, from the node that made it.  Mixed with the kind of a node that is not known.

        factor, divisors   of what is above: what it is multiplied with, and (node, by how much) for divisions by what may be a
                           number of terms
        """
        while True:
            self.nodes += 1
            what = kind(node)
            if self.nodes > FAR or is_leaf(node):
                return unknown("the graph is deep" if self.nodes > FAR else "it ends in a parameter")
            before = self.inputs(node, shape)
            if what in ENDS and (math.prod(before[0][1]) != 1 or what not in ("Sum", "Mean")):
                return Reduced(self, node, factor, before, divisors).read()
            if what in ("Add", "Sub") and len(before) == 2 and numbers(before):
                smoothed = smoothing(before)
                if smoothed is None:
                    return self.added(before, factor, divisors)
                node = smoothed                 # as many terms as what is smoothed
                continue
            if len(before) != 1 or not numbers(before):
                raise Mixed(node)
            if what in ("Mul", "Div"):
                if node.next_functions[0][0] is None and what == "Div":
                    raise Mixed(node)
                scale, given = constant(node)
                factor = factor * scale if what == "Mul" else factor / scale if scale else float("inf")
                if what == "Div" and scale != 1:
                    divisors = (*divisors, (node, scale))
                elif given and scale and scale < 1 and abs(1 / scale - round(1 / scale)) < 1e-5 / scale:
                    divisors = (*divisors, (node, float(round(1 / scale))))
            elif what not in THROUGH:
                raise Mixed(node)
            elif what == "Rsub" or what in ("Add", "Sub") and node.next_functions[0][0] is None:
                factor *= abs(float(node._saved_alpha))
            node, shape = before[0]

    def inputs(self, node: Any, shape: tuple[int, ...]) -> list[tuple[Any, tuple[int, ...]]]:
        return inputs(node, shape, self.like)

    def added(self, before: list[tuple[Any, tuple[int, ...]]], factor: float, divisors: tuple[Any, ...]) -> Reduction:
        """A chain of Add and Sub."""
        ends, todo = [], [*before]
        while todo:
            node, shape = todo.pop()
            more = self.inputs(node, shape) if kind(node) in ("Add", "Sub") and self.nodes <= FAR else []
            self.nodes += 1
            if len(more) == 2 and numbers(more) and smoothing(more) is None:
                todo.extend(more)
            else:
                ends.append((node, shape))
        whole = several(self, [self.read(*end) for end in ends], factor)
        if whole.kind != "sum" or not divisors:
            return whole
        k = math.prod(k for _, k in divisors)   # each of them may have been divided
        again = several(self, [self.read(*end, 1 / k, divisors) for end in ends], factor * k)
        return again if again.kind == "mean" else whole._replace(equal=False, parts=(), why=divided(k))


def numbers(before: list[tuple[Any, tuple[int, ...]]]) -> bool:
    """Is each one number?"""
    return all(math.prod(shape) == 1 for _, shape in before)


def constant(node: Any) -> tuple[float, bool]:
    """What a Mul or Div node has beside its one input, without its sign, which is the loss's own; and was it a tensor?"""
    field = "_saved_other" if node.next_functions[0][0] is not None else "_saved_self"
    other = getattr(node, field)
    if other is None:
        raise Mixed(node)
    raw = getattr(getattr(node, "_raw" + field, None), "data", other)
    # torch keeps a number as a tensor, too, but one that gives way to all others
    given = hasattr(raw, "dtype") and other.is_floating_point() and (other + other.new_ones(()).half()).dtype == other.dtype
    return abs(float(other)), given


def smoothing(before: list[tuple[Any, tuple[int, ...]]]) -> Any:
    """The NllLoss node in what F.cross_entropy(label_smoothing=...) adds up; None for another sum.

    MulBackward1 and DivBackward1 are by numbers, as only functions of the engine's own have them.
    """
    hard, soft = (n for n, _ in before)
    if hard.name() != "MulBackward1" or soft.name() != "MulBackward1":
        return None
    hard, *_ = below(hard)
    if kind(hard) not in NLL:
        return None
    return hard if leads(hard, ("NllLoss", "NllLoss2D", "View", "UnsafeView", "ReshapeAlias")) is leads(
        soft, ("Mul", "Div", "Sum", "MaskedFill", "Neg")) else None


def leads(node: Any, kinds: tuple[str, ...]) -> Any:
    """The LogSoftmax node to which nodes of these kinds lead; an object of its own when none."""
    for _ in range(10):
        if kind(node) == "LogSoftmax":
            return node
        edges = below(node)
        if kind(node) not in kinds or len(edges) != 1:
            break
        node = edges[0]
    return object()


class Reduced:
    """A sum or mean: `node`, from which the loss was made by a factor and divisions.

    before   what the node read and its shapes
    """

    def __init__(self, reader: Reader, node: Any, factor: float, before: list[tuple[Any, tuple[int, ...]]],
                 divisors: tuple[Any, ...]) -> None:
        self.reader, self.node, self.factor, self.before, self.divisors = reader, node, factor, before, divisors
        self.what = kind(node)
        shapes = {shape for _, shape in before}
        if len(shapes) > 1:
            raise Mixed(self.node)
        (self.shape,) = shapes
        self.classes = min(1, len(self.shape) - 1) if self.what in NLL | MARGINS else None      # a dimension with one term
        self.count = float(math.prod(n for d, n in enumerate(self.shape) if d != self.classes))
        self.samples = 0                        # of the call of the model that the terms come from
        self.mixes = ""                         # the node that may not
        self.picks = False                      # ... perhaps by picking samples
        self.mixed = self.way()

    def read(self) -> Reduction:
        how = {"Sum": 2, "Mean": 1}.get(self.what)
        if how is None:
            how = self.node._saved_reduction
            how = {"none": 0, "mean": 1, "sum": 2}.get(how, how)
        if how == 1:
            return self.mean()
        if how == 2:
            return self.sum()
        raise Mixed(self.node)

    def way(self) -> str:
        """What stands between the terms and the model's outputs of which it is not sure that it keeps samples apart."""
        places = self.reader.places
        try:
            place = places.together(self.node, self.shape) if self.what in LOSSES else places.of(*self.before[0])
        except Mixed as unknown:
            one = self.reader.sizes == {1} and unknown.kind not in JOINING
            self.mixes, self.picks = "" if one else str(unknown), unknown.kind in MOVING | SPLITTING | JOINING
            return "" if one else f"it passes {unknown}"
        if place is None:
            return "a part of it is made of no output of the model"
        self.samples = place.size
        self.mixes = self.node.name() if place.dim == self.classes else ""
        return f"it passes {self.mixes}" if self.mixes else ""

    def terms(self, all_alike: bool) -> dict[int, Any]:
        """sample_weights.traced of the terms."""
        if len(self.before) != 1 or is_leaf(self.before[0][0]) or self.what in MARGINS:
            return {}
        if self.what not in NLL:
            return sample_weights.traced(self.before[0][0], self.reader.like.new_ones(()).expand(self.shape))
        weights, ids = sample_weights.weights_of(self.node)
        weights = weights.new_ones(weights.shape) if all_alike else weights
        return {} if ids is None else sample_weights.traced(self.before[0][0], weights, ids)

    def known(self, kind: str, count: float, even: bool) -> Reduction:
        """With the places of the terms where samples may have unlike numbers of them."""
        why = self.mixed or str(self.node.name())
        if even and not self.mixed:
            return Reduction(kind, count, self.factor, True, why)
        places = self.terms(even)
        if self.mixed and not sample_weights.reached(places, self.reader.ends):
            return unknown(why, self.mixes)
        entries = self.shape[self.classes or 0] if self.what in NLL else self.count / count
        return Reduction(kind, count, self.factor, False, why, places, entries, mixes="" if self.picks else self.mixes)

    def mean(self) -> Reduction:
        even = True
        if self.what in NLL:
            positions, self.count = self.count, float(self.node._saved_total_weight)
            even = self.node._saved_weight is None and self.count == positions
        return self.known("mean", self.count, even)

    def sum(self) -> Reduction:
        """A sum that is divided by the number of its terms, or of samples, is a mean."""
        if not self.divisors:
            return self.known("sum", 1, True)
        (by, k), *more = self.divisors
        if by.name() == "DivBackward1" and k == self.rows():
            known = True
        elif k in self.reader.sizes:            # ... unless it is the sum of a mask that happens to be as much
            known = k == self.samples and not self.mixed and not self.weighted(k)
        elif self.what in NLL and k == float(self.node._saved_total_weight) and not more:
            self.factor *= k
            return self.mean()                  # by the number of targets that count
        else:
            known = k == self.count
        if known and not more:
            self.factor *= k
            return self.known("mean", k, True)
        found = self.known("sum", 1, True)
        return found if found.kind == "unknown" else Reduction("sum", 1, self.factor, False, divided(k))

    def rows(self) -> float:
        """How many softmax distributions were summed up, in F.cross_entropy of probabilities; 0 elsewhere."""
        node = leads(self.before[0][0], ("Mul", "Neg"))
        if not hasattr(node, "_saved_dim"):
            return 0
        return self.count / self.shape[signed(node._saved_dim) % len(self.shape)]

    def weighted(self, k: float) -> bool:
        """Were numbers multiplied or masked by a tensor whose sum is k, so that k may be the sum instead?"""
        for node in (self.node, *self.reader.places.passed):
            if kind(node) in NLL and float(node._saved_total_weight) == k:
                return k != node._saved_target.numel() or node._saved_weight is not None
            if any(counted(given, k, self.samples) for name in MASKS
                   if (given := getattr(node, name, None)) is not None and hasattr(given, "numel") and not given.requires_grad):
                return True
        return False


def counted(mask: Any, k: float, samples: int) -> bool:
    """Is k what a tensor, or its complement, adds up to, and may samples have unlike shares of that?"""
    if mask.numel() < 2 or k not in (total := round(float(mask.sum()), 4), mask.numel() - total):
        return False
    parts = [mask.double().movedim(d, 0).reshape(samples, -1).sum(1) for d, n in enumerate(mask.shape) if n == samples]
    return not parts or any(float((own - own[0]).abs().max()) > 1e-4 * float(own[0].abs()) for own in parts)


def divided(k: float) -> str:
    return f"it was divided by {k:g}, which may be a number of terms"


def several(reader: Reader, parts: list[Reduction], factor: float) -> Reduction:
    """Losses added: what they were multiplied with is the whole's own, so all must be reduced alike."""
    for part in parts:
        if part.kind == "unknown":
            return part
        if part.factor == 0 or not math.isfinite(part.factor):
            return unknown(f"a part of it was multiplied by {part.factor}")
        if part.kind == "sum" and (not part.equal and not part.places and not part.parts
                                   or any(n > 1 and abs(part.factor * n - 1) < 1e-6 for n in reader.sizes)):
            return unknown(f"a part of it is a sum times {part.factor:g}, which may be one over a number of terms")
    kinds, counts = {part.kind for part in parts}, {part.count for part in parts}
    if len(kinds) > 1:
        return unknown("it adds a mean and a sum")
    equal = all(part.equal for part in parts)
    return Reduction(kinds.pop(), counts.pop() if len(counts) == 1 else 0, factor, equal, "several losses added",
                     parts=() if equal else tuple(parts), mixes=next((part.mixes for part in parts if part.mixes), ""))
