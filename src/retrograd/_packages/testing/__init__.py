"""torch.testing: assert_close, and tensors of random numbers to test with."""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from retrograd._engine.promote import promote_types
from retrograd._engine.tensor import TensorBase
from retrograd._functions import empty, randint, tensor, view_as_real
from retrograd._missing import late_names
from retrograd._tensor import dtypes

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
late_names(__name__)
TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
              "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}
NUMBERS = (int, float, complex, np.number)


def assert_close(actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None,
                 atol: float | None = None, equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True,
                 check_layout: bool = True, check_stride: bool = False, msg: str | Callable[[str], str] | None = None) -> None:
    """AssertionError unless |actual - expected| <= atol + rtol |expected| everywhere, of tensors, arrays, numbers, and
    sequences and mappings of them.  Without tolerances those of the dtype, (1.3e-6, 1e-5) for float32, are taken.

    msg                the message, or a function of the one that would be shown
    equal_nan          True: NaN equals NaN
    check_dtype        False: dtypes may differ; check_stride=True: strides may not
    check_device       False: one may be on the meta device, whose tensors have no values to compare
    allow_subclasses   False: the types of both must be one; otherwise one of them must be derived from the other
    check_layout       accepted without effect: all tensors are strided
    TypeError for what cannot be compared.
    """
    if (rtol is None) != (atol is None):
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no "
                         f"{'rtol' if rtol is None else 'atol'}.")
    try:
        Comparison(rtol, atol, equal_nan, check_dtype, check_stride, check_device, allow_subclasses).compare(actual, expected, ())
    except Mismatch as e:
        text = str(e)
        error = AssertionError(text if msg is None else msg(text) if callable(msg) else msg)
    else:
        return
    raise error


class Mismatch(Exception):
    """What assert_close says."""


