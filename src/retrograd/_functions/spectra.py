"""Short-time Fourier transforms: torch.stft and torch.istft."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import names
from .._engine.tensor import TensorBase, wrap
from .._engine.warn import warn_once
from .._rules import complexes, fourier, index, pad
from . import fourier as transforms
from .pad import pad as padded
from .parsing import fitted
from .shape import transpose

SPELLED = (
    "To suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`.")
LEAKS = (
    "A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage. Other windows "
    "such as torch.hann_window or torch.hamming_window are recommended to reduce spectral leakage." + SPELLED)
LOSES = (
    "A window was not provided. A rectangular window will be applied.Please provide the same window used by stft to make the "
    "inversion lossless." + SPELLED)
PAIRS = (
    "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex tensors for all "
    "inputs, and return_complex=False will raise an error.\nNote: you can still call torch.view_as_real on the complex output "
    "to recover the old return format.")
SHORT = (
    "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. Please check "
    "your center and hop_length settings.")

STFT = " | ".join("Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, " + middle + (
    "bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None") for middle in (
    'bool center=True, str pad_mode="reflect", ', ""))


def shown(x: Any) -> str:
    if not isinstance(x, TensorBase):
        return "None"
    scalar = names.SCALAR[x.array.dtype.name]
    return f"CPU{scalar}Type" if scalar.startswith("Complex") else names.TENSOR[x.array.dtype.name]


def centered(window: Any, n_fft: int, win_length: int, like: Any) -> Any:
    """The window with zeros around it up to n_fft; without one, ones."""
    if window is None:
        window = wrap(np.ones(win_length, like.array.real.dtype))
    if win_length < n_fft:
        left = (n_fft - win_length) // 2
        window = pad.constant(window, ((left, n_fft - win_length - left),), 0)
    return window


def stft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None, center: bool = True,
    pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None, return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """The short-time Fourier transform: (..., frequencies, frames) of windows of n_fft samples, hop_length apart.

    input (samples,) or (N, samples); center: windows lie around their samples, so the ends are padded.
    """
    x = input
    if window is None:
        warn_once(LEAKS)
    if center:
        if align_to_window is not None:
            raise RuntimeError("stft align_to_window should only be set when center = false")
        extra = (n_fft // 2, n_fft // 2)
        lead = (1,) * (3 - x.array.ndim)
        x = padded(x.reshape(lead + tuple(x.array.shape)), extra, pad_mode)
        x = x.reshape(x.array.shape[len(lead):])
    given = x, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window
    n_fft, hop_length, win_length = fitted("stft", STFT, given, {})[0][1:4]
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if return_complex is None and x.array.dtype.kind != "c" and (window is None or window.array.dtype.kind != "c"):
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release.")
    if return_complex is False:
        warn_once(PAIRS)
    asked = f"window={'None' if window is None else shown(window) + '{' + str(list(window.array.shape)) + '}'}"
    side = "None" if onesided is None else str(int(onesided))
    call = (f"stft({shown(x)}{list(x.array.shape)}, n_fft={n_fft}, hop_length={hop}, win_length={length}, {asked}, "
            f"normalized={int(normalized)}, onesided={side}, return_complex="
            f"{'None' if return_complex is None else int(return_complex)}, align_to_window="
            f"{'None' if align_to_window is None else int(align_to_window)}) ")
    if x.array.dtype.kind not in "fcV":
        raise RuntimeError(call + ": expected a tensor of floating point or complex values")
    if x.array.ndim not in (1, 2):
        raise RuntimeError(call + ": expected a 1D or 2D tensor")
    many = x.array.ndim == 2
    if not many:
        x = x.unsqueeze(0)
    n = x.array.shape[1]
    if not 0 < n_fft <= n:
        raise RuntimeError(call + f": expected 0 < n_fft < {n}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(call + f": expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(call + f": expected 0 < win_length <= n_fft, but got win_length={length}")
    if window is not None and tuple(window.array.shape) != (length,):
        raise RuntimeError(call + ": expected a 1D window tensor of size equal to win_length="
                           f"{length}, but got window with size {list(window.array.shape)}")
    frames = x.unfold(-1, n_fft, hop)
    if window is not None or length < n_fft:
        frames = frames * centered(window, n_fft, length, x)
    is_complex = frames.array.dtype.kind == "c"
    half = not is_complex if onesided is None else onesided
    if half and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    mode = fourier.ROOT if normalized else fourier.NONE
    if frames.array.dtype.itemsize == 2:
        if frames.array.dtype.kind == "f":
            warn_once("ComplexHalf support is experimental and many operators don't support it yet.")
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {names.SCALAR[frames.array.dtype.name]}")
    frames = transforms.floating(frames, False)
    if is_complex:
        y = fourier.c2c(frames, (2,), mode, True)
    else:
        y = fourier.r2c(frames, (2,), mode, True, n_fft if half else 0)
    y = transpose(y, 1, 2)
    if not many:
        y = y.squeeze(0)
    if return_complex is False:
        return complexes.ViewAsRealBackward0().run(y)
    return y


def istft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None, center: bool = True,
    normalized: bool = False, onesided: bool | None = None, length: int | None = None, return_complex: bool = False,
) -> Any:
    """The inverse of stft: frames are overlapped, added and divided by the sum of the squared windows."""
    x = input
    if window is None:
        warn_once(LOSES)
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if x.array.dtype.kind != "c":
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.")
    side = "None" if onesided is None else str(int(onesided))
    asked = f"window={'None' if window is None else shown(window) + '{' + str(list(window.array.shape)) + '}'}"
    call = (f"istft(CPU{names.SCALAR[x.array.dtype.name]}Type{list(x.array.shape)}, n_fft={n_fft}, hop_length={hop}, "
            f"win_length={width}, {asked}, center={int(center)}, normalized={int(normalized)}, onesided={side}, "
            f"length={length}, return_complex={int(return_complex)}) ")
    ndim = x.array.ndim
    if ndim < 2:
        raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim + 1}, {ndim}], but got -{ndim + 2})")
    if ndim not in (2, 3):
        raise RuntimeError(call + f": expected a tensor with 3 or 4 dimensions, but got {ndim + 1}")
    if not x.array.size:
        raise RuntimeError(call + ": input tensor cannot be empty.")
    rows, count = x.array.shape[-2:]
    half = rows != n_fft if onesided is None else onesided
    if half and rows != n_fft // 2 + 1:
        raise RuntimeError(call + ": expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 "
                           f"+ 1 when onesided=True, but got {rows}")
    if not half and rows != n_fft:
        raise RuntimeError(call + ": expected the frequency dimension (3rd to the last) of the input tensor to match n_fft when "
                           f"onesided=False, but got {rows}")
    if not 0 < hop <= width:
        raise RuntimeError(call + ": expected 0 < hop_length <= win_length")
    if not 0 < width <= n_fft:
        raise RuntimeError(call + ": expected 0 < win_length <= n_fft")
    if window is not None and tuple(window.array.shape) != (width,):
        raise RuntimeError(call + ": Invalid window shape. window has to be 1D and length of `win_length`")
    weight = centered(window, n_fft, width, x)
    frames = transpose(x if ndim == 3 else x.unsqueeze(0), 1, 2)
    mode = fourier.ROOT if normalized else fourier.COUNT
    if return_complex:
        if half:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        frames = fourier.c2c(frames, (2,), mode, False)
    else:
        if window is not None and window.array.dtype.kind == "c":
            raise RuntimeError("Complex windows are incompatible with return_complex=False")
        if not half:
            frames = index.slice_dim(frames, 2, slice(0, n_fft // 2 + 1), True)
        frames = fourier.c2r(frames, (2,), mode, n_fft)
    total = n_fft + hop * (count - 1)
    sums = overlapped(frames * weight, total, hop)
    weights = overlapped((weight * weight).unsqueeze(0).expand(1, count, n_fft), total, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    sums = index.slice_dim(sums, 1, slice(start, end), True)
    weights = index.slice_dim(weights, 1, slice(start, end), True)
    if not weights.array.size:
        raise RuntimeError("min(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
                           "the 'dim' argument.")
    least = np.abs(weights.array).min()
    if least <= 1e-11:
        raise RuntimeError(call + "window overlap add min: 1\n[ CPUBoolType{} ]")
    y = sums / weights
    if length is not None and end > total:
        warn_once(SHORT)
        y = pad.constant(y, ((0, end - total),), 0)
    return y if ndim == 3 else y.squeeze(0)


def overlapped(frames: Any, total: int, hop: int) -> Any:
    """(N, windows, n) -> (N, total): windows hop apart, added up."""
    sizes = frames.array.shape
    at = np.arange(sizes[1])[:, None] * hop + np.arange(sizes[2])
    zeros = wrap(np.zeros((sizes[0], total), frames.array.dtype))
    return zeros.index_add(1, wrap(at.reshape(-1)), frames.reshape(sizes[0], -1))  # type: ignore[attr-defined]
