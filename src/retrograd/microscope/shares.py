"""How many terms of a mean each sample has: ignored targets, weights of classes and picked rows differ by sample.

The terms are known where the mean is taken.  They are taken back through the graph, by the views and picks that lead there,
to what a captured layer computed or the model gave, whose samples are known.
"""
from __future__ import annotations

from typing import Any

from .apart import parts
from .runs import Run

# Derivatives that put numbers elsewhere, or nowhere
MOVING = {"View", "ReshapeAlias", "UnsafeView", "Squeeze", "Unsqueeze", "Transpose", "T", "Permute", "Alias", "Slice", "Select",
          "Index", "UnsafeIndex", "IndexSelect", "MaskedSelect", "Gather", "Take", "Flip"}
# ... that work number by number
POINTWISE = set("""
    ToCopy Clone Alias Mul Div Add Sub Rsub Neg Pow Sqrt Rsqrt Exp Exp2 Expm1 Log Log1P Log2 Log10 Abs Sgn Sign Sin Cos Tan Atan
    Tanh Sigmoid LogSigmoid Relu LeakyRelu Elu Gelu Silu Mish Softplus Hardtanh Hardswish Hardsigmoid Softshrink Hardshrink Clamp
    ClampMin ClampMax Where Maximum Minimum Reciprocal Erf Erfc Lgamma Digamma Xlogy Xlog1Py Lerp Addcmul Addcdiv MaskedFill
    NanToNum Hypot Logaddexp MseLoss SmoothL1Loss HuberLoss BinaryCrossEntropy BinaryCrossEntropyWithLogits KlDiv
    SoftMarginLoss NllLoss NllLoss2D
""".split())
# ... along a dimension, which must not be the batch's
ALONG = {"LogSoftmax", "Softmax", "Sum", "Mean", "Logsumexp", "Prod", "Max", "Min", "Amax", "Amin", "Var", "Std", "Norm",
         "LinalgVectorNorm", "Cumsum", "Gather", "Cat", "Slice", "Select", "IndexSelect"}
VIEWS = {"View", "ReshapeAlias", "UnsafeView"}
FAR = 200               # nodes


def kind(node: Any) -> str:
    """The node's name without Backward0 and the like."""
    name: str = node.name()
    return name.rpartition("Backward")[0]


def below(node: Any) -> list[Any]:
    """The nodes that a node hands gradients to, leaves left out."""
    return [n for n, _ in node.next_functions if n is not None and not n.name().endswith("AccumulateGrad")]


def signed(n: int) -> int:
    """torch shows a negative number as an unsigned one."""
    return n - (1 << 64) if n >= 1 << 63 else n


def shape_below(node: Any) -> tuple[int, ...] | None:
    """Of what a node was computed from, where it says."""
    sizes = getattr(node, "_saved_self_sym_sizes", None)
    if sizes is not None:
        return tuple(sizes)
    for name in ("_saved_self", "_saved_result"):
        value = getattr(node, name, None)
        if hasattr(value, "shape"):
            return tuple(value.shape)
    return None


def shape_above(node: Any) -> tuple[int, ...] | None:
    """Of what a node computed, where it says."""
    try:
        return tuple(node._input_metadata[0].shape)
    except (AttributeError, RuntimeError):      # of retrograd's nodes only where somebody read it before
        return None


