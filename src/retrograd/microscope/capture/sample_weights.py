"""How many terms of a mean each sample has: ignored targets, weights of classes and picked rows differ by sample.

The terms are known where the mean is taken.  They are taken back through the graph, by the views and picks that lead there,
to what a captured layer computed or the model gave, whose samples are known.
"""
from __future__ import annotations

from typing import Any

from .batch_dims import FAR, LOSSES, MOVING, NLL, POINTWISE, SOFTMAX, UNREDUCED, Mixed, inputs, is_leaf, kind, signed
from .batch_proof import rows_of
from .runs import Run

EXACT = {8: 2 ** 53, 4: 2 ** 24}                # whole numbers up to here, by bytes of a float
AGAIN = {"Index", "UnsafeIndex", "IndexSelect", "Gather", "Take"}       # of MOVING: may pick a number twice


def weights_of(node: Any) -> tuple[Any, Any]:
    """Of each term of an NllLoss node, in the shape of its input: the weight, 0 where ignored, 1 or its class's elsewhere;
    and its number, from 1 on."""
    logp, target, weight = node._saved_self.detach(), node._saved_target, node._saved_weight
    counted = target != signed(node._saved_ignore_index)
    found = counted if weight is None else weight.detach()[target * counted] * counted
    over = min(1, logp.ndim - 1)
    return found.to(logp.dtype).unsqueeze(over).expand(logp.shape), counting(logp, over)


def counting(like: Any, over: int) -> Any:
    """Whole numbers from 1 on, in the shape of `like`, the same all along dimension `over`; None when a float has too few."""
    sizes = [1 if d == over else n for d, n in enumerate(like.shape)]
    ones = like.new_ones(sizes) if like.dtype.itemsize in EXACT else like.new_ones(sizes).float()
    if ones.numel() >= EXACT[ones.dtype.itemsize]:
        return None
    return ones.reshape(-1).cumsum(0).reshape(sizes).expand(like.shape)


def traced(node: Any, at: Any, ids: Any = None) -> dict[int, tuple[Any, Any]]:
    """(at, ids) at every tensor on the way back from a mean's input, by the number of the node that made the tensor.

    Each has the shape of its tensor.  The way ends where it forks, and at a node that may do more than move numbers.

    node   what made the mean's input
    at     the weight of each term, in its shape
    ids    what belongs together, if anything does: a term that is made of several numbers has one id in all of them, not 0
    """
    found = {}
    for _ in range(FAR):
        found[node._sequence_nr()] = at, ids
        what = kind(node)
        try:
            edges = [(n, was) for n, was in inputs(node, tuple(at.shape), at) if not is_leaf(n)]
        except Mixed:
            break
        if len(edges) != 1:
            break
        n, was = edges[0]
        if what in MOVING:
            moved = moving(node, what, at, ids)
            if moved is None:
                break
            at, ids = moved
        elif what in SOFTMAX:
            over = signed(node._saved_dim) % max(at.ndim, 1)
            if ids is None:
                ids = counting(at, over)
            if ids is None or ids.stride()[over] and not bool((ids == ids.narrow(over, 0, 1)).all()):
                break
        elif what in NLL and node._saved_reduction in UNREDUCED:        # a term is one of a row's numbers
            over = min(1, len(was) - 1)
            each = (at.unsqueeze(over) / was[over]).expand(was)
            ids = counting(each, over) if ids is None else ids.unsqueeze(over).expand(was)
            at = each
            if ids is None:
                break
        elif not (what in POINTWISE or what in LOSSES and node._saved_reduction in UNREDUCED):
            break
        node = n
        if tuple(at.shape) != was:              # broadcast
            break
    return found


def moving(node: Any, what: str, at: Any, ids: Any) -> tuple[Any, Any] | None:
    """(at, ids) below a node that moves numbers; None when it does more."""
    if what == "Gather" and any(step for i, step in enumerate(node._saved_index.stride())
                                if i != signed(node._saved_dim) % node._saved_index.ndim):
        return None                             # not whole rows
    try:
        if ids is not None and what in AGAIN and bool((pushed(node, at.new_ones(at.shape)) > 1).any()):
            return None                         # their sum is nobody's
        return pushed(node, at), None if ids is None else numbers_below(node, at, ids)
    except RuntimeError:                        # another dtype than what was picked from
        return None


def numbers_below(node: Any, at: Any, ids: Any) -> Any:
    """ids below a node; byte by byte where it wants floats of fewer bits."""
    try:
        return pushed(node, ids)
    except RuntimeError:
        digits = [ids // 128 ** k % 128 for k in range(4)]
        return sum(pushed(node, digit.to(at.dtype)).to(ids.dtype) * 128 ** k for k, digit in enumerate(digits))


def pushed(node: Any, at: Any) -> Any:
    made = node(at)
    return made[0] if isinstance(made, tuple) else made


def reached(places: dict[int, Any], ends: list[Run]) -> bool:
    """Does a way that was traced lead to the model's outputs, or a layer's?"""
    return any(number in run.outs or number in run.orders for number in places for run in ends)


def own_terms(run: Run, loss: Any) -> Any:
    """(N,) the share of all terms that each sample has, double; None when it cannot be told, or terms are of several samples.

    loss   the loss.Reduction of the run
    """
    if loss.parts:
        return alike([own_terms(run, part) for part in loss.parts])
    if loss.equal:
        some = next(d for use in run.uses for d in use.deltas if d is not None)
        return some.new_ones((run.size or 1,)).double() / (run.size or 1)
    if loss.places is None:
        return None
    for use in reversed(run.uses):
        at, ids = loss.places.get(use.order, (None, None))
        if at is not None and use.apart and use.shapes == [tuple(at.shape)]:
            rows = rows_of(use, 0, at)
            if rows is not None:
                return share(turned(rows, use.turn), None if ids is None else turned(rows_of(use, 0, ids), use.turn), loss)
    for number, (at, ids) in loss.places.items():
        if number in run.outs:
            rows, of = (None if t is None else turned(t.movedim(run.outs[number], 0).reshape(run.size, -1), run.turn)
                        for t in (at, ids))
            return share(rows, of, loss)
    return None


def turned(rows: Any, turn: list[int] | None) -> Any:
    """In the order of the model's input."""
    return rows if turn is None else rows[turn]


def share(rows: Any, ids: Any, loss: Any) -> Any:
    """... from the terms' weights (N, everything else) and what belongs together."""
    if ids is not None:
        ids = ids.round().long()
        sample = ids.new_ones(ids.shape).cumsum(0)
        seen = ids.new_zeros((int(ids.max()) + 1,))
        seen[ids.reshape(-1)] = sample.reshape(-1)
        if bool(((seen[ids] != sample) & (ids != 0)).any()):
            return None                         # the same term in two samples
    found = rows.double().sum(1)
    if loss.kind == "sum":
        return found / found.sum()
    found = found / (loss.entries * loss.count)
    return found if abs(float(found.sum()) - 1) < 2e-2 else None        # else terms are elsewhere


def alike(shares: list[Any]) -> Any:
    """The first of them, when all are the same."""
    if any(own is None or float((own - shares[0]).abs().max()) > 1e-5 * float(shares[0].max()) for own in shares):
        return None
    return shares[0]
