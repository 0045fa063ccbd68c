"""Models that put the samples of their batch in another order, pick, repeat or join them, against a loop over single samples."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from retrograd.microscope import capture

GOOD = ("factors", "per sample")


def model_of(torch: Any, forward: Callable[..., Any]) -> Any:
    nn = torch.nn

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two, self.scale = nn.Linear(4, 4), nn.Linear(4, 3), nn.Parameter(torch.randn(4))
            self.letter, self.rnn = nn.Embedding(9, 4), nn.GRU(4, 4, batch_first=True)

        def forward(self, x: Any) -> Any:
            return forward(torch, self, x)
    torch.manual_seed(0)
    return Model()


def net(m: Any, x: Any) -> Any:
    return m.two((m.one(x) * m.scale).tanh())


def order(x: Any) -> Any:
    return x.reshape(len(x), -1)[:, 0].argsort()


def written(torch: Any, m: Any, x: Any) -> Any:
    rows = x.new_zeros(x.shape)
    rows[order(x)] = x
    return net(m, rows)


def copied(torch: Any, m: Any, x: Any) -> Any:
    return net(m, torch.zeros_like(x).index_copy_(0, order(x), x))


def scattered(torch: Any, m: Any, x: Any) -> Any:
    i = order(x).reshape(-1, 1).expand(len(x), 4)
    return net(m, torch.zeros_like(x).scatter_(0, i, x))


def in_python(torch: Any, m: Any, x: Any) -> Any:
    return net(m, torch.stack([x[i] for i in order(x).tolist()]))


def unrolled(torch: Any, m: Any, x: Any) -> Any:
    return net(m, torch.stack(list(reversed(x.unbind(0)))))


def shuffled_by_views(torch: Any, m: Any, x: Any) -> Any:
    return net(m, x.reshape(2, -1, 4).transpose(0, 1).reshape(-1, 4) if len(x) > 1 else x)


def hidden_shuffled_by_views(torch: Any, m: Any, x: Any) -> Any:
    h = m.one(x)
    return m.two(h.reshape(2, -1, 4).transpose(0, 1).reshape(-1, 4) if len(x) > 1 else h)


def with_a_loss_inside(torch: Any, m: Any, x: Any) -> Any:
    return net(m, x[order(x)]).pow(2).sum()


def hidden_with_a_loss_inside(torch: Any, m: Any, x: Any) -> Any:
    return m.two(m.one(x)[order(x)].tanh()).pow(2).sum()


def in_two_orders(torch: Any, m: Any, x: Any) -> Any:
    return m.two(m.one(x[order(x)]).tanh() + m.one(x).tanh())


def outputs_in_two_orders(torch: Any, m: Any, x: Any) -> Any:
    return net(m, x[order(x)]), net(m, x)


def there_and_back(torch: Any, m: Any, x: Any) -> Any:
    i = order(x)
    return m.two((m.one(x[i]) * m.scale).tanh()[i.argsort()])


def decoder(torch: Any, m: Any, x: Any) -> Any:
    lengths, i = x[:, 0].sort(descending=True)
    h, found = m.one(x[i]), []
    for _ in range(3):
        h = m.rnn(h.unsqueeze(1))[0][:, 0]
        found.append(m.two(h))
    return torch.stack(found, 1), i


def packed(torch: Any, m: Any, x: Any) -> Any:
    pack = torch.nn.utils.rnn
    i = order(x)
    rows = pack.pack_padded_sequence(x[i].unsqueeze(1).repeat(1, 2, 1), torch.tensor([2] * len(x)), batch_first=True)
    return m.two(pack.pad_packed_sequence(m.rnn(rows)[0], batch_first=True)[0])


def checkpointed(torch: Any, m: Any, x: Any) -> Any:
    from importlib import import_module
    run = import_module(torch.__name__ + ".utils.checkpoint").checkpoint
    return m.two(run(lambda h: (m.one(h) * m.scale).tanh(), x[order(x)], use_reentrant=False))


def letters(torch: Any, m: Any, x: Any) -> Any:
    ids = (x.detach() * 100).long() % 9
    return m.two(m.letter(ids[order(x)]).mean(1))


def attended(torch: Any, m: Any, x: Any) -> Any:
    x = x[order(x)].unsqueeze(1).expand(-1, 2, 4)
    h = m.one(x)
    return m.two(torch.softmax(h @ h.transpose(1, 2), -1) @ h)


def tokens_first(torch: Any, m: Any, x: Any) -> Any:
    h = m.one(x[order(x)].unsqueeze(0).expand(3, len(x), 4))        # (T, N, 4)
    return m.two(h.tanh()).transpose(0, 1)


def in_one_dimension(torch: Any, m: Any, x: Any) -> Any:
    h = m.one(x[order(x)].unsqueeze(1).repeat(1, 2, 1).reshape(-1, 4))
    return m.two(h.tanh()).reshape(len(x), 2, 3)


def joined_by_another_order(torch: Any, m: Any, x: Any) -> Any:
    return m.two(m.one(x) * x[order(x)])


def masked_by_another_order(torch: Any, m: Any, x: Any) -> Any:
    return m.two((m.one(x[order(x)]) * x).tanh())


def experts(torch: Any, m: Any, x: Any) -> Any:
    """One of two for each sample."""
    out = torch.zeros(len(x), 3)
    for e in range(2):
        at = ((x[:, 0] > 0) == bool(e)).nonzero().squeeze(1)
        out = out.index_add(0, at, m.two(m.one(x[at]) * m.scale if e else m.one(x[at]).tanh()))
    return out


def two_views(torch: Any, m: Any, x: Any) -> Any:
    first, second = net(m, torch.cat([x, x.flip(1)])).chunk(2)
    return first * second


def mixed_with_another(torch: Any, m: Any, x: Any) -> Any:
    return net(m, 0.7 * x + 0.3 * x.flip(0))


def pairs(torch: Any, m: Any, x: Any) -> Any:
    n = len(x)
    return net(m, (x.unsqueeze(0) - x.unsqueeze(1)).reshape(n * n, 4)).reshape(n, n, 3)


def by_a_product(torch: Any, m: Any, x: Any) -> Any:
    return net(m, torch.eye(len(x))[order(x)] @ x)


def by_an_einsum(torch: Any, m: Any, x: Any) -> Any:
    return net(m, torch.einsum("kn,ni->ki", torch.eye(len(x)).flip(0), x))


def put_elsewhere(torch: Any, m: Any, x: Any) -> Any:
    places = torch.arange(x.numel()).reshape(x.shape).flip(0)
    return net(m, torch.zeros(x.shape).put_(places, x))


def unsorted_lengths(torch: Any, m: Any, x: Any) -> Any:
    pack = torch.nn.utils.rnn
    lengths = (x.detach()[:, 0] * 10).long() % 3 + 1
    rows = pack.pack_padded_sequence(x.unsqueeze(1).expand(-1, 3, 4), lengths, batch_first=True, enforce_sorted=False)
    return m.two(m.rnn(rows)[1][0])


def frozen_below(torch: Any, m: Any, x: Any) -> Any:
    with torch.no_grad():
        h = m.one(x[order(x)]).relu()
    return m.two(h * m.scale)


def shifted(torch: Any, m: Any, x: Any) -> Any:
    rows = torch.zeros_like(x)
    rows[1:] = x[:-1]
    return net(m, rows)


def hidden_shifted(torch: Any, m: Any, x: Any) -> Any:
    h = m.one(x)
    rows = torch.zeros_like(h)
    rows[1:] = h[:-1]
    return m.two(rows)


def shifted_by_a_convolution(torch: Any, m: Any, x: Any) -> Any:
    F = torch.nn.functional
    return net(m, F.conv1d(F.pad(x.t().unsqueeze(1), (1, 0)), torch.tensor([[[1.0, 0.0]]]))[:, 0].t())


MODELS: dict[str, Callable[..., Any]] = {
    "sorted": lambda T, m, x: (net(m, x[order(x)]), order(x)),
    "sorted, inside": lambda T, m, x: m.two(m.one(x)[order(x)].tanh()),
    "sorted twice": lambda T, m, x: m.two(m.one(x[order(x)])[order(-x)].tanh()),
    "index_select": lambda T, m, x: net(m, x.index_select(0, order(x))),
    "hidden index_select": lambda T, m, x: m.two(T.index_select(m.one(x), 0, order(x)) * m.scale),
    "flip": lambda T, m, x: net(m, x.flip(0)),
    "hidden flip": lambda T, m, x: m.two(m.one(x).flip(0)),
    "flipud": lambda T, m, x: net(m, T.flipud(x)),
    "roll": lambda T, m, x: net(m, x.roll(1, 0)),
    "hidden roll": lambda T, m, x: m.two(T.roll(m.one(x), 2, 0)),
    "gather": lambda T, m, x: net(m, x.gather(0, order(x).reshape(-1, 1).expand(len(x), 4))),
    "hidden gather": lambda T, m, x: m.two(m.one(x).gather(0, order(x).reshape(-1, 1).expand(len(x), 4))),
    "take_along_dim": lambda T, m, x: net(m, T.take_along_dim(x, order(x).reshape(-1, 1), 0)),
    "list of numbers": lambda T, m, x: net(m, x[order(x).tolist()]),
    "mask": lambda T, m, x: net(m, x[x[:, 0] > 0]),
    "hidden mask": lambda T, m, x: m.two(m.one(x)[x[:, 0] > 0]),
    "masks joined": lambda T, m, x: net(m, T.cat([x[x[:, 0] > 0], x[x[:, 0] <= 0]])),
    "hidden masks joined": lambda T, m, x: m.two(T.cat([m.one(x)[x[:, 0] > 0], m.one(x)[x[:, 0] <= 0]])),
    "repeated": lambda T, m, x: net(m, x.repeat(2, 1)),
    "repeat_interleave": lambda T, m, x: net(m, x.repeat_interleave(2, 0)),
    "hidden repeat_interleave": lambda T, m, x: m.two(m.one(x).repeat_interleave(2, 0)),
    "the same ones twice": lambda T, m, x: net(m, x[T.arange(len(x)) // 2 * 2]),
    "the first half twice": lambda T, m, x: net(m, T.cat([x[:len(x) // 2 + len(x) % 2], x[:len(x) // 2]])),
    "joined to itself": lambda T, m, x: net(m, T.cat([x, x])),
    "halves exchanged": lambda T, m, x: net(m, T.cat([x[len(x) // 2:], x[:len(x) // 2]])),
    "hidden halves exchanged": lambda T, m, x: m.two(T.cat(list(reversed(m.one(x).chunk(2))))),
    "chunks exchanged": lambda T, m, x: net(m, T.cat(list(reversed(x.chunk(2))))),
    "split, by views": lambda T, m, x: net(m, T.cat(list(reversed(x.split(2))))),
    "sort": lambda T, m, x: net(m, x[:, :1].sort(0)[0].expand(-1, 4)),
    "topk": lambda T, m, x: net(m, x[x[:, 0].topk(len(x))[1]]),
    "written": written, "copied": copied, "scattered": scattered, "in Python": in_python, "unbind": unrolled,
    "by views": shuffled_by_views, "hidden by views": hidden_shuffled_by_views, "loss inside": with_a_loss_inside,
    "hidden, loss inside": hidden_with_a_loss_inside, "two orders": in_two_orders, "outputs in two orders": outputs_in_two_orders,
    "there and back": there_and_back, "decoder": decoder, "packed": packed, "checkpoint": checkpointed, "letters": letters,
    "attention": attended, "tokens first": tokens_first, "one dimension": in_one_dimension,
    "joined by another order": joined_by_another_order, "multiplied by another order": masked_by_another_order,
    "frozen below": frozen_below, "experts": experts, "two views": two_views, "mixed with another": mixed_with_another,
    "pairs": pairs, "product": by_a_product, "einsum": by_an_einsum, "put": put_elsewhere, "unsorted lengths": unsorted_lengths,
    "batch as features": lambda T, m, x: net(m, x.t() if len(x) == 4 else x),
    "turned and cut again": lambda T, m, x: net(m, x.t().reshape(-1, 4)),
    "less the mean": lambda T, m, x: net(m, x - x.mean(0)),
    "the least of all": lambda T, m, x: net(m, x.kthvalue(1, 0)[0].expand(len(x), 4)),
    "msort": lambda T, m, x: net(m, T.msort(x)),
    "running sum": lambda T, m, x: net(m, x.cumsum(0)),
    "unique": lambda T, m, x: net(m, T.unique(x, dim=0)),
    "next one, or nothing": lambda T, m, x: net(m, T.cat([x[1:], T.zeros(1, 4)])),
    "hidden next one, or nothing": lambda T, m, x: m.two(T.cat([m.one(x)[1:], T.zeros(1, 4)])),
    "shifted by padding": lambda T, m, x: net(m, T.nn.functional.pad(x, (0, 0, 1, 0), "constant", 0.0)[:-1]),
    "hidden, shifted by padding": lambda T, m, x: m.two(T.nn.functional.pad(m.one(x), (0, 0, 0, 1))[1:]),
    "padded, then all": lambda T, m, x: net(m, T.nn.functional.pad(x[1:], (0, 0, 1, 0), value=2.0)),
    "shifted, written": shifted, "hidden, shifted, written": hidden_shifted,
    "shifted by a convolution": shifted_by_a_convolution,
    "padded features": lambda T, m, x: net(m, T.nn.functional.pad(x[:, :3], (1, 0))),
    "distances": lambda T, m, x: net(m, T.cdist(x, x)[:, :1].expand(-1, 4)),
}
# of which every sample's gradient is found
UNDONE = {
    "sorted", "sorted, inside", "sorted twice", "index_select", "hidden index_select", "flip", "hidden flip", "flipud", "roll",
    "hidden roll", "gather", "hidden gather", "take_along_dim", "list of numbers", "masks joined", "halves exchanged",
    "hidden halves exchanged", "chunks exchanged", "split, by views", "written", "copied", "scattered", "in Python", "unbind",
    "by views", "hidden by views", "there and back", "decoder", "letters", "attention", "tokens first", "one dimension",
    "topk", "padded features",
    "frozen below", "two views", "put",
}
# where the report says which function combined samples
COMBINED = {"less the mean": "mean", "the least of all": "kthvalue", "running sum": "cumsum",
            "einsum": "einsum", "pairs": "sub"}


def loss_of(out: Any) -> Any:
    outs = out if isinstance(out, tuple) else (out,)
    return sum(((k + 1) * y.pow(2).sum() if y.ndim else y) for k, y in enumerate(outs) if y.requires_grad)


def one_by_one(torch: Any, model: Any, x: Any) -> dict[str, Any]:
    """Of a batch that holds one sample only."""
    found: dict[str, list[Any]] = {name: [] for name, _ in model.named_parameters()}
    for n in range(len(x)):
        model.zero_grad()
        loss = loss_of(model(x[n:n + 1]))
        if getattr(loss, "requires_grad", False):
            loss.backward()
        for name, p in model.named_parameters():
            found[name].append(torch.zeros_like(p) if p.grad is None else p.grad.clone())
    model.zero_grad()
    return {name: torch.stack(rows) for name, rows in found.items()}


FEW = ("sorted", "sorted, inside", "mask", "the same ones twice", "written", "by views", "loss inside", "two orders", "decoder",
       "letters", "joined by another order", "multiplied by another order", "shifted by padding", "hidden, shifted by padding",
       "padded, then all", "shifted, written", "shifted by a convolution", "padded features")
LIVE = (*FEW, "less the mean", "batch as features", "pairs", "running sum")     # ... in inputs with gradient, too


@pytest.mark.parametrize(("name", "verify", "grad"), [
    *((name, True, False) for name in MODELS), *((name, True, True) for name in LIVE), *((name, False, False) for name in FEW)])
def test_no_sample_gets_the_gradient_of_another(torch: Any, name: str, verify: bool, grad: bool) -> None:
    model = model_of(torch, MODELS[name])
    cap = capture(model, verify=verify)
    for step in range(2):                       # the second is not checked, where that is possible
        x = torch.randn(4, 4)
        x.requires_grad_(grad)
        want = one_by_one(torch, model, x)
        with cap:
            loss_of(model(x)).backward()
        report = cap.coverage()
        covered = [row.name for row in report if row.status in GOOD]
        got = cap.grads(partial=True).per_sample() if covered else {}
        wrong = [key for key in covered if float((got[key] - want[key]).abs().max()) > 1e-4 * float(want[key].abs().max())]
        assert not wrong, (step, str(report))
        if name in UNDONE and verify:
            assert report.complete, (step, str(report))
        elif name in COMBINED and not grad:
            assert f"samples are combined by {COMBINED[name]} at {__file__}:" in str(report)
