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


# The kernels that refuse half precision; with a + whole numbers, too.
KERNELS = {
    "cholesky": "+cholesky_cpu", "linalg.cholesky": "cholesky_cpu", "linalg.cond": "linalg_svd_cpu", "linalg.det": "lu_cpu",
    "linalg.eig": "linalg_eig_out_cpu", "linalg.eigh": "+linalg_eigh_cpu", "linalg.eigvals": "linalg_eig_out_cpu",
    "linalg.lu": "+lu_cpu", "linalg.qr": "geqrf_cpu", "linalg.solve": "lu_cpu", "linalg.svd": "linalg_svd_cpu",
    "torch.lu_factor": "+lu_cpu"}


def matrices(A: Any, name: str, letter: str = "A") -> Any:
    x = check(A, name.replace(".", "_"), letter)
    if x.ndim < 2:
        raise RuntimeError(f"{name}: " + (
            f"Expected tensor with 2 or more dimensions. Got size: {list(x.shape)} instead" if "lu" in name else
            f"The input tensor {letter} must have at least 2 dimensions."))
    floats(x, name)
    return x


def floats(x: Any, name: str) -> None:
    dtype = x.array.dtype
    kernel = KERNELS.get(name, "")
    if dtype.itemsize == 2 and dtype.kind in "fV" and kernel or dtype.kind in "iub" and kernel[:1] == "+":
        raise NotImplementedError(f"\"{kernel.removeprefix('+')}\" not implemented for '{kind_of(x)}'")
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
