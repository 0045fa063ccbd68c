"""Quantities beyond the table: scale, tokens, segments, projections, several runs, K-FAC."""
from __future__ import annotations

from typing import Any

import pytest

from retrograd import microscope
from retrograd.microscope import CaptureError, UncoveredError, capture


def near(a: Any, b: Any, tolerance: float = 1e-4) -> bool:
    assert tuple(a.shape) == tuple(b.shape)
    return float((a - b).norm()) <= tolerance * max(float(b.norm()), 1e-6)


def model_of(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Linear(4, 5), nn.LayerNorm(5), nn.Tanh(), nn.Linear(5, 3))


def captured(torch: Any, model: Any, x: Any, loss: Any = None, **options: Any) -> Any:
    model.zero_grad()
    with capture(model, **options) as cap:
        out = model(x)
        (out.pow(2).sum() if loss is None else loss(out)).backward()
    return cap


def alone(torch: Any, model: Any, x: Any, loss: Any) -> list[dict[str, Any]]:
    found = []
    for n in range(len(x)):
        model.zero_grad()
        loss(model(x[n:n + 1]), n).backward()
        found.append({name: p.grad.clone() for name, p in model.named_parameters()})
    model.zero_grad()
    return found


# How the loss was reduced

def test_cross_entropy_mean_is_recognised_and_undone(torch: Any) -> None:
    model, x, y = model_of(torch), torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])
    F = torch.nn.functional
    cap = captured(torch, model, x, lambda out: F.cross_entropy(out, y))
    truth = alone(torch, model, x, lambda out, n: F.cross_entropy(out, y[n:n + 1]))
    for scale in ("sample", "sum"):
        got = cap.grads(scale=scale).per_sample()
        for name in got:
            assert near(got[name], torch.stack([t[name] for t in truth]))
    assert near(cap.grads().norms() * 6, cap.grads(scale="sum").norms())


def test_loss_scale_and_accumulation_share_are_undone(torch: Any) -> None:
    model, x, y = model_of(torch), torch.randn(6, 4), torch.randn(6, 3)
    cap = captured(torch, model, x, lambda out: torch.nn.functional.mse_loss(out, y) * 1024 / 4)
    plain = captured(torch, model, x, lambda out: (out - y).pow(2).sum())
    assert [(r.kind, r.count, r.factor) for r in (*cap.losses, *plain.losses)] == [("mean", 18, 256), ("sum", 1, 1)]
    assert near(cap.grads(scale="sum").norms(), plain.grads().norms())


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_checkpoint_inside_the_pass_is_no_pass_of_its_own(torch: Any, reentrant: bool) -> None:
    from importlib import import_module
    checkpoint = import_module(torch.__name__ + ".utils.checkpoint").checkpoint
    nn = torch.nn

    class Twice(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 3)

        def forward(self, x: Any) -> Any:
            return checkpoint(lambda h: self.b(h.tanh()), self.a(x), use_reentrant=reentrant)
    model, x = Twice(), torch.randn(6, 4)
    cap = captured(torch, model, x, lambda out: out.pow(2).mean())
    truth = alone(torch, model, x, lambda out, n: out.pow(2).mean())
    for name, got in cap.grads(scale="sample").per_sample().items():
        assert near(got, torch.stack([t[name] for t in truth]))


def test_mean_method_is_recognised(torch: Any) -> None:
    model, x = model_of(torch), torch.randn(6, 4)
    cap = captured(torch, model, x, lambda out: out.pow(2).mean())
    plain = captured(torch, model, x)
    assert near(cap.grads(scale="sum").norms(), plain.grads().norms())
    assert near(cap.grads(scale="sample").norms(), plain.grads().norms() / 3)


def test_losses_of_two_passes_must_be_reduced_alike(torch: Any) -> None:
    model, x = model_of(torch), torch.randn(6, 4)

    def run(*losses: Any) -> Any:
        model.zero_grad()
        with capture(model) as cap:
            out = model(x)
            for loss in losses:
                loss(out).backward(retain_graph=True)
        return cap.grads(scale="sample")
    alike = run(lambda out: out.pow(2).mean(), lambda out: out.abs().mean())
    once = captured(torch, model, x, lambda out: (out.pow(2) + out.abs()).mean())
    assert near(alike.norms(), once.grads(scale="sample").norms())
    with pytest.raises(CaptureError, match="several losses, not reduced alike"):
        run(lambda out: out.pow(2).mean(), lambda out: out.abs().sum())


