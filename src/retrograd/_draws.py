"""What PyTorch's CPU generator makes of the words of its Mersenne Twister: the same numbers from the same seed.

`bits` is NumPy's MT19937, which gives the same 32-bit words; a number takes one of them (float32, short integers) or two, of
which the first is the upper half.  Arrays are in C order.  Where a kernel can, it does the same (_kernels/draws.c).

Sources: Matsumoto and Nishimura 1998 for the words; Box and Muller 1958 for normals; Knuth, The Art of Computer Programming,
volume 2, 3.4.1 and 3.4.2 for Poisson counts and permutations; Hoermann 1993 for Poisson counts of rates from 10 on.
"""
from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ._kernels import kernel

quick_uniform: Final[Any] = kernel("uniform")
quick_keep: Final[Any] = kernel("keep")
quick_integers: Final[Any] = kernel("integers")
quick_permute: Final[Any] = kernel("permute")
quick_poisson: Final[Any] = kernel("poisson")

Shape = tuple[int, ...]
GROUP: Final = 16               # normals are made in groups: 8 radii, 8 angles


def words(bits: Any, n: int) -> Any:
    """n words of 32 bits, as uint64."""
    return bits.random_raw(n) if n else np.zeros(0, np.uint64)


def long_words(bits: Any, n: int) -> Any:
    """n words of 64 bits."""
    w = words(bits, 2 * n)
    return w[::2] << np.uint64(32) | w[1::2]


def uniform(bits: Any, shape: Shape, dtype: Any) -> Any:
    """In [0, 1): multiples of 2**-24 for float32, of 2**-53 for float64."""
    out = np.empty(shape, dtype)
    if not quick_uniform(bits.capsule, out):
        if dtype == np.float32:
            drawn = (words(bits, out.size) & np.uint64(2**24 - 1)).astype(np.float32) * np.float32(2.0**-24)
        else:
            drawn = (long_words(bits, out.size) & np.uint64(2**53 - 1)).astype(np.float64) * 2.0**-53
        out[...] = drawn.reshape(shape)
    return out


def keep(bits: Any, shape: Shape, dtype: Any, p: float, scale: float) -> Any:
    """`scale` with probability p, else 0."""
    out = np.empty(shape, dtype)
    if not quick_keep(bits.capsule, out, p, scale):
        out[...] = (uniform(bits, shape, np.dtype(np.float64)) < p).astype(dtype) * out.dtype.type(scale)
    return out


def integers(bits: Any, shape: Shape, low: int, count: int, wide: bool) -> Any:
    """int64 in [low, low + count): words, of 64 bits if wide, modulo count.  count 2**64: the words as they are."""
    out = np.empty(shape, np.int64)
    if not quick_integers(bits.capsule, out, count, low, wide):
        drawn = long_words(bits, out.size) if wide else words(bits, out.size)
        if count < 2**64:
            drawn = drawn % np.uint64(count) + np.uint64(low % 2**64)
        out[...] = drawn.view(np.int64).reshape(shape)
    return out


def permutation(bits: Any, n: int) -> Any:
    """0 .. n-1 in random order, (n,) int64."""
    out = np.empty(n, np.int64)
    if not quick_permute(bits.capsule, out):
        order = list(range(n))
        steps = words(bits, max(n - 1, 0)) % np.arange(n, 1, -1, dtype=np.uint64)
        for i, step in enumerate(steps.tolist()):
            order[i], order[i + step] = order[i + step], order[i]
        out[...] = order
    return out


def normals(bits: Any, n: int, spare: float | None) -> tuple[Any, float | None]:
    """n standard normals in double, one after the other, and what is left of the last pair.  spare: what was left before."""
    pairs = (n - (spare is not None) + 1) // 2
    u = uniform(bits, (pairs, 2), np.dtype(np.float64))
    radius, angle = np.sqrt(-2.0 * np.log1p(-u[:, 1])), 2.0 * np.pi * u[:, 0]
    made = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)
    if spare is not None:
        made = np.concatenate([[spare], made])
    return made[:n], float(made[n]) if len(made) > n else None


def normal_groups(bits: Any, n: int, dtype: Any, short: bool) -> Any:
    """n >= 16 standard normals in groups; the last 16 are drawn anew when n is no multiple of 16.

    short   they are for a dtype of 16 bits: then only whole groups are drawn before
    """
    full = n - n % GROUP
    out = uniform(bits, (full if short else n,), dtype)
    group(out[:full])
    if full < n:
        last = uniform(bits, (GROUP,), dtype)
        group(last)
        out = np.concatenate([out[:n - GROUP], last])
    return out


def group(u: Any) -> None:
    """Uniform numbers (16 k,) become normals, in groups of 16."""
    u = u.reshape(-1, 2, GROUP // 2)
    first, second = u[:, 0], u[:, 1]
    radius = np.subtract(1, first)
    np.log(radius, radius)
    radius *= -2
    np.sqrt(radius, radius)
    angle = second * u.dtype.type(2 * math.pi)
    np.multiply(radius, np.cos(angle), first)
    np.multiply(radius, np.sin(angle, angle), second)


def poisson(bits: Any, rates: Any) -> Any:
    """Counts for finite rates, float64."""
    out = np.empty(rates.shape, np.float64)
    if not quick_poisson(bits.capsule, rates, out):
        flat = out.reshape(-1)
        for i, rate in enumerate(rates.reshape(-1).tolist()):
            flat[i] = 0 if rate == 0 else large_poisson(bits, rate) if rate >= 10 else small_poisson(bits, rate)
    return out


def small_poisson(bits: Any, rate: float) -> int:
    """How many uniform numbers can be multiplied before the product is exp(-rate) or less."""
    least, product, count = math.exp(-rate), one(bits), 0
    while product > least:
        product *= one(bits)
        count += 1
    return count


def large_poisson(bits: Any, rate: float) -> int:
    """Transformed rejection."""
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse, sure = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = one(bits) - 0.5, one(bits)
        s = 0.5 - abs(u)
        k = math.floor((2 * a / s + b) * u + rate + 0.43) if s else -1
        if s >= 0.07 and v <= sure:
            return k
        if k < 0 or (s < 0.013 and v > s):
            continue
        tried = (math.log(v) if v else -math.inf) + math.log(inverse) - math.log(a / (s * s) + b)
        if tried <= -rate + k * math.log(rate) - math.lgamma(k + 1):
            return k


def one(bits: Any) -> float:
    """A uniform number in double."""
    high, low = bits.random_raw(2).tolist()
    return float((high << 32 | low) & (2**53 - 1)) * 2.0**-53
