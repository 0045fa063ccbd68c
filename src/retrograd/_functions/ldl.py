"""torch.linalg.ldl_factor, ldl_solve: A = L D Lt of symmetric matrices, L D LH of hermitian ones.

D has blocks of 1 and 2: Bunch and Kaufman 1977.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._engine.tensor import wants_grad, wrap
from .._rules.lu import size_of
from .._rules.order import NotImplemented_
from .matrices import kind_of, squares
from .results import named

FACTOR, _ = (named(f"linalg_ldl_factor{end}", "LD", "pivots") for end in ("", "_out"))
FACTOR_EX, _ = (named(f"linalg_ldl_factor_ex{end}", "LD", "pivots", "info") for end in ("", "_out"))
ALPHA = (1 + math.sqrt(17)) / 8                 # bounds the growth of elements


def ldl_factor_ex(A: Any, *, hermitian: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """(LD, pivots, info) of the lower triangle of A, as LAPACK's sytrf or hetrf; info: D's first zero block, from 1, or 0."""
    name = "torch.linalg.ldl_factor_ex"
    x = squares(A, name) if A.array.dtype.itemsize != 2 else lacking("ldl_factor_kernel_cpu", A)
    flat = x.array.reshape(-1, *x.array.shape[-2:]) if x.array.size else x.array[:0].reshape(0, 0, 0)
    with np.errstate(all="ignore"):                 # NaN and inf go through, as in LAPACK
        parts = [factored(one, turns(A, hermitian)) for one in flat]
    shape = x.array.shape
    ld = np.array([p[0] for p in parts], x.array.dtype).reshape(shape)
    pivots = np.array([p[1] for p in parts], np.int32).reshape(shape[:-1])
    info = np.array([p[2] for p in parts], np.int32).reshape(shape[:-2]) if parts else np.zeros(shape[:-2], np.int32)
    if check_errors:
        refuse(name, info)
    return FACTOR_EX((unruled("linalg_ldl_factor_ex", ld, x), wrap(pivots), wrap(info)))


def ldl_factor(A: Any, *, hermitian: bool = False, out: Any = None) -> Any:
    """(LD, pivots): L below the diagonal of LD and D on it; pivots from 1, negative twice for a block of 2.  No derivative.

    https://pytorch.org/docs/stable/generated/torch.linalg.ldl_factor.html
    """
    ld, pivots, info = ldl_factor_ex(A, hermitian=hermitian)
    refuse("torch.linalg.ldl_factor", info.array)
    return FACTOR((ld, pivots))


def turns(x: Any, hermitian: bool) -> Any:
    """What an element is when seen from the other side of the diagonal; None: the same."""
    return np.conjugate if hermitian and x.array.dtype.kind == "c" else None


def lacking(kernel: str, x: Any) -> Any:
    raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind_of(x)}'")


def refuse(name: str, info: Any) -> None:
    if info.any():
        code = info.reshape(-1)[np.flatnonzero(info)[0]]
        raise RuntimeError(
            f"{name}: Unknown error code: {code}.\nThe matrix is singular: row {code} of D (from 1) is zero. ldl_factor_ex gives "
            "the factors all the same")


def unruled(what: str, y: Any, *inputs: Any) -> Any:
    """y as a tensor, recorded without a derivative."""
    node = NotImplemented_(y)
    node.what = what
    return node.run(next((x for x in inputs if wants_grad(x)), inputs[0]))


def factored(matrix: Any, turn: Any) -> tuple[Any, list[int], int]:
    """LAPACK's sytf2 or hetf2 for the lower triangle: (LD, pivots, info)."""
    a = np.tril(matrix)
    if turn is not None:
        np.fill_diagonal(a, a.diagonal().real)
    n, k, info = len(a), 0, 0
    pivots = [0] * n
    while k < n:
        size, top = 1, size_of(a[k, k])
        row = k + 1 + int(size_of(a[k + 1:, k]).argmax()) if k < n - 1 else k
        column = size_of(a[row, k]) if row > k else 0.0
        swap, nothing = k, column == 0 and not top > 0      # or NaN
        if nothing:
            info = info or k + 1
        elif not top >= ALPHA * column:             # also where one of them is NaN
            across = size_of(np.concatenate([a[row, k:row], a[row + 1:, row]])).max()
            if not top >= ALPHA * column * (column / across):
                swap = row
                size = 1 if size_of(a[row, row]) >= ALPHA * across else 2
        last = k + size - 1
        if swap != last:
            exchange(a, last, swap, turn)
            if size == 2:
                a[k + 1, k], a[swap, k] = a[swap, k], a[k + 1, k]
        pivots[k] = swap + 1 if size == 1 else -(swap + 1)
        if size == 2:
            pivots[k + 1] = pivots[k]
        if not nothing:
            eliminate(a, k, size, turn)
        k += size
    return a, pivots, info


