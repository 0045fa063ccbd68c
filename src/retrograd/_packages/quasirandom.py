"""torch.quasirandom: Sobol sequences, with PyTorch's numbers.

sobol.bin has, for each dimension after the first in the order of their polynomials' degrees s, the s - 1 inner coefficients of
the polynomial and the numbers m_2 ... m_s without their last bit, which is 1.   Joe and Kuo 2008, new-joe-kuo-6.
"""
from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from retrograd._functions import arange, cat, randint, tensor, zeros
from retrograd._missing import late_names
from retrograd._tensor.dtypes import get_default_dtype, int64
from retrograd.random import Generator

__all__ = ["SobolEngine"]
late_names(__name__)

MAXBIT = 30
DEGREES = (0, 1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630)      # primitive polynomials of degree 0, 1, ...: dimensions
STORED = 1 + sum(DEGREES)


@lru_cache(4)
def directions(dimension: int) -> Any:
    """(dimension, MAXBIT) direction numbers, the first bit that a number sets being the 30th from the right."""
    packed = np.frombuffer((Path(__file__).parent / "sobol.bin").read_bytes(), np.uint8)
    bits = iter(np.unpackbits(packed).tolist())
    rows = [[1] * MAXBIT]
    for s in (s for s, count in enumerate(DEGREES) for _ in range(count)):
        if len(rows) == dimension:
            break
        inner = [next(bits) for _ in range(s - 1)]
        m = [1] + [int("".join(str(next(bits)) for _ in range(i - 1)) + "1", 2) for i in range(2, s + 1)]
        for i in range(s, MAXBIT):
            new = m[i - s] ^ (m[i - s] << s)
            for k, a in enumerate(inner, 1):
                new ^= a * (m[i - k] << k)
            m.append(new)
        rows.append(m)
    return np.array(rows, np.int64) << np.arange(MAXBIT - 1, -1, -1)


class SobolEngine:
    """Points of a Sobol sequence in the unit cube, scrambled with `scramble` (Owen 1998), by `seed` if it is given.

    ValueError unless 1 <= dimension <= MAXDIM; NotImplementedError above 1111, for which no direction numbers are kept.
    """

    MAXBIT = MAXBIT
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        if dimension > STORED:
            raise NotImplementedError(f"SobolEngine: retrograd keeps direction numbers of {STORED} dimensions, not {dimension}")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = tensor(directions(dimension))
        self.shift = zeros(dimension, dtype=int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Any:
        """The next n points: (n, dimension)."""
        dtype = get_default_dtype() if dtype is None else dtype
        first = self.num_generated == 0
        points = self._steps(n - first)
        if n - first:
            self.quasi = tensor(points[-1])
        result = tensor(points).to(dtype) * 2.0**-MAXBIT
        if first:
            result = cat((self._first_point.to(dtype), result))
        self.num_generated += n
        if out is None:
            return result
        return out.resize_(result.shape).copy_(result)

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Any:
        """The next 2**m points; ValueError where they would not end at a power of two."""
        n = 2**m
        total_n = self.num_generated + n
        if total_n & (total_n - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}={total_n}. "
                "If you still want to do this, please use 'SobolEngine.draw()' instead.")
        return self.draw(n, out, dtype)

    def reset(self) -> SobolEngine:
        """Back to the first point."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """As draw(n), without the points."""
        points = self._steps(n - (self.num_generated == 0))
        if len(points):
            self.quasi = tensor(points[-1])
        self.num_generated += n
        return self

    def _steps(self, n: int) -> Any:
        """The n points after self.quasi, as integers: each differs by the direction of the lowest zero bit of its number."""
        steps = np.arange(n, dtype=np.int64) + max(self.num_generated - 1, 0)
        lowest = np.log2(~steps & (steps + 1)).astype(np.int64)
        turns = self.sobolstate.numpy().T[lowest]
        return np.bitwise_xor.accumulate(np.concatenate([self.quasi.numpy()[None], turns]), axis=0)[1:]

    def _scramble(self) -> None:
        g = None if self.seed is None else Generator().manual_seed(self.seed)
        bits = randint(2, (self.dimension, MAXBIT), generator=g)
        self.shift = (bits * 2 ** arange(MAXBIT)).sum(1)
        lower = randint(2, (self.dimension, MAXBIT, MAXBIT), generator=g).tril().numpy()
        lower |= np.eye(MAXBIT, dtype=np.int64)         # ones on the diagonal: nothing is lost
        powers = np.arange(MAXBIT - 1, -1, -1)
        columns = self.sobolstate.numpy()[:, :, None] >> powers & 1
        mixed = np.einsum("dpc,djc->djp", lower, columns) & 1
        self.sobolstate = tensor((mixed << powers).sum(-1))

    def __repr__(self) -> str:
        more = [f"dimension={self.dimension}", *["scramble=True"] * bool(self.scramble),
                *([] if self.seed is None else [f"seed={self.seed}"])]
        return f"{type(self).__name__}({', '.join(more)})"