def keeps_apart(node: Any, what: str) -> bool:
    """Does a node keep the samples along dimension 0, all of them with all their numbers?"""
    if what in VIEWS:
        before, after = shape_below(node), shape_above(node)
        return bool(before and after and before[0] and (len(after) == 1 or after[0] % before[0] == 0))
    if what in ("Transpose", "Permute"):
        dims = getattr(node, "_saved_dims", None) or (getattr(node, "_saved_dim0", 0), getattr(node, "_saved_dim1", 0))
        dims = tuple(map(signed, dims))
        ndim = len(shape_above(node) or ())
        dims = tuple(d + ndim if d < 0 else d for d in dims)
        return dims[0] == 0 if what == "Permute" else bool(ndim) and 0 not in dims
    if what in ("Unsqueeze", "Squeeze"):        # batches of one are not asked about, so a plain squeeze leaves dimension 0
        dims = getattr(node, "_saved_dim", 1)
        return all(signed(d) > 0 or signed(d) == -1 for d in (dims if isinstance(dims, (tuple, list)) else (dims,)))
    if what in ALONG:
        if what in ("Slice", "Select", "IndexSelect"):      # along other dimensions every sample loses as much
            ndim = len(shape_above(node) or ()) + (what == "Select")
        else:
            ndim = len(shape_below(node) or shape_above(node) or ())
        dims = getattr(node, "_saved_dim", None)
        if dims is None or not ndim:
            return False
        given = tuple(map(signed, dims)) if isinstance(dims, (tuple, list)) else (signed(dims),)
        return bool(given) and all(d % ndim != 0 for d in given)
    if what not in POINTWISE or getattr(node, "_saved_reduction", 0) in (1, 2, "mean", "sum"):
        return False
    ranks = {len(shape) for n in below(node) if (shape := shape_above(n)) is not None}
    return len(ranks) < 2                       # else dimensions of one are others of the other


def ended(node: Any, ends: list[Run], layers: bool) -> bool:
    """Did a node make an output of the model, or (layers) of a layer in it?"""
    number = node._sequence_nr()
    return any(number in run.outs or layers and number in run.orders for run in ends)


def mixes(node: Any, ends: list[Run]) -> str:
    """What stands between a loss and the model's outputs of which it is not sure that it keeps samples apart; "": nothing."""
    seen, todo = {id(node): node}, [node]
    while todo:
        node = todo.pop()
        if ended(node, ends, False):
            continue
        what = kind(node)
        if len(seen) > FAR or not keeps_apart(node, what):
            if ended(node, ends, True):
                continue
            return what or str(node.name())
        for other in below(node):
            if id(other) not in seen:
                seen[id(other)] = other         # held, so that its id stays its own
                todo.append(other)
    return ""


def weights_of(node: Any) -> Any:
    """The weight of each term of an NllLoss node, in the shape of its input: 0 where ignored, 1 or its class's elsewhere."""
    logp, target, weight = node._saved_self, node._saved_target, node._saved_weight
    counted = target != signed(node._saved_ignore_index)
    found = counted if weight is None else weight.detach()[target * counted] * counted
    return found.to(logp.dtype).unsqueeze(min(1, logp.ndim - 1)).expand(logp.shape)


def traced(node: Any, at: Any) -> dict[int, Any]:
    """Weights of terms at every tensor on the way back from a mean's input, by the number of the node that made the tensor.

    Each has the shape of its tensor.  The way ends where it forks, and at a node that may do more than move numbers.

    node   what made the mean's input
    at     the weights, in its shape
    """
    found = {}
    for _ in range(FAR):
        found[node._sequence_nr()] = at
        what = kind(node)
        edges = below(node)
        if len(edges) != 1 or what not in MOVING and what not in POINTWISE and what != "LogSoftmax":
            break
        if what == "Gather" and any(step for i, step in enumerate(node._saved_index.stride())
                                    if i != signed(node._saved_dim) % node._saved_index.ndim):
            break                               # not whole rows
        if what in MOVING and at is not None:
            try:
                at = node(at)
            except RuntimeError:                # another dtype than what was picked from
                break
            at = at[0] if isinstance(at, tuple) else at
        node = edges[0]
    return found


def reached(node: Any, ends: list[Run]) -> bool:
    """Does a way of views, picks and pointwise nodes lead from here to the model's outputs?"""
    return any(number in run.outs or number in run.orders for number in traced(node, None) for run in ends)


def own_terms(run: Run, loss: Any) -> Any:
    """(N,) what the weights of each sample's terms add up to, double; None when it cannot be told.

    loss   the loss.Reduction of the run
    """
    for use in reversed(run.uses):
        at = loss.places.get(use.order)
        if at is not None and use.apart and use.shapes == [tuple(at.shape)]:
            rows = parts(use, 0, at)
            if rows is not None:
                return rows.double().sum(1) / loss.entries
    for number, at in loss.places.items():
        if number in run.outs:
            return at.movedim(run.outs[number], 0).reshape(run.size, -1).double().sum(1) / loss.entries
    return None
