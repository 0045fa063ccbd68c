"""differentiable=True: steps that autograd follows, bit for bit the ordinary ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.func import functional_call
from retrograd.nn import functional as F

O: Any = torch.optim
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.05}), ("SGD", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.01, "momentum": 0.8, "dampening": 0.5, "maximize": True}),
    ("Adam", {"lr": 0.05}), ("Adam", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.1}), ("AdamW", {"lr": 0.05}),
    ("Adamax", {"lr": 0.05, "weight_decay": 0.1}), ("NAdam", {"weight_decay": 0.1}),
    ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}), ("RAdam", {"betas": (0.5, 0.7), "weight_decay": 0.1}),
    ("RAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}), ("RMSprop", {"weight_decay": 0.1}),
    ("RMSprop", {"centered": True, "momentum": 0.5}), ("Adagrad", {"lr_decay": 0.1, "weight_decay": 0.1}),
    ("Adadelta", {"lr": 0.5, "weight_decay": 0.1}), ("ASGD", {"t0": 2, "lambd": 0.01, "weight_decay": 0.1}), ("Rprop", {})]
HELD = ("momentum_buffer", "exp_avg", "exp_avg_sq", "exp_inf", "square_avg", "grad_avg", "sum", "acc_delta")
each = pytest.mark.parametrize(("name", "options"), OPTIONS, ids=[f"{name} {kw}" for name, kw in OPTIONS])


def gradients(rows: int, steps: int) -> Any:
    found = np.random.default_rng(0).normal(size=(steps, rows, 3))
    found[:, 0] = 0                             # a parameter that never gets a gradient
    return found


@each
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_four_steps_have_the_bits_of_ordinary_ones(name: str, options: dict[str, Any], dtype: str) -> None:
    kind = getattr(torch, dtype)
    found = []
    for differentiable in (False, True):
        p: Any = (torch.arange(15.0).reshape(5, 3) / 7 - 1).to(kind).requires_grad_()
        p = p.clone() if differentiable else p
        o = getattr(O, name)([p], differentiable=differentiable, **options)
        for g in gradients(5, 4):
            p.grad = torch.tensor(g).to(kind)
            o.step()
        found.append((p, o.state[p]))
    (p, state), (q, other) = found
    assert q.grad_fn is not None and q.tolist() == p.tolist() and list(other) == list(state)
    for key, x in state.items():
        assert other[key].dtype is x.dtype and other[key].tolist() == x.tolist(), key


def trained(T: Any, p: Any, g: Any, name: str, options: dict[str, Any], steps: int = 3) -> Any:
    """What `steps` steps make of p with gradients that depend on p."""
    p = p.clone()
    o = getattr(T.optim, name)([p], differentiable=True, **options)
    for i in range(steps):
        p.grad = g[i] + 0.1 * p.clone()
        o.step()
    return p


@each
def test_derivatives_through_steps_are_those_of_finite_differences(name: str, options: dict[str, Any]) -> None:
    if name == "Rprop":
        return                                  # steps of fixed sizes
    p = torch.tensor([[0.3, -0.2, 0.5], [0.1, 0.9, -0.7]], dtype=torch.float64, requires_grad=True)
    g = torch.tensor(gradients(3, 3)[:, 1:], requires_grad=True)
    lr = torch.tensor(options.get("lr", 0.01), dtype=torch.float64, requires_grad=True)
    decay = torch.tensor(options.get("weight_decay", 0.02), dtype=torch.float64, requires_grad=True)

    def end(p: Any, g: Any, lr: Any, decay: Any) -> Any:
        return trained(torch, p, g, name, {**options, "lr": lr, "weight_decay": decay})

    assert torch.autograd.gradcheck(end, (p, g, lr, decay))


@pytest.mark.oracle
@each
def test_derivatives_through_a_step_are_pytorchs(name: str, options: dict[str, Any]) -> None:
    """The third step: PyTorch cuts SGD's first momentum off, and edits in place what most later steps' derivatives read."""
    real = pytest.importorskip("torch")
    found = []
    for T in (real, torch):
        before = T.tensor([[0.3, -0.2, 0.5], [0.1, 0.9, -0.7]], dtype=T.float64, requires_grad=True)
        first, second, third = (T.tensor(g, dtype=T.float64) for g in gradients(3, 3)[:, 1:])
        ordinary = getattr(T.optim, name)([before], **options)
        for g in (first, second):
            before.grad = g
            ordinary.step()
        p, g = before.detach().clone().requires_grad_(), third.requires_grad_()
        q = p.clone()
        o = getattr(T.optim, name)([q], differentiable=True, **options)
        state = {k: v.clone().double() for k, v in ordinary.state[before].items()}      # counts are float32
        kept = {k: v.requires_grad_() for k, v in state.items() if k in HELD}
        o.state[q].update({**state, **{k: v.clone() for k, v in kept.items()}})
        q.grad = g + 0.1 * p
        o.step()
        q.pow(2).sum().backward()
        found.append([x.tolist() for x in (q, p.grad, g.grad, *(v.grad for v in kept.values() if v.grad is not None))])
    for ours, theirs in zip(found[1], found[0], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_the_first_momentum_is_part_of_the_graph() -> None:
    p = torch.ones(2, requires_grad=True)
    q, g = p.clone(), torch.ones(2, requires_grad=True)
    q.grad = g * 1
    O.SGD([q], lr=0.5, momentum=0.9, differentiable=True).step()
    q.sum().backward()
    assert g.grad is not None and g.grad.tolist() == [-0.5, -0.5]


@pytest.mark.parametrize("name", ["Adam", "RMSprop", "Adagrad", "NAdam", "RAdam"])
def test_a_parameter_without_a_gradient_has_a_finite_derivative(name: str) -> None:
    w = torch.ones(2, requires_grad=True)
    p = torch.ones(2, requires_grad=True).clone()
    o = getattr(O, name)([p], differentiable=True)
    for _ in range(6):
        p.grad = torch.tensor([0.0, 1.0]) * w
        o.step()
    p.sum().backward()
    assert w.grad is not None and w.grad.isfinite().all() and w.grad[0] == 0


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_leaves_are_refused_in_pytorchs_words(name: str) -> None:
    real = pytest.importorskip("torch")
    found = []
    for T in (real, torch):
        p = T.ones(2, requires_grad=True)
        p.grad = T.ones(2)
        with pytest.raises(RuntimeError) as e:
            getattr(T.optim, name)([p], differentiable=True).step()
        found.append(str(e.value))
        assert p.tolist() == [1, 1]
    assert found[1] == found[0]


def test_an_inner_loop_over_functional_calls_learns_a_start_and_a_rate() -> None:
    """The loop of MAML and of `higher`: outer gradients through inner steps, checked by differences."""
    torch.manual_seed(0)
    x, y = torch.randn(8, 3, dtype=torch.float64), torch.randn(8, 1, dtype=torch.float64)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).double()
    names = [name for name, _ in model.named_parameters()]

    def outer(lr: Any, *start: Any) -> Any:
        fast = [w.clone() for w in start]
        o = O.Adam(fast, lr=lr, differentiable=True)
        for _ in range(3):
            now = [w.clone() for w in fast]
            inner = F.mse_loss(functional_call(model, dict(zip(names, now)), (x[:4],)), y[:4])
            for w, g in zip(fast, torch.autograd.grad(inner, now, create_graph=True)):
                w.grad = g
            o.step()
        return F.mse_loss(functional_call(model, dict(zip(names, fast)), (x[4:],)), y[4:])

    lr = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(outer, (lr, *model.parameters()))
