"""Parametrizations of complex weights: unitary where those of real ones are orthogonal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd


def rotated(torch: Any, shape: tuple[int, int], options: dict[str, Any]) -> list[Any]:
    """The weight, its gradient and what assignments make of it; the names in the state."""
    torch.manual_seed(0)
    layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(*shape, bias=False, dtype=torch.cdouble), **options)
    first = layer.weight
    (first * torch.arange(first.numel()).reshape(first.shape)).abs().sum().backward()
    found = [first, layer.parametrizations.weight.original.grad]
    if options.get("use_trivialization", True):
        layer.weight = torch.randn(first.shape, dtype=torch.cdouble)
        found.append(layer.weight)
        layer.weight = found[-1].detach()
        found.append(layer.weight)
    return [*(v.detach().numpy() for v in found), np.array(sorted(layer.state_dict()))]


@pytest.mark.oracle
@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (5, 3)])
@pytest.mark.parametrize("options", [
    {}, {"orthogonal_map": "cayley"}, {"use_trivialization": False}, {"orthogonal_map": "cayley", "use_trivialization": False},
], ids=str)
def test_orthogonal_is_unitary(shape: tuple[int, int], options: dict[str, Any]) -> None:
    theirs = pytest.importorskip("torch")
    *got, names = rotated(retrograd, shape, options)
    *want, expected = rotated(theirs, shape, options)
    assert names.tolist() == expected.tolist()
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    for weight in (got[0], *got[2:]):
        columns = weight if shape[0] <= shape[1] else weight.T
        np.testing.assert_allclose(columns.conj().T @ columns, np.eye(min(shape)), atol=1e-12)


@both
def test_reflections_of_complex_weights_are_refused(torch: Any) -> None:
    for trivial in (True, False):
        with pytest.raises(ValueError, match=r"^The householder parametrization does not support complex tensors\.$"):
            torch.nn.utils.parametrizations.orthogonal(
                torch.nn.Linear(2, 3, dtype=torch.cfloat), orthogonal_map="householder", use_trivialization=trivial)


def divided(torch: Any, dim: int) -> list[Any]:
    """The weight after 40 steps of the iteration, the gradient and the vectors."""
    torch.manual_seed(0)
    layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(4, 2, bias=False, dtype=torch.cdouble), dim=dim)
    for _ in range(40):
        weight = layer.weight
    weight.abs().sum().backward()
    found = (weight, layer.parametrizations.weight.original.grad, *layer.parametrizations.weight[0].buffers())
    return [v.detach().numpy() for v in found]


@pytest.mark.oracle
@pytest.mark.parametrize("dim", [0, 1])
def test_spectral_norm_divides_by_the_greatest_singular_value(dim: int) -> None:
    theirs = pytest.importorskip("torch")
    got = divided(retrograd, dim)
    for one, other in zip(got, divided(theirs, dim), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    assert np.linalg.norm(got[0], 2) == pytest.approx(1.0)
