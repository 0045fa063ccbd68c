"""Fourier transforms: torch.fft."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import names, promote
from .._engine.mirror import bits_of
from .._engine.tensor import wrap
from .._rules import cast, complexes, fourier, index, pad
from .._tensor import dtypes
from .arguments import dim_of
from .fromdata import leaf
from .outs import write_out
from .rearrange import roll

MODES = {None: (fourier.NONE, fourier.COUNT), "backward": (fourier.NONE, fourier.COUNT), "ortho": (fourier.ROOT, fourier.ROOT),
         "forward": (fourier.COUNT, fourier.NONE)}             # norm: (of a transform, of an inverse)


def mode_of(norm: str | None, forward: bool) -> int:
    if norm not in MODES:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return MODES[norm][0 if forward else 1]


def scalar_of(x: Any) -> str:
    return names.SCALAR[x.array.dtype.name]


def floating(x: Any, whole: bool) -> Any:
    """x in float32, float64, or (whole: always) a complex dtype."""
    x = cast.floating(x)
    if x.array.dtype.itemsize == 2:
        raise RuntimeError(f"Unsupported dtype {scalar_of(x)}")
    return cast.cast(x, promote.complex_of(x.array.dtype)) if whole and x.array.dtype.kind != "c" else x


def real_only(x: Any, function: str, words: str = "a real input tensor") -> Any:
    if x.array.dtype.kind == "c":
        raise RuntimeError(f"{function} expects {words}, but got {scalar_of(x)}")
    return floating(x, False)


def points(n: int) -> int:
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return n


def one(x: Any, dim: int) -> int:
    if not x.array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return dim_of(dim, x.array.ndim)


def several(x: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], list[int]]:
    """(dims, how many points in each): PyTorch's rules for s= and dim=."""
    ndim = x.array.ndim
    dims: tuple[int, ...] = ()
    if dim is not None:
        dims = tuple(one(x, d) for d in ([dim] if isinstance(dim, int) else dim))
        if len(set(dims)) < len(dims):
            raise RuntimeError("FFT dims must be unique")
    if s is not None:
        counts = [s] if isinstance(s, int) else list(s)
        if dim is not None and len(dims) != len(counts):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(counts) > ndim:
            raise RuntimeError(f"Got shape with {len(counts)} values but input tensor only has {ndim} dimensions.")
        if dim is None:
            dims = tuple(range(ndim - len(counts), ndim))
        counts = [x.array.shape[d] if n == -1 else n for d, n in zip(dims, counts)]
    else:
        if dim is None:
            dims = tuple(range(ndim))
        counts = [x.array.shape[d] for d in dims]
    return dims, counts


def sized(x: Any, dims: tuple[int, ...], counts: list[int]) -> Any:
    """x cut, or filled up with zeros, to that many points."""
    after = [0] * x.array.ndim
    for d, n in zip(dims, counts):
        have = x.array.shape[d]
        if n < have:
            x = index.slice_dim(x, d, slice(0, n), True)
        after[d] = max(n - have, 0)
    if any(after):
        first = next(d for d, n in enumerate(after) if n)
        x = pad.constant(x, tuple((0, n) for n in after[first:]), 0)
    return x


def given(y: Any, out: Any, function: str, *inputs: Any) -> Any:
    """y, written to out= if there is one: of a complex dtype exactly if y is."""
    if out is None:
        return y
    if out.array.dtype.kind != y.array.dtype.kind:
        kind = "complex" if y.array.dtype.kind == "c" else "floating point"
        raise RuntimeError(f"{function} expects a {kind} output tensor, but got {scalar_of(out)}")
    if bits_of(y)[0] and out.array.dtype != y.array.dtype:
        raise RuntimeError(f"Found dtype {scalar_of(out)} but expected {scalar_of(y)}")
    return write_out(y, out, f"fft_{function}", *inputs)


