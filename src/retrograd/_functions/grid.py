"""F.affine_grid and F.grid_sample: reading an image at given places.   Jaderberg et al. 2015"""
from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from .._engine.op import recording
from .._engine.tensor import wrap
from .._engine.warn import warn
from .._kernels import ranges as kernels
from .arguments import scalar_name, sized, tensor
from .fromdata import check_room
from .indexing import gather
from .pointwise import not_implemented, where

WIDER = {np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble}
MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
DEFAULT = (
    "Default {} behavior has changed to align_corners=False since 1.3.0. Please specify align_corners=True if the old "
    "behavior is desired. See the documentation of {} for details.")


def affine_grid(theta: Any, size: Any, align_corners: Any = None) -> Any:
    """The places (N, *S, d) at which an affine map theta (N, d, d + 1) puts a grid of size (N, C, *S), for grid_sample.

    align_corners: +-1 are the centers of the corner pixels, not their outer edges; as grid_sample is told.
    """
    if align_corners is None:
        warn(DEFAULT.format("grid_sample and affine_grid", "grid_sample"))
        align_corners = False
    t: Any = tensor(theta, "affine_grid", "theta")
    if not t.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {t.dtype}")
    size = tuple(size)
    d = len(size) - 2
    if d not in (1, 2, 3) or d == 1:
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{list(size)}.")
    if t.ndim != 3 or t.shape[-2] != d or t.shape[-1] != d + 1:
        raise ValueError(f"Expected a batch of {d}D affine matrices of shape Nx{d}x{d + 1} for size {list(size)}. Got "
                         f"{tuple(t.shape)}.")
    if align_corners and min(size[2:]) == 1:
        warn("Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is not an "
             "intended use case of affine_grid. See the documentation of affine_grid for details.")
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {list(size)}")
    return affine_grid_generator(t, size, align_corners)


def affine_grid_generator(theta: Any, size: Any, align_corners: bool) -> Any:
    """affine_grid without its checks."""
    spaces = tuple(size)[2:]
    dtype = theta.array.dtype
    check_room((size[0], *spaces, len(spaces) + 1), dtype)
    lines = []
    for n in spaces:
        line = kernels.linspace(-1, 1, n, dtype) if n > 1 else np.zeros(1, dtype)
        lines.append(line if align_corners or n == 0 else line * (n - 1) / n)
    mesh = np.meshgrid(*lines, indexing="ij")
    base = np.stack([*reversed(mesh), np.ones(spaces, dtype)], -1).reshape(1, -1, len(spaces) + 1).astype(dtype)
    points = wrap(np.broadcast_to(base, (size[0], *base.shape[1:])).copy()) @ theta.transpose(1, 2)
    return points.view(size[0], *spaces, len(spaces))


def grid_sample(input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: Any = None) -> Any:
    """input (N, C, *S) read at grid (N, *P, d), whose last dim is x, y(, z) from -1 to 1 over the image -> (N, C, *P).

    mode bilinear, nearest or bicubic   padding_mode (what lies outside) zeros, border or reflection
    align_corners: -1 and 1 are the centres of the outermost pixels, else their outer edges.
    """
    if mode not in MODES:
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
                         f"'{mode}'")
    if padding_mode not in PADDINGS:
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but "
                         f"got: '{padding_mode}'")
    if align_corners is None:
        warn(DEFAULT.format("grid_sample and affine_grid", "grid_sample"))
        align_corners = False
    return grid_sampler(input, grid, MODES.index(mode), PADDINGS.index(padding_mode), align_corners)


