"""Shapes: views (view, transpose, expand, ...).

size             lengths of the dimensions
stride           steps of the dimensions, in elements of memory
sizes            lengths of the dimensions, ints or one sequence; of reshape one may be -1
tensors          one or more
dim0, dim1       the two dimensions
axis0, axis1     NumPy's names of the two
offset           which diagonal: 0 the main one, above it if positive
implicit         accepted without effect
dimension        the dimension that windows are taken of
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine.mirror import bits_of
from .._engine.tensor import TensorBase
from .._engine.views import address
from .._engine.warn import warn_once
from .._rules import complexes, create, diagonals, slices
from .._rules import index as indexing
from .._rules import reduce as sums
from .._rules import shape as ops
from .._tensor import dtypes
from .._tensor.owner import owner
from .arguments import aliased, dim_in, dim_of, dims_of, is_int, refused, shape_of, tensor


# view and reshape
def sizes_for(sizes: tuple[int, ...], count: int) -> tuple[int, ...]:
    """sizes with a -1 worked out, for `count` elements."""
    known, hole = 1, None
    for i, n in enumerate(sizes):
        if n == -1:
            if hole is not None:
                raise RuntimeError("only one dimension can be inferred")
            hole = i
        elif n < 0:
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {list(sizes)}")
        else:
            known *= n
    if hole is None:
        if known == 0 == count and math.prod(n or 1 for n in sizes) >= 2**63:
            raise RuntimeError("numel: integer multiplication overflow")
        if known != count:
            raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {count}")
        return sizes
    if known == 0:
        if count == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(sizes)} because the unspecified dimension "
                "size -1 "
                "can be any value and is ambiguous")
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {count}")
    if count % known:
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {count}")
    return (*sizes[:hole], count // known, *sizes[hole + 1:])


def viewable(a: Any, to: tuple[int, ...]) -> bool:
    """Can a be shown in shape `to` without a copy?"""
    if a.flags.c_contiguous or a.size == 0:
        return True
    try:
        a.reshape(to, copy=False)
    except ValueError:
        return False
    return True


def sizes_arg(sizes: tuple[Any, ...], function: str, name: str, *forms: str) -> tuple[int, ...]:
    if not sizes:
        if forms:
            raise refused(function, (), *forms)
        raise TypeError(f'{function}() missing 1 required positional arguments: "{name}"')
    given = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    for i, n in enumerate(given):
        if not is_int(n) and not (i and isinstance(n, bool)):
            if forms:
                raise refused(function, sizes, *forms)
            if given is sizes and i == 0:
                raise TypeError(
                    f"{function}(): argument '{name}' (position 1) must be tuple of ints, not {dtypes.typename(n)}")
            if i == 0:
                raise TypeError(
                    f"{function}(): argument '{name}' (position 1) must be tuple of ints, but found element of type "
                    f"{dtypes.typename(n)} at pos {i}")
            raise TypeError(
                f"{function}(): argument '{name}' failed to unpack the object at pos {i + 1} with error \"type must be "
                f"tuple of ints,but got {dtypes.typename(n)}\"")
        if not -2**63 <= int(n) < 2**63:
            raise TypeError(f"{function}(): argument '{name}' failed to unpack the object at pos {i + 1} with error "
                            "\"Overflow when unpacking long long\"")
    return shape_of(sizes)


def named(given: Any, sizes: tuple[Any, ...], function: str, name: str) -> tuple[int, ...]:
    """Sizes or dims that came by their name; TypeError for a number."""
    if sizes:
        raise TypeError(f"{function}() got multiple values for argument '{name}'")
    if not isinstance(given, (tuple, list)):
        raise TypeError(f"{function}(): argument '{name}' must be tuple of ints, not {dtypes.typename(given)}")
    return sizes_arg((given,), function, name)


def view(input: Any, *shape: Any, dtype: Any = None, size: Any = None) -> Any:
    """The same memory under another shape (one size may be -1), or as another dtype.

    RuntimeError where the strides allow no such view.  https://pytorch.org/docs/stable/generated/torch.Tensor.view.html
    """
    x = tensor(input, "view")
    if dtype is None and size is None and (quick := ops.view(x, shape)) is not None:
        return quick
    if dtype is not None or (len(shape) == 1 and isinstance(shape[0], (dtypes.dtype, type))):
        return view_dtype(x, dtypes.to_numpy(shape[0] if dtype is None else dtype, "view"))
    if size is not None:
        shape = (size,)
    to = sizes_for(sizes_arg(shape, "view", "size", "(torch.dtype dtype)", "(tuple of ints size)"), x.array.size)
    if not viewable(x.array, to):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead.")
    return ops.reshape(x, to)


def view_dtype(x: TensorBase, want: Any) -> Any:
    a = x.array
    for bit, name in zip(bits_of(x), ("conjugate view tensors", "tensors with negative bit set")):
        if bit:
            raise RuntimeError(f"torch.Tensor.view is not supported for {name} when converting to a different dtype.")
    if want == a.dtype:
        return ops.alias(x)
    old, new = a.dtype.itemsize, want.itemsize
    if old != new:
        names = f"to view {dtypes.of(a.dtype).scalar} as {dtypes.of(want).scalar} (different element sizes)"
        if a.ndim == 0:
            raise RuntimeError(f"self.dim() cannot be 0 {names}")
        if a.strides[-1] != old and a.shape[-1] != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 {names}, but got {a.strides[-1] // old}")
        if new > old and a.shape[-1] % (new // old):
            raise RuntimeError(f"self.size(-1) must be divisible by {new // old} {names}, but got {a.shape[-1]}")
    out = create.detached(x)
    out.array = a.view(want)
    return out


def view_as(input: Any, other: Any) -> Any:
    """view in the shape of `other`."""
    return view(input, other.array.shape)


def reshaped(x: TensorBase, sizes: tuple[int, ...]) -> Any:
    return ops.fold(x, sizes_for(sizes, x.array.size))


def reshape(input: Any, *sizes: Any, shape: Any = None) -> Any:
    """The elements in C order under another shape (one size may be -1): a view where memory allows, else a copy.

    https://pytorch.org/docs/stable/generated/torch.reshape.html
    """
    x = tensor(input, "reshape")
    if (quick := ops.view(x, sizes)) is not None:
        return quick
    return reshaped(x, sizes_arg(sizes, "reshape", "shape") if shape is None else named(shape, sizes, "reshape", "shape"))


def reshape_as(input: Any, other: Any) -> Any:
    """reshape to the shape of `other`."""
    return reshaped(input, other.array.shape)


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Merge the dims start_dim..end_dim; the tensor itself when there is nothing to merge."""
    sizes = input.array.shape
    first, last = dim_of(start_dim, len(sizes)), dim_of(end_dim, len(sizes))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not sizes:
        return reshaped(input, (1,))
    if first == last:
        return input
    return reshaped(input, (*sizes[:first], math.prod(sizes[first:last + 1]), *sizes[last + 1:]))


