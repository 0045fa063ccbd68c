"""Making tensors: torch.tensor, zeros, arange, rand, ..."""
from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from .. import _size, dtypes, random
from .._engine import promote
from .._engine.tensor import TensorBase, bump, wants_grad, wrap
from .._engine.views import guard
from .._tensor import Tensor, warn_scalar
from ._args import flag, refused, shape_of, whole
from ._args import tensor as tensor_arg

__all__ = [
    "tensor", "as_tensor", "asarray", "from_numpy", "from_dlpack", "frombuffer", "scalar_tensor", "zeros", "ones", "empty",
    "full", "zeros_like", "ones_like", "empty_like", "full_like", "arange", "range", "linspace", "logspace", "eye",
    "empty_strided", "tril_indices", "triu_indices", "rand", "randn", "randint", "randperm", "rand_like", "randn_like",
    "randint_like", "normal", "bernoulli", "multinomial", "poisson", "vander", "complex", "clone", "is_tensor", "numel",
]
METHODS = [
    "uniform_", "normal_", "random_", "bernoulli", "bernoulli_", "exponential_", "geometric_", "cauchy_", "log_normal_",
    "multinomial",
]
DEEPEST = 64                                                    # dimensions of a NumPy array
OVERFLOW = "Overflow when unpacking long long"
COPY_CONSTRUCT = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor)."
)


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Any:
    """A copy of data (numbers, nested sequences, arrays) as a leaf.  Python floats give the default dtype.

    https://pytorch.org/docs/stable/generated/torch.tensor.html
    """
    dtypes.check_device(device)
    if isinstance(data, TensorBase):
        warnings.warn(COPY_CONSTRUCT.format("torch.tensor"), UserWarning, stacklevel=2)
    return build(data, dtype, flag(requires_grad, "tensor", "requires_grad"))


def build(data: Any, dtype: Any, requires_grad: bool) -> Any:
    want = None if dtype is None else dtypes.to_numpy(dtype, "tensor")
    return leaf(array_of(data, want).copy(), requires_grad)


def leaf(array: Any, requires_grad: bool) -> Any:
    out = wrap(array)
    if requires_grad:
        if out.array.dtype.kind not in "fV":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        out.rg = True
    return out


def array_of(data: Any, want: Any) -> Any:
    """data as an array of a dtype we have: `want`, or the one PyTorch would infer."""
    if isinstance(data, TensorBase):
        array = data.array
        return array if want is None or want == array.dtype else convert(array, want)
    if isinstance(data, (np.ndarray, np.generic)):
        array = np.asarray(data)
        dtypes.of(array.dtype)
        return array if want is None else convert(array, want)
    if isinstance(data, (bool, int, float)):
        array = number_array(data, want)
    elif isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    elif hasattr(data, "__array__"):
        return array_of(np.asarray(data), want)
    else:
        array = nested(data, want)
    if want is None:
        return array
    dtypes.check_fits(array, want, want.name)
    return convert(array, want)


def convert(array: Any, want: Any) -> Any:
    if array.dtype.kind in "fV" and want.kind in "iu":
        with np.errstate(all="ignore"):
            return array.astype(np.int64).astype(want)
    with np.errstate(all="ignore"):
        return array.astype(want)


def number_array(x: Any, want: Any) -> Any:
    if isinstance(x, bool):
        return np.asarray(x)
    if isinstance(x, int):
        if not -2**63 <= x < 2**63:
            if want is not None and want.kind in "fV":
                return np.asarray(float(x))
            raise ValueError(OVERFLOW)
        return np.asarray(x, np.int64)
    return np.asarray(x, np.float64 if want is not None else dtypes.get_default_dtype().numpy)


