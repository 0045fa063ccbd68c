"""Random numbers: torch.randint, normal, bernoulli, and Tensor.uniform_, normal_, ...

The same numbers from a seed as PyTorch's on a CPU.  What was drawn gives its parameters a gradient of zero.

mean, std       of the normal distribution; of log_normal_ that of the logarithm
median, sigma   where the Cauchy distribution has its peak, and how wide it is
replacement     True: a category may be drawn again
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import random
from .._engine import promote
from .._engine.tensor import TensorBase, wrap
from .._rules import create, drawn
from .._tensor import dtypes
from .arguments import refused, whole
from .arguments import tensor as tensor_arg
from .create import check_out_dtype, fill_out, number, sizes
from .fromdata import check_room, leaf
from .outs import warn_resized


def randint(*args: Any, generator: Any = None, out: Any = None, dtype: Any = None,
            device: Any = None, requires_grad: bool = False, low: int | None = None, high: int | None = None,
            size: Any = None) -> Any:
    """randint([low,] high, size): uniform integers in [low, high)."""
    rest = list(args)
    if not 2 <= len(rest) + sum(x is not None for x in (low, high, size)) <= 3:
        raise refused("randint", args, "(int high, tuple of ints size)", "(int low, int high, tuple of ints size)")
    if size is None:
        size = rest.pop()
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"randint(): argument 'size' (position {len(args)}) must be tuple of ints, not {dtypes.typename(size)}")
    if high is None:
        high = whole(rest.pop(), "randint", "high", len(rest) + 1)
    if low is None:
        low = whole(rest.pop(), "randint", "low") if rest else 0
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    dtypes.check_device(device)
    to = sizes((size,), "randint")
    want = dtype_of(dtype, out, "randint")
    check_room(to, want)
    array = random.integers(to, want, low, high, generator=generator)
    return leaf(array, requires_grad) if out is None else fill_out(out, array)


def dtype_of(dtype: Any, out: Any, function: str) -> Any:
    """The NumPy dtype of whole numbers that are drawn: that of out=, which dtype= must not contradict, or int64."""
    if out is not None:
        check_out_dtype(out, dtype, function)
        return out.array.dtype
    return dtypes.to_numpy(dtype or dtypes.int64, function)


def randint_like(input: Any, *args: Any, dtype: Any = None, device: Any = None,
                 requires_grad: bool = False, memory_format: Any = None, generator: Any = None) -> Any:
    """randint of input's shape and dtype."""
    x = tensor_arg(input, "randint_like")
    want = dtype or dtypes.of(x.array.dtype)
    dtypes.check_format(memory_format, x.array.ndim)
    like = create.dense_like(x.array, x.array.dtype)
    array = random.over(like, lambda shape: randint(*args, shape, dtype=want, device=device, generator=generator).array)
    return leaf(array, requires_grad)


