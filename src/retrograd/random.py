"""torch.random: generators, seeds, and the draws on arrays that the public functions (rand, randn, ...) are made of.

The algorithm is NumPy's PCG64, not PyTorch's mt19937: a seed gives the same numbers on every machine with the same
NumPy, other numbers than in PyTorch.  Draws take and return NumPy arrays; `dtype` is an np.dtype; `generator` None
means default_generator.  Each draw holds its generator's lock, so threads may share one.
"""
from __future__ import annotations

import os
import struct
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from ._engine.tensor import TensorBase, wrap
from ._kernels import kernel
from .dtypes import check_device, cpu, finfo, of, typename

quick_keep: Final[Any] = kernel("keep")

Shape = tuple[int, ...]

UNSEEDED: Final = 67280421310721                # PyTorch's default_rng_seed_val
_STATE: Final = struct.Struct("<8s16s16sIIQ")   # magic, state, increment, is a 32-bit half left over, that half, seed
_MAGIC: Final = b"rg-pcg64"


def fresh_seed() -> int:
    """64 bits of the operating system's entropy (the module `secrets` would add 8 ms to every import)."""
    return int.from_bytes(os.urandom(8), "little")


class Generator:
    """A stream of random numbers: Generator().manual_seed(0).

    A new one is seeded with a fixed number, as in PyTorch; call seed() for numbers that differ from run to run.
    """

    __slots__ = ("__weakref__", "_lock", "_numpy", "_seed", "device")

    def __init__(self, device: Any = "cpu") -> None:
        check_device(device)
        self.device = cpu
        self._lock = threading.RLock()
        self._seed: int | None = UNSEEDED
        self._numpy: Any = None                 # made by the first draw: importing numpy.random takes 10 ms

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream that belongs to `seed`, an int in [-2**63, 2**64); -1 is 2**64 - 1.  Returns itself."""
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise RuntimeError(f"manual_seed expected a long, but got {typename(seed)}")
        n = int(seed)
        if not -(2**63) <= n < 2**64:
            raise ValueError("Overflow when unpacking long long")
        with self._lock:
            self._seed = n % 2**64
            self._numpy = None
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
        """Where the stream stands: a uint8 Tensor for set_state."""
        with self._lock:
            now = self._stream().bit_generator.state
            pair = now["state"]
            packed = _STATE.pack(
                _MAGIC, pair["state"].to_bytes(16, "little"), pair["inc"].to_bytes(16, "little"), now["has_uint32"],
                now["uinteger"], self._seed)
        return wrap(np.frombuffer(packed, np.uint8).copy())

    def set_state(self, new_state: TensorBase) -> Generator:
        """Go on where get_state was called.  Returns itself."""
        array = _bytes_of(new_state)
        if array.size != _STATE.size:
            hint = ""
            if array.size == 5056:
                hint = "\nThis is the state of a PyTorch generator, which draws other numbers. Seed with manual_seed."
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.size} but found the input RNG state size to be "
                f"{array.size}{hint}")
        magic, state, increment, has, spare, seed = _STATE.unpack(array.tobytes())
        if magic != _MAGIC or not increment[0] & 1 or has > 1:
            raise RuntimeError("Invalid PCG64 state: it was not made by get_state() of retrograd")
        with self._lock:
            self._seed = seed
            self._stream().bit_generator.state = {
                "bit_generator": "PCG64", "has_uint32": has, "uinteger": spare,
                "state": {"state": int.from_bytes(state, "little"), "inc": int.from_bytes(increment, "little")}}
        return self

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
        """NumPy's generator; hold the lock."""
        if self._numpy is None:
            self._numpy = np.random.Generator(np.random.PCG64(self.initial_seed()))
        return self._numpy


def _from_bytes(state: bytes) -> Generator:
    return Generator().set_state(wrap(np.frombuffer(state, np.uint8).copy()))


def _bytes_of(state: Any) -> Any:
    if not isinstance(state, TensorBase):
        raise TypeError(f"expected a torch.ByteTensor, but got {typename(state)}")
    if state.array.dtype != np.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    return state.array


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
    """Put default_generator back to a state of get_rng_state."""
    default_generator.set_state(new_state)


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


