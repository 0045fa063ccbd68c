"""Matrix products.

Half precision adds up in float32.  Letters: n, m, p rows and columns (n, m) @ (m, p); batches come first.
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine import names
from .._engine.node import Array, Shape, Value
from .._engine.op import Binary, Product
from .._engine.tensor import TensorBase, wants_grad
from .._engine.warn import instead
from .._kernels import kernel
from .inert_inputs import tied
from .packed import packed

np: Final[Any] = numpy
SINGLE: Final[Any] = numpy.dtype("float32")
DOUBLE: Final[Any] = numpy.dtype("float64")
quick_matmul: Final[Any] = kernel("matmul")
complex_products: Final[Any] = kernel("complex_products")
multiply: Final[Any] = kernel("multiply")
quick_distances: Final[Any] = kernel("distances")


def kind(x: Array) -> str:
    """A dtype as PyTorch's C++ calls it: Float, Long, ..."""
    return names.SCALAR.get(x.dtype.name, x.dtype.name)


def raw(x: Value) -> Array:
    """The array of a value, for what has no derivative (signs, masks)."""
    return x.array if isinstance(x, TensorBase) else x


def sizes(x: Value) -> Shape:
    found: Shape = x.array.shape if isinstance(x, TensorBase) else x.shape
    return found


def product(a: Array, b: Array, op: str) -> Array:
    """a @ b; `op` names PyTorch's kernel in the error for bools."""
    dtype = a.dtype
    if dtype is SINGLE or dtype is DOUBLE:
        quick = quick_matmul(a, b)
        if quick is None:
            quick = multiply(a, b)
        if quick is not None:
            return quick
        return a.dot(b) if a.ndim <= 2 and b.ndim <= 2 else a @ b       # dot: the same BLAS call, half the overhead
    if dtype.kind == "b":
        raise NotImplementedError(f"\"{op}\" not implemented for 'Bool'")
    y = unrounded(a, b, op)
    return y if y.dtype is dtype else y.astype(dtype)


def unrounded(a: Array, b: Array, op: str) -> Array:
    """The same, but that of half precision is left in float32."""
    dtype = a.dtype
    if dtype.itemsize == 2 and dtype.kind in "fV":
        return a.astype(SINGLE) @ b.astype(SINGLE)
    if dtype.kind == "c":
        quick = complex_products(a, b)
        return a @ b if quick is None else quick
    return product(a, b, op) if dtype is SINGLE or dtype is DOUBLE or dtype.kind == "b" else a @ b


def no_product(a: Array, b: Array) -> RuntimeError:
    return RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})")


def expand_to(x: Array, to: Shape, scale: Any) -> Array:
    """scale * x, checked to broadcast to `to` in PyTorch's words."""
    try:
        np.broadcast_to(x, to)
    except ValueError:
        raise instead(index.expand_error(to, x.shape, names.SHOWN[x.dtype.name])) from None
    return x if scale == 1 else x * np.asarray(scale).astype(x.dtype)


@final
class MmBackward0(Product):
    names: ClassVar[Any] = {"self": "a", "mat2": "b"}
    turned: bool = False                        # b is a transposed matrix, and its gradient shall lie as it does

    def quick(self, a: Array, b: Array) -> Array:
        dtype = a.dtype
        if (dtype is not SINGLE and dtype is not DOUBLE) or b.dtype is not dtype:
            return None
        if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
            return None
        return quick_matmul(a, b)               # not product: NumPy's would tell of floating-point flags here

    def forward(self, a: Array, b: Array) -> Array:
        if a.ndim != 2 or b.ndim != 2:
            self.refuse(a, b)
        self.turned = b.flags.fnc
        return product(a, b, "addmm_impl_cpu_")

    def refuse(self, a: Array, b: Array) -> None:
        if a.ndim != 2:
            raise RuntimeError("self must be a matrix")
        if b.ndim != 2:
            raise RuntimeError("mat2 must be a matrix")
        if a.shape[1] != b.shape[0]:
            raise no_product(a, b)
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {names.C[a.dtype.name]} != {names.C[b.dtype.name]}")

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return mm(g, shape.t(b))

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return shape.t(mm(shape.t(g), a)) if self.turned else mm(shape.t(a), g)