def letters(torch: Any, turned: bool = False) -> Any:
    """Ids (N, T) -> logits (N, T, 5); through layers that want the tokens first if `turned`."""
    nn = torch.nn

    class Letters(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.norm, self.head = nn.Embedding(5, 6), nn.LayerNorm(6), nn.Linear(6, 5, bias=False)

        def forward(self, ids: Any) -> Any:
            x = self.embed(ids)
            if turned:
                return self.head(self.norm(x.transpose(0, 1)).tanh()).transpose(0, 1)
            return self.head(self.norm(x).tanh() + x.mean(1, keepdim=True))
    return Letters()


def flat_tokens(F: Any, out: Any, y: Any, **more: Any) -> Any:
    return F.cross_entropy(out.reshape(-1, out.shape[-1]), y.reshape(-1), **more)


def next_letters(F: Any, out: Any, y: Any, **more: Any) -> Any:
    return F.cross_entropy(out[:, :-1].flatten(0, 1), y[:, 1:].flatten(), **more)


def classes_second(F: Any, out: Any, y: Any, **more: Any) -> Any:
    return F.cross_entropy(out.transpose(1, 2), y, **more)


def tokens_first(F: Any, out: Any, y: Any, **more: Any) -> Any:
    return F.cross_entropy(out.transpose(0, 1).reshape(-1, out.shape[-1]), y.T.reshape(-1), **more)


def soft_capped(F: Any, out: Any, y: Any, **more: Any) -> Any:
    return F.cross_entropy(((out / 3).tanh() * 3).reshape(-1, 5), y.reshape(-1), **more) * 2


def backwards(F: Any, out: Any, y: Any, **more: Any) -> Any:
    return F.cross_entropy(out.flip(0).reshape(-1, 5), y.flip(0).reshape(-1), **more)


def those_asked(F: Any, out: Any, y: Any, **more: Any) -> Any:
    kept = y != -100
    return F.cross_entropy(out[kept], y[kept], **more)


LETTERS = [flat_tokens, next_letters, classes_second, tokens_first, soft_capped, backwards]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", LETTERS, ids=lambda f: f.__name__)
def test_a_sample_has_a_mean_of_its_own_where_targets_are_ignored(torch: Any, loss: Any, weighted: bool, turned: bool) -> None:
    N = T = 4                                   # as many samples as tokens: lengths tell nothing
    model, ids = letters(torch, turned), torch.randint(0, 5, (N, T))
    y = torch.randint(0, 5, (N, T))
    for n in range(N):
        y[n, T - n:] = -100
    y[2, 0] = -100
    more = {"weight": torch.tensor([1.0, 2.0, 0.5, 0.0, 3.0])} if weighted else {}
    cap = captured(torch, model, ids, lambda out: loss(torch.nn.functional, out, y, **more))
    grads = cap.grads(scale="sample")
    truth = alone(torch, model, ids, lambda out, n: loss(torch.nn.functional, out, y[n:n + 1], **more) / (
        2 if loss is soft_capped else 1))
    want = {name: torch.stack([torch.nan_to_num(t[name]) for t in truth]) for name in grads.names}   # without terms: 0 / 0
    each = grads.per_sample()
    assert all(near(each[name], want[name]) for name in each)
    flat = torch.cat([want[name].reshape(N, -1) for name in want], 1)
    assert near(grads.norms(), flat.norm(dim=1)) and near(grads.dots(), flat @ flat.T)
    assert all(near(got, want[name].sum(0)) for name, got in grads.weight_grad().items())
    assert near(grads.select(samples=[2, 0]).norms(), flat.norm(dim=1)[[2, 0]])


def test_a_frozen_head_leaves_the_outputs_of_the_model_to_count_in(torch: Any) -> None:
    model, ids = letters(torch), torch.randint(0, 5, (3, 3))
    model.head.requires_grad_(False)
    y = torch.tensor([[0, 1, 2], [3, -100, 0], [4, -100, -100]])
    F = torch.nn.functional
    cap = captured(torch, model, ids, lambda out: flat_tokens(F, out, y))
    for name, got in cap.grads(scale="sample").per_sample().items():
        own = []
        for n in range(3):
            model.zero_grad()
            flat_tokens(F, model(ids[n:n + 1]), y[n:n + 1]).backward()
            own.append(dict(model.named_parameters())[name].grad)
        assert near(got, torch.stack(own))


def test_terms_that_were_picked_belong_to_their_samples(torch: Any) -> None:
    model, ids = letters(torch), torch.randint(0, 5, (3, 4))
    y = torch.tensor([[0, 1, -100, 2], [3, -100, -100, -100], [4, 0, 1, 2]])
    F = torch.nn.functional
    cap = captured(torch, model, ids, lambda out: those_asked(F, out, y, weight=torch.ones(5)))
    truth = alone(torch, model, ids, lambda out, n: those_asked(F, out, y[n:n + 1]))
    for name, got in cap.grads(scale="sample").per_sample().items():
        assert near(got, torch.stack([t[name] for t in truth]))


@pytest.mark.parametrize("pick", [
    lambda torch, out: torch.gather(out, 0, torch.tensor([[4], [0], [2]]).expand(-1, 3)),
    lambda torch, out: out[torch.tensor([4, 0, 2])],
    lambda torch, out: out.index_select(0, torch.tensor([2, 4, 0])),
    lambda torch, out: torch.masked_select(out, torch.tensor([1, 0, 1, 0, 1, 0], dtype=torch.bool)[:, None]),
    lambda torch, out: out[::2],
    lambda torch, out: out[0] * 2,
], ids=["gather", "index", "index_select", "masked_select", "slice", "select"])
def test_samples_that_the_loss_does_not_read_have_no_gradient(torch: Any, pick: Any) -> None:
    model, x = model_of(torch), torch.randn(6, 4)
    cap = captured(torch, model, x, lambda out: pick(torch, out).pow(2).mean())
    got = cap.grads(scale="sample").norms()
    truth = alone(torch, model, x, lambda out, n: out.pow(2).mean())
    whole = torch.stack([torch.cat([g.flatten() for g in t.values()]).norm() for t in truth])
    read = torch.tensor([1.0, 0.0, 1.0, 0.0, 1.0, 0.0]) if pick(torch, x).numel() > 4 else torch.tensor([4.0, 0, 0, 0, 0, 0])
    assert near(got, whole * read)


TARGETS = [[1.0, 1, 1], [1, 0, 0], [0, 1, 1], [1, 1, 1], [0, 0, 1], [1, 1, 0]]
SEPARABLE: dict[str, Any] = {
    "neg": lambda T, o: -o.pow(2).mean(), "log-likelihood": lambda T, o: -o.log_softmax(1)[:, 1].mean(),
    "none, mean": lambda T, o: T.nn.functional.mse_loss(o, o.detach() * 0 + 1, reduction="none").mean(),
    "bce": lambda T, o: T.nn.functional.binary_cross_entropy_with_logits(o, o.detach() * 0 + 0.3),
    "entropy": lambda T, o: (o.softmax(-1) * o.log_softmax(-1)).sum(-1).mean(), "norm": lambda T, o: o.norm(dim=1).mean(),
    "mean, sum": lambda T, o: o.pow(2).mean(1).sum(), "sum, mean": lambda T, o: o.pow(2).sum(1).mean(),
    "flat": lambda T, o: o.reshape(-1).abs().mean(), "flip": lambda T, o: o.flip(0).pow(2).mean(),
    "sum / N": lambda T, o: o.pow(2).sum() / len(o), "logsumexp": lambda T, o: o.logsumexp(1).mean(),
    "huber": lambda T, o: T.nn.functional.huber_loss(o, o.detach() * 0), "mean of one": lambda T, o: o.pow(2).mean().mean(),
}
TOGETHER: dict[str, Any] = {
    "chunk": lambda T, o: o.chunk(2)[0].pow(2).mean(), "split": lambda T, o: o.split([2, 4])[0].pow(2).mean(),
    "unbind": lambda T, o: o.unbind(0)[0].pow(2).mean(), "diagonal": lambda T, o: o.diagonal().pow(2).mean(),
    "as_strided": lambda T, o: o.as_strided((2, 3), (3, 1)).pow(2).mean(), "unfold": lambda T, o: o.unfold(0, 2, 1).mean(),
    "pad": lambda T, o: T.nn.functional.pad(o, (0, 0, 0, 3)).pow(2).mean(), "cat": lambda T, o: T.cat([o, o.detach()]).mean(),
    "mean over samples": lambda T, o: o.pow(2).mean(0).sum(), "sum over samples": lambda T, o: o.pow(2).sum(0).mean(),
    "two losses": lambda T, o: T.stack([o.pow(2).mean(), o.abs().mean()]).sum(), "max": lambda T, o: o.max(0)[0].mean(),
    "sort": lambda T, o: o.sort(0)[0][:3].pow(2).mean(), "var": lambda T, o: o.var(0).mean(),
    "gather": lambda T, o: o.gather(0, T.tensor([[0, 1, 2], [3, 3, 3]])).pow(2).mean(),
    "contrastive": lambda T, o: T.nn.functional.cross_entropy(o @ o.T, T.arange(6)),
    "whitened": lambda T, o: ((o - o.mean(0)) / o.std(0)).pow(3).mean(),
    "pairs": lambda T, o: (o[:, None] - o[None]).pow(2).mean(), "repeat": lambda T, o: o.repeat(2, 1).pow(2).mean(),
    "view": lambda T, o: o.view(2, 3, 3).mean(1).pow(2).mean(), "cumsum": lambda T, o: o.cumsum(0).pow(2).mean(),
    "masked mean": lambda T, o: (o.pow(2) * T.tensor(TARGETS)).sum() / T.tensor(TARGETS).sum(),
    "masked mean, int": lambda T, o: (o.pow(2) * T.tensor(TARGETS)).sum() / T.tensor(TARGETS).bool().sum(),
}


@pytest.mark.parametrize("name", SEPARABLE)
def test_losses_that_add_up_samples_are_undone(torch: Any, name: str) -> None:
    model, x, loss = model_of(torch), torch.randn(6, 4), SEPARABLE[name]
    cap = captured(torch, model, x, lambda out: loss(torch, out))
    truth = alone(torch, model, x, lambda out, n: loss(torch, out))
    for key, got in cap.grads(scale="sample").per_sample().items():
        assert near(got, torch.stack([t[key] for t in truth]))


@pytest.mark.parametrize("name", TOGETHER)
def test_losses_that_do_more_than_add_up_samples_are_not_undone(torch: Any, name: str) -> None:
    cap = captured(torch, model_of(torch), torch.randn(6, 4), lambda out: TOGETHER[name](torch, out))
    with pytest.raises(CaptureError, match="cannot be read off"):
        cap.grads(scale="sample")
    assert cap.grads(scale=1.0).norms().shape == (6,)


def test_a_model_that_is_checkpointed_whole(torch: Any) -> None:
    from importlib import import_module
    checkpoint = import_module(torch.__name__ + ".utils.checkpoint").checkpoint
    model = model_of(torch)
    x = torch.randn(6, 4, requires_grad=True)
    plain = captured(torch, model, x).grads().norms()
    for reentrant in (True, False):
        model.zero_grad()
        with capture(model) as cap:
            checkpoint(model, x, use_reentrant=reentrant).pow(2).sum().backward()
        assert cap.coverage().complete and near(cap.grads().norms(), plain)


def test_partial_quantities_of_nothing_are_refused(torch: Any) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.BatchNorm1d(5))
    with pytest.raises(UncoveredError, match="none of these parameters"):
        captured(torch, model, torch.randn(6, 4)).grads(partial=True)


