"""grads(scale=...): how a loss was reduced, undone, against a loop of batches of one."""
from __future__ import annotations

from typing import Any

import pytest
from small import alone, captured, model_of, near

from retrograd.microscope import CaptureError, capture


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


def test_a_loss_is_seen_however_backward_is_called_and_its_seed_undone(torch: Any) -> None:
    model, x, backward = model_of(torch), torch.randn(6, 4), torch.autograd.backward
    two = torch.tensor(2.0)
    wanted = captured(torch, model, x, lambda out: out.pow(2).sum()).grads().norms()
    for run in (
            lambda loss: backward(loss), lambda loss: backward((loss,)), lambda loss: backward(loss * 3, two),
            lambda loss: backward(tensors=[loss], grad_tensors=[two]), lambda loss: loss.backward(two),
            lambda loss: loss.backward(gradient=-two)):
        model.zero_grad()
        with capture(model) as cap:
            run(model(x).pow(2).mean())
        assert [r.kind for r in cap.losses] == ["mean"]
        assert near(cap.grads(scale="sum").norms(), wanted)
    with capture(model) as cap:
        loss = model(x).pow(2).mean()
        backward((loss, loss))
    with pytest.raises(CaptureError, match="the capture saw no loss"):
        cap.grads(scale="sum")


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


Y, Y_IGNORED, CLASSES = [0, 1, 2, 0, 1, 2], [0, 1, -100, 0, 1, 2], [1.0, 2.0, 0.5]
ONE_EACH = [[0.2, 0.3, 0.5], [1.0, 0, 0], [0.1, 0.8, 0.1], [0, 0.5, 0.5], [0.25, 0.25, 0.5], [0.6, 0.1, 0.3]]  # rows add up to 1
UNEVEN = [[1.0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]]      # 6 ones


class Parts:
    """What losses below are made of: targets of the samples i that o, the model's output, is of."""

    def __init__(self, torch: Any, o: Any, i: Any) -> None:
        T, F = torch, torch.nn.functional
        self.T, self.F, self.o, self.i = T, F, o, i
        self.y, self.ignored, self.weight = T.tensor(Y)[i], T.tensor(Y_IGNORED)[i], T.tensor(CLASSES)
        self.p, self.mask, self.target = T.tensor(ONE_EACH)[i], T.tensor(UNEVEN)[i], T.tensor(TARGETS)[i] * 2 - 0.3
        self.logp = o.log_softmax(1)

    def ce(self, y: Any = None, **more: Any) -> Any:
        return self.F.cross_entropy(self.o, self.y if y is None else y, **more)

    def mse(self, **more: Any) -> Any:
        return self.F.mse_loss(self.o, self.target, **more)


def function_of(torch: Any) -> Any:
    """Its node is called ReluBackward; ReluBackward0 is the engine's."""
    return type("Relu", (torch.autograd.Function,), {
        "forward": staticmethod(lambda ctx, x: x - x.mean(0)), "backward": staticmethod(lambda ctx, g: g - g.mean(0))})