@final
class BmmBackward0(Product):
    names: ClassVar[Any] = {"self": "a", "mat2": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        if a.ndim != 3 or b.ndim != 3 or a.shape[0] != b.shape[0]:
            self.refuse(a, b)
        if b.strides[0] == 0 and a.shape[0] > 1 and a.shape[2] == b.shape[1]:       # one matrix, expanded: as vmap makes it
            n, m, k = a.shape
            return product(a.reshape(n * m, k), b[0], "bmm").reshape(n, m, b.shape[2])
        if a.shape[2] == 1 and b.shape[1] == 1 and a.dtype is b.dtype and (a.dtype is SINGLE or a.dtype is DOUBLE):
            return a * b                        # outer products: no BLAS call for each
        return product(a, b, "bmm")

    def refuse(self, a: Array, b: Array) -> None:
        if a.ndim != 3:
            raise RuntimeError("batch1 must be a 3D tensor")
        if b.ndim != 3:
            raise RuntimeError("batch2 must be a 3D tensor")
        check_batches(a, b)
        raise RuntimeError(f"expected scalar type {kind(a)} but found {kind(b)}")

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return bmm(g, shape.mT(b))

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return bmm(shape.mT(a), g)


def check_batches(a: Array, b: Array) -> None:
    if b.shape[0] != a.shape[0] or b.shape[1] != a.shape[2]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a.shape[0]}, {a.shape[2]}] but got: "
            f"[{b.shape[0]}, {b.shape[1]}].")


