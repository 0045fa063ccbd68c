"""Resizing of images and shuffles of their pixels and channels: F.interpolate, F.pixel_shuffle, ..."""
from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from .._engine import names
from .._engine.tensor import TensorBase, wrap
from .._engine.warn import warn
from .._rules import pool
from .arguments import is_int, refused, tensor
from .fromdata import check_room
from .pointwise import not_implemented
from .pool import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

NEED = {"linear": 3, "bilinear": 4, "bicubic": 4, "lanczos": 4, "trilinear": 5}


def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None,
    recompute_scale_factor: Any = None, antialias: bool = False,
) -> Any:
    """Resize the spatial dims of (N, C, *S) to `size` or by `scale_factor`.

    mode nearest, nearest-exact, linear, bilinear, trilinear, bicubic, area or lanczos.   antialias (bilinear, bicubic,
    lanczos): where an image shrinks, the filter is as much wider, so that no input is passed over.
    """
    x = tensor(input, "interpolate")
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
                "trilinear")
    elif align_corners is None:
        align_corners = False
    mode = mode if isinstance(mode, str) else str(mode)
    dims = x.ndim - 2
    check_sizes(x, size, scale_factor, mode)
    inside = list(x.array.shape[2:])
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    scales: Any = None
    if size is not None:
        if isinstance(size, (tuple, list)):
            if len(size) != dims:
                raise ValueError(
                    f"Input and output must have the same number of spatial dimensions, but got input with spatial "
                    f"dimensions of {inside} and output size of {size}. Please provide input tensor in (N, C, d1, d2, "
                    "...,dK) format and output size in (o1, o2, ...,oK) format.")
            out = [int(n) for n in size]
        else:
            out = [int(size)] * dims
    elif scale_factor is not None:
        if isinstance(scale_factor, (tuple, list)):
            if len(scale_factor) != dims:
                raise ValueError(
                    "Input and scale_factor must have the same number of spatial dimensions, but got input with "
                    "spatial "
                    f"dimensions of {inside} and scale_factor of shape {scale_factor}. Please provide input tensor "
                    "in (N, "
                    "C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format.")
            scales = [float(s) for s in scale_factor]
        else:
            scales = [float(scale_factor)] * dims
        if not all(-2**63 <= n * s < 2**63 for n, s in zip(inside, scales, strict=True)):       # nan, too
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
        out = [math.floor(n * s) for n, s in zip(inside, scales, strict=True)]
    else:
        raise ValueError("either size or scale_factor should be defined")
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if mode == "area" or recompute_scale_factor:
        scales = None
    if antialias:
        if not (mode in ("bilinear", "bicubic", "lanczos") and x.ndim == 4):
            raise ValueError(
                "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor "
                "as input")
    if x.ndim not in (3, 4, 5) or mode not in (
            "nearest", "nearest-exact", "area", "linear", "bilinear", "trilinear", "bicubic", "lanczos") or (
            mode in ("bicubic", "lanczos") and x.ndim != 4):
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported"
            f" (got {x.ndim}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | lanczos | area | "
            f"nearest-exact (got {mode})")
    if mode == "area":
        return {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}[x.ndim](
            x, out[0] if x.ndim == 3 else out)
    if mode in NEED and NEED[mode] != x.ndim:
        raise NotImplementedError(f"Got {x.ndim}D input, but {mode} mode needs {NEED[mode]}D input")
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    if mode == "lanczos" and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if mode in NEED and not isinstance(align_corners, (bool, np.bool_)):
        raise unfit(x, mode, out, align_corners, scales)
    for at, n in enumerate(out, 1):
        if not -2**63 <= n < 2**63:
            raise TypeError(f"{called(x, mode)}(): argument 'output_size' failed to unpack the object at pos {at} with error "
                            '"Overflow when unpacking long long"')
    if any(n <= 0 for n in out + inside):
        letters = {1: "W", 2: "HW", 3: "DHW"}[dims]
        have = ", ".join(f"{a}: {n}" for a, n in zip(letters, inside, strict=True))
        want = ", ".join(f"{a}: {n}" for a, n in zip(letters, out, strict=True))
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({have}) "
            f"{'and ' if dims == 1 else ''}output ({want})")
    if 0 in x.array.shape[1:]:
        raise RuntimeError(f"Non-empty {x.ndim}D data tensor expected but got a tensor with sizes {list(x.shape)}")
    check_room((*x.array.shape[:2], *out), x.array.dtype)
    if x.array.dtype.kind in "iubc" and x.array.dtype != np.uint8 and "nearest" in mode:
        raise not_implemented(
            "upsample_nearest2d_channels_last" if dims == 2 else "compute_indices_weights_nearest", x.array.dtype)
    if antialias and out != inside and x.array.dtype.name not in ("float32", "float64", "uint8"):
        raise NotImplementedError(
            f"\"compute_index_ranges_weights\" not implemented for '{names.SCALAR[x.array.dtype.name]}'")
    if antialias and out == inside and x.array.dtype.kind in "iub":
        return x.clone()  # type: ignore[attr-defined]
    if x.array.dtype.kind == "c" and mode == "bilinear":
        raise not_implemented("upsample_bilinear2d_channels_last", x.array.dtype)
    if x.array.dtype.kind in "iubc" and "nearest" not in mode:
        if x.array.dtype != np.uint8 or mode not in ("bilinear", "bicubic", "lanczos"):
            kind = "cubic" if mode == "bicubic" else "linear"
            raise NotImplementedError(
                f"\"compute_indices_weights_{kind}\" not implemented for '{names.SCALAR[x.array.dtype.name]}'")
        pixels = x.array
        for i in (1, 0):                        # an image is resized row by row first
            if out[i] != inside[i]:
                axis = (smooth_axis if antialias else axis_of)(
                    inside[i], out[i], scales[i] if scales else None, mode, bool(align_corners), np.dtype(np.float64))
                pixels = weighed(pixels, i + 2, axis)
        return wrap(pixels.copy() if pixels is x.array else pixels)
    make = smooth_axis if antialias else axis_of
    kept = antialias or (mode == "nearest" and dims == 2)   # the scale does not matter where the size stays
    axes = [make(n, m, scales[i] if scales and not (kept and m == n) else None, mode, bool(align_corners), x.array.dtype)
            for i, (n, m) in enumerate(zip(inside, out, strict=True))]
    return pool.RESAMPLED[f"{mode}-aa" if antialias else mode, dims](axes, tuple(scales) if scales else (), align_corners).run(x)