class Comparison:
    """assert_close's arguments, and what it compares them by."""

    def __init__(self, rtol: float | None, atol: float | None, equal_nan: bool, check_dtype: bool, check_stride: bool,
                 check_device: bool, allow_subclasses: bool) -> None:
        self.rtol, self.atol, self.equal_nan = rtol, atol, equal_nan
        self.check_dtype, self.check_stride = check_dtype, check_stride
        self.check_device, self.allow_subclasses = check_device, allow_subclasses

    def compare(self, a: Any, b: Any, at: tuple[Any, ...]) -> None:
        if isinstance(a, Sequence) and isinstance(b, Sequence) and not isinstance(a, str) and not isinstance(b, str):
            if len(a) != len(b):
                raise told(f"The length of the sequences mismatch: {len(a)} != {len(b)}", at)
            for i, (x, y) in enumerate(zip(a, b)):
                self.compare(x, y, (*at, i))
        elif isinstance(a, Mapping) and isinstance(b, Mapping):
            missing, extra = [k for k in b if k not in a], [k for k in a if k not in b]
            if missing or extra:
                raise told("The keys of the mappings do not match:\n"
                           f"Missing keys in the actual mapping: {sorted(missing, key=str)}\n"
                           f"Additional keys in the actual mapping: {sorted(extra, key=str)}", at)
            for key in a:
                self.compare(a[key], b[key], (*at, key))
        elif a is None or b is None:
            if a is not b:
                raise told(f"None mismatch: {a} is not {b}", at)
        elif isinstance(a, (bool, np.bool_)) and isinstance(b, (bool, np.bool_)):
            if a is not b:
                raise told(f"Booleans mismatch: {bool(a)} is not {bool(b)}", at)
        elif isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
            a, b = (x.item() if isinstance(x, np.number) else x for x in (a, b))
            if type(a) is not type(b) and self.check_dtype:
                raise told(f"The (d)types do not match: {type(a)} != {type(b)}.", at)
            self.numbers(a, b, *self.tolerances("int64" if isinstance(a, int) and isinstance(b, int) else "float64"), at)
        elif isinstance(a, (TensorBase, np.ndarray)) and (type(a) is type(b) or self.allow_subclasses and (
                isinstance(a, type(b)) or isinstance(b, type(a)))):
            self.arrays(a, b, at)
        else:
            raise TypeError(f"No comparison pair was able to handle inputs of type {named(a)} and {named(b)}.")

    def tolerances(self, *names: str) -> tuple[float, float]:
        """(rtol, atol): those given, or the larger ones of the dtypes."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        found = [TOLERANCES.get(name, (0.0, 0.0)) for name in names]
        return max(r for r, _ in found), max(a for _, a in found)

    def numbers(self, a: Any, b: Any, rtol: float, atol: float, at: tuple[Any, ...]) -> None:
        if a == b or (self.equal_nan and a != a and b != b):
            return
        gap = abs(a - b)
        if np.isfinite(gap) and gap <= atol + rtol * abs(b):
            return
        relative = gap / abs(b) if b else float("inf")
        equal = rtol == 0 and atol == 0
        raise told(
            f"Scalars are not {'equal' if equal else 'close'}!\n\nExpected {b} but got {a}.\n"
            f"Absolute difference: {gap}{'' if equal else f' (up to {atol} allowed)'}\n"
            f"Relative difference: {relative}{'' if equal else f' (up to {rtol} allowed)'}", at)

    def arrays(self, a: Any, b: Any, at: tuple[Any, ...]) -> None:
        x, y = (t.array if isinstance(t, TensorBase) else t for t in (a, b))
        meta = [getattr(t, "is_meta", False) for t in (a, b)]
        if x.shape != y.shape:
            raise told(f"The values for attribute 'shape' do not match: {size(x)} != {size(y)}.", at)
        if self.check_device and meta[0] != meta[1]:
            raise told(f"The values for attribute 'device' do not match: {a.device} != {b.device}.", at)
        if self.check_dtype and x.dtype != y.dtype:
            raise told(f"The values for attribute 'dtype' do not match: {dtypes.of(x.dtype)} != {dtypes.of(y.dtype)}.", at)
        if self.check_stride and x.strides != y.strides:
            strides = [tuple(s // v.itemsize for s in v.strides) for v in (x, y)]
            raise told(f"The values for attribute 'stride()' do not match: {strides[0]} != {strides[1]}.", at)
        if any(meta):
            return
        rtol, atol = self.tolerances(x.dtype.name, y.dtype.name)
        dtype = promote_types(x.dtype, y.dtype)
        own = dtype
        if dtype.kind == "b":
            dtype = np.dtype(np.int64)
        elif dtype.kind == "V" or dtype.itemsize == 2 and dtype.kind == "f":
            dtype = np.dtype(np.float32)
        x, y = x.astype(dtype), y.astype(dtype)
        with np.errstate(all="ignore"):
            gap = np.abs(x - y)
            fine = (x == y) | (np.isfinite(gap) & (gap <= atol + rtol * np.abs(y)))
            if self.equal_nan:
                fine |= (x != x) & (y != y)
            if fine.all():
                return
            if not x.ndim:
                self.numbers(x.item(), y.item(), rtol, atol, at)
            gap = np.where(fine, gap.dtype.type(0), gap)
            single = dtype if dtype.kind == "f" else np.dtype(np.float32)
            relative = (gap / np.abs(y).astype(single)).astype(own if own.kind in "fV" else np.float32)
            relative = np.where(fine, np.float64(0), relative.astype(np.float64))
        equal = rtol == 0 and atol == 0
        wrong = int((~fine).sum())
        lines = [f"Tensor-likes are not {'equal' if equal else 'close'}!", "",
                 f"Mismatched elements: {wrong} / {x.size} ({wrong / x.size:.1%})"]
        for name, values, limit in (("absolute", gap, atol), ("relative", relative, rtol)):
            place = int(np.argmax(values))
            index = tuple(int(i) for i in np.unravel_index(place, x.shape))
            lines.append(f"Greatest {name} difference: {values.flat[place].item()} at index {index}"
                         + ("" if equal else f" (up to {limit} allowed)"))
        raise told("\n".join(lines), at)


def told(text: str, at: tuple[Any, ...]) -> Mismatch:
    return Mismatch(text + (f"\n\nThe failure occurred for item {''.join(f'[{k!r}]' for k in at)}" if at else ""))


def size(x: Any) -> str:
    return f"torch.Size({list(x.shape)})"


def named(x: Any) -> str:
    return str(type(x)).replace("retrograd.", "torch.")


def assert_allclose(actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True,
                    msg: str = "") -> None:
    """assert_close(actual, expected, rtol=, atol=, equal_nan=, msg=) whatever the dtypes, with wider tolerances.  Deprecated."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please use "
        "`torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.", FutureWarning, stacklevel=2)
    actual = actual if isinstance(actual, TensorBase) else tensor(actual)
    expected = expected if isinstance(expected, TensorBase) else tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        wider = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}
        pairs = [wider.get(x.array.dtype.name, (0.0, 0.0)) for x in (actual, expected)]
        rtol, atol = max(r for r, _ in pairs), max(a for _, a in pairs)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def make_tensor(
    *shape: Any, dtype: Any, device: Any, low: float | None = None, high: float | None = None, requires_grad: bool = False,
    noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None,
) -> Any:
    """Random numbers between low and high; without these between -9 and 9, for integers from -9 to 9, 0 to 9 without a sign.

    shape           ints, or one sequence of them
    noncontiguous   True: every other element of a larger tensor; exclude_zero: zeros become the smallest positive number

    https://pytorch.org/docs/stable/testing.html#torch.testing.make_tensor
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    if noncontiguous and memory_format is not None:
        raise ValueError(f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got {noncontiguous=} "
                         f"and {memory_format=}")
    floating = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not floating:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    noncontiguous = noncontiguous and math.prod(sizes) > 1
    if noncontiguous:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    least, most, first, last = (0, 2, 0, 2) if dtype is dtypes.bool else (
        dtypes.finfo(dtype).min, dtypes.finfo(dtype).max, -9, 9) if floating else (
        dtypes.iinfo(dtype).min, dtypes.iinfo(dtype).max + (dtype is not dtypes.int64), -9, 10)
    low, high = first if low is None else low, last if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low > high or (low == high and not floating):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if high < least or low >= most:
        raise ValueError(f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports "
                         f"[{least}, {most})")
    low, high = min(max(low, least), most), min(max(high, least), most)
    if floating:
        made: Any = empty(sizes, dtype=dtype, device=device)
        numbers = view_as_real(made) if dtype.is_complex else made
        span = numbers.array.dtype.type(high) - numbers.array.dtype.type(low) if numbers.array.dtype.kind == "f" else high - low
        if np.isfinite(np.float64(span)):
            numbers.uniform_(low, high)
        else:
            numbers.uniform_(low / 2, high / 2).mul_(2)
    else:
        made = randint(math.ceil(low), math.ceil(high), sizes, dtype=dtype, device=device)
    if noncontiguous:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = dtypes.finfo(dtype).tiny if floating else 1
    return made.requires_grad_() if requires_grad else made
