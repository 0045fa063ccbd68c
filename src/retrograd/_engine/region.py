"""Which elements of a base a view shows, said without reference to either's memory."""
from __future__ import annotations

from typing import Any, Final

import numpy

from .. import _kernels
from .node import Array, Shape

np: Final[Any] = numpy
quick_address: Final[Any] = _kernels.address
ndarray: Final[Any] = numpy.ndarray


class Region:
    """A view within its base.  Both are sizes and strides over one run of memory.

    A base in C order that holds all of the view is that run itself.  Else (strides, gaps, elements shown twice, a view that
    reaches beyond its base) `base_at` and `view_at` say where in the run their elements lie, and a gradient of the base
    gets the base's strides, as in PyTorch.
    """

    def __init__(self, base: Array, view: Array, shift: int = 0, conj: bool = False, neg: bool = False) -> None:
        """shift: bytes from where the view is to where it would be, were it no mirror: NOTE [Lazy conjugates] in mirror.py"""
        self.conj: bool = conj
        self.neg: bool = neg
        self.split: bool = base.dtype.kind == "c" and view.dtype.kind == "f"     # the view shows parts of complex numbers
        self.whole: bool = base.dtype.kind == "f" and view.dtype.kind == "c"     # ... complex numbers made of the base's
        if self.split:
            base = parts_of(base)
        elif self.whole:
            view = parts_of(view)
        size = base.itemsize
        self.shape: Shape = base.shape
        self.view_shape: Shape = view.shape
        self.offset: int = (address(view) + shift - address(base)) // size if view.size else 0
        self.strides: Shape = steps_of(view)
        self.base_strides: Shape = ()
        self.start: int = 0                     # of the base in the run
        self.span: int = 0
        self.base_at: Any = None
        self.view_at: Any = None
        self.times: Any = None                  # how often the base shows each place, where it shows one twice
        last = self.offset + reach(self.view_shape, self.strides)
        if base.flags.c_contiguous and self.offset >= 0 and last < base.size:
            return
        self.base_strides = steps_of(base)
        self.start = max(0, -self.offset)
        first = self.start + self.offset
        self.span = 1 + max(
            self.start + reach(self.shape, self.base_strides), first + reach(self.view_shape, self.strides))
        self.base_at = self.start + offsets(self.shape, self.base_strides).reshape(-1)
        self.view_at = first + offsets(self.view_shape, self.strides).reshape(-1)
        if overlaps(self.shape, self.base_strides):
            self.times = np.maximum(np.bincount(self.base_at, minlength=self.span), 1.0)

    def of(self, whole: Array) -> Array:
        """The view's elements of `whole`, shaped like the base: a view of it where it can be one."""
        if self.split:
            whole = parts_of(np.ascontiguousarray(whole))
        part = self.within(whole)
        return self.turned(whole_of(np.ascontiguousarray(part)) if self.whole else part)

    def turned(self, part: Array) -> Array:
        """What lies in the base as the view shows it, and back."""
        if self.conj:
            part = np.conjugate(part)
        return np.negative(part) if self.neg else part

    def within(self, whole: Array) -> Array:
        if self.base_at is not None:
            return self.view_of(self.spread(whole))
        return self.view_of(whole if whole.flags.c_contiguous else np.ascontiguousarray(whole))

    def lay(self, whole: Array) -> tuple[Array, Array]:
        """A copy of `whole` laid out as the base is, and the view of it, not `turned`."""
        if self.split:
            out, part = self.laid(parts_of(np.ascontiguousarray(whole)))
            return whole_of(out), part
        out, part = self.laid(whole)
        return out, whole_of(part) if self.whole else part

    def laid(self, whole: Array) -> tuple[Array, Array]:
        if self.base_at is not None:
            run = self.spread(whole)
            return self.base_of(run), self.view_of(run)
        out = np.array(whole, order="C")
        return out, self.view_of(out)

    def sum(self, part: Array) -> Array:
        """Zeros of the base's shape with the view's elements added in; those that the view shows several times add up."""
        part = self.turned(part)
        out = self.summed(parts_of(np.ascontiguousarray(part)) if self.whole else part)
        return whole_of(out) if self.split else out

    def summed(self, part: Array) -> Array:
        if self.base_at is not None and part.size:
            run = np.zeros(self.span, part.dtype)
            np.add.at(run, self.view_at, np.ascontiguousarray(part).reshape(-1))
            if self.times is not None:
                run = (run / self.times).astype(part.dtype)
            return self.base_of(run)
        out = np.zeros(self.shape, part.dtype)
        if overlaps(self.view_shape, self.strides):
            np.add.at(out.reshape(-1), self.view_of(np.arange(out.size)).reshape(-1), np.ascontiguousarray(part).reshape(-1))
        else:
            self.view_of(out)[...] = part
        return out

    def blank(self, dtype: Any) -> Array:
        """Zeros like the view of a base of that dtype."""
        if self.split:
            return np.zeros(self.view_shape, "float64" if dtype.itemsize == 16 else "float32")
        if self.whole:
            return np.zeros(self.view_shape[:-1], "complex128" if dtype.itemsize == 8 else "complex64")
        return np.zeros(self.view_shape, dtype)

    def spread(self, whole: Array) -> Array:
        """The run with the base's elements in their places; where the base shows one twice, their mean."""
        run = np.zeros(self.span, whole.dtype)
        if self.times is None:
            run[self.base_at] = whole.reshape(-1)
            return run
        np.add.at(run, self.base_at, whole.reshape(-1))
        return (run / self.times).astype(whole.dtype)


    def base_of(self, run: Array) -> Array:
        return strided(run, self.shape, self.start, self.base_strides)

    def view_of(self, run: Array) -> Array:
        return strided(run, self.view_shape, self.start + self.offset, self.strides)


