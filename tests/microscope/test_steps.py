"""One capture, step after step: what is remembered from one to the next, and what is not."""
from __future__ import annotations

import gc
import weakref
from typing import Any

from retrograd.microscope import capture


def two(torch: Any) -> Any:
    return torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))


def step(torch: Any, model: Any, cap: Any, x: Any) -> Any:
    model.zero_grad()
    with cap:
        model(x).pow(2).sum().backward()
    return cap.grads()


def alone(torch: Any, model: Any, x: Any) -> Any:
    """(N,) norms, one sample at a time."""
    found = []
    for n in range(x.shape[0]):
        model.zero_grad()
        model(x[n:n + 1]).pow(2).sum().backward()
        found.append(sum(float(p.grad.pow(2).sum()) for p in model.parameters() if p.grad is not None) ** 0.5)
    return torch.tensor(found)


def test_a_step_frees_the_tensors_of_the_one_before_at_once(torch: Any) -> None:
    model, x = two(torch), torch.randn(6, 4)
    cap = capture(model)
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            step(torch, model, cap, x)
        held = [weakref.ref(t) for u in cap.uses() for t in (*u.a, u.delta) if t is not None]
        assert held and all(r() is not None for r in held)
        cap.clear()
        assert [r() for r in held] == [None] * len(held)
    finally:
        gc.enable()


def test_quantities_of_a_step_outlive_the_next_one(torch: Any) -> None:
    model, x, y = two(torch), torch.randn(6, 4), torch.randn(5, 4)
    cap = capture(model)
    before = step(torch, model, cap, x)
    after = step(torch, model, cap, y)
    assert torch.allclose(before.norms(), alone(torch, model, x), rtol=1e-4)
    assert torch.allclose(after.norms(), alone(torch, model, y), rtol=1e-4)
    assert before.kfac().biases == after.kfac().biases == {"0.weight": "0.bias", "2.weight": "2.bias"}


def test_a_layer_put_in_between_steps_is_captured(torch: Any) -> None:
    model, x = two(torch), torch.randn(6, 4)
    cap = capture(model)
    step(torch, model, cap, x)
    model.append(torch.nn.Linear(3, 2))
    assert torch.allclose(step(torch, model, cap, x).norms(), alone(torch, model, x), rtol=1e-4)
    assert cap.coverage()["3.weight"].status == "factors"
    model[1] = torch.nn.Linear(5, 5)                # as many modules as before
    assert torch.allclose(step(torch, model, cap, x).norms(), alone(torch, model, x), rtol=1e-4)
    model[2].bias = torch.nn.Parameter(torch.ones(3))
    model[0].register_parameter("bias", None)
    assert torch.allclose(step(torch, model, cap, x).norms(), alone(torch, model, x), rtol=1e-4)
    assert "0.bias" not in {row.name for row in cap.coverage()}


def test_a_call_of_the_same_layer_in_another_form(torch: Any) -> None:
    nn = torch.nn

    class Changes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.scale, self.form = nn.Linear(4, 4), nn.Parameter(torch.randn(4)), 0

        def forward(self, x: Any) -> Any:
            F = nn.functional
            w, b = self.fc.weight, self.fc.bias
            y = [lambda: F.linear(x, w, b), lambda: F.linear(x, w), lambda: F.linear(x, weight=w, bias=b),
                 lambda: F.linear(x, w, self.scale), lambda: F.linear(x * self.scale, w, b),
                 lambda: F.linear(x.detach(), w, b),
                 lambda: 2 * self.scale * x + x * self.scale][self.form]()
            return y.tanh()
    model, x = Changes(), torch.randn(6, 4)
    cap = capture(model, check=True)
    for form in (0, 1, 0, 2, 3, 4, 5, 6, 0):
        model.form = form
        got = step(torch, model, cap, x)
        assert torch.allclose(got.norms(), alone(torch, model, x), rtol=1e-4), form
        assert cap.coverage().complete and max(cap.check().values()) < 1e-4, form


def test_frozen_and_thawed_between_steps(torch: Any) -> None:
    model, x = two(torch), torch.randn(6, 4)
    cap = capture(model)
    for on in (True, False, True):
        model[0].weight.requires_grad_(on)
        assert torch.allclose(step(torch, model, cap, x).norms(), alone(torch, model, x), rtol=1e-4)
        assert cap.coverage()["0.weight"].status == ("factors" if on else "frozen")
