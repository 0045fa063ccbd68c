"""Convolutions of any number of dimensions, and the sliding blocks they are made of.

As matrix products over sliding windows (im2col): Chellapilla, Puri and Simard, 2006.

    N batch   C channels in, O out   G groups   S spatial sizes in, P out   K kernel sizes
    x (N, C, *S)   w (O, C/G, *K)   y (N, O, *P)

One trilinear form, sum y w x, has three maps as its derivatives: y from (x, w), x from (y, w), w from (y, x).  Each is an
op, and the rules of each are the other two; a transposed convolution is the second map taken forward.
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.nary import Nary
from .._engine.node import Array, Shape, Value
from .._engine.op import Product, Unary
from .._kernels import kernel
from .inert_inputs import tied

np: Final[Any] = numpy
as_strided: Final[Any] = numpy.lib.stride_tricks.as_strided
convolve: Final[Any] = kernel("convolve")
convolve_x: Final[Any] = kernel("convolve_x")
convolve_w: Final[Any] = kernel("convolve_w")


class Geometry:
    """How windows lie: one number per spatial dim each, and the sizes x and the kernel have."""

    def __init__(
        self, stride: Shape, padding: Shape, dilation: Shape, groups: int, inside: Shape, kernel: Shape, outside: Shape = (),
    ) -> None:
        """outside: the sizes y has, where they are not all that windows allow."""
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.groups = groups
        self.inside = inside
        self.kernel = kernel
        out: list[int] = []
        for i in range(len(kernel)):
            reach = dilation[i] * (kernel[i] - 1) + 1
            out.append((inside[i] + 2 * padding[i] - reach) // stride[i] + 1)
        self.out: Shape = outside or tuple(out)
        self.pairs: Any = None                  # for kernels, which know two dims
        if len(kernel) == 2:
            self.pairs = inside + kernel + stride + padding + dilation + self.out
        elif len(kernel) == 1:
            self.pairs = (
                1, inside[0], 1, kernel[0], 1, stride[0], 0, padding[0], 1, dilation[0], 1, self.out[0])

    def flat(self, x: Array) -> Array:
        """x, y or w in C order, its spatial dims as two."""
        if x.ndim == 3:
            x = x.reshape(x.shape[0], x.shape[1], 1, x.shape[2])
        return np.ascontiguousarray(x)


def size(numbers: Shape) -> int:
    n = 1
    for s in numbers:
        n *= s
    return n


def padded(x: Array, geo: Geometry) -> Array:
    """Zeros around x, where the geometry wants them."""
    if not any(geo.padding):
        return x
    lead = x.ndim - len(geo.inside)
    to: list[int] = list(x.shape[:lead])
    where: list[Any] = [slice(None)] * lead
    for i in range(len(geo.inside)):
        p = geo.padding[i]
        n = geo.inside[i]
        to.append(n + 2 * p)
        where.append(slice(p, p + n))
    out = np.zeros(tuple(to), x.dtype)
    out[tuple(where)] = x
    return out


def windows(x: Array, geo: Geometry) -> Array:
    """Every window of x (N, C, *S), as a view (N, C, *K, *P) of x, or of a padded copy."""
    x = padded(x, geo)
    steps = x.strides[2:]
    strides: list[int] = list(x.strides[:2])
    for i in range(len(geo.kernel)):
        strides.append(steps[i] * geo.dilation[i])
    for i in range(len(geo.out)):
        strides.append(steps[i] * geo.stride[i])
    return as_strided(x, x.shape[:2] + geo.kernel + geo.out, tuple(strides), writeable=False)


def place(blocks: Array, geo: Geometry) -> Array:
    """The adjoint of `windows`: blocks (N, C, *K, *P) added up where they lie, (N, C, *S)."""
    lead = blocks.shape[:2]
    dims = len(geo.kernel)
    whole: list[int] = []
    for i in range(dims):
        whole.append(geo.inside[i] + 2 * geo.padding[i])
    out = np.zeros(lead + tuple(whole), blocks.dtype)
    at = [0] * dims
    for _ in range(size(geo.kernel)):
        where: list[Any] = [slice(None), slice(None)]
        for i in range(dims):
            start = at[i] * geo.dilation[i]
            where.append(slice(start, start + geo.stride[i] * (geo.out[i] - 1) + 1, geo.stride[i]))
        out[tuple(where)] += blocks[(slice(None), slice(None)) + tuple(at)]
        i = dims - 1
        while i >= 0:                           # the next kernel position
            at[i] += 1
            if at[i] < geo.kernel[i]:
                break
            at[i] = 0
            i -= 1
    if not any(geo.padding):
        return out
    inner: list[Any] = [slice(None), slice(None)]
    for i in range(dims):
        inner.append(slice(geo.padding[i], geo.padding[i] + geo.inside[i]))
    return np.ascontiguousarray(out[tuple(inner)])


def wide(x: Array) -> Array:
    """Half precision adds up in float32."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x


