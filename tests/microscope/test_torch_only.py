"""What only PyTorch has: autocast, loss scalers, bfloat16 kernels, sparse gradients, memory formats, create_graph."""
from __future__ import annotations

from typing import Any

import pytest

from retrograd.microscope import CaptureError, capture

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle
nn = torch.nn


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)


def model_of() -> Any:
    return nn.Sequential(nn.Linear(16, 24), nn.LayerNorm(24), nn.ReLU(inplace=True), nn.Linear(24, 8))


def near(a: Any, b: Any, tolerance: float) -> bool:
    return float((a.float() - b.float()).norm()) <= tolerance * float(b.float().norm())


def test_autocast_is_followed() -> None:
    model, x = model_of(), torch.randn(12, 5, 16)
    with capture(model) as cap, torch.autocast("cpu", torch.bfloat16):
        model(x).float().pow(2).sum().backward()
    assert cap.coverage().complete and max(cap.check().values()) < 0.02
    dtypes = {(u.name, u.path): (u.a[0].dtype, u.delta.dtype) for u in cap.uses()}
    assert dtypes["linear", "0"] == (torch.float32, torch.bfloat16)        # recorded as they were
    each = cap.grads().per_sample()
    assert all(g.dtype == torch.float32 for g in each.values())
    for n in range(3):
        model.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            model(x[n:n + 1]).float().pow(2).sum().backward()
        for name, p in model.named_parameters():
            assert near(each[name][n], p.grad, 0.03)


def test_a_bfloat16_model() -> None:
    model, x = model_of().bfloat16(), torch.randn(12, 5, 16, dtype=torch.bfloat16)
    with capture(model) as cap:
        model(x).float().pow(2).sum().backward()
    assert cap.coverage().complete and max(cap.check().values()) < 0.02
    assert cap.grads().norms().dtype == torch.float32


def test_a_loss_scaler_is_seen_and_undone() -> None:
    model, x = model_of(), torch.randn(12, 16)
    scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
    with capture(model) as cap:
        scaler.scale(model(x).pow(2).mean()).backward()
    with capture(model) as plain:
        model(x).pow(2).sum().backward()
    assert near(cap.grads(scale="sum").norms(), plain.grads().norms(), 1e-4)


def test_sparse_gradients_of_an_embedding() -> None:
    model, ids = nn.Sequential(nn.Embedding(9, 4, sparse=True), nn.Linear(4, 2)), torch.tensor([[1, 1], [3, 8]])
    with capture(model) as cap:
        model(ids).pow(2).sum().backward()
    assert max(cap.check().values()) < 1e-5
    assert torch.allclose(cap.grads().weight_grad()["0.weight"], model[0].weight.grad.to_dense())


def test_channels_last() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(inplace=True), nn.Conv2d(4, 2, 3)).to(memory_format=torch.channels_last)
    x = torch.randn(3, 3, 7, 7).contiguous(memory_format=torch.channels_last)
    with capture(model) as cap:
        model(x).pow(2).sum().backward()
    assert cap.coverage().complete and max(cap.check().values()) < 1e-5


def test_a_gradient_penalty_is_noticed() -> None:
    """The gradient of a gradient reaches weights by ways that are no call of a function with the weight."""
    model, x = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 1)), torch.randn(6, 4, requires_grad=True)
    with capture(model) as cap:
        g, = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        g.pow(2).sum().backward()
    assert {r.status for r in cap.coverage() if r.name != "2.bias"} == {"not covered"}
    with pytest.raises(CaptureError, match="differs from the gradient"):
        cap.grads()


def test_autograd_grad_counts_as_a_backward() -> None:
    model, x = model_of(), torch.randn(6, 16)
    with capture(model) as cap:
        got = torch.autograd.grad(model(x).pow(2).sum(), list(model.parameters()))
    for want, name in zip(got, cap.grads().names):
        assert near(cap.grads().weight_grad()[name], want, 1e-5)