def weighed(pixels: Any, at: int, axis: Any) -> Any:
    """uint8 pixels resized along dim `at` with weights of 16 bits, rounded once, as in Pillow and PyTorch."""
    bits, top, each = 0, 0.0, np.zeros_like(axis.weights)
    rows = np.arange(len(each))
    for k in range(each.shape[1]):              # those of a pixel met twice, at the edge, are one weight
        first = (axis.taps == axis.taps[:, k:k + 1]).argmax(1)
        each[rows, first] += axis.weights[:, k]
        top = max(top, each[rows, first].max())
    while bits < 22 and int(0.5 + top * 2**(bits + 1)) < 2**15:
        bits += 1
    weights = np.trunc(each * 2**bits + np.copysign(0.5, each)).astype(np.int64)
    sums = (np.moveaxis(pixels, at, -1).astype(np.int64)[..., axis.taps] * weights).sum(-1)
    return np.moveaxis(np.clip(sums + 2**(bits - 1) >> bits, 0, 255).astype(np.uint8), -1, at)


def smooth_axis(n: int, m: int, factor: Any, mode: str, align: bool, dtype: Any) -> Any:
    """As axis_of, with a filter that is stretched by the ratio where m < n, as in Pillow and PyTorch."""
    exact: Any = np.float32 if dtype.itemsize <= 4 else np.float64
    if align:
        ratio = (n - 1) / (m - 1) if m > 1 else 0.0
    else:
        ratio = 1.0 / factor if factor and factor > 0 else n / m
    half = {"bilinear": 1.0, "bicubic": 2.0, "lanczos": 3.0}[mode]
    wide = max(exact(ratio), exact(1))
    support = exact(half) * wide
    centre = exact(ratio) * (np.arange(m, dtype=exact) + exact(0.5))
    first = np.maximum((centre - support + exact(0.5)).astype(np.int64), 0)
    count = np.minimum((centre + support + exact(0.5)).astype(np.int64), n) - first
    k = np.arange(max(int(count.max()), 1))
    places = np.minimum(first[:, None] + k, (first + np.maximum(count, 1) - 1)[:, None])
    at = ((k + first[:, None]).astype(exact) - centre[:, None] + exact(0.5)) / wide
    weights = np.where(k < count[:, None], FILTERS[mode](np.abs(at)), 0)
    total = weights.sum(1, keepdims=True)
    return pool.Axis(places, (weights / np.where(total == 0, 1, total)).astype(exact), None, n)


