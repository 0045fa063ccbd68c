"""Checks of arguments that are matrices, or batches of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import names
from .._engine.tensor import wrap
from .arguments import tensor

check = tensor


def kind_of(x: Any) -> str:
    return names.SCALAR[x.array.dtype.name]


def matrices(A: Any, name: str) -> Any:
    x = check(A, name.replace(".", "_"), "A")
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    floats(x, name)
    return x


def floats(x: Any, name: str) -> None:
    dtype = x.array.dtype
    if dtype.kind not in "fcV":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {kind_of(x)}")
    if dtype.itemsize == 2:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {kind_of(x)}")


def square(x: Any, name: str) -> None:
    if x.shape[-1] != x.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {x.shape[-2]} by {x.shape[-1]} matrices")


def squares(A: Any, name: str) -> Any:
    x = check(A, name.replace(".", "_"), "A")
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    square(x, name)
    floats(x, name)
    return x


def zeros_info(x: Any) -> Any:
    return wrap(np.zeros(x.array.shape[:-2], np.int32))