def randperm(n: int, *, generator: Any = None, out: Any = None, dtype: Any = None,
             device: Any = None, requires_grad: bool = False) -> Any:
    """A random order of 0 .. n-1."""
    dtypes.check_device(device)
    want = dtype_of(dtype, out, "randperm")
    check_room((whole(n, "randperm", "n"),), want)
    array = random.permutation(n, want, generator=generator)
    return leaf(array, requires_grad) if out is None else fill_out(out, array)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None, out: Any = None,
           dtype: Any = None, device: Any = None,
           requires_grad: bool = False) -> Any:
    """Normal numbers; mean and std are numbers (then size is needed) or tensors."""
    dtypes.check_device(device)
    if size is None and not isinstance(mean, TensorBase) and not isinstance(std, TensorBase):
        raise refused("normal", (mean, std), "(Tensor mean, Tensor std)", "(Tensor mean, float std = 1)",
                      "(float mean, Tensor std)", "(float mean, float std, tuple of ints size)")
    m, s = (x.array if isinstance(x, TensorBase) else x for x in (mean, std))
    given = m if isinstance(m, np.ndarray) else s
    if size is not None:
        shape: Any = sizes((size,), "normal")
        want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, "normal")
    else:
        promote.check_broadcast(m, s)
        shape = np.broadcast_shapes(np.shape(m), np.shape(s))
        want = given.dtype
    place: Any = None                           # in its order of memory numbers are drawn
    if out is not None:
        if dtype is not None:
            check_out_dtype(out, dtype, "normal")
        want = out.array.dtype
        if size is None and not isinstance(s, np.ndarray):      # there PyTorch draws as many as out has
            promote.check_broadcast(m, out.array)
            shape = np.broadcast_shapes(np.shape(m), out.array.shape)
        place = out.array
    array = _normals(m, s, shape, want, place, generator)
    if out is not None:
        if size is None:
            warn_resized(out, array.shape)
        return fill_out(out, array)
    if isinstance(mean, TensorBase) and isinstance(std, TensorBase):
        return drawn.NormalBackward3(array).run(mean, std)
    if size is None:
        return (drawn.NormalBackward1(array).run(mean) if isinstance(mean, TensorBase) else
                drawn.NormalBackward2(array).run(std))
    return leaf(array, requires_grad)


def _normals(m: Any, s: Any, shape: Any, want: Any, place: Any, generator: Any) -> Any:
    """Normal numbers of dtype `want`; arrays move numbers of mean 0 and deviation 1, each step rounded, as PyTorch does."""
    if isinstance(s, np.ndarray) and s.dtype.kind == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if isinstance(s, np.ndarray) and not (s >= 0).all():
        raise RuntimeError("normal expects all elements of std >= 0.0")
    like = place if place is not None and place.shape == shape else np.empty(shape, want)
    move, scale = (0.0 if isinstance(x, np.ndarray) else x for x in (m, s))
    if isinstance(s, np.ndarray):
        move, scale = 0.0, 1.0
    array = random.over(like, lambda shape: random.normal(
        shape, want, move, scale, generator, singly=not like.flags.c_contiguous))
    with np.errstate(all="ignore"):
        if isinstance(s, np.ndarray):
            array = np.multiply(array, _as_float(s, want)).astype(want)
        if isinstance(m, np.ndarray) or isinstance(s, np.ndarray):
            array = np.add(array, _as_float(m, want)).astype(want)
    return array


def _as_float(x: Any, want: Any) -> Any:
    return x if isinstance(x, np.ndarray) and promote.is_float(x.dtype) else np.asarray(x, want)


def bernoulli(input: Any, p: Any = None, *, generator: Any = None, out: Any = None) -> Any:
    """1 with probability input (or p), else 0; in input's dtype."""
    given = tensor_arg(input, "bernoulli")
    x = given.array
    if p is None and x.dtype.kind not in "fV":
        which = "self" if x.dtype.kind == "c" else "p"
        raise NotImplementedError(f"\"bernoulli_tensor_cpu_{which}_\" not implemented for '{dtypes.of(x.dtype).scalar}'")
    array = random.bernoulli(x if p is None else number(p), x.shape, x.dtype, generator=generator)
    if out is not None:
        return fill_out(out, array)
    return drawn.BernoulliBackward0(array).run(given)


def multinomial(input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None, out: Any = None) -> Any:
    """num_samples indices per row, drawn with probabilities proportional to the row."""
    if out is not None and out.array.dtype != np.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {dtypes.of(out.array.dtype).scalar}")
    array = random.multinomial(tensor_arg(input, "multinomial").array, num_samples, replacement, generator=generator)
    return wrap(array) if out is None else fill_out(out, array)


def poisson(input: Any, generator: Any = None) -> Any:
    """Poisson numbers with the rates in input."""
    x = tensor_arg(input, "poisson")
    return drawn.PoissonBackward0(random.poisson(x.array, generator=generator)).run(x)


