"""Where are the samples in what a call computes?  Three more backward passes tell.

The model's output gets a random gradient: for the even samples alone, for the odd ones alone, and for all, times a number
of each sample's own.  In the first two, what arrives at a use must be zero in the parts that belong to the others; in the
third it must be that of the first two, times each sample's number.  So a wrong axis is noticed where its length proves
nothing (as many tokens as samples), and so are layers that mix samples or put them in another order.  Where the batch is
not at its usual place, the places in FORMS are tried: a batch and its tokens in one dimension, say.

A use whose rows are a permutation of the outputs' has its samples apart, too: each row's factor in the third pass says whose
it is.  Which sample of the input each row is of says sample_order.py.

What was found holds for later steps that make the same calls (tally.py), but where the passes brought nothing but zeros, nothing
was found: they are repeated (runs.Known).  Where the graph has a node that picks or cuts along the batch (experts that get some
of the samples, an order by length, packed sequences), reduces it (`h + k * h.mean(0)`, whose k may be 0), or multiplies a matrix
of the batch with data, every step is asked.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

from .batch_dims import MOVING, is_leaf, kind, shape_above
from .batches import FORMS, along, samples_first
from .layers import Elementwise
from .pending import drain
from .recomputing import AGAIN
from .runs import Run, Use
from .sample_order import NOBODY, put_in_order
from .sources import Made, flat

TOLERANCE = {8: 1e-6, 4: 1e-3, 2: 6e-2}         # of a sample's part, by bytes of its numbers


def batched(cap: Any, run: Run, out: Any) -> list[Any]:
    """The outputs of the model that have a gradient, and the batch in the dimension named."""
    found = (out,) if cap.engine.is_tensor(out) else flat(vars(out) if is_dataclass(out) else out)
    return [x for x in found if cap.engine.is_tensor(x) and x.requires_grad and x.ndim > cap.batch_dim
            and x.shape[cap.batch_dim] == run.size]


def verify(cap: Any, run: Run, out: Any) -> None:
    """Find out of each use of a run where its samples are: use.apart, mixes, form, proven; run.verified when asked."""
    T = cap.engine.torch
    N = run.size
    tensors = batched(cap, run, out)
    if N is None or N < 2 or not tensors:
        return
    generator = T.Generator().manual_seed(0)
    gradients = [T.randn(*x.shape, generator=generator).to(x.dtype).to(x.device) for x in tensors]
    even = [float(n % 2 == 0) for n in range(N)]
    own = numbers(N, fine=True)
    inputs = [x for x in run.inputs.values() if x.requires_grad and x.ndim > cap.batch_dim and x.shape[cap.batch_dim] == N]
    leaves = [p.tensor for p in cap.params if p.tensor.requires_grad] + cap.stand_ins + inputs
    found: list[dict[int, dict[int, Any]]] = []
    at_inputs: list[list[Any]] = []
    cap._make_uses()                            # so that none takes the gradients of these passes for its own
    others = cap._others()
    for turn in range(3):
        if turn == 2 and any(d.dtype.itemsize < 4 for arrived in found for ds in arrived.values() for d in ds.values()):
            own = numbers(N, fine=False)
        weights = (even, [1 - w for w in even], own)[turn]
        pushed = []
        for x, g in zip(tensors, gradients):
            by = T.tensor(weights, device=x.device).to(x.dtype).reshape([-1 if i == cap.batch_dim else 1 for i in range(x.ndim)])
            pushed.append(g * by)
        watched, cap.checking, cap._aside = cap.checking, False, {}
        for other in others:
            other._aside = {}
        try:
            got = T.autograd.grad(tensors, leaves, pushed, retain_graph=True, allow_unused=True)
        except Exception:                       # a reentrant checkpoint, or a hook of the user's, does not allow it
            return
        finally:
            drain(cap)
            arrived, cap._aside, cap.checking = cap._aside, None, watched
            for other in others:
                drain(other)
                other._aside = None
        found.append(arrived)
        at_inputs.append(got[len(got) - len(inputs):])
    run.verified = True
    constant = [made.tensor.grad_fn for made in cap._tracked.values() if isinstance(made, Made)]    # of parameters alone
    fixed = set(map(id, constant))
    run.moved = run.moved or any(id(node) not in fixed and moves(node, cap.batch_dim) for node in nodes(tensors))
    with T.no_grad():
        for use in run.uses:
            arrivals = [[a.get(id(use), {}).get(k) for a in found] for k in range(len(use.deltas))]
            seen = [(k, three) for k, three in enumerate(arrivals) if three[2] is not None and telling(T, three[2])]
            if seen:
                place(T, use, seen, even, own)
            elif any(three[2] is not None for three in arrivals):
                use.dark = run.dark = True
        entries = []
        for three in zip(*at_inputs):
            if three[2] is not None and telling(T, three[2]):
                first, second, last = (
                    real(T, (T.zeros_like(three[2]) if g is None else g).movedim(cap.batch_dim, 0).reshape(N, -1)) for g in three)
                entries.append((whose(T, first, second, last, even, own), list(range(N))))
        put_in_order(cap, run, entries)
    run.moved = run.moved or all(use.apart for use in run.uses) and any(
        contracts(cap, node, N, fixed) or id(node) not in fixed and reduces(node, N, cap.batch_dim) for node in nodes(tensors))


def numbers(N: int, fine: bool) -> list[float]:
    """One for each sample: powers of two, which do not change how numbers are rounded, or all different (`fine`)."""
    return [2.0 ** (3 * n % 7 - 3) * (1 + n * 0.618033988749895 % 1 / 2 if fine else 1) for n in range(N)]


# Nodes that pick by numbers, or cut at lengths, which the data may give -> where they have the dimension, or the indices
PICKING = {
    "SplitWithSizesBackward0": "_saved_dim", "CatBackward0": "_saved_dim", "SliceBackward0": "_saved_dim",
    "IndexBackward0": "_saved_indices", "IndexPutBackward0": "_saved_indices", "UnsafeIndexBackward0": "_saved_indices",
    "IndexSelectBackward0": "_saved_dim", "IndexAddBackward0": "_saved_dim", "IndexCopyBackward0": "_saved_dim",
    "GatherBackward0": "_saved_dim", "ScatterBackward0": "_saved_dim", "ScatterAddBackward0": "_saved_dim",
    "SortBackward0": "_saved_dim", "SortBackward1": "_saved_dim", "TopkBackward0": "_saved_dim",
    "MaskedSelectBackward0": "", "MaskedScatterBackward0": "", "TakeBackward0": "", "PutBackward0": "",
    "PackPaddedSequenceBackward0": "",
}


def nodes(tensors: list[Any]) -> Iterator[Any]:
    """All of the graph below."""
    seen: dict[int, Any] = {}
    todo = [x.grad_fn for x in tensors]
    while todo:
        node = todo.pop()
        if node is not None and id(node) not in seen:
            seen[id(node)] = node               # held, so that its id stays its own
            todo.extend(below for below, _ in node.next_functions)
            yield node


def moves(node: Any, batch_dim: int) -> bool:
    """May it put samples elsewhere in another step?"""
    where = PICKING.get(node.name())
    if where is None:
        return False
    first = node.next_functions[0][0] if node.next_functions else None
    if first is not None and first.name().endswith("AccumulateGrad"):       # rows of a parameter
        return False
    value = getattr(node, where, None) if where else None
    if value is None:
        return True
    if not isinstance(value, int):              # indices
        return next((i for i, x in enumerate(value) if x is not None), 0) <= max(batch_dim, 1)
    if value >= 1 << 63:                        # torch shows a negative number as an unsigned one
        known = getattr(node, "_input_metadata", None)
        if not known:
            return True
        value += len(known[0].shape) - (1 << 64)
    return value in (0, batch_dim)


COPYING = MOVING | {"ToCopy", "Clone", "Alias"}


def contracts(cap: Any, node: Any, N: int, fixed: set[int]) -> bool:
    """Does it multiply with data that have a sample in each row?  The factors, such as a mask, may mix them in another step.

    fixed   ids of nodes that made something of parameters alone
    """
    if kind(node) not in ("Mm", "Bmm", "Addmm"):
        return False
    factors = node.next_functions[-2:]          # of Addmm, behind what is added
    rows = factors[1][0]
    while rows is not None and id(rows) not in fixed and len(rows.next_functions) == 1 and kind(rows) in COPYING:
        rows = rows.next_functions[0][0]
    if rows is None or id(rows) in fixed or is_leaf(rows) and id(rows.variable) in cap._tracked:
        return False
    left, right = (shape_above(*edge) or () for edge in factors)
    left = left or getattr(node, "_saved_self_sym_sizes", None) or getattr(node, "_saved_mat1_sym_sizes", None) or ()
    if not (left or right) and cap.ours:        # PyTorch's say their shapes; what they kept may be far away
        left = getattr(getattr(node, "_saved_self", None), "shape", ())
    if kind(node) == "Bmm" and (left or right or (0,))[0] != 1:
        return False                            # a product for each sample
    summed = left[-1] if left else right[-2] if right else 0
    return bool(summed) and summed % N == 0


# Nodes that make one of several samples, or give each what comes from others
REDUCING = set("""
    Sum Nansum Mean Prod Var Std VarMean StdMean LinalgVectorNorm Amax Amin Aminmax Max Min Median Kthvalue Mode Logsumexp
    Cumsum Cumprod Logcumsumexp Cummax Cummin Softmax LogSoftmax Select Unbind