def uniform(shape: Shape, dtype: Any, low: float = 0.0, high: float = 1.0, generator: Generator | None = None) -> Any:
    """Uniform in [low, high): never high, not even after rounding to a short dtype (unless low == high)."""
    if low == 0 and high == 1 and dtype.itemsize >= 4 and dtype.kind == "f":
        return _draw(generator, lambda g: g.random(shape, dtype=dtype))
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
    out = _draw(generator, lambda g: g.random(shape, dtype=_native(dtype)))
    if low != 0 or high != 1:
        out *= high - low
        out += low
    out = out.astype(dtype, copy=False)
    top = np.asarray(high, dtype)
    if low < high:
        np.copyto(out, np.nextafter(top, np.asarray(low, dtype)), where=out >= top)
    return out


def normal(
    shape: Shape, dtype: Any, mean: Any = 0.0, std: Any = 1.0, generator: Generator | None = None
) -> Any:
    """Normal with `mean` and standard deviation `std`: numbers, or arrays that broadcast to shape."""
    if isinstance(std, np.ndarray):
        if not (std >= 0).all():
            raise RuntimeError("normal expects all elements of std >= 0.0")
    elif not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    _floating(dtype, "normal_kernel_cpu")
    out = _draw(generator, lambda g: g.standard_normal(shape, dtype=_native(dtype)))
    with np.errstate(all="ignore"):
        if isinstance(std, np.ndarray) or std != 1:
            out *= std
        if isinstance(mean, np.ndarray) or mean != 0:
            out += mean
        return out.astype(dtype, copy=False)


def integers(
    shape: Shape, dtype: Any, low: int = 0, high: int | None = None, generator: Generator | None = None
) -> Any:
    """Integers in [low, high), all equally likely; high None: up to the largest that dtype can hold, included.

    For a float dtype "the largest" is the largest up to which it holds every integer: 2**24 for float32.
    """
    d = of(np.dtype(dtype))
    exact = 2 ** {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}.get(d.name, 0)
    bottom, top = _range(d)
    if high is None:
        high = int(exact if d.is_floating_point else top) + 1
    elif not (-(2**63) <= low < 2**63 and high < 2**63):
        raise ValueError("Overflow when unpacking long long")
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    for name, n in (("from", low), ("to - 1", high - 1)):
        if not bottom <= n <= top:
            raise RuntimeError(f"{name} is out of bounds for {d.ctype}")
        if d.is_floating_point and abs(n) > exact:
            digits = exact.bit_length() - 1
            warnings.warn(
                f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations {d.ctype} can "
                "support discrete uniform distribution only within this range.", UserWarning, stacklevel=3)
    wide = np.int64 if d.is_floating_point else dtype
    out = _draw(generator, lambda g: g.integers(low, high, shape, dtype=wide))
    return out.astype(dtype, copy=False)


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
    if d.name == "bool":
        raise NotImplementedError("\"randperm\" not implemented for 'Bool'")
    limit = {"float16": "2049", "bfloat16": "257", "float32": "2^24+1", "float64": "2^53+1"}.get(d.name, "")
    if limit:
        if n > {"float16": 2049, "bfloat16": 257, "float32": 2**24 + 1, "float64": 2**53 + 1}[d.name]:
            raise RuntimeError(f"n cannot be greater than {limit} for {d.scalar} type.")
    elif n - 1 > _range(d)[1]:
        raise RuntimeError(f"value cannot be converted to type {d.name}_t without overflow")
    return _draw(generator, lambda g: g.permutation(n)).astype(dtype, copy=False)


def bernoulli(p: Any, shape: Shape, dtype: Any, generator: Generator | None = None) -> Any:
    """1 with probability p, else 0, in any dtype.  p is a number or an array that broadcasts to shape."""
    if isinstance(p, np.ndarray):
        if not ((p >= 0) & (p <= 1)).all():
            raise RuntimeError(
                "Expected p_in >= 0 && p_in <= 1 to be true, but got false.\nProbabilities lie between 0 and 1.")
        fine: Any = np.float64
    else:
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        fine = np.float64 if p < 1e-3 else np.float32     # float32 draws are multiples of 2**-24
        p = fine(p)
    return np.asarray(_draw(generator, lambda g: g.random(shape, dtype=fine)) < p).astype(dtype, copy=False)


