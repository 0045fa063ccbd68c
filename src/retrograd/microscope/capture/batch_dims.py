"""Where the samples are in the tensors that a loss is made of, read off its graph.

From the model's outputs, where their dimension is known, upwards: by nodes that work number by number, move numbers or go
along another dimension.  What is not known to keep samples apart is named.  What the graph does not show (targets, weights,
whatever was detached) counts as given.
"""
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .runs import Run

# Derivatives of functions that show the same numbers, in order, in another shape
VIEWS = {"View", "ReshapeAlias", "UnsafeView", "Squeeze", "Unsqueeze"}
# ... that turn dimensions around
TURNING = {"Transpose", "T", "Permute"}
# ... that leave some numbers out along a dimension
CUTTING = {"Slice", "Select", "IndexSelect", "Gather"}
# ... the same, in several parts
SPLITTING = {"Split", "SplitWithSizes", "Unbind"}
# ... that pick or reverse samples: where those are is found only by following each number (sample_weights.traced)
PICKING = {"Index", "UnsafeIndex", "MaskedSelect", "Take", "Flip"}
MOVING = VIEWS | TURNING | CUTTING | PICKING
# ... that put several tensors beside each other
JOINING = {"Cat", "Stack"}
# ... that multiply matrices
PRODUCTS = {"Mm", "Bmm"}
# ... along a dimension, of which all results depend on all numbers there
SOFTMAX = {"LogSoftmax", "Softmax"}
SAME_SHAPE = SOFTMAX | {"Cumsum", "Cumprod", "Logcumsumexp", "Sort"}
# ... the same, and the dimension vanishes
REDUCING = {"Sum", "Mean", "Logsumexp", "Prod", "Max", "Min", "Amax", "Amin", "Var", "Std", "Norm", "LinalgVectorNorm",
            "Median", "Nanmedian", "Kthvalue", "Mode"}
# ... that work number by number
POINTWISE = set("""
    ToCopy Clone Alias Expand Mul Div Add Sub Rsub Neg Pow Sqrt Rsqrt Exp Exp2 Expm1 Log Log1P Log2 Log10 Abs Sgn Sign Sin Cos
    Tan Atan Tanh Sigmoid LogSigmoid Relu LeakyRelu Elu Gelu Silu Mish Softplus Hardtanh Hardswish Hardsigmoid Softshrink
    Hardshrink Clamp ClampMin ClampMax Where Maximum Minimum Reciprocal Erf Erfc Lgamma Digamma Xlogy Xlog1Py Lerp Addcmul
    Addcdiv MaskedFill NanToNum Hypot Logaddexp
""".split())
# ... which are losses, and work number by number when they are not reduced
LOSSES = {"MseLoss", "SmoothL1Loss", "HuberLoss", "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits", "KlDiv", "SoftMarginLoss"}
NLL = {"NllLoss", "NllLoss2D"}
UNREDUCED = (0, "none")
FAR = 2000              # nodes
DEEP = 60               # nodes on one way
LAYERS = ("linear", "matmul", "conv", "embedding", "norm")      # whose outputs have the batch where their use's layout says


class Mixed(Exception):
    """A node of which it is not known that it keeps samples apart; says its name."""

    def __init__(self, node: Any) -> None:
        super().__init__(node.name())
        self.kind = kind(node)


class Place(NamedTuple):
    """Samples along dimension `dim`, all of them, in order, with as many numbers each; run: of which call of the model."""

    dim: int
    run: int
    size: int


def kind(node: Any) -> str:
    """The node's name without Backward0 and the like; whole when it is of no function of the engine's own."""
    name: str = node.name()
    found = _kinds.get(name)
    if found is None:
        what, _, number = name.rpartition("Backward")
        found = _kinds[name] = what if number.isdigit() else name
    return found


_kinds: dict[str, str] = {}


def signed(n: int) -> int:
    """torch shows a negative number as an unsigned one."""
    return n - (1 << 64) if n >= 1 << 63 else n


def live(node: Any) -> list[Any]:
    """The nodes that a node hands gradients to."""
    return [n for n, _ in node.next_functions if n is not None]


def is_leaf(node: Any) -> bool:
    return bool(node.name().endswith("AccumulateGrad"))


def below(node: Any) -> list[Any]:
    """... leaves left out."""
    return [n for n in live(node) if not is_leaf(n)]


def shape_above(node: Any, nr: int = 0) -> tuple[int, ...] | None:
    """Of what a node computed, where it says: torch's do, of retrograd's those whose tensor somebody asked for its grad_fn."""
    likes = getattr(node, "output_likes", None)         # retrograd's, of which torch's name makes objects
    try:
        return tuple(node._input_metadata[nr].shape if likes is None else (likes()[nr] or ((),))[0])
    except (AttributeError, RuntimeError, IndexError):
        return None


