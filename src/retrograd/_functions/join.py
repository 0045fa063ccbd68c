"""Joining and splitting: torch.cat, stack, split, chunk, meshgrid, ...

tensors                 a sequence of tensors
tensor                  the tensor to split
with_replacement        True: an element may be chosen again
indices_or_sections     how many equal parts, or the positions where parts begin
split_size_or_sections, split_size   length of each part (the last may be shorter), or a list of all lengths
split_sizes             the lengths of all parts
chunks                  how many parts at most
"""
from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .._engine import names, promote
from .._engine.modes import inference_on
from .._engine.tensor import TensorBase, wrap
from .._engine.warn import once, warn
from .._rules import arith, cast, compare, index, join, masks, shape
from .._tensor import dtypes
from .arguments import aliased, dim_of, integer, is_int, long, refused, tensor
from .arith import refuse_bools, steps_of
from .shape import atleast_1d, atleast_2d, atleast_3d, reshaped

MOST = 1 << 32          # so many views fit into nobody's memory


def listed(tensors: Any, function: str) -> list[Any]:
    """The tensors of a tuple or list; TypeError for anything else."""
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"{function}(): argument 'tensors' (position 1) must be tuple of Tensors, not {dtypes.typename(tensors)}")
    for i, x in enumerate(tensors):
        if not isinstance(x, TensorBase):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {dtypes.typename(x)}")
    return list(tensors)


def common(xs: list[Any]) -> Any:
    """The dtype the result has; None when all have it."""
    first = xs[0].array.dtype
    if all(x.array.dtype == first for x in xs):
        return None
    return promote.result_dtype([x.array for x in xs])


@aliased
def cat(tensors: Any, dim: int = 0, *, out: Any = None) -> Any:
    """Tensors one after the other along dim; other sizes must agree, dtypes are promoted.

    https://pytorch.org/docs/stable/generated/torch.cat.html
    """
    xs = listed(tensors, "cat")
    if not xs:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for i, x in enumerate(xs):
        if not x.array.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    whole = [x for x in xs if x.array.shape != (0,)]
    first = (whole or xs)[0].array.shape
    at = dim_of(integer(dim, "cat", "dim", 2), len(first))
    for i, x in enumerate(xs):
        have = x.array.shape
        if have in ((0,), first):
            continue
        if len(have) != len(first):
            raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(have)}")
        for d, n in enumerate(have):
            if d != at and n != first[d]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {at}. Expected size {first[d]} but got size "
                    f"{n} for "
                    f"tensor number {i} in the list.")
    return join.cat_as(xs, at, common(xs))


concat = concatenate = cat


@aliased
def stack(tensors: Any, dim: int = 0, *, out: Any = None) -> Any:
    """Tensors of one shape along a new dim."""
    xs = listed(tensors, "stack")
    if not xs:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = xs[0].array.shape
    for i, x in enumerate(xs):
        if x.array.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                f"{list(x.array.shape)} at "
                f"entry {i}")
    return join.stack_as(xs, dim_of(dim, len(first) + 1), common(xs))


def vstack(tensors: Any, *, out: Any = None) -> Any:
    """Tensors of at least 2 dims one below the other; vectors are rows."""
    return cat([atleast_2d(x) for x in several(tensors, "vstack")], 0)


row_stack = vstack


def hstack(tensors: Any, *, out: Any = None) -> Any:
    """Tensors side by side: along dim 1, vectors along dim 0."""
    xs = [atleast_1d(x) for x in several(tensors, "hstack")]
    return cat(xs, 0 if xs[0].array.ndim == 1 else 1)


def dstack(tensors: Any, *, out: Any = None) -> Any:
    """Tensors one behind the other, along dim 2."""
    return cat([atleast_3d(x) for x in several(tensors, "dstack")], 2)


def column_stack(tensors: Any, *, out: Any = None) -> Any:
    """Vectors as columns, matrices side by side."""
    xs = several(tensors, "column_stack")
    return cat([reshaped(x, (x.array.size, 1)) if x.array.ndim <= 1 else x for x in xs], 1)


def several(tensors: Any, function: str) -> list[Any]:
    xs = listed(tensors, function)
    if not xs:
        raise RuntimeError(f"{function} expects a non-empty TensorList")
    return xs


# Splitting

