"""How many terms of a mean each sample has: ignored targets, weights of classes and picked rows differ by sample.

The terms are known where the mean is taken.  They are taken back through the graph, by the views and picks that lead there,
to what a captured layer computed or the model gave, whose samples are known.
"""
from __future__ import annotations

from typing import Any

from .apart import PICKING, parts, touches
from .runs import Run

# Derivatives that put numbers elsewhere, or nowhere
MOVING = {"ViewBackward0", "ReshapeAliasBackward0", "UnsafeViewBackward0", "SqueezeBackward0", "SqueezeBackward1",
          "SqueezeBackward2", "UnsqueezeBackward0", "TransposeBackward0", "TBackward0", "PermuteBackward0", "AliasBackward0",
          "SliceBackward0", "SelectBackward0", "IndexBackward0", "UnsafeIndexBackward0", "IndexSelectBackward0",
          "MaskedSelectBackward0", "GatherBackward0", "TakeBackward0", "TopkBackward0", "SortBackward0", "SortBackward1",
          "FlipBackward0"}
# ... that leave them where they are
STAYING = {"LogSoftmaxBackward0", "ToCopyBackward0", "CloneBackward0", "MulBackward0", "DivBackward0", "AddBackward0",
           "SubBackward0", "TanhBackward0", "PowBackward0", "AbsBackward0", "SigmoidBackward0"}
# What layers compute ends here
PRODUCTS = {"AddmmBackward0", "MmBackward0", "BmmBackward0", "BaddbmmBackward0", "ConvolutionBackward0"}
# Where some samples may be left out, or some of their terms
PICKS = {"SelectBackward0": "_saved_dim"} | {name: where for name, where in PICKING.items()
                                             if not name.startswith(("Cat", "Split", "Sort"))}
FAR = 200               # nodes


def below(node: Any) -> list[Any]:
    """The nodes that a node hands gradients to, leaves left out."""
    return [n for n, _ in node.next_functions if n is not None and not n.name().endswith("AccumulateGrad")]


def picked(node: Any, batch_dim: int) -> bool:
    """Is something picked along the batch, between here and the products?  True when that is far."""
    seen, todo = {id(node): node}, [node]
    while todo:
        node = todo.pop()
        name = node.name()
        if name in PRODUCTS:
            continue
        if name in PICKS and touches(node, PICKS[name], batch_dim):
            return True
        for other in below(node):
            if id(other) not in seen:
                seen[id(other)] = other         # held, so that its id stays its own
                todo.append(other)
        if len(seen) > FAR:
            return True
    return False


def weights_of(node: Any) -> Any:
    """The weight of each term of an NllLoss node, in the shape of its input: 0 where ignored, 1 or its class's elsewhere."""
    logp, target, weight, ignored = node._saved_self, node._saved_target, node._saved_weight, node._saved_ignore_index
    if ignored >= 1 << 63:                      # torch shows a negative number as an unsigned one
        ignored -= 1 << 64
    counted = target != ignored
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
        name = node.name()
        edges = below(node)
        if len(edges) != 1 or name not in MOVING and name not in STAYING:
            break
        if name in MOVING:
            try:
                at = node(at)
            except RuntimeError:                # another dtype than what was picked from
                break
            at = at[0] if isinstance(at, tuple) else at
        node = edges[0]
    return found


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