def nested(data: Any, want: Any) -> Any:
    """Nested sequences of numbers, tensors and arrays."""
    if isinstance(data, (dict, set)) or not hasattr(data, "__len__"):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    check_depth(data)
    check_regular(data, 0, depth_of(data), first(data))
    kinds: set[Any] = set()
    flat = plain(data, kinds)
    try:
        array = np.array(flat)
    except OverflowError:
        raise ValueError(OVERFLOW) from None
    if array.dtype.kind in "fV" and want is None:
        return array.astype(reduce(promote.promote_types, kinds) if kinds else dtypes.get_default_dtype().numpy)
    if array.dtype == object:
        if want is not None and want.kind in "fV":
            return array.astype(np.float64)
        raise ValueError(OVERFLOW)
    if array.dtype.kind not in "fiubV":
        raise TypeError(f"new(): invalid data type '{type(first(data)).__name__}'")
    if array.dtype == np.uint64 and (want is None or want.kind not in "fV"):
        raise ValueError(OVERFLOW)
    return array


def first(data: Any) -> Any:
    for _ in builtin_range(DEEPEST):
        if not isinstance(data, (list, tuple)) or not data:
            break
        data = data[0]
    return data


def check_depth(data: Any) -> None:
    """ValueError for lists nested deeper than arrays go, such as one that holds itself."""
    for _ in builtin_range(DEEPEST + 1):
        if not isinstance(data, (list, tuple)) or not data:
            return
        data = data[0]
    raise ValueError(f"too many dimensions '{type(data).__name__}'")


def allot(to: tuple[int, ...], want: Any) -> Any:
    """Uninitialised memory; RuntimeError when there is not as much."""
    bytes_ = math.prod(to) * want.itemsize
    if bytes_ >= 2**63 or max(to, default=0) >= 2**63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(to)}")
    try:
        return np.empty(to, want)
    except (MemoryError, ValueError):
        if len(to) > DEEPEST:
            raise RuntimeError(f"tensors have at most {DEEPEST} dimensions, not {len(to)}") from None
        raise too_big(bytes_) from None


def too_big(bytes_: int) -> RuntimeError:
    return RuntimeError(f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {bytes_} bytes.")


def check_room(to: tuple[int, ...], want: Any) -> None:
    """allot()'s errors, for what is about to be made."""
    if math.prod(to) * want.itemsize > 2**31 or len(to) > DEEPEST:
        allot(to, want)


def depth_of(data: Any) -> int:
    n = 0
    while isinstance(data, (list, tuple)):
        n += 1
        if not data:
            break
        data = data[0]
    return n + data.ndim if isinstance(data, np.ndarray) else n


def plain(data: Any, kinds: set[Any]) -> Any:
    """data as np.array() takes it; kinds gets the dtypes of the numbers."""
    if isinstance(data, (bool, int, float)) and not isinstance(data, np.generic):
        kinds.add(promote.number_dtype(data))
        return data
    if isinstance(data, TensorBase):
        if data.array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if wants_grad(data):
            warn_scalar(6)
        kinds.add(data.array.dtype)
        return data.array.reshape(())[()]
    if isinstance(data, (list, tuple)):
        return [plain(x, kinds) for x in data]
    if isinstance(data, (np.ndarray, np.generic)):
        kinds.add(data.dtype)
        return data
    if hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, (str, bytes, dict)):
        return [plain(data[i], kinds) for i in builtin_range(len(data))]
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if hasattr(data, "__index__"):
        return plain(int(data), kinds)
    if hasattr(data, "__float__"):
        return plain(float(data), kinds)
    raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")


def check_regular(data: Any, dim: int, ndim: int, scalar: Any) -> None:
    """PyTorch's error for sequences that are ragged, in length or in depth.  scalar: the first number in there."""
    if isinstance(scalar, str):
        raise ValueError("too many dimensions 'str'")
    if not isinstance(data, (list, tuple)) or not data:
        return
    if dim + 1 == ndim:                         # the last dimension: numbers
        if any(isinstance(x, (list, tuple)) for x in data):
            deep = next(type(x).__name__ for x in data if isinstance(x, (list, tuple)))
            some_float = isinstance(scalar, float) or any(isinstance(first(x), float) for x in data)
            raise TypeError(f"must be real number, not {deep}" if some_float else
                            f"'{deep}' object cannot be interpreted as an integer")
        return
    want = len(data[0]) if hasattr(data[0], "__len__") else 0
    for x in data:
        if not hasattr(x, "__len__") or (isinstance(x, TensorBase) and not x.array.ndim):
            raise TypeError("not a sequence")
        if len(x) != want:
            raise ValueError(f"expected sequence of length {want} at dim {dim + 1} (got {len(x)})")
        check_regular(x, dim + 1, ndim, scalar)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """data itself when it is a tensor of that dtype; the same memory for arrays; else a copy."""
    dtypes.check_device(device)
    if isinstance(data, TensorBase):
        return data if dtype is None else data.to(dtype)  # type: ignore[attr-defined]
    want = None if dtype is None else dtypes.to_numpy(dtype, "as_tensor")
    return wrap(array_of(data, want))