def split(tensor: Any, split_size_or_sections: Any = None, dim: int = 0, *, split_size: Any = None) -> Any:
    """Views of split_size along dim (the last one smaller), or of the given sizes.  They may not be edited in place.

    https://pytorch.org/docs/stable/generated/torch.split.html
    """
    sizes = split_size if split_size is not None else split_size_or_sections
    if isinstance(sizes, (tuple, list)):
        return split_with_sizes(tensor, sizes, dim)
    x = _tensor(tensor, "split")
    if isinstance(sizes, TensorBase) and sizes.array.size == 1:
        sizes = int(sizes.array.item())
    if sizes is None:
        raise TypeError("Tensor.split() missing 1 required positional argument: 'split_size'")
    if not isinstance(sizes, (int, np.integer)):
        raise TypeError(
            "split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not "
            f"{dtypes.typename(sizes)}")
    if not x.array.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    at = dim_of(dim, x.array.ndim)
    if long(int(sizes)) < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={sizes}")
    if sizes == 0 and x.array.shape[at]:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {x.array.shape[at]}")
    return tuple(join.SplitBackward0(int(sizes), int(at)).run(x))


_tensor = tensor


def split_with_sizes(input: Any, split_sizes: Any, dim: int = 0) -> Any:
    """Views of the given sizes along dim, which must add up to its size."""
    if not input.array.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    at = dim_of(dim, input.array.ndim)
    for i, n in enumerate(split_sizes):
        if not is_int(n):
            raise TypeError("split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, but found element of "
                            f"type {dtypes.typename(n)} at pos {i}")
    sizes = tuple(int(n) for n in split_sizes)
    if any(n < 0 for n in sizes):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(sizes)}")
    if sum(sizes) != input.array.shape[at]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {input.array.shape[at]} (input tensor's size at "
            "dimension "
            f"{at}), but got split_sizes={list(sizes)}")
    return tuple(join.SplitWithSizesBackward0(sizes, at).run(input))


def chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """At most `chunks` views of equal size along dim, the last one smaller."""
    if not input.array.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    chunks = long(integer(chunks, "chunk", "chunks", 1))
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    at = dim_of(dim, input.array.ndim)
    n = input.array.shape[at]
    if n == 0:
        return split_with_sizes(input, (0,) * chunks, at)
    return split(input, (n + chunks - 1) // chunks, at)


def unsafe_split(input: Any, split_size: int, dim: int = 0) -> Any:
    """split, with parts that may be edited in place: autograd takes them for copies."""
    parts = split(input, split_size, dim)                   # checks
    if inference_on():
        return parts
    return tuple(join.UnsafeSplitBackward0(split_size, dim_of(dim, input.array.ndim)).run(input))


def unsafe_chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """chunk, with parts that may be edited in place: autograd takes them for copies."""
    parts = chunk(input, chunks, dim)
    if input.array.shape[dim]:
        return unsafe_split(input, parts[0].array.shape[dim], dim)
    if inference_on():
        return parts
    return tuple(join.UnsafeSplitWithSizesBackward0((0,) * len(parts), dim_of(dim, input.array.ndim)).run(input))


def tensor_split(input: Any, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None,
                 sections: Any = None) -> Any:
    """Views along dim: `sections` of sizes that differ by one at most, or cut at the given indices."""
    cut = indices_or_sections
    cut = indices if cut is None and indices is not None else sections if cut is None else cut
    if not input.array.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    at = dim_of(dim, input.array.ndim)
    n = input.array.shape[at]
    if isinstance(cut, TensorBase):
        if cut.array.dtype != np.int64:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                + dtypes.of(cut.array.dtype).scalar)
        if cut.array.ndim > 1:
            raise RuntimeError("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional "
                               f"tensor, but got a tensor with {cut.array.ndim} dims")
        cut = cut.array.tolist()
    if isinstance(cut, int):
        if cut <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {cut}")
        if cut > MOST:
            raise RuntimeError(f"std::bad_alloc\ntensor_split: {cut} views do not fit into memory")
        short, more = divmod(n, cut)
        ends = list(itertools.accumulate(short + (i < more) for i in range(long(cut))))
        return tuple(piece(input, at, a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True))
    marks = [*map(long, cut), n]
    return tuple(piece(input, at, a, b) for a, b in zip([0, *cut], marks, strict=True))


def piece(x: TensorBase, dim: int, start: int, end: int) -> Any:
    return index.slice_dim(x, dim, slice(start, end), True)


