"""torch.signal.windows: window functions of M points, symmetric or, with sym=False, one period of M + 1.

https://pytorch.org/docs/stable/signal.html

M     how many points; ValueError if negative
sym   False: one period of a periodic window, M of M + 1 points
"""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from retrograd import _functions as f
from retrograd._functions.create import empty, linspace, ones
from retrograd._functions.fromdata import tensor
from retrograd._missing import late_names
from retrograd._tensor import dtypes

__all__ = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
           "kaiser", "nuttall"]
late_names(__name__)


def checked(name: str, M: int, dtype: Any, layout: Any) -> Any:
    """The dtype; ValueError where the window cannot be made."""
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not None and layout is not dtypes.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return dtype


def points(M: int, first: Any, last: Any, kw: Any) -> Any:
    return linspace(first, last, M, **kw)


def arguments(dtype: Any, device: Any, requires_grad: bool) -> dict[str, Any]:
    return {"dtype": dtype, "device": device, "requires_grad": requires_grad}


def bartlett(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided, device: Any = None,
             requires_grad: bool = False) -> Any:
    """A triangle."""
    kw = arguments(checked("bartlett", M, dtype, layout), device, requires_grad)
    if M < 2:
        return (ones if M else empty)(M, **kw)
    step = 2 / (M - 1 if sym else M)
    return 1 - f.abs(points(M, -1, (M - 1) * step - 1, kw))


def general_cosine(M: int, *, a: Any, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided, device: Any = None,
                   requires_grad: bool = False) -> Any:
    """a[0] - a[1] cos(t) + a[2] cos(2 t) - ..., t from 0 to 2 pi"""
    kw = arguments(checked("general_cosine", M, dtype, layout), device, requires_grad)
    if M < 2:
        return (ones if M else empty)(M, **kw)
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    weights = [w if i % 2 == 0 else -w for i, w in enumerate(a)]
    step = 2 * math.pi / (M - 1 if sym else M)
    t = points(M, 0, (M - 1) * step, kw)
    column = tensor(weights, **kw).unsqueeze(-1)
    order = f.arange(len(weights), **kw).unsqueeze(-1)
    return (column * f.cos(order * t)).sum(0)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided,
                    device: Any = None, requires_grad: bool = False) -> Any:
    """alpha - (1 - alpha) cos(t)"""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)


def hamming(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided, device: Any = None,
            requires_grad: bool = False) -> Any:
    """0.54 - 0.46 cos(t)"""
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided, device: Any = None,
         requires_grad: bool = False) -> Any:
    """0.5 - 0.5 cos(t)"""
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def blackman(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided, device: Any = None,
             requires_grad: bool = False) -> Any:
    """0.42 - 0.5 cos(t) + 0.08 cos(2 t)"""
    dtype = checked("blackman", M, dtype, layout)
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)


def nuttall(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided, device: Any = None,
            requires_grad: bool = False) -> Any:
    """Four cosines with small side lobes (Nuttall 1981)."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)


def cosine(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided, device: Any = None,
           requires_grad: bool = False) -> Any:
    """Half a wave of the sine."""
    kw = arguments(checked("cosine", M, dtype, layout), device, requires_grad)
    if M == 0:
        return empty(0, **kw)
    step = math.pi / (M if sym or M == 1 else M + 1)
    return f.sin(points(M, 0.5 * step, (M - 0.5) * step, kw))


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: Any = None,
                layout: Any = dtypes.strided, device: Any = None, requires_grad: bool = False) -> Any:
    """exp(-|k - center| / tau)"""
    kw = arguments(checked("exponential", M, dtype, layout), device, requires_grad)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if M == 0:
        return empty(0, **kw)
    middle = (M - 1 if sym or M == 1 else M) / 2.0 if center is None else center
    return f.exp(-f.abs(points(M, -middle / tau, (M - 1 - middle) / tau, kw)))


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided, device: Any = None,
             requires_grad: bool = False) -> Any:
    """exp(-(k - middle)^2 / (2 std^2))"""
    kw = arguments(checked("gaussian", M, dtype, layout), device, requires_grad)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    if M == 0:
        return empty(0, **kw)
    middle = (M - 1 if sym or M == 1 else M) / 2.0
    scale = std * math.sqrt(2)
    return f.exp(-points(M, -middle / scale, (M - 1 - middle) / scale, kw) ** 2)


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided, device: Any = None,
           requires_grad: bool = False) -> Any:
    """I0(sqrt(beta^2 - k^2)) / I0(beta), k from -beta to beta"""
    kw = arguments(checked("kaiser", M, dtype, layout), device, requires_grad)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return (ones if M else empty)(M, **kw)
    top = tensor(beta, dtype=kw["dtype"])
    last = min(top.item(), (top * (2.0 * (M - 1) / (M - 1 if sym else M)) - top).item())
    i0 = f.late(f.LATER["i0"])
    return i0(f.sqrt(top * top - points(M, -top.item(), last, kw) ** 2)) / i0(top)