""".split())


def reduces(node: Any, N: int, batch_dim: int) -> bool:
    """Does it take samples together?  What comes of it may count for nothing in this step, and for something in another."""
    if kind(node) not in REDUCING:
        return False
    above = node.next_functions[0]
    shape = shape_above(*above) or getattr(node, "_saved_self_sym_sizes", None)
    for name in ("_saved_self", "_saved_result"):
        try:
            shape = shape or getattr(getattr(node, name, None), "shape", None)
        except RuntimeError:                    # changed in place since
            return True
    if not shape:
        return True
    dims = getattr(node, "_saved_dim", None)
    dims = (dims,) if isinstance(dims, int) else dims or range(len(shape))
    # torch shows a negative number as an unsigned one
    places = {(dim - (1 << 64) if dim >= 1 << 63 else dim) % len(shape) for dim in dims}
    if above[0] is None or kind(above[0]) not in ("Permute", "Transpose", "T"):     # else the batch may be anywhere
        places &= {0, batch_dim}
    return any(shape[place] == N for place in places)


def telling(T: Any, delta: Any) -> bool:
    """Does it tell anything?  Zeros, NaN and inf do not."""
    return bool((delta != 0).any()) and bool(T.isfinite(delta).all())


def real(T: Any, rows: Any) -> Any:
    """Rows (N, everything else) of complex numbers by their parts: these, too, follow a real factor of the gradient above."""
    return T.view_as_real(rows.resolve_conj()).reshape(len(rows), -1) if rows.is_complex() else rows


def place(T: Any, use: Use, seen: list[tuple[int, list[Any]]], even: list[float], own: list[float]) -> None:
    """Find the form of a use in which its samples are apart."""
    claimed = False
    for form in (None, *FORMS):
        use.form, use.apart = form, True
        answers = [fits(T, use, k, three, even, own) for k, three in seen]
        if None not in answers and all(answers):
            use.proven = True
            return
        claimed = claimed or form is None and None not in answers
    for form in (None, *FORMS):
        use.form, use.apart = form, True
        found = [rows_below(T, use, k, three, even, own) for k, three in seen]
        if None not in found and all(back == found[0] for back in found):
            use.back, use.proven = found[0], True
            return
    use.form, use.apart, use.mixes = None, False, claimed
    k, three = seen[0]
    if use.origins and use.kind.kind in ("linear", "matmul", "embedding"):
        first, second, last = (
            real(T, (T.zeros_like(three[2]) if d is None else d).reshape(-1, three[2].shape[-1])) for d in three)
        use.rows = whose(T, first, second, last, even, own, once=False)


def fits(T: Any, use: Use, k: int, three: list[Any], even: list[float], own: list[float]) -> bool | None:
    """Is each sample where use.form has it, in output k?  None when that is nowhere."""
    last = parts(T, use, k, three[2])
    if last is None:
        return None
    first, second = (T.zeros_like(last) if d is None else parts(T, use, k, d) for d in three[:2])
    most = 1e-6 * float(last.abs().max())
    chosen = T.tensor(even, device=last.device) > 0
    if float(first[~chosen].abs().max()) > most or float(second[chosen].abs().max()) > most:
        return False
    want = (first + second) * T.tensor(own, device=last.device).to(last.dtype).reshape(-1, 1)
    near = TOLERANCE[last.dtype.itemsize] * want.norm(dim=1) + most
    return bool(((last - want).norm(dim=1) <= near).all())


def rows_below(T: Any, use: Use, k: int, three: list[Any], even: list[float], own: list[float]) -> list[int] | None:
    """Which sample of the outputs each row of output k is of, where use.form has the rows; None when they are not apart."""
    last = parts(T, use, k, three[2])
    if last is None:
        return None
    first, second = (T.zeros_like(last) if d is None else parts(T, use, k, d) for d in three[:2])
    return whose(T, first, second, last, even, own)


def whose(T: Any, first: Any, second: Any, last: Any, even: list[float], own: list[float], once: bool = True) -> list[int] | None:
    """Of rows (N, everything else) in the three passes; NOBODY of one without gradient; None when a row is of several.

    once    None, too, when several rows are of one
    """
    N, size = len(own), last.dtype.itemsize
    first, second, last = first.double(), second.double(), last.double()
    most = 1e-6 * float(last.abs().max())
    one, other = (d.abs().amax(1) > most for d in (first, second))
    if bool((one & other).any()):
        return None
    both = first + second
    squares = both.pow(2).sum(1)
    by = (last * both).sum(1) / squares.clamp(min=1e-300)
    numbers = T.tensor(own, device=last.device).double()
    off = (by.unsqueeze(1) / numbers - 1).abs()
    off = T.where(one.unsqueeze(1) == (T.tensor(even, device=last.device) > 0), off, float("inf"))
    near, who = off.topk(min(2, N), 1, largest=False)
    close = TOLERANCE[size] / 10
    left = (last - both * numbers[who[:, 0]].unsqueeze(1)).norm(dim=1) > TOLERANCE[size] * last.norm(dim=1) + most
    some = one | other
    if bool((some & ((near[:, 0] > close) | (near[:, -1] < 3 * close) | left)).any()):
        return None
    found = [n if there else NOBODY for n, there in zip(who[:, 0].tolist(), some.tolist())]
    there = [n for n in found if n != NOBODY]
    return found if not once or len(set(there)) == len(there) else None


def parts(T: Any, use: Use, k: int, delta: Any) -> Any:
    """The real numbers of delta (N, everything else), as it is taken to be; None when nothing is claimed."""
    rows = rows_of(use, k, delta)
    return None if rows is None else real(T, rows)


def rows_of(use: Use, k: int, delta: Any) -> Any:
    N = use.run.size
    kind = use.kind
    if kind is AGAIN or isinstance(kind, Elementwise):
        axis = kind.axes(use)[k]
        return None if axis is None or N is None else along(delta, axis, N).reshape(N, -1)
    if kind.kind in ("conv", "norm") and not (kind.kind == "norm" and use.meta[0] == "last"):
        return None if use.grouped(delta.shape[0]) is None else delta.reshape(N, -1)
    rows = samples_first(use, delta, use.meta[1] if kind.kind == "norm" else 1)
    return None if rows is None else rows.reshape(N, -1)
