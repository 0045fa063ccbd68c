"""Optimizers and clipping of complex parameters: PyTorch steps them as pairs of real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd

OPTIMIZERS = {
    "SGD": {"momentum": 0.9, "weight_decay": 0.1}, "Adam": {}, "AdamW": {"amsgrad": True},
    "Adagrad": {"initial_accumulator_value": 0.5}, "Adadelta": {}, "Adamax": {}, "RMSprop": {"centered": True, "momentum": 0.5},
    "NAdam": {}, "RAdam": {}, "ASGD": {}, "Rprop": {}}


def trained(torch: Any, name: str) -> list[Any]:
    """The parameters and the state after three steps."""
    p = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.cdouble, requires_grad=True)
    q = torch.tensor([1.0, 2.0], dtype=torch.double, requires_grad=True)
    optimizer = getattr(torch.optim, name)([p, q], lr=0.1, **OPTIMIZERS[name])
    for _ in range(3):
        optimizer.zero_grad()
        ((p * q).abs() ** 2).sum().backward()
        optimizer.step()
    state = [optimizer.state[p][key] for key in sorted(optimizer.state[p])]
    return [np.asarray(v.detach().numpy() if isinstance(v, torch.Tensor) else v) for v in (p, q, *state)]


@pytest.mark.oracle
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_and_state_are_pytorchs(name: str) -> None:
    theirs = pytest.importorskip("torch")
    for got, want in zip(trained(retrograd, name), trained(theirs, name), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, 1e-9)


@both
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_state_keeps_the_order_of_the_parameters(torch: Any, name: str) -> None:
    kinds = torch.complex64, torch.float32, torch.complex128, torch.float64, torch.complex64
    params = [torch.ones(2, dtype=kind, requires_grad=True) for kind in kinds]
    optimizer = getattr(torch.optim, name)(params, **OPTIMIZERS[name])
    for p in params[1:]:
        p.grad = torch.ones_like(p)
    optimizer.step()
    params[0].grad = torch.ones_like(params[0])
    optimizer.step()
    assert list(optimizer.state_dict()["state"]) == ([0, 1, 2, 3, 4] if name == "Adagrad" else [1, 2, 3, 4, 0])


@pytest.mark.oracle
@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_steps_complex_parameters_beside_real_ones(search: str | None) -> None:
    import torch as theirs

    found = []
    for torch in (retrograd, theirs):
        p = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.cdouble, requires_grad=True)
        q = torch.tensor([1.0, 2.0], dtype=torch.double, requires_grad=True)
        optimizer = torch.optim.LBFGS([p, q], lr=0.5, max_iter=4, line_search_fn=search)

        def closure() -> Any:
            loss = ((p - 1j).abs() ** 3).sum() + (p * q).sum().abs() ** 2       # noqa: B023  called at once
            p.grad, q.grad = torch.autograd.grad(loss, [p, q])                  # noqa: B023
            return loss
        found.append([*(optimizer.step(closure).item() for _ in range(3)), *p.tolist(), *q.tolist()])
    assert found[0] == pytest.approx(found[1], rel=1e-8)
    assert found[0][2] < found[0][0]


def refusal(torch: Any, name: str, options: dict[str, Any], first: str, late: bool) -> tuple[Any, ...]:
    """What the optimizer raises for a complex matrix after a real one, or before, or in a later group."""
    params = [torch.zeros(2, 2, dtype=getattr(torch, d), requires_grad=True)
              for d in (first, "float64" if first == "cfloat" else "cfloat")]
    closures: list[int] = []
    try:
        optimizer = getattr(torch.optim, name)(params[:1] if late else params, lr=0.1, **options)
        params[0].grad = torch.ones_like(params[0])
        optimizer.step(lambda: closures.append(1))
        if late:
            optimizer.add_param_group({"params": params[1:]})
        params[1].grad = torch.ones_like(params[1])
        optimizer.step(lambda: closures.append(2))
    except (RuntimeError, ValueError) as e:
        return type(e).__name__, str(e), closures, [p.tolist() for p in params]
    return (closures,)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "options"), [
    *((name, {"fused": True}) for name in ("SGD", "Adam", "AdamW", "Adagrad")), ("Muon", {}), ("Adafactor", {}),
    ("SparseAdam", {}),
], ids=str)
def test_complex_parameters_are_refused_when_pytorch_refuses_them(name: str, options: dict[str, Any]) -> None:
    theirs = pytest.importorskip("torch")
    for first in ("float64", "cfloat"):
        for late in (False, True):
            got, want = refusal(retrograd, name, options, first, late), refusal(theirs, name, options, first, late)
            assert str(got[:-1]) == str(want[:-1])
            np.testing.assert_allclose(got[-1], want[-1], 1e-2)                 # Muon's steps have the digits of bfloat16


@both
def test_gradients_are_clipped_by_their_norm(torch: Any) -> None:
    z = torch.tensor([3 + 4j, 12j], requires_grad=True)
    (z.abs() ** 2).sum().backward()
    assert float(torch.nn.utils.clip_grad_norm_([z], 1.3)) == 26.0
    assert z.grad.real.tolist() == pytest.approx([0.3, 0.0], rel=1e-5)
    assert z.grad.imag.tolist() == pytest.approx([0.4, 1.2], rel=1e-5)