def asarray(obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False) -> Any:
    """obj as a tensor, sharing memory where it can unless copy=True."""
    out = as_tensor(obj, dtype, device)
    if copy:
        out = out.clone()
    return out.requires_grad_() if requires_grad else out


def from_numpy(ndarray: Any) -> Any:
    """A tensor on the array's memory.  TypeError for dtypes that tensors lack, ValueError for negative strides."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {dtypes.typename(ndarray)})")
    dtypes.of(ndarray.dtype)
    if any(s < 0 for s in ndarray.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with array.copy().) ")
    if not ndarray.flags.writeable:
        warnings.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing "
            "to this tensor will result in undefined behavior. You may want to copy the array to protect its data or make "
            "it writable before converting it to a tensor. This type of warning will be suppressed for the rest of this "
            "program.", UserWarning, stacklevel=2)
    return wrap(np.asarray(ndarray))


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor on the memory of any object that speaks DLPack."""
    if isinstance(ext_tensor, TensorBase):
        return ext_tensor.detach()  # type: ignore[attr-defined]
    array = np.from_dlpack(ext_tensor)
    dtypes.of(array.dtype)
    return wrap(array.copy() if copy or not array.flags.writeable else array)


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Any:
    """A 1-D tensor on the memory of a buffer."""
    want = dtypes.to_numpy(dtype, "frombuffer")
    try:
        array = np.frombuffer(buffer, want, count, offset)
    except ValueError as error:
        raise ValueError(f"frombuffer(): {error}") from None
    return leaf(array, requires_grad)


def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """A 0-dim tensor of one number, in the default dtype."""
    return build(s, dtype or dtypes.get_default_dtype(), requires_grad)


# Factories: size, dtype, requires_grad.

def _factory(name: str, make: Callable[..., Any], doc: str) -> Any:
    def factory(*size: Any, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
                requires_grad: bool = False, pin_memory: bool = False, memory_format: Any = None,
                generator: Any = None, **named: Any) -> Any:
        if "size" in named:
            if size:
                raise TypeError(f"{name}() got multiple values for argument 'size'")
            size = (named.pop("size"),)
        if named:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(named))}'")
        dtypes.check_device(device)
        to = sizes(size, name)
        want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, name)
        if out is not None:
            return fill_out(out, make(to, out.array.dtype, generator))
        check_room(to, want)
        if requires_grad is not None:
            flag(requires_grad, name, "requires_grad")
        return leaf(make(to, want, generator), requires_grad)
    factory.__name__ = factory.__qualname__ = name
    factory.__doc__ = doc
    return factory


def sizes(size: tuple[Any, ...], name: str) -> tuple[int, ...]:
    """Positional sizes, checked."""
    if not size:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        at: Any = size[0]
    elif is_size(size[0]):
        at = size
    elif len(size) == 1:
        raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {dtypes.typename(size[0])}")
    else:
        raise TypeError(f"{name}() takes 1 positional argument but {len(size)} were given")
    for i, n in enumerate(at):
        if not is_size(n):
            kind = dtypes.typename(n)
            raise TypeError(f"{name}(): argument 'size' " + (
                f"(position 1) must be tuple of ints, but found element of type {kind} at pos 0" if not i else
                f"failed to unpack the object at pos {i + 1} with error \"type must be tuple of ints,but got {kind}\""))
    to = shape_of((at,))
    for n in to:
        if n < 0:
            raise RuntimeError("zeros: Dimension size must be non-negative." if name == "zeros" else
                               f"Trying to create tensor with negative dimension {n}: {list(to)}")
    return to