def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """Split one dim into several; one of `sizes` may be -1."""
    at = dim_of(dim, input.array.ndim)
    sizes = tuple(sizes)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not input.array.ndim:
        raise RuntimeError("unflatten got an unexpected error:\nDimension specified as 0 but tensor has no dimensions")
    n = input.array.shape[at]
    known = math.prod(s for s in sizes if s != -1)
    if sizes.count(-1) > 1:
        raise RuntimeError("unflatten got an unexpected error:\nonly one dimension can be inferred")
    if (-1 in sizes and (not known or n % known)) or (-1 not in sizes and known != n):
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {at} ({n}) in the "
            "input tensor")
    sizes = tuple(n // known if s == -1 else s for s in sizes)
    return ops.reshape(input, input.array.shape[:at] + sizes + input.array.shape[at + 1:])


def contiguous(input: Any, *, memory_format: Any = None) -> Any:
    """Itself if its elements are in C order, else a copy that is."""
    if memory_format is not None:
        dtypes.check_format(memory_format, input.array.ndim)
    return input if input.array.flags.c_contiguous else create.contiguous_copy(input)


def ravel(input: Any) -> Any:
    """contiguous, as one row."""
    return ops.flat(contiguous(input))


def permute(input: Any, *order: Any, dims: Any = None) -> Any:
    """The dims in another order: permute(2, 0, 1) or permute((2, 0, 1)); a view."""
    x = tensor(input, "permute")
    order = sizes_arg(order, "permute", "dims") if dims is None else named(dims, order, "permute", "dims")
    n = x.array.ndim
    if len(order) != n:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {n} is not equal to len(dims) = {len(order)}")
    found = tuple(dim_of(d, n) for d in order)
    if len(set(found)) < n:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return ops.permute(x, found)


def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two dims exchanged; a view."""
    x = tensor(input, "transpose")
    return ops.transpose(x, dim_in(dim0, x, "transpose", "dim0", 1), dim_in(dim1, x, "transpose", "dim1", 2))


def transpose_(input: Any, dim0: int, dim1: int) -> Any:
    """In place: two dims exchanged."""
    return ops.transpose_(
        input, dim_in(dim0, input, "transpose_", "dim0", 1), dim_in(dim1, input, "transpose_", "dim1", 2))
swapdims, swapdims_ = transpose, transpose_


def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """Two dims exchanged; a view."""
    return transpose(input, axis0, axis1)


def swapaxes_(input: Any, axis0: int, axis1: int) -> Any:
    """In place: two dims exchanged."""
    return transpose_(input, axis0, axis1)


def check_t(x: TensorBase, name: str = "t") -> TensorBase:
    if x.array.ndim > 2:
        raise RuntimeError(f"{name}() expects a tensor with <= 2 dimensions, but self is {x.array.ndim}D")
    return x


def t(input: Any) -> Any:
    """The transpose of a matrix; vectors and numbers as they are.  RuntimeError above 2 dims."""
    return ops.t(check_t(tensor(input, "t")))


def t_(input: Any) -> Any:
    """In place: the transpose of a matrix."""
    return ops.t_(check_t(input, "t_"))


def adjoint(input: Any) -> Any:
    """The last two dims exchanged, conjugated."""
    n = input.array.ndim
    if n == 1:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if not n:
        warn_once("adjoint() is deprecated on 0-D tensors. Consider using x.conj().")
        return complexes.conj_view(input)
    return complexes.conj_view(transpose(input, -2, -1))


def _reversed_dims(x: Any) -> Any:
    """The dims in reverse order; meant for matrices."""
    n = x.array.ndim
    if n == 0:
        warn_once(
            "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    elif n != 2:
        warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it "
            "will throw an "
            "error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim "
            "- 1, -1, -1))` to reverse the dimensions of a tensor.")
    return ops.permute(x, tuple(range(n - 1, -1, -1)))


def _matrix_transpose(name: str, instead: str) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        n = x.array.ndim
        if n == 0:
            warn_once(f"Tensor.{name} is deprecated on 0-D tensors. {instead}")
            return complexes.conj_view(x) if name == "mH" else x
        if n == 1:
            raise RuntimeError(
                f"tensor.{name} is only supported on matrices or batches of matrices. Got {n}-D tensor.")
        return complexes.conj_view(ops.mT(x)) if name == "mH" else ops.mT(x)
    f.__doc__ = "The last two dims exchanged."
    return f


def _hermitian(x: Any) -> Any:
    """The transpose of a matrix, conjugated."""
    n = x.array.ndim
    if n == 2:
        return complexes.conj_view(ops.mT(x))
    if n:
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {n}-D tensor."
                           + (" For batches of matrices, consider using tensor.mH" if n > 2 else ""))
    warn_once("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
    return complexes.conj_view(x)
T = property(_reversed_dims)
mT = property(_matrix_transpose("mT", "This function is the identity in these cases."))
mH = property(_matrix_transpose("mH", "Consider using x.conj()."))
H = property(_hermitian)


def movedim(input: Any, source: Any, destination: Any) -> Any:
    """The dims `source` (int or several) moved to the places `destination`; a view."""
    if isinstance(source, int) != isinstance(destination, int):
        raise refused("movedim", (source, destination), "(int source, int destination)",
                      "(tuple of ints source, tuple of ints destination)")
    come = (source,) if isinstance(source, int) else tuple(source)
    go = (destination,) if isinstance(destination, int) else tuple(destination)
    if len(come) != len(go):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(come)} dims) should contain the same "
            "number of dims "
            f"as destination ({list(go)} dims)")
    n = input.array.ndim
    a, b = [dim_of(d, n) for d in come], [dim_of(d, n) for d in go]
    for name, found, given in (("source", a, come), ("destination", b, go)):
        if len(set(found)) < len(found):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(given)})")
    if not n:
        return ops.alias(input)
    rest = iter(d for d in range(n) if d not in a)
    placed = dict(zip(b, a, strict=True))
    return ops.permute(input, tuple(placed[d] if d in placed else next(rest) for d in range(n)))
moveaxis = movedim

# Dims of size 1
def squeeze(input: Any, dim: Any = None, *, axis: Any = None) -> Any:
    """Without the dims of size 1: all, or those named; a view."""
    x = tensor(input, "squeeze")
    if dim is None:
        if axis is not None:
            return squeeze(x, axis)
        return ops.squeeze(x)
    if isinstance(dim, int):
        return ops.squeeze_dim(x, dim_of(dim, x.array.ndim))
    return ops.squeeze_dims(x, dims_named(dim, x, "squeeze"))


def dims_named(dim: Any, x: TensorBase, function: str) -> tuple[int, ...]:
    if not isinstance(dim, (tuple, list)):
        raise refused(
            function, (x, dim), "(Tensor input)", "(Tensor input, int dim)", "(Tensor input, tuple of ints dim)")
    return dims_of(dim, x.array.ndim) if dim else ()


def squeeze_(input: Any, dim: Any = None) -> Any:
    """In place: squeeze."""
    if dim is None:
        return ops.squeeze_(input)
    if isinstance(dim, int):
        return ops.squeeze_dim_(input, dim_of(dim, input.array.ndim))
    return ops.squeeze_dims_(input, dims_named(dim, input, "squeeze_"))


@aliased
def unsqueeze(input: Any, dim: int) -> Any:
    """A dim of size 1 inserted at `dim`; a view."""
    x = tensor(input, "unsqueeze")
    return ops.unsqueeze(x, dim_in(dim, x, "unsqueeze", position=1, more=1))


@aliased
def unsqueeze_(input: Any, dim: int) -> Any:
    """In place: unsqueeze."""
    return ops.unsqueeze_(input, dim_in(dim, input, "unsqueeze_", position=1, more=1))


def atleast(n: int) -> Callable[..., Any]:
    def one(x: TensorBase) -> Any:
        have = x.array.ndim
        if have >= n:
            return x
        if have == 0:
            return ops.reshape(x, (1,) * n)
        x = ops.unsqueeze(x, 0) if have == 1 else x
        return ops.unsqueeze(x, 2) if n == 3 else x

    def f(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
            return tuple(one(tensor(x, f.__name__, "tensors")) for x in tensors[0])
        found = tuple(one(tensor(x, f.__name__, "tensors")) for x in tensors)
        return found[0] if len(found) == 1 else found
    f.__name__ = f.__qualname__ = f"atleast_{n}d"
    f.__doc__ = f"Each tensor with at least {n} dims, views; several give a tuple."
    return f
atleast_1d, atleast_2d, atleast_3d = atleast(1), atleast(2), atleast(3)

# expand
def expanded(x: TensorBase, sizes: tuple[int, ...]) -> Any:
    have = x.array.shape
    lead = len(sizes) - len(have)
    if lead < 0:
        raise RuntimeError(
            f"expand(torch.{dtypes.of(x.array.dtype).scalar}Tensor{{{list(have)}}}, size={list(sizes)}): the "
            "number of sizes "
            f"provided ({len(sizes)}) must be greater or equal to the number of dimensions in the tensor ({len(have)})")
    to = list(sizes)
    for i in range(len(to) - 1, -1, -1):
        if to[i] == -1:
            if i < lead:
                raise RuntimeError(
                    f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {i}")
            to[i] = have[i - lead]
        elif i >= lead and have[i - lead] != to[i] and (have[i - lead] != 1 or to[i] < 0):
            raise RuntimeError(
                f"The expanded size of the tensor ({to[i]}) must match the existing size ({have[i - lead]}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(sizes)}.  Tensor sizes: {list(have)}")
    return ops.expand(x, tuple(to))


def expand(input: Any, *sizes: Any, implicit: bool = False) -> Any:
    """Dims of size 1 stretched, new leading dims added, without copying; -1 keeps a size."""
    x = tensor(input, "expand")
    return expanded(x, sizes_arg(sizes, "expand", "size"))


def expand_as(input: Any, other: Any) -> Any:
    """expand to the shape of `other`."""
    return expanded(input, other.array.shape)


def broadcast_to(input: Any, size: Any, *more: Any) -> Any:
    """expand to `size`."""
    return expanded(tensor(input, "broadcast_to"), shape_of((size, *more)))


def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that shapes broadcast to.  RuntimeError when they do not."""
    from .._tensor import size as _size
    sizes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    out = [1] * max((len(s) for s in sizes), default=0)
    for i, s in enumerate(sizes):
        for d in range(-1, -len(s) - 1, -1):
            n = s[d]
            if n < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if n not in (1, out[d]):
                if out[d] != 1:
                    given = s if isinstance(shapes[i], int) else shapes[i]
                    raise RuntimeError(
                        f"Attempting to broadcast a dimension of length {n} at {d}! Mismatching argument at index {i} "
                        f"had {given}; but expected shape should be broadcastable to {out}")
                out[d] = n
    return _size.of(tuple(out))


def broadcast_tensors(*tensors: Any) -> Any:
    """All expanded to their common shape; -> tuple."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    xs = [tensor(x, "broadcast_tensors", "tensors") for x in tensors]
    to: tuple[int, ...] = xs[0].array.shape if xs else ()
    for x in xs:
        have = x.array.shape
        if have == to:
            continue
        n = max(len(to), len(have))
        a, b = (1,) * (n - len(to)) + to, (1,) * (n - len(have)) + have
        for i in range(n - 1, -1, -1):
            if a[i] != b[i] and a[i] != 1 and b[i] != 1:
                raise RuntimeError(
                    f"The size of tensor a ({a[i]}) must match the size of tensor b ({b[i]}) at non-singleton "
                    f"dimension {i}")
        to = tuple(q if p == 1 else p for p, q in zip(a, b, strict=True))
    return tuple(x if x.array.shape == to else ops.expand(x, to) for x in xs)


def sum_to_size(input: Any, *size: Any) -> Any:
    """Summed over the dims that broadcasting `size` to the tensor's shape would stretch."""
    x = tensor(input, "sum_to_size")
    to, have = shape_of(size), x.array.shape
    lead = len(have) - len(to)
    if lead < 0 or any(n not in (1, have[i + lead]) for i, n in enumerate(to)):
        raise RuntimeError(f"size {{{list(to)}}} is not expandable to size {{{list(have)}}}.")
    return ops.sum_to(x, to) if have else sums.sum(x)


def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """input[start : start + length] along dim; a view."""
    if not input.array.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    at = dim_of(dim, input.array.ndim)
    if isinstance(start, TensorBase) and (start.array.ndim or start.array.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    n, start = input.array.shape[at], int(start)
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    start = start + n if start < 0 else start
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return slices.SliceBackward0(at, start, start + length, 1).run(input)


def select(input: Any, dim: int, index: int) -> Any:
    """input[index] along dim, which goes; a view."""
    if not input.array.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    at = dim_of(dim, input.array.ndim)
    n, index = input.array.shape[at], int(index)
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.array.shape)} at dimension {at}")
    return _select(input, at, index)