def triangle(t: Any) -> Any:
    return np.maximum(1 - t, 0)


def smooth_cubic(t: Any) -> Any:
    """Keys' cubic with a = -0.5."""
    return np.where(t < 1, (1.5 * t - 2.5) * t * t + 1, np.where(t < 2, ((-0.5 * t + 2.5) * t - 4) * t + 2, 0))


def lanczos(t: Any) -> Any:
    return np.where(t < 3, np.sinc(t) * np.sinc(t / 3), 0)


FILTERS = {"bilinear": triangle, "bicubic": smooth_cubic, "lanczos": lanczos}


def called(x: TensorBase, mode: str) -> str:
    """The function in C."""
    dims = x.array.ndim - 2
    if "nearest" in mode:
        return ("_upsample_nearest_exact" if mode == "nearest-exact" else "upsample_nearest") + f"{dims}d"
    return {1: "upsample_linear1d", 2: "upsample_bicubic2d" if mode == "bicubic" else "upsample_bilinear2d",
            3: "upsample_trilinear3d"}.get(dims, mode)


def check_sizes(x: TensorBase, size: Any, scale_factor: Any, mode: str) -> None:
    """TypeError for a size that is no int, a scale that is no number."""
    if isinstance(size, (tuple, list)) and not all(map(is_integer, size)):
        raise TypeError("expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got "
                        f"size with types {[type(v) for v in size]}")
    given = [] if "nearest" in mode else [True]
    if size is not None and not all(map(is_int, listed(size))):
        raise unfit(x, mode, listed(size), *given, None)
    if scale_factor is not None and not all(isinstance(v, (int, float, np.number)) for v in listed(scale_factor)):
        raise unfit(x, mode, None, *given, listed(scale_factor))


def listed(value: Any) -> Any:
    return value if isinstance(value, (tuple, list)) else [value]


def is_integer(value: Any) -> bool:
    """Of an integer type; a tensor of several, too."""
    return isinstance(value, (int, np.integer)) or (isinstance(value, TensorBase) and value.array.dtype.kind in "iub")


def unfit(x: TensorBase, mode: str, *args: Any) -> TypeError:
    corners = "" if "nearest" in mode else "bool align_corners, "
    return refused(called(x, mode), (x, *args),
                   f"(Tensor input, tuple of ints output_size, {corners}tuple of floats scale_factors)",
                   f"(Tensor input, tuple of ints output_size, {corners}float scales = None)")


