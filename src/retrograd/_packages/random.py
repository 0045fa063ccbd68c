"""torch.random: generators, seeds, and the draws on arrays that the public functions (rand, randn, ...) are made of.

The algorithm is PyTorch's on a CPU, mt19937: a seed gives the same numbers (_kernels/draws.py), and states go both ways.  Draws
take and return NumPy arrays; `dtype` is an np.dtype; `generator` None means default_generator.  Each draw holds its
generator's lock, so threads may share one.
"""
from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from weakref import WeakSet

import numpy as np

from retrograd._engine.tensor import TensorBase, wrap
from retrograd._engine.warn import warn
from retrograd._kernels import draws
from retrograd._missing import late_names
from retrograd._tensor.dtypes import check_device, cpu, finfo, of, typename

__all__ = [
    "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state", "thread_safe_generator",
]
late_names(__name__)

Shape = tuple[int, ...]

UNSEEDED: Final = 67280421310721                # PyTorch's default_rng_seed_val
WORDS: Final = 624                              # of the generator's state
STATE_BYTES: Final = 4 * WORDS + 4              # words and the place among them, as NumPy's MT19937 has them
# PyTorch's CPUGeneratorImplState: words left before the next 624 are made, which is next, the words, half a pair of normals
_STATE: Final = np.dtype([
    ("seed", "<u8"), ("left", "<i4"), ("seeded", "<i4"), ("next", "<u8"), ("state", "<u8", WORDS), ("x", "<f8"), ("spare", "<f8"),
    ("rho", "<f8"), ("has_spare", "<i4"), ("pad", "V4"), ("single", "<f4"), ("has_single", "?"), ("end", "V3")])


def fresh_seed() -> int:
    """64 bits of the operating system's entropy (the module `secrets` would add 8 ms to every import)."""
    return int.from_bytes(os.urandom(8), "little")


class Generator:
    """A stream of random numbers: Generator().manual_seed(0).

    A new one is seeded with a fixed number, as in PyTorch; call seed() for numbers that differ from run to run.
    """

    __module__ = "retrograd._C"

    __slots__ = ("__weakref__", "_bits", "_lock", "_seed", "_spare", "_uses", "device")

    def __init__(self, device: Any = "cpu") -> None:
        check_device(device)
        self.device = cpu
        self._lock = threading.RLock()
        _known.add(self)
        self._seed: int | None = UNSEEDED
        self._bits: Any = None                  # made by the first draw: importing numpy.random takes 10 ms
        self._spare: float | None = None        # the second of the last pair of normals
        self._uses = 0                          # how often something was drawn or seeded

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream that belongs to `seed`, an int in [-2**63, 2**64); -1 is 2**64 - 1.  Returns itself."""
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise RuntimeError(f"manual_seed expected a long, but got {typename(seed)}")
        n = int(seed)
        if not -(2**63) <= n < 2**64:
            raise ValueError("Overflow when unpacking long long")
        with self._lock:
            self._seed = n % 2**64
            self._bits = self._spare = None
            self._uses += 1
        return self

    def seed(self) -> int:
        """Seed from the operating system's entropy; returns the seed."""
        n = fresh_seed()
        self.manual_seed(n)
        return n

    def initial_seed(self) -> int:
        """The last seed."""
        with self._lock:
            if self._seed is None:
                self._seed = fresh_seed()
            return self._seed

    def get_state(self) -> TensorBase:
        """Where the stream stands: a uint8 Tensor for set_state, here or in PyTorch."""
        with self._lock:
            now = self._stream().state["state"]
            packed = np.zeros(1, _STATE)
            at = int(now["pos"])
            fresh = at == WORDS and int(now["key"][0]) == self.initial_seed() % 2**32
            packed["seed"], packed["seeded"], packed["state"] = self._seed, 1, now["key"]
            packed["left"], packed["next"] = (1, 0) if fresh else (WORDS + 1 - at, at)
            if self._spare is not None:
                packed["spare"], packed["has_spare"] = self._spare, 1
        return wrap(packed.view(np.uint8))

    def set_state(self, new_state: TensorBase) -> Generator:
        """Go on where get_state was called, which gave new_state.  Returns itself."""
        array = _bytes_of(new_state)
        if array.size != _STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.itemsize} but found the input RNG state size to be "
                f"{array.size}")
        found = np.frombuffer(array.tobytes(), _STATE)[0]
        left, at, key = int(found["left"]), int(found["next"]), found["state"]
        if found["seeded"] != 1 or not 0 < left <= WORDS or at > WORDS or not (key < 2**32).all():
            raise RuntimeError("Invalid mt19937 state")
        with self._lock:
            self._seed = int(found["seed"])
            self._spare = float(found["spare"]) if found["has_spare"] else None
            self._stream().state = {"bit_generator": "MT19937", "state": {
                "key": key.astype(np.uint32), "pos": WORDS if left == 1 else at}}
        return self

    def _mark(self) -> Any:
        """Where the stream stands, for `_back`: a thirtieth of get_state's time, as nothing is unpacked."""
        with self._lock:
            bits = self._bits
            if bits is None:
                return self._seed, None, None
            from ctypes import string_at
            return self._seed, self._spare, string_at(bits.ctypes.state_address, STATE_BYTES)

    def _back(self, mark: Any) -> None:
        """Go on where the stream stood at `_mark`."""
        with self._lock:
            self._seed, self._spare, words = mark
            if words is None:
                self._bits = None
                return
            from ctypes import memmove
            memmove(self._stream().ctypes.state_address, words, STATE_BYTES)

    def clone_state(self) -> Generator:
        """A second generator that goes on from the same place."""
        return Generator().set_state(self.get_state())

    def get_offset(self) -> int:
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> Generator:
        raise RuntimeError("CPU Generator does not use offset")

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (self.get_state().array.tobytes(),)

    def _stream(self) -> Any:
        """NumPy's generator of words; hold the lock."""
        self._uses += 1
        if self._bits is None:
            self._bits = np.random.MT19937()
            self._bits.state = np.random.RandomState(self.initial_seed() % 2**32).get_state(legacy=False)
        return self._bits