def _select(x: TensorBase, dim: int, at: int) -> Any:
    return indexing.select(x, dim, at)


def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonals of the matrices in dims dim1, dim2, as a last dim; a view."""
    a, b = diagonal_dims(dim1, dim2, input.array.ndim)
    return diagonals.diagonal(input, offset, a, b)


def detach(input: Any) -> Any:
    """The same memory without a history."""
    return input.detach()


def detach_(input: Any) -> Any:
    """In place: forget the history."""
    return input.detach_()


def diagonal_dims(dim1: int, dim2: int, n: int) -> tuple[int, int]:
    a, b = dim_of(dim1, n), dim_of(dim2, n)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return a, b


def T_unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    """Windows of `size` along a dim, every `step`, as a new last dim; a view."""
    at = dim_of(dimension, input.array.ndim)
    n = input.array.shape[at] if input.array.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {at} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return ops.unfold(input, at, size, step)


def as_strided(input: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    """A view of the memory block by sizes and strides in elements, from storage_offset (default: where input
    starts).
    """
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    if storage_offset is not None and storage_offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")
    if any(n < 0 for n in size):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    a = input.array
    root = owner(a)
    item = a.itemsize
    start = (address(a) - address(root)) // item if storage_offset is None else int(storage_offset)
    end = 0 if 0 in size else start + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if end * item >= 2**63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    if end * item > root.nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {start}, and itemsize {item} "
            "requiring "
            f"a storage size of {end * item} are out of bounds for storage of size {root.nbytes}")
    steps = tuple(s * item for s in stride)
    block = root if root.flags.c_contiguous else root.T
    if 0 in size:
        shown = np.empty(size, a.dtype)
    elif block.flags.c_contiguous:
        shown = np.ndarray(size, a.dtype, block, start * item, steps)
    else:
        shown = np.lib.stride_tricks.as_strided(a, size, steps)
    return ops.as_strided(input, shown)