def test_classes_alone_may_have_ignored_targets(torch: Any) -> None:
    model, x, y = model_of(torch), torch.randn(6, 4), torch.tensor([0, 1, -100, 0, 1, 2])
    F = torch.nn.functional
    cap = captured(torch, model, x, lambda out: F.cross_entropy(out, y))
    plain = captured(torch, model, x, lambda out: F.cross_entropy(out, y, reduction="sum"))
    for scale in ("sum", "sample"):
        assert near(cap.grads(scale=scale).norms(), plain.grads().norms())


def test_ignored_targets_that_cannot_be_followed_have_no_mean_of_their_own(torch: Any) -> None:
    model, x, y = model_of(torch), torch.randn(6, 4), torch.tensor([0, 1, -100, 0, 1, 2])
    F = torch.nn.functional
    cap = captured(torch, model, x, lambda out: F.cross_entropy(out.cumsum(1), y))
    with pytest.raises(CaptureError, match="ignored targets"):
        cap.grads(scale="sample")
    plain = captured(torch, model, x, lambda out: F.cross_entropy(out.cumsum(1), y, reduction="sum"))
    assert near(cap.grads(scale="sum").norms(), plain.grads().norms())


@pytest.mark.parametrize("loss", [
    lambda out: (out.pow(2).sum(1) + 1e-3).sqrt().logsumexp(0),
    lambda out: out.pow(2).mean() + out.abs().mean(),
    lambda out: out.pow(2).sum().sqrt(),
])
def test_a_loss_reduced_in_an_unknown_way_is_not_undone(torch: Any, loss: Any) -> None:
    cap = captured(torch, model_of(torch), torch.randn(6, 4), loss)
    with pytest.raises(CaptureError, match="cannot be read off its graph"):
        cap.grads(scale="sum")
    assert cap.grads(scale=2.0).norms().shape == (6,)