def back(y: Array, like: Array) -> Array:
    return y if y.dtype is like.dtype else y.astype(like.dtype)


def y_of(x: Array, w: Array, b: Array, geo: Geometry) -> Array:
    """y from (x, w): slide w over x; b (O,) or None is added."""
    n = x.shape[0]
    o = w.shape[0]
    groups = geo.groups
    if x.size == 0 or w.size == 0:
        return plus(np.zeros((n, o) + geo.out, x.dtype), b)
    if geo.pairs is not None:
        quick = convolve(geo.flat(x), geo.flat(w), b, geo.pairs, groups)
        if quick is not None:
            return quick.reshape((n, o) + geo.out)
    columns = windows(wide(x), geo).reshape(n, groups, w[0].size, size(geo.out))
    y = np.matmul(wide(w).reshape(groups, o // groups, w[0].size), columns)
    return back(plus(y.reshape((n, o) + geo.out), b), x)        # of half precision, rounded once


def plus(y: Array, b: Array) -> Array:
    """y (N, O, ...) with b (O,), or None, added in place."""
    if b is not None:
        y += b.reshape((-1,) + (1,) * (y.ndim - 2))
    return y


def x_of(y: Array, w: Array, b: Array, geo: Geometry) -> Array:
    """x from (y, w): every y spreads w around its place; b (C,) or None is added."""
    n = y.shape[0]
    groups = geo.groups
    o = w.shape[0]
    c = w.shape[1] * groups
    if y.size == 0 or w.size == 0:
        return plus(np.zeros((n, c) + geo.inside, y.dtype), b)
    if geo.pairs is not None:
        quick = convolve_x(geo.flat(y), geo.flat(w), geo.pairs, groups)
        if quick is not None:
            return plus(quick.reshape((n, c) + geo.inside), b)
    flat = wide(w).reshape(groups, o // groups, w[0].size).swapaxes(1, 2)
    blocks = np.matmul(flat, wide(y).reshape(n, groups, o // groups, size(geo.out)))
    return back(plus(place(blocks.reshape((n, c) + geo.kernel + geo.out), geo), b), y)


def w_of(y: Array, x: Array, geo: Geometry) -> Array:
    """w from (y, x): how each y met each x in a window."""
    n = y.shape[0]
    o = y.shape[1]
    groups = geo.groups
    c = x.shape[1]
    to = (o, c // groups) + geo.kernel
    if y.size == 0 or x.size == 0:
        return np.zeros(to, y.dtype)
    if geo.pairs is not None:
        quick = convolve_w(geo.flat(y), geo.flat(x), geo.pairs, groups)
        if quick is not None:
            return quick.reshape(to)
    dims = len(geo.kernel)
    order = tuple(range(1, 2 + dims)) + (0,) + tuple(range(2 + dims, 2 + 2 * dims))
    p = n * size(geo.out)
    columns = windows(wide(x), geo).transpose(order).reshape(groups, c // groups * size(geo.kernel), p)
    flat = wide(y).swapaxes(0, 1).reshape(groups, o // groups, p)
    return back(np.matmul(flat, columns.swapaxes(1, 2)).reshape(to), y)


class Convolution(Product):
    """One of the three maps."""

    def __init__(self, geo: Geometry) -> None:
        self.geo: Geometry = geo


@final
class ConvolutionY(Convolution):
    """y as a map of (x, w)."""

    def name(self) -> str:
        return "ConvolutionBackward0"

    def forward(self, a: Array, b: Array) -> Array:
        return y_of(a, b, None, self.geo)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return ConvolutionX(self.geo).run(g, b)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return ConvolutionW(self.geo).run(g, a)


@final
class ConvolutionX(Convolution):
    """x as a map of (y, w)."""

    def name(self) -> str:
        return "ConvolutionBackwardBackward0"

    def forward(self, a: Array, b: Array) -> Array:
        return x_of(a, b, None, self.geo)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return ConvolutionY(self.geo).run(g, b)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return ConvolutionW(self.geo).run(a, g)


@final
class ConvolutionW(Convolution):
    """w as a map of (y, x)."""

    def name(self) -> str:
        return "ConvolutionBackwardBackward0"

    def forward(self, a: Array, b: Array) -> Array:
        return w_of(a, b, self.geo)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return ConvolutionY(self.geo).run(b, g)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return ConvolutionX(self.geo).run(a, g)


@final
class ConvolutionBackward0(Nary):
    """x, w and b (or None); `transposed`: x takes the place of y, and the result that of x."""

    lends = False
    names: ClassVar[Any] = {"input": 0, "weight": 1}
    shows: ClassVar[Any] = {
        "stride": "stride", "padding": "padding", "dilation": "dilation", "groups": "groups",
        "transposed": "transposed", "output_padding": "extra", "bias_sym_sizes_opt": "bias"}

    def __init__(self, geo: Geometry, transposed: bool, extra: Shape, bias: Any) -> None:
        super().__init__()
        self.geo: Geometry = geo
        self.transposed = transposed
        self.extra = extra
        self.bias: Any = bias
        self.stride: Shape = geo.stride
        self.padding: Shape = geo.padding
        self.dilation: Shape = geo.dilation
        self.groups: int = geo.groups

    def forward(self, xs: list[Array]) -> Array:
        if self.transposed:
            return x_of(xs[0], xs[1], xs[2], self.geo)
        return y_of(xs[0], xs[1], xs[2], self.geo)

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        out: list[Value] = [None, None, None]
        geo = self.geo
        if self.transposed:
            if want[0]:
                out[0] = ConvolutionY(geo).run(g, xs[1])
            if want[1]:
                out[1] = ConvolutionW(geo).run(xs[0], g)
        else:
            if want[0]:
                out[0] = ConvolutionX(geo).run(g, xs[1])
            if want[1]:
                out[1] = ConvolutionW(geo).run(g, xs[0])
        if want[2]:
            out[2] = tied(reduce.sum_dims(g, (0,) + tuple(range(2, 2 + len(geo.kernel))), False), xs[:2],
                          "ConvolutionBackwardBackward0")
        return out


@final
class Im2ColBackward0(Unary):
    """Windows as columns: (N, C, H, W) -> (N, C * prod K, prod P)."""

    shows: ClassVar[Any] = {
        "kernel_size": "kernel", "dilation": "dilation", "padding": "padding", "stride": "stride",
        "self_sym_argsize_minus_1": "width", "self_sym_argsize_minus_2": "height"}

    def __init__(self, geo: Geometry) -> None:
        self.geo: Geometry = geo
        self.kernel: Shape = geo.kernel
        self.dilation: Shape = geo.dilation
        self.padding: Shape = geo.padding
        self.stride: Shape = geo.stride
        self.width: int = geo.inside[1]
        self.height: int = geo.inside[0]

    def forward(self, x: Array) -> Array:
        lead = x.shape[:-2]
        batch = x.reshape((-1,) + x.shape[-3:])
        y = windows(batch, self.geo).reshape(batch.shape[0], batch.shape[1] * size(self.geo.kernel), size(self.geo.out))
        return y if len(lead) == 2 else y[0]

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return Col2ImBackward0(self.geo).run(g)


@final
class Col2ImBackward0(Unary):
    """Columns added up where their windows lie: the adjoint of Im2Col."""

    shows: ClassVar[Any] = {
        "kernel_size": "kernel", "dilation": "dilation", "padding": "padding", "stride": "stride"}

    def __init__(self, geo: Geometry) -> None:
        self.geo: Geometry = geo
        self.kernel: Shape = geo.kernel
        self.dilation: Shape = geo.dilation
        self.padding: Shape = geo.padding
        self.stride: Shape = geo.stride

    def forward(self, x: Array) -> Array:
        batch = x if x.ndim == 3 else x[None]
        c = batch.shape[1] // size(self.geo.kernel)
        y = place(batch.reshape((batch.shape[0], c) + self.geo.kernel + self.geo.out), self.geo)
        return y if x.ndim == 3 else y[0]

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return Im2ColBackward0(self.geo).run(g)


def convolution(x: Value, w: Value, b: Value, geo: Geometry, transposed: bool, extra: Shape) -> Value:
    bias: Any = (0,) if b is None else tuple(b.shape)
    return ConvolutionBackward0(geo, transposed, extra, bias).run([x, w, b])


def unfold(x: Value, geo: Geometry) -> Value:
    return Im2ColBackward0(geo).run(x)


def fold(x: Value, geo: Geometry) -> Value:
    return Col2ImBackward0(geo).run(x)


from . import reduce  # noqa: E402