def transform(x: Any, dims: tuple[int, ...], counts: list[int], mode: int, forward: bool) -> Any:
    for n in counts:
        points(n)
    x = sized(x, dims, counts)
    if not dims:
        return floating(x, True)
    if x.array.dtype.kind == "c":
        return fourier.c2c(x, dims, mode, forward)
    y = fourier.r2c(x, dims, mode, True, 0)
    return y if forward else complexes.conj_view(y)             # what the inverse of real numbers is


def fft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
    """The discrete Fourier transform along dim; x is cut or padded with zeros to n points."""
    return along(input, n, dim, norm, out, "fft", True)


def ifft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
    """The inverse discrete Fourier transform along dim."""
    return along(input, n, dim, norm, out, "ifft", False)


def along(input: Any, n: int | None, dim: int, norm: str | None, out: Any, name: str, forward: bool) -> Any:
    x = floating(input, False)
    at = one(x, dim)
    count = points(x.array.shape[at] if n is None else n)
    return given(transform(x, (at,), [count], mode_of(norm, forward), forward), out, name, input)


def fftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Any:
    """The discrete Fourier transform over dims; x is cut or padded with zeros to s points."""
    dims, counts = several(input, s, dim)
    return given(transform(floating(input, True), dims, counts, mode_of(norm, True), True), out, "fftn", input)


def ifftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Any:
    """The inverse discrete Fourier transform over dims."""
    dims, counts = several(input, s, dim)
    return given(transform(floating(input, True), dims, counts, mode_of(norm, False), False), out, "ifftn", input)


def rfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
    """The transform of real numbers: its first n // 2 + 1 points, since the rest are their conjugates."""
    x = real_only(input, "rfft")
    at = one(x, dim)
    count = points(x.array.shape[at] if n is None else n)
    return given(fourier.r2c(sized(x, (at,), [count]), (at,), mode_of(norm, True), True, count), out, "rfft", input)


def irfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
    """The inverse of rfft: n real numbers, by default 2 (m - 1) for m points."""
    return given(back(floating(input, True), n, dim, mode_of(norm, False)), out, "irfft", input)


def back(x: Any, n: int | None, dim: int, mode: int) -> Any:
    at = one(x, dim)
    count = points(2 * (x.array.shape[at] - 1) if n is None else n)
    return fourier.c2r(sized(x, (at,), [count // 2 + 1]), (at,), mode, count)


def hfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
    """The transform of a Hermitian signal, given by its first half: n real numbers."""
    x = floating(input, True)
    one(x, dim)
    return given(back(complexes.conj(x), n, dim, mode_of(norm, True)), out, "hfft", input)


def ihfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
    """The inverse of hfft."""
    x = real_only(input, "ihfft")
    at = one(x, dim)
    count = points(x.array.shape[at] if n is None else n)
    y = fourier.r2c(sized(x, (at,), [count]), (at,), mode_of(norm, False), True, count)
    return given(complexes.conj_view(y), out, "ihfft", input)


def halves(input: Any, s: Any, dim: Any, name: str) -> tuple[Any, tuple[int, ...], list[int]]:
    if name == "rfftn":
        real_only(input, name, "a real-valued input tensor")
    dims, counts = several(input, s, dim)
    if input.array.dtype.kind == "c":
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {scalar_of(input)}")
    x = floating(input, False)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    for n in counts:
        points(n)
    return sized(x, dims, counts), dims, counts


def rfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Any:
    """The transform of real numbers over dims; only the first half along the last of them."""
    x, dims, counts = halves(input, s, dim, "rfftn")
    return given(fourier.r2c(x, dims, mode_of(norm, True), True, counts[-1]), out, "rfftn", input)


def last_half(x: Any, s: Any, dim: Any, name: str) -> tuple[Any, tuple[int, ...], int]:
    """(x with as many points as a transform back reads, dims, real numbers along the last)"""
    dims, counts = several(x, s, dim)
    x = floating(x, True)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    told = None if s is None else s if isinstance(s, int) else s[-1]
    count = counts[-1] if told is not None and told != -1 else 2 * (x.array.shape[dims[-1]] - 1)
    for n in (*counts[:-1], count):
        points(n)
    return sized(x, dims, [*counts[:-1], count // 2 + 1]), dims, count


def irfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Any:
    """The inverse of rfftn."""
    x, dims, count = last_half(input, s, dim, "irfftn")
    return given(fourier.c2r(x, dims, mode_of(norm, False), count), out, "irfftn", input)


def hfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Any:
    """hfft along the last of the dims, fft along the others."""
    x, dims, count = last_half(input, s, dim, "hfftn")
    return given(fourier.c2r(complexes.conj(x), dims, mode_of(norm, True), count), out, "hfftn", input)


def ihfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Any:
    """The inverse of hfftn."""
    x, dims, counts = halves(input, s, dim, "ihfftn")
    y = fourier.r2c(x, dims, mode_of(norm, False), True, counts[-1])
    return given(complexes.conj(y) if len(dims) > 1 else complexes.conj_view(y), out, "ihfftn", input)


def fft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None) -> Any:
    """fftn over the last two dims, or those of dim."""
    return fftn(input, s, dim, norm, out=out)


def ifft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None) -> Any:
    """ifftn over the last two dims, or those of dim."""
    return ifftn(input, s, dim, norm, out=out)


def rfft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None) -> Any:
    """rfftn over the last two dims, or those of dim."""
    return rfftn(input, s, dim, norm, out=out)


def irfft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None) -> Any:
    """irfftn over the last two dims, or those of dim."""
    return irfftn(input, s, dim, norm, out=out)


def hfft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None) -> Any:
    """hfftn over the last two dims, or those of dim."""
    return hfftn(input, s, dim, norm, out=out)


