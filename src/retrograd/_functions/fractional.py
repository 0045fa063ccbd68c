"""Maxima over windows at fractional steps: F.fractional_max_pool2d and 3d."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.op import watch
from .._engine.tensor import wrap
from .._rules import fractional as op
from .arguments import kernel as supported
from .create import rand
from .forms import FUNCTIONS
from .parsing import fitted

NAMES = ("time", "height", "width")


def fractional_max_pool2d_with_indices(
    input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """(maxima, flat indices into H * W)"""
    return maxima(2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(
    input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """Largest element of each window of (N, C, H, W) or (C, H, W); windows begin at random places, a fraction apart.

    output_size      how many windows, or output_ratio: that share of the input's sizes
    _random_samples  (N, C, 2) in [0, 1), for width and height, in place of what is drawn
    """
    found = maxima(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


def fractional_max_pool3d_with_indices(
    input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """(maxima, flat indices into T * H * W)"""
    return maxima(3, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d(
    input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """Largest element of each window of (N, C, T, H, W) or (C, T, H, W); see fractional_max_pool2d.

    _random_samples  (N, C, 3) in [0, 1), for time, height and width
    """
    found = maxima(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


def maxima(dims: int, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any) -> Any:
    name = f"fractional_max_pool{dims}d"
    if output_size is None:
        if output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if dims == 2 and len(output_ratio) > 2:
            raise ValueError("fractional_max_pool2d requires output_ratio to either be a single Int or tuple of Ints.")
        ratio = tuple(output_ratio) if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * dims
        output_size = [int(input.size(i - dims) * ratio[i]) for i in range(dims)]
    if samples is None:
        batch = 1 if input.dim() == dims + 1 else input.size(0)
        samples = rand(batch, input.size(-dims - 1), dims, dtype=input.dtype)
    (x, kernel_size, output_size, samples), _ = fitted(name, FUNCTIONS[name], (input, kernel_size, output_size, samples), {})
    kernel, sizes = several(kernel_size, dims, name, "kernel_size"), several(output_size, dims, name, "output_size")
    check(name, dims, x, kernel, sizes, samples)
    supported(f"{name}_out_frame" if x.array.dtype.kind == "c" else name, x, "bic")
    drawn = samples.array[..., ::-1] if dims == 2 else samples.array
    node = (op.FractionalMaxPool2DBackward0 if dims == 2 else op.FractionalMaxPool3DBackward0)(drawn, kernel, sizes)
    y = node.run(x)
    where = wrap(node.where)
    watch(node, where)
    return y, where


def several(value: Any, dims: int, name: str, argument: str) -> tuple[int, ...]:
    found = (int(value),) * dims if isinstance(value, (int, np.integer)) else tuple(int(v) for v in value)
    if len(found) != dims:
        raise RuntimeError(
            f"{name}: {argument} must either be a single Int or tuple of {'Ints' if dims == 2 else 'three Ints'}")
    return found


def check(name: str, dims: int, x: Any, kernel: Any, sizes: Any, samples: Any) -> None:
    """RuntimeError as PyTorch words it."""
    said = name if dims == 2 else f"{name}_out"
    shape = x.array.shape
    if x.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{said}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(shape)}")
    for i in range(x.ndim - dims - 1, x.ndim):
        if shape[i] == 0:
            raise RuntimeError(
                f"{said}(): Expected input to have non-zero size for non-batch dimensions, but got{list(shape)} with "
                f"dimension {i} being empty.")
    if any(n < 0 for n in sizes):
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(sizes)}: {[*shape[:-dims], *sizes]}")
    if any(k <= 0 for k in kernel):
        raise RuntimeError(f"{said}(): kernel_size must be greater than 0, but got {list(kernel)}")
    for n, m, k, called in zip(shape[-dims:], sizes, kernel, NAMES[-dims:], strict=True):
        if m + k - 1 > n or dims == 3 and m + k - 1 == n:
            raise RuntimeError(f"{said}(): pool {called} {k} too large relative to input {called} {n}")
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    if samples.dtype is not x.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.shape[0] < (shape[0] if x.ndim == dims + 2 else 1):
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != shape[-dims - 1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != dims:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {dims}; got {samples.shape[2]}.")
