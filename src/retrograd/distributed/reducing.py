"""ReduceOp: how all_reduce and the like combine what the ranks bring.

A reduction is three steps: arrays as MPI can combine them, MPI's operation, and the result as the tensor's dtype.
"""
from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np

Array = Any


class RedOpType(IntEnum):
    """The kinds of reduction, under PyTorch's numbers."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"


class ReduceOp:
    """A kind of reduction; PREMUL_SUM has a factor besides.

    AVG sums and divides by the number of ranks; BAND, BOR and BXOR take integers; complex numbers have sums and means.
    """

    RedOpType = RedOpType
    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = RedOpType

    def __init__(self, op: Any, factor: Any = None) -> None:
        self.op, self.factor = RedOpType(op), factor

    def __eq__(self, other: object) -> bool:
        return self.op == (other.op if isinstance(other, ReduceOp) else other)

    def __hash__(self) -> int:
        return hash(self.op)

    def __repr__(self) -> str:
        return repr(self.op)

    def __str__(self) -> str:
        return str(self.op)


class _ReduceOpsOfOld:
    """torch.distributed.reduce_op, the name that ReduceOp had."""

    SUM, PRODUCT, MIN, MAX = RedOpType.SUM, RedOpType.PRODUCT, RedOpType.MIN, RedOpType.MAX


reduce_op = _ReduceOpsOfOld()
MPI_NAMES = {
    RedOpType.SUM: "SUM", RedOpType.AVG: "SUM", RedOpType.PREMUL_SUM: "SUM", RedOpType.PRODUCT: "PROD", RedOpType.MIN: "MIN",
    RedOpType.MAX: "MAX", RedOpType.BAND: "BAND", RedOpType.BOR: "BOR", RedOpType.BXOR: "BXOR",
}
NAMES = {"int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool"}
COMPLEX = (RedOpType.SUM, RedOpType.AVG, RedOpType.PREMUL_SUM)
BITS = (RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR)


def make_premul_sum(factor: Any) -> ReduceOp:
    """A sum of what the ranks bring times `factor`."""
    return ReduceOp(RedOpType.PREMUL_SUM, factor)


def kind_of(op: Any) -> tuple[RedOpType, Any]:
    """-> (kind, factor).  TypeError for what is no ReduceOp."""
    if isinstance(op, ReduceOp):
        return op.op, op.factor
    if isinstance(op, RedOpType):
        return op, None
    raise TypeError(f"(): incompatible function arguments. The following argument types are supported: ReduceOp, got {op!r}")


def check(op: Any, dtype: np.dtype[Any], function: str) -> tuple[RedOpType, Any]:
    """kind_of(op).  Errors where the dtype has no such reduction, as in PyTorch."""
    kind, factor = kind_of(op)
    if dtype.kind == "c" and kind not in COMPLEX:
        raise ValueError(f"{function} does not support {kind} on complex tensors")
    if kind is RedOpType.AVG and dtype.kind in "iub":
        raise RuntimeError(f"result type Float can't be cast to the desired output type {NAMES[dtype.name]}")
    if kind in BITS and dtype.kind not in "iub":
        raise RuntimeError(f"Cannot use ReduceOp.{kind.name} with non-integral dtype")
    return kind, factor


def supports_complex(reduceOp: Any) -> bool:
    """Are there such reductions of complex numbers?  Not where numbers are compared or multiplied, nor of bits."""
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
