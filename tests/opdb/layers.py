"""Rows of convolution, pooling, padding, normalisation, resizing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .table import ALL, WIDE, Make, Op, S, Samples, f32


def padded(x: Any, pads: Sequence[int], value: float = 0.0) -> Any:
    """The last len(pads) dims by pads[i] on both sides."""
    widths = [(0, 0)] * (x.ndim - len(pads)) + [(p, p) for p in pads]
    return np.pad(x, widths, constant_values=value)


def each(n: int, v: Any) -> tuple[int, ...]:
    return (v,) * n if isinstance(v, int) else tuple(v)


def conv(n: int) -> Callable[..., Any]:
    def ref(x: Any, w: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1) -> Any:
        stride, padding, dilation = each(n, stride), each(n, padding), each(n, dilation)
        if x.ndim == n + 1:
            return ref(x[None], w, bias, stride, padding, dilation, groups)[0]
        x = padded(x, padding)
        out_sizes = [(s - d * (k - 1) - 1) // t + 1 for s, k, t, d in zip(x.shape[2:], w.shape[2:], stride, dilation)]
        out = np.zeros((x.shape[0], w.shape[0], *out_sizes))
        per_in, per_out = w.shape[1], w.shape[0] // groups
        for o in range(w.shape[0]):
            g = o // per_out
            for at in np.ndindex(*out_sizes):
                window = tuple(slice(a * t, a * t + d * (k - 1) + 1, d) for a, t, d,
                    k in zip(at, stride, dilation, w.shape[2:]))
                part = x[(slice(None), slice(g * per_in, (g + 1) * per_in), *window)]
                out[(slice(None), o, *at)] = (part * w[o]).sum(tuple(range(1, n + 2)))
        return out if bias is None else out + bias.reshape(-1, *[1] * n)

    return ref


def conv_transpose(n: int) -> Callable[..., Any]:
    def ref(x: Any, w: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, dilation: Any = 1) -> Any:
        stride, padding, dilation, extra = each(n, stride), each(n, padding), each(n, dilation), each(n, output_padding)
        full = [(s - 1) * t + d * (k - 1) + 1 + e for s, t, d, k, e in zip(x.shape[2:], stride, dilation, w.shape[2:],
            extra)]
        out = np.zeros((x.shape[0], w.shape[1] * groups, *full))
        per_in = x.shape[1] // groups
        for i in range(x.shape[1]):
            g = i // per_in
            for at in np.ndindex(*x.shape[2:]):
                window = tuple(slice(a * t, a * t + d * (k - 1) + 1, d) for a, t, d,
                    k in zip(at, stride, dilation, w.shape[2:]))
                rows = slice(g * w.shape[1], (g + 1) * w.shape[1])
                out[(slice(None), rows, *window)] += x[(slice(None), i, *at)].reshape(-1, 1, *[1] * n) * w[i][None]
        out = out[(slice(None), slice(None), *[slice(p, s - p) for p, s in zip(padding, full)])]
        return out if bias is None else out + bias.reshape(-1, *[1] * n)

    return ref


def pool(n: int, how: Callable[..., Any], fill: float) -> Callable[..., Any]:
    def ref(x: Any, size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
        count_include_pad: bool = True) -> Any:
        k, p, d = each(n, size), each(n, padding), each(n, dilation)
        t = k if stride is None else each(n, stride)
        lead = x.shape[: x.ndim - n]
        x = padded(x, p, fill)
        sizes = [(s - b * (a - 1) - 1) // c + 1 for s, a, b, c in zip(x.shape[-n:], k, d, t)]
        out = np.zeros((*lead, *sizes))
        for at in np.ndindex(*sizes):
            window = tuple(slice(i * c, i * c + b * (a - 1) + 1, b) for i, a, b, c in zip(at, k, d, t))
            out[(Ellipsis, *at)] = how(x[(Ellipsis, *window)], axis=tuple(range(-n, 0)))
        return out

    return ref


def adaptive(n: int, how: Callable[..., Any]) -> Callable[..., Any]:
    def ref(x: Any, size: Any) -> Any:
        want = each(n, size)
        out = np.zeros((*x.shape[: x.ndim - n], *want))
        for at in np.ndindex(*want):
            window = tuple(slice(i * s // o, -(-(i + 1) * s // o)) for i, o, s in zip(at, want, x.shape[-n:]))
            out[(Ellipsis, *at)] = how(x[(Ellipsis, *window)], axis=tuple(range(-n, 0)))
        return out

    return ref


SPACES = {1: (5,), 2: (4, 5), 3: (3, 4, 3)}


def convs(n: int) -> Samples:
    def samples(m: Make) -> Iterator[S]:
        space, k = SPACES[n], (2,) * n
        yield S(m.x(2, 2, *space), m.x(3, 2, *k), m.x(3))
        yield S(m.t(1, 2, *space), m.x(2, 2, *k), None, 2, 1)
        if n < 3:
            yield S(m.x(2, 4, *space), m.x(2, 2, *k), m.x(2), groups=2, dilation=2)
            yield S(m.x(2, *space), m.x(3, 2, *k), m.x(3)).by("SqueezeBackward1")

    return samples


def transposed_convs(n: int) -> Samples:
    def samples(m: Make) -> Iterator[S]:
        space, k = (3,) * n if n < 3 else (2, 2, 2), (2,) * n
        yield S(m.x(2, 2, *space), m.x(2, 3, *k), m.x(3))
        if n < 3:
            yield S(m.x(1, 4, *space), m.x(4, 2, *k), None, stride=2, padding=1, output_padding=1, groups=2)

    return samples


def pools(n: int, padding: bool = True) -> Samples:
    def samples(m: Make) -> Iterator[S]:
        space = SPACES[n]
        yield S(m.x(2, 2, *space), 2)
        yield S(m.t(1, 2, *space), 2, 1)
        if padding:
            yield S(m.x(1, 2, *space), 3, 2, 1)

    return samples


def pads(m: Make) -> Iterator[S]:
    yield S(m.x(2, 3), (1, 2))
    yield S(m.t(2, 3), (1, 0, 0, 2), "constant", 1.5 if m.floats else 1)
    yield S(m.x(3, 4), (-1, 1))


def pad(x: Any, widths: Any, mode: str = "constant", value: float = 0.0) -> Any:
    pairs = [(0, 0)] * (x.ndim - len(widths) // 2) + [(widths[i], widths[i + 1]) for i in range(len(widths) - 2, -1,
        -2)]
    cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(pairs, x.shape))
    grow = [(max(a, 0), max(b, 0)) for a, b in pairs]
    how = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    return np.pad(x[cut], grow, mode=how,
        **({"constant_values": value} if mode == "constant" else {}))  # type: ignore[call-overload]


def mirror_pads(mode: str) -> Samples:
    def samples(m: Make) -> Iterator[S]:
        end = {"reflect": "ReflectionPad", "replicate": "ReplicationPad"}.get(mode)
        for n, widths in ((1, (1, 2)), (2, (1, 2, 2, 0)), (3, (1, 1, 0, 1, 1, 0))):
            s = S(m.x(1, 2, *SPACES[n]), widths, mode)
            yield s.by(f"{end}{n}DBackward0") if end else s

    return samples


def layer_norm(x: Any, shape: Any, w: Any = None, b: Any = None, eps: float = 1e-5) -> Any:
    axes = tuple(range(-len(shape), 0))
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)
    return (y if w is None else y * w) + (0 if b is None else b)


def batch_norm(x: Any, mean: Any, var: Any, w: Any = None, b: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5) -> Any:
    axes = tuple(i for i in range(x.ndim) if i != 1)
    to = [-1 if i == 1 else 1 for i in range(x.ndim)]
    if training:
        mean, var = x.mean(axes), x.var(axes)
    y = (x - mean.reshape(to)) / np.sqrt(var.reshape(to) + eps)
    return (y if w is None else y * w.reshape(to)) + (0 if b is None else b.reshape(to))


def group_norm(x: Any, groups: int, w: Any = None, b: Any = None, eps: float = 1e-5) -> Any:
    to = [-1 if i == 1 else 1 for i in range(x.ndim)]
    parts = x.reshape(x.shape[0], groups, -1)
    y = ((parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + eps)).reshape(x.shape)
    return (y if w is None else y * w.reshape(to)) + (0 if b is None else b.reshape(to))


def rms_norm(x: Any, shape: Any, w: Any = None, eps: float = 1e-5) -> Any:
    y = x / np.sqrt((x * x).mean(tuple(range(-len(shape), 0)), keepdims=True) + eps)
    return y if w is None else y * w


def nearest(x: Any, scale: int) -> Any:
    for axis in range(2, x.ndim):
        x = np.repeat(x, scale, axis)
    return x


def linear_resize(x: Any, size: Any) -> Any:
    """Half-pixel centres, edges clamped."""
    for axis, want in zip(range(2, x.ndim), size):
        n = x.shape[axis]
        at = np.maximum((np.arange(want) + 0.5) * n / want - 0.5, 0)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, n - 1)
        part = (at - low).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        x = np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part
    return x


def pixel_shuffle(x: Any, r: int) -> Any:
    n, c, h, w = x.shape
    return x.reshape(n, c // r**2, r, r, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // r**2, h * r, w * r)


def pixel_unshuffle(x: Any, r: int) -> Any:
    n, c, h, w = x.shape
    return x.reshape(n, c, h // r, r, w // r, r).transpose(0, 1, 3, 5, 2, 4).reshape(n, c * r**2, h // r, w // r)


def im2col(x: Any, k: int, stride: int = 1) -> Any:
    n, c, h, w = x.shape
    cols = [x[:, :, i : i + k, j : j + k].reshape(n, -1) for i in range(0, h - k + 1, stride) for j in range(0,
        w - k + 1, stride)]
    return np.stack(cols, -1)


def col2im(x: Any, size: Any, k: int, stride: int = 1) -> Any:
    n, ck, _ = x.shape
    out = np.zeros((n, ck // k**2, *size))
    places = [(i, j) for i in range(0, size[0] - k + 1, stride) for j in range(0, size[1] - k + 1, stride)]
    for column, (i, j) in enumerate(places):
        out[:, :, i : i + k, j : j + k] += x[:, :, column].reshape(n, -1, k, k)
    return out


def F(name: str, samples: Samples, ref: Any, **kw: Any) -> Op:
    kw.setdefault("dtypes", WIDE)
    kw.setdefault("tol", 10)
    row = kw.pop("row", name)
    return Op(f"F.{row}", samples, ref, path=f"nn.functional.{name}", **kw)


LAYERS = [
    *[F(f"conv{n}d", convs(n), conv(n), node="ConvolutionBackward0") for n in (1, 2, 3)],
    *[F(f"conv_transpose{n}d", transposed_convs(n), conv_transpose(n), node="ConvolutionBackward0") for n in (1, 2, 3)],
    F("unfold", lambda m: iter([S(m.x(2, 2, 3, 4), 2), S(m.x(1, 1, 4, 4), 2, stride=2)]), im2col,
       node="Im2ColBackward0", twice=True),
    F("fold", lambda m: iter([S(m.x(2, 8, 6), (3, 4), 2), S(m.x(1, 4, 4), (4, 4), 2, stride=2)]), col2im,
       node="Col2ImBackward0", twice=True),
    F("max_pool1d", pools(1), pool(1, np.max, -np.inf), exact=True),
    F("max_pool2d", pools(2), pool(2, np.max, -np.inf), node="MaxPool2DWithIndicesBackward0", exact=True),
    F("max_pool3d", pools(3), pool(3, np.max, -np.inf), node="MaxPool3DWithIndicesBackward0", exact=True),
    F("avg_pool1d", pools(1), pool(1, np.mean, 0.0)),
    F("avg_pool2d", pools(2), pool(2, np.mean, 0.0), node="AvgPool2DBackward0"),
    F("avg_pool3d", pools(3, False), pool(3, np.mean, 0.0), node="AvgPool3DBackward0"),
    F("adaptive_avg_pool1d", lambda m: iter([S(m.x(1, 2, 5), 3)]), adaptive(1, np.mean)),
    F("adaptive_avg_pool2d", lambda m: iter([S(m.x(1, 2, 4, 5), (3, 2)), S(m.t(1, 2, 4, 5), 2)]), adaptive(2, np.mean),
       node="AdaptiveAvgPool2DBackward0"),
    F("adaptive_avg_pool3d", lambda m: iter([S(m.x(1, 1, 4, 3, 3), 2)]), adaptive(3, np.mean),
       node="AdaptiveAvgPool3DBackward0"),
    F("adaptive_max_pool1d", lambda m: iter([S(m.x(1, 2, 5), 3)]), adaptive(1, np.max), exact=True),
    F("adaptive_max_pool2d", lambda m: iter([S(m.x(1, 2, 4, 5), (3, 2))]), adaptive(2, np.max),
       node="AdaptiveMaxPool2DBackward0", exact=True),
    F("adaptive_max_pool3d", lambda m: iter([S(m.x(1, 1, 4, 3, 3), 2)]), adaptive(3, np.max),
       node="AdaptiveMaxPool3DBackward0", exact=True),
    F("pad", pads, pad, node="ConstantPadNdBackward0", dtypes=ALL, result="first", twice=True, exact=True),
    F("pad", mirror_pads("reflect"), pad, row="pad_reflect", exact=True),
    F("pad", mirror_pads("replicate"), pad, row="pad_replicate", exact=True),
    F("pad", mirror_pads("circular"), pad, row="pad_circular", exact=True, twice=None),
    F("layer_norm", lambda m: iter([S(m.x(3, 4), (4,)), S(m.x(2, 3, 4), (3, 4), m.x(3, 4), m.x(3, 4)),
       S(m.t(3, 4), (4,), m.x(4))]), layer_norm,
      node="NativeLayerNormBackward0", tol=40),
    F("batch_norm", lambda m: iter([S(m.x(4, 3), m.x(3), m.x(3, low=0.5), m.x(3), m.x(3)),
       S(m.t(4, 3), m.x(3), m.x(3, low=0.5))]), batch_norm,
      node="NativeBatchNormBackward0", fixed=(1, 2), tol=40),
    F("batch_norm", lambda m: iter([S(m.x(4, 3, 2), None, None, m.x(3), m.x(3), True),
       S(m.t(4, 3), None, None, None, None, True)]), batch_norm,
      row="batch_norm_training", node="NativeBatchNormBackward0", tol=40),
    F("group_norm", lambda m: iter([S(m.x(2, 4, 3), 2, m.x(4), m.x(4)), S(m.x(2, 4), 2)]), group_norm,
       node="NativeGroupNormBackward0", tol=40),
    F("instance_norm", lambda m: iter([S(m.x(2, 3, 4))]), lambda x: group_norm(x, x.shape[1]), tol=40),
    F("rms_norm", lambda m: iter([S(m.x(3, 4), (4,), None, 1e-5), S(m.x(3, 4), (4,), m.x(4), 1e-5)]), rms_norm, tol=40,
       twice=None),
    F("embedding", lambda m: iter([S(m.i(4, 2, 3), m.x(4, 3)), S(m.i(4, 5), m.t(4, 3))]), lambda i, w: w[i],
       node="EmbeddingBackward0", exact=True),
    F("one_hot", lambda m: iter([S(m.i(4, 5), 4)]), lambda i, n: np.eye(n, dtype=np.int64)[i], grad=False,
       dtypes=(f32,), result="int64", exact=True),
    *[F("interpolate", lambda m, n=n: iter([S(m.x(1, 2, *SPACES[n]), scale_factor=2)]),  # type: ignore[misc]
        lambda x, scale_factor: nearest(x,
            scale_factor), row=f"upsample_nearest{n}d", node=f"UpsampleNearest{n}DBackward0", exact=True, twice=None)
      for n in (1, 2, 3)],
    *[F("interpolate", lambda m, n=n, mode=mode: iter([S(m.x(1, 1, *SPACES[n]), size=tuple(s + 2 for s in SPACES[n]),
        mode=mode)]),  # type: ignore[misc]
        lambda x, size, mode: linear_resize(x,
            size), row=f"upsample_{mode}", node=f"Upsample{mode.capitalize()}{n}DBackward0", twice=None)
      for n, mode in ((1, "linear"), (2, "bilinear"), (3, "trilinear"))],
    F("pixel_shuffle", lambda m: iter([S(m.x(1, 8, 2, 3), 2)]), pixel_shuffle, node="PixelShuffleBackward0",
       twice=True, exact=True),
    F("pixel_unshuffle", lambda m: iter([S(m.x(1, 2, 4, 6), 2)]), pixel_unshuffle, node="PixelUnshuffleBackward0",
       twice=True, exact=True),
]