def test_clipping_in_place_afterwards_does_not_change_what_was_captured() -> None:
    model, x = model_of(), torch.randn(6, 16)
    with capture(model) as cap:
        model(x).pow(2).sum().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
    assert cap.coverage().complete and max(cap.check().values()) < 1e-5


def test_checkpoints_leave_one_call_that_counts() -> None:
    from torch.utils.checkpoint import checkpoint_sequential
    model, x = model_of(), torch.randn(6, 16)
    with capture(model) as cap:
        out = checkpoint_sequential(model, 2, x, use_reentrant=False)
        out.pow(2).sum().backward()
    assert len(cap.uses("0")) == 1 and max(cap.check().values()) < 1e-5


def test_peak_memory_of_norms_is_far_below_per_sample_gradients() -> None:
    from torch.profiler import ProfilerActivity, profile
    model, x = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)), torch.randn(64, 256)
    with capture(model) as cap:
        model(x).pow(2).sum().backward()

    def allocated(ask: Any) -> int:
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
            ask()
        return sum(max(0, e.self_cpu_memory_usage) for e in seen.key_averages())
    assert allocated(lambda: cap.grads().norms()) * 20 < allocated(lambda: cap.grads().per_sample())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_scripted_parts_are_named() -> None:
    part = torch.jit.script(nn.Linear(4, 5))
    with pytest.raises(TypeError, match="scripted model"):
        capture(part)
    model = nn.Sequential(part, nn.Tanh(), nn.Linear(5, 2))
    with capture(model) as cap:
        model(torch.randn(3, 4)).pow(2).sum().backward()
    assert [r.status for r in cap.coverage()] in (
        ["not covered", "not covered", "factors", "per sample"], ["factors", "per sample", "factors", "per sample"])
    assert all(e < 1e-5 for e in cap.check().values())


def test_a_hook_that_does_not_like_the_verifying_pass() -> None:
    model, x = model_of(), torch.randn(6, 16)

    def strict(g: Any) -> None:
        if not g.abs().sum(1).all():
            raise ValueError("some sample has no gradient")
    model[3].register_forward_hook(lambda m, a, out: out.register_hook(strict) and None)
    with capture(model) as cap:
        model(x).pow(2).sum().backward()
    assert cap.coverage().complete and not cap.coverage().verified
    assert max(cap.check().values()) < 1e-5


def test_a_compiled_model_is_seen_as_what_it_computes() -> None:
    x = torch.randn(6, 4)

    def model_of() -> Any:
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    plain = model_of()
    with capture(plain) as cap:
        plain(x).pow(2).sum().backward()
    want = cap.grads().norms()
    original = model_of()
    compiled = torch.compile(original, backend="eager")
    part = model_of()
    part[0] = torch.compile(part[0], backend="eager")
    for captured, called in ((compiled, compiled), (original, compiled), (part, part)):
        with capture(captured) as cap:
            called(x).pow(2).sum().backward()
        assert cap.coverage().complete and cap.coverage().verified
        assert torch.allclose(cap.grads().norms(), want, rtol=1e-5)


@pytest.mark.parametrize("turned", [False, True])
def test_samples_are_proven_through_many_layers_of_bfloat16(turned: bool) -> None:
    class Deep(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 16), nn.GELU()) for _ in range(24))

        def forward(self, x: Any) -> Any:
            for k, layer in enumerate(self.layers):
                x = x + (layer(x.flip(0)).flip(0) if turned and k == 5 else layer(x))
            return x
    model, x = Deep(), torch.randn(33, 3, 16)
    with torch.autocast("cpu", dtype=torch.bfloat16), capture(model) as cap:
        model(x).float().pow(2).mean().backward()
    assert cap.coverage().verified and cap.coverage().mixed == turned
    assert {row.name.split(".")[1] for row in cap.coverage().missing} == ({"5"} if turned else set())
