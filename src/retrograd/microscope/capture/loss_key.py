"""What the reduction of a loss depends on, where that is little: a loss with the same key need not be read again."""
from __future__ import annotations

import math
from typing import Any

from ..._engine.node import Node
from ..._engine.tensor import TensorBase
from ..._engine.views import grad_fn
from ..._rules.loss import Nll
from ..._rules.softmax import AlongDim
from ..listen.ear import sizes
from .batch_dims import DEEP, LOSSES, NLL, SOFTMAX, VIEWS, kind, shape_above
from .runs import Run

SUMMED = LOSSES | NLL
TOTALS = {"Sum", "Mean"}
ALIKE = SOFTMAX | {"ToCopy", "Alias", "Clone", "Sigmoid", "Tanh"}     # that give what has the shape of what they read
# Kinds of nodes of which this field, and the shapes, tell all that is asked
FIELDS = {**dict.fromkeys(SUMMED, "_saved_reduction"), **dict.fromkeys(ALIKE | VIEWS | TOTALS, "_saved_dim")}


_known: dict[Any, tuple[str, str | None, str]] = {}


def key_of(loss: Any, ends: list[Run]) -> tuple[Any, ...] | None:
    """All that the reduction of a loss depends on, where that is one way of nodes from it to an output of the model.

    None of other losses, of which numbers decide: factors, classes' weights, ignored targets.
    """
    node: Any = grad_fn(loss) if isinstance(loss, TensorBase) else loss.grad_fn
    shape = sizes(loss)
    key: list[Any] = [shape, *[run.size for run in ends]]
    summed = False
    for _ in range(DEEP):
        order = node._seq if isinstance(node, Node) else node._sequence_nr()
        for run in reversed(ends):
            if order in run.outs:
                return (*key, run.number, run.outs[order]) if summed else None
        known = _known.get(type(node))
        if known is None:
            what = kind(node)
            known = _known[type(node)] = what, FIELDS.get(what), node.name()
        what, field, name = known
        if isinstance(node, Nll) and node.whole and node.next is not None and not node.freed:      # no target counts less
            shape, summed = node.was, True
            key += (name, 0, shape, node.reduction)
            node = node.next
            continue
        if isinstance(node, AlongDim) and what in ALIKE and node.next is not None:
            key += (name, 0, shape, node.dim)
            node = node.next
            continue
        live = [(i, edge) for i, edge in enumerate(node.next_functions) if edge[0] is not None]
        if field is None or len(live) != 1:
            return None
        (i, edge), = live
        if what in SUMMED:
            before = shape_above(*edge) or getattr(getattr(node, "_saved_target" if i else "_saved_self", None), "shape", None)
        else:
            before = shape if what in ALIKE else getattr(node, "_saved_self_sym_sizes", None)
        if before is None:
            return None
        shape = tuple(before)
        key += (name, i, shape, getattr(node, field, None))
        if what in NLL and (node._saved_weight is not None or float(node._saved_total_weight) != positions(shape)):
            return None
        summed = summed or what in SUMMED or what in TOTALS and math.prod(shape) != 1
        node = edge[0]
    return None


def known_by_key(loss: Any, ends: list[Run], known: dict[Any, Any]) -> Any:
    """The reduction of a loss like one before, of our engine; None for others."""
    if not isinstance(loss, TensorBase) or loss.array.size != 1 or loss.fn is None:
        return None
    try:
        return known.get(key_of(loss, ends))
    except RuntimeError:                        # freed: whoever reads it on says so
        return None


def positions(shape: tuple[int, ...]) -> int:
    """How many targets log probabilities of this shape have."""
    return math.prod(shape[:1] + shape[2:]) if len(shape) > 1 else 1
