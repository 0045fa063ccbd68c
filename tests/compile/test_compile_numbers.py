"""A tensor in the place of a number, as in add(alpha=t), x[t] and cumsum(t): each call reads what it holds then."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
import retrograd.nn.functional as F
from retrograd._compile.verified import Verified

PARTS = [torch.tensor(i / 8) for i in range(1, 6)]
WHOLE = [torch.tensor(i) for i in range(5)]
DIMS = [torch.tensor(i % 2) for i in range(5)]
CALLS: dict[str, tuple[Any, list[Any]]] = {
    "add(alpha=)": (lambda x, t: torch.add(x, x.exp(), alpha=t), PARTS),
    "sub(alpha=)": (lambda x, t: torch.sub(x, x.exp(), alpha=t), WHOLE),
    "rsub(alpha=)": (lambda x, t: torch.rsub(x, x.exp(), alpha=t), PARTS),
    "addcmul(value=)": (lambda x, t: torch.addcmul(x, x.exp(), x, value=t), PARTS),
    "addmm": (lambda x, t: torch.addmm(x, x.exp(), x, alpha=t, beta=t), PARTS),
    "baddbmm": (lambda x, t: torch.baddbmm(x[None], x[None], x[None], alpha=t), PARTS),
    "clamp": (lambda x, t: x.exp().clamp(0, t), PARTS),
    "hardtanh": (lambda x, t: F.hardtanh(x.exp(), 0.0, t), PARTS),
    "leaky_relu": (lambda x, t: F.leaky_relu(x.sin(), t), PARTS),
    "elu": (lambda x, t: F.elu(x.sin(), t), PARTS),
    "celu": (lambda x, t: F.celu(x.sin(), t), PARTS),
    "softplus": (lambda x, t: F.softplus(x.sin(), t), PARTS),
    "huber_loss": (lambda x, t: F.huber_loss(x.exp(), x, delta=t), PARTS),
    "smooth_l1_loss": (lambda x, t: F.smooth_l1_loss(x.exp(), x, beta=t), PARTS),
    "label_smoothing": (lambda x, t: F.cross_entropy(x.exp(), torch.arange(6), label_smoothing=t), PARTS),
    "attention": (lambda x, t: F.scaled_dot_product_attention(x[None], x[None], x[None], scale=t), PARTS),
    "norm": (lambda x, t: x.exp().norm(t), PARTS),
    "normalize": (lambda x, t: F.normalize(x.exp(), t), PARTS),
    "std": (lambda x, t: x.exp().std(correction=t), WHOLE),
    "dropout": (lambda x, t: F.dropout(x.exp(), p=t), [torch.tensor(0.0), *PARTS]),
    "tril": (lambda x, t: x.exp().tril(t), WHOLE),
    "roll": (lambda x, t: x.exp().roll(t), WHOLE),
    "full_like": (lambda x, t: torch.full_like(x, t) * x, PARTS),
    "softmax": (lambda x, t: x.exp().softmax(t), DIMS),
    "cumsum": (lambda x, t: x.exp().cumsum(t), DIMS),
    "sum": (lambda x, t: x.exp().sum(t), DIMS),
    "cat": (lambda x, t: torch.cat([x.sin(), x.exp()], t), DIMS),
    "unsqueeze": (lambda x, t: x.exp().unsqueeze(t), DIMS),
    "transpose": (lambda x, t: x.exp().transpose(0, t), DIMS),
    "glu": (lambda x, t: F.glu(x.exp(), t), DIMS),
    "x[t]": (lambda x, t: x.exp()[t], WHOLE),
    "x[-t]": (lambda x, t: x.exp()[-t], WHOLE),
    "x[t, :2]": (lambda x, t: x.exp()[t, :2], WHOLE),
    "x[:t + 1]": (lambda x, t: x.exp()[:t + 1], WHOLE),
    "x[None, t]": (lambda x, t: x.exp()[None, t], DIMS),
    "x[argmin]": (lambda x, t: x[(x * t).sum(0).argmin()], [-PARTS[0], PARTS[0], -PARTS[1], PARTS[1]]),
    "x[randint]": (lambda x, t: x[torch.randint(0, 6, ())] * t, PARTS),
    "y[t] =": (lambda x, t: written(x.exp(), t), WHOLE),
    "y[:t] =": (lambda x, t: written(x.exp(), slice(None, t)), WHOLE),
    "select": (lambda x, t: x.exp().select(0, t), WHOLE),
    "narrow": (lambda x, t: x.exp().narrow(0, t, 1), WHOLE),
    "expand": (lambda x, t: x[0].exp().expand(t + 1, 6), WHOLE),
    "repeat": (lambda x, t: x.exp().repeat(t + 1, 1), WHOLE),
    "new_full": (lambda x, t: x.new_full((t + 1,), 2.0), WHOLE),
    "target": (lambda x, t: F.cross_entropy(x[0], t), WHOLE),
    "operands": (lambda x, t: x.lerp(x.exp(), t) * t + t.expand_as(x) - F.mse_loss(x.mean(), t) ** t, PARTS),
}


def written(y: Any, at: Any) -> Any:
    y[at] = 5.0
    return y


@pytest.mark.filterwarnings("ignore:torch.compile")             # as many plans as there may be
@pytest.mark.parametrize("options", [None, {"python": "skip", "check": 0}, {"python": "skip", "check": 1}], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_it_is_read_at_each_call(name: str, options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Verified, "always", True)
    f, numbers = CALLS[name]

    def loss(x: Any, t: Any) -> Any:
        return f(x, t) * 2

    fast = torch.compile(loss, options=options)
    for turn in range(2):
        x = torch.randn(6, 6, generator=torch.Generator().manual_seed(turn))
        for t in numbers:
            torch.manual_seed(turn)
            want = loss(x, t)
            torch.manual_seed(turn)
            assert torch.equal(fast(x, t), want)


def test_what_scales_and_picks_is_replayed() -> None:
    for f in (lambda x, t: torch.add(x, x.exp(), alpha=t), lambda x, t: x.exp()[t.long()]):
        fast = torch.compile(f, options={"python": "skip"})
        for t in PARTS:
            fast(torch.randn(3), t)
        assert "replayed 4 times" in fast.explain()