@final
class MvBackward0(Product):
    names: ClassVar[Any] = {"self": "a", "vec": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        if a.ndim != 2 or b.ndim != 1:
            self.refuse(a, b)
        return product(a, b, "addmv_impl_cpu")

    def refuse(self, a: Array, b: Array) -> None:
        if a.ndim != 2 or b.ndim != 1:
            raise RuntimeError(f"vector + matrix @ vector expected, got 1, {a.ndim}, {b.ndim}")
        n, m = a.shape
        if m != b.shape[0]:
            raise RuntimeError(f"size mismatch, got input ({n}), mat ({n}x{m}), vec ({b.shape[0]})")
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {kind(b)}, {kind(a)}, and {kind(b)}")

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return shape.unsqueeze(g, 1) * shape.unsqueeze(b, 0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return mv(shape.t(a), g)


def check_dot(a: Array, b: Array) -> None:
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {kind(a)} and {kind(b)}")
    if a.size != b.size:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the same number of "
            f"elements, but got {a.size} and {b.size} elements respectively")


class DotOf(Product):
    def forward(self, a: Array, b: Array) -> Array:
        check_dot(a, b)
        return product(a, b, "dot")

    def refuse(self, a: Array, b: Array) -> None:
        check_dot(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * b

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * a


@final
class DotBackward0(DotOf):
    names: ClassVar[Any] = {"self": "a", "tensor": "b"}


@final
class VdotBackward0(DotOf):
    """conj(a) . b"""

    conjugates = False

    def forward(self, a: Array, b: Array) -> Array:
        if a.dtype.kind != "c":
            return super().forward(a, b)
        check_dot(a, b)
        y: Array = np.vdot(a, b)
        return y if np.isfinite(y) else super().forward(np.conjugate(a), b)        # which keeps an infinite part

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return complexes.conj(g) * b


@final
class LinalgCrossBackward0(Binary):
    shows: ClassVar[Any] = {"dim": "dim"}

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, a: Array, b: Array) -> Array:
        return np.cross(a, b, axis=self.dim)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return cross(b, g, self.dim)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return cross(g, a, self.dim)


@final
class CdistBackward0(Product):
    """p-norm of every a[i] - b[j]"""

    names: ClassVar[Any] = {"x1": "a", "x2": "b", "result": "y"}
    shows: ClassVar[Any] = {"p": "p"}

    def __init__(self, p: float) -> None:
        self.p = p

    def forward(self, a: Array, b: Array) -> Array:
        self.unlike = (a.shape, a.dtype, b.shape, b.dtype)
        quick = quick_distances(a, b, self.p)
        if quick is not None:
            return quick
        return packed(moment.norm_of(a[..., :, None, :] - b[..., None, :, :], self.p, (-1,), False))

    def pairs(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        d = shape.unsqueeze(a, -2) - shape.unsqueeze(b, -3)
        if self.p == 0:
            return d * 0
        return moment.norm_grad(shape.unsqueeze(g, -1), d, shape.unsqueeze(y, -1), self.p, (len(sizes(d)) - 1,), True)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return tied(reduce.sum_dims(self.pairs(g, a, b, y), (len(sizes(g)) - 1,), False), [a, b], "CdistBackwardBackward0")

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return tied(-reduce.sum_dims(self.pairs(g, a, b, y), (len(sizes(g)) - 2,), False), [a, b], "CdistBackwardBackward0")


def mm(a: Value, b: Value) -> Value:
    return MmBackward0().run(a, b)


def bmm(a: Value, b: Value) -> Value:
    return BmmBackward0().run(a, b)


def mv(a: Value, b: Value) -> Value:
    return MvBackward0().run(a, b)


def dot(a: Value, b: Value) -> Value:
    return DotBackward0().run(a, b)


def vdot(a: Value, b: Value) -> Value:
    return VdotBackward0().run(a, b)


def cross(a: Value, b: Value, dim: int) -> Value:
    return LinalgCrossBackward0(dim).run(a, b)


def count(sizes_: Shape) -> int:
    n = 1
    for s in sizes_:
        n *= s
    return n


def wants(x: Value) -> bool:
    return isinstance(x, TensorBase) and wants_grad(x)


def matmul(a: Value, b: Value) -> Value:
    """As torch.matmul: vectors, matrices, batches (broadcast)."""
    if not isinstance(a, TensorBase) and not isinstance(b, TensorBase):
        return product(a, b, "bmm")
    for x in (a, b):
        if not isinstance(x, (TensorBase, np.ndarray)):
            return NotImplemented
    na: int = a.ndim
    nb: int = b.ndim
    if na == 2 and nb == 2:
        return mm(a, b)
    if na == 0 or nb == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {na}D and {nb}D")
    if na == 2 and nb == 1:
        return mv(a, b)
    if na == 1 and nb == 1:
        return dot(a, b)
    if na == 1 and nb == 2:
        return shape.squeeze_added(mm(shape.unsqueeze(a, 0), b), 0)
    if nb <= 2 and foldable(a, b):
        return rows(a, b)
    if na <= 2 and foldable(shape.mT(raw(b)), a) and (na == 1 or wants(a)):
        y = rows(shape.mT(b), shape.t(a) if na == 2 else a)
        return y if na == 1 else contiguous(shape.mT(y))
    sa = sizes(a)
    sb = sizes(b)
    if na == 3 and nb == 3 and sa[0] != sb[0]:      # never expand what wants a gradient: the gradient would be as big
        if sa[0] == 1 and wants(a):
            return matmul(shape.squeeze_dim(a, 0), b)
        if sb[0] == 1 and wants(b):
            return matmul(a, shape.squeeze_dim(b, 0))
    n = sa[-2] if na > 1 else 1
    p = sb[-1] if nb > 1 else 1
    batch = batch_shape(sa[:-2], sb[:-2])
    number = count(batch)
    eb = shape.unsqueeze(b, 1) if nb == 1 else b
    m2 = sizes(eb)[-2]
    left = shape.fold(shape.expand(a, batch + (n, sa[-1])), (number, n, sa[-1]))
    right = shape.fold(shape.expand(eb, batch + (m2, p)), (number, m2, p))
    y = bmm(left, right)
    if nb == 1:
        y = shape.squeeze_dim(y, 2)
    if na > 1:
        batch = batch + (n,)
    if nb > 1:
        batch = batch + (p,)
    return shape.unsafe_view(y, batch)


def rows(x: Value, w: Value) -> Value:
    """A batch x times one matrix or vector w: the batch folded into the rows."""
    lead = sizes(x)[:-1]
    flat = shape.fold(x, (count(lead), sizes(x)[-1]))
    if w.ndim == 1:
        return shape.unsafe_view(mv(flat, w), lead)
    y = mm(flat, w)
    return shape.unsafe_view(y, lead + (sizes(w)[1],))


def foldable(x: Value, w: Value) -> bool:
    """Fold when that needs no copy, or when the gradient of w would else be formed for every batch."""
    if len(sizes(x)) < 3:
        return False
    if wants(w):
        return True
    at: Array = raw(x)
    if at.size == 0:
        return True
    for i in range(at.ndim - 2):
        if at.strides[i] != at.strides[i + 1] * at.shape[i + 1]:
            return False
    return True


def contiguous(x: Value) -> Value:
    if isinstance(x, TensorBase):
        return x if x.array.flags.c_contiguous else create.contiguous_copy(x)
    return np.ascontiguousarray(x)


def batch_shape(a: Shape, b: Shape) -> Shape:
    n = max(len(a), len(b))
    out: list[int] = []
    for i in range(n - 1, -1, -1):
        na = a[i - n + len(a)] if i >= n - len(a) else 1
        nb = b[i - n + len(b)] if i >= n - len(b) else 1
        if na != nb and na != 1 and nb != 1:
            raise RuntimeError(
                f"The size of tensor a ({na}) must match the size of tensor b ({nb}) at non-singleton dimension {i}")
        out.append(nb if na == 1 else na)
    return tuple(out[::-1])


def contract(a: Value, b: Value, summed: list[int]) -> Value:
    """sum over some dims of a * b; both have the same dims, size 1 where an operand lacks one.  Dims are kept.

    As one batched product: dims of both, of a alone, summed, of b alone.
    """
    if not summed:
        return a * b
    both: list[int] = []
    left: list[int] = []
    right: list[int] = []
    total = 1
    for i in range(len(sizes(a))):
        na = sizes(a)[i]
        nb = sizes(b)[i]
        if i in summed:
            if na != 1 and nb != 1:
                total *= na
            elif na != 1:
                a = reduce.sum_dims(a, (i,), True)
            elif nb != 1:
                b = reduce.sum_dims(b, (i,), True)
        elif na != 1 and nb != 1:
            both.append(i)
        elif na != 1:
            left.append(i)
        else:
            right.append(i)
    sa = sizes(a)
    sb = sizes(b)
    n_both = [sa[i] for i in both]
    n_left = [sa[i] for i in left]
    n_right = [sb[i] for i in right]
    batch = count(tuple(n_both))
    n = count(tuple(n_left))
    p = count(tuple(n_right))
    fa = shape.fold(shape.permute(a, tuple(both + left + summed + right)), (batch, n, total))
    fb = shape.fold(shape.permute(b, tuple(both + summed + right + left)), (batch, total, p))
    y = shape.reshape(bmm(fa, fb), tuple(n_both + n_left + [1] * len(summed) + n_right))
    order = both + left + summed + right
    back = [0] * len(order)
    for i in range(len(order)):
        back[order[i]] = i
    return shape.permute(y, tuple(back))


from . import complexes, create, index, moment, reduce, shape  # noqa: E402