def inputs(node: Any, shape: tuple[int, ...], like: Any) -> list[tuple[Any, tuple[int, ...]]]:
    """The nodes below and the shapes of what they computed; Mixed when those cannot be told.

    shape   of what the node computed
    like    a tensor, of the engine
    """
    known = [(n, shape_above(n, nr)) for n, nr in node.next_functions]
    if any(n is not None and was is None for n, was in known):
        what, sizes = kind(node), getattr(node, "_saved_self_sym_sizes", None)
        kept: list[Any] = [getattr(getattr(node, name, None), "shape", None) for name in ("_saved_self", "_saved_target")]
        if what in LOSSES and None not in kept:
            known = [(n, tuple(was)) for (n, _), was in zip(known, kept)]
        elif len(known) == 1 and (sizes is not None or kept[0] is not None):
            known = [(known[0][0], tuple(kept[0] if sizes is None else sizes))]
        elif len(known) == 1 and (what in SAME_SHAPE or what in POINTWISE and what != "Expand"):
            known = [(known[0][0], shape)]
        else:                                   # a derivative has the shape of what it is the derivative by
            try:
                with np.errstate(all="ignore"):     # only shapes count
                    got = node(like.new_zeros(shape))
            except (RuntimeError, TypeError, ValueError, IndexError):
                raise Mixed(node) from None
            got = got if isinstance(got, (tuple, list)) else (got,)
            known = [(n, None if g is None else tuple(g.shape)) for (n, _), g in zip(known, got)]
    found = [(n, was) for n, was in known if n is not None and was is not None]
    if len(found) != len(live(node)):
        raise Mixed(node)
    return found


class Places:
    """Where the samples of `ends`, calls of the model, are in what was made of their outputs."""

    def __init__(self, like: Any, ends: list[Run]) -> None:
        self.like = like
        self.ends = ends
        self._outs = {number: Place(dim, i, run.size or 1) for i, run in enumerate(ends) for number, dim in run.outs.items()}
        self._layers: dict[int, Place] | None = None
        self._deep = 0
        self.passed: list[Any] = []             # nodes above the model's outputs
        self._found: dict[int, tuple[Any, Place | None | Mixed]] = {}      # with the node, so that its id stays its own

    def of(self, node: Any, shape: tuple[int, ...]) -> Place | None:
        """Where they are in what `node` computed, which has this shape; None when it has none.  Mixed when it is not known."""
        if id(node) in self._found:
            found = self._found[id(node)][1]
        else:
            if len(self._found) > FAR or self._deep > DEEP:
                raise Mixed(node)
            self._deep += 1
            try:
                found = self._look(node, shape) or self._made_by_layer(node, shape)
            except Mixed as unknown:
                found = self._made_by_layer(node, shape) or unknown
            finally:
                self._deep -= 1
            self._found[id(node)] = (node, found)
        if isinstance(found, Mixed):
            raise found
        return found

    def _look(self, node: Any, shape: tuple[int, ...]) -> Place | None:
        if is_leaf(node):
            return None
        out = self._outs.get(node._sequence_nr())
        what = kind(node)
        if out is not None:
            if len(shape) > out.dim and shape[out.dim] == out.size:
                return out
            raise Mixed(node)
        self.passed.append(node)
        if what in POINTWISE or what in LOSSES and node._saved_reduction in UNREDUCED:
            return self.together(node, shape)
        if what in PRODUCTS:
            return self._product(node, what, shape)
        if what in JOINING:
            return joined(node, self._below(node, shape), shape)
        rule = RULES.get(what)
        if rule is None or what in NLL and node._saved_reduction not in UNREDUCED:
            raise Mixed(node)
        found = self._below(node, shape)
        if len(found) != 1:
            if not found:
                return None
            raise Mixed(node)
        place, was = found[0]
        dim = rule(node, place, was, shape)
        if dim is None or dim >= len(shape) or shape[dim] % place.size:
            raise Mixed(node)
        return place._replace(dim=dim)

    def _below(self, node: Any, shape: tuple[int, ...]) -> list[tuple[Place, tuple[int, ...]]]:
        """Where they are in what a node was computed of, and its shapes, constants left out."""
        found = []
        for n, was in inputs(node, shape, self.like):
            place = self.of(n, was)
            if place is not None:
                found.append((place, was))
        return found

    def together(self, node: Any, shape: tuple[int, ...]) -> Place | None:
        """Where they are in what a pointwise node computed: shapes are broadcast, so dimensions count from the last."""
        found = [(place._replace(dim=place.dim - len(was) + len(shape)), was[place.dim]) for place, was in
                 self._below(node, shape)]
        if not found:
            return None
        first, length = found[0]
        if any((place.dim, place.size, n) != (first.dim, first.size, length) for place, n in found) or shape[first.dim] != length:
            raise Mixed(node)
        return first

    def _product(self, node: Any, what: str, shape: tuple[int, ...]) -> Place | None:
        """Where they are in a matrix product: rows of the first factor and columns of the second stay apart, and matrices."""
        found = [(n, place) for n, was in inputs(node, shape, self.like) if (place := self.of(n, was)) is not None]
        first = node.next_functions[0][0]
        for n, place in found:
            own = 0 if what == "Bmm" or n is first else 1
            if place != found[0][1] or place.dim != own or what == "Mm" and len(found) > 1:
                raise Mixed(node)
        return found[0][1] if found else None

    def _made_by_layer(self, node: Any, shape: tuple[int, ...]) -> Place | None:
        """Losses that the model computes itself are made of its layers' outputs."""
        if self._layers is None:
            self._layers = {order: Place(dim, i, run.size or 1) for i, run in enumerate(self.ends)
                            for order, dim in layers(run).items()}
        place = self._layers.get(node._sequence_nr())
        return place if place is not None and len(shape) > place.dim and shape[place.dim] == place.size else None


