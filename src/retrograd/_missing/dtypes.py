"""dtypes of PyTorch's that programs name, compare with and look up in tables: their attributes, and no tensors."""
from __future__ import annotations

from typing import Final

from .._engine import names
from .._tensor import dtypes
from .._tensor.dtypes import dtype, new

__all__ = [
    "complex128", "cdouble", "complex64", "cfloat", "complex32", "chalf", "uint16", "uint32", "uint64",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2",
    "qint8", "qint32", "quint8", "quint4x2", "quint2x4", "bits8", "bits16", "bits1x8", "bits2x4", "bits4x2",
    "int1", "int2", "int3", "int4", "int5", "int6", "int7", "uint1", "uint2", "uint3", "uint4", "uint5", "uint6", "uint7", "bit",
]


def _named(name: str, scalar: str, abbr: str = "", size: int = 1, signed: bool | None = True) -> dtype:
    return new(name, scalar, names.C.get(name, f"c10::{scalar}"), abbr or name, size, signed)


complex128 = cdouble = _named("complex128", "ComplexDouble", "c128", 16)
complex64 = cfloat = _named("complex64", "ComplexFloat", "c64", 8)
complex32 = chalf = _named("complex32", "ComplexHalf", "c32", 4)
uint16 = _named("uint16", "UInt16", "u16", 2, False)
uint32 = _named("uint32", "UInt32", "u32", 4, False)
uint64 = _named("uint64", "UInt64", "u64", 8, False)
float8_e4m3fn = _named("float8_e4m3fn", "Float8_e4m3fn", "f8e4m3fn")
float8_e4m3fnuz = _named("float8_e4m3fnuz", "Float8_e4m3fnuz", "f8e4m3fnuz")
float8_e5m2 = _named("float8_e5m2", "Float8_e5m2", "f8e5m2")
float8_e5m2fnuz = _named("float8_e5m2fnuz", "Float8_e5m2fnuz", "f8e5m2fnuz")
float8_e8m0fnu = _named("float8_e8m0fnu", "Float8_e8m0fnu", "f8e8m0fnu", signed=False)
float4_e2m1fn_x2 = _named("float4_e2m1fn_x2", "Float4_e2m1fn_x2", "f4e2m1fnx2")
qint8 = _named("qint8", "QInt8", signed=None)
qint32 = _named("qint32", "QInt32", size=4, signed=None)
quint8 = _named("quint8", "QUInt8", signed=None)
quint4x2 = _named("quint4x2", "QUInt4x2", signed=None)
quint2x4 = _named("quint2x4", "QUInt2x4", signed=None)
bits8 = _named("bits8", "Bits8", "b8x1", signed=None)
bits16 = _named("bits16", "Bits16", "b16x1", 2, None)
bits1x8 = _named("bits1x8", "Bits1x8", "b1x8", signed=None)
bits2x4 = _named("bits2x4", "Bits2x4", "b2x4", signed=None)
bits4x2 = _named("bits4x2", "Bits4x2", "b4x2", signed=None)
int1, int2, int3, int4, int5, int6, int7 = [_named(f"int{i}", f"Int{i}") for i in range(1, 8)]
uint1, uint2, uint3, uint4, uint5, uint6, uint7 = [_named(f"uint{i}", f"UInt{i}", signed=False) for i in range(1, 8)]
bit = uint1

_COMPLEX: Final = {dtypes.float64: complex128, dtypes.float32: complex64, dtypes.float16: complex32, dtypes.bfloat16: complex64}
_PARTS: Final = {complex128: dtypes.float64, complex64: dtypes.float32, complex32: dtypes.float16}
# (eps, largest, smallest, smallest normal).  Source: Open Compute Project, 8-bit Floating Point Specification; Noune et al. 2022
_LIMITS: Final = {
    float8_e4m3fn: (2.0**-3, 448.0, -448.0, 2.0**-6), float8_e4m3fnuz: (2.0**-3, 240.0, -240.0, 2.0**-7),
    float8_e5m2: (2.0**-2, 57344.0, -57344.0, 2.0**-14), float8_e5m2fnuz: (2.0**-3, 57344.0, -57344.0, 2.0**-15),
    float8_e8m0fnu: (1.0, 2.0**127, 2.0**-127, 2.0**-127)}


def whole(d: dtype) -> dtype:
    """The complex dtype with parts of `d`."""
    found = d if d.is_complex else _COMPLEX.get(d)
    if found is None:
        raise RuntimeError(f"Unknown Complex ScalarType for {d.scalar}")
    return found


def parts(d: dtype) -> dtype:
    """The dtype of the parts of a complex one."""
    return _PARTS[d]


def limits(d: dtype) -> tuple[float, float, float, float]:
    """eps, largest, smallest and smallest normal number of a float dtype of one byte."""
    if d not in _LIMITS:
        raise NotImplementedError(f"\"epsilon\" not implemented for '{d.scalar}'")
    return _LIMITS[d]


def promoted(a: dtype, b: dtype) -> dtype:
    """promote_types of two dtypes, one of which is one of these.  Complex wins; most others do not promote."""
    kinds, both = a.scalar + " " + b.scalar, f"{a.scalar} and {b.scalar}"
    if kinds.startswith("Q") or " Q" in kinds:
        raise RuntimeError(
            "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules should be, offending "
            f"types: {kinds}")
    if "Bits" in kinds:
        raise RuntimeError(f"Promotion from {both} is unsupported.")
    if "Float8" in kinds:
        raise RuntimeError(f"Promotion for Float8 Types is not supported, attempted to promote {both}")
    if "UInt" in kinds:
        if a.is_floating_point or b.is_floating_point:
            return a if a.is_floating_point else b
        raise RuntimeError(f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {both}")
    if not (a.is_complex or b.is_complex) or not all(x.is_complex or x in _KNOWN for x in (a, b)):
        raise RuntimeError(f"Promotion from {both} is unsupported.")
    if not a.is_complex and not a.is_floating_point:
        return b
    if not b.is_complex and not b.is_floating_point:
        return a
    return whole(dtypes.promote_types(a.to_real(), b.to_real()))


_KNOWN: Final = frozenset(x for x in vars(dtypes).values() if isinstance(x, dtype))
