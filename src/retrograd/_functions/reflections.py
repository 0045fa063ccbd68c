"""QR as LAPACK has it, and what is made of its reflections: torch.geqrf, orgqr, ormqr, torch.linalg.householder_product."""
from __future__ import annotations

from typing import Any

from .._rules import reflections as op
from .matrices import kind_of
from .results import named

GEQRF = {name: named(name, "a", "tau") for name in ("geqrf", "geqrf_out")}


def geqrf(input: Any, *, out: Any = None) -> Any:
    """(a, tau): R of the QR decomposition on and above a's diagonal, reflections below; without a derivative."""
    if input.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    full(input, "geqrf_cpu")
    return GEQRF["geqrf"](op.GeqrfBackward0().run(input))


def full(x: Any, kernel: str) -> None:
    if x.array.dtype.kind not in "fc" or x.array.dtype.itemsize == 2:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind_of(x)}'")


def householder_product(input: Any, tau: Any, *, out: Any = None) -> Any:
    """The first columns of Q = H1 ... Hk (m, n), given geqrf's a (m, n) and tau (k)."""
    name = "torch.linalg.householder_product"
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if input.shape[-2] < input.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if not tau.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    if input.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    batches(name, input, tau)
    if tau.array.dtype != input.array.dtype:
        raise RuntimeError(f"{name}: tau dtype {kind_of(tau)} does not match input dtype {kind_of(input)}")
    full(input, "orgqr_cpu")
    return op.LinalgHouseholderProductBackward0().run([input, tau])


def batches(name: str, x: Any, t: Any) -> None:
    if t.ndim != x.ndim - 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {t.ndim} and input.ndim is "
            f"equal to {x.ndim}")
    if t.array.shape[:-1] != x.array.shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {list(t.array.shape[:-1])}")


def orgqr(input: Any, tau: Any, *, out: Any = None) -> Any:
    """Old name of torch.linalg.householder_product."""
    return householder_product(input, tau)


def ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False, *, out: Any = None) -> Any:
    """Q other (other Q unless left; Q's adjoint if transpose) for Q = H1 ... Hk (m, m), given geqrf's a and tau."""
    for what, tensor in (("input", input), ("other", other)):
        if tensor.ndim < 2:
            raise RuntimeError(f"torch.ormqr: {what} must have at least 2 dimensions.")
    dim = -2 if left else -1
    if other.shape[dim] != input.shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{dim}] must be equal to input.shape[-2]")
    if not tau.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    if tau.shape[-1] != min(other.shape[dim], input.shape[-1]):
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{dim}], input.shape[-1])")
    batches("torch.ormqr", input, tau)
    if other.ndim != input.ndim:
        raise RuntimeError(
            f"torch.ormqr: Expected other to have the same number of dimensions as input, but got other.ndim equal to "
            f"{other.ndim} and input.ndim is equal to {input.ndim}")
    if other.array.shape[:-2] != input.array.shape[:-2]:
        raise RuntimeError(
            "torch.ormqr: Expected batch dimensions of other to be equal to input.shape[:-2], but got "
            f"{list(other.array.shape[:-2])}")
    for what, tensor in (("tau", tau), ("other", other)):
        if tensor.array.dtype != input.array.dtype:
            raise RuntimeError(
                f"torch.ormqr: Expected input and {what} to have the same dtype, but input has dtype{kind_of(input)} and {what} "
                f"has dtype {kind_of(tensor)}")
    full(input, "ormqr_cpu")
    return op.OrmqrBackward0(bool(left), bool(transpose)).run([input, tau, other])