def test_scale_of_another_kind_is_refused(torch: Any) -> None:
    cap = captured(torch, model_of(torch), torch.randn(6, 4))
    with pytest.raises(ValueError, match="scale is None"):
        cap.grads(scale="mean")


# Samples, tokens, segments

def test_select_layers_samples_and_tokens(torch: Any) -> None:
    model, x = model_of(torch), torch.randn(5, 3, 4)
    cap = captured(torch, model, x)
    every, tokens = cap.grads().per_sample(), cap.grads().per_token()
    assert cap.grads().select(layers="0").names == ["0.weight", "0.bias"]
    assert cap.grads(layers=["3.*"]).names == ["3.weight", "3.bias"]
    some = cap.grads().select(samples=[1, 4]).per_sample()
    one = cap.grads().select(samples=2)
    assert len(one) == 1
    last = cap.grads().select(tokens=slice(2, 3)).per_sample()
    both = cap.grads().select(samples=slice(0, 2), tokens=[0, 2]).per_sample()
    for name in every:
        assert near(tokens[name].sum(1), every[name])
        assert near(some[name], every[name][torch.tensor([1, 4])])
        assert near(one.per_sample()[name][0], every[name][2])
        assert near(last[name], tokens[name][:, 2])
        assert near(both[name], tokens[name][:2, 0] + tokens[name][:2, 2])