def nsplit(name: str, least: int) -> Any:
    def f(input: Any, indices_or_sections: Any) -> Any:
        x = tensor(input, name)
        n = x.array.ndim
        if n < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {n} "
                "dimensions!")
        at = 0 if name == "hsplit" and n == 1 else {"hsplit": 1, "vsplit": 0, "dsplit": 2}[name]
        cut = indices_or_sections
        if not isinstance(cut, (int, tuple, list)):
            raise refused(name, (x, cut), "(Tensor input, int sections)", "(Tensor input, tuple of ints indices)")
        if isinstance(cut, int):
            if cut <= 0 or x.array.shape[at] % cut:
                raise RuntimeError(
                    f"torch.{name} attempted to split along dimension {at}, but the size of the dimension "
                    f"{x.array.shape[at]} is not divisible by the split_size {cut}!")
        return tensor_split(x, cut, at)
    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"tensor_split along dim {'1 (0 of a vector)' if name == 'hsplit' else 0 if name == 'vsplit' else 2}."
    return f


hsplit, vsplit, dsplit = nsplit("hsplit", 1), nsplit("vsplit", 2), nsplit("dsplit", 3)


def unbind(input: Any, dim: int = 0) -> Any:
    """The slices along dim, as a tuple of views.  They may not be edited in place."""
    if not input.array.ndim:
        dim_of(dim, 1)
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return tuple(join.UnbindBackward0(dim_of(dim, input.array.ndim)).run(input))


# Grids


def meshgrid(*tensors: Any, indexing: str | None = None) -> Any:
    """Each 1-dim tensor expanded over the grid of all.  indexing "ij": dims in the given order; "xy": the first
    two swapped.
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    xs = [tensor(x, "meshgrid", "tensors") for x in tensors]
    if indexing is None:
        indexing = "ij"
        if once("meshgrid"):
            warn(
                "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
    if not xs:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for x in xs:
        if x.array.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {listing(x)}")
        if x.array.dtype != xs[0].array.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    n = len(xs)
    along = list(range(n))                              # the dim that each tensor varies along
    if indexing == "xy" and n > 1:
        along[0], along[1] = 1, 0
    sizes = [0] * n
    for x, d in zip(xs, along, strict=True):
        sizes[d] = x.array.size
    return tuple(shape.expand(shape.reshape(x, (1,) * d + (-1,) + (1,) * (n - d - 1)), tuple(sizes))
                 for x, d in zip(xs, along, strict=True))


def listing(x: TensorBase) -> str:
    """A matrix as PyTorch's C++ prints it."""
    end = f"[ {names.SHOWN[x.array.dtype.name]}{{{','.join(map(str, x.array.shape))}}} ]"
    if x.array.ndim != 2:
        return end
    rows = "".join(" ".join(f"{v:2g}" for v in row) + "\n" for row in x.array.tolist())
    return rows + end


