"""Steps that are unlike the first: what was found out of that one is asked again when it may not hold any more."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from retrograd.microscope import UncoveredError, capture


def by_hand(torch: Any, mixing: Callable[[Any, Any], Any], calm: Callable[[Any, Any], Any]) -> Any:
    """A layer without parameters that mixes samples in training mode."""
    class Layer(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return (mixing if self.training else calm)(torch, x)
    return Layer()


def centred(torch: Any, x: Any) -> Any:
    return (x - x.mean(0)) / (x.var(0) + 1e-5).sqrt()


def scaled(torch: Any, x: Any) -> Any:
    return x / 2


def step(torch: Any, model: Any, cap: Any, x: Any, y: Any) -> None:
    model.zero_grad()
    with cap:
        torch.nn.functional.mse_loss(model(x), y).backward()


def alone(torch: Any, model: Any, x: Any, y: Any) -> Any:
    """(N,) norms of the gradients of each sample's loss, in its batch."""
    found = []
    for n in range(len(x)):
        model.zero_grad()
        torch.nn.functional.mse_loss(model(x)[n], y[n]).backward()
        found.append(torch.cat([p.grad.reshape(-1) for p in model.parameters()]).norm())
    model.zero_grad()
    return torch.stack(found)


MIXING: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "batch norm by hand": (centred, scaled),
    "softmax along the batch": (lambda T, x: x.softmax(0), lambda T, x: x.softmax(1)),
    "the same, by name": (lambda T, x: T.softmax(x, dim=0), lambda T, x: T.softmax(x, dim=1)),
    "running sums": (lambda T, x: x.cumsum(0), lambda T, x: x.cumsum(1)),
    "a product with a matrix of the batch": (lambda T, x: T.ones(6, 6) @ x, lambda T, x: x),
    "a deviation": (lambda T, x: x / x.std(), lambda T, x: x),
}


@pytest.mark.parametrize("name", MIXING)
def test_mixing_that_begins_in_a_later_step_is_found(torch: Any, name: str) -> None:
    nn = torch.nn
    x, y = torch.randn(6, 4), torch.randn(6, 3)
    model = nn.Sequential(nn.Linear(4, 5), by_hand(torch, *MIXING[name]), nn.Linear(5, 3))
    cap = capture(model)
    for training in (False, False, True, True, False):
        model.train(training)
        step(torch, model, cap, x, y)
        assert cap.coverage().complete is not training
        if training:
            with pytest.raises(UncoveredError, match="depends on others"):
                cap.grads().norms()
            assert cap.grads("2").names == ["2.weight", "2.bias"]
        else:
            assert cap.coverage().verified
            assert torch.allclose(cap.grads(scale="sample").norms(), alone(torch, model, x, y), rtol=1e-4)


BY_A_NUMBER: dict[str, Callable[[Any, Any, Any], Any]] = {
    "mean": lambda T, h, k: h + k * h.mean(0),
    "mean of all": lambda T, h, k: h + k * h.mean(),
    "mean, by a tensor": lambda T, h, k: h + T.tensor(k) * h.mean((0,)),
    "mean, cut off": lambda T, h, k: h + (h.mean(0) - 2 + 2 * k).relu(),
    "mean, picked": lambda T, h, k: T.where(h > 2 - 2 * k, h.mean(0), h),
    "norm": lambda T, h, k: h + k * h / h.norm(),
    "spread": lambda T, h, k: h + k * h.var(0),
    "largest": lambda T, h, k: h + k * h.amax(0, keepdim=True),
    "running sums": lambda T, h, k: h + k * h.cumsum(0),
    "softmax": lambda T, h, k: h + k * h.softmax(-2),
    "the first": lambda T, h, k: h + k * h[0],
    "the second": lambda T, h, k: h + k * h.unbind(0)[1],
    "einsum": lambda T, h, k: h + k * T.einsum("ni->i", h),
    "a property": lambda T, h, k: h + (h.T if k else h),
}