def is_size(n: Any) -> bool:
    if isinstance(n, TensorBase):
        return n.array.size == 1 and n.array.ndim == 0 and n.array.dtype.kind in "iu"
    return hasattr(n, "__index__") and not isinstance(n, bool)


def fill_out(out: Any, array: Any) -> Any:
    guard(out, False)
    if out.array.shape != array.shape:
        out.array = np.empty(array.shape, out.array.dtype)
    np.copyto(out.array, array, casting="unsafe")
    bump(out)
    return out


zeros = _factory("zeros", lambda to, d, g: np.zeros(to, d), "zeros(*size): every element 0.")
ones = _factory("ones", lambda to, d, g: np.ones(to, d), "ones(*size): every element 1.")
empty = _factory("empty", lambda to, d, g: np.empty(to, d), "empty(*size): uninitialised.")
rand = _factory(
    "rand", lambda to, d, g: random.uniform(to, d, generator=g), "rand(*size): uniform in [0, 1); generator= to choose one.")
randn = _factory(
    "randn", lambda to, d, g: random.normal(to, d, generator=g), "randn(*size): standard normal; generator= to choose one.")


def _like(name: str, make: Any, doc: str) -> Any:
    def like(input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
             memory_format: Any = None, generator: Any = None) -> Any:
        x = tensor_arg(input, name).array
        dtypes.check_device(device)
        want = x.dtype if dtype is None else dtypes.to_numpy(dtype, name)
        return leaf(make(x, want, generator), requires_grad)
    like.__name__ = like.__qualname__ = name
    like.__doc__ = doc
    return like


zeros_like = _like("zeros_like", lambda x, d, g: np.zeros_like(x, d), "Zeros of input's shape and dtype.")
ones_like = _like("ones_like", lambda x, d, g: np.ones_like(x, d), "Ones of input's shape and dtype.")
empty_like = _like("empty_like", lambda x, d, g: np.empty_like(x, d), "Uninitialised, of input's shape and dtype.")
rand_like = _like(
    "rand_like", lambda x, d, g: random.uniform(x.shape, d, generator=g), "Uniform in [0, 1), of input's shape and dtype.")
randn_like = _like(
    "randn_like", lambda x, d, g: random.normal(x.shape, d, generator=g), "Standard normal, of input's shape and dtype.")


def full(size: Any, fill_value: Any, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
         requires_grad: bool = False, pin_memory: bool = False) -> Any:
    """fill_value everywhere; its kind decides the dtype."""
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {dtypes.typename(size)}")
    to = sizes((size,), "full")
    scalar(fill_value, "full", "fill_value", 2)
    value = fill_value.array if isinstance(fill_value, TensorBase) else fill_value
    want = array_of(fill_value, None).dtype if dtype is None else dtypes.to_numpy(dtype, "full")
    dtypes.check_fits(value, want, dtypes.of(want).fixed)
    check_room(to, want)
    if out is not None:
        return fill_out(out, np.full(to, value))
    return leaf(np.full(to, convert(np.asarray(value), want)), requires_grad)


def full_like(input: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
              requires_grad: bool = False, memory_format: Any = None) -> Any:
    """fill_value everywhere, of input's shape and dtype."""
    x = tensor_arg(input, "full_like").array
    want = x.dtype if dtype is None else dtypes.to_numpy(dtype, "full_like")
    dtypes.check_fits(number(fill_value), want, dtypes.of(want).fixed)
    return leaf(np.full_like(x, convert(np.asarray(number(fill_value)), want), want), requires_grad)


def empty_strided(size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
                  requires_grad: bool = False, pin_memory: bool = False) -> Any:
    """Uninitialised, with the given strides in elements."""
    want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, "empty_strided")
    reach = 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride))
    block = np.empty(reach, want)
    return leaf(np.ndarray(tuple(size), want, block, 0, tuple(s * want.itemsize for s in stride)), requires_grad)


def number(x: Any) -> Any:
    return x.array.item() if isinstance(x, TensorBase) else x


def is_scalar(x: Any) -> bool:
    """Is it a number, or a 0-dim tensor?"""
    return isinstance(x, (bool, int, float, np.generic)) or (isinstance(x, TensorBase) and not x.array.ndim)


