"""torch.linalg of complex matrices: values and gradients as PyTorch's, and refusals of losses that no gradient has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd

# of a, square (4, 4); t, tall (4, 3); h, Hermitian and positive (4, 4); r, real (4, 4); functions without freedom of phase
FUNCTIONS = """
L.inv(a) | L.det(a) | L.slogdet(a)[1] | L.slogdet(a)[0] | torch.logdet(a) | L.solve(a, t) | L.solve(a, t.mH, left=False)
L.matrix_exp(a * 0.3) | L.cholesky(h)
L.cholesky(h, upper=True) | L.pinv(t) | L.qr(t)[0] | L.qr(t)[1] | L.qr(t.mH)[1].abs() | L.svdvals(t)
L.svd(t)[0][:, :3].abs() | L.svd(t, full_matrices=False)[2].abs()
L.eigvalsh(h) | L.eigh(h)[1].abs() | L.eigvals(a).abs().sort()[0] | L.eig(a)[1].abs().sum() | L.eigvals(r).abs().prod()
L.lstsq(t, a)[0] | L.norm(t) | L.norm(t, "nuc")
L.matrix_norm(t, 2) | L.matrix_norm(t, 1) | L.cond(a) | L.vecdot(a, h) | L.multi_dot([a, t, t.mH]) | L.matrix_power(a, 3)
L.matrix_power(a, -2) | L.lu_factor(a)[0]
L.lu(t)[2] | torch.cholesky_solve(t, L.cholesky(h)) | L.solve_triangular(a, t, upper=True) | torch.cov(a) | torch.corrcoef(a)
torch.baddbmm(a[None], a[None], h[None], beta=1j)
torch.cholesky_inverse(L.cholesky(h)) | L.tensorsolve(a, t[:, 0]) | L.lu_solve(*L.lu_factor(a), t, adjoint=True)
L.cross(a[:, :3], t) | torch.linalg.vander(t[:, 0])
L.householder_product(t, t[0]) | torch.ormqr(t, t[0], h, transpose=True) | torch.ormqr(t, t[0], h, left=False)
"""
ILL_DEFINED = {
    "L.eig(a)[1].real.sum()": "linalg_eig_backward: The eigenvectors in the complex case are specified up to",
    "L.eigh(h)[1].imag.sum()": "linalg_eigh_backward: The eigenvectors in the complex case are specified up to",
    "L.svd(t, full_matrices=False)[0].real.sum()": "svd_backward: The singular vectors in the complex case are specified up to",
}


def names(torch: Any) -> tuple[dict[str, Any], list[Any]]:
    rng = np.random.default_rng(3)

    def draw(*sizes: int) -> Any:
        return torch.from_numpy(rng.normal(size=sizes) + 1j * rng.normal(size=sizes)).requires_grad_()
    a, t, b = draw(4, 4), draw(4, 3), draw(4, 4)
    r = torch.from_numpy(rng.normal(size=(4, 4))).requires_grad_()
    return {"torch": torch, "L": torch.linalg, "a": a, "t": t, "r": r, "h": b @ b.mH + 4 * torch.eye(4)}, [a, t, b, r]


@pytest.mark.oracle
@pytest.mark.parametrize("source", FUNCTIONS.strip().replace("\n", " | ").split(" | "))
def test_values_and_gradients_are_pytorchs(source: str) -> None:
    theirs = pytest.importorskip("torch")
    found = []
    for torch in (retrograd, theirs):
        space, leaves = names(torch)
        y = eval(source, space)
        weights = torch.from_numpy(np.random.default_rng(1).normal(size=tuple(y.shape)))
        loss = (y * weights).abs().square().sum() if y.dim() else y.abs() ** 2
        first = [g for g in torch.autograd.grad(loss, leaves, create_graph=True, allow_unused=True) if g is not None]
        second = torch.autograd.grad(sum(g.abs().square().sum() for g in first), leaves, allow_unused=True)
        some = [v.detach().resolve_conj().numpy() for v in (y, *first, *second) if v is not None]
        found.append([v for v in some if np.abs(v).sum() > 1e-12])          # gradients of 0 may be rounded
    for got, want in zip(*found, strict=True):
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(got, want, 1e-6, 1e-12 + 1e-8 * float(np.abs(want).max()))


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(12))
def test_ldl_factors_of_symmetric_and_hermitian_matrices_are_pytorchs(seed: int) -> None:
    theirs = pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    n = 1 + seed % 7
    a = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))
    if seed % 3 == 0:
        a[np.diag_indices(n)] = 0                   # asks for blocks of 2
    b = rng.normal(size=(n, 2)) + 0j
    for hermitian in (False, True):
        found = []
        for torch in (retrograd, theirs):
            factors = torch.linalg.ldl_factor_ex(torch.from_numpy(a + a.conj().T), hermitian=hermitian)
            x = torch.linalg.ldl_solve(factors.LD, factors.pivots, torch.from_numpy(b), hermitian=hermitian)
            found.append([t.numpy() for t in (*factors, x)])
        for got, want in zip(*found, strict=True):
            np.testing.assert_allclose(got, want, 1e-9, 1e-10)


@pytest.mark.oracle
@pytest.mark.parametrize("source", [*ILL_DEFINED, "L.qr(t, mode='complete')[0].abs().sum()",
                                    "L.qr(t, mode='r')[1].abs().sum()"])
def test_what_has_no_gradient_is_refused_in_pytorchs_words(source: str) -> None:
    told = []
    for torch in (retrograd, pytest.importorskip("torch")):
        space, leaves = names(torch)
        with pytest.raises(RuntimeError) as caught:
            torch.autograd.grad(eval(source, space), leaves, allow_unused=True)
        told.append(str(caught.value))
    assert told[0] == told[1]


@both
@pytest.mark.parametrize("source", ILL_DEFINED)
def test_a_loss_that_depends_on_phases_is_refused(torch: Any, source: str) -> None:
    space, leaves = names(torch)
    with pytest.raises(RuntimeError, match=ILL_DEFINED[source]):
        torch.autograd.grad(eval(source, space), leaves, allow_unused=True)


# of s, singular; b, a batch of s and the identity; e, the identity; n, matrices without elements
SINGULAR = """
L.cond(b, 1) | L.cond(b, "fro") | L.cond(b, -1) | L.cond(s, 1) | L.cond(n) | L.cond(n, 1) | L.cond(n, -1) | L.cond(n, "nuc")
L.cond(n[0]) | L.cond(torch.zeros(2, 0)) | L.cond(e, 1j) | L.cond(e, 2 + 0j) | L.cond(e, "nuc") | L.cond(e, 3)
L.cond(torch.ones(2, 3), "nuc")
L.inv_ex(s).info | L.inv_ex(b).info | L.inv_ex(b).inverse[1] | L.inv_ex(s).inverse.isfinite().all()
L.inv_ex(b, check_errors=True)
L.inv_ex(s).inverse.dtype | L.solve_ex(s, e).info | L.solve_ex(b, e).info | L.solve_ex(b, e).result[1]
L.solve_ex(s, e[0]).result.shape | L.solve_ex(b, e, left=False).result[1] | L.solve_ex(b, e[None, 0].expand(2, 2)).result[1]
L.solve_ex(s, e, check_errors=True) | L.inv_ex(e) | L.solve_ex(e, s)
L.cond(s * nan, 1) | L.cond(b * nan, "fro") | L.cond(s * nan) | L.cond(torch.stack([s * nan, e]), 1)
L.pinv(s * nan, hermitian=True) | L.pinv(torch.stack([s * nan, e]), hermitian=True) | L.pinv(s * nan) | L.eigh(s * nan)
L.matrix_rank(torch.stack([s * nan, e]), hermitian=True) | L.matrix_rank(s * nan)
L.cholesky(s / 0) | torch.cholesky(s / 0) | L.cholesky_ex(s * inf).info | L.cholesky_ex(e * inf).info | L.cholesky(s * nan)
L.cholesky(s) | L.cholesky(-e) | L.cholesky(torch.stack([e, s])) | L.cholesky(torch.stack([e, s]), upper=True)
torch.cholesky_inverse(e * 0) | torch.cholesky_inverse(torch.stack([e, e * 0]))
torch.cholesky_inverse(torch.eye(2).long()) | torch.cholesky_inverse(torch.tensor([[1, 2], [0, 0]], dtype=s.dtype), upper=True)
L.lu_factor(n, pivot=False) | L.lu_factor_ex(n[0], pivot=False) | L.lu(n, pivot=False) | L.lu_factor(e, pivot=False)
torch.triangular_solve(e[0], e) | torch.triangular_solve(e, e[0]) | torch.triangular_solve(e, torch.eye(3)) | L.tensorinv(e[0])
torch.triangular_solve(e, torch.ones(2, 3, dtype=e.dtype)) | torch.lu_unpack(e[0], e) | L.vander(e > 0)
L.vander(s[0].real.half())
L.lstsq(torch.eye(2).long(), torch.eye(2).long()) | L.matrix_rank(e, e[0, 0]) | L.tensorinv(e[0, 0])
torch.cholesky_solve(e, torch.eye(3, dtype=e.dtype)) | torch.cholesky_solve(e, n[0])
torch.repeat_interleave(torch.eye(2).long())
L.lu(e[0]) | L.lu(torch.eye(2).half()) | L.lu(torch.eye(2).long()) | L.lu_factor(e[0]) | L.lu_factor(torch.eye(2).half())
L.lu_factor(torch.eye(2).long())
L.lu_factor_ex(e[0]) | L.lu_factor_ex(torch.eye(2).half()) | L.lu_factor_ex(torch.eye(2).long()) | L.cholesky(e[0])
L.cholesky(torch.eye(2).half()) | L.cholesky(torch.eye(2).long())
L.cholesky_ex(e[0]) | L.cholesky_ex(torch.eye(2).half()) | L.cholesky_ex(torch.eye(2).long()) | L.eigh(e[0])
L.eigh(torch.eye(2).half()) | L.eigh(torch.eye(2).long())
L.eigvalsh(e[0]) | L.eigvalsh(torch.eye(2).half()) | L.eigvalsh(torch.eye(2).long()) | L.eig(e[0])
L.eig(torch.eye(2).half()) | L.eig(torch.eye(2).long())
L.eigvals(e[0]) | L.eigvals(torch.eye(2).half()) | L.eigvals(torch.eye(2).long()) | L.svd(e[0]) | L.svd(torch.eye(2).half())
L.svd(torch.eye(2).long())
L.svdvals(e[0]) | L.svdvals(torch.eye(2).half()) | L.svdvals(torch.eye(2).long()) | L.qr(e[0]) | L.qr(torch.eye(2).half())
L.qr(torch.eye(2).long())
L.det(e[0]) | L.det(torch.eye(2).half()) | L.det(torch.eye(2).long()) | L.inv(e[0]) | L.inv(torch.eye(2).half())
L.inv(torch.eye(2).long())
L.matrix_rank(e[0]) | L.matrix_rank(torch.eye(2).half()) | L.matrix_rank(torch.eye(2).long())
L.cond(torch.eye(2).half())
torch.cholesky(torch.eye(2).half()) | torch.cholesky(torch.eye(2).long()) | L.solve(e[0], torch.eye(2).long()) | torch.lu(e[0])
L.solve(torch.ones(2, 3), torch.eye(2).half())
torch.lu(e, 1) | torch.lu(e, pivot=0) | e.lu(1) | torch.lu(e, True)
"""


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:torch.lu is deprecated")
@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
@pytest.mark.parametrize("source", SINGULAR.strip().replace("\n", " | ").split(" | "))
def test_singular_and_empty_matrices_are_pytorchs(source: str, dtype: str) -> None:
    def told(torch: Any) -> str:
        kind = getattr(torch, dtype)
        s, e = torch.tensor([[1, 2], [2, 4]], dtype=kind), torch.eye(2, dtype=kind)
        known = {"torch": torch, "L": torch.linalg, "s": s, "e": e, "b": torch.stack([s, e]),
                 "n": torch.zeros(3, 0, 0, dtype=kind), "nan": np.nan, "inf": np.inf}
        try:
            return repr(eval(source, known)).replace("retrograd", "torch").replace("-0.", "0.")
        except (RuntimeError, TypeError) as e:
            return f"{type(e).__name__}: {e}"
    assert told(retrograd) == told(pytest.importorskip("torch"))


@pytest.mark.oracle
@pytest.mark.parametrize("b", ["float32", "float64", "complex64", "complex128", "int64", "float16"])
@pytest.mark.parametrize("a", ["float32", "float64", "complex64", "complex128", "int64", "float16"])
@pytest.mark.filterwarnings("ignore")
def test_triangular_equations_of_two_dtypes_are_pytorchs(a: str, b: str) -> None:
    def told(torch: Any, source: str) -> str:
        A = torch.tensor([[1, 2], [0, 4]]).to(getattr(torch, a))
        B = torch.tensor([[2, 4], [8, 4]]).to(getattr(torch, b))
        try:
            return repr(eval(source, {"torch": torch, "A": A, "B": B})).replace("retrograd", "torch")
        except (RuntimeError, NotImplementedError) as e:
            return f"{type(e).__name__}: {e}"
    theirs = pytest.importorskip("torch")
    for source in ("torch.linalg.solve_triangular(A, B, upper=True)", "torch.triangular_solve(B, A)"):
        assert told(retrograd, source) == told(theirs, source)
