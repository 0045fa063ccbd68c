"""Making tensors from a size: torch.zeros, full, arange, rand, ...

size         lengths of the dimensions, ints or one sequence of them; RuntimeError if negative
stride       elements of memory from one to the next, for each dimension
start, step  the first number and the difference; `end` counts as well in range, and not in arange
col          how many columns
offset       which diagonal: 0 the main one, above it if positive
increasing   True: powers rise from left to right
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import random
from .._engine import names
from .._engine.tensor import TensorBase, bump, wrap
from .._engine.views import OVERLAP, guard, overlaps
from .._engine.warn import warn
from .._kernels import ranges as kernels
from .._rules import create
from .._rules.index import check_fill, check_number
from .._tensor import Tensor, dtypes
from .._tensor import size as _size
from .arguments import flag, refused, shape_of, whole
from .arguments import tensor as tensor_arg
from .fromdata import allot, array_of, check_room, convert, leaf, sequence
from .memory import shown
from .meta import made
from .parsing import StorageBase


# Factories: size, dtype, requires_grad.
def _factory(name: str, make: Callable[..., Any], doc: str) -> Any:
    def factory(*size: Any, out: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False,
                memory_format: Any = None, generator: Any = None, **named: Any) -> Any:
        if "size" in named:
            if size:
                raise TypeError(f"{name}() got multiple values for argument 'size'")
            size = (named.pop("size"),)
        if named:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(named))}'")
        to = sizes(size, name)
        want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, name)
        if device is not None and dtypes.on_meta(device):
            return made(to, want, requires_grad)
        dtypes.check_device(device)
        if out is not None:
            check_out_dtype(out, dtype, name)
            return fill_out(out, make(to, out.array.dtype, generator), name in ("rand", "randn"))
        check_room(to, want)
        dtypes.check_format(memory_format, len(to))
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
        if not is_size(n) and not (i and isinstance(n, bool)):
            kind = dtypes.typename(n)
            raise TypeError(f"{name}(): argument 'size' " + (
                f"(position 1) must be tuple of ints, but found element of type {kind} at pos 0" if not i else
                f"failed to unpack the object at pos {i + 1} with error \"type must be tuple of ints,but got {kind}\""))
        elif not -2**63 <= int(n) < 2**63:
            raise TypeError(f"{name}(): argument 'size' failed to unpack the object at pos {i + 1} with error "
                            "\"Overflow when unpacking long long\"")
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


def fill_out(out: Any, array: Any, apart: bool = True) -> Any:
    """out, which shows the array now; apart: RuntimeError where its elements share memory."""
    guard(out, False, True)
    if apart and out.array.size > 1 and 0 in out.array.strides and overlaps(out.array.shape, out.array.strides):
        raise RuntimeError(OVERLAP)
    if out.array.shape != array.shape:
        out.array = np.empty(array.shape, out.array.dtype)
    np.copyto(out.array, array, casting="unsafe")
    bump(out)
    return out
zeros = _factory("zeros", lambda to, d, g: np.zeros(to, d), "zeros(*size): every element 0.")
ones = _factory("ones", lambda to, d, g: np.ones(to, d), "ones(*size): every element 1.")
empty = _factory("empty", lambda to, d, g: np.empty(to, d), "empty(*size): uninitialized.")
rand = _factory(
    "rand", lambda to, d, g: random.uniform(to, d, generator=g), "rand(*size): uniform in [0, 1); generator= to choose one.")
randn = _factory(
    "randn", lambda to, d, g: random.normal(to, d, generator=g), "randn(*size): standard normal; generator= to choose one.")


def _like(name: str, make: Any, doc: str) -> Any:
    def like(input: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
             memory_format: Any = None, generator: Any = None) -> Any:
        x = tensor_arg(input, name).array
        dtypes.check_device(device)
        want = x.dtype if dtype is None else dtypes.to_numpy(dtype, name)
        dtypes.check_format(memory_format, x.ndim)
        return leaf(make(x, want, generator), requires_grad)
    like.__name__ = like.__qualname__ = name
    like.__doc__ = doc
    return like
def filled(x: Any, value: Any, dtype: Any) -> Any:
    out = create.dense_like(x, dtype)
    out[...] = value
    return out


zeros_like = _like("zeros_like", lambda x, d, g: filled(x, 0, d), "Zeros of input's shape and dtype.")
ones_like = _like("ones_like", lambda x, d, g: filled(x, 1, d), "Ones of input's shape and dtype.")
empty_like = _like("empty_like", lambda x, d, g: create.dense_like(x, d), "Uninitialized, of input's shape and dtype.")
def normal_like(like: Any, generator: Any) -> Any:
    singly = not like.flags.c_contiguous
    return random.over(like, lambda shape: random.normal(shape, like.dtype, generator=generator, singly=singly))


rand_like = _like(
    "rand_like", lambda x, d, g: random.over(create.dense_like(x, d), lambda s: random.uniform(s, d, generator=g)),
    "Uniform in [0, 1), of input's shape and dtype.")
randn_like = _like(
    "randn_like", lambda x, d, g: normal_like(create.dense_like(x, d), g), "Standard normal, of input's shape and dtype.")


def full(size: Any, fill_value: Any, *, out: Any = None, dtype: Any = None, device: Any = None,
         requires_grad: bool = False) -> Any:
    """fill_value everywhere; its kind decides the dtype."""
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {dtypes.typename(size)}")
    to = sizes((size,), "full")
    scalar(fill_value, "full", "fill_value", 2)
    value = fill_value.array if isinstance(fill_value, TensorBase) else fill_value
    if dtype is not None:
        want = dtypes.to_numpy(dtype, "full")
    else:
        want = np.dtype(np.int64) if type(value) is int else array_of(fill_value, None).dtype
    if device is not None and dtypes.on_meta(device):
        return made(to, want, requires_grad)
    dtypes.check_device(device)
    if out is not None:
        check_out_dtype(out, dtype, "full")
        want = out.array.dtype
    check_fill(value, want, math.prod(to))
    check_room(to, want)
    if out is not None:
        return fill_out(out, np.full(to, value), False)
    return leaf(np.full(to, convert(np.asarray(value), want)), requires_grad)


def full_like(input: Any, fill_value: Any, *, dtype: Any = None, device: Any = None,
              requires_grad: bool = False, memory_format: Any = None) -> Any:
    """fill_value everywhere, of input's shape and dtype."""
    dtypes.check_device(device)
    x = tensor_arg(input, "full_like").array
    want = x.dtype if dtype is None else dtypes.to_numpy(dtype, "full_like")
    dtypes.check_long(fill_value)
    check_fill(number(fill_value), want, x.size)
    dtypes.check_format(memory_format, x.ndim)
    return leaf(filled(x, convert(np.asarray(number(fill_value)), want), want), requires_grad)


