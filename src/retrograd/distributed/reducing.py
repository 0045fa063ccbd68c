"""ReduceOp: how all_reduce and the like combine what the ranks bring.

A reduction is three steps: arrays as MPI can combine them, MPI's operation, and the result as the tensor's dtype.
"""
from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from .._engine.warn import warn

Array = Any


class RedOpType(Enum):
    """The kinds of reduction, with PyTorch's numbers."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)

    @classmethod
    def _missing_(cls, value: object) -> Any:
        raise TypeError(f"__init__(): incompatible constructor arguments. The following argument types are supported: a number "
                        f"from 0 to {len(cls) - 1}, got {value!r}")

    def __int__(self) -> int:
        return int(self.value)

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        return self.value == other if isinstance(other, int) else self is other

    def __hash__(self) -> int:
        return int(self.value)

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"


class _Kinds(type):
    """ReduceOp.SUM and the like, which are RedOpTypes, count as ReduceOps."""

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, RedOpType) or super().__instancecheck__(x)


class ReduceOp(metaclass=_Kinds):
    """A kind of reduction; PREMUL_SUM, made by _make_nccl_premul_sum, also has a factor.

    AVG sums and divides by the number of ranks; BAND, BOR and BXOR take integers; complex numbers have sums and means.
    """

    __slots__ = ("factor", "op")
    op: Any
    factor: Any
    RedOpType = RedOpType
    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = RedOpType

    def __init__(self, op: Any, /) -> None:
        if not isinstance(op, RedOpType):
            raise TypeError("__init__(): incompatible constructor arguments. The following argument types are supported: "
                            f"ReduceOp.RedOpType, got {op!r}")
        if op is RedOpType.PREMUL_SUM:
            raise RuntimeError("Use `torch.distributed._make_nccl_premul_sum` to create an instance of ReduceOp with PREMUL_SUM")
        self.op, self.factor = op, None

    def __getstate__(self) -> tuple[Any, Any]:
        return self.op, self.factor

    def __setstate__(self, state: tuple[Any, Any]) -> None:
        self.op, self.factor = state

    def __eq__(self, other: object) -> bool:
        return self.op is (other.op if type(other) is ReduceOp else other)

    def __hash__(self) -> int:
        return hash(self.op)

    def __repr__(self) -> str:
        return repr(self.op)

    def __str__(self) -> str:
        return str(self.op)


class _reduce_op:
    """torch.distributed.reduce_op, the name that ReduceOp had."""

    def __init__(self) -> None:
        self.__dict__.update(RedOpType.__members__, __members__=RedOpType.__members__)

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("__"):
            warn("`torch.distributed.reduce_op` is deprecated, please use `torch.distributed.ReduceOp` instead", FutureWarning)
        return super().__getattribute__(name)


reduce_op = _reduce_op()
MPI_NAMES = {
    RedOpType.SUM: "SUM", RedOpType.AVG: "SUM", RedOpType.PREMUL_SUM: "SUM", RedOpType.PRODUCT: "PROD", RedOpType.MIN: "MIN",
    RedOpType.MAX: "MAX", RedOpType.BAND: "BAND", RedOpType.BOR: "BOR", RedOpType.BXOR: "BXOR",
}
NAMES = {"int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool"}
COMPLEX = (RedOpType.SUM, RedOpType.AVG, RedOpType.PREMUL_SUM)
BITS = (RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR)


def make_premul_sum(factor: Any) -> ReduceOp:
    """A sum of what the ranks bring times `factor`, a float or a tensor of one element."""
    if not isinstance(factor, float) and not hasattr(factor, "array"):
        raise TypeError("_make_nccl_premul_sum(): incompatible function arguments. The following argument types are supported: "
                        f"a float or a Tensor of one element, got {factor!r}")
    if not isinstance(factor, float) and factor.array.size != 1:
        raise RuntimeError(f"Check failed: tensor_factor.numel() == 1 ({factor.array.size} vs. 1)")
    made = ReduceOp.__new__(ReduceOp)
    made.op, made.factor = RedOpType.PREMUL_SUM, factor
    return made


def kind_of(op: Any) -> tuple[RedOpType, Any]:
    """-> (kind, factor).  TypeError for what is no ReduceOp, and for a PREMUL_SUM without a factor."""
    if type(op) is ReduceOp:
        return op.op, op.factor
    if isinstance(op, RedOpType) and op is not RedOpType.PREMUL_SUM:
        return op, None
    raise TypeError("(): incompatible function arguments. The following argument types are supported: ReduceOp, and for "
                    f"PREMUL_SUM what torch.distributed._make_nccl_premul_sum(factor) gives; got {op!r}")


def check(op: Any, dtype: np.dtype[Any], function: str) -> tuple[RedOpType, Any]:
    """kind_of(op).  Errors where the dtype has no such reduction, as in PyTorch."""
    kind, factor = kind_of(op)
    if dtype.kind == "c" and kind not in COMPLEX:
        raise ValueError(f"{function} does not support {kind} on complex tensors")
    if kind is RedOpType.AVG and dtype.kind in "iub":
        raise RuntimeError(f"result type Float can't be cast to the desired output type {NAMES[dtype.name]}")
    if kind is RedOpType.PREMUL_SUM and dtype.kind in "iub":
        raise TypeError(f"PreMulSum Data type must be half, float, bfloat16 or double, got {NAMES[dtype.name]}")
    if kind in BITS and dtype.kind not in "iub":
        raise RuntimeError(f"Cannot use ReduceOp.{kind.name} with non-integral dtype")
    return kind, factor


def supports_complex(reduceOp: Any) -> bool:
    """Are there reductions reduceOp of complex numbers?  Not where numbers are compared or multiplied, nor of bits."""
    return kind_of(reduceOp)[0] in COMPLEX


def narrow(dtype: np.dtype[Any]) -> bool:
    """Has MPI no arithmetic for it?  float16 and bfloat16 travel as float32, bools as bytes."""
    return dtype.kind in "bV" or dtype.itemsize < 4 and dtype.kind not in "iu"


def before(a: Array, kind: RedOpType, factor: Any) -> Array:
    """What MPI is given for a; a itself where nothing has to be done."""
    if narrow(a.dtype):
        a = a.view(np.uint8) if a.dtype.kind == "b" else a.astype(np.float32)
    if factor is not None:
        a = a * (factor.array if hasattr(factor, "array") else np.asarray(factor)).astype(a.dtype)
    return a


def after(kind: RedOpType, size: int) -> Callable[[Array], None] | None:
    """What is still to be done, in place, with what MPI gave."""
    if kind is not RedOpType.AVG or size == 1:
        return None

    def divide(a: Array) -> None:
        np.divide(a, size, out=a)

    return divide