def test_per_token_is_each_tokens_own_gradient(torch: Any) -> None:
    model, x = model_of(torch), torch.randn(2, 3, 4)
    tokens = captured(torch, model, x).grads().per_token()
    for n in range(2):
        for t in range(3):
            model.zero_grad()
            model(x[n:n + 1])[0, t].pow(2).sum().backward()
            for name, p in model.named_parameters():
                assert near(tokens[name][n, t], p.grad)


@pytest.mark.parametrize("shape", [(1, 9, 4), (9, 4)])
def test_segments_of_packed_sequences(torch: Any, shape: Any) -> None:
    model, x = model_of(torch), torch.randn(*shape)
    ends = [0, 2, 3, 9]
    cap = captured(torch, model, x)
    got = cap.grads().segments(torch.tensor(ends))
    norms = []
    flat = x.reshape(1, 9, 4)
    for s, (a, b) in enumerate(zip(ends, ends[1:])):
        model.zero_grad()
        model(flat[:, a:b]).pow(2).sum().backward()
        for name, p in model.named_parameters():
            assert near(got.per_sample()[name][s], p.grad)
        norms.append(sum(float(p.grad.pow(2).sum()) for p in model.parameters()) ** 0.5)
    assert near(got.norms(), torch.tensor(norms))
    with pytest.raises(CaptureError, match="saw 9 tokens"):
        cap.grads().segments([0, 4, 8])
    with pytest.raises(ValueError, match="rise from 0"):
        cap.grads().segments([0, 4, 4, 9])


def test_segments_of_an_embedding(torch: Any) -> None:
    nn = torch.nn
    model, ids = nn.Sequential(nn.Embedding(5, 3), nn.Tanh()), torch.tensor([[1, 1, 0, 2, 1, 4]])
    got = captured(torch, model, ids).grads().segments([0, 2, 6]).per_sample()["0.weight"]
    for s, (a, b) in enumerate(((0, 2), (2, 6))):
        model.zero_grad()
        model(ids[:, a:b]).pow(2).sum().backward()
        assert near(got[s], model[0].weight.grad)


def test_kronecker_is_the_samples_gradient_column_by_column(torch: Any) -> None:
    K = microscope.Kronecker(torch.tensor([[3.0, 4.0, 5.0]]), torch.tensor([[1.0, 2.0]]))
    assert K.vec().tolist() == [3, 6, 4, 8, 5, 10]     # the example of the notebook on hooks
    assert K.materialize().tolist() == [[3, 4, 5], [6, 8, 10]]
    model, x = model_of(torch), torch.randn(5, 3, 4)
    g = captured(torch, model, x).grads()
    K = g.kronecker(2)["3.weight"]
    W = g.per_sample()["3.weight"][2]
    v, M = torch.randn(5), torch.randn(3, 5)
    assert K.shape == (3, 5)
    assert near(K.materialize(), W) and near(K @ v, W @ v) and near(K @ M.T, W @ M.T)
    assert near(K.norm(), W.norm()) and near(K.dot(M), (W * M).sum()) and near(K.dot(M.T.reshape(-1)), (W * M).sum())
    assert set(g.kronecker(0)) == {"0.weight", "3.weight"}
    with pytest.raises(IndexError):
        g.kronecker(5)