def cartesian_prod(*tensors: Any) -> Any:
    """All tuples of one element of each 1-dim tensor, as rows."""
    xs = [tensor(x, "cartesian_prod", "tensors") for x in tensors]
    for x in xs:
        if x.array.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(x.array.shape)}")
    if len(xs) == 1:
        return xs[0]
    return stack([reshaped(y, (-1,)) for y in meshgrid(*xs, indexing="ij")], 1)


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of r elements of a 1-dim tensor, as rows."""
    if input.array.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.array.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return wrap(np.zeros(0, input.array.dtype))
    grids = meshgrid(*[input] * r, indexing="ij")
    places = np.meshgrid(*[np.arange(input.array.size)] * r, indexing="ij")
    mask = np.ones((input.array.size,) * r, bool)
    for a, b in itertools.pairwise(places):
        mask &= (a <= b) if with_replacement else (a < b)
    return stack([masks.masked_select(y, mask) for y in grids], 1)


def block_diag(*tensors: Any) -> Any:
    """A matrix with the tensors (at most 2 dims) along its diagonal."""
    for i, t in enumerate(tensors):
        if not isinstance(t, TensorBase):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {dtypes.typename(t)}")
    if not tensors:
        return wrap(np.empty((1, 0), dtypes.get_default_dtype().numpy))
    xs = tensors
    for i, x in enumerate(xs):
        if x.array.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {x.array.ndim} "
                "dimensions")
    return join.block_diag(list(xs), promote.result_dtype([np.atleast_1d(x.array) for x in xs]))


def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None, *, out: Any = None) -> Any:
    """The n-th differences of neighbors along dim, after joining `prepend` and `append` on."""
    if not input.array.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    ends = [y for y in (prepend, input, append) if y is not None]
    at = dim_of(dim, input.array.ndim) if n or len(ends) > 1 else 0
    if n == 0:
        return index.copy_(wrap(np.zeros_like(input.array)), input)
    y = cat(ends, at) if len(ends) > 1 else input
    for _ in range(min(n, y.array.shape[at])):
        m = y.array.shape[at]
        a, b = piece(y, at, 1, m), piece(y, at, 0, m - 1)
        y = compare.ne(a, b) if y.array.dtype.kind == "b" else arith.sub(a, b)
    return y


def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """Running integral of y along dim by the trapezoidal rule, over places x or steps dx."""
    if isinstance(dx, complex):
        raise RuntimeError("cumulative_trapezoid: Currently, we only support dx as a real number.")
    at = dim_of(dim, y.array.ndim)
    if x is None:
        refuse_bools("cumulative_trapezoid", y=y)
    if not y.array.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    n = y.array.shape[at]
    right, left = piece(y, at, 1, n), piece(y, at, 0, n - 1)
    if x is None:
        return (dx / 2.0 * (right + left)).cumsum(at)
    steps = steps_of("cumulative_trapezoid", y, x, at)
    return ((right + left) * steps).cumsum(at) / 2.0


def gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Any:
    """Slopes along each dim, as a tuple: central differences inside, one-sided (of edge_order) at the ends.

    spacing: a step for all dims, one for each, or a tensor of places for each.
    """
    n = input.array.ndim
    dims = list(range(n)) if dim is None else [dim_of(d, n) for d in ((dim,) if isinstance(dim, int) else dim)]
    twice = next((d for i, d in enumerate(dims) if d in dims[:i]), None)
    if twice is not None:
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    spacing = 1 if spacing is None else spacing
    each = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(dims)
    if len(each) != len(dims):
        if isinstance(dim, (tuple, list)) and not any(isinstance(h, TensorBase) for h in each):
            raise RuntimeError(
                "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the "
                f"same length, but got a spacing argument of length {len(each)} and a dim argument of length {len(dims)}.")
        where = f"'self.dim() = {n}', since dim argument was not given" if dim is None else "dim"
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
            f"{where}, but got a list of length {len(each)}")
    if any(input.array.shape[d] < edge_order + 1 for d in dims):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple(slope(input, d, h, edge_order) for d, h in zip(dims, each, strict=True))


def slope(x: Any, dim: int, h: Any, edge_order: int) -> Any:
    """The derivative along one dim; h: a step, or a tensor of places."""
    n = x.array.shape[dim]
    if isinstance(h, TensorBase) and h.array.ndim:
        places = h.array.dtype if h.array.dtype.kind in "fcV" else promote.default.float_
        x = cast.cast(x, promote.promote_types(x.array.dtype, places))
        steps = np.diff(h.array)
    else:
        step = h.array.item() if isinstance(h, TensorBase) else h
        steps = np.full(n - 1, step, np.complex128 if isinstance(step, complex) else np.float64)
    if x.array.dtype.kind in "fV" and steps.dtype.kind != "c":
        steps = steps.astype(x.array.dtype)

    def at(i: int) -> Any:
        return piece(x, dim, i % n, i % n + 1)

    def given(values: Any) -> Any:
        return wrap(values.reshape((-1,) + (1,) * (x.array.ndim - dim - 1)))

    a, b = steps[:-1], steps[1:]
    even = bool(np.all(steps == steps[0]))
    parts = []
    if n > 2:
        low, mid, high = piece(x, dim, 0, n - 2), piece(x, dim, 1, n - 1), piece(x, dim, 2, n)
        parts = [(high - low) / (2.0 * steps[0].item())] if even else [
            given(-b / (a * (a + b))) * low + given((b - a) / (a * b)) * mid + given(a / (b * (a + b))) * high]
    if edge_order == 1:
        first, last = (at(1) - at(0)) / steps[0].item(), (at(-1) - at(-2)) / steps[-1].item()
    else:
        p, q = steps[0].item(), steps[1].item()
        first = at(0) * (-(2 * p + q) / (p * (p + q))) + at(1) * ((p + q) / (p * q)) - at(2) * (p / (q * (p + q)))
        p, q = steps[-2].item(), steps[-1].item()
        last = at(-3) * (q / (p * (p + q))) - at(-2) * ((p + q) / (p * q)) + at(-1) * ((p + 2 * q) / (q * (p + q)))
    return cat([first, *parts, last], dim)
