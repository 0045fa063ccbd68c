"""QR as LAPACK has it, and what is made of its reflections: torch.geqrf, orgqr, ormqr, torch.linalg.householder_product."""
from __future__ import annotations

from typing import Any

from .. import _nodes
from .._rules import reflections as op
from .arguments import finish
from .matrices import check, kind_of
from .results import named

__all__ = ["geqrf", "orgqr", "ormqr"]
METHODS = ["geqrf", "orgqr", "ormqr"]

GEQRF = {name: named(name, "a", "tau") for name in ("geqrf", "geqrf_out")}


def geqrf(input: Any, *, out: Any = None) -> Any:
    """(a, tau): R of the QR decomposition on and above a's diagonal, reflections below; without a derivative."""
    x = check(input, "geqrf")
    if x.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    full(x, "geqrf_cpu")
    return finish(GEQRF["geqrf"](op.GeqrfBackward0().run(x)), out, "geqrf", x)


def full(x: Any, kernel: str) -> None:
    if x.array.dtype.kind != "f" or x.array.dtype.itemsize == 2:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind_of(x)}'")


def householder_product(input: Any, tau: Any, *, out: Any = None) -> Any:
    """The first columns of Q = H1 ... Hk (m, n), given geqrf's a (m, n) and tau (k)."""
    name = "torch.linalg.householder_product"
    x, t = check(input, "linalg_householder_product"), check(tau, "linalg_householder_product", "tau", 2)
    if x.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if x.shape[-2] < x.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if not t.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    if x.shape[-1] < t.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    batches(name, x, t)
    if t.array.dtype != x.array.dtype:
        raise RuntimeError(f"{name}: tau dtype {kind_of(t)} does not match input dtype {kind_of(x)}")
    full(x, "orgqr_cpu")
    return finish(op.LinalgHouseholderProductBackward0().run([x, t]), out, "linalg_householder_product", x, t)


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
    return householder_product(input, tau, out=out)


def ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False, *, out: Any = None) -> Any:
    """Q other (other Q unless left; Qt instead of Q if transpose) for Q = H1 ... Hk (m, m), given geqrf's a and tau."""
    x, t, c = check(input, "ormqr"), check(tau, "ormqr", "input2", 2), check(other, "ormqr", "input3", 3)
    for what, tensor in (("input", x), ("other", c)):
        if tensor.ndim < 2:
            raise RuntimeError(f"torch.ormqr: {what} must have at least 2 dimensions.")
    dim = -2 if left else -1
    if c.shape[dim] != x.shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{dim}] must be equal to input.shape[-2]")
    if not t.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    if t.shape[-1] != min(c.shape[dim], x.shape[-1]):
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{dim}], input.shape[-1])")
    batches("torch.ormqr", x, t)
    if c.ndim != x.ndim:
        raise RuntimeError(
            f"torch.ormqr: Expected other to have the same number of dimensions as input, but got other.ndim equal to {c.ndim} "
            f"and input.ndim is equal to {x.ndim}")
    if c.array.shape[:-2] != x.array.shape[:-2]:
        raise RuntimeError(
            "torch.ormqr: Expected batch dimensions of other to be equal to input.shape[:-2], but got "
            f"{list(c.array.shape[:-2])}")
    for what, tensor in (("tau", t), ("other", c)):
        if tensor.array.dtype != x.array.dtype:
            raise RuntimeError(
                f"torch.ormqr: Expected input and {what} to have the same dtype, but input has dtype{kind_of(x)} and {what} has "
                f"dtype {kind_of(tensor)}")
    full(x, "ormqr_cpu")
    return finish(op.OrmqrBackward0(bool(left), bool(transpose)).run([x, t, c]), out, "ormqr", x, t, c)


_nodes.dress_module(op)