def mask(p: float, shape: Shape, dtype: Any) -> Any:
    """bernoulli(p) / p, in one pass where a kernel can: what dropout multiplies by."""
    if p >= 1e-3 and np.dtype(dtype) == np.float32:
        drawn = _draw(None, lambda g: g.random(shape, dtype=np.float32))
        if quick_keep(drawn, np.float32(p), np.float32(1) / np.float32(p)):
            return drawn
        return np.asarray((drawn < np.float32(p)).astype(np.float32) / np.float32(p))
    return (bernoulli(p, shape, dtype) / p).astype(dtype)


def exponential(shape: Shape, dtype: Any, rate: float = 1.0, generator: Generator | None = None) -> Any:
    """Exponential with mean 1/rate.  Never 0, so that its logarithm is finite, unless a huge rate underflows."""
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    d = of(np.dtype(dtype))
    if not d.is_floating_point:
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {d.scalar}")
    out = _draw(generator, lambda g: g.standard_exponential(shape, dtype=_native(dtype)))
    np.maximum(out, finfo(d).tiny, out=out)
    if rate != 1:
        out /= rate
    return out.astype(dtype, copy=False)


def poisson(rates: Any, generator: Generator | None = None) -> Any:
    """Poisson counts for an array of rates, in its shape and floating dtype."""
    d = _floating(rates.dtype, "poisson_cpu")
    if not (rates >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    means = rates.astype(np.float64)
    big = means > 1e15                          # NumPy refuses above 9.2e18; here a Poisson is a normal to 1 in 1e7
    out = np.asarray(_draw(generator, lambda g: g.poisson(np.where(big, 0, means))), np.float64)
    if big.any():
        with np.errstate(all="ignore"):
            near = np.rint(means + np.sqrt(means) * _draw(generator, lambda g: g.standard_normal(means.shape)))
            out = np.where(big, np.where(np.isinf(means), means, near), out)
    with np.errstate(all="ignore"):
        return out.astype(d.numpy)


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
    w = weights.astype(np.float64)
    fine = np.isfinite(w) & (w >= 0)
    if not fine.all():
        if replacement and num_samples > 1:     # PyTorch has two ways, each with words of its own
            entry = "= infinity or NaN" if w[~fine][0] > 0 else "< 0"
            raise RuntimeError(f"invalid multinomial distribution (encountering probability entry {entry})")
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    rows = np.atleast_2d(w)
    top = rows.max(1, keepdims=True, initial=0)
    if not (top > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    rows = rows / top                           # the sum of huge weights would be infinite
    if replacement:
        picks = _with_replacement(rows, num_samples, generator)
    else:
        # the S largest of weight / exponential are a sample without replacement (Efraimidis and Spirakis 2006)
        keys = rows / exponential(rows.shape, np.dtype(np.float64), 1.0, generator)
        picks = np.argsort(-keys, axis=1, kind="stable")[:, :num_samples]
    out = np.ascontiguousarray(picks, np.int64)
    return out[0] if weights.ndim == 1 else out


def _with_replacement(rows: Any, num_samples: int, generator: Generator | None) -> Any:
    steps = np.cumsum(rows, axis=1)
    steps /= steps[:, -1:]                      # the last step is exactly 1, so u < 1 never falls behind it
    u = _draw(generator, lambda g: g.random((len(rows), num_samples)))
    out = np.empty(u.shape, np.int64)
    for i in range(len(rows)):
        out[i] = steps[i].searchsorted(u[i], side="right")
    return out


def _draw(generator: Generator | None, draw: Callable[[Any], Any]) -> Any:
    """draw(numpy_generator) under the lock; a 0-d draw as an array."""
    source = default_generator if generator is None else generator
    if type(source) is not Generator:
        raise TypeError(f"argument 'generator' must be torch._C.Generator, not {typename(source)}")
    with source._lock:
        out = draw(source._stream())
    return out if type(out) is np.ndarray else np.asarray(out)


def _native(dtype: Any) -> Any:
    """The dtype that NumPy draws in: float32 for the 16-bit ones."""
    return np.float64 if dtype == np.float64 else np.float32


def _floating(dtype: Any, kernel: str) -> Any:
    d = of(np.dtype(dtype))
    if not d.is_floating_point:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{d.scalar}'")
    return d
