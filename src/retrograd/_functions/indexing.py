"""Reading and writing along a dim, at positions and under masks: torch.gather, scatter, index_add, take, nonzero, ...

index         positions along dim, int64; out of range they raise, and only index_fill and put count negative ones from the end
indices       a tuple of index tensors, one for each dimension
value         the number, or 0-dim tensor, that is written
accumulate    True: add where False overwrites
reduce        what becomes of values that meet; of scatter "add" or "multiply", of index_reduce "prod", "mean", "amax", "amin"
include_self  False: the elements written to do not count themselves
sparse_grad   accepted; gradients are dense
as_tuple      True: a tensor of positions for each dimension instead of one (count, dims)
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import names, promote
from .._engine.op import recording, watch
from .._engine.tensor import TensorBase, wrap
from .._engine.views import guard
from .._engine.warn import warn_once
from .._kernels import kernel
from .._rules import gather as ops
from .._rules import index as language
from .._rules import indexed, masks, shape
from .._tensor import dtypes
from .arguments import aliased, dim_of, finish, read_first, real_number, real_only, scalar_name, separate, sized, tensor
from .arguments import kernel as kernel_for
from .fromdata import check_room
from .shape import reshaped

INT64 = np.dtype(np.int64)
quick_bounds = kernel("bounds")
quick_one_hot = kernel("one_hot")


# gather and scatter

def places(function: str, x: TensorBase, dim: int, index: Any) -> tuple[int, Any]:
    """-> (dim, int64 index array), checked against x as PyTorch does."""
    at = dim_of(dim, x.array.ndim)
    i = tensor(index, function, "index", 3).array
    if i.size and i.dtype not in (np.dtype(np.int64), np.dtype(np.int32)):
        raise RuntimeError(f"{function}(): Expected dtype int32/int64 for index")
    i = i.astype(np.int64, copy=False)
    if max(i.ndim, 1) != max(x.array.ndim, 1):
        if i.size:
            return at, i                                # the caller says so, after its other checks
        i = np.zeros((0,) * max(x.array.ndim, 1), np.int64)
    return at, i


def in_range(i: Any, dim: int, n: int) -> None:
    if i.size and outside(i, n):
        raise RuntimeError(f"index {first_out(i, 0, n)} is out of bounds for dimension {dim} with size {n}")


def outside(i: Any, n: int) -> bool:
    """Is one of these numbers not in 0..n-1?"""
    low, high = quick_bounds(i) or (int(i.min()), int(i.max()))
    return bool(low < 0 or high >= n)


def first_out(i: Any, low: int, high: int) -> int:
    """The first number, in C order, that is not in low..high - 1."""
    return int(i[(i < low) | (i >= high)][0])


def length(x: TensorBase, dim: int) -> int:
    return int(x.array.shape[dim]) if x.array.ndim else 1


@aliased
def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False, out: Any = None) -> Any:
    """y[i][j] = input[index[i][j]][j] along dim 0, and so on.  index has as many dims and no other dim longer.

    https://pytorch.org/docs/stable/generated/torch.gather.html
    """
    x = tensor(input, "gather")
    shown = tensor(index, "gather", "index", 3).array.shape
    at, i = places("gather", x, dim, index)
    if not i.size:                                      # nothing is picked
        i = np.zeros(shown, np.int64)
    elif max(i.ndim, 1) != max(x.array.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for d in range(min(x.array.ndim, i.ndim)):
        if i.size and d != at and i.shape[d] > x.array.shape[d]:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(i.shape)} to be no larger than self "
                f"{list(x.array.shape)} apart from dimension {at}")
    in_range(i, at, length(x, at))
    op = ops.GatherBackward0(at, i)
    watch(op, index)
    return finish(op.run(x), out, "gather", x)


def fits(x: TensorBase, dim: int, i: Any, src: TensorBase | None) -> None:
    """May src be scattered into x at i?"""
    if not i.size:
        return
    have = x.array.shape
    if max(len(have), 1) != max(i.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    bad = any(d != dim and i.shape[d] > have[d] for d in range(min(i.ndim, len(have))))
    if src is None:
        if bad:
            raise RuntimeError(
                f"Expected index {list(i.shape)} to be no larger than self {list(have)} apart from dimension {dim}")
        return
    sizes = src.array.shape or (1,) * i.ndim
    for d, n in enumerate(i.shape):
        if bad:
            break
        dim_of(d, len(sizes))
        bad = n > sizes[d]
    if max(src.array.ndim, 1) != max(i.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    if bad:
        raise RuntimeError(
            f"Expected index {list(i.shape)} to be no larger than self {list(have)} apart from dimension {dim} "
            "and to be no "
            f"larger size than src {list(src.array.shape)}")


def prepared(function: str, x: TensorBase, dim: int, index: Any, src: TensorBase | None,
             inplace: bool, mean: str = "", value: Any = 0, reduce: str | None = None) -> tuple[int, Any, Any]:
    at, i = places(function, x, dim, index)
    if src is not None and src.array.dtype != x.array.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    fits(x, at, i, src)
    if mean == "with self" and i.size:
        kernel_for("scatter_gather_tensor_cpu_reduce_mean", x, "b")
    if inplace:
        separate(x, index, src, once=True)
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    n = length(x, at)
    if i.size and 0 <= i.flat[0] < n:                   # PyTorch casts it as it writes
        language.check_number(value, x.array.dtype)
    in_range(i, at, n)
    if mean and i.size:
        kernel_for("scatter_gather_tensor_cpu_reduce_mean", x, "b")
    if not i.ndim:
        i = i.reshape(1)
    if src is not None and not src.array.ndim:
        src = shape.reshape(src, (1,))
    return at, i, src


def scattered(x: Any, dim: Any, index: Any, src: Any, reduce: Any, inplace: bool) -> Any:
    number = not isinstance(src, TensorBase)
    if reduce is not None:
        if not number:
            warn_once(
                "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a "
                "future PyTorch "
                "release. Use torch.scatter_reduce instead for more reduction options.")
    at, i, b = prepared("scatter", x, dim, index, None if number else src, inplace, value=src if number else 0, reduce=reduce)
    src = src if number else b
    if reduce is not None:
        op: Any = ops.NotImplemented_(at, i, reduce)
        op.what = "scatter_" if inplace else "scatter"
    elif number:
        op = ops.ScatterBackward1(at, i, src if i.size else 0)
        watch(op, index)
        return op.run_(x) if inplace else op.run(x)
    else:
        op = ops.ScatterBackward0(at, i)
        watch(op, index)
    return op.run_(x, src) if inplace else op.run(x, src)


def scatter(input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: str | None = None,
            out: Any = None) -> Any:
    """A copy with src (tensor or number) written at index along dim: y[index[i][j]][j] = src[i][j].

    https://pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html
    """
    return scattered(input, dim, index, value if src is None else src, reduce, False)


def scatter_(input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Any:
    """In place: scatter."""
    return scattered(input, dim, index, value if src is None else src, reduce, True)


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """A copy with src added at index along dim; repeated indices add up."""
    op, src = scatter_adder(input, dim, index, src, "scatter_add", False)
    return op.run(input, src)


def scatter_add_(input: Any, dim: int, index: Any, src: Any) -> Any:
    """In place: scatter_add."""
    op, src = scatter_adder(input, dim, index, src, "scatter_add_", True)
    return op.run_(input, src)


def scatter_adder(x: TensorBase, dim: int, index: Any, src: Any, function: str, inplace: bool) -> tuple[Any, Any]:
    at, i, src = prepared("scatter", x, dim, index, tensor(src, function, "src", 3), inplace)
    op = ops.ScatterAddBackward0(at, i)
    if recording(src):                                  # only its rule reads the index
        watch(op, index)
    return op, src


def reducer(x: TensorBase, dim: int, index: Any, src: Any, reduce: str, include_self: bool, inplace: bool) -> tuple[Any, Any]:
    at, i, src = prepared("scatter", x, dim, index, tensor(src, "scatter_reduce", "src", 3), inplace,
                          "" if reduce != "mean" else "with self" if include_self else "of src")
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if reduce[0] == "a":
        real_only(x, f"scatter_gather_tensor_cpu_reduce_{reduce}")
    op = ops.ScatterReduceBackward0(at, i, reduce, include_self)
    watch(op, index)
    return op, src


def scatter_reduce(input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """A copy with src reduced into it at index along dim: "sum", "prod", "mean", "amax" or "amin"."""
    op, src = reducer(input, dim, index, src, reduce, include_self, False)
    return op.run(input, src)


def scatter_reduce_(input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """In place: scatter_reduce."""
    op, src = reducer(input, dim, index, src, reduce, include_self, True)
    return op.run_(input, src)


# Slices

def vector(index: Any, function: str, text: str) -> Any:
    i = tensor(index, function, "index", 3).array
    if i.ndim > 1:
        raise IndexError(text)
    return i


@aliased
def index_select(input: Any, dim: int, index: Any, *, out: Any = None) -> Any:
    """The slices at a 1-dim index along dim, as a copy."""
    at = dim_of(dim, input.array.ndim)
    i = vector(index, "index_select", "index_select(): Index is supposed to be a vector")
    if not input.array.ndim and i.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {i.size} value(s)")
    if i.dtype not in (np.dtype(np.int64), np.dtype(np.int32)):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    i = i.reshape(-1).astype(np.int64, copy=False)
    n = length(input, at)
    if i.size and not n and input.array.ndim > 1:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if i.size and (i.min() < 0 or i.max() >= n):
        if at == 1 or (n and not input.array.size):
            raise RuntimeError(f"INDICES element is out of DATA bounds, id={first_out(i, 0, n)} axis_dim={n}")
        raise IndexError("index out of range in self")
    op = ops.IndexSelectBackward0(at, i)
    watch(op, index)
    return op.run(input)


def plain(a: Any, i: Any, b: Any) -> bool:
    """Are these vectors of floats, positions in it and as many floats?  Then nothing else can be wrong with them."""
    return bool(a.ndim == i.ndim == b.ndim == 1 and a.dtype is b.dtype and a.dtype.kind == "f" and i.dtype is INT64
                and 0 < i.size == b.size and not outside(i, a.size))


def adder(x: TensorBase, dim: int, index: Any, source: Any, alpha: Any, name: str = "index_add_",
          exclude: bool | None = None, inplace: bool = False) -> tuple[Any, Any]:
    """exclude: whether index_reduce leaves out what is there; None for index_add."""
    i = tensor(index, "index_add", "index", 2).array
    b = tensor(source, "index_add", "source", 3)
    if exclude is None and dim == 0 and type(alpha) is int and alpha == 1 and plain(x.array, i, b.array):
        if inplace:
            separate(x, index, b, once=True)
        op = ops.IndexAddBackward0(0, i, 1)
        if recording(b):
            watch(op, index)
        return op, b
    at = dim_of(dim, x.array.ndim)
    if i.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {i.ndim} with type: "
            f"{dtypes.of(i.dtype).scalar} and size: {list(i.shape)}")
    if i.dtype not in (np.int32, np.int64):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index but got: {dtypes.of(i.dtype).scalar}")
    if b.array.dtype != x.array.dtype:
        raise RuntimeError(
            f"{name}(): self ({scalar_name(x)}) and source ({scalar_name(b)}) must have the same scalar type")
    sizes, have = list(x.array.shape), list(b.array.shape)
    if at and at >= len(have):
        raise RuntimeError(f"{name}(): Indexing dim {at} is out of bounds of the source tensor with dim {len(have)}")
    if i.size != (have[at] if have else 1):
        count = sized(b, at)
        raise RuntimeError(
            f"{name}(): Number of indices ({i.size}) should be equal to source.size(dim): ({count}), for dim: {at}")
    if len(sizes) > 1 or (have and sizes) or len(sizes) != len(have):
        if sizes[:at] + sizes[at + 1:] != have[:at] + have[at + 1:] or len(sizes) != len(have):
            raise RuntimeError(
                "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
                f"{sizes} source.shape = {have}")
    n = length(x, at)
    if exclude:                                         # PyTorch fills these slices first
        kernel_for("index_reduce_func_exclude_input_init", x, "b")
        if x.array.size and i.size and (i.min() < -n or i.max() >= n):
            raise IndexError(f"index {first_out(i, -n, n)} is out of bounds for dimension {at} with size {n}")
    if exclude is not None and x.array.ndim < 2:
        kernel_for("index_func_", x, "b")
    if inplace:
        separate(x, index, b, once=True)
    alpha = real_number(alpha, x.array.dtype)
    whole = x.array.dtype.kind in "iu" and (x.array.size or len(sizes) < 2)
    if whole and (len(sizes) < 2 or (i.size and 0 <= i.flat[0] < n)):    # before an index is looked at; when the first is added
        language.check_number(alpha, x.array.dtype)
    if i.size and outside(i, n):
        adding = name == "index_add_"
        if adding and len(sizes) > 1 and not x.array.size:      # nothing is added
            i = np.zeros_like(i)
        elif adding and len(sizes) > 1 and i.dtype == np.int64 and alpha == 1 and at in (0, len(sizes) - 1):
            in_range(i, at, n)
        else:
            raise IndexError("index out of range in self")
    if whole:
        alpha = int(alpha)
        alpha = np.asarray(alpha).astype(x.array.dtype).item()              # -1 of uint8 wraps around
    op = ops.IndexAddBackward0(at, i.reshape(-1).astype(np.int64, copy=False), alpha)
    if recording(b):                                    # only its rule reads the index
        watch(op, index)
    return op, b


@aliased
def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """A copy with alpha times the slices of source added at index along dim; repeated indices add up."""
    op, b = adder(input, dim, index, source, alpha)
    return op.run(input, b)


def index_add_(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """In place: index_add."""
    op, b = adder(input, dim, index, source, alpha, inplace=True)
    return op.run_(input, b)


def slices_reducer(x: TensorBase, dim: int, index: Any, source: Any, reduce: str, include_self: bool,
                   inplace: bool) -> tuple[Any, Any]:
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    warn_once("index_reduce() is in beta and the API may change at any time.")
    op, b = adder(x, dim, index, source, 1, "index_reduce_", not include_self, inplace)
    if reduce == "mean" and op.index.size:
        kernel_for("div_floor_cpu", x, "b")
    at, i, n = op.dim, op.index, b.array.ndim
    wide = np.broadcast_to(i.reshape([-1 if d == at else 1 for d in range(n)]), b.array.shape)
    made = ops.IndexReduceBackward0(at, np.array(wide), reduce, include_self)
    watch(made, index)
    return made, b


def index_reduce(input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    """A copy with the slices of source reduced into it at index along dim: "prod", "mean", "amax" or "amin"."""
    op, b = slices_reducer(input, dim, index, source, reduce, include_self, False)
    return op.run(input, b)


def index_reduce_(input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    """In place: index_reduce."""
    op, b = slices_reducer(input, dim, index, source, reduce, include_self, True)
    return op.run_(input, b)


def unravel_index(indices: Any, shape: Any) -> Any:
    """Flat positions (C order) as one index tensor per dim of `shape`."""
    a = tensor(indices, "unravel_index", "indices").array
    if a.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {dtypes.of(a.dtype)}")
    a = a.astype(np.int64)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    found, step = [], 1
    for n in reversed(sizes):
        found.append(wrap(np.asarray(a // step % n)))
        step *= n
    return tuple(reversed(found))


def copier(x: TensorBase, dim: int, index: Any, source: Any, inplace: bool) -> tuple[Any, Any]:
    at = dim_of(dim, x.array.ndim)
    i = tensor(index, "index_copy", "index", 3).array
    if i.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {i.ndim})")
    b = tensor(source, "index_copy", "source", 3)
    sizes, have = list(x.array.shape), list(b.array.shape)
    if not have and i.size != 1:
        raise IndexError(
            f"index_copy_(): When source is scalar, index should have one element (got {i.size})")
    if have and sizes and len(have) != len(sizes):
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({len(have)}), destination dimensionality ({len(sizes)})")
    if i.dtype != np.int64:
        raise RuntimeError("index_copy_(): Expected a long tensor for index, but got " + dtypes.of(i.dtype).scalar)
    if b.array.dtype != x.array.dtype:
        raise RuntimeError(
            f"index_copy_(): self and source expected to have the same dtype, but got (self) {scalar_name(x)} and "
            "(source) "
            f"{scalar_name(b)}")
    keep, got = sizes[:at] + sizes[at + 1:], have[:at] + have[at + 1:]
    if keep != got:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{' '.join(map(str, keep))} at dimension {at} and source slice shape: {' '.join(map(str, got))} at "
            "dimension 0.")
    if have and i.size != have[at]:
        raise IndexError(
            f"index_copy_(): Number of indices ({i.size}) should be equal to source.size(dim) ({have[at]})")
    if inplace:
        separate(x, index, b, once=True)
    n = length(x, at)
    if i.size and (i.min() < 0 or i.max() >= n):
        if 0 in keep:                                   # nothing is copied
            i = np.zeros_like(i)
        else:
            raise IndexError(f"index_copy_(): index {first_out(i, 0, n)} is out of bounds for dimension {at} with size {n}")
    op = ops.IndexCopyBackward0(at, i.reshape(-1))
    watch(op, index)
    return op, b


@aliased
def index_copy(input: Any, dim: int, index: Any, source: Any, *, out: Any = None) -> Any:
    """A copy with the slices of source in the places that index names along dim."""
    op, b = copier(input, dim, index, source, False)
    return op.run(input, b)


def index_copy_(input: Any, dim: int, index: Any, source: Any) -> Any:
    """In place: index_copy."""
    op, b = copier(input, dim, index, source, True)
    return op.run_(input, b)


def filled(x: TensorBase, dim: int, index: Any, value: Any, inplace: bool) -> Any:
    dtypes.check_long(value)
    if isinstance(value, TensorBase) and value.array.ndim:
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.array.ndim} dimension(s).")
    i = tensor(index, "index_fill", "index", 2).array
    if i.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    at = dim_of(dim, x.array.ndim)
    if i.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if inplace:
        separate(x, index)
    i = i.reshape(-1)
    n = length(x, at)
    given: Any = value.array.dtype.kind == "c" if isinstance(value, TensorBase) else isinstance(value, complex)
    if given and x.array.dtype.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    if i.size and x.array.size and not isinstance(value, TensorBase):
        language.check_number(value, x.array.dtype)
    if i.size and (i.min() < -n or i.max() >= n):
        if 0 in x.array.shape[:at] + x.array.shape[at + 1:]:    # nothing is filled
            i = i[:0]
        else:
            raise IndexError(f"index {first_out(i, -n, n)} is out of bounds for dimension {at} with size {n}")
    if isinstance(value, TensorBase):
        two = ops.IndexFillBackward1(at, i)
        watch(two, index)
        return two.run_(x, value) if inplace else two.run(x, value)
    one = ops.IndexFillBackward0(at, i, value)
    watch(one, index)
    return one.run_(x) if inplace else one.run(x)


@aliased
def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """A copy with a number (or 0-dim tensor) in the slices that index names along dim."""
    return filled(input, dim, index, value, False)


@aliased
def index_fill_(input: Any, dim: int, index: Any, value: Any) -> Any:
    """In place: index_fill."""
    return filled(input, dim, index, read_first(input, value), True)


def put_index(x: TensorBase, indices: Any, values: Any, accumulate: bool) -> Any:
    """The op that writes at `indices`, checked."""
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"index_put(): argument 'indices' (position 1) must be tuple of Tensors, not {dtypes.typename(indices)}")
    if len(indices) > x.array.ndim:
        raise IndexError(f"too many indices for tensor of dimension {x.array.ndim} (got {len(indices)})")
    for n, i in enumerate(indices):
        if not isinstance(i, TensorBase):
            raise TypeError(f"expected Tensor as element {n} in argument 0, but got {dtypes.typename(i)}")
    for i in indices:
        if i.array.dtype.name not in ("int64", "int32", "uint8", "bool"):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    quiet = not accumulate and language.fills_bytes(tuple(indices), values)
    where: Any = tuple(np.asarray(language.plain(i, quiet)) for i in indices)
    filling = not accumulate and values.array.size == 1 and len(where) == 1 and where[0].dtype.kind == "b"
    want = values.array.dtype if filling else x.array.dtype
    where = language.bounded(where, x.array.shape, values, want)
    if filling:
        language.refuse_bytes(tuple(indices), values)
    elif values.array.dtype != want:
        language.check_value(values, np.broadcast_to(np.zeros((), bool), x.array.shape)[where].shape, want)
    op = indexed.IndexPutBackward0(where, bool(accumulate))
    if not accumulate or recording(values):
        language.watch_all(op, indices)
    return op


def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """A copy with values written at (or added at) a tuple of index tensors."""
    x = tensor(input, "index_put")
    values = filling(tensor(values, "index_put", "values", 2), indices, accumulate)
    return put_index(x, indices, values, accumulate).run(x, values)


def index_put_(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """In place: index_put."""
    values = filling(tensor(values, "index_put_", "values", 2), indices, accumulate)
    guard(input, recording(input) or recording(values))
    if (not isinstance(indices, (tuple, list)) or len(indices) <= input.array.ndim) and not fills(values, indices, accumulate):
        separate(input, values)
    op = put_index(input, indices, values, accumulate)
    separate(input, *indices)
    return op.run_(input, values)


def filling(values: TensorBase, indices: Any, accumulate: bool) -> Any:
    """values; without dims where they are one number that fills a mask."""
    return shape.reshape(values, ()) if values.array.ndim > 1 and fills(values, indices, accumulate) else values


def fills(values: TensorBase, indices: Any, accumulate: bool) -> bool:
    """Are they one number for the places of a mask?"""
    return (not accumulate and values.array.size == 1 and len(indices) == 1 and isinstance(indices[0], TensorBase)
            and indices[0].array.dtype.kind == "b")


# Masks

def masked_select(input: Any, mask: Any, *, out: Any = None) -> Any:
    """The elements where the bool mask holds, as one row; input and mask broadcast."""
    if mask.array.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    promote.check_broadcast(mask.array, input.array)
    op = masks.MaskedSelectBackward0(mask.array)
    watch(op, mask)
    return op.run(input)


def scatter_mask(x: TensorBase, mask: Any, source: Any) -> tuple[Any, Any]:
    m, b = tensor(mask, "masked_scatter", "mask", 2), tensor(source, "masked_scatter", "source", 3)
    promote.check_broadcast(m.array, x.array)
    if b.array.dtype != x.array.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got{scalar_name(x)} and "
            f"{scalar_name(b)}")
    if m.array.dtype.kind != "b":
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {scalar_name(m)}")
    wide = np.broadcast_to(m.array, np.broadcast_shapes(m.array.shape, x.array.shape))
    if b.array.size < np.count_nonzero(wide):
        raise RuntimeError("Number of elements of source < number of ones in mask")
    op = masks.MaskedScatterBackward0(m.array)
    watch(op, m)
    return op, b


def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """A copy with the first elements of source, in order, where the mask holds."""
    op, b = scatter_mask(input, mask, source)
    return op.run(input, b)


def masked_scatter_(input: Any, mask: Any, source: Any) -> Any:
    """In place: masked_scatter."""
    want, have = input.array.shape, mask.array.shape
    if len(have) > len(want) or any(m not in (1, n) for m, n in zip(have[::-1], want[::-1], strict=False)):
        raise language.expand_error(want, have, names.SHOWN[mask.array.dtype.name])
    op, b = scatter_mask(input, mask, read_first(input, source))
    return op.run_(input, b)


# Flat positions

def long_index(function: str, index: Any) -> Any:
    i = tensor(index, function, "index", 2)
    if i.array.dtype != np.int64:
        raise RuntimeError(f"{function}(): Expected a long tensor for index, but got {scalar_name(i)}")
    return i


def flat_index(function: str, x: TensorBase, i: Any) -> Any:
    n = x.array.size
    if i.array.size:
        if not n:
            raise IndexError("take(): tried to take from an empty tensor" if function == "take" else
                             "put_(): Tried to put elements into an empty tensor")
        if i.array.min() < -n or i.array.max() >= n:
            raise IndexError(
                f"out of range: tried to access index {first_out(i.array, -n, n)} on a tensor of {n} elements.")
    return i.array


def take(input: Any, index: Any, *, out: Any = None) -> Any:
    """The elements at flat positions (C order), in the shape of index."""
    op = masks.TakeBackward0(flat_index("take", input, long_index("take", index)))
    watch(op, index)
    return op.run(input)


def take_along_dim(input: Any, indices: Any, dim: int | None = None, *, out: Any = None) -> Any:
    """gather with broadcasting; without dim, of the flattened tensors."""
    if dim is None:
        return gather(reshaped(input, (-1,)), 0, reshaped(indices, (-1,)))
    if input.array.ndim != indices.array.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.array.ndim} dimensions for input, and {indices.array.ndim} dimensions for indices")
    if indices.array.dtype != np.int64:
        raise RuntimeError("torch.take_along_dim(): dtype of indices should be Long but got " + scalar_name(indices))
    at = dim_of(dim, input.array.ndim)
    sized(indices, at)
    a, b = list(input.array.shape), list(indices.array.shape)
    for d in reversed(range(len(a))):
        if d != at and a[d] != b[d] and 1 not in (a[d], b[d]):
            raise RuntimeError(
                f"The size of tensor a ({a[d]}) must match the size of tensor b ({b[d]}) at non-singleton dimension {d}")
    both = [n if m == 1 else m for m, n in zip(a, b, strict=True)]
    wide_x, wide_i = list(both), list(both)
    wide_x[at], wide_i[at] = a[at], b[at]
    found = np.array(np.broadcast_to(indices.array, wide_i))
    if found.size and (n := length(input, at)):
        found %= n                                      # wraps around, however far out
    return gather(shape.expand(input, tuple(wide_x)), at, wrap(found))


def putter(x: TensorBase, index: Any, source: Any, accumulate: bool, inplace: bool) -> tuple[Any, Any]:
    b = tensor(source, "put_", "source", 3)
    i = long_index("put_", index)
    if b.array.dtype != x.array.dtype:
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = {scalar_name(x)} and "
            f"source.dtype = {scalar_name(b)}")
    if i.array.size != b.array.size:
        raise IndexError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{b.array.size}, index.numel() = {i.array.size}")
    if inplace:
        separate(x, index, b, once=True)
    op = masks.PutBackward0(flat_index("put_", x, i), bool(accumulate))
    if not accumulate or recording(b):
        watch(op, i)
    return op, b


def put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """A copy with source written at (or added at) flat positions."""
    op, b = putter(input, index, source, accumulate, False)
    return op.run(input, b)


def put_(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """In place: put."""
    op, b = putter(input, index, source, accumulate, True)
    return op.run_(input, b)


# Where is it?

def nonzero(input: Any, *, out: Any = None, as_tuple: bool = False) -> Any:
    """Indices (int64) of the elements that are not zero: one row each, or one tensor per dim."""
    a = input.array
    if as_tuple:
        return tuple(wrap(i) for i in np.nonzero(np.atleast_1d(a)))
    found = np.argwhere(a) if a.ndim else np.zeros((int(bool(a)), 0), np.int64)
    return wrap(np.asarray(found, np.int64))


def nonzero_static(input: Any, *, size: int, fill_value: int = -1, out: Any = None) -> Any:
    """The first `size` rows of nonzero, and rows of fill_value where there are fewer."""
    a = input.array
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = nonzero(input).array[:size]
    rows = np.full((size, a.ndim), fill_value, np.int64)
    rows[:len(found)] = found
    return wrap(rows)


def argwhere(input: Any) -> Any:
    """nonzero as rows."""
    return nonzero(input)


def __delitem__(input: Any, index: Any) -> Any:
    """Elements cannot be deleted."""
    raise TypeError("Tensor does not support deleting items")


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """int64 (..., num_classes) with 1 at each class number in `tensor`; by default as many classes as needed."""
    a = _tensor(tensor, "one_hot").array
    if a.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    quick = quick_one_hot(a, num_classes) if num_classes < 2**31 else None
    if quick is not None:
        return wrap(quick)
    if not a.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return wrap(np.empty((*a.shape, num_classes), np.int64))
    if a.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    check_room((*a.shape, num_classes), a.dtype)
    if num_classes == -1:
        num_classes = int(a.max()) + 1
    elif num_classes <= a.max():
        raise RuntimeError("Class values must be smaller than num_classes.")
    return wrap((a[..., None] == np.arange(num_classes)).astype(np.int64))


_tensor = tensor