def empty_strided(size: Any, stride: Any, *, dtype: Any = None, device: Any = None,
                  requires_grad: bool = False) -> Any:
    """Uninitialized, with the given strides in elements."""
    dtypes.check_device(device)
    want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, "empty_strided")
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})")
    for n in size:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(size)}")
    reach = 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride))
    if not 0 <= reach * want.itemsize < 2**63 or any(s < 0 and n > 1 for n, s in zip(size, stride)):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    block = allot((reach,), want)
    return leaf(np.ndarray(tuple(size), want, block, 0, tuple(s * want.itemsize for s in stride)), requires_grad)


def empty_permuted(size: Any, physical_layout: Any, *, dtype: Any = None, device: Any = None,
                   requires_grad: bool = False) -> Any:
    """Uninitialized; physical_layout orders the dims in memory, outermost first: (0, 2, 3, 1) is channels last."""
    want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, "empty_permuted")
    sizes, order = tuple(size), tuple(physical_layout)
    if len(sizes) != len(order):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(sizes)} is not equal to len(physical_layout) = {len(order)}")
    for i, dim in enumerate(order):
        if not 0 <= dim < len(sizes):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(sizes) - 1}, but got {dim} at index {i}).  NB: "
                "negative dims not currently supported; file an issue if you want it.")
        if dim in order[:i]:
            raise RuntimeError("Duplicate dim not allowed")
    inner = [sizes[dim] for dim in order]
    if any(n < 0 for n in inner):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(inner)}: {inner}")
    strides, step = [0] * len(sizes), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return empty_strided(sizes, strides, dtype=dtypes.of(want), device=device, requires_grad=requires_grad)


def number(x: Any) -> Any:
    return x.array.item() if isinstance(x, TensorBase) else x