def test_projections_keep_dot_products_on_average(torch: Any) -> None:
    model, x = model_of(torch), torch.randn(5, 3, 4)
    g = captured(torch, model, x).grads()
    truth = g.dots(per_layer=True)
    for name in ("0.weight", "1.weight"):
        total = 0.0
        for seed in range(150):
            p = g.project(16, seed)[name]
            assert p.shape == (5, 16)
            total = total + p @ p.T
        assert float((total / 150 - truth[name]).norm()) < 0.2 * float(truth[name].norm())
    assert near(g.project(8, 3)["0.weight"], g.project(8, 3)["0.weight"], 0)


def test_dots_of_two_captures(torch: Any) -> None:
    model = model_of(torch)
    one, two = captured(torch, model, torch.randn(5, 3, 4)), captured(torch, model, torch.randn(4, 6, 4))
    a, b = one.grads().per_sample(), two.grads().per_sample()
    want = sum(a[n].reshape(5, -1) @ b[n].reshape(4, -1).T for n in a)
    assert near(one.grads().dots(two.grads()), want)
    with pytest.raises(CaptureError, match="same parameters"):
        one.grads().dots(two.grads(layers="0"))


# Several calls, several passes

def test_gradient_accumulation_is_more_samples(torch: Any) -> None:
    model, x, y = model_of(torch), torch.randn(4, 4), torch.randn(2, 4)
    model.zero_grad()
    with capture(model) as cap:
        for batch in (x, y):
            model(batch).pow(2).sum().backward()
    grads = {n: p.grad.clone() for n, p in model.named_parameters()}
    assert max(cap.check().values()) < 1e-5
    g = cap.grads()
    assert len(g) == 6
    both = captured(torch, model, torch.cat([x, y])).grads()
    assert near(g.norms(), both.norms()) and near(g.dots(), both.dots())
    for name in grads:
        assert near(g.weight_grad()[name], grads[name])
        assert near(g.per_sample()[name], both.per_sample()[name])
        assert near(g.clip(0.5)[name], both.clip(0.5)[name])


def test_backward_twice_counts_twice(torch: Any) -> None:
    model, x = model_of(torch), torch.randn(4, 4)
    model.zero_grad()
    with capture(model) as cap:
        loss = model(x).pow(2).sum()
        loss.backward(retain_graph=True)
        loss.backward()
    assert max(cap.check().values()) < 1e-5
    twice = cap.grads()
    assert near(twice.norms(), 2 * captured(torch, model, x).grads().norms())
    assert near(twice.weight_grad()["0.weight"], 2 * captured(torch, model, x).grads().weight_grad()["0.weight"])


def test_clear_forgets_inside_a_block(torch: Any) -> None:
    model = nn_with_view(torch)
    with capture(model) as cap:
        for size in (3, 5):
            cap.clear()
            before = len(cap._tracked)
            model(torch.randn(size, 4)).pow(2).sum().backward()
            assert len(cap._tracked) > before == 2
    assert len(cap.grads()) == 5


def nn_with_view(torch: Any) -> Any:
    class Views(torch.nn.Linear):
        def forward(self, x: Any) -> Any:
            return x @ self.weight.t() + self.bias
    return Views(4, 3)


def test_two_calls_before_one_backward_need_a_word(torch: Any) -> None:
    model, x, y = model_of(torch), torch.randn(4, 4), torch.randn(4, 4)

    def run(**options: Any) -> Any:
        model.zero_grad()
        with capture(model, **options) as cap:
            (model(x) * model(y)).sum().backward()
        return cap
    grads = run().grads()
    assert near(grads.weight_grad()["0.weight"], model[0].weight.grad)
    with pytest.raises(CaptureError, match="calls='apart'"):
        grads.norms()
    same = run(calls="same").grads().per_sample()
    for n in range(4):
        model.zero_grad()
        (model(x[n:n + 1]) * model(y[n:n + 1])).sum().backward()
        for name, p in model.named_parameters():
            assert near(same[name][n], p.grad)
    assert len(run(calls="apart").grads()) == 8