def _from_bytes(state: bytes) -> Generator:
    return Generator().set_state(wrap(np.frombuffer(state, np.uint8).copy()))


def _bytes_of(state: Any) -> Any:
    if not isinstance(state, TensorBase):
        raise TypeError(f"expected a torch.ByteTensor, but got {typename(state)}")
    if state.array.dtype != np.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    return state.array


_known: Final[WeakSet[Generator]] = WeakSet()


def _unlock() -> None:
    """In a child of fork: nobody holds the locks that other threads held."""
    for generator in _known:
        if not generator._lock._is_owned():  # type: ignore[attr-defined]
            generator._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)

default_generator: Final = Generator()
default_generator._seed = None                  # the first draw asks the operating system


def manual_seed(seed: Any) -> Generator:
    """Seed default_generator with int(seed) and return it."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed default_generator from the operating system's entropy; returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The last seed of default_generator."""
    return default_generator.initial_seed()


def get_rng_state() -> TensorBase:
    """default_generator's state: a uint8 Tensor."""
    return default_generator.get_state()


def set_rng_state(new_state: TensorBase) -> None:
    """Put default_generator back to new_state, which get_rng_state gave."""
    default_generator.set_state(new_state)


def thread_safe_generator() -> Generator | None:
    """None, with which functions take default_generator: workers of a DataLoader are processes, and have one of their own."""
    return None