# Losses whose samples' own gradients are known
KNOWN: dict[str, Any] = {
    "smoothed": lambda s: s.ce(label_smoothing=0.1), "smoothed, ignored": lambda s: s.ce(s.ignored, label_smoothing=0.1),
    "smoothed, weighted": lambda s: s.ce(s.ignored, weight=s.weight, label_smoothing=0.1) * -1,
    "smoothed, sum": lambda s: s.ce(s.ignored, reduction="sum", label_smoothing=0.1),
    "smoothed, none": lambda s: s.ce(label_smoothing=0.1, reduction="none").mean(),
    "sum / targets": lambda s: s.ce(s.ignored, reduction="sum", label_smoothing=0.1) / (s.ignored != -100).sum(),
    "sum / weights": lambda s: s.ce(s.ignored, weight=s.weight, reduction="sum") / s.weight[s.ignored[s.ignored != -100]].sum(),
    "probabilities": lambda s: s.ce(s.p), "probabilities, sum": lambda s: s.ce(s.p, reduction="sum"),
    "probabilities, weighted, smoothed": lambda s: s.ce(s.p, weight=s.weight, label_smoothing=0.2),
    "two": lambda s: s.ce() + 0.1 * s.mse(), "three": lambda s: s.ce() - 0.1 * s.mse() + 0.01 * s.o.abs().mean(),
    "two sums": lambda s: s.mse(reduction="sum") + 0.3 * s.o.abs().sum(),
    "two sums / N": lambda s: (s.mse(reduction="sum") - 0.5 * s.o.exp().sum()) / len(s.o),
    "two sums / N each": lambda s: s.mse(reduction="sum") / len(s.o) + 0.5 * (s.o.exp().sum() / len(s.o)),
    "two with unlike terms": lambda s: s.ce(s.ignored) + 0.3 * s.F.cross_entropy(2 * s.o, s.ignored),
    "columns": lambda s: sum(s.F.mse_loss(s.o[:, k], s.target[:, k]) for k in range(3)),
    "sum / numel": lambda s: s.o.pow(2).sum() / s.o.numel(), "1 - mean": lambda s: 1 - s.F.cosine_similarity(s.o, s.p).mean(),
    "batchmean": lambda s: s.F.kl_div(s.logp, s.p, reduction="batchmean"), "target first": lambda s: s.F.mse_loss(s.target, s.o),
    "bce + kl": lambda s: s.F.binary_cross_entropy_with_logits(s.o, s.p) + s.F.kl_div(s.logp, s.p, reduction="batchmean"),
    "margin": lambda s: s.F.multi_margin_loss(s.o, s.y), "triplet": lambda s: s.F.triplet_margin_loss(s.o, s.p, s.target, 9.0),
    "gaussian": lambda s: s.F.gaussian_nll_loss(s.o, s.target, s.p + 0.1), "poisson": lambda s: s.F.poisson_nll_loss(s.o, s.p),
    "focal": lambda s: ((1 - (-s.ce(reduction="none")).exp()) ** 2 * s.ce(reduction="none")).mean(),
    "broadcast": lambda s: (s.o + s.T.ones(4, 1, 3)).pow(2).sum(0).pow(2).mean(), "stack": lambda s: s.T.stack([s.o, s.p]).mean(),
    "prototypes": lambda s: s.F.cross_entropy(s.o @ s.T.tensor(TARGETS[:3]).T, s.y),
    "T": lambda s: s.o.T.softmax(0).pow(2).mean(),
    "einsum": lambda s: s.T.einsum("nc,nc->n", s.o, s.o).mean(), "split": lambda s: (s.o.split([1, 2], 1)[1] ** 2).mean(),
    "new dimension": lambda s: s.o.unsqueeze(0).expand(4, -1, -1).pow(2).sum(2).sqrt().mean(),
    "rows and columns": lambda s: s.o.reshape(len(s.o), 3, 1).permute(2, 1, 0).pow(2).sum((0, 1)).sqrt().mean(),
    "normed": lambda s: s.F.layer_norm(s.o, (3,)).pow(3).mean(), "sorted": lambda s: s.o.sort(1)[0][:, 1:].exp().mean(),
    "median": lambda s: s.o.median(1)[0].exp().mean(), "largest": lambda s: s.o.topk(2, 1)[0].pow(2).sum(),
    "alignments": lambda s: s.F.ctc_loss(s.T.stack([s.o, 2 * s.o, s.o.flip(1), s.o]).log_softmax(2), s.y[:, None].clamp(min=1),
                                         s.T.full((len(s.o),), 4), s.T.full((len(s.o),), 1)),
    "0.1 of a sum": lambda s: s.o.pow(2).sum() * 0.1 * 10, "alpha": lambda s: s.T.rsub(s.mse(), 1.0, alpha=4) / 4,
}
# ... and what is not known to have any.  What a sum of a mask is divided by may be N, too
REFUSED: dict[str, Any] = {
    "one row's mean": lambda s: s.o.pow(2).mean(1)[0], "one row's sum": lambda s: s.o.pow(2).sum(1)[0],
    "mean and sum": lambda s: s.mse() + s.o.abs().sum(), "unlike shares": lambda s: s.ce(s.ignored) + s.mse(),
    "a hidden 1 / N": lambda s: s.o.abs().sum() * (1 / len(s.o)) + s.o.exp().sum() * (2 / len(s.o)),
    "classes are samples": lambda s: s.F.cross_entropy(s.o.T, s.T.tensor([0, 1, 2])),
    "softmax over samples": lambda s: s.F.nll_loss(s.o.log_softmax(0), s.ignored),
    "softmax over samples, sum": lambda s: s.F.nll_loss(s.o.log_softmax(0), s.y, reduction="sum"),
    "softmax over all": lambda s: s.o.reshape(-1).log_softmax(0)[::2].mean(), "turned": lambda s: s.o.T.softmax(1).pow(2).mean(),
    "reversed beside": lambda s: (s.o * s.o.flip(0)).mean(), "gram": lambda s: (s.o.T @ s.o).pow(2).mean(),
    "broadcast rank": lambda s: (s.o + s.T.zeros(len(s.o), 1, 3)).pow(2).mean(1).pow(3).mean(),
    "pairs in a loss": lambda s: s.F.mse_loss(s.o[:, None].expand(-1, len(s.o), -1), s.o[None].expand(len(s.o), -1, -1)),
    "pairs": lambda s: (s.o[:, None] * s.o[None]).mean(2).sum(), "new dimension": lambda s: s.o.unsqueeze(0).norm(dim=1).mean(),
    "target of a mean": lambda s: s.F.mse_loss(s.T.zeros(3), s.o.mean(0)), "cumulative": lambda s: s.o.flatten().cumsum(0).sum(),
    "mask": lambda s: (s.o.pow(2) * s.mask).sum() / s.mask.sum(),
    "where": lambda s: s.T.where(s.mask > 0, s.o, 0 * s.o).sum() / 6,
    "mask, times": lambda s: (s.o.pow(2) * s.mask).sum() * (1 / s.mask.sum()),
    "picked": lambda s: s.o[s.mask > 0].exp().sum() / 6,
    "masked_fill": lambda s: s.o.pow(2).masked_fill(s.mask < 1, 0).sum() / s.mask.sum(),
    "two masked": lambda s: ((s.o * s.mask).sum() + (s.o.pow(2) * s.mask).sum()) / s.mask.sum(),
    "normed": lambda s: s.F.layer_norm(s.o, tuple(s.o.shape)).pow(3).mean(),
    "sorted": lambda s: s.o.sort(0)[0][:, 1:].exp().mean(),
    "a function that is called Relu": lambda s: function_of(s.T).apply(s.o).pow(2).mean(),
    "hardest": lambda s: s.ce(reduction="none").topk(3)[0].mean(),
    "with weights": lambda s: s.mse() + s.weight.sum() * s.o.norm(),
}


