"""Maxima and means over windows: F.max_pool2d, F.adaptive_avg_pool2d, ..."""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from .._engine import names
from .._engine.op import watch
from .._engine.tensor import wrap
from .._rules import activation, arith, pointwise, pool, shape
from .._rules import reduce as sums
from .._tensor import dtypes
from .arguments import dim_of, is_int, long, real_only, refused, tensor
from .arguments import kernel as supported
from .fromdata import check_room

WORDS = {1: "one int", 2: "two ints", 3: "three ints"}
AXES = {2: "HW", 3: "THW"}


def several(value: Any, dims: int, function: str, name: str) -> tuple[int, ...]:
    found = (int(value),) if isinstance(value, (int, np.integer)) else tuple(int(v) for v in value)
    for n in found:
        long(n)
    if len(found) == 1:
        return found * dims
    if len(found) != dims:
        may = "omitted, a single int" if name == "stride" else "a single int"
        be = "be" if function == "avg_pool3d" else "be either" if name == "dilation" else "either be"
        raise RuntimeError(f"{function}: {name} must {be} {may}, or a tuple of {WORDS[dims]}")
    return found


def check_ints(*settings: tuple[int, ...]) -> None:
    """RuntimeError for numbers of more than 32 bits."""
    for n in itertools.chain(*settings):
        if not -2**31 <= n < 2**31:
            raise RuntimeError("value cannot be converted to type int without overflow")


def given(stride: Any) -> bool:
    return stride is not None and not (isinstance(stride, (tuple, list)) and len(stride) == 0)


def out_size(n: int, k: int, s: int, p: int, d: int, ceil: bool) -> int:
    out = (n + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil else 0)) // s + 1
    if ceil and (out - 1) * s >= n + p:         # the last window must start inside
        out -= 1
    return out


