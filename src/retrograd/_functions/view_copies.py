"""What a view would show, copied, in C order: torch.permute_copy, torch.expand_copy, ..."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _nodes, dtypes
from .._engine.modes import set_grad, set_inference, state
from .._engine.tensor import TensorBase, wrap
from .._rules import diagonals, slices
from .._rules import shape as shapes
from .._rules import view_copies as ops
from . import join, shape
from .arguments import dim_of, finish, tensor

__all__ = [
    "alias_copy", "as_strided_copy", "detach_copy", "diagonal_copy", "expand_copy", "permute_copy", "select_copy", "slice_copy",
    "split_copy", "split_with_sizes_copy", "squeeze_copy", "t_copy", "transpose_copy", "unbind_copy", "unfold_copy",
    "unsqueeze_copy", "view_copy",
]


def viewed(x: TensorBase, view: Callable[..., Any], *args: Any) -> Any:
    """(the view's node, what it shows), found by making the view of a tensor that wants a gradient."""
    probe: Any = wrap(x.array)
    probe.rg = True
    it = state()
    grad, inference = it.grad, it.inference
    try:
        set_grad(True)
        set_inference(False)
        made = view(probe, *args)
    finally:
        set_grad(grad)
        set_inference(inference)
    parts = isinstance(made, tuple)
    op = None if parts and not made else made[0].fn if parts else made.fn
    if op is not None:                                  # integers have none
        op.next = None
    return op, [part.array for part in made] if parts else made.array


def copied(name: str, x: TensorBase, out: Any, view: Callable[..., Any], *args: Any) -> Any:
    op, made = viewed(x, view, *args)
    return finish(getattr(ops, type(op).__name__ + "_copy")(op, made).run(x), out, name, x)


def copied_parts(name: str, x: TensorBase, out: Any, view: Callable[..., Any], *args: Any) -> Any:
    op, made = viewed(x, view, *args)
    if op is None:
        parts: Any = tuple(wrap(np.array(part, order="C")) for part in made)
    else:
        parts = tuple(getattr(ops, type(op).__name__ + "_copy")(op, made).run(x))
    if out is None:
        return parts
    if len(out) != len(parts):
        raise RuntimeError(f"{name} expected an out= argument of size {len(parts)}, got size {len(out)}")
    for part, into in zip(parts, out, strict=True):
        finish(part, into, name, x)
    return None


def alias_copy(input: Any, *, out: Any = None) -> Any:
    """A copy."""
    return copied("alias_copy", tensor(input, "alias_copy"), out, shapes.alias)


def as_strided_copy(input: Any, size: Any, stride: Any, storage_offset: Any = None, *, out: Any = None) -> Any:
    """as_strided, as a copy."""
    x = tensor(input, "as_strided_copy")
    return copied("as_strided_copy", x, out, shape.as_strided, size, stride, storage_offset)


def detach_copy(input: Any, *, out: Any = None) -> Any:
    """A copy; PyTorch has no derivative of it."""
    x = tensor(input, "detach_copy")
    return finish(ops.NotImplemented_(None, x.array).run(x), out, "detach_copy", x)


def diagonal_copy(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1, *, out: Any = None) -> Any:
    """diagonal, as a copy."""
    x = tensor(input, "diagonal_copy")
    a, b = shape.diagonal_dims(dim1, dim2, x.array.ndim)
    return finish(diagonals.diagonal_copy(x, offset, a, b), out, "diagonal_copy", x)


def expand_copy(input: Any, size: Any, *, implicit: bool = False, out: Any = None) -> Any:
    """expand, as a copy."""
    return copied("expand_copy", tensor(input, "expand_copy"), out, shape.expand, size)


def permute_copy(input: Any, dims: Any, *, out: Any = None) -> Any:
    """permute, as a copy."""
    return copied("permute_copy", tensor(input, "permute_copy"), out, shape.permute, dims)


def select_copy(input: Any, dim: int, index: int, *, out: Any = None) -> Any:
    """select, as a copy."""
    return copied("select_copy", tensor(input, "select_copy"), out, shape.select, dim, index)


def slice_copy(input: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1, *, out: Any = None) -> Any:
    """input[start : end : step] along dim, as a copy."""
    x = tensor(input, "slice_copy")
    if not x.array.ndim:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    at = dim_of(dim, x.array.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, last, _ = slice(start, end).indices(x.array.shape[at])
    return copied("slice_copy", x, out, sliced, at, first, max(first, last), step)


def sliced(x: TensorBase, dim: int, start: int, end: int, step: int) -> Any:
    return slices.SliceBackward0(dim, start, end, step).run(x)


def split_copy(input: Any, split_size: Any, dim: int = 0, *, out: Any = None) -> Any:
    """split by one size, as copies."""
    x = tensor(input, "split_copy")
    if not isinstance(split_size, (int, np.integer)):
        raise TypeError(f"split_copy(): argument 'split_size' (position 2) must be int, not {dtypes.typename(split_size)}")
    return copied_parts("split_copy_Tensor_out", x, out, join.split, split_size, dim)


def split_with_sizes_copy(input: Any, split_sizes: Any, dim: int = 0, *, out: Any = None) -> Any:
    """split by several sizes, as copies."""
    x = tensor(input, "split_with_sizes_copy")
    return copied_parts("split_with_sizes_copy_out", x, out, join.split_with_sizes, split_sizes, dim)


def squeeze_copy(input: Any, dim: Any = None, *, out: Any = None) -> Any:
    """squeeze, as a copy."""
    return copied("squeeze_copy", tensor(input, "squeeze_copy"), out, shape.squeeze, dim)


def t_copy(input: Any, *, out: Any = None) -> Any:
    """t, as a copy."""
    return copied("t_copy", tensor(input, "t_copy"), out, shape.t)


def transpose_copy(input: Any, dim0: int, dim1: int, *, out: Any = None) -> Any:
    """transpose, as a copy."""
    return copied("transpose_copy", tensor(input, "transpose_copy"), out, shape.transpose, dim0, dim1)


def unbind_copy(input: Any, dim: int = 0, *, out: Any = None) -> Any:
    """unbind, as copies."""
    return copied_parts("unbind_copy_int_out", tensor(input, "unbind_copy"), out, join.unbind, dim)


def unfold_copy(input: Any, dimension: int, size: int, step: int, *, out: Any = None) -> Any:
    """unfold, as a copy."""
    x = tensor(input, "unfold_copy")
    return copied("unfold_copy", x, out, shape.unfold, dimension, size, step)


def unsqueeze_copy(input: Any, dim: int, *, out: Any = None) -> Any:
    """unsqueeze, as a copy."""
    return copied("unsqueeze_copy", tensor(input, "unsqueeze_copy"), out, shape.unsqueeze, dim)


def view_copy(input: Any, size: Any, *, out: Any = None) -> Any:
    """view by sizes or as another dtype, as a copy."""
    x = tensor(input, "view_copy")
    if isinstance(size, dtypes.dtype):
        return finish(shapes.alias(shape.view(x.detach(), size)).clone(), out, "view_copy", x)  # type: ignore[attr-defined]
    to = shape.sizes_for(shape.sizes_arg((size,), "view_copy", "size"), x.array.size)
    op = shapes.ViewBackward0(to)
    return finish(ops.ViewBackward0_copy(op, op.forward(x.array)).run(x), out, "view_copy", x)


_nodes.dress_module(ops)