def own_gradients(torch: Any, model: Any, x: Any, loss: Any, dim: int = 0) -> dict[str, Any]:
    """{name: (N, *shape)} by a loop; loss(model, x, numbers of its samples)."""
    found: dict[str, list[Any]] = {}
    for n in range(x.shape[dim]):
        model.zero_grad()
        loss(model, x.narrow(dim, n, 1), torch.tensor([n])).backward()
        for name, p in model.named_parameters():
            found.setdefault(name, []).append(torch.nan_to_num(p.grad))
    return {name: torch.stack(grads) for name, grads in found.items()}


# Losses that look alike, and are reduced in different ways
ALIKE: dict[str, Any] = {
    "mean": lambda s: s.ce(), "sum": lambda s: s.ce(reduction="sum"), "ignored": lambda s: s.ce(s.ignored),
    "ignored, sum": lambda s: s.ce(s.ignored, reduction="sum"), "weighted": lambda s: s.ce(weight=s.weight),
    "all weights one": lambda s: s.ce(weight=s.weight * 0 + 1), "rows by two": lambda s: s.F.nll_loss(
        s.logp.reshape(-1, 3, 3).log_softmax(1), s.y.reshape(-1, 1).expand(-1, 3).reshape(-1, 3)[:len(s.y) // 3]),
    "classes first": lambda s: s.F.nll_loss(s.o.log_softmax(0), s.y), "mse": lambda s: s.mse(), "target": lambda s: s.F.mse_loss(
        s.target, s.o), "mse, sum": lambda s: s.mse(reduction="sum"), "mse, none": lambda s: s.mse(reduction="none").mean(),
    "none, sum": lambda s: s.mse(reduction="none").sum(), "means": lambda s: s.mse(reduction="none").mean(1).mean(),
    "means over samples": lambda s: s.mse(reduction="none").mean(0).mean(), "sums": lambda s: s.o.sigmoid().sum(1).sum(),
    "mean and sum": lambda s: s.o.sigmoid().mean(1).sum(), "kept": lambda s: s.o.sigmoid().mean(1, keepdim=True).sum(0),
    "over samples, kept": lambda s: s.o.sigmoid().mean(0, keepdim=True).sum(1), "scaled": lambda s: s.ce() * 3,
    "view": lambda s: s.o.reshape(-1).tanh().mean(), "view of three": lambda s: s.o.reshape(3, -1).softmax(1).sum(1).mean(),
    "new dimension": lambda s: s.o.view(-1, 1, 3).softmax(1).sum(1).mean(),
    "new dimension first": lambda s: s.o.view(1, -1, 3).softmax(1).sum(1).mean(),
}


def test_a_capture_reads_each_loss_like_one_that_has_read_no_other(torch: Any) -> None:
    model = model_of(torch)
    known = capture(model, check=False)
    for count, losses in ((6, ALIKE), (3, ALIKE), (6, {**ALIKE, **KNOWN, **REFUSED})):
        x = torch.randn(count, 4)
        for name, loss in losses.items():
            def of(out: Any, loss: Any = loss, count: int = count) -> Any:
                return loss(Parts(torch, out, torch.arange(count)))
            with known:
                of(model(x)).backward()
            told, fresh = ([(*r[:5], r.places is None, *r[6:]) for r in cap.losses]
                           for cap in (known, captured(torch, model, x, of, check=False)))
            assert repr(told) == repr(fresh), name


def test_a_loss_like_one_before_is_not_read_again(torch: Any, monkeypatch: Any) -> None:
    from importlib import import_module
    model, x, F = model_of(torch), torch.randn(6, 4), torch.nn.functional
    cap = capture(model)
    losses = (lambda o: F.cross_entropy(o, torch.tensor(Y)), lambda o: F.mse_loss(o, torch.zeros(6, 3)), lambda o: o.mean())
    read = []
    for _ in range(2):
        for loss in losses:
            with cap:
                loss(model(x)).backward()
            read.append(cap.losses)
        monkeypatch.setattr(import_module("retrograd.microscope.capture.loss"), "Reader", None)
    assert read[:3] == read[3:]


@pytest.mark.parametrize("name", KNOWN)
def test_a_sample_has_the_gradient_that_it_has_alone(torch: Any, name: str) -> None:
    model, x = model_of(torch), torch.randn(6, 4)
    cap = captured(torch, model, x, lambda out: KNOWN[name](Parts(torch, out, torch.arange(6))))
    assert not cap.coverage().loss_mixes
    want = own_gradients(torch, model, x, lambda model, x, i: KNOWN[name](Parts(torch, model(x), i)))
    for key, got in cap.grads(scale="sample").per_sample().items():
        assert near(got, want[key])


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_proven_is_refused_by_name(torch: Any, name: str) -> None:
    model, x = model_of(torch), torch.randn(6, 4)
    cap = captured(torch, model, x, lambda out: REFUSED[name](Parts(torch, out, torch.arange(6))))
    with pytest.raises(CaptureError, match="the graph does not show"):
        cap.grads(scale="sample")


def test_what_multiplies_all_parts_of_a_loss_is_undone(torch: Any) -> None:
    model, x = model_of(torch), torch.randn(6, 4)
    whole = captured(torch, model, x, lambda o: (o.pow(2).mean() + 0.1 * o.abs().mean()) * 512 / 4)
    want = own_gradients(torch, model, x, lambda model, x, i: model(x).pow(2).mean() + 0.1 * model(x).abs().mean())
    for key, got in whole.grads(scale="sample").per_sample().items():
        assert near(got, want[key])
    unlike = captured(torch, model, x, lambda o: o.pow(2).mean() + o.pow(2).sum(1).mean())
    assert near(unlike.grads(scale="sample").norms(), 4 / 3 * captured(torch, model, x, lambda o: o.pow(2).sum(1).mean()).grads(
        scale="sample").norms())
    with pytest.raises(CaptureError, match="different numbers of terms"):
        unlike.grads(scale="sum")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_terms_are_counted_in_half_precision(torch: Any, dtype: str) -> None:
    kind = getattr(torch, dtype)                # 600 targets: more than half precision counts
    model, x, y = torch.nn.Linear(4, 3).to(kind), torch.randn(3, 200, 4).to(kind), torch.randint(0, 3, (3, 200))
    y[0, 50:], y[2, 0] = -100, -100
    cap = captured(torch, model, x, lambda o: those_asked(torch.nn.functional, o, y))
    want = own_gradients(torch, model, x, lambda m, x, i: those_asked(torch.nn.functional, m(x), y[i]))
    for key, got in cap.grads(scale="sample").per_sample().items():
        assert near(got.float(), want[key].float(), 3e-2)


def test_a_number_is_a_loss_scale_and_a_tensor_may_be_one_over_a_number_of_terms(torch: Any) -> None:
    model, x = model_of(torch).double(), torch.randn(6, 4, dtype=torch.float64)
    plain = captured(torch, model, x, lambda o: o.pow(2).sum()).grads().norms()
    for loss in (lambda o: o.pow(2).sum() * 0.1, lambda o: -0.5 * o.pow(2).sum()):
        assert near(captured(torch, model, x, loss).grads(scale="sample").norms(), plain)
    cap = captured(torch, model, x, lambda o: o.pow(2).sum() * torch.tensor(0.1, dtype=torch.float64))
    assert near(cap.grads(scale="sum").norms(), plain)
    with pytest.raises(CaptureError, match="divided by 10, which may be a number of terms"):
        cap.grads(scale="sample")


# Losses that are means, and the sums over the same terms
SUMS: dict[str, Any] = {
    "classes": lambda s, how: s.ce(s.ignored, weight=s.weight, reduction=how), "squares": lambda s, how: s.mse(reduction=how),
    "smoothed": lambda s, how: s.ce(s.ignored, label_smoothing=0.1, reduction=how),
    "probabilities": lambda s, how: s.ce(s.p, weight=s.weight, reduction=how),
    "margin": lambda s, how: s.F.multi_margin_loss(s.o, s.y, reduction=how),
    "margins": lambda s, how: s.F.multilabel_margin_loss(
        s.o, (s.y[:, None] - s.T.tensor([0, 9, 9])).clamp(min=-1), reduction=how),
    "divergence": lambda s, how: s.F.kl_div(s.logp, s.p, reduction="batchmean" if how == "mean" else how),
    "two": lambda s, how: s.ce(reduction=how) - 0.2 * s.o[:, 0].exp().mean() if how == "mean" else
    s.ce(reduction=how) - 0.2 * s.o[:, 0].exp().sum(),
}


@pytest.mark.parametrize("name", SUMS)
def test_a_mean_becomes_the_sum_of_its_terms(torch: Any, name: str) -> None:
    model, x = model_of(torch), torch.randn(6, 4)

    def run(how: str) -> Any:
        return captured(torch, model, x, lambda o: SUMS[name](Parts(torch, o, torch.arange(6)), how) * 4)
    run("sum")
    want = {key: p.grad / 4 for key, p in model.named_parameters()}
    for key, got in run("mean").grads(scale="sum").weight_grad().items():
        assert near(got, want[key])


# Logits (T, N, 5), the tokens first
TOKENS_FIRST: dict[str, Any] = {
    "flat": lambda F, o, y: F.cross_entropy(o.flatten(0, 1), y.T.flatten()),
    "last": lambda F, o, y: F.cross_entropy(o[-1], y[:, -1]),
    "probabilities": lambda F, o, y: F.cross_entropy(o.flatten(0, 1), F.one_hot(y.T.flatten().clamp(min=0), 5).float()),
    "turned": lambda F, o, y: F.cross_entropy(o.permute(1, 2, 0), y, label_smoothing=0.2),
    "tokens": lambda F, o, y: o.softmax(0).pow(2).sum((0, 2)).mean(),
    "unsqueezed": lambda F, o, y: o[None].softmax(1)[0].exp().mean(),
    "none": lambda F, o, y: F.cross_entropy(o.flatten(0, 1), y.T.flatten(), reduction="none").mean(),
    "sum": lambda F, o, y: F.cross_entropy(o.flatten(0, 1), y.T.flatten(), reduction="sum") / y.numel(),
    "picked": lambda F, o, y: F.cross_entropy(o[y.T != -100], y.T[y.T != -100], label_smoothing=0.1),
}
TOKENS_MIXED: dict[str, Any] = {
    "first dimension of tokens": lambda F, o, y: o.softmax(1).pow(2).mean(), "mean": lambda F, o, y: o.mean(1).pow(2).mean(),
    "turned": lambda F, o, y: o.transpose(0, 1).softmax(0).pow(2).mean(),
    "flat": lambda F, o, y: o.view(-1, 5).softmax(0).exp().mean(),
    "beside": lambda F, o, y: (o + o.transpose(0, 1)).pow(2).mean(),
    "tokens as classes": lambda F, o, y: F.cross_entropy(o[0].T, y[0]),
    "unsqueezed": lambda F, o, y: o[None].softmax(2).pow(2).mean(),
    "rows": lambda F, o, y: o.flatten(1).softmax(1).norm(dim=0).mean(),
}


def tokens_first_of(torch: Any) -> tuple[Any, Any, Any]:
    """(model, ids (T, N), targets (N, T)): 5 tokens, 5 samples and 5 letters, so that lengths tell nothing."""
    y = torch.randint(0, 5, (5, 5))
    y[0, 1:], y[3, 2] = -100, -100
    return torch.nn.Sequential(torch.nn.Embedding(5, 6), torch.nn.Tanh(), torch.nn.Linear(6, 5)), torch.randint(0, 5, (5, 5)), y


@pytest.mark.parametrize("name", TOKENS_FIRST)
def test_samples_along_the_second_dimension(torch: Any, name: str) -> None:
    model, ids, y = tokens_first_of(torch)
    y = y.clamp(min=0) if name == "last" else y
    cap = captured(torch, model, ids, lambda o: TOKENS_FIRST[name](torch.nn.functional, o, y), batch_dim=1)
    want = own_gradients(torch, model, ids, lambda m, x, i: TOKENS_FIRST[name](torch.nn.functional, m(x), y[i]), dim=1)
    for key, got in cap.grads(scale="sample").per_sample().items():
        assert float((got - want[key]).norm()) < 1e-4 * float(want[key].norm()) + 1e-6


@pytest.mark.parametrize("name", TOKENS_MIXED)
def test_what_goes_along_the_second_dimension_is_refused(torch: Any, name: str) -> None:
    model, ids, y = tokens_first_of(torch)
    cap = captured(torch, model, ids, lambda o: TOKENS_MIXED[name](torch.nn.functional, o, y.clamp(min=0)), batch_dim=1)
    with pytest.raises(CaptureError, match="the graph does not show"):
        cap.grads(scale="sample")


@pytest.mark.parametrize("gives", ["loss", "pair", "two losses", "unreduced", "mixed"])
def test_a_loss_that_the_model_computes_itself(torch: Any, gives: str) -> None:
    F, base = torch.nn.functional, letters(torch)

    class Own(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.base = base

        def forward(self, ids: Any, y: Any) -> Any:
            o = self.base(ids)
            if gives == "unreduced":
                return F.cross_entropy(o.flatten(0, 1), y.flatten(), reduction="none").mean()
            if gives == "mixed":
                return o.mean(0).pow(2).mean()
            loss = F.cross_entropy(o.flatten(0, 1), y.flatten())
            return (loss, o) if gives == "pair" else loss + 0.1 * o.pow(2).mean() if gives == "two losses" else loss
    model, ids, y = Own(), torch.randint(0, 5, (4, 3)), torch.randint(0, 5, (4, 3))
    if gives in ("loss", "pair"):
        y[0, 1], y[2, :2] = -100, -100

    def loss(model: Any, ids: Any, i: Any) -> Any:
        found = model(ids, y[i])
        return found[0] if gives == "pair" else found
    with capture(model) as cap:
        loss(model, ids, torch.arange(4)).backward()
    if gives == "mixed":
        with pytest.raises(CaptureError, match="passes MeanBackward"):
            cap.grads(scale="sample")
        return
    want = own_gradients(torch, model, ids, loss)
    for key, got in cap.grads(scale="sample").per_sample().items():
        assert near(got, want[key])


def test_losses_of_several_calls(torch: Any) -> None:
    model, batches = model_of(torch), [torch.randn(n, 4) for n in (1, 3, 2)]
    own = torch.cat([own_gradients(torch, model, x, lambda m, x, i: m(x).pow(2).mean())["0.weight"] for x in batches])

    def run(loss: Any, **options: Any) -> Any:
        model.zero_grad()
        with capture(model, **options) as cap:
            loss()
        return cap.grads(scale="sample")
    steps = run(lambda: [(model(x).pow(2).sum() / x[:, :3].numel() / 1).backward() for x in batches])
    assert near(steps.per_sample()["0.weight"], own)
    added = run(lambda: sum(model(x).pow(2).mean() for x in batches).backward(), calls="apart")
    assert near(added.per_sample()["0.weight"], own)
    for together in (torch.cat, torch.stack):
        with pytest.raises(CaptureError, match="passes (Cat|Stack)Backward"):
            run(lambda: together([model(x[:1]) for x in batches]).pow(2).mean().backward(), calls="apart")  # noqa: B023


@pytest.mark.parametrize("name", SEPARABLE)
def test_losses_that_add_up_samples_are_undone(torch: Any, name: str) -> None:
    model, x, loss = model_of(torch), torch.randn(6, 4), SEPARABLE[name]
    cap = captured(torch, model, x, lambda out: loss(torch, out))
    assert not cap.coverage().loss_mixes
    truth = alone(torch, model, x, lambda out, n: loss(torch, out))
    for key, got in cap.grads(scale="sample").per_sample().items():
        assert near(got, torch.stack([t[key] for t in truth]))


@pytest.mark.parametrize("name", TOGETHER)
def test_losses_that_do_more_than_add_up_samples_are_not_undone(torch: Any, name: str) -> None:
    cap = captured(torch, model_of(torch), torch.randn(6, 4), lambda out: TOGETHER[name](torch, out))
    with pytest.raises(CaptureError, match="the graph does not show"):
        cap.grads(scale="sample")
    assert cap.grads(scale=1.0).norms().shape == (6,)


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
    with pytest.raises(CaptureError, match="targets may be ignored"):
        cap.grads(scale="sample")
    plain = captured(torch, model, x, lambda out: F.cross_entropy(out.cumsum(1), y, reduction="sum"))
    assert near(cap.grads(scale="sum").norms(), plain.grads().norms())


@pytest.mark.parametrize("loss", [
    lambda out: (out.pow(2).sum(1) + 1e-3).sqrt().logsumexp(0),
    lambda out: out.pow(2).mean() + out.abs().sum(),
    lambda out: out.pow(2).sum().sqrt(),
])
def test_a_loss_reduced_in_an_unknown_way_is_not_undone(torch: Any, loss: Any) -> None:
    cap = captured(torch, model_of(torch), torch.randn(6, 4), loss)
    with pytest.raises(CaptureError, match="the graph does not show"):
        cap.grads(scale="sum")
    assert cap.grads(scale=2.0).norms().shape == (6,)


def test_scale_of_another_kind_is_refused(torch: Any) -> None:
    cap = captured(torch, model_of(torch), torch.randn(6, 4))
    with pytest.raises(ValueError, match="scale must be None"):
        cap.grads(scale="mean")


def test_a_pass_inside_the_model_is_seen_in_every_step(torch: Any) -> None:
    class Inside(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Linear(4, 3)

        def forward(self, x: Any) -> Any:
            h = self.a(x)
            torch.autograd.backward(h.pow(2).sum())
            return h.detach()
    model, x = Inside(), torch.randn(6, 4)
    cap = capture(model)
    for _ in range(4):
        model.zero_grad()
        with cap:
            model(x)
        assert near(cap.grads().per_sample()["a.weight"].sum(0), model.a.weight.grad)


MIXING = {
    "MmBackward0": lambda torch, out: torch.nn.functional.cross_entropy(out @ out.T, torch.arange(6)),
    "MeanBackward1": lambda torch, out: (out - out.mean(0)).pow(2).mean(),
    "StdBackward0": lambda torch, out: out.std(0).mean(),
    "SliceBackward0": lambda torch, out: (out[:3] - out[3:]).pow(2).mean(),
    "LogSoftmaxBackward0": lambda torch, out: -out.log_softmax(0).mean(),
    "FlipBackward0": lambda torch, out: out.pow(2).mean() + (out - out.flip(0)).pow(2).mean(),
}


@pytest.mark.parametrize("node", MIXING)
def test_the_report_names_what_makes_a_loss_of_several_samples(torch: Any, node: str) -> None:
    model, x = model_of(torch), torch.randn(6, 4)
    for loss, named in ((MIXING[node], node), (lambda torch, out: out.pow(2).mean(), "")):
        report = captured(torch, model, x, lambda out, loss=loss: loss(torch, out)).coverage()
        assert report.verified and report.complete and report.loss_mixes == named
        assert (f"the loss is not known to keep samples apart ({node})" in str(report)) == bool(named)
