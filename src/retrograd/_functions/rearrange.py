"""Copies that only move numbers: torch.repeat_interleave, tile, roll, flip, tril, diag, ...

offset        which diagonal: 0 the main one, above it if positive
start, length   the first position and how many
output_size   the sum of the repeats, which saves computing it
shifts        by how many places, one for each of dims
dims          dimensions, or of tile how often each is repeated
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine.region import Region, overlaps
from .._engine.tensor import TensorBase, wrap
from .._engine.views import OVERLAP, AsStridedScatterBackward0
from .._rules import create, diagonals, gather, moves, slices
from .._rules import shape as ops
from .._tensor import dtypes
from .arguments import dim_of, dims_of, finish, kernel, long, shape_of, tensor
from .shape import as_strided, detach, diagonal, diagonal_dims, flatten, narrow, reshaped, select, sizes_arg


def same_as(part: Any, src: Any) -> None:
    """RuntimeError unless src has the shape of what it is to replace."""
    if part.array.shape != src.array.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.array.shape)}, slice size = "
            f"{list(part.array.shape)}")


def select_scatter(input: Any, src: Any, dim: int, index: int) -> Any:
    """A copy with src in the place of select(dim, index)."""
    same_as(select(detach(input), dim, index), src)
    return slices.SelectScatterBackward0(dim_of(dim, input.array.ndim), int(index)).run(input, src)


def slice_scatter(input: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """A copy with src in the place of the slice start:end:step along dim."""
    if not input.array.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    at = dim_of(dim, input.array.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    op = slices.SliceScatterBackward0(at, start, end, step)
    same_as(wrap(op.place(input.array)), src)
    return op.run(input, src)


def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A copy with src in the place of diagonal(offset, dim1, dim2)."""
    same_as(diagonal(detach(input), offset, dim1, dim2), src)
    at1, at2 = diagonal_dims(dim1, dim2, input.array.ndim)
    return slices.DiagonalScatterBackward0(offset, at1, at2).run(input, src)


def as_strided_scatter(input: Any, src: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    """A copy, laid out as input, with src in the place of as_strided(size, stride, storage_offset)."""
    x: Any = input
    dense = x.array.flags.c_contiguous
    if x.requires_grad and not dense:
        raise RuntimeError(
            "as_strided_scatter is currently only supported for contiguous inputs when you want to differentiate through it. "
            "Call input.contiguous() first.")
    if not dense and overlaps(x.array.shape, x.array.strides):
        x = create.contiguous_copy(x)
    part = as_strided(x.detach(), size, stride, storage_offset)
    same_as(part, src)
    if 0 in part.array.strides and overlaps(part.array.shape, part.array.strides):
        raise RuntimeError(OVERLAP)
    return AsStridedScatterBackward0(Region(x.array, part.array)).run(x, src)


def narrow_copy(input: Any, dim: int, start: int, length: int, *, out: Any = None) -> Any:
    """narrow, as a copy."""
    if input.array.ndim and dim >= input.array.ndim:
        raise RuntimeError("Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this "
            "error message be improved?  If so, please report an enhancement request to PyTorch.)")
    at = dim_of(dim, input.array.ndim)
    if length < 0:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({input.size(at)}).")
    narrow(detach(input), dim, start, length)               # its checks
    first = start + input.array.shape[at] if start < 0 else start
    return slices.NarrowCopyBackward0(at, first, length).run(input)


def diag(input: Any, diagonal: int = 0, *, out: Any = None) -> Any:
    """Of a matrix its diagonal (a copy), of a vector the matrix with that diagonal."""
    if input.array.ndim == 1:
        return diagonals.diag_embed(input, diagonal, 0, 1)
    if input.array.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.array.ndim}D")
    return diagonals.diagonal_copy(input, diagonal, 0, 1)


def diagflat(input: Any, offset: int = 0) -> Any:
    """The matrix with all elements of the input on its diagonal."""
    return diag(reshaped(input, (-1,)), offset)


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices, in dims dim1 and dim2 of the result, with the last dim of the input on their diagonals."""
    a, b = diagonal_dims(dim1, dim2, input.array.ndim + 1)
    return diagonals.diag_embed(input, offset, a, b)


def trace(input: Any) -> Any:
    """The sum of a matrix's diagonal."""
    kernel("trace", input, "b")
    if input.array.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.array.ndim}")
    return diagonals.trace(input)


def repeat(input: Any, *repeats: Any) -> Any:
    """A copy tiled repeats[i] times along dim i; more repeats than dims add leading dims."""
    x = tensor(input, "repeat")
    times = sizes_arg(repeats, "repeat", "repeats")
    have = x.array.shape
    lead = len(times) - len(have)
    if lead < 0:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    full = [m * (have[i - lead] if i >= lead else 1) for i, m in enumerate(times)]
    if any(n < 0 for n in full):
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {next(n for n in full if n < 0)}: {full}")
    return moves.repeat(x, times)