def ihfft2(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None) -> Any:
    """ihfftn over the last two dims, or those of dim."""
    return ihfftn(input, s, dim, norm, out=out)


def frequencies(k: Any, n: int, d: float, out: Any, dtype: Any, requires_grad: bool, name: str) -> Any:
    want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, name)
    if out is not None:
        have = out.array.dtype
        if dtype is not None and want != have:
            raise RuntimeError(f"dtype {names.SCALAR[want.name]} does not match dtype of out parameter ({scalar_of(out)})")
        want = have
    if want.kind not in "fcV":
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if want.kind == "c":
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{names.SCALAR[want.name]}'")
    with np.errstate(all="ignore"):
        array = (k.astype(want) * want.type(np.float64(1.0) / (n * d))).astype(want)
    return leaf(array, requires_grad) if out is None else write_out(wrap(array), out, name)


def fftfreq(n: int, d: float = 1.0, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
            requires_grad: bool = False) -> Any:
    """The frequencies of the n points of fft, in cycles per unit of the sample spacing d."""
    dtypes.check_device(device)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    k = np.arange(n)
    return frequencies(np.where(k < (n + 1) // 2, k, k - n), n, d, out, dtype, requires_grad, "fftfreq")


def rfftfreq(n: int, d: float = 1.0, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
             requires_grad: bool = False) -> Any:
    """The frequencies of the n // 2 + 1 points of rfft, in cycles per unit of the sample spacing d."""
    dtypes.check_device(device)
    count = (n // 2 if n >= 0 else -(-n // 2)) + 1      # as C rounds, towards 0
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}]")
    return frequencies(np.arange(count), n, d, out, dtype, requires_grad, "rfftfreq")


def shifted(x: Any, dim: Any, up: bool) -> Any:
    dims = tuple(range(x.array.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    counts = [x.array.shape[one(x, d)] for d in dims]
    return roll(x, tuple((n // 2 if up else (n + 1) // 2) for n in counts), dims)


def fftshift(input: Any, dim: Any = None) -> Any:
    """Move the zero frequency from the start to the middle."""
    return shifted(input, dim, True)


def ifftshift(input: Any, dim: Any = None) -> Any:
    """The inverse of fftshift."""
    return shifted(input, dim, False)
