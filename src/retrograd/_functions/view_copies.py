"""What a view would show, copied, in C order: torch.permute_copy, torch.expand_copy, ..."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine.modes import set_grad, set_inference, state
from .._engine.tensor import TensorBase, wrap
from .._rules import diagonals, slices
from .._rules import shape as shapes
from .._rules import view_copies as ops
from .._tensor import dtypes
from . import join, shape
from .arguments import dim_of
from .forms import FUNCTIONS
from .parsing import forms_of


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


def copied(x: TensorBase, view: Callable[..., Any], *args: Any) -> Any:
    op, made = viewed(x, view, *args)
    if op is None and isinstance(made, list):
        return tuple(wrap(np.array(part, order="C")) for part in made)
    copy = getattr(ops, type(op).__name__ + "_copy")(op, made).run(x)
    return tuple(copy) if isinstance(copy, list) else copy


def sliced(input: TensorBase, dim: int, start: Any, end: Any, step: int) -> Any:
    """input[start : end : step] along dim"""
    if not input.array.ndim:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    at = dim_of(dim, input.array.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, last, _ = slice(start, end).indices(input.array.shape[at])
    return slices.SliceBackward0(at, first, max(first, last), step).run(input)


def row(name: str, view: Callable[..., Any], doc: str) -> None:
    """The function name_copy, with PyTorch's signature."""
    signature = forms_of(f"{name}_copy", FUNCTIONS[f"{name}_copy"])[-1].signature()

    def function(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return copied(*bound.args[:1], view, *bound.args[1:])

    function.__name__ = function.__qualname__ = f"{name}_copy"
    function.__doc__ = doc
    function.__signature__ = signature  # type: ignore[attr-defined]
    globals()[f"{name}_copy"] = function


row("alias", shapes.alias, "A copy.")
row("slice", sliced, "input[start : end : step] along dim, as a copy.")
row("split", join.split, "split by one size, as copies.")
row("split_with_sizes", join.split_with_sizes, "split by several sizes, as copies.")
row("unbind", join.unbind, "unbind, as copies.")
row("unfold", shape.T_unfold, "unfold, as a copy.")
for _view in (shape.as_strided, shape.expand, shape.permute, shape.select, shape.t, shape.transpose, shape.unsqueeze):
    row(_view.__name__, _view, f"{_view.__name__}, as a copy.")


def squeeze_copy(input: Any, dim: Any = None, *, out: Any = None) -> Any:
    """squeeze, as a copy."""
    return copied(input, shape.squeeze, dim)


def detach_copy(input: Any, *, out: Any = None) -> Any:
    """A copy; PyTorch has no derivative of it."""
    return ops.NotImplemented_(None, input.array).run(input)


def diagonal_copy(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1, *, out: Any = None) -> Any:
    """diagonal, as a copy."""
    return diagonals.diagonal_copy(input, offset, *shape.diagonal_dims(dim1, dim2, input.array.ndim))


def view_copy(input: Any, size: Any, *, out: Any = None) -> Any:
    """view by sizes or as another dtype, as a copy."""
    if isinstance(size, dtypes.dtype):
        return shapes.alias(shape.view(input.detach(), size)).clone()
    to = shape.sizes_for(shape.sizes_arg((size,), "view_copy", "size"), input.array.size)
    op = shapes.ViewBackward0(to)
    return ops.ViewBackward0_copy(op, op.forward(input.array)).run(input)