@pytest.mark.parametrize("name", BY_A_NUMBER)
def test_mixing_that_a_number_turns_on_is_found(torch: Any, name: str) -> None:
    class Mixing(torch.nn.Module):  # type: ignore[misc]
        k = 0.0

        def forward(self, h: Any) -> Any:
            return BY_A_NUMBER[name](torch, h, self.k)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), Mixing(), nn.Linear(5, 3))
    cap = capture(model)
    for k in (0.0, 0.0, 2.0, 0.0):
        model[2].k = k
        step(torch, model, cap, torch.randn(5, 4), torch.randn(5, 3))
        assert cap.coverage().verified and cap.coverage().complete is (k == 0)


def test_means_inside_samples_are_proven_once(torch: Any) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), by_hand(torch, centred, lambda T, x: x - x.mean(-1, keepdim=True)))
    cap = capture(model.eval())
    count = passes(cap)
    for _ in range(3):
        step(torch, model, cap, torch.randn(5, 4), torch.randn(5, 5))
    assert count == [1] and cap.coverage().complete


def test_a_first_batch_of_one_proves_nothing_of_larger_ones(torch: Any) -> None:
    class TokensFirst(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = torch.nn.Linear(4, 5), torch.nn.Linear(5, 3)

        def forward(self, x: Any) -> Any:
            return self.b(self.a(x).transpose(0, 1).tanh()).transpose(0, 1)
    model = TokensFirst()
    cap = capture(model)
    for N in (1, 4, 1, 4):                          # as many samples as tokens
        x, y = torch.randn(N, 4, 4), torch.randn(N, 4, 3)
        step(torch, model, cap, x, y)
        assert cap.coverage().complete and cap.coverage().verified is (N > 1)
        assert torch.allclose(cap.grads(scale="sample").norms(), alone(torch, model, x, y), rtol=1e-4)


@pytest.mark.parametrize("form", ["matrices", "einsum", "constant"])
def test_a_mask_that_lets_samples_see_each_other_in_a_later_step(torch: Any, form: str) -> None:
    class Attention(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.q, self.o, self.mask = torch.nn.Linear(4, 4), torch.nn.Linear(4, 3), torch.eye(6) > 0

        def forward(self, x: Any) -> Any:
            h = self.q(x)
            if form == "constant":
                return self.o(self.mask.float() @ h)
            if form == "matrices":
                return self.o((h @ h.T).masked_fill(~self.mask, -1e9).softmax(1) @ h)
            weights = torch.einsum("id,jd->ij", h, h).masked_fill(~self.mask, -1e9).softmax(1)
            return self.o(torch.einsum("ij,jd->id", weights, h))
    model, x, y = Attention(), torch.randn(6, 4), torch.randn(6, 3)
    cap = capture(model)
    for opened in (False, False, True, False):
        model.mask = (torch.ones(6, 6) if opened else torch.eye(6)) > 0
        step(torch, model, cap, x, y)
        assert cap.coverage().verified and cap.coverage().complete is not opened
        if not opened:
            assert torch.allclose(cap.grads(scale="sample").norms(), alone(torch, model, x, y), rtol=1e-4)


def test_attention_inside_samples_is_proven_once(torch: Any) -> None:
    model = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    cap = capture(model)
    count = passes(cap)
    for _ in range(3):
        step(torch, model, cap, torch.randn(4, 8, 8), torch.randn(4, 8, 8))
        assert cap.coverage().complete and cap.coverage().verified
    assert count == [1]


@pytest.mark.parametrize("form", ["weight norm", "masked", "transposed"])
def test_products_with_weights_are_proven_once(torch: Any, form: str) -> None:
    nn = torch.nn

    class Own(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.w, self.mask = nn.Parameter(torch.randn(6, 6)), torch.eye(6)
            self.normed = nn.utils.parametrizations.weight_norm(nn.Linear(6, 6))

        def forward(self, x: Any) -> Any:
            return self.normed(x) if form == "weight norm" else x @ (self.w * self.mask if form == "masked" else self.w.t())
    model = Own()
    cap = capture(model)
    count = passes(cap)
    for _ in range(3):
        step(torch, model, cap, torch.randn(6, 6), torch.randn(6, 6))
        assert cap.coverage().complete and cap.coverage().verified
    assert count == [1]


def passes(cap: Any) -> list[int]:
    """Counts the proofs from here on."""
    count, place = [0], cap._place

    def counted(*args: Any) -> None:
        count[0] += 1
        place(*args)
    cap._place = counted
    return count


def test_steps_that_call_the_same_are_proven_once(torch: Any) -> None:
    nn = torch.nn
    model, y = nn.Sequential(nn.Linear(4, 5), by_hand(torch, centred, scaled), nn.Linear(5, 3)).eval(), torch.randn(6, 3)
    cap = capture(model)
    count = passes(cap)
    for _ in range(4):
        step(torch, model, cap, torch.randn(6, 4), y)
    assert count == [1]


def rezero(torch: Any) -> Any:
    class Gated(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            nn = torch.nn
            self.fc, self.norm, self.gate = nn.Linear(4, 4), by_hand(torch, centred, scaled), nn.Parameter(torch.zeros(()))
            self.head = nn.Linear(4, 3)

        def forward(self, x: Any) -> Any:
            return self.head(x + self.gate * self.norm(self.fc(x)))
    return Gated()


def zero_head(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4, 5), by_hand(torch, centred, scaled), nn.Linear(5, 3))
    nn.init.zeros_(model[2].weight)
    return model


def low_rank(torch: Any) -> Any:
    class Adapted(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            nn = torch.nn
            self.fc, self.a, self.b = nn.Linear(4, 3), nn.Linear(4, 2, bias=False), nn.Linear(2, 3, bias=False)
            self.norm = by_hand(torch, centred, scaled)
            nn.init.zeros_(self.b.weight)

        def forward(self, x: Any) -> Any:
            return self.fc(x) + self.b(self.norm(self.a(x)))
    return Adapted()


@pytest.mark.parametrize("model_of", [zero_head, rezero, low_rank])
@pytest.mark.parametrize("mixes", [True, False])
def test_what_zeros_hide_from_the_first_proof_is_proven_when_they_are_gone(torch: Any, model_of: Any, mixes: bool) -> None:
    model, x, y = model_of(torch).train(mixes), torch.randn(6, 4), torch.randn(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    cap = capture(model)
    for n in range(4):
        want = alone(torch, model, x, y)
        step(torch, model, cap, x, y)
        report = cap.coverage()
        assert report.verified is (n > 0)
        assert report.complete is (n == 0 or not mixes)
        if report.complete:
            assert torch.allclose(cap.grads(scale="sample").norms(), want, rtol=1e-4)
        optimizer.step()


def test_a_layer_that_stays_dark_costs_few_proofs_and_says_so_when_light_comes(torch: Any) -> None:
    model, x, y = zero_head(torch).eval(), torch.randn(6, 4), torch.randn(6, 3)
    cap = capture(model)
    count = passes(cap)
    for _ in range(20):
        step(torch, model, cap, x, y)
    assert count[0] == 5                            # steps 0, 1, 3, 7 and 15
    torch.nn.init.ones_(model[2].weight)
    step(torch, model, cap, x, y)
    assert "told apart again in the next step" in cap.coverage()["0.weight"].how
    step(torch, model, cap, x, y)
    assert cap.coverage().complete and cap.coverage().verified and count[0] == 6


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_a_step_that_overflowed_is_not_held_against_later_ones(torch: Any, bad: float) -> None:
    model, x, y = torch.nn.Linear(4, 3), torch.randn(6, 4), torch.randn(6, 3)
    cap = capture(model)
    for factor in (bad, bad, 1.0, 1.0):
        model.zero_grad()
        with cap:
            (torch.nn.functional.mse_loss(model(x), y) * factor).backward()
        if factor != 1:
            with pytest.raises(UncoveredError, match="holds NaN or inf"):
                cap.grads()
        else:
            assert cap.coverage().complete and cap.coverage().verified
            assert torch.allclose(cap.grads(scale="sample").norms(), alone(torch, model, x, y), rtol=1e-4)


def test_an_overflow_in_a_step_of_other_calls_neither(torch: Any) -> None:
    nn = torch.nn
    x, y = torch.randn(6, 4), torch.randn(6, 3)
    model = nn.Sequential(nn.Linear(4, 5), by_hand(torch, scaled, lambda torch, x: x.sin()), nn.Linear(5, 3))
    cap = capture(model)
    for training, factor in ((False, 1.0), (True, float("inf")), (False, 1.0), (True, 1.0)):
        model.train(training).zero_grad()
        with cap:
            (nn.functional.mse_loss(model(x), y) * factor).backward()
        assert cap.coverage().complete is (factor == 1)
