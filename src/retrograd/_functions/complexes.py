"""Complex tensors: made of real ones, shown as such, conjugated.  Of a real tensor these functions give the tensor itself."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import names
from .._engine.mirror import bits_of
from .._engine.tensor import TensorBase, wrap
from .._rules import cast, complexes, create, index
from .arguments import tensor
from .memory import storage_offset
from .outs import write_out

NUMBERS = (int, float, complex)             # `complex` is a function below


def pair(real: Any, imag: Any, op: Any, out: Any, function: str) -> Any:
    """op of two tensors of one floating-point dtype."""
    a, b = (names.SCALAR[x.array.dtype.name] for x in (real, imag))
    if a not in ("Half", "Float", "Double") or b not in ("Half", "Float", "Double"):
        raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {a} and {b}")
    if a != b:
        raise RuntimeError(f"Expected object of scalar type {a} but got scalar type {b} for second argument")
    if a == "Half":
        raise NotImplementedError("retrograd has no tensors of torch.complex32: write .float() first")
    y = op().run(real, imag)
    if out is not None and out.array.dtype != y.array.dtype:
        raise RuntimeError(f"Expected object of scalar type {names.SCALAR[y.array.dtype.name]} but got scalar type "
                           f"{names.SCALAR[out.array.dtype.name]} for argument 'out'")
    return y if out is None else write_out(y, out, function, real, imag)


def complex(real: Any, imag: Any, *, out: Any = None) -> Any:
    """real + i imag, of two float32 or two float64 tensors that broadcast."""
    return pair(real, imag, complexes.ComplexBackward0, out, "complex")


def polar(abs: Any, angle: Any, *, out: Any = None) -> Any:
    """abs (cos angle + i sin angle), of two float32 or two float64 tensors that broadcast."""
    return pair(abs, angle, complexes.PolarBackward0, out, "polar")


def view_as_real(input: Any) -> Any:
    """The memory of a complex tensor as pairs (real, imaginary), one dim more; a view."""
    if not is_complex(input):
        raise RuntimeError("view_as_real is only supported for complex tensors")
    if is_conj(input):
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view it as "
            "real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original.")
    return complexes.ViewAsRealBackward0().run(input)


def view_as_complex(input: Any) -> Any:
    """Pairs (real, imaginary) in the last dim, of size 2 and adjacent in memory, as complex numbers; a view."""
    x = input.array
    if x.dtype.name not in ("float32", "float64", "float16"):
        raise RuntimeError("view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar "
                           f"type: {names.SCALAR[x.dtype.name]}")
    if not x.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if x.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if x.strides[-1] != x.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % (2 * x.itemsize) for s, n in zip(x.strides[:-1], x.shape) if n > 1):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if storage_offset(input) % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    if x.dtype.itemsize == 2:
        raise NotImplementedError("retrograd has no tensors of torch.complex32: write .float() first")
    return complexes.ViewAsComplexBackward0().run(input)


def real(input: Any) -> Any:
    """The real part, a view; input itself where it is real."""
    if not is_complex(input):
        return input
    return index.select(parts(conj(input) if is_conj(input) else input), input.array.ndim, 0)


def imag(input: Any) -> Any:
    """The imaginary part of a complex tensor, a view."""
    if not is_complex(input):
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    both = complexes.NegViewBackward0().run(parts(conj(input))) if is_conj(input) else parts(input)
    return index.select(both, input.array.ndim, 1)


def parts(x: Any) -> Any:
    return complexes.ViewAsRealBackward0().run(x)


def conj(input: Any) -> Any:
    """The conjugate, a view."""
    return complexes.conj_view(input)


def conj_physical(input: Any, *, out: Any = None) -> Any:
    """The conjugate, computed."""
    if not is_complex(input):
        return input
    return complexes.ConjPhysicalBackward0().run(input)


def conj_physical_(input: Any) -> Any:
    """In place: the conjugate."""
    return complexes.ConjPhysicalBackward1().run_(input)


def resolve_conj(input: Any) -> Any:
    """A copy, if it is a conjugated view; else input."""
    return create.clone(input) if is_conj(input) else input


def resolve_neg(input: Any) -> Any:
    """A copy, if it is a negated view, as the imaginary part of a conjugate is; else input."""
    return create.clone(input) if is_neg(input) else input


def _neg_view(input: Any) -> Any:
    """The negative, a view."""
    return complexes.NegViewBackward0().run(input)


def _is_zerotensor(input: Any) -> bool:
    """Is it a tensor of zeros without memory?  There are none here."""
    return False


def is_conj(input: Any) -> bool:
    """Is it a view that shows memory conjugated?"""
    return bits_of(input)[0]


def is_neg(input: Any) -> bool:
    """Is it a view that shows memory negated?"""
    return bits_of(input)[1]


def is_complex(input: Any) -> bool:
    """Is the dtype complex?"""
    found: bool = tensor(input, "is_complex").array.dtype.kind == "c"
    return found


def isreal(input: Any) -> Any:
    """Is the imaginary part 0?  True everywhere where there is none."""
    x = input.array
    return wrap(x.imag == 0 if x.dtype.kind == "c" else np.ones(x.shape, np.bool_))


def part_setter(which: Any) -> Any:
    def put(x: TensorBase, value: Any) -> None:
        part = which(x)
        if not isinstance(value, TensorBase):
            if not isinstance(value, NUMBERS):
                raise index.unassignable(part, value)
            index.check_number(value, part.array.dtype)
            value = wrap(cast.converted(np.asarray(value), part.array.dtype))
        part.copy_(value)
    return put


T_real = property(real, part_setter(real), None, "The real part, a view; itself where it is real.")
T_imag = property(imag, part_setter(imag), None, "The imaginary part, a view.")
T__neg_view, T__is_zerotensor = _neg_view, _is_zerotensor
