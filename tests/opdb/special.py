"""Rows of special functions, LU, CTC and the like."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .pointwise import _inverse, _slope
from .shared import one, two, vector
from .table import INTS, WIDE, Make, Op, S, f64


def special(name: str, ref: Callable[[float], float], low: float, high: float, **kw: Any) -> Op:
    return Op(f"special.{name}", one, vector(ref), low=low, high=high, dtypes=WIDE, **{"tol": 50, **kw})


def i1(x: float) -> float:
    return _slope(lambda t: float(np.i0(t)), x)


def ndtr(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def gamma_part(a: Any, x: Any) -> Any:
    """Of a whole order a: 1 - exp(-x) times the first a terms of exp(x)."""
    a, x = np.broadcast_arrays(a, x)
    return np.array([1 - math.exp(-t) * sum(t**k / math.factorial(k) for k in range(int(n))) for n, t in zip(
        a.ravel(), x.ravel())]).reshape(a.shape)


def orders(m: Make) -> Iterator[S]:
    for n in (1, 3, 7):
        yield S(np.full((2, 1), n, m.dtype), m.x(2, 4))


def eliminated(x: Any) -> tuple[Any, Any, Any]:
    """(P, L, U) of one matrix, by elimination with the largest pivot."""
    n, m = x.shape
    u, p, low = x.astype(np.float64).copy(), np.eye(n), np.eye(n)
    for j in range(min(n, m)):
        best = j + int(np.abs(u[j:, j]).argmax())
        for rows in (u, p):
            rows[[j, best]] = rows[[best, j]]
        low[[j, best], :j] = low[[best, j], :j]
        for i in range(j + 1, n):
            low[i, j] = u[i, j] / u[j, j]
            u[i] -= low[i, j] * u[j]
    k = min(n, m)
    return p.T, low[:, :k], np.triu(u[:k])


def each(x: Any) -> list[Any]:
    found = [eliminated(one) for one in x.reshape(-1, *x.shape[-2:])]
    return [np.stack(parts).reshape(*x.shape[:-2], *parts[0].shape) for parts in zip(*found)]


def factored(x: Any) -> Any:
    _, low, up = each(x)
    n, m = x.shape[-2:]
    k = min(n, m)
    out = np.zeros_like(x)
    out[..., :, :k] += np.tril(low, -1)
    out[..., :k, :] += up
    return out


def matrices(m: Make) -> Iterator[S]:
    yield S(m.x(3, 3))
    yield S(m.x(2, 4))
    yield S(m.x(4, 2))
    yield S(m.x(2, 3, 3))


def labellings(m: Make) -> Iterator[S]:
    steps, n, classes = 4, 2, 3
    logs = m.x(steps, n, classes, low=-2, high=-0.2)
    targets = np.array([[1, 2], [2, 2]])
    yield S(logs, targets, np.array([4, 4]), np.array([2, 1]))
    yield S(logs, np.array([1, 2, 2]), np.array([4, 3]), np.array([2, 1]), reduction="none")
    yield S(logs, targets, np.array([3, 4]), np.array([2, 2]), reduction="sum", blank=0)


def ctc(logs: Any, targets: Any, ins: Any, outs: Any, blank: int = 0, reduction: str = "mean") -> Any:
    """By writing out every path."""
    logs = logs - np.log(np.exp(logs).sum(2, keepdims=True))
    rows = np.split(targets, np.cumsum(outs)[:-1]) if targets.ndim == 1 else [row[:k] for row, k in zip(targets, outs)]
    losses = []
    for n, row in enumerate(rows):
        total = 0.0
        for path in itertools.product(range(logs.shape[2]), repeat=int(ins[n])):
            if [c for c, _ in itertools.groupby(path) if c != blank] == list(row):
                total += math.exp(sum(logs[t, n, c] for t, c in enumerate(path)))
        losses.append(-math.log(total))
    found = np.array(losses)
    return found if reduction == "none" else found.sum() if reduction == "sum" else (found / np.maximum(outs, 1)).mean()


def runs(m: Make) -> Iterator[S]:
    for name in ("sum", "mean", "max", "min", "prod"):
        yield S(m.x(6), name, lengths=np.array([2, 1, 3]))
        yield S(m.x(6, 2), name, lengths=np.array([2, 0, 4]), initial=1.5)
        yield S(m.t(2, 5, 3), name, lengths=np.array([[2, 3], [1, 4]]), axis=1)
        yield S(m.s(2, 5), name, offsets=np.array([[0, 2, 5], [0, 4, 5]]), axis=-1)
        yield S(m.x(6), name, offsets=np.array([1, 3, 3, 5]), initial=0.5)
        yield S(m.x(7), name, lengths=np.array([2, 4]), unsafe=True)
    yield S(np.array([0.0, 2.0, 3.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0]).astype(m.dtype), "prod", lengths=np.array([3, 3, 3]))


def over_runs(
    x: Any, name: str, lengths: Any = None, offsets: Any = None, axis: int = 0, initial: Any = None, unsafe: bool = False
) -> Any:
    """Row by row and segment by segment."""
    axis %= x.ndim
    if offsets is None:
        offsets = np.concatenate([np.zeros_like(lengths[..., :1]), np.cumsum(lengths, -1)], -1)
    start = {"sum": 0.0, "mean": 0.0, "max": -np.inf, "min": np.inf, "prod": 1.0}[name] if initial is None else initial
    out = np.full(x.shape[:axis] + (offsets.shape[-1] - 1,) + x.shape[axis + 1:], start)
    join = {"max": np.maximum, "min": np.minimum, "prod": np.multiply}.get(name, np.add)
    for row in np.ndindex(*x.shape[:axis]):
        for i in range(offsets.shape[-1] - 1):
            first, last = offsets[(*row, i)], offsets[(*row, i + 1)]
            for part in x[row][first:last]:
                out[(*row, i)] = join(out[(*row, i)], part)
            if name == "mean" and last > first:
                out[(*row, i)] /= last - first
    return out


SPECIAL = [
    Op("segment_reduce", runs, over_runs, dtypes=WIDE, node="SegmentReduceBackward0", method=None, oracle=False, tol=20),
    Op("i0", one, np.i0, low=-4, high=4, dtypes=WIDE, node="I0Backward0", tol=20, inplace=True, out=True),
    special("i0e", lambda x: float(np.i0(x)) * math.exp(-abs(x)), -4, 4, kinks=(0.0,), node="SpecialI0EBackward0"),
    special("i1", i1, -4, 4, node="SpecialI1Backward0", tol=1e6),
    special("i1e", lambda x: i1(x) * math.exp(-abs(x)), -4, 4, kinks=(0.0,), node="SpecialI1EBackward0", tol=1e6),
    special("entr", lambda x: -x * math.log(x), 0.1, 3, node="SpecialEntrBackward0"),
    special("erfcx", lambda x: math.exp(x * x) * math.erfc(x), -2, 5, node="SpecialErfcxBackward0", tol=200),
    special("log_ndtr", lambda x: math.log(ndtr(x)), -6, 3, node="SpecialLogNdtrBackward0"),
    special("ndtr", ndtr, -4, 4),
    special("ndtri", lambda p: _inverse(ndtr, p), 0.02, 0.98, node="SpecialNdtriBackward0", tol=1e4),
    Op("special.xlog1py", two, lambda a, b: a * np.log1p(b), low=-0.7, high=3, dtypes=WIDE, node="SpecialXlog1PyBackward0"),
    Op("igamma", orders, gamma_part, low=0.3, high=9, dtypes=WIDE, node="IgammaBackward0", fixed=(0,), tol=100),
    Op("igammac", orders, lambda a, x: 1 - gamma_part(a, x), low=0.3, high=9, dtypes=WIDE, node="IgammacBackward0",
       fixed=(0,), tol=100),
    Op("nextafter", two, np.nextafter, dtypes=(f64,), order2=False, exact=True, result="tensors", inplace=True),
    Op("gcd", two, np.gcd, low=0, high=40, dtypes=INTS, grad=False, exact=True, inplace=True, result="tensors"),
    Op("lcm", two, np.lcm, low=0, high=9, dtypes=INTS, grad=False, exact=True, inplace=True, result="tensors"),
    Op("linalg.lu", matrices, lambda x: each(x)[1:], dtypes=WIDE, node="LinalgLuBackward0", tol=50,
       call=lambda torch: lambda x: tuple(torch.linalg.lu(x))[1:]),
    Op("linalg.lu_factor", matrices, factored, dtypes=WIDE, node="LinalgLuFactorExBackward0", tol=50,
       call=lambda torch: lambda x: torch.linalg.lu_factor(x)[0]),
    Op("F.ctc_loss", labellings, ctc, dtypes=WIDE, order2=False, tol=20, twice=None, call=lambda torch: lambda x, *a, **k: (
       torch.nn.functional.ctc_loss(torch.log_softmax(x, 2), *a, **k))),        # whose gradient takes that for granted
    Op("F.pdist", lambda m: iter([S(m.x(4, 3)), S(m.x(3, 2), 1.5), S(m.x(1, 3))]), lambda x, p=2.0: np.array(
        [(np.abs(x[i] - x[j]) ** p).sum() ** (1 / p) for i in range(len(x)) for j in range(i + 1, len(x))]),
       path="nn.functional.pdist", dtypes=WIDE, order2=False, oracle=False, tol=20),
]
