"""Padding: F.pad."""
from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from .._engine.tensor import TensorBase, wrap
from .._rules import index, slices
from .._rules import pad as pads
from .arguments import kernel, tensor
from .fromdata import check_room

MODES = ("constant", "reflect", "replicate", "circular")


def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """Grow (or, with negative numbers, cut) the last dims; `pad` is (before, after) of the last dim, of the
    one before it, ...

    mode 'constant' (value, 0), 'reflect', 'replicate' or 'circular'.
    """
    x = tensor(input, "pad")
    if not isinstance(pad, (tuple, list)):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {type(pad).__name__}")
    amounts = tuple(int(p) for p in pad)
    for i, n in enumerate(amounts):
        if not -2**63 <= n < 2**63:
            raise TypeError(f"pad(): argument 'pad' failed to unpack the object at pos {i + 1} with error \"Overflow when "
                            "unpacking long long\"")
    if mode not in MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(amounts) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(amounts) > 2 * x.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(amounts)} and input of dimension {x.ndim}")
    sizes = [n + low + high for n, (high, low) in zip(x.array.shape[::-1], zip(*[iter(amounts)] * 2), strict=False)][::-1]
    if math.prod(sizes) * x.array.itemsize >= 2**63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={sizes}")
    if min(sizes, default=0) > 0:
        check_room(tuple(sizes), x.array.dtype)
    if mode == "constant":
        return constant_pad_nd(x, amounts, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    dims = len(amounts) // 2
    if x.ndim in (dims + 1, dims + 2) and 1 <= dims <= 3:
        pairs = paired(amounts)
        if mode == "reflect":
            return mirror(x, amounts, pairs, True)
        if mode == "replicate":
            return mirror(x, amounts, pairs, False)
        return circular(x, pairs)
    raise NotImplementedError(
        f"Padding size {len(amounts)} is not supported for {x.ndim}D input tensor.\n"
        "Supported combinations for non-constant padding:\n"
        "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
        "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
        "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)")


def paired(amounts: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """(before, after) of each padded dim, in the order of the dims."""
    return tuple((amounts[i], amounts[i + 1]) for i in range(len(amounts) - 2, -1, -2))


def constant_pad_nd(input: Any, pad: Any, value: Any = 0) -> Any:
    """F.pad with a constant, value."""
    amounts = tuple(int(p) for p in pad)
    if len(amounts) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(amounts)}")
    if len(amounts) > 2 * input.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(amounts)}while the input has {input.ndim}dimensions.")
    pairs = paired(amounts)
    for (before, after), n in zip(pairs, input.array.shape[input.ndim - len(pairs):], strict=True):
        if n + before + after < 0 or n + min(before, 0) + min(after, 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    return pads.constant(input, pairs, value)


BATCH = {
    1: "2D or 3D (batch mode) tensor with possibly 0 batch size",
    2: "3D or 4D (batch mode) tensor with possibly 0 batch size",
    3: "4D or 5D (batch mode) tensor with possibly 0 batch size",
}


def mirror(x: Any, amounts: tuple[int, ...], pairs: Any, reflect: bool) -> Any:
    dims = len(pairs)
    sizes = tuple(x.array.shape)
    if 0 in sizes[1:] or (x.ndim == dims + 1 and 0 in sizes):
        raise RuntimeError(
            f"Expected {BATCH[dims]} and other non-zero dimensions for input, but got: {list(sizes)}")
    for i, (before, after) in reversed([*enumerate(pairs)]):      # the last dim is looked at first
        at = x.ndim - dims + i
        n = sizes[at]
        if reflect and (before >= n or after >= n):
            raise RuntimeError(
                f"Argument #{4 + 2 * (dims - 1 - i)}: Padding size should be less than the corresponding input "
                "dimension, "
                f"but got: padding ({before}, {after}) at dimension {at} of input {list(sizes)}")
    spaces = sizes[x.ndim - dims:]
    out = [n + before + after for n, (before, after) in zip(spaces, pairs, strict=True)]
    if max(out) < 1:
        raise RuntimeError(too_small(spaces, out, reflect))
    kernel(f"{'reflection' if reflect else 'replication'}_pad{dims}d", x, "b")
    if min(out) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {next(n for n in out if n < 0)}: "
                           f"{[*sizes[:x.ndim - dims], *out]}")
    maps = [map_of(n, before, after, reflect) for n, (before, after) in zip(spaces, pairs, strict=True)]
    return (pads.reflect if reflect else pads.replicate)(x, maps, amounts)


@lru_cache(64)                                          # each layer asks again and again
def map_of(n: int, before: int, after: int, reflect: bool) -> Any:
    """Which of n each place shows."""
    where = np.arange(-before, n + after)
    if reflect and n > 1:
        where = (n - 1) - np.abs((n - 1) - np.abs(where))
    return np.clip(where, 0, n - 1)


def too_small(sizes: Any, out: list[int], reflect: bool) -> str:
    have, want = ("".join(f", {a}: {n}" if a == "W" else f" {a}: {n}" for a, n in zip("DHW"[3 - len(sizes):], of, strict=True))
                  for of in (sizes, out))
    end = " " if len(sizes) == 2 and not reflect else ""
    return f"input ({have.strip(', ')}{end}) is too small. Calculated output {want.strip(', ').replace(',', '')}"


def circular(x: Any, pairs: Any) -> Any:
    """The ends wrap around: written piece by piece into a new tensor, so that its history reads as PyTorch's."""
    dims = len(pairs)
    first = x.ndim - dims
    sizes = list(x.array.shape)
    for i, (before, after) in enumerate(pairs):
        n = sizes[first + i]
        if before > n or after > n:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if n + before + after < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        sizes[first + i] = n + before + after
    out = wrap(np.empty(tuple(sizes), x.array.dtype))
    target: Any = out
    source: Any = x
    for i, (before, after) in enumerate(pairs):
        at = first + i
        target = cut(target, at, max(before, 0), sizes[at] - max(after, 0))
        source = cut(source, at, max(-before, 0), x.array.shape[at] - max(-after, 0))
    index.copy_(target, source)
    for i in range(dims - 1, -1, -1):
        before, after = pairs[i]
        at, n = first + i, sizes[first + i]
        low, high = max(before, 0), n - max(after, 0)
        step = high - low                       # what is there by now; less, it may be, than what is to come
        if n == 0 or max(before, after) <= 0:
            continue
        if step <= 0:
            raise RuntimeError("Padding value causes wrapping around more than once.\nCutting leaves nothing to repeat.")
        for end in range(before, 0, -step):
            start = max(end - step, 0)
            index.copy_(cut(out, at, start, end), cut(out, at, start + step, end + step))
        for start in range(high, n, step):
            end = min(start + step, n)
            index.copy_(cut(out, at, start, end), cut(out, at, start - step, end - step))
    return out


def cut(x: TensorBase, dim: int, start: int, end: int) -> Any:
    """x[start:end] along a dim; x itself when that is all of it, as PyTorch's slice of a whole dim does."""
    return slices.SliceBackward0(dim, start, end, 1).run(x)