def is_scalar(x: Any) -> bool:
    """Is it a number, or a 0-dim tensor?"""
    return isinstance(x, (bool, int, float, complex, np.generic)) or (isinstance(x, TensorBase) and not x.array.ndim)


def scalar(x: Any, function: str, name: str, position: int) -> None:
    """TypeError unless x is a number or a 0-dim tensor."""
    if not is_scalar(x):
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be Number, not {dtypes.typename(x)}")
    dtypes.check_long(x)


def arange(start: Any = None, end: Any = None, step: Any = None, *, out: Any = None, dtype: Any = None, device: Any = None,
           requires_grad: bool = False) -> Any:
    """arange([start=0,] end, step=1): start, start + step, ... below end.  ceil((end - start) / step) elements.

    int64 when all are integers.
    """
    dtypes.check_device(device)
    given = tuple(x for x in (start, end, step) if x is not None)
    if len(given) == 1:
        scalar(given[0], "arange", "end", 1)
    if not given or not all(map(is_scalar, given)):
        raise refused("arange", given, "(Number end)", "(Number start, Number end, Number step = 1)")
    if end is None:
        start, end = None, start
    start, end, step = 0 if start is None else number(start), number(end), 1 if step is None else number(step)
    whole = all(not isinstance(x, (float, complex)) for x in (start, end, step))
    want = (np.dtype(np.int64) if whole else dtypes.get_default_dtype().numpy) if dtype is None else \
        dtypes.to_numpy(dtype, "arange")
    if out is not None:
        check_out_dtype(out, dtype, "arange")
        want = out.array.dtype
    start, end, step = check_steps("arange", start, end, step, want)
    if not whole and want.kind in "iu":                 # PyTorch computes in the result's kind
        a, b, c = int(start), int(end), int(step)
        if want.itemsize == 8:
            if not c:
                raise ValueError("step must be nonzero")
            n = math.ceil((b - a) / c)
        else:
            n = math.ceil((end - start) / step)
        start, step, whole = a, c, True
    else:
        n = -(-(end - start) // step) if whole else math.ceil((end - start) / step)
    check_room((int(n),), want)
    with np.errstate(over="ignore"):
        if whole or want.kind in "iu":
            array = (np.arange(int(n), dtype=np.int64 if whole else np.float64) * step + start).astype(want)
        else:
            array = kernels.arange(int(n), start, step, want)
    if out is None:
        return leaf(array, requires_grad)
    if out.array.size not in (0, array.size):
        warn(
            f"The number of elements in the out tensor of shape {list(out.array.shape)} is {out.array.size} which does not "
            f"match the computed number of elements {array.size}. Note that this may occur as a result of rounding error. "
            f"The out tensor will be resized to a tensor of shape ({array.size},).")
    return fill_sequence(out, array)


def check_steps(function: str, start: Any, end: Any, step: Any, want: Any) -> Any:
    """The three as real numbers; RuntimeError unless steps of that size lead from start to end."""
    if want.kind in "bc":
        raise NotImplementedError(f"\"{function}_cpu\" not implemented for '{names.SCALAR[want.name]}'")
    start, end, step = map(real_part, (start, end, step))
    if not (step > 0 or step < 0):
        raise RuntimeError("step must be nonzero")
    if any(isinstance(x, float) and not math.isfinite(x) for x in (start, end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * (1 if step > 0 else -1) < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if want.itemsize == 2 or (want.kind in "iu" and want.itemsize == 8):
        for x in (start, end, step):
            check_number(x, want if want.kind in "iu" else np.dtype(np.float32))    # in which half precision counts
    return start, end, step


def real_part(x: Any) -> Any:
    """A complex number as a float; RuntimeError when it has an imaginary part."""
    if not isinstance(x, complex):
        return x
    if x.imag:
        raise RuntimeError("value cannot be converted to type double without overflow")
    return x.real


def check_out_dtype(out: Any, dtype: Any, function: str) -> None:
    """RuntimeError when dtype= is given and not that of out=."""
    if dtype is None:
        return
    want = dtypes.to_numpy(dtype, function)
    if want != out.array.dtype:
        raise RuntimeError(
            f"dtype {names.SCALAR[want.name]} does not match dtype of out parameter ({names.SCALAR[out.array.dtype.name]})")


def fill_sequence(out: Any, array: Any) -> Any:
    """out keeps its shape when it has as many elements."""
    return fill_out(out, array.reshape(out.array.shape) if out.array.size == array.size else array)


def range(start: Any, end: Any, step: Any = 1, *, out: Any = None, dtype: Any = None, layout: Any = None,
          device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """As arange, with the end included.  Deprecated in PyTorch."""
    dtypes.check_device(device)
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).")
    want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, "range")
    if out is not None:
        check_out_dtype(out, dtype, "range")
        want = out.array.dtype
    for at, (word, value) in enumerate((("start", start), ("end", end), ("step", step)), 1):
        if isinstance(value, TensorBase) and value.ndim:
            raise TypeError(f"range(): argument '{word}' (position {at}) must be Number, not Tensor")
    start, end, step = number(start), number(end), number(step)
    start, end, step = check_steps("range", start, end, step, want)
    if want.kind in "iu" and int(step):
        start, end, step = int(start), int(end), int(step)
    n = int((end - start) / step) + 1
    with np.errstate(over="ignore"):
        array = (np.arange(n) * step + start).astype(want)
    return leaf(array, requires_grad) if out is None else fill_sequence(out, array)


def linspace(start: Any, end: Any, steps: Any = None, *, out: Any = None, dtype: Any = None,
             device: Any = None, requires_grad: bool = False) -> Any:
    """`steps` numbers from start to end, both included, evenly spaced."""
    dtypes.check_device(device)
    if not is_size(steps) or not all(is_scalar(x) or isinstance(x, TensorBase) for x in (start, end)):
        raise refused("linspace", tuple(x for x in (start, end, steps) if x is not None),
                      "(Tensor start, Tensor end, int steps)", "(Number start, Number end, int steps)")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    start, end = ends(start, end, "linspace")
    want = step_dtype(start, end) if dtype is None else dtypes.to_numpy(dtype, "linspace")
    want = into(out, dtype, want, "linspace", steps, start, end)
    with np.errstate(all="ignore"):
        if want.kind == "c":
            array = spaced(start, end, steps, want).astype(want)
        elif dtypes.of(want).is_floating_point:
            array = kernels.linspace(start, end, steps, want)
        else:
            array = kernels.linspace(*whole_ends(start, end, want), steps, np.dtype(np.float64)).astype(want)
    return leaf(array, requires_grad) if out is None else fill_sequence(out, array)


def step_dtype(start: Any, end: Any) -> Any:
    """The default dtype of steps between two numbers."""
    default = dtypes.get_default_dtype()
    return (default.to_complex() if isinstance(start, complex) or isinstance(end, complex) else default).numpy


def spaced(start: Any, end: Any, steps: int, want: Any) -> Any:
    """In float64, from both ends, so that the last is exact; between whole numbers where the result is of integers."""
    if want.kind not in "fcV":
        start, end = whole_ends(start, end, want)
    if steps == 1:
        return np.full(1, start, np.complex128 if want.kind == "c" else np.float64)
    step = (end - start) / (steps - 1) if steps > 1 else 0.0
    k = np.arange(steps)
    return np.where(k < steps // 2, start + step * k, end - step * (steps - 1 - k))


def whole_ends(start: Any, end: Any, want: Any) -> tuple[int, int]:
    a, b = (int(np.asarray(int(x)).astype(want)) for x in (start, end))
    return a, b


def into(out: Any, dtype: Any, want: Any, function: str, steps: int, *numbers: Any) -> Any:
    """The dtype of the result, which must hold both ends."""
    if out is not None:
        check_out_dtype(out, dtype, function)
        want = out.array.dtype
    check_room((steps,), want)
    if want.kind == "b" and steps > 1:
        raise NotImplementedError(f"\"{function}_cpu\" not implemented for 'Bool'")
    if want.kind != "c" and any(isinstance(n, complex) for n in numbers):
        raise RuntimeError(f"torch.{function}(): inferred dtype {names.C[step_dtype(*numbers).name]} can't be safely cast to "
                           f"passed dtype {names.SCALAR[want.name]}")
    for n in numbers:
        if steps:
            check_number(n, want)
    return want


def ends(start: Any, end: Any, function: str) -> tuple[Any, Any]:
    """Both as numbers; RuntimeError for a tensor with dims."""
    a, b = (x.array.ndim if isinstance(x, TensorBase) else 0 for x in (start, end))
    if a or b:
        both = all(isinstance(x, TensorBase) for x in (start, end))
        text = f"start with {a} dimension(s) and end with {b} dimension(s)." if both else (
            f"start with {a} dimension(s)." if a else f"end with {b} dimension(s).")
        raise RuntimeError(f"{function} only supports 0-dimensional start and end tensors, but got {text}")
    dtypes.check_long(start)
    dtypes.check_long(end)
    return number(start), number(end)


def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, out: Any = None, dtype: Any = None, device: Any = None,
             requires_grad: bool = False) -> Any:
    """base ** linspace(start, end, steps)"""
    dtypes.check_device(device)
    if not is_size(steps):
        raise refused("logspace", (start, end, steps), "(Tensor start, Tensor end, int steps, float base = 10.0)",
                      "(Number start, Number end, int steps, float base = 10.0)")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    start, end = ends(start, end, "logspace")
    want = step_dtype(start, end) if dtype is None else dtypes.to_numpy(dtype, "logspace")
    want = into(out, dtype, want, "logspace", steps, start, end)
    with np.errstate(all="ignore"):
        array = kernels.powers(float(base), spaced(start, end, steps, want)).astype(want)
    return leaf(array, requires_grad) if out is None else fill_sequence(out, array)


def eye(n: int, m: int | None = None, *, out: Any = None, dtype: Any = None, device: Any = None,
        requires_grad: bool = False) -> Any:
    """(n, m) with ones on the diagonal."""
    dtypes.check_device(device)
    whole(n, "eye", "n")
    m = None if m is None else whole(m, "eye", "m", 2)
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    if m is not None and m < 0:
        raise RuntimeError(f"m must be greater or equal to 0, got {m}")
    want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, "eye")
    check_room((n, n if m is None else m), want)
    if out is not None:
        check_out_dtype(out, dtype, "eye")
    array = np.eye(n, m, dtype=want)
    return leaf(array, requires_grad) if out is None else fill_out(out, array, False)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, device: Any = None,
                 requires_grad: bool = False) -> Any:
    """(2, count) row and column numbers of a lower triangle."""
    return triangle("tril_indices", np.tril_indices, row, col, offset, dtype, device, requires_grad)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, device: Any = None,
                 requires_grad: bool = False) -> Any:
    """(2, count) row and column numbers of an upper triangle."""
    return triangle("triu_indices", np.triu_indices, row, col, offset, dtype, device, requires_grad)