@contextmanager
def fork_rng(
    devices: Sequence[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """On leaving the with statement, default_generator is where it was on entering.

    devices must be empty or None, for there are none but the CPU; device_type is not looked at.
    """
    if not enabled:
        yield
        return
    for other in devices or ():
        check_device(f"cuda:{other}" if isinstance(other, int) else other)
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


# ---- draws ----


def over(array: Any, draw: Callable[[Shape], Any]) -> Any:
    """draw(shape), in the order in which the elements of an array lie in memory."""
    if array.flags.c_contiguous:
        return draw(array.shape)
    order = sorted(range(array.ndim), key=lambda i: -abs(array.strides[i]))
    return draw(tuple(array.shape[i] for i in order)).transpose(np.argsort(order))


def uniform(shape: Shape, dtype: Any, low: float = 0.0, high: float = 1.0, generator: Generator | None = None) -> Any:
    """Uniform in [low, high): never high, not even after rounding to a short dtype (unless low == high)."""
    if dtype.kind == "c":
        return uniform((*shape, 2), _parts(dtype), low, high, generator).view(dtype).reshape(shape)
    if low == 0 and high == 1 and dtype.itemsize >= 4 and dtype.kind == "f":
        return _draw(generator, lambda bits: draws.uniform(bits, shape, dtype))
    d = _floating(dtype, "check_uniform_bounds")
    low, high, limit = float(low), float(high), finfo(d).max
    for name, x in (("from", low), ("to", high)):
        if not -limit <= x <= limit:
            raise RuntimeError(f"{name} is out of bounds for {d.ctype}")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if high - low > limit:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{d.scalar}>::max(), but found to={high:g} and "
            f"from={low:g} which result in to-from to exceed the limit")
    native = _native(dtype)
    out = _draw(generator, lambda bits: draws.uniform(bits, shape, native))
    if low != 0 or high != 1:
        draws.move(out, float(native(high) - native(low)), low)
    out = out.astype(dtype, copy=False)
    if low < high:                              # what was rounded up to high
        np.copyto(out, np.asarray(low, dtype), where=out >= np.asarray(high, dtype))
    return out


def normal(
    shape: Shape, dtype: Any, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None, *, singly: bool = False
) -> Any:
    """Normal with `mean` and standard deviation `std`.

    singly   draw one after the other in double, as PyTorch does for less than 16 or what is not contiguous
    """
    if dtype.kind == "c":                       # of variance 1, half of it in each part
        return normal((*shape, 2), _parts(dtype), mean, std / math.sqrt(2), generator, singly=singly).view(dtype).reshape(shape)
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    n = math.prod(shape)
    if n:
        _floating(dtype, "normal_kernel_cpu")
    native = _native(dtype)
    with np.errstate(all="ignore"):
        if singly or n < draws.GROUP:
            out = normals(n, generator)
        else:
            out = _draw(generator, lambda bits: draws.normal_groups(bits, n, native, dtype.itemsize == 2))
        if std != 1 or mean != 0:
            draws.move(out, std, mean)
        return out.reshape(shape).astype(native, copy=False).astype(dtype, copy=False)


def normals(n: int, generator: Generator | None = None) -> Any:
    """n standard normals in double, drawn one after the other."""
    source = _source(generator)
    with source._lock:
        out, source._spare = draws.normals(source._stream(), n, source._spare)
    return out


def integers(
    shape: Shape, dtype: Any, low: int = 0, high: int | None = None, generator: Generator | None = None
) -> Any:
    """Integers in [low, high), all equally likely; high None: up to the largest that dtype can hold, included.

    For a float dtype "the largest" is the largest up to which it holds every integer: 2**24 for float32.  Where it does not
    hold both bounds, they move to such as it holds, inwards.
    """
    d = of(np.dtype(dtype))
    if d.is_complex and high is None:
        kernel = "random_kernel_cpu" if low == 0 else "random_full_64_bits_range_kernel_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{d.scalar}'")
    exact = 2 ** {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}.get(d.name, 0)
    open_ended = high is None
    if high is None and low == -(2**63):        # all words
        if d.name in ("float16", "bool"):
            raise NotImplementedError(f"\"random_full_64_bits_range_kernel_cpu\" not implemented for '{d.scalar}'")
        if not d.is_floating_point and d.name != "int64":
            raise RuntimeError("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")
        return _draw(generator, lambda bits: draws.integers(bits, shape, 0, 2**64, True)).astype(dtype, copy=False)
    bottom, top = (0, 0) if d.is_complex else _range(d)
    if high is None:
        high = int(exact if d.is_floating_point else top) + 1
    elif not (-(2**63) <= low < 2**63 and high < 2**63):
        raise ValueError("Overflow when unpacking long long")
    elif low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if d.is_complex:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    for name, n in (("from", low), ("to - 1", high - 1)):
        if not bottom <= n <= top:
            raise RuntimeError(f"{name} is out of bounds for {d.ctype}")
        if d.is_floating_point and abs(n) > exact:
            digits = exact.bit_length() - 1
            warn(
                f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations {d.ctype} can "
                "support discrete uniform distribution only within this range. This warning will become an error in version 1.7 "
                "release, please fix the code in advance")
    if d.is_floating_point:
        low, high = _inwards(low, high, d, exact.bit_length() - 1)
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, but got from={low} > "
            f"to_inc={high - 1}" if open_ended else
            f"random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from={low} >= to={high}")
    count = int(high) - int(low)
    wide = count >= (2**32 if open_ended and low == 0 else 2**28)     # random_() draws in another way
    out = _draw(generator, lambda bits: draws.integers(bits, shape, int(low), count, wide))
    return out.astype(dtype, copy=False)