def exchange(a: Any, i: int, j: int, turn: Any) -> None:
    """Rows and columns i < j of the part from i on, in the lower triangle."""
    a[j + 1:, [i, j]] = a[j + 1:, [j, i]]
    a[i + 1:j, i], a[j, i + 1:j] = a[j, i + 1:j].copy(), a[i + 1:j, i].copy()
    a[i, i], a[j, j] = a[j, j], a[i, i]
    if turn is not None:                        # they crossed the diagonal
        a[i + 1:j, i], a[j, i:j] = turn(a[i + 1:j, i]), turn(a[j, i:j])


def eliminate(a: Any, k: int, size: int, turn: Any) -> None:
    """Take the block at k out of what is below, and leave its columns of L."""
    below = a[k + size:, k:k + size].copy()
    low = inverted(a, k, below.T, turn, True).T if size == 2 else below / a[k, k]
    a[k + size:, k + size:] -= np.tril(low @ (below.T if turn is None else turn(below.T)))
    if turn is not None:
        np.fill_diagonal(a, a.diagonal().real)
    a[k + size:, k:k + size] = low


def inverted(a: Any, k: int, y: Any, turn: Any, right: bool = False) -> Any:
    """The inverse of the block of 2 at k, transposed if `right`, times y, as LAPACK: a singular block gives inf and NaN."""
    side = a[k + 1, k]
    other = side if turn is None else turn(side)
    if right:
        side, other = other, side
    first, second, top, low = a[k, k] / other, a[k + 1, k + 1] / side, y[0] / other, y[1] / side
    scale = 1 / (first * second - 1)
    return np.stack([scale * (second * top - low), scale * (first * low - top)])


def ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False, out: Any = None) -> Any:
    """X with A X = B, given ldl_factor(A).  No derivative.

    https://pytorch.org/docs/stable/generated/torch.linalg.ldl_solve.html
    """
    name = "torch.linalg.ldl_solve"
    x = squares(LD, name)
    if B.ndim < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got -2)")
    n = x.shape[-1]
    if B.array.dtype != x.array.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {kind_of(B)} and A of type {kind_of(x)} instead.")
    if B.shape[-2] != n:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {n} by {n} but each b matrix is {B.shape[-2]} by "
            f"{B.shape[-1]}")
    if pivots.array.shape != x.array.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape {list(pivots.shape)} "
            "instead")
    if pivots.array.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {kind_of(pivots)}")
    check_pivots(pivots.array, n)
    lead = np.broadcast_shapes(x.array.shape[:-2], B.array.shape[:-2])
    y = np.array(np.broadcast_to(B.array, (*lead, *B.array.shape[-2:])))
    factors = np.broadcast_to(x.array, (*lead, n, n))
    signs = np.broadcast_to(pivots.array, (*lead, n))
    with np.errstate(all="ignore"):
        for at in np.ndindex(*lead):
            solve(factors[at], signs[at], y[at], turns(LD, hermitian))
    return unruled("linalg_ldl_solve", y, x, B)


def check_pivots(pivots: Any, n: int) -> None:
    """RuntimeError unless every pivot names a row, from 1, and negative ones, of blocks of 2, come in pairs."""
    sizes = np.abs(pivots.astype(np.int64))
    for wrong, bound in ((sizes < 1, ">= 1"), (sizes > n, "<= LD.size(-2)")):
        if wrong.any():
            raise RuntimeError(
                f"Pivots given to ldl_solve must all satisfy |pivot| {bound}. Did you properly pass the result of ldl_factor?")
    for row in (pivots < 0).reshape(-1, n) if n else ():
        edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]])))
        odd = [int(start) for start, end in zip(edges[::2], edges[1::2]) if (end - start) % 2]
        if odd:
            raise RuntimeError(
                "Negative pivots given to ldl_solve must come in pairs, for blocks of 2 rows; those from place "
                f"{odd[0]} on (from 0) are odd in number. Did you properly pass the result of ldl_factor?")


def solve(a: Any, pivots: Any, y: Any, turn: Any) -> None:
    """LAPACK's sytrs or hetrs for the lower triangle, in place of the right sides."""
    n, k = len(a), 0
    blocks = []
    while k < n:
        size = 1 if pivots[k] > 0 else 2
        last = k + size - 1
        swap = abs(int(pivots[last])) - 1       # of a pair the second
        if swap != last:
            y[[last, swap]] = y[[swap, last]]
        y[k + size:] -= a[k + size:, k:k + size] @ y[k:k + size]
        y[k:k + size] = inverted(a, k, y[k:k + size], turn) if size == 2 else y[k] / a[k, k]
        blocks.append((k, size, last, swap))
        k += size
    for k, size, last, swap in reversed(blocks):
        low = a[k + size:, k:k + size].T
        y[k:k + size] -= (low if turn is None else turn(low)) @ y[k + size:]
        if swap != last:
            y[[last, swap]] = y[[swap, last]]