def _refuse(input: Any, kinds: str, kernel: str) -> None:
    """PyTorch's error where its kernel draws no numbers of such a dtype."""
    if input.array.dtype.kind in kinds:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.of(input.array.dtype).scalar}'")


def _refill(node: Any, input: Any, array: Any) -> Any:
    if array.dtype == np.float64 and dtypes.of(input.array.dtype).is_floating_point and input.array.itemsize == 2:
        array = array.astype(np.float32)        # PyTorch rounds twice
    return node(array.astype(input.array.dtype, copy=False)).run_(input)


def uniform_(input: Any, a: float = 0.0, b: float = 1.0, *, generator: Any = None) -> Any:
    """In place: uniform in [a, b)."""
    numbers = random.over(input.array, lambda shape: random.uniform(shape, input.array.dtype, a, b, generator))
    return _refill(drawn.UniformBackward0, input, numbers)


def normal_(input: Any, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
    """In place: normal with the given mean and standard deviation."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    singly = not input.array.flags.c_contiguous
    numbers = random.over(input.array, lambda shape: random.normal(shape, input.array.dtype, mean, std, generator, singly=singly))
    return _refill(drawn.NormalBackward0, input, numbers)


def random_(input: Any, *bounds: Any, generator: Any = None) -> Any:
    """In place: random_([from,] to), uniform integers; without bounds the dtype's whole range."""
    low = bounds[0] if len(bounds) == 2 else 0
    high = bounds[-1] if bounds else None
    node = (drawn.RandomBackward2, drawn.RandomBackward1, drawn.RandomBackward0)[len(bounds)]
    dtype = input.array.dtype
    return _refill(node, input, random.over(input.array, lambda shape: random.integers(shape, dtype, low, high, generator)))


def bernoulli_(input: Any, p: Any = 0.5, *, generator: Any = None) -> Any:
    """In place: 1 with probability p, else 0."""
    p = p.array if isinstance(p, TensorBase) else p
    node = drawn.BernoulliBackward1 if isinstance(p, np.ndarray) else drawn.BernoulliBackward2
    if isinstance(p, np.ndarray):
        _refuse(input, "c", "bernoulli_tensor_cpu_self_")
        numbers = random.bernoulli(p, input.array.shape, input.array.dtype, generator)
    else:
        numbers = random.over(input.array, lambda shape: random.bernoulli(p, shape, input.array.dtype, generator))
    return _refill(node, input, numbers)


def exponential_(input: Any, lambd: float = 1.0, *, generator: Any = None) -> Any:
    """In place: exponential with rate lambd."""
    numbers = random.over(input.array, lambda shape: random.exponential(shape, input.array.dtype, lambd, generator))
    return _refill(drawn.ExponentialBackward0, input, numbers)


def geometric_(input: Any, p: float, *, generator: Any = None) -> Any:
    """In place: number of trials until the first success, with probability p each."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    _refuse(input, "bc", "geometric_cpu")
    u = random.over(input.array, lambda shape: random.uniform(shape, np.dtype(np.float64), generator=generator))
    with np.errstate(all="ignore"):
        return _refill(drawn.GeometricBackward0, input, np.ceil(np.log(u) / math.log1p(-p)).clip(1))


def cauchy_(input: Any, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Any:
    """In place: Cauchy."""
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    d = dtypes.of(input.array.dtype)
    if not d.is_floating_point:
        raise RuntimeError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you specified "
            f"{d.ctype}")
    numbers = random.over(input.array, lambda shape: random.cauchy(shape, median, sigma, generator))
    return _refill(drawn.CauchyBackward0, input, numbers)


def log_normal_(input: Any, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Any:
    """In place: exp of a normal."""
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    _refuse(input, "biuc", "log_normal_cpu")
    numbers = random.over(input.array, lambda shape: random.log_normal(shape, mean, std, generator))
    return _refill(drawn.LogNormalBackward0, input, numbers)