def _inwards(low: int, high: int, d: Any, digits: int) -> tuple[int, int]:
    """Bounds between which no integer is rounded to something outside.  digits: of the mantissa."""
    above, below = (int(d.numpy.type(n)) for n in (low + 1, high - 1))
    if above < low:
        low = above + 2 ** (abs(low + 1).bit_length() - digits)
    if below >= high:
        high = below - 2 ** (abs(high - 1).bit_length() - digits)
    return low, high


def _range(d: Any) -> tuple[float, float]:
    if d.is_floating_point:
        return finfo(d).min, finfo(d).max
    if d.name == "bool":
        return 0, 1
    info = np.iinfo(d.numpy)
    return int(info.min), int(info.max)


def permutation(n: int, dtype: Any, generator: Generator | None = None) -> Any:
    """0 ... n-1 in random order, shape (n,)."""
    d = of(np.dtype(dtype))
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if d.name == "bool" or d.numpy.kind == "c":
        raise NotImplementedError(f"\"randperm\" not implemented for '{d.scalar}'")
    limit = {"float16": "2049", "float32": "2^24+1", "float64": "2^53+1"}.get(d.name, "")
    if limit:
        if n > {"float16": 2049, "float32": 2**24 + 1, "float64": 2**53 + 1}[d.name]:
            raise RuntimeError(f"n cannot be greater than {limit} for {d.scalar} type.")
    elif n - 1 > _range(d)[1]:
        raise RuntimeError(f"value cannot be converted to type {d.name}_t without overflow")
    return _draw(generator, lambda bits: draws.permutation(bits, n)).astype(dtype, copy=False)


def bernoulli(p: Any, shape: Shape, dtype: Any, generator: Generator | None = None) -> Any:
    """1 with probability p, else 0, in any dtype.  p is a number or an array that broadcasts to shape."""
    if isinstance(p, np.ndarray):
        if not ((p >= 0) & (p <= 1)).all():
            raise RuntimeError(
                "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, "
                "please report an enhancement request to PyTorch.)")
        fine = _native(p.dtype)
        drawn = _draw(generator, lambda bits: draws.uniform(bits, shape, fine))
        return np.asarray(drawn < p).astype(dtype, copy=False)
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    if dtype.kind == "c":
        raise NotImplementedError(f"\"bernoulli_scalar_cpu_\" not implemented for '{of(dtype).scalar}'")
    native = _native(dtype)
    return _draw(generator, lambda bits: draws.keep(bits, shape, native, p, 1.0)).astype(dtype, copy=False)


def mask(p: float, shape: Shape, dtype: Any) -> Any:
    """bernoulli(p) / p: what dropout multiplies by."""
    if np.dtype(dtype) == np.float32 or np.dtype(dtype) == np.float64:
        scale = float(dtype.type(1) / dtype.type(p)) if p else 0.0
        return _draw(None, lambda bits: draws.keep(bits, shape, dtype, p, scale))
    with np.errstate(all="ignore"):
        return np.where(bernoulli(p, shape, np.dtype(bool)), 1 / p if p else 0.0, 0.0).astype(dtype)


def exponential(shape: Shape, dtype: Any, rate: float = 1.0, generator: Generator | None = None) -> Any:
    """Exponential with mean 1/rate."""
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    d = of(np.dtype(dtype))
    if not d.is_floating_point:
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {d.scalar}")
    out = draws.libm("log1p", -_draw(generator, lambda bits: draws.uniform(bits, shape, np.dtype(np.float64))))
    out *= -1.0 / rate
    with np.errstate(all="ignore"):
        return np.asarray(out, _native(dtype)).astype(dtype, copy=False)