def test_a_capture_is_entered_again_for_the_next_step(torch: Any) -> None:
    model = model_of(torch)
    cap = capture(model)
    for size in (4, 6):
        x = torch.randn(size, 4)
        model.zero_grad()
        with cap:
            model(x).pow(2).sum().backward()
        assert near(cap.grads().norms(), captured(torch, model, x).grads().norms())
    with pytest.raises(CaptureError, match="not watched"):
        cap.check()                             # "first": the second step made the same calls


def test_a_step_that_calls_other_layers_is_checked_again(torch: Any) -> None:
    model = model_of(torch)
    cap = capture(model)
    for depth in (4, 3, 4):
        model.zero_grad()
        with cap:
            y = model(torch.randn(3, 4)) if depth == 4 else model[:3](model[0](torch.randn(3, 4)) @ torch.ones(5, 4))
            y.sum().backward()
    cap2 = capture(model, check=True)
    for _ in range(2):
        with cap2:
            model(torch.randn(3, 4)).sum().backward()
        assert max(cap2.check().values()) < 1e-5
    with capture(model, check=False) as cap3:
        model(torch.randn(3, 4)).sum().backward()
    with pytest.raises(CaptureError, match="not watched"):
        cap3.check()


def test_layers_and_where_leave_out_what_is_named(torch: Any) -> None:
    nn = torch.nn

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.out = nn.Linear(3, 3), nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            return self.out(self.fc(self.fc(x).tanh()))
    model, x = Twice(), torch.randn(4, 3)
    cap = captured(torch, model, x, layers="out")
    assert [r.status for r in cap.coverage()] == ["left out", "left out", "factors", "per sample"]
    assert captured(torch, model, x, layers=model.fc).grads().names == ["fc.weight", "fc.bias"]
    assert captured(torch, model, x, layers=lambda name, p: p.ndim == 1).grads().names == ["fc.bias", "out.bias"]
    cap = captured(torch, model, x, where=lambda path, call: path != "fc" or call == 1)
    assert [r.status for r in cap.coverage()] == ["not covered"] * 2 + ["factors", "per sample"]
    with pytest.raises(UncoveredError, match="left some of its calls out"):
        cap.grads().norms()
    assert [(u.path, u.number, tuple(u.a[0].shape), tuple(u.delta.shape)) for u in cap.uses()] == [
        ("fc", 1, (4, 3), (4, 3)), ("out", 0, (4, 3), (4, 2))]
    with pytest.raises(CaptureError, match="selects no parameter"):
        capture(model, layers="decoder.*")


def test_what_a_hook_edits_is_what_is_seen(torch: Any) -> None:
    model, x = model_of(torch), torch.randn(4, 4)
    handle = model[3].register_forward_hook(lambda m, a, out: out.register_hook(lambda g: g * 3) and None)
    cap = captured(torch, model, x)
    handle.remove()
    assert max(cap.check().values()) < 1e-5
    assert near(cap.grads().weight_grad()["3.weight"], model[3].weight.grad)
    before = model[0].weight.register_hook(lambda g: g * 2)
    cap = captured(torch, model, x)
    before.remove()
    row = cap.coverage()["0.weight"]
    assert row.status == "not covered" and "a hook on the parameter changed it" in row.how


def test_module_hooks_of_the_user_do_not_disturb(torch: Any) -> None:
    model, x = model_of(torch), torch.randn(4, 4, requires_grad=True)
    seen: list[Any] = []
    handles = [model[0].register_full_backward_hook(lambda m, gi, go: None),
               model[3].register_full_backward_pre_hook(lambda m, go: seen.append(go[0].shape))]
    for verify, passes in ((False, 1), (True, 4)):
        seen.clear()
        cap = captured(torch, model, x, verify=verify)
        assert len(seen) == passes and cap.coverage().complete and max(cap.check().values()) < 1e-5
        assert cap.coverage().verified is verify
    for handle in handles:
        handle.remove()


def test_uses_hold_factors_and_nothing_of_the_graph(torch: Any) -> None:
    import gc
    import weakref
    model, x = model_of(torch), torch.randn(4, 4)
    with capture(model) as cap:
        out = model(x)
        node = weakref.ref(out)
        out.pow(2).sum().backward()
    del out
    gc.collect()
    assert node() is None
    assert all(not t.requires_grad for u in cap.uses() for t in (*u.a, *u.deltas) if t is not None)


# K-FAC