def layers(run: Run) -> dict[int, int]:
    """Numbers of nodes that made layers' outputs -> where the batch is in them."""
    run.settle()
    return {use.order: use.layout for use in run.uses if use.apart and use.form is None and use.turn == run.turn
            and isinstance(use.layout, int) and use.kind.kind in LAYERS}


# One rule for each kind of node: where the samples are in what it computed; None: not known.
# before, after: the shapes of what it read and computed


def dims_of(node: Any, ndim: int) -> tuple[int, ...]:
    """Along which dimensions a node goes."""
    dims = getattr(node, "_saved_dim", None)
    dims = getattr(node, "_saved_dims", None) if dims is None else dims
    if dims is None:
        return ()
    given = dims if isinstance(dims, (tuple, list)) else (dims,)
    return tuple(signed(d) % ndim for d in given) if ndim else ()


def viewed(_node: Any, place: Place, before: tuple[int, ...], after: tuple[int, ...]) -> int | None:
    outer = math.prod(before[:place.dim])
    return next((d for d, n in enumerate(after) if math.prod(after[:d]) == outer and n % place.size == 0
                 and (n > 1 or place.size == 1)), None)


def turned(node: Any, place: Place, before: tuple[int, ...], _after: tuple[int, ...]) -> int | None:
    ndim, d = len(before), place.dim
    if kind(node) == "Permute":
        return [signed(k) % ndim for k in node._saved_dims].index(d)
    if kind(node) == "T":
        return 1 - d if ndim == 2 else d
    one, two = signed(node._saved_dim0) % ndim, signed(node._saved_dim1) % ndim
    return {one: two, two: one}.get(d, d)


def cut(node: Any, place: Place, before: tuple[int, ...], after: tuple[int, ...]) -> int | None:
    dims = dims_of(node, len(before))
    if len(dims) != 1 or place.dim in dims:
        return None
    dim = place.dim - (len(after) < len(before) and dims[0] < place.dim)
    return dim if after[dim] == before[place.dim] else None


def through(node: Any, place: Place, before: tuple[int, ...], _after: tuple[int, ...]) -> int | None:
    dims = dims_of(node, len(before))
    return None if not dims or place.dim in dims else place.dim


def reduced(node: Any, place: Place, before: tuple[int, ...], after: tuple[int, ...]) -> int | None:
    dims = dims_of(node, len(before))
    if not dims or place.dim in dims:
        return None
    return place.dim if len(after) == len(before) else place.dim - sum(d < place.dim for d in dims)


def normed(node: Any, place: Place, before: tuple[int, ...], _after: tuple[int, ...]) -> int | None:
    return place.dim if place.dim < len(before) - len(node._saved_normalized_shape) else None


def aligned(_node: Any, place: Place, before: tuple[int, ...], _after: tuple[int, ...]) -> int | None:
    return 0 if len(before) == 3 and place.dim == 1 else None


def picked_class(_node: Any, place: Place, before: tuple[int, ...], _after: tuple[int, ...]) -> int | None:
    classes = min(1, len(before) - 1)
    return None if place.dim == classes else place.dim - (place.dim > classes)


RULES = {**dict.fromkeys(VIEWS, viewed), **dict.fromkeys(TURNING, turned), **dict.fromkeys(CUTTING | SPLITTING, cut),
         **dict.fromkeys(SAME_SHAPE | {"Flip", "Topk"}, through), **dict.fromkeys(REDUCING, reduced),
         **dict.fromkeys(NLL, picked_class), "NativeLayerNorm": normed, "CtcLoss": aligned}


def joined(node: Any, found: list[tuple[Place, tuple[int, ...]]], shape: tuple[int, ...]) -> Place | None:
    """Where they are in tensors of one call of the model beside each other."""
    if not found:
        return None
    place, stacked = found[0][0], kind(node) == "Stack"
    (along,) = dims_of(node, len(shape)) or (None,)
    if along is None or any(other != place for other, _ in found) or along == place.dim and not stacked:
        raise Mixed(node)
    return place._replace(dim=place.dim + (stacked and along <= place.dim))