def tile(input: Any, *dims: Any) -> Any:
    """repeat, with missing leading repeats taken as 1."""
    x = tensor(input, "tile")
    times = shape_of(dims)
    return repeat(x, (1,) * (x.array.ndim - len(times)) + times)


def repeat_interleave(
    input: Any = None, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None,
) -> Any:
    """Each element repeated in place, `repeats` times (int, or one count per element), along dim or of the
    flattened input."""
    x = tensor(repeats if input is None else input, "repeat_interleave")
    if input is None or repeats is None:
        counts = x.array
        if counts.ndim != 1:
            raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
        return wrap(np.repeat(np.arange(counts.size, dtype=np.int64), check_counts(counts)))
    if dim is None:
        x, dim = flatten(x), 0
    at = dim_of(dim, x.array.ndim)
    if not x.array.ndim:
        x = reshaped(x, (1,))
    n = x.array.shape[at]
    if isinstance(repeats, int):
        if repeats < 0:
            raise RuntimeError("Repeats must be non-negative")
        if output_size is not None and output_size != n * repeats:
            raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {n * repeats} but got {output_size}")
        sizes = x.array.shape
        wide = ops.expand(ops.unsqueeze(x, at + 1), sizes[:at + 1] + (repeats,) + sizes[at + 1:])
        return ops.reshape(create.contiguous_copy(wide), sizes[:at] + (n * repeats,) + sizes[at + 1:])
    counts = repeats.array
    if counts.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if counts.size == 1:
        counts = np.broadcast_to(counts.reshape(1), (n,))
    elif counts.size != n:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {counts.size} and "
            f"input.size({at}) = {n}")
    if output_size not in (None, check_counts(counts).sum()):
        raise RuntimeError("allocated size does not match required size")
    return gather.index_select(x, at, np.repeat(np.arange(n), check_counts(counts)))


def check_counts(counts: Any) -> Any:
    if counts.dtype.kind not in "iu":
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{dtypes.of(counts.dtype).scalar}'")
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")
    return counts.astype(np.intp, copy=False)


def roll(input: Any, shifts: Any, dims: Any = ()) -> Any:
    """Elements shifted circularly along dims; without dims, of the flattened tensor."""
    by = (long(shifts),) if isinstance(shifts, int) else tuple(shifts)
    along = () if dims is None else (dims,) if isinstance(dims, int) else tuple(dims)
    if not by:
        raise RuntimeError("`shifts` required")
    if len(by) != len(along) and not (len(by) == 1 and not along):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(by)}, dims:{len(along)}")
    if along and not input.array.ndim:
        raise IndexError(f"Dimension specified as {along[0]} but tensor has no dimensions")
    found = tuple(dim_of(d, input.array.ndim) for d in along)
    return moves.roll(input, by, found if input.array.ndim else ())


def flip(input: Any, *dims: Any, **named: Any) -> Any:
    """A copy with the order along dims reversed."""
    x = tensor(input, "flip")
    if named:
        dims = (named.pop("dims"),)
    if not dims:
        raise TypeError('flip() missing 1 required positional arguments: "dims"')
    along = shape_of(dims)
    return moves.flip(x, dims_of(along, x.array.ndim) if along else ())


def fliplr(input: Any) -> Any:
    """Columns in reverse order."""
    if input.array.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return moves.flip(input, (1,))


def flipud(input: Any) -> Any:
    """Rows in reverse order."""
    if input.array.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return moves.flip(input, (0,))


def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """k quarter turns in the plane of two dims, from the first towards the second."""
    n = input.array.ndim
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if n < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {n}")
    a, b = dims
    at = dim_of(a, n), dim_of(b, n)
    if at[0] == at[1]:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {a} and dim1 = {b}")
    return moves.rot90(input, k, at)


def triangle(name: str, op: Callable[[Any, int], Any], doc: str) -> Callable[..., Any]:
    def check(x: TensorBase, diagonal: Any) -> None:
        if not isinstance(diagonal, int):
            raise TypeError(f"{name}(): argument 'diagonal' (position 1) must be int, not {dtypes.typename(diagonal)}")
        if not -(1 << 63) <= diagonal < 1 << 63:
            raise ValueError("Overflow when unpacking long long")
        if x.array.ndim < 2:
            raise RuntimeError(f"{name.rstrip('_')}: input tensor must have at least 2 dimensions")

    def f(input: Any, diagonal: int = 0, *, out: Any = None) -> Any:
        x = tensor(input, name)
        check(x, diagonal)
        return finish(op(x, diagonal), out, name, x)
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return f
tril = triangle("tril", diagonals.tril, "The matrices with zeros above the diagonal (or the one `diagonal` above it).")
triu = triangle("triu", diagonals.triu, "The matrices with zeros below the diagonal (or the one `diagonal` above it).")
tril_ = triangle("tril_", diagonals.tril_, "In place: tril.")
triu_ = triangle("triu_", diagonals.triu_, "In place: triu.")
