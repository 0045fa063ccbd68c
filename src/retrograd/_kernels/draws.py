"""What PyTorch's CPU generator makes of the words of its Mersenne Twister: the same numbers from the same seed.

`bits` is NumPy's MT19937, which gives the same 32-bit words; a number takes one of them (float32, short integers) or two, of
which the first is the upper half.  Arrays are in C order.  Where a kernel can, it does the same (_kernels/draws.c).

Sources: Matsumoto and Nishimura 1998 for the words; Box and Muller 1958 for normals; Knuth, The Art of Computer Programming,
volume 2, 3.4.1 and 3.4.2 for Poisson counts and permutations; Hoermann 1993 for Poisson counts of rates from 10 on; Marsaglia
and Tsang 2000 for gamma numbers; Hoermann 1993b (The generation of binomial random variates) for binomial ones.
"""
from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from . import kernel

quick_uniform: Final[Any] = kernel("uniform")
quick_keep: Final[Any] = kernel("keep")
quick_integers: Final[Any] = kernel("integers")
quick_permute: Final[Any] = kernel("permute")
quick_pick: Final[Any] = kernel("pick")
quick_poisson: Final[Any] = kernel("poisson")
quick_gammas: Final[Any] = kernel("gammas")
quick_binomials: Final[Any] = kernel("binomials")
quick_groups: Final[Any] = kernel("normal_groups")
quick_pairs: Final[Any] = kernel("normal_pairs")
quick_move: Final[Any] = kernel("move")
quick_libm: Final[Any] = kernel("libm")

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
    if not quick_pairs(u):
        radius, angle = np.sqrt(-2.0 * np.log1p(-u[:, 1])), 2.0 * np.pi * u[:, 0]
        u = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    made = u.reshape(-1)
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
    if quick_groups(u):
        return
    u = u.reshape(-1, 2, GROUP // 2)
    first, second = u[:, 0], u[:, 1]
    angle = second * u.dtype.type(2 * math.pi)
    if u.dtype == np.float32:
        radius = np.sqrt(-2 * logarithm(1 - first))
        sine, cosine = sine_cosine(angle)
    else:
        radius, sine, cosine = np.sqrt(-2 * np.log(1 - first)), np.sin(angle), np.cos(angle)
    np.multiply(radius, cosine, first)
    np.multiply(radius, sine, second)


def fused(x: Any, y: Any, z: Any) -> Any:
    """x y + z of float32 numbers, rounded to float32."""
    return (np.multiply(x, y, dtype=np.float64) + z).astype(np.float32)


def polynomial(x: Any, *factors: float) -> Any:
    """Of the highest degree first, by Horner's rule."""
    y: Any = np.float32(factors[0])
    for factor in factors[1:]:
        y = fused(y, x, np.float32(factor))
    return y


def logarithm(x: Any) -> Any:
    """Of positive float32 numbers.  Moshier 1992 (the Cephes library), as are the sine and cosine."""
    half, e = np.frexp(x)
    low = half < np.float32(0.707106781186547524)
    e = (e - low).astype(np.float32)
    t = (half - 1) + np.where(low, half, np.float32(0))
    z = t * t
    y = polynomial(t, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                   2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
    y = fused(-z, 0.5, fused(y * t, z, e * np.float32(-2.12194440e-4)))
    return fused(e, 0.693359375, t + y)


def sine_cosine(x: Any) -> tuple[Any, Any]:
    """Of float32 numbers from 0 to 2 pi."""
    octant = ((x * np.float32(4 / math.pi)).astype(np.int32) + 1) & ~1
    for part in (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8):     # pi / 4
        x = fused(octant, np.float32(part), x)
    z = x * x
    p = fused(polynomial(z, 2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2) * z, z, -(z * np.float32(0.5))) + 1
    q = fused(polynomial(z, -1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1) * z, x, x)
    straight = octant & 2 == 0
    sine, cosine = np.where(straight, q, p), np.where(straight, p, q)
    return np.where(octant & 4, -sine, sine), np.where((octant - 2) & 4, cosine, -cosine)


def move(x: Any, scale: float, shift: float) -> Any:
    """x scale + shift in the place of x, float32 or float64, rounded once (without a kernel: once for float32 alone)."""
    if not quick_move(x, scale, shift):
        scale, shift = float(x.dtype.type(scale)), float(x.dtype.type(shift))
        np.copyto(x, x * np.float64(scale) + shift, casting="same_kind")
    return x


def libm(name: str, x: Any) -> Any:
    """exp, log1p or tan of float64 numbers in their place: the C library's, whose last bits are not always NumPy's."""
    x = np.asarray(x)                           # NumPy makes numbers of arrays without dims
    if not quick_libm(x, name):
        getattr(np, name)(x, x)
    return x


def pick(bits: Any, rows: Any) -> Any:
    """(N, 1) int64: of each row of weights (N, C) a place, drawn in proportion to them; None where there is no kernel for it."""
    return quick_pick(bits.capsule, rows)


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


class Stream:
    """Uniform and normal numbers in double, one at a time, for what rejects some of them.

    spare: the second of the last pair of normals, kept until it is asked for.
    """

    __slots__ = ("bits", "raw", "spare")

    def __init__(self, bits: Any, spare: float | None) -> None:
        self.bits = bits
        self.raw = bits.random_raw
        self.spare = spare

    def uniform(self) -> float:
        high, low = self.raw(2).tolist()
        return ((high << 32 | low) & (2**53 - 1)) * 2.0**-53

    def normal(self) -> float:
        if self.spare is not None:
            x, self.spare = self.spare, None
            return x
        angle, u = 2.0 * math.pi * self.uniform(), self.uniform()
        radius = math.sqrt(-2.0 * math.log1p(-u))
        self.spare = radius * math.sin(angle)
        return radius * math.cos(angle)


THIRD: Final = float(np.float32(1 / 3))         # PyTorch's constants are float32
SQUEEZE: Final = float(np.float32(0.0331))


def gammas(stream: Stream, shapes: Any) -> Any:
    """Standard gamma numbers for an array of shape parameters, float32 or float64; in double, flat."""
    out = np.empty(shapes.size, np.float64)
    low = shapes < 1
    near = np.where(low, shapes + shapes.dtype.type(1), shapes)
    with np.errstate(all="ignore"):
        centres = (near - shapes.dtype.type(THIRD)).astype(np.float64).reshape(-1)
        powers = np.where(low, 1 / shapes, 0).astype(np.float64).reshape(-1)
    left = np.array([0.0, 0.0] if stream.spare is None else [1.0, stream.spare])
    if quick_gammas(stream.bits.capsule, centres, powers, left, out):
        stream.spare = float(left[1]) if left[0] else None
        return out
    for i, (d, power) in enumerate(zip(centres.tolist(), powers.tolist())):
        if math.isnan(d):
            out[i] = math.nan
        elif power == math.inf:                 # a shape of 0
            out[i] = 0.0
        else:
            scale = (1.0 - stream.uniform()) ** power if power else 1.0
            out[i] = scale * gamma(stream, d)
    return out


def gamma(stream: Stream, d: float) -> float:
    """d times the cube of a normal number near 1, accepted so that it is gamma(d + 1/3).  Marsaglia and Tsang 2000."""
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = stream.normal()
        y = 1.0 + c * x
        if y <= 0:
            continue
        v, u, square = y * y * y, 1.0 - stream.uniform(), x * x
        if u < 1.0 - SQUEEZE * square * square or math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return d * v


def binomials(stream: Stream, counts: Any, probs: Any) -> Any:
    """Successes in `counts` trials of chance `probs`: two arrays of one dtype and shape; float64, flat."""
    out = np.empty(counts.size, np.float64)
    flipped = probs.dtype.type(1) - probs
    given = [x.astype(np.float64).reshape(-1) for x in (counts, probs, flipped)]
    if quick_binomials(stream.bits.capsule, *given, out):
        return out
    for i, (n, p, q) in enumerate(zip(*[x.tolist() for x in given])):
        if math.isnan(n) or math.isnan(p):
            out[i] = math.nan
        elif n <= 0 or p <= 0:
            out[i] = 0
        elif p >= 1:
            out[i] = n
        else:
            out[i] = successes(stream, n, p) if p <= 0.5 else n - successes(stream, n, q)
    return out


def successes(stream: Stream, n: float, p: float) -> float:
    return large_binomial(stream, n, p) if n * p >= 10 else small_binomial(stream, n, p)


def small_binomial(stream: Stream, n: float, p: float) -> int:
    """How many geometric waiting times fit into n trials.  Devroye 1986, X.4.3."""
    rate, waited, count = math.log1p(-p), 0.0, 0
    while True:
        u = stream.uniform()
        waited += math.ceil(math.log(u) / rate) if u else math.inf
        if waited > n:
            return count
        count += 1


def large_binomial(stream: Stream, n: float, p: float) -> int:
    """Transformed rejection.  Hoermann 1993b."""
    spread = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre, sure, odds = n * p + 0.5, 0.92 - 4.2 / b, p / (1 - p)
    scale, mode = (2.83 + 5.1 / b) * spread, math.floor((n + 1) * p)
    top = (mode + 0.5) * math.log((mode + 1) / (odds * (n - mode + 1))) + stirling_rest(mode) + stirling_rest(n - mode)
    while True:
        u, v = stream.uniform() - 0.5, stream.uniform()
        s = 0.5 - abs(u)
        k = math.floor((2 * a / s + b) * u + centre) if s else -1
        if s >= 0.07 and v <= sure:
            return k
        if k < 0 or k > n:
            continue
        tried = math.log(v * scale / (a / (s * s) + b)) if v else -math.inf
        if tried <= (top + (n + 1) * math.log((n - mode + 1) / (n - k + 1)) + (k + 0.5) * math.log(odds * (n - k + 1) / (k + 1))
                     - stirling_rest(k) - stirling_rest(n - k)):
            return k


def stirling_rest(k: float) -> float:
    """log k! less Stirling's formula for it, (k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2."""
    m = k + 1.0
    if k <= 9:
        return math.lgamma(m) - (k + 0.5) * math.log(m) + m - 0.5 * math.log(2 * math.pi)
    return (1 / 12 - (1 / 360 - 1 / 1260 / (m * m)) / (m * m)) / m