@lru_cache(256)                                         # each layer asks again and again
def check_pool(
    sizes: tuple[int, ...], dims: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, average: bool,
) -> Any:
    """Output sizes; RuntimeError as PyTorch words it."""
    letters, ndim = AXES[dims], len(sizes)
    if ndim not in (dims + 1, dims + 2) and (dims == 3 or not average):
        raise RuntimeError(f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")
    if ndim < dims + 1:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got -3)"
            if ndim else "Dimension specified as -3 but tensor has no dimensions")
    for k, s, p, d in zip(kernel, stride, padding, dilation, strict=True):
        if s == 0:
            raise RuntimeError("stride should not be zero")
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > int(((k - 1) * d + 1) / 2):
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and "
                f"dilation={d}")
    if any(k <= 0 for k in kernel):
        raise RuntimeError("kernel size should be greater than zero, but got "
                           + " ".join(f"k{a}: {k}" for a, k in zip(letters, kernel, strict=True)))
    if any(s <= 0 for s in stride):
        raise RuntimeError("stride should be greater than zero, but got "
                           + " ".join(f"d{a}: {s}" for a, s in zip(letters, stride, strict=True)))
    if any(d <= 0 for d in dilation):
        raise RuntimeError("dilation should be greater than zero, but got "
                           + " ".join(f"dilation{a}: {d}" for a, d in zip(letters, dilation, strict=True)))
    if ndim > dims + 2:
        raise RuntimeError(
            f"Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(sizes)}")
    if 0 in sizes[-dims - 1:] and dims == 3:
        who = "avg_pool3d" if average else "max_pool3d_with_indices_out_cpu_template"
        raise RuntimeError(
            f"{who}(): Expected input's non-batch dimensions to have positive length, but input has a shape of {list(sizes)} and "
            "non-batch dimension 0 has length zero!")
    if 0 in sizes[-dims - 1:]:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim batch size for input, but "
            "got:"
            f"{list(sizes)}")
    if any(p > k // 2 for p, k in zip(padding, kernel, strict=True)):       # whatever the dilation
        raise RuntimeError("pad should be smaller than or equal to half of kernel size, but got " + (
            "padW = {3}, padH = {2}, kW = {1}, kH = {0}" if dims == 2 else
            "kT: {0} kW: {2} kH: {1} padT: {3} padW: {5} padH: {4}").format(*kernel, *padding))
    out = tuple(out_size(n, k, s, p, d, ceil) for n, k, s, p, d in zip(
        sizes[-dims:], kernel, stride, padding, dilation, strict=True))
    if average and dims == 3 and any(n < k for n, k in zip(sizes[-3:], kernel, strict=True)):
        have = " ".join(f"{a}: {n}" for a, n in zip(letters, sizes[-3:], strict=True))
        want = " ".join(f"k{a}: {k}" for a, k in zip(letters, kernel, strict=True))
        raise RuntimeError(f"input image ({have}) smaller than kernel size ({want})")
    if any(n < 1 for n in out):
        c = sizes[-dims - 1]
        raise RuntimeError(
            f"Given input size: ({'x'.join(map(str, (c, *sizes[-dims:])))}). Calculated output size: "
            f"({'x'.join(map(str, (c, *out)))}). Output size is too small")
    return out


# Maxima

MAX = {2: pool.MaxPool2DWithIndicesBackward0, 3: pool.MaxPool3DWithIndicesBackward0}
ADAPTIVE_MAX = {2: pool.AdaptiveMaxPool2DBackward0, 3: pool.AdaptiveMaxPool3DBackward0}


def max_over(
    function: str, dims: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool,
) -> Any:
    """(maxima, their flat places in the input's spatial dims)"""
    x = tensor(input, function)
    kernel = several(kernel_size, dims, function, "kernel_size")
    shown = several(stride, dims, function, "stride") if given(stride) else ()
    stride = shown or kernel
    padding, dilation = several(padding, dims, function, "padding"), several(dilation, dims, function, "dilation")
    check_ints(kernel, stride, padding, dilation)
    out = check_pool(x.array.shape, dims, kernel, stride, padding, dilation, bool(ceil), False)
    supported(f"max_pool{dims}d", x, "bc")
    taps = [inner_places(*sizes) for sizes in zip(
        x.array.shape[-dims:], out, kernel, stride, padding, dilation, strict=True)]
    op = MAX[dims](taps, any(s < d * (k - 1) + 1 for s, d, k in zip(stride, dilation, kernel, strict=True)))
    op.kernel, op.stride, op.padding, op.dilation, op.ceil = kernel, shown, padding, dilation, bool(ceil)
    if max(dilation) > 1:
        op.hollow = any(t[-1, -1] >= n or t[0, 0] >= n for t, n in zip(taps, x.array.shape[-dims:], strict=True))
    return op.run(x), op


@lru_cache(maxsize=64)
def inner_places(n: int, m: int, k: int, s: int, p: int, d: int) -> Any:
    """(m, k): where each of m windows of k lies in a dim of n; what would lie outside repeats its last place inside.

    A dilation may step over all of the dim: such a window lies where it begins, at n or beyond.
    """
    start = np.arange(m)[:, None] * s - p
    low = start + np.maximum(0, -(start // d)) * d
    high = np.maximum(low, start + np.minimum(k - 1, (n - 1 - start) // d) * d)
    places = np.clip(start + np.arange(k) * d, low, high)
    places.flags.writeable = False
    return places


def indices_of(op: Any) -> Any:
    found = wrap(op.where)
    watch(op, found)
    return found


def max_pool2d_with_indices(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """(maxima, flat indices into H * W)"""
    y, op = max_over("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode)
    return y, indices_of(op)


def max_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Largest element of each window of (N, C, H, W) or (C, H, W); the first of equals.  Sizes as in max_pool1d."""
    y, op = max_over("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode)
    return (y, indices_of(op)) if return_indices else y


def max_pool3d_with_indices(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """(maxima, flat indices into D * H * W)"""
    y, op = max_over("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode)
    return y, indices_of(op)


def max_pool3d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Largest element of each window of (N, C, D, H, W) or (C, D, H, W).  Sizes as in max_pool1d."""
    y, op = max_over("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode)
    return (y, indices_of(op)) if return_indices else y


def one_length(x: Any, size: Any, function: str) -> int:
    """The one output size of a function of one dim; RuntimeError for the maximum of nothing."""
    check_long(size, function)
    if isinstance(size, (tuple, list)):
        if len(size) != 1:
            raise RuntimeError(f"{function}() argument 'output_size' should contain one int (got {len(size)})")
        size = size[0]
    if 0 in x.array.shape[1:] and "max" in function:
        raise RuntimeError(
            f"{function}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
            f"{list(x.shape)} with dimension {1 + x.array.shape[1:].index(0)} being empty")
    return int(size)


def single(value: Any, name: str) -> int:
    if isinstance(value, (int, np.integer)):
        return long(value)
    found = tuple(value)
    if len(found) != 1:
        kinds = {"stride": "None, an int, list of ints, or", "padding": "an int, list of ints, or"}.get(
            name, "an int, list of ints or") + " tuple of ints"
        raise RuntimeError(f"max_pool1d() {name} must be {kinds} of size 1 but got size {len(found)}")
    return int(found[0])


def one(value: Any, name: str, function: str = "max_pool1d") -> int:
    if isinstance(value, (int, np.integer)):
        return long(value)
    found = tuple(value)
    if len(found) != 1:
        raise RuntimeError(f"{function}() argument '{name}' should contain one int (got {len(found)})")
    return int(found[0])


def max_pool1d_with_indices(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """(maxima, indices into L)"""
    x = tensor(input, "max_pool1d")
    check_1d(x, "max_pool1d")
    k = one(kernel_size, "kernel_size")
    s = one(stride, "stride") if given(stride) else k
    p, d = one(padding, "padding"), one(dilation, "dilation")
    at = x.ndim - 1
    y, op = max_over("max_pool2d", 2, shape.unsqueeze(x, at), (1, k), (1, s), (0, p), (1, d), ceil_mode)
    return shape.squeeze_dim(y, at), shape.squeeze_dim(indices_of(op), at)


def check_max_pool1d(x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> None:
    """RuntimeError as PyTorch words it where no indices are asked for."""
    if x.ndim not in (2, 3) or 0 in x.array.shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(x.shape)}")
    k = single(kernel_size, "kernel_size")
    s = single(stride, "stride") if given(stride) else k
    p, d = single(padding, "padding"), single(dilation, "dilation")
    for name, n in (("kernel_size", k), ("stride", s)):
        if n <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {n}")
    if p < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {p}")
    if p > k // 2:
        raise RuntimeError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={p} and kernel_size={k}")
    if d <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {d}")
    out = out_size(x.array.shape[-1], k, s, p, d, ceil)
    if out <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {out}")
    supported("max_pool1d_impl", x, "iubc")


def max_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Largest element of each window of (N, C, L) or (C, L) -> (..., L').

    L' = (L + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1, rounded down, or up with ceil_mode; stride defaults to
    kernel_size.
    """
    if not return_indices:
        check_max_pool1d(tensor(input, "max_pool1d"), kernel_size, stride, padding, dilation, ceil_mode)
    y, where = max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return (y, where) if return_indices else y


def check_adaptive(x: Any, output_size: Any, dims: int, function: str, colon: str, maximum: bool) -> tuple[int, ...]:
    check_long(output_size, function)
    if isinstance(output_size, int):
        sizes: Any = (output_size,) * dims
    else:
        sizes = tuple(output_size)
        if x.ndim <= len(sizes):
            raise ValueError(f"Input dimension should be at least {len(sizes) + 1}")
        sizes = tuple(x.array.shape[-len(sizes) + i] if n is None else int(n) for i, n in enumerate(sizes))
    if not maximum and len(sizes) != dims:
        raise RuntimeError(f"{function}: output_size must be {dims}")
    if not maximum and any(n < 0 for n in sizes):
        raise RuntimeError(
            f"{function}: elements of output_size must be greater than or equal to 0 but received "
            "{" + f"{sizes[0]}, " + ",".join(map(str, sizes[1:])) + "}")
    if not maximum and all(n == 1 for n in sizes):      # a mean, of any shape
        return sizes
    if x.ndim not in (dims + 1, dims + 2) and (dims < 3 or maximum or 0 not in x.array.shape[1:]):
        raise RuntimeError(
            f"{function}(): Expected {dims + 1}D or {dims + 2}D tensor, but got{colon} {list(x.shape)}")
    if len(sizes) != dims:
        raise RuntimeError(f"{function}(): internal error: output_size.size() must be {dims}")
    first = 1 if maximum or dims == 3 else x.ndim - dims        # means in two dims may be of no channels
    if 0 in x.array.shape[first:]:
        at = next(i for i in range(first, x.ndim) if x.array.shape[i] == 0)
        raise RuntimeError(
            f"{function}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
            f"{list(x.shape)} with dimension {at} being empty")
    if any(n < 0 for n in sizes):
        low = next(n for n in sizes if n < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {low}: {list(x.shape[:-dims]) + list(sizes)}")
    check_room((*x.array.shape[:-dims], *sizes), x.array.dtype)
    return sizes


def check_long(output_size: Any, function: str, word: str = "output_size") -> None:
    """The errors for numbers of more than 64 bits."""
    if isinstance(output_size, int):
        if output_size >= 2**63:
            raise ValueError("Overflow when unpacking long long")
    elif isinstance(output_size, (tuple, list)):
        for i, n in enumerate(output_size):
            if isinstance(n, int) and not -2**63 <= n < 2**63:
                raise TypeError(f"{function}(): argument '{word}' failed to unpack the object at pos {i + 1} with error "
                                '"Overflow when unpacking long long"')


@lru_cache(64)
def spans(n: int, m: int) -> Any:
    """Positions and their validity for m windows that cover n: from floor(i n / m) to ceil((i + 1) n / m)."""
    i = np.arange(m)
    start = i * n // m if m else i
    end = -((-(i + 1) * n) // m) if m else i
    widest = int((end - start).max()) if m else 1
    places = start[:, None] + np.arange(widest)
    return np.minimum(places, end[:, None] - 1), places < end[:, None], end - start


def adaptive_max(function: str, dims: int, input: Any, output_size: Any) -> Any:
    x = tensor(input, function)
    sizes = check_adaptive(x, output_size, dims, function, ":", True)
    supported("adaptive_max_pool2d" if dims == 2 else "adaptive_max_pool3d_cpu", x, "iubc")
    taps = [spans(n, m)[0] for n, m in zip(x.array.shape[-dims:], sizes, strict=True)]
    op = ADAPTIVE_MAX[dims](taps, True)
    return op.run(x), op


def adaptive_max_pool2d_with_indices(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """(maxima, flat indices into H * W)"""
    y, op = adaptive_max("adaptive_max_pool2d", 2, input, output_size)
    return y, indices_of(op)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over windows so chosen that (N, C, H, W) or (C, H, W) becomes (..., *output_size); None keeps a size."""
    y, op = adaptive_max("adaptive_max_pool2d", 2, input, output_size)
    return (y, indices_of(op)) if return_indices else y


def adaptive_max_pool3d_with_indices(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """(maxima, flat indices into D * H * W)"""
    y, op = adaptive_max("adaptive_max_pool3d", 3, input, output_size)
    return y, indices_of(op)


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over windows so chosen that (N, C, D, H, W) or (C, D, H, W) becomes (..., *output_size); None keeps a size."""
    y, op = adaptive_max("adaptive_max_pool3d", 3, input, output_size)
    return (y, indices_of(op)) if return_indices else y


def check_1d(x: Any, function: str) -> None:
    if x.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {x.ndim}-dimensional tensor for argument #1 'self' (while checking "
            f"arguments for {function})")


def adaptive_max_pool1d_with_indices(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """(maxima, indices into L)"""
    x = tensor(input, "adaptive_max_pool1d")
    check_1d(x, "adaptive_max_pool1d")
    n = one_length(x, output_size, "adaptive_max_pool1d")
    at = x.ndim - 1
    y, op = adaptive_max("adaptive_max_pool2d", 2, shape.unsqueeze(x, at), (1, n))
    return shape.squeeze_dim(y, at), shape.squeeze_dim(indices_of(op), at)


def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over windows so chosen that (N, C, L) or (C, L) becomes (..., output_size)."""
    y, where = adaptive_max_pool1d_with_indices(input, output_size)
    return (y, where) if return_indices else y


# Undoing a maximum pool

def each(value: Any, dims: int) -> Any:
    """One for every dim, or those that are given, however many."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * dims


def unpooled(input: Any, where: Any, dims: int, kernel_size: Any, stride: Any, padding: Any, output_size: Any) -> Any:
    x = tensor(input, f"max_unpool{dims}d")
    tensor(where, f"max_unpool{max(dims, 2)}d", "indices", 2)
    kernel, padding = each(kernel_size, dims), each(padding, dims)
    stride = each(stride, dims) if given(stride) else kernel
    count, have = len(kernel), x.array.shape            # as in PyTorch, Python alone looks at them
    plain = [(have[d - count] - 1) * stride[d] + kernel[d] - 2 * padding[d] for d in range(count)]
    if output_size is None:
        sizes = tuple(plain)
    else:
        sizes = tuple(output_size[2:] if len(output_size) == count + 2 else output_size)
        if len(sizes) != count:
            raise ValueError(
                f"output_size should be a sequence containing {count} or {count + 2} elements, but it has a length of "
                f"'{len(sizes)}'")
        for d in range(count):
            low, high = plain[d] - stride[d], plain[d] + stride[d]
            if not low < sizes[d] < high:
                raise ValueError(f'invalid output_size "{sizes}" (dim {d} must be between {low} and {high})')
    for i, size in enumerate(sizes):
        if not is_int(size):
            raise TypeError(f"max_unpool{max(dims, 2)}d(): argument 'output_size' (position 3) must be tuple of ints, but found "
                            f"element of type {dtypes.typename(size)} at pos {i}")
    if count != dims:
        words = "two elements (height, width)" if dims < 3 else "three elements (depth, height, width)"
        raise RuntimeError(f"There should be exactly {words} in output_size, but got {count + (dims == 1)} elements.")
    if min(sizes) >= 0:
        for word, values in (("stride", stride), ("padding", padding)) if dims == 3 else ():
            check_long(values, "max_unpool3d", word)
        check_long(sizes, f"max_unpool{max(dims, 2)}d")
    places = where.array
    if places.dtype != np.int64:
        raise RuntimeError("elements in indices should be type int64" + (
            f" but got: {names.SCALAR[places.dtype.name]}" if dims < 3 else ""))
    if tuple(places.shape) != tuple(x.array.shape):
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(x.shape) + [1] * (dims == 1)}) but got indices tensor with shape: "
            f"{list(places.shape) + [1] * (dims == 1)}")
    total = math.prod(sizes)
    if min(sizes) < 0:
        at, low = next((i, n) for i, n in enumerate(sizes) if n < 0)
        raise ValueError(
            f"max_unpooling: output_size must contain non-negative spatial dimensions, but got output_size[{at}]={low}")
    flat = [*x.shape, 1] if dims == 1 else list(x.shape)
    if dims < 3 and len(flat) not in (3, 4):
        raise RuntimeError(f"Input to max_unpooling2d should be a 3d or 4d Tensor, but got a tensor with {len(flat)} dimensions.")
    if dims == 3 and len(flat) not in (4, 5):
        raise RuntimeError(f"Input to max_unpooling3d should be a 4d or 5d Tensor, but got a tensor with {len(flat)} dimensions")
    if dims == 3 and min(stride) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(stride)}")
    if 0 in flat[1:]:
        raise RuntimeError(
            f"max_unpooling{max(dims, 2)}d_forward_out_cpu(): Expected input to have non-zero size for non-batch dimensions, but "
            f"got {flat} with dimension {1 + flat[1:].index(0)} being empty.")
    if total:
        supported(f"max_unpool{max(dims, 2)}d", x, "iubc")
    if total and places.size and (places.min() < 0 or places.max() >= total):
        bad = int(places[(places < 0) | (places >= total)][-1])
        shown = (*sizes, 1) if dims == 1 else sizes
        raise RuntimeError(f"Found an invalid max index: {bad} (output volumes are of size {'x'.join(map(str, shown))})")
    if dims == 1:
        at = x.ndim
        two = pool.MaxUnpool2DBackward0(places[..., None], (sizes[0], 1))
        watch(two, shape.unsqueeze(where, at))
        return shape.squeeze_dim(two.run(shape.unsqueeze(x, at)), at)
    op = (pool.MaxUnpool2DBackward0 if dims == 2 else pool.MaxUnpool3DBackward0)(places, sizes)
    watch(op, where)
    return op.run(x)


def max_unpool1d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None,
) -> Any:
    """Maxima put back where max_pool1d found them, zeros elsewhere: (N, C, L') or (C, L') -> (..., L), or output_size."""
    return unpooled(input, indices, 1, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None,
) -> Any:
    """Maxima put back where max_pool2d found them, zeros elsewhere: (N, C, H', W') -> (N, C, H, W), or output_size."""
    return unpooled(input, indices, 2, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None,
) -> Any:
    """Maxima put back where max_pool3d found them, zeros elsewhere: (N, C, D', H', W') -> (N, C, D, H, W), or output_size."""
    return unpooled(input, indices, 3, kernel_size, stride, padding, output_size)


# Means

AVERAGE = {2: pool.AvgPool2DBackward0, 3: pool.AvgPool3DBackward0}


def average(
    function: str, dims: int, input: Any, kernel_size: Any, stride: Any, padding: Any, ceil: bool, include: bool,
    override: Any,
) -> Any:
    x = tensor(input, function)
    kernel = several(kernel_size, dims, function, "kernel_size")
    shown = several(stride, dims, function, "stride") if given(stride) else ()
    stride = shown or kernel
    padding = several(padding, dims, function, "padding")
    check_ints(kernel, stride, padding)
    if override is not None and override == 0 and (dims == 2 or x.ndim in (4, 5)):
        raise RuntimeError("divisor must be not zero")
    out = check_pool(x.array.shape, dims, kernel, stride, padding, (1,) * dims, bool(ceil), True)
    words = "avg_pool2d" if dims == 2 else "avg_pool3d_out_frame"
    real_only(x, words)
    supported(words, x, but=np.int64)
    sizes = tuple(x.array.shape[-dims:])
    divisor: Any = override
    if override is None:
        divisor = widths(sizes, out, kernel, stride, padding, include)
        if not isinstance(divisor, int) and x.array.dtype.kind in "fV":
            divisor = divisor.astype(x.array.dtype if x.array.dtype.itemsize > 2 else np.float32)
    windows = pool.Windows(kernel, stride, padding, sizes, out, divisor)
    op = AVERAGE[dims](windows, bool(ceil), bool(include), override)
    op.stride = shown
    return op.run(x)


@lru_cache(64)                                          # each layer asks again and again
def widths(sizes: Any, out: Any, kernel: Any, stride: Any, padding: Any, include: bool) -> Any:
    """How many numbers each window has: an int where all have the same."""
    found: Any = 1
    for i, (n, m, k, s, p) in enumerate(zip(sizes, out, kernel, stride, padding, strict=True)):
        start = np.arange(m) * s - p
        end = np.minimum(start + k, n + p)
        if not include:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        found = found * (end - start).reshape((-1,) + (1,) * (len(sizes) - 1 - i))
    first = int(found.flat[0])
    return first if np.all(found == first) else found


def avg_pool1d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True) -> Any:
    """Mean of each window of (N, C, L) or (C, L); sizes as in max_pool1d.  Padding counts unless count_include_pad is False."""
    check_1d(input, "avg_pool1d")
    k = one(kernel_size, "kernel_size", "avg_pool1d")
    s = one(stride, "stride", "avg_pool1d") if given(stride) else k
    p = one(padding, "padding", "avg_pool1d")
    at = input.ndim - 1
    y = average("avg_pool2d", 2, shape.unsqueeze(input, at), (1, k), (1, s), (0, p), ceil_mode, count_include_pad, None)
    return shape.squeeze_dim(y, at)


def avg_pool2d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True, divisor_override: Any = None) -> Any:
    """Mean of each window of (N, C, H, W) or (C, H, W), as in avg_pool1d; divisor_override divides in the window's place."""
    return average(
        "avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True, divisor_override: Any = None) -> Any:
    """Mean of each window of (N, C, D, H, W) or (C, D, H, W), as in avg_pool2d."""
    return average(
        "avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def adaptive_average(function: str, dims: int, input: Any, output_size: Any) -> Any:
    x = tensor(input, function)
    sizes = check_adaptive(x, output_size, dims, function, "", False)
    if all(n == 1 for n in sizes):
        if x.array.dtype.kind in "iub":
            raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or complex "
                               f"dtype. Got: {names.SCALAR[x.array.dtype.name]}")
        return sums.mean_dims(x, tuple([dim_of(-1 - i, x.ndim) for i in range(dims)][::-1]), True)
    if dims == 2 and x.array.dtype.kind in "iub" and 0 in (*sizes, *x.array.shape):
        return wrap(np.empty((*x.array.shape[:-2], *sizes), x.array.dtype))
    supported("adaptive_avg_pool2d" if dims == 2 else "adaptive_avg_pool3d_cpu", x, "iubc")
    axes = []
    for n, m in zip(x.array.shape[-dims:], sizes, strict=True):
        places, inside, widths = spans(n, m)
        axes.append(pool.Axis(places, None if inside.all() else inside, widths, n))
    return pool.RESAMPLED["adaptive", dims](axes, (), None).run(x)


def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:
    """Means over windows so chosen that (N, C, L) or (C, L) becomes (..., output_size)."""
    check_1d(input, "adaptive_avg_pool1d")
    at = input.ndim - 1
    n = one_length(input, output_size, "adaptive_avg_pool1d")
    y = adaptive_average("adaptive_avg_pool2d", 2, shape.unsqueeze(input, at), (1, n))
    return shape.squeeze_dim(y, at)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """Means over windows so chosen that (N, C, H, W) or (C, H, W) becomes (..., *output_size); None keeps a size."""
    return adaptive_average("adaptive_avg_pool2d", 2, input, output_size)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """Means over windows so chosen that (N, C, D, H, W) or (C, D, H, W) becomes (..., *output_size); None keeps a size."""
    return adaptive_average("adaptive_avg_pool3d", 3, input, output_size)


def power_mean(y: Any, norm_type: Any, count: int) -> Any:
    signed = pointwise.sign(y) * activation.relu(pointwise.abs(y))
    return arith.pow(signed * count, 1.0 / norm_type)


def powers(x: Any, norm_type: Any) -> Any:
    if not isinstance(norm_type, (int, float)):
        raise refused("pow", (norm_type,), "(Tensor exponent)", "(Number exponent)")
    return arith.pow(x, norm_type)


def extreme(function: str, x: Any, norm_type: Any, kernel_size: Any, stride: Any, ceil_mode: bool) -> Any:
    """The norm of order inf or -inf over windows; None for other orders."""
    if not isinstance(norm_type, (int, float)) or not math.isinf(norm_type):
        return None
    pooled = globals()[function]
    if norm_type > 0:
        return pooled(pointwise.abs(x), kernel_size, stride, 0, 1, ceil_mode)
    return arith.neg(pooled(arith.neg(pointwise.abs(x)), kernel_size, stride, 0, 1, ceil_mode))


def lp_pool1d(input: Any, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """(sum of x ** norm_type over each window of (N, C, L) or (C, L)) ** (1 / norm_type)"""
    most = extreme("max_pool1d", input, norm_type, kernel_size, stride, ceil_mode)
    if most is not None:
        return most
    y = avg_pool1d(powers(input, norm_type), kernel_size, stride, 0, ceil_mode)
    if isinstance(kernel_size, (tuple, list)):
        raise TypeError(f"mul(): argument 'other' (position 1) must be Tensor, not {type(kernel_size).__name__}")
    return power_mean(y, norm_type, kernel_size)


def lp_pool2d(input: Any, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """(sum of x ** norm_type over each window of (N, C, H, W) or (C, H, W)) ** (1 / norm_type)"""
    width, height = each(kernel_size, 2)
    most = extreme("max_pool2d", input, norm_type, kernel_size, stride, ceil_mode)
    if most is not None:
        return most
    return power_mean(avg_pool2d(powers(input, norm_type), kernel_size, stride, 0, ceil_mode), norm_type, width * height)


def lp_pool3d(input: Any, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """(sum of x ** norm_type over each window of (N, C, D, H, W) or (C, D, H, W)) ** (1 / norm_type)"""
    depth, width, height = each(kernel_size, 3)
    most = extreme("max_pool3d", input, norm_type, kernel_size, stride, ceil_mode)
    if most is not None:
        return most
    return power_mean(avg_pool3d(powers(input, norm_type), kernel_size, stride, 0, ceil_mode), norm_type, depth * width * height)
