"""Matrix products."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Value
from .._engine.op import A, B, Nary, Product
from .._engine.tensor import TensorBase

np: Final[Any] = numpy
DTYPE_NAMES: Final = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "int64": "long int", "int32": "int", "int16": "short int", "int8": "signed char", "uint8": "unsigned char",
    "bool": "bool",
}


def dtype_error(head: str, a: Array, b: Array) -> RuntimeError:
    return RuntimeError(
        f"{head} to have the same dtype, but got: {DTYPE_NAMES[a.dtype.name]} != {DTYPE_NAMES[b.dtype.name]}")


@final
class MmBackward0(Product):
    reads_a = B
    reads_b = A
    names: ClassVar[Any] = {"self": "a", "mat2": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        return a @ b

    def refuse(self, a: Array, b: Array) -> None:
        if a.ndim != 2:
            raise RuntimeError("self must be a matrix")
        if b.ndim != 2:
            raise RuntimeError("mat2 must be a matrix")
        if a.dtype != b.dtype:
            raise dtype_error("expected m1 and m2", a, b)
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})")

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return mm(g, shape.t(b))

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return mm(shape.t(a), g)


@final
class BmmBackward0(Product):
    reads_a = B
    reads_b = A
    names: ClassVar[Any] = {"self": "a", "mat2": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        return a @ b

    def refuse(self, a: Array, b: Array) -> None:
        if a.ndim != 3:
            raise RuntimeError("batch1 must be a 3D tensor")
        if b.ndim != 3:
            raise RuntimeError("batch2 must be a 3D tensor")
        if a.dtype != b.dtype:
            raise dtype_error("expected m1 and m2", a, b)
        n, _, k = a.shape
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{n}, {k}] but got: "
            f"[{b.shape[0]}, {b.shape[1]}].")

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return bmm(g, shape.mT(b))

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return bmm(shape.mT(a), g)


@final
class MvBackward0(Product):
    reads_a = B
    reads_b = A
    names: ClassVar[Any] = {"self": "a", "vec": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        return a @ b

    def refuse(self, a: Array, b: Array) -> None:
        if a.ndim != 2 or b.ndim != 1:
            raise RuntimeError(
                f"vector + matrix @ vector expected, got {1}, {a.ndim}, {b.ndim}")
        if a.shape[1] == b.shape[0]:
            raise dtype_error("expected mat and vec", a, b)
        raise RuntimeError(f"size mismatch, got input ({a.shape[0]}), mat ({a.shape[0]}x{a.shape[1]}), vec ({b.shape[0]})")

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return shape.unsqueeze(g, 1) * shape.unsqueeze(b, 0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return mv(shape.t(a), g)


@final
class DotBackward0(Product):
    reads_a = B
    reads_b = A
    names: ClassVar[Any] = {"self": "a", "tensor": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        if a.ndim != 1 or b.ndim != 1:
            raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
        return np.dot(a, b)

    def refuse(self, a: Array, b: Array) -> None:
        if a.dtype != b.dtype:
            kind = {"float32": "Float", "float64": "Double", "int64": "Long", "float16": "Half", "bool": "Bool"}
            raise RuntimeError(
                "dot : expected both vectors to have same dtype, but found "
                f"{kind.get(a.dtype.name, a.dtype.name)} and {kind.get(b.dtype.name, b.dtype.name)}")
        raise RuntimeError(
            "inconsistent tensor size, expected tensor "
            f"[{a.size}] and src [{b.size}] to have the same number of elements, but got {a.size} and {b.size} "
            "elements respectively")

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * b

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * a


@final
class AddmmBackward0(Nary):
    """beta * c + alpha * (a @ b)"""

    reads = 2 | 4
    shows: ClassVar[Any] = {"alpha": "alpha", "beta": "beta"}
    names: ClassVar[Any] = {"mat1": 1, "mat2": 2}

    def __init__(self, beta: Any, alpha: Any) -> None:
        super().__init__()
        self.beta: Any = beta
        self.alpha: Any = alpha

    def forward(self, xs: list[Array]) -> Array:
        c = xs[0]
        a = xs[1]
        b = xs[2]
        if a.ndim != 2 or b.ndim != 2:
            raise RuntimeError(
                f"{'mat1' if a.ndim != 2 else 'mat2'} must be a matrix, got {(a if a.ndim != 2 else b).ndim}-D tensor")
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(
                f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})")
        if a.dtype != b.dtype:
            raise dtype_error("mat1 and mat2 must have the same dtype, but got", a, b)
        if c.dtype != a.dtype:
            kind = {"float32": "Float", "float64": "Double", "int64": "Long", "float16": "Half", "bool": "Bool"}
            raise RuntimeError(
                f"self and mat2 must have the same dtype, but got {kind.get(c.dtype.name, c.dtype.name)} and "
                f"{kind.get(b.dtype.name, b.dtype.name)}")
        y = a @ b
        if self.alpha != 1:
            y *= self.alpha
        if self.beta == 0:
            return y
        try:
            y += c if self.beta == 1 else self.beta * c
        except ValueError:
            raise RuntimeError(
                f"The expanded size of the tensor ({y.shape[-1]}) must match the existing size ({c.shape[-1]}) at "
                f"non-singleton dimension {y.ndim - 1}.  Target sizes: {list(y.shape)}.  "
                f"Tensor sizes: {list(c.shape)}") from None
        return y

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        out: list[Value] = [None, None, None]
        if want[0]:
            out[0] = g if self.beta == 1 else g * self.beta
        if want[1]:
            out[1] = mm(g, shape.t(xs[2]))
            if self.alpha != 1:
                out[1] = out[1] * self.alpha
        if want[2]:
            out[2] = mm(shape.t(xs[1]), g)
            if self.alpha != 1:
                out[2] = out[2] * self.alpha
        return out


def mm(a: Value, b: Value) -> Value:
    return MmBackward0().run(a, b)


def bmm(a: Value, b: Value) -> Value:
    return BmmBackward0().run(a, b)


def mv(a: Value, b: Value) -> Value:
    return MvBackward0().run(a, b)


def dot(a: Value, b: Value) -> Value:
    return DotBackward0().run(a, b)


def addmm(c: Value, a: Value, b: Value, beta: Any = 1, alpha: Any = 1) -> Value:
    return AddmmBackward0(beta, alpha).run([c, a, b])


def matmul(a: Value, b: Value) -> Value:
    """As torch.matmul: vectors, matrices, batches (broadcast)."""
    na: int = a.ndim
    nb: int = b.ndim
    if na == 2 and nb == 2:
        return mm(a, b)
    if na == 2 and nb == 1:
        return mv(a, b)
    if na == 1 and nb == 1:
        return dot(a, b)
    if na == 0 or nb == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {na}D and {nb}D")
    if na == 1 and nb == 2:
        return shape.squeeze_added(mm(shape.unsqueeze(a, 0), b), 0)
    if na >= 3 and nb <= 2:                         # fold the batch into the rows
        lead = a.shape[:-1]
        flat = fold(a, (int(np.prod(lead)), a.shape[-1]))
        if nb == 1:
            return shape.unsafe_view(mv(flat, b), tuple(lead))
        y = mm(flat, b)
        return shape.unsafe_view(y, tuple(lead) + (b.shape[-1],))
    if na == 1:
        a = shape.unsqueeze(a, 0)
    k, m = a.shape[-2:]
    m2, n = b.shape[-2:]
    batch = batch_shape(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    count = int(np.prod(batch))
    ea = fold(shape.expand(a, batch + (k, m)), (count, k, m))
    eb = fold(shape.expand(b, batch + (m2, n)), (count, m2, n))
    y = shape.unsafe_view(bmm(ea, eb), batch + (k, n))
    return shape.squeeze_added(y, -2) if na == 1 else y


def fold(x: Value, to: Any) -> Value:
    """reshape: a view where memory allows, else of a copy."""
    if isinstance(x, TensorBase) and not x.array.flags.c_contiguous:
        return shape.unsafe_view(create.contiguous_copy(x), to)
    return shape.reshape(x, to)


def batch_shape(a: Any, b: Any) -> Any:
    n = max(len(a), len(b))
    out: list[int] = []
    for i in range(n):
        na = a[i - n + len(a)] if i >= n - len(a) else 1
        nb = b[i - n + len(b)] if i >= n - len(b) else 1
        if na != nb and na != 1 and nb != 1:
            raise RuntimeError(
                f"The size of tensor a ({na}) must match the size of tensor b ({nb}) at non-singleton dimension {i}")
        out.append(nb if na == 1 else na)
    return tuple(out)


from . import create, shape  # noqa: E402