def parts_of(x: Array) -> Array:
    """The memory of complex numbers as pairs of real ones: one dim more, at the end."""
    return x[..., None].view("float64" if x.dtype.itemsize == 16 else "float32")


def whole_of(x: Array) -> Array:
    """The memory of pairs of real numbers as complex ones."""
    return x.view("complex128" if x.dtype.itemsize == 8 else "complex64")[..., 0]


def as_strided(x: Array, sizes: Shape, strides: Shape) -> Array:
    """Memory of x's, from its first element on."""
    return np.lib.stride_tricks.as_strided(x, sizes, strides)


def strided(run: Array, sizes: Shape, start: int, strides: Shape) -> Array:
    """Elements of an array in C order, by strides in elements."""
    size = run.itemsize
    return ndarray(sizes, run.dtype, run, start * size, tuple([s * size for s in strides]))


def address(x: Array) -> int:
    quick: Any = None if quick_address is None else quick_address(x)
    at: int = x.__array_interface__["data"][0] if quick is None else quick
    return at


def steps_of(x: Array) -> Shape:
    """Strides in elements."""
    size = x.itemsize
    return tuple([s // size for s in x.strides])


def reach(shape: Shape, strides: Shape) -> int:
    """Where the last element lies, counted from the first; -1 where there is none."""
    last = 0
    for n, s in zip(shape, strides):
        if n == 0:
            return -1
        last += (n - 1) * s
    return last


def offsets(shape: Shape, strides: Shape) -> Array:
    """Where every element lies, counted from the first."""
    out = np.zeros(shape, np.intp)
    for axis in range(len(shape)):
        steps = np.arange(shape[axis]) * strides[axis]
        out += steps.reshape((-1,) + (1,) * (len(shape) - axis - 1))
    return out


def overlaps(shape: Shape, strides: Shape) -> bool:
    """May two index tuples reach one element?  (Exact for what views of dense arrays can be.)"""
    far = 0
    for s, n in sorted([(abs(s), n) for s, n in zip(strides, shape) if n > 1]):
        if s <= far:
            return True
        far += s * (n - 1)
    return False