def test_kfac_is_exact_for_one_linear_layer_and_whitens(torch: Any) -> None:
    nn = torch.nn
    model, x = nn.Sequential(nn.Linear(3, 2)), torch.randn(40, 3)
    target = torch.randn(40, 2)
    cap = captured(torch, model, x, lambda out: ((out - target) ** 2).sum() / 2)
    g = cap.grads()
    kfac = g.kfac(damping=0.0, ema=0.0)
    A, G = kfac.factors["0.weight"]
    ones = torch.cat([x, torch.ones(40, 1)], 1)
    delta = (model(x) - target).detach()
    assert near(A, ones.T @ ones / 40) and near(G, delta.T @ delta / 40)
    W, b = torch.randn(2, 3), torch.randn(2)
    back = kfac.apply({"0.weight": W, "0.bias": b})
    whole = torch.cat([back["0.weight"], back["0.bias"].reshape(-1, 1)], 1)
    assert near(G @ whole @ A, torch.cat([W, b.reshape(-1, 1)], 1), 1e-3)
    many = kfac.apply({"0.weight": torch.stack([W, 2 * W]), "0.bias": torch.stack([b, 2 * b])})
    assert near(many["0.weight"][1], 2 * back["0.weight"], 1e-3)


def test_kfac_mean_over_steps_and_damping(torch: Any) -> None:
    model = model_of(torch)
    kfac = microscope.KFAC(ema=0.5, damping=0.1)
    each = []
    for _ in range(3):
        g = captured(torch, model, torch.randn(6, 2, 4)).grads()
        kfac.update(g)
        each.append(g.kfac(ema=0.0).factors["3.weight"][0])
    want = (each[0] + 2 * each[1] + 4 * each[2]) / 7          # weights 1/8, 1/4, 1/2, made to sum to one
    assert near(kfac.factors["3.weight"][0], want)
    assert set(kfac.diagonal) == {"1.weight", "1.bias"}
    grads = g.weight_grad()
    out = kfac.apply(grads)
    assert near(out["1.weight"], grads["1.weight"] / (kfac.diagonal["1.weight"] + 0.1))
    with pytest.raises(CaptureError, match="no gradient of"):
        kfac.apply({})
    with pytest.raises(CaptureError, match="call update"):
        microscope.KFAC().apply(grads)


def test_eigenvalue_correction_is_the_diagonal_of_the_fisher_in_that_basis(torch: Any) -> None:
    nn = torch.nn
    model, x = nn.Sequential(nn.Linear(3, 2, bias=False)), torch.randn(9, 2, 3)
    g = captured(torch, model, x).grads()
    kfac = g.kfac(damping=1e-3).corrected(g)
    _, UA, _, UG = kfac.eigen("0.weight")
    rotated = UG.T @ g.per_sample()["0.weight"] @ UA
    assert near(kfac.scalings["0.weight"], rotated.pow(2).mean(0))
    W = g.weight_grad()["0.weight"]
    want = UG @ ((UG.T @ W @ UA) / (kfac.scalings["0.weight"] + 1e-3)) @ UA.T
    assert near(kfac.apply({"0.weight": W})["0.weight"], want)


def test_layers_of_one_input_share_a_as_long_as_they_do(torch: Any) -> None:
    nn = torch.nn

    class Three(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v = nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(3, 2)
            self.other = False

        def forward(self, x: Any) -> Any:
            return self.q(x) * self.k(x + 1 if self.other else x) + self.v(x)
    model = Three()
    kfac, want = microscope.KFAC(ema=0.5), {}
    for step, other in enumerate((False, True, False)):
        model.other = other
        g = captured(torch, model, torch.randn(6, 4, 3)).grads()
        kfac.update(g)
        for name in g.names:
            if name.endswith("weight"):
                a, d = g.factors(name)
                a = torch.cat([a, torch.ones(6, 4, 1)], 2).reshape(24, 4)
                d = d.reshape(24, 2)
                one = (a.T @ a / 24, d.T @ d / 6)
                share = 0.5 / (1 - 0.5 ** (step + 1))
                want[name] = one if not step else tuple(o * (1 - share) + n * share for o, n in zip(want[name], one))
    for name in want:
        assert near(kfac.factors[name][0], want[name][0]) and near(kfac.factors[name][1], want[name][1])


def test_an_unknown_name_is_answered_with_the_names(torch: Any) -> None:
    model = model_of(torch)
    grads = captured(torch, model, torch.randn(6, 4)).grads()
    for found in (grads.per_sample(), grads.weight_grad(), grads.clip(1.0), grads.weighted(torch.ones(6))):
        assert set(found) == set(grads.names) and found.get("nope") is None and "nope" not in found
        with pytest.raises(KeyError, match="no parameter 'nope'; there are 0.weight, 0.bias, 1.weight"):
            found["nope"]