def triangle(function: str, numbers: Any, row: int, col: int, offset: int, dtype: Any, device: Any, requires_grad: bool) -> Any:
    dtypes.check_device(device)
    for name, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{name} must be non-negative, got{n}")
    if dtype not in (dtypes.int64, dtypes.int32):
        raise NotImplementedError(f"\"{function}\" not implemented for '{dtype.scalar}'")
    return leaf(np.stack(numbers(row, offset, col)).astype(dtype.numpy), requires_grad)


class Typed(type):
    """What torch.FloatTensor, torch.LongTensor, ... are: constructors of a fixed dtype, for isinstance, too."""

    dtype: dtypes.dtype

    def __call__(cls, *args: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], StorageBase):
            return wrap(shown(args[0], cls.dtype))
        if len(args) == 1 and not isinstance(args[0], (int, float, _size.Size)):
            return wrap(sequence(args[0], cls.dtype.numpy).copy())
        with np.errstate(invalid="ignore"):             # of a size: whatever was in memory
            return wrap(Tensor(*args).array.astype(cls.dtype.numpy))

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, TensorBase) and x.array.dtype == cls.dtype.numpy


__all__ = []
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
    powers = ones(len(v), n, dtype=dtypes.promote_types(v.dtype, dtypes.int64))
    if n > 1:
        powers[:, 1:] = v.unsqueeze(1).expand(len(v), n - 1).cumprod(1)
    return powers if increasing else powers.flip(1)


def is_tensor(obj: Any) -> bool:
    """Is obj a Tensor?"""
    return isinstance(obj, TensorBase)


def numel(input: Any) -> int:
    """Number of elements."""
    return int(tensor_arg(input, "numel").array.size)