def scalar(x: Any, function: str, name: str, position: int) -> None:
    """TypeError unless x is a number or a 0-dim tensor."""
    if not is_scalar(x):
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be Number, not {dtypes.typename(x)}")


ARANGE = ("(Number end)", "(Number start, Number end)", "(Number start, Number end, Number step = 1)")


def arange(start: Any = None, end: Any = None, step: Any = None, *, out: Any = None, dtype: Any = None,
           layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Any:
    """arange([start=0,] end, step=1): start, start + step, ... below end.  ceil((end - start) / step) elements.

    int64 when all are integers.
    """
    given = tuple(x for x in (start, end, step) if x is not None)
    if len(given) == 1:
        scalar(given[0], "arange", "end", 1)
    if not given or not all(map(is_scalar, given)):
        raise refused("arange", given, "(Number end)", "(Number start, Number end, Number step = 1)")
    if end is None:
        start, end = None, start
    start, end, step = number(start) or 0, number(end), 1 if step is None else number(step)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if any(isinstance(x, float) and not math.isfinite(x) for x in (start, end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * (1 if step > 0 else -1) < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = all(not isinstance(x, float) for x in (start, end, step))
    want = (np.dtype(np.int64) if whole else dtypes.get_default_dtype().numpy) if dtype is None else \
        dtypes.to_numpy(dtype, "arange")
    n = -(-(end - start) // step) if whole else math.ceil((end - start) / step)
    check_room((int(n),), want)
    steps = np.arange(int(n), dtype=np.int64 if whole else np.float64)
    array = (steps * step + start).astype(want)
    return leaf(array, requires_grad) if out is None else fill_out(out, array)


def range(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, requires_grad: bool = False) -> Any:
    """As arange, with the end included.  Deprecated in PyTorch."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).", UserWarning,
        stacklevel=2)
    if end is None:
        start, end = 0, start
    want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, "range")
    n = int((end - start) / step) + 1
    return leaf((np.arange(n) * step + start).astype(want), requires_grad)


def linspace(start: Any, end: Any, steps: Any = None, *, out: Any = None, dtype: Any = None, layout: Any = None,
             device: Any = None, requires_grad: bool = False) -> Any:
    """`steps` numbers from start to end, both included, evenly spaced."""
    if not is_scalar(start) or not is_scalar(end) or not is_size(steps):
        raise refused("linspace", tuple(x for x in (start, end, steps) if x is not None),
                      "(Tensor start, Tensor end, int steps)", "(Number start, Number end, int steps)")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, "linspace")
    start, end = number(start), number(end)
    check_room((steps,), want)
    if want.kind in "fV":
        half = steps // 2                           # from both ends, so that the last is exact, as PyTorch does
        step = (end - start) / (steps - 1) if steps > 1 else 0.0
        k = np.arange(steps)
        array = np.where(k < half, start + step * k, end - step * (steps - 1 - k)).astype(want)
        if steps == 1:
            array = np.full(1, start, want)
    else:
        array = np.trunc(np.linspace(start, end, steps)).astype(want)
    return leaf(array, requires_grad) if out is None else fill_out(out, array)


def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, out: Any = None, dtype: Any = None,
             layout: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """base ** linspace(start, end, steps)"""
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, "logspace")
    array = np.power(float(base), np.linspace(number(start), number(end), steps)).astype(want)
    return leaf(array, requires_grad) if out is None else fill_out(out, array)


def eye(n: int, m: int | None = None, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
        requires_grad: bool = False) -> Any:
    """(n, m) with ones on the diagonal."""
    whole(n, "eye", "n")
    m = None if m is None else whole(m, "eye", "m", 2)
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    if m is not None and m < 0:
        raise RuntimeError(f"m must be greater or equal to 0, got {m}")
    want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, "eye")
    check_room((n, n if m is None else m), want)
    array = np.eye(n, m, dtype=want)
    return leaf(array, requires_grad) if out is None else fill_out(out, array)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, device: Any = None,
                 layout: Any = None) -> Any:
    """(2, count) row and column numbers of a lower triangle."""
    return wrap(np.stack(np.tril_indices(row, offset, col)).astype(dtype.numpy))


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, device: Any = None,
                 layout: Any = None) -> Any:
    """(2, count) row and column numbers of an upper triangle."""
    return wrap(np.stack(np.triu_indices(row, offset, col)).astype(dtype.numpy))


# Random numbers: reproducible from the seed, not bit-equal to PyTorch's.

def randint(*args: Any, generator: Any = None, out: Any = None, dtype: Any = dtypes.int64, layout: Any = None,
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
    to = sizes((size,), "randint")
    check_room(to, dtypes.to_numpy(dtype or dtypes.int64, "randint"))
    array = random.integers(to, dtypes.to_numpy(dtype or dtypes.int64, "randint"), low, high, generator=generator)
    return leaf(array, requires_grad) if out is None else fill_out(out, array)


def randint_like(input: Any, *args: Any, dtype: Any = None, requires_grad: bool = False) -> Any:
    """randint of input's shape and dtype."""
    x = tensor_arg(input, "randint_like")
    return randint(*args, x.array.shape, dtype=dtype or dtypes.of(x.array.dtype), requires_grad=requires_grad)


def randperm(n: int, *, generator: Any = None, out: Any = None, dtype: Any = dtypes.int64, layout: Any = None,
             device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Any:
    """A random order of 0 .. n-1."""
    check_room((whole(n, "randperm", "n"),), dtypes.to_numpy(dtype, "randperm"))
    array = random.permutation(whole(n, "randperm", "n"), dtypes.to_numpy(dtype, "randperm"), generator=generator)
    return leaf(array, requires_grad) if out is None else fill_out(out, array)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None, out: Any = None,
           dtype: Any = None, requires_grad: bool = False) -> Any:
    """Normal numbers; mean and std are numbers (then size is needed) or tensors."""
    arrays = [x.array for x in (mean, std) if isinstance(x, TensorBase)]
    if size is not None:
        to: Any = sizes((size,), "normal")
        want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, "normal")
    elif arrays:
        to = np.broadcast_shapes(*(a.shape for a in arrays))
        want = arrays[0].dtype
    else:
        raise refused("normal", (mean, std), "(Tensor mean, Tensor std)", "(Tensor mean, float std = 1)",
                      "(float mean, Tensor std)", "(float mean, float std, tuple of ints size)")
    m, s = (x.array if isinstance(x, TensorBase) else x for x in (mean, std))
    if np.any(np.asarray(s) < 0):
        raise RuntimeError(f"normal expects std >= 0.0, but found std {s:g}" if not isinstance(std, TensorBase) else
                           "normal expects all elements of std >= 0.0")
    array = (random.normal(to, want, generator=generator) * s + m).astype(want)
    return leaf(array, requires_grad) if out is None else fill_out(out, array)


def bernoulli(input: Any, p: Any = None, *, generator: Any = None, out: Any = None) -> Any:
    """1 with probability input (or p), else 0; in input's dtype."""
    x = tensor_arg(input, "bernoulli").array
    if p is None and x.dtype.kind not in "fV":
        raise NotImplementedError(f"\"bernoulli_tensor_cpu_p_\" not implemented for '{dtypes.of(x.dtype).scalar}'")
    if p is None and x.size and not bool(((x >= 0) & (x <= 1)).all()):
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If "
            "so, please report an enhancement request to PyTorch.)")
    array = random.bernoulli(x if p is None else number(p), x.shape, x.dtype, generator=generator)
    return wrap(array) if out is None else fill_out(out, array)


def multinomial(input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None, out: Any = None) -> Any:
    """num_samples indices per row, drawn with probabilities proportional to the row."""
    array = random.multinomial(tensor_arg(input, "multinomial").array, num_samples, replacement, generator=generator)
    return wrap(array) if out is None else fill_out(out, array)


def poisson(input: Any, generator: Any = None) -> Any:
    """Poisson numbers with the rates in input."""
    return wrap(random.poisson(tensor_arg(input, "poisson").array, generator=generator))


def _refill(input: Any, array: Any) -> Any:
    """array into input's memory; the gradient of the old values is zero."""
    from .._ops import index
    return index.copy_(input, array)


def uniform_(input: Any, a: float = 0.0, b: float = 1.0, *, generator: Any = None) -> Any:
    """In place: uniform in [a, b)."""
    if a > b:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a} > to={b}")
    return _refill(input, random.uniform(input.array.shape, input.array.dtype, a, b, generator=generator))


def normal_(input: Any, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
    """In place: normal with the given mean and standard deviation."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    return _refill(input, random.normal(input.array.shape, input.array.dtype, mean, std, generator=generator))


def random_(input: Any, *bounds: Any, generator: Any = None) -> Any:
    """In place: random_([from,] to), uniform integers; without bounds the dtype's whole range."""
    low = bounds[0] if len(bounds) == 2 else 0
    high = bounds[-1] if bounds else None
    return _refill(input, random.integers(input.array.shape, input.array.dtype, low, high, generator=generator))


def bernoulli_(input: Any, p: Any = 0.5, *, generator: Any = None) -> Any:
    """In place: 1 with probability p, else 0."""
    p = p.array if isinstance(p, TensorBase) else p
    if not isinstance(p, np.ndarray) and not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return _refill(input, random.bernoulli(p, input.array.shape, input.array.dtype, generator=generator))


def exponential_(input: Any, lambd: float = 1.0, *, generator: Any = None) -> Any:
    """In place: exponential with rate lambd."""
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    return _refill(input, random.exponential(input.array.shape, input.array.dtype, lambd, generator=generator))


def geometric_(input: Any, p: float, *, generator: Any = None) -> Any:
    """In place: number of trials until the first success, with probability p each."""
    u = random.uniform(input.array.shape, np.float64, generator=generator)
    return _refill(input, np.ceil(np.log1p(-u) / math.log1p(-p)).clip(1))


def cauchy_(input: Any, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Any:
    """In place: Cauchy."""
    u = random.uniform(input.array.shape, np.float64, generator=generator)
    return _refill(input, median + sigma * np.tan(np.pi * (u - 0.5)))


def log_normal_(input: Any, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Any:
    """In place: exp of a normal."""
    return _refill(input, np.exp(random.normal(input.array.shape, np.dtype(np.float64), mean, std, generator=generator)))


class Typed(type):
    """What torch.FloatTensor, torch.LongTensor, ... are: constructors of a fixed dtype, for isinstance, too."""

    dtype: dtypes.dtype

    def __call__(cls, *args: Any) -> Any:
        if len(args) == 1 and not isinstance(args[0], (int, float, _size.Size)):
            return build(args[0], cls.dtype, False)
        return wrap(Tensor(*args).array.astype(cls.dtype.numpy))

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, TensorBase) and x.array.dtype == cls.dtype.numpy


for _dtype in (dtypes.float64, dtypes.float32, dtypes.float16, dtypes.bfloat16, dtypes.int64, dtypes.int32, dtypes.int16,
               dtypes.int8, dtypes.uint8, dtypes.bool):
    _name = _dtype.scalar + "Tensor"
    globals()[_name] = Typed(_name, (), {
        "dtype": _dtype, "__module__": "retrograd", "__doc__": f"A tensor of {_dtype!r}; better: torch.tensor"})
    __all__.append(_name)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """(len(x), N) powers of the numbers in x, the highest first."""
    v: Any = tensor_arg(x, "vander", "x")
    if v.array.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = len(v) if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    powers = ones(len(v), n, dtype=v.dtype)
    if n > 1:
        powers[:, 1:] = v.unsqueeze(1).expand(len(v), n - 1).cumprod(1)
    return powers if increasing else powers.flip(1)


def complex(real: Any, imag: Any, *, out: Any = None) -> Any:
    """Refused: there are no complex tensors."""
    raise NotImplementedError("retrograd has no complex dtypes: keep the real and the imaginary part in two real tensors")


def clone(input: Any, *, memory_format: Any = dtypes.preserve_format) -> Any:
    """A copy that stays in the graph."""
    return tensor_arg(input, "clone").clone(memory_format=memory_format)  # type: ignore[attr-defined]


def is_tensor(obj: Any) -> bool:
    """Is obj a Tensor?"""
    return isinstance(obj, TensorBase)


def numel(input: Any) -> int:
    """Number of elements."""
    return int(tensor_arg(input, "numel").array.size)


builtin_range = builtins.range