def cauchy(shape: Shape, median: float = 0.0, sigma: float = 1.0, generator: Generator | None = None) -> Any:
    """Cauchy, float64."""
    u = _draw(generator, lambda bits: draws.uniform(bits, shape, np.dtype(np.float64)))
    return draws.move(draws.libm("tan", np.pi * (u - 0.5)), sigma, median)


def log_normal(shape: Shape, mean: float = 1.0, std: float = 2.0, generator: Generator | None = None) -> Any:
    """exp of a normal, float64."""
    with np.errstate(all="ignore"):
        return draws.libm("exp", normal(shape, np.dtype(np.float64), mean, std, generator, singly=True))


def poisson(rates: Any, generator: Generator | None = None) -> Any:
    """Poisson counts for an array of rates, in its shape and floating dtype."""
    d = _floating(rates.dtype, "poisson_cpu")
    if not (rates >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    means = np.ascontiguousarray(rates, np.float64).reshape(rates.shape)
    big = means > 2.0**63 - 2.0**36             # counts beyond 64 bits, and infinity, which has none
    out = _draw(generator, lambda bits: draws.poisson(bits, np.where(big | np.isnan(means), 0.0, means)))
    if big.any():
        with np.errstate(all="ignore"):
            near = np.rint(means + np.sqrt(means) * normals(means.size, generator).reshape(means.shape))
            out = np.where(big, np.where(np.isinf(means), means, near), out)
    with np.errstate(all="ignore"):
        return out.astype(d.numpy)


def gamma(shapes: Any, generator: Generator | None = None) -> Any:
    """Standard gamma numbers for an array of shape parameters, in its shape and floating dtype."""
    d = _doubles(shapes.dtype, "gamma_cpu")
    drawn = _draw_stream(generator, lambda stream: draws.gammas(stream, shapes))
    with np.errstate(all="ignore"):
        return np.maximum(drawn.astype(d.numpy), np.finfo(d.numpy).tiny).reshape(shapes.shape)


def dirichlet(shapes: Any, generator: Generator | None = None) -> Any:
    """Points of the simplex, one for each row of shape parameters: gamma numbers over their sum."""
    d = _doubles(shapes.dtype, "dirichlet")
    drawn = _draw_stream(generator, lambda stream: draws.gammas(stream, shapes.astype(np.float64))).reshape(shapes.shape)
    drawn = np.maximum(drawn, np.finfo(np.float64).tiny)
    points = (drawn / drawn.sum(-1, keepdims=True)).astype(d.numpy)
    return np.clip(points, np.finfo(d.numpy).tiny, np.nextafter(d.numpy.type(1), d.numpy.type(0)))


def binomial(counts: Any, probs: Any, generator: Generator | None = None) -> Any:
    """Successes in `counts` trials of chance `probs`: arrays of one floating dtype and shape."""
    d = _doubles(counts.dtype, "binomial_cpu")
    return _draw_stream(generator, lambda stream: draws.binomials(stream, counts, probs)).astype(d.numpy).reshape(counts.shape)


def multinomial(
    weights: Any, num_samples: int, replacement: bool = False, generator: Generator | None = None
) -> Any:
    """S = num_samples indices per row, drawn with probability proportional to weights.

    weights (C,) -> (S,) int64   or   (N, C) -> (N, S)
    Without replacement, categories of weight 0 come last, in order, when the others are used up.
    """
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    d = of(weights.dtype)
    if not d.is_floating_point:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {d.scalar}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > weights.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if weights.shape[-1] > 2**24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    table = weights if weights.ndim == 2 else weights[None]
    rows = table.astype(_native(weights.dtype), copy=False)
    if num_samples == 1:
        picked = _draw(generator, lambda bits: draws.pick(bits, rows))
        if picked is not None:
            return picked[0] if weights.ndim == 1 else picked
    top = np.maximum.reduce(rows, 1, initial=0, keepdims=True)
    if not (np.minimum.reduce(rows, None, initial=0) >= 0 and np.maximum.reduce(top, None, initial=0) < np.inf):
        if replacement and num_samples > 1:     # PyTorch has two ways, each with words of its own
            first = rows[~(np.isfinite(rows) & (rows >= 0))][0]
            entry = "= infinity or NaN" if first > 0 else "< 0"
            raise RuntimeError(f"invalid multinomial distribution (encountering probability entry {entry})")
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not np.minimum.reduce(top, None, initial=1) > 0:
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if replacement and num_samples > 1:
        with np.errstate(over="ignore"):
            if not np.isfinite(rows.sum(1)).all():
                rows = rows / top
        picks = _with_replacement(rows, num_samples, generator)
    else:
        # the S largest of weight / exponential are a sample without replacement (Efraimidis and Spirakis 2006)
        drawn = over(table, lambda shape: exponential(shape, rows.dtype, 1.0, generator))    # in its order of memory
        with np.errstate(over="ignore"):
            keys = rows / drawn
        picks = _largest(keys, num_samples)
    out = np.ascontiguousarray(picks, np.int64)
    return out[0] if weights.ndim == 1 else out


def _largest(keys: Any, count: int) -> Any:
    """(N, count): where the largest of each row are, in order; of equal ones the first."""
    if count == 1:
        return keys.argmax(axis=1, keepdims=True)
    if 8 * count < keys.shape[1]:
        some = np.argpartition(keys, keys.shape[1] - count, axis=1)[:, -count:]
        found = np.take_along_axis(keys, some, 1)
        if ((found > 0) & (found < np.inf)).all():      # no key twice
            return np.take_along_axis(some, np.argsort(-found, axis=1), 1)
    return np.argsort(-keys, axis=1, kind="stable")[:, :count]


def _with_replacement(rows: Any, num_samples: int, generator: Generator | None) -> Any:
    steps = np.cumsum(rows, axis=1)
    steps /= steps[:, -1:]                      # the last step is exactly 1, so u < 1 never falls behind it
    u = _draw(generator, lambda bits: draws.uniform(bits, (len(rows), num_samples), np.dtype(np.float64)))
    out = np.empty(u.shape, np.int64)
    for i in range(len(rows)):
        out[i] = steps[i].astype(np.float64).searchsorted(u[i], side="left")
    return out


def _source(generator: Generator | None) -> Generator:
    source = default_generator if generator is None else generator
    if type(source) is not Generator:
        raise TypeError(f"argument 'generator' must be torch._C.Generator, not {typename(source)}")
    if _here.refused:
        raise RuntimeError(_here.refused)
    return source


class _Here(threading.local):
    refused = ""                                # why nothing may be drawn in this thread


_here = _Here()


@contextmanager
def refused(why: str) -> Iterator[None]:
    """Context: draws raise RuntimeError(why)."""
    before, _here.refused = _here.refused, why
    try:
        yield
    finally:
        _here.refused = before


def _draw(generator: Generator | None, draw: Callable[[Any], Any]) -> Any:
    """draw(bits) under the lock."""
    source = _source(generator)
    with source._lock:
        return draw(source._stream())


def _draw_stream(generator: Generator | None, draw: Callable[[draws.Stream], Any]) -> Any:
    """draw(stream) under the lock; the generator keeps what is left of a pair of normals."""
    source = _source(generator)
    with source._lock:
        stream = draws.Stream(source._stream(), source._spare)
        out = draw(stream)
        source._spare = stream.spare
    return out


def _doubles(dtype: Any, kernel: str) -> Any:
    d = of(dtype)
    if d.name not in ("float32", "float64"):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{d.scalar}'")
    return d


def _parts(dtype: Any) -> Any:
    """The dtype of the parts of a complex one."""
    return np.dtype(np.float64 if dtype.itemsize == 16 else np.float32)


def _native(dtype: Any) -> Any:
    """The dtype that NumPy draws in: float32 for the 16-bit ones."""
    return np.float64 if dtype == np.float64 else np.float32


def _floating(dtype: Any, kernel: str) -> Any:
    d = of(np.dtype(dtype))
    if not d.is_floating_point:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{d.scalar}'")
    return d
