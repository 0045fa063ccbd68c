"""capture(weight_grads=False): backward leaves out what the capture says anyway."""
from __future__ import annotations

from typing import Any

import pytest

from retrograd.microscope import CaptureError, capture


def model_of(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Conv1d(2, 3, 3), nn.Tanh(), nn.Conv1d(3, 3, 2, groups=3), nn.ReLU(inplace=True), nn.Flatten(),
                         nn.LayerNorm(15), nn.Linear(15, 5), nn.Tanh(), nn.Linear(5, 2))


def run(torch: Any, model: Any, cap: Any, x: Any) -> dict[str, Any]:
    """One step; -> the gradients that backward left in .grad."""
    model.zero_grad()
    with cap:
        model(x).sin().sum().backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def test_quantities_are_those_of_a_full_step(torch: Any) -> None:
    model, x = model_of(torch), torch.randn(4, 2, 8)
    full, lean = capture(model), capture(model, weight_grads=False)
    first = run(torch, model, lean, x)              # checked, so nothing is left out
    assert set(first) == {name for name, _ in model.named_parameters()}
    for _ in range(2):
        x = torch.randn(3, 2, 8)
        # not the first layer's bias, which leads the gradient there, nor the norm
        spared = {"0.weight", "2.weight", "2.bias", "6.weight", "6.bias", "8.weight", "8.bias"}
        got = run(torch, model, lean, x)
        assert set(got) == set(first) - spared
        want = run(torch, model, full, x)
        for name, g in lean.grads().weight_grad().items():
            assert torch.allclose(g, want[name], rtol=1e-4, atol=1e-6), name
        for name, g in got.items():
            assert torch.equal(g, want[name]), name
        assert torch.allclose(lean.grads().norms(), full.grads().norms(), rtol=1e-5)
        assert torch.allclose(lean.grads().dots(), full.grads().dots(), rtol=1e-4, atol=1e-6)
        for name, g in lean.grads().clip(0.5).items():
            assert torch.allclose(g, full.grads().clip(0.5)[name], rtol=1e-4, atol=1e-6), name
        assert lean.coverage().complete and lean.coverage().verified


def test_gradients_that_are_there_stay(torch: Any) -> None:
    model, x = model_of(torch), torch.randn(4, 2, 8)
    cap = capture(model, weight_grads=False)
    before = run(torch, model, cap, x)
    with cap:
        model(x).sin().sum().backward()
    assert torch.equal(model[8].weight.grad, before["8.weight"])
    assert torch.allclose(model[0].bias.grad, 2 * before["0.bias"])
    assert torch.allclose(model[5].weight.grad, 2 * before["5.weight"])


def test_hooked_and_otherwise_used_parameters_get_theirs(torch: Any) -> None:
    model, x = model_of(torch), torch.randn(4, 2, 8)
    cap = capture(model, weight_grads=False)
    run(torch, model, cap, x)
    seen: list[Any] = []
    handles = [model[8].weight.register_hook(lambda g: seen.append(g.shape)),
               model[6].bias.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.shape))]
    assert {"8.weight", "6.bias"} <= set(run(torch, model, cap, x)) and len(seen) == 2
    for handle in handles:
        handle.remove()
    assert not {"8.weight", "6.bias"} & set(run(torch, model, cap, x))


@pytest.mark.parametrize("bias", [True, False])
def test_a_layer_called_on_data_without_a_gradient_keeps_what_leads_the_gradient_there(torch: Any, bias: bool) -> None:
    nn = torch.nn

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.out = nn.Linear(3, 3, bias=bias), nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            return self.out(self.fc(self.fc(x).tanh()))
    model, x = Twice(), torch.randn(4, 3)
    full, lean = capture(model), capture(model, weight_grads=False)
    for n in range(3):
        want = run(torch, model, full, x)
        grads = run(torch, model, lean, x)
        for name, g in lean.grads().weight_grad().items():
            assert torch.allclose(g, want[name], rtol=1e-4, atol=1e-6), name
        assert torch.allclose(lean.grads().norms(), full.grads().norms(), rtol=1e-5)
        if n:
            assert set(grads) == {"fc.bias" if bias else "fc.weight"}
    for name, g in grads.items():
        assert torch.allclose(g, want[name], rtol=1e-4, atol=1e-6)


def test_a_use_that_was_not_there_before_is_refused(torch: Any) -> None:
    nn = torch.nn

    class Penalised(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two, self.penalty = nn.Linear(3, 3), nn.Linear(3, 2), False

        def forward(self, x: Any) -> Any:
            y = self.two(self.one(x).tanh())
            return y * self.two.weight.pow(2).mean() if self.penalty else y
    model, x = Penalised(), torch.randn(4, 3)
    cap = capture(model, weight_grads=False)
    run(torch, model, cap, x)
    run(torch, model, cap, x)
    model.penalty = True
    with pytest.raises(CaptureError, match="weight_grads=False.*two.weight"):
        run(torch, model, cap, x)
    with capture(model) as cap:
        model(x).sin().sum().backward()
    assert max(cap.check().values()) < 1e-4


def test_checkpoints_run_the_same_again(torch: Any) -> None:
    from importlib import import_module
    checkpoint = import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    nn = torch.nn

    class Saved(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two, self.out = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            return self.out(checkpoint(lambda y: self.two(y).tanh(), self.one(x), use_reentrant=False))
    model, x = Saved(), torch.randn(4, 3)
    full, lean = capture(model), capture(model, weight_grads=False)
    for _ in range(3):
        want = run(torch, model, full, x)
        run(torch, model, lean, x)
        for name, g in lean.grads().weight_grad().items():
            assert torch.allclose(g, want[name], rtol=1e-4, atol=1e-6), name
        assert torch.allclose(lean.grads().norms(), full.grads().norms(), rtol=1e-5)


@pytest.mark.oracle
def test_models_that_wait_for_every_gradient_are_refused() -> None:
    torch = pytest.importorskip("torch")

    class DistributedDataParallel(torch.nn.Sequential):     # what DDP's class is called
        pass
    model = DistributedDataParallel(torch.nn.Linear(3, 2))
    with pytest.raises(CaptureError, match="DDP and FSDP"), capture(model, weight_grads=False):
        pass
    assert not model._forward_pre_hooks