def grid_sampler(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    """grid_sample with numbers for mode (0 bilinear, 1 nearest, 2 bicubic) and padding (0 zeros, 1 border, 2 reflection)."""
    d = input.ndim - 2
    for t in (input, grid):
        sized(t, 0)
    if grid.shape[0] != input.shape[0]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got input with sizes {list(input.shape)} and "
            f"grid with sizes {list(grid.shape)}")
    if grid.shape[-1] != d:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {d} in last dimension, but got grid with sizes "
                           f"{list(grid.shape)}")
    if any(n <= 0 for n in input.shape[2:]):
        at = 2 + next(i for i, n in enumerate(input.shape[2:]) if n <= 0)
        raise RuntimeError("grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                           f"{list(input.shape)} with dimension {at} being empty")
    if d not in (2, 3) or grid.ndim != input.ndim:
        raise RuntimeError(
            f"grid_sampler(): expected {4 if d == 2 else 5}D input and grid with same number of dimensions, but got input with "
            f"sizes {list(input.shape)} and grid with sizes {list(grid.shape)}")
    if d == 3 and interpolation_mode == 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    numbers = input.array.dtype.kind in "fV"
    if 0 in (*input.array.shape[:2], *grid.array.shape[:-1]) and (input.array.dtype != grid.array.dtype if numbers else d == 2):
        nothing = wrap(np.empty((*input.array.shape[:2], *grid.array.shape[1:-1]), input.array.dtype))
        if not numbers and recording(grid):
            raise RuntimeError(f"Autograd not support dtype: {scalar_name(input)}")
        return nothing + input.sum() * 0 + grid.sum().to(input.dtype) * 0 if numbers else nothing
    if not numbers:
        raise not_implemented("grid_sampler_2d_cpu_kernel_impl" if d == 2 else "grid_sampler3d_cpu", input.array.dtype)
    if input.array.dtype != grid.array.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(input)} but found {scalar_name(grid)}")
    sizes = tuple(input.array.shape[2:])
    spots = [centered(grid.select(-1, d - 1 - k), sizes[k], d, align_corners) for k in range(d)]     # in pixels, first dim first
    if interpolation_mode == 2:
        taps = [cubic(p) for p in spots]
    else:
        spots = [inside(p, n, padding_mode, align_corners) for p, n in zip(spots, sizes)]
        taps = [nearest(p) if interpolation_mode else linear(p) for p in spots]
    flat = input.reshape(input.shape[0], input.shape[1], math.prod(sizes))
    out: Any = None
    for corner in itertools.product(*taps):
        where_ = []
        for (place, _), n in zip(corner, sizes):
            if interpolation_mode == 2:
                place = np.rint(inside(wrap(place), n, padding_mode, align_corners).array)
            where_.append(place)
        valid = np.ones(where_[0].shape, bool)
        index = np.zeros(where_[0].shape, np.int64)
        for place, n in zip(where_, sizes):
            valid &= (place >= 0) & (place < n)
            index = index * n + np.nan_to_num(np.clip(place, 0, n - 1)).astype(np.int64)
        count = math.prod(index.shape[1:])
        picked = gather(flat, 2, wrap(np.broadcast_to(index.reshape(input.shape[0], 1, count), (
            input.shape[0], input.shape[1], count)).copy())).view(input.shape[0], input.shape[1], *index.shape[1:])
        weight: Any = None
        for _, w in corner:
            weight = w if weight is None or w is None else weight * w
        part = picked if weight is None else picked * weight.unsqueeze(1)
        if not valid.all():
            part = where(wrap(valid[:, None]), part, 0.0)
        out = part if out is None else out + part
    if interpolation_mode == 1 and grid.requires_grad:            # the derivative is 0
        out = out + where(wrap(np.zeros((), bool)), grid.select(-1, 0), 0.0).unsqueeze(1)
    return out


def centered(p: Any, n: int, d: int, align_corners: bool) -> Any:
    """-1..1 as pixel numbers, rounded as PyTorch's kernel for d dims rounds: at a pixel's centre the derivative jumps."""
    if d == 3:
        return (p + 1) / 2 * (n - 1) if align_corners else ((p + 1) * n - 1) / 2
    if align_corners:
        return (p + 1) * ((n - 1) / 2)
    y = (p + 1) * (n / 2) - 0.5
    wider = WIDER.get(y.array.dtype)
    if wider is None:
        return y
    once = ((p.array + 1).astype(wider) * (n / 2) - 0.5).astype(y.array.dtype)      # a fused multiply-add rounds once
    with np.errstate(invalid="ignore"):
        return y + wrap(np.nan_to_num(once - y.array, nan=0.0))


def inside(p: Any, n: int, padding: int, align_corners: bool) -> Any:
    """Pixel numbers brought into the image."""
    if padding == 1:
        return clipped(p, n)
    if padding == 2:
        low, high = (0.0, float(n - 1)) if align_corners else (-0.5, n - 0.5)
        return clipped(reflected(p, low, high), n)
    return p


def clipped(p: Any, n: int) -> Any:
    """Held between 0 and n - 1; beyond, and at the ends, the place no longer matters."""
    a = p.array
    return where(wrap((a > 0) & (a < n - 1)), p, wrap(np.nan_to_num(np.clip(a, 0, n - 1)).astype(a.dtype)))


def reflected(p: Any, low: float, high: float) -> Any:
    """Mirrored at low and high as often as it takes."""
    if low == high:
        return p * 0
    span = high - low
    far = p - low
    sign = wrap(np.where(far.array < 0, -1.0, 1.0).astype(p.array.dtype))
    far = far * sign
    times = np.floor(far.array / span)
    rest = far - wrap((times * span).astype(p.array.dtype))
    return where(wrap(times % 2 == 0), rest + low, high - rest)


def linear(p: Any) -> list[Any]:
    """[(pixel, weight)] of the two neighbors"""
    low = np.floor(p.array)
    part = p - wrap(low)
    return [(low, 1 - part), (low + 1, part)]


def nearest(p: Any) -> list[Any]:
    return [(np.rint(p.array), None)]


A = -0.75


def cubic(p: Any) -> list[Any]:
    """[(pixel, weight)] of four neighbors   Keys 1981, a = -0.75"""
    low = np.floor(p.array)
    t = p - wrap(low)
    far, near = [((A * u - 5 * A) * u + 8 * A) * u - 4 * A for u in (t + 1, 2 - t)], [
        ((A + 2) * u - (A + 3)) * u * u + 1 for u in (t, 1 - t)]
    return [(low - 1, far[0]), (low, near[0]), (low + 1, near[1]), (low + 2, far[1])]