@lru_cache(64)                                          # each layer asks again and again
def axis_of(n: int, m: int, factor: Any, mode: str, align: bool, dtype: Any) -> Any:
    """Which of n inputs, with what weights, make each of m outputs."""
    exact: Any = np.float32 if dtype.itemsize <= 4 else np.float64
    if mode.startswith("nearest"):
        exact = np.float32
    i = np.arange(m, dtype=exact)
    ratio = exact(1.0 / factor if factor and factor > 0 else n / m)
    if mode == "nearest":
        places = np.floor(i * ratio).astype(np.int64)
        return pool.Axis(np.minimum(places, n - 1)[:, None], None, None, n)
    if mode == "nearest-exact":
        return pool.Axis(np.minimum(np.floor((i + exact(0.5)) * ratio).astype(np.int64), n - 1)[:, None], None, None, n)
    if align:
        at = i * exact((n - 1) / (m - 1) if m > 1 else 0.0)
    else:
        at = ratio * (i + exact(0.5)) - exact(0.5)
    if mode == "bicubic":
        low = np.floor(at)
        t = at - low
        places = np.clip(low.astype(np.int64)[:, None] + np.arange(-1, 3), 0, n - 1)
        weights = np.stack([cubic_far(t + 1), cubic_near(t), cubic_near(1 - t), cubic_far(2 - t)], 1)
        return pool.Axis(places, weights, None, n)
    if not align:
        at = np.maximum(at, exact(0))
    if m == n:
        at = i
    low = np.minimum(np.floor(at).astype(np.int64), n - 1)
    high = np.minimum(low + 1, n - 1)
    part = np.clip(at - low, 0, 1).astype(exact)
    return pool.Axis(np.stack([low, high], 1), np.stack([exact(1) - part, part], 1), None, n)


SHARPNESS = -0.75                               # of the cubic convolution (Keys 1981), as in PyTorch and OpenCV


def cubic_near(t: Any) -> Any:
    a = SHARPNESS
    return ((a + 2) * t - (a + 3)) * t * t + 1


def cubic_far(t: Any) -> Any:
    a = SHARPNESS
    return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a


def upsample(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None,
) -> Any:
    """Deprecated name of interpolate."""
    warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """Deprecated: interpolate(mode='nearest')."""
    warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """Deprecated: interpolate(mode='bilinear', align_corners=True)."""
    warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# Shuffles

def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """(*, C r r, H, W) -> (*, C, H r, W r) with r = upscale_factor."""
    x = pixels(input, "pixel_shuffle", "upscale_factor", upscale_factor)
    c, square = x.shape[-3], upscale_factor * upscale_factor
    if square >= 2**63:
        raise ValueError(f"upscale factor is too large, (upscale_factor)^2 overflowed: upscale_factor={upscale_factor}")
    if c % square:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={c} is not divisible by {square}")
    return pool.PixelShuffleBackward0(upscale_factor).run(x)


def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """(*, C, H r, W r) -> (*, C r r, H, W) with r = downscale_factor."""
    x = pixels(input, "pixel_unshuffle", "downscale_factor", downscale_factor)
    for name, d in (("height", -2), ("width", -1)):
        if x.shape[d] % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({d})={x.shape[d]} is not divisible by {downscale_factor}")
    return pool.PixelUnshuffleBackward0(downscale_factor).run(x)


def pixels(input: Any, function: str, name: str, factor: int) -> TensorBase:
    """The checked input of both."""
    x = tensor(input, function)
    if x.ndim < 3:
        raise RuntimeError(
            f"{function} expects input to have at least 3 dimensions, but got input with {x.ndim} dimension(s)")
    if factor <= 0:
        raise RuntimeError(f"{function} expects a positive {name}, but got {factor}")
    return x


def channel_shuffle(input: Any, groups: int) -> Any:
    """Channels (dim 1) of `groups` groups interleaved."""
    if input.ndim < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if input.shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {input.shape[1]} channels and {groups} groups.")
    return pool.ChannelShuffleBackward0(groups).run(input)


native_channel_shuffle = channel_shuffle
