"""Curvature, against dense matrices made by autograd and by differences of gradients."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograd import microscope
from retrograd.microscope import CaptureError


def problem(torch: Any, double: bool = True) -> tuple[Any, Any, Any]:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))
    x, y = torch.randn(7, 3), torch.tensor([0, 1, 2, 0, 1, 2, 2])
    return (model.double(), x.double(), y) if double else (model, x, y)


def by_differences(torch: Any, model: Any, x: Any, y: Any) -> Any:
    """The Hessian, from central differences of gradients."""
    params = list(model.parameters())
    columns = []
    for p in params:
        for i in range(p.numel()):
            ends = []
            for way in (1e-5, -1e-5):
                with torch.no_grad():
                    p.view(-1)[i] += way
                loss = torch.nn.functional.cross_entropy(model(x), y)
                ends.append(np.concatenate([g.numpy().reshape(-1) for g in torch.autograd.grad(loss, params)]))
                with torch.no_grad():
                    p.view(-1)[i] -= way
            columns.append((ends[0] - ends[1]) / 2e-5)
    return np.stack(columns)


def gauss_newton(torch: Any, model: Any, x: Any, y: Any) -> Any:
    """Sum of J^T (diag(p) - p p^T) J over samples, / N."""
    params = list(model.parameters())
    total: Any = 0
    for n in range(len(x)):
        out = model(x[n:n + 1])[0]
        J = np.stack([np.concatenate([g.numpy().reshape(-1) for g in torch.autograd.grad(o, params, retain_graph=True)])
                      for o in out])
        p = torch.softmax(out.detach(), 0).numpy()
        total = total + J.T @ (np.diag(p) - np.outer(p, p)) @ J
    return total / len(x)


def test_matrices_are_those_of_differences_and_of_the_definition(torch: Any) -> None:
    model, x, y = problem(torch)
    found = microscope.curvature(model, torch.nn.functional.cross_entropy, [(x, y)])
    assert found.size == 31 and found.names == ["0.weight", "0.bias", "2.weight", "2.bias"]
    np.testing.assert_allclose(found.dense(), by_differences(torch, model, x, y), atol=1e-8)
    np.testing.assert_allclose(found.dense("gauss-newton"), gauss_newton(torch, model, x, y), atol=1e-12)


def test_batches_of_different_sizes_make_the_mean_over_samples(torch: Any) -> None:
    model, x, y = problem(torch)
    F = torch.nn.functional
    whole = microscope.curvature(model, F.cross_entropy, [(x, y)])
    parts = microscope.curvature(model, F.cross_entropy, [(x[:2], y[:2]), (x[2:], y[2:])])
    summed = microscope.curvature(
        model, lambda out, y: F.cross_entropy(out, y, reduction="sum"), [(x[:2], y[:2]), (x[2:], y[2:])], reduction="sum")
    v = np.random.default_rng(1).normal(size=31)
    for kind in ("hessian_vector", "gauss_newton_vector"):
        want = getattr(whole, kind)(v)
        np.testing.assert_allclose(getattr(parts, kind)(v), want, atol=1e-12)
        np.testing.assert_allclose(getattr(summed, kind)(v) / 7, want, atol=1e-12)


def test_products_take_and_give_named_tensors(torch: Any) -> None:
    model, x, y = problem(torch)
    found = microscope.curvature(model, torch.nn.functional.cross_entropy, [(x, y)])
    v = {name: torch.ones_like(p) for name, p in model.named_parameters()}
    product = found.hessian_vector(v)
    assert {name: p.shape for name, p in product.items()} == {name: p.shape for name, p in v.items()}
    np.testing.assert_allclose(
        np.concatenate([p.numpy().reshape(-1) for p in product.values()]), found.dense() @ np.ones(31), atol=1e-12)
    with pytest.raises(CaptureError, match="expected vectors of"):
        found.hessian_vector({"0.weight": v["0.weight"]})
    with pytest.raises(CaptureError, match="31 numbers"):
        found.hessian_vector(np.ones(30))


@pytest.mark.parametrize("kind", ["hessian", "gauss-newton"])
def test_eigenvalues_and_their_vectors(torch: Any, kind: str) -> None:
    model, x, y = problem(torch)
    found = microscope.curvature(model, torch.nn.functional.cross_entropy, [(x, y)])
    matrix = found.dense(kind)
    want = np.linalg.eigvalsh(matrix)
    values, vectors = found.eigenvalues(3, kind, vectors=True)
    np.testing.assert_allclose(values, want[np.argsort(-abs(want))][:3], rtol=1e-8)
    flat = np.concatenate([p.numpy().reshape(-1) for p in vectors[0].values()])
    np.testing.assert_allclose(matrix @ flat, values[0] * flat, atol=1e-8)
    assert found.eigenvalues(31, kind) == pytest.approx(sorted(want, key=abs, reverse=True))


@pytest.mark.parametrize("kind", ["hessian", "gauss-newton"])
def test_the_trace_lies_within_its_error(torch: Any, kind: str) -> None:
    model, x, y = problem(torch)
    found = microscope.curvature(model, torch.nn.functional.cross_entropy, [(x, y)])
    estimate = found.trace(kind, probes=60)
    assert abs(estimate.value - np.trace(found.dense(kind))) < 4 * estimate.error
    assert estimate.error < 0.5 * abs(estimate.value)


def test_the_density_has_the_moments_of_the_spectrum(torch: Any) -> None:
    model, x, y = problem(torch)
    found = microscope.curvature(model, torch.nn.functional.cross_entropy, [(x, y)])
    values = np.linalg.eigvalsh(found.dense())
    density = found.density(probes=12, steps=31)
    assert density.weights.sum() == pytest.approx(1)
    assert density.nodes.max() == pytest.approx(values.max()) and density.nodes.min() == pytest.approx(values.min())
    assert density.weights @ density.nodes == pytest.approx(values.mean(), rel=0.5)
    assert density.weights @ density.nodes**2 == pytest.approx((values**2).mean(), rel=0.5)
    grid = np.linspace(-2, 3, 2001)
    assert np.trapezoid(density.on(grid, 0.05), grid) == pytest.approx(1, rel=1e-3)
    with pytest.raises(ValueError, match=r"on: grid must be numbers in one dimension, not of shape \(2, 3\)"):
        density.on(np.zeros((2, 3)))
    with pytest.raises(TypeError, match="on: grid must be numbers, got str"):
        density.on("a")
    with pytest.raises(ValueError, match="on: width must be positive"):
        density.on(grid, 0.0)


def test_layers_are_blocks_of_the_whole(torch: Any) -> None:
    model, x, y = problem(torch)
    found = microscope.curvature(model, torch.nn.functional.cross_entropy, [(x, y)])
    blocks = found.layers()
    assert list(blocks) == ["0", "2"]
    np.testing.assert_allclose(blocks["2"].dense(), found.dense()[16:, 16:], atol=1e-12)
    np.testing.assert_allclose(blocks["0"].dense("gauss-newton"), found.dense("gauss-newton")[:16, :16], atol=1e-12)
    first, last = found.per_layer()
    assert (first.layer, first.size, last.size) == ("0", 16, 15)
    assert last.top == pytest.approx(blocks["2"].eigenvalues(1)[0])
    only = microscope.curvature(model, torch.nn.functional.cross_entropy, [(x, y)], layers="2")
    np.testing.assert_allclose(only.dense(), blocks["2"].dense(), atol=1e-12)


def test_a_product_follows_weights_that_change_and_leaves_the_model_as_it_was(torch: Any) -> None:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 3)).double()
    x, y = torch.randn(7, 3).double(), torch.tensor([0, 1, 2, 0, 1, 2, 2])
    found = microscope.curvature(model, nn.functional.cross_entropy, [(x, y)])
    draws, mean = torch.get_rng_state(), model[1].running_mean.clone()
    v = np.ones(found.size)
    before = found.hessian_vector(v)
    assert np.array_equal(found.hessian_vector(v), before) and torch.equal(model[1].running_mean, mean)
    assert torch.equal(torch.get_rng_state(), draws) and all(p.grad is None for p in model.parameters())
    with torch.no_grad():
        model[0].weight.mul_(2)
    assert not np.allclose(found.hessian_vector(v), before)


def test_a_linear_loss_has_no_curvature_and_unused_weights_have_none(torch: Any) -> None:
    model = torch.nn.Linear(3, 2)
    model.spare = torch.nn.Parameter(torch.ones(2))
    found = microscope.curvature(model, lambda out: out.sum(), [torch.ones(4, 3)])
    assert not found.dense().any() and not found.dense("gauss-newton").any()


def test_errors_say_what_to_give(torch: Any) -> None:
    model, x, y = problem(torch)
    F = torch.nn.functional
    with pytest.raises(CaptureError, match="no batches"):
        microscope.curvature(model, F.cross_entropy, [])
    with pytest.raises(ValueError, match="reduction"):
        microscope.curvature(model, F.cross_entropy, [(x, y)], reduction="none")
    found = microscope.curvature(model, F.cross_entropy, [(x, y)])
    with pytest.raises(ValueError, match="kind must be"):
        found.trace("fisher")
    with pytest.raises(ValueError, match="count must be"):
        found.eigenvalues(32)
    model.requires_grad_(False)
    with pytest.raises(CaptureError, match="frozen"):
        microscope.curvature(model, F.cross_entropy, [(x, y)])


def test_data_vectors_and_losses_that_do_not_fit_are_refused_in_its_own_words(torch: Any) -> None:
    model, x, y = problem(torch)
    loss = torch.nn.functional.cross_entropy

    def made(data: Any, loss: Any = loss) -> Any:
        return microscope.curvature(model, loss, data)

    for data, error, words in ((x, TypeError, "got a tensor"), ((x, y), TypeError, "got a tuple of tensors"),
                               ([3], TypeError, "whose x has a length, got int"), ([()], TypeError, "got an empty one"),
                               ([(x[:0], y[:0])], CaptureError, "a batch has no samples")):
        with pytest.raises(error, match=words):
            made(data)
    curve = made([(x, y)])
    good = {name: torch.ones(shape).double() for name, shape in zip(curve.names, curve.shapes)}
    with pytest.raises(CaptureError, match=r"the vector of 0.bias must be a tensor of shape \(4,\), got \(1,\)"):
        curve.hessian_vector({**good, "0.bias": torch.ones(1)})
    with pytest.raises(CaptureError, match=r"0.bias must be a tensor of shape \(4,\), got str"):
        curve.gauss_newton_vector({**good, "0.bias": "ones"})
    with pytest.raises(CaptureError, match=r"the loss must give a tensor of one number, got shape \(7, 3\)"):
        made([(x, y)], lambda out, y: out * out).trace()
    with pytest.raises(CaptureError, match="the loss must give a tensor of one number, got float"):
        made([(x, y)], lambda out, y: 1.0).trace()


@pytest.mark.parametrize("ask", ["trace", "density", "eigenvalues", "dense", "per_layer"])
def test_numbers_that_are_not_finite_are_told_and_not_returned(torch: Any, ask: str) -> None:
    model, x, y = problem(torch)
    curve = microscope.curvature(model, torch.nn.functional.cross_entropy, [(x * float("nan"), y)])
    with pytest.raises(CaptureError, match="has NaN or inf"):
        getattr(curve, ask)()


def test_complex_weights_are_named(torch: Any) -> None:
    nn, data = torch.nn, [(torch.randn(4, 3, dtype=torch.cdouble), torch.ones(4))]
    model = nn.Sequential(nn.Linear(3, 2, dtype=torch.cdouble), nn.Flatten())
    with pytest.raises(CaptureError, match="got complex ones: 0.weight; leave them out with layers="):
        microscope.curvature(model, lambda y, target: y.abs().mean(), data, layers="0.weight")


def test_attention_has_curvature(torch: Any) -> None:
    class Attends(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            q = self.inner(x)[None]
            return torch.nn.functional.scaled_dot_product_attention(q, q, q)[0] @ self.inner.weight

    model, x, y = Attends().double(), torch.randn(7, 3).double(), torch.tensor([0, 1, 2, 0, 1, 2, 2])
    found = microscope.curvature(model, torch.nn.functional.cross_entropy, [(x, y)])
    np.testing.assert_allclose(found.dense(), by_differences(torch, model, x, y), atol=1e-7)
