"""Capture.fill: what hooks cannot take apart, sample by sample; and samples that are elsewhere at every step."""
from __future__ import annotations

from typing import Any

import pytest

from retrograd.microscope import CaptureError, UncoveredError, capture


def experts_of(torch: Any) -> Any:
    """Each token goes to the expert of its highest score: rows of an expert belong to any samples."""
    nn = torch.nn

    class Experts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.router = nn.Linear(4, 3)
            self.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

        def forward(self, x: Any) -> Any:
            flat = x.reshape(-1, x.shape[-1])
            score, to = self.router(flat).softmax(-1).max(-1)
            out = torch.zeros_like(flat)
            for e, expert in enumerate(self.experts):
                rows = (to == e).nonzero().reshape(-1)
                if rows.shape[0]:
                    out = out.index_add(0, rows, expert(flat.index_select(0, rows)).tanh() * score[rows].unsqueeze(1))
            return out.reshape(x.shape)
    return Experts()


def alone(torch: Any, model: Any, x: Any, loss: Any) -> dict[str, Any]:
    """{name: (N, *shape)}, one sample at a time."""
    found: dict[str, list[Any]] = {name: [] for name, _ in model.named_parameters()}
    for n in range(x.shape[0]):
        model.zero_grad()
        loss(model, x[n:n + 1]).backward()
        for name, p in model.named_parameters():
            found[name].append(torch.zeros_like(p).detach() if p.grad is None else p.grad.clone())
    model.zero_grad()
    return {name: torch.stack(rows) for name, rows in found.items()}


def squares(model: Any, x: Any) -> Any:
    return model(x).pow(2).sum()


def means(model: Any, x: Any) -> Any:
    return model(x).pow(2).mean()


@pytest.mark.parametrize("loss, reduction", [(squares, "sum"), (means, "mean")])
def test_experts_are_filled_in_one_by_one(torch: Any, loss: Any, reduction: str) -> None:
    model, x = experts_of(torch), torch.randn(5, 3, 4)
    with capture(model) as cap:
        loss(model, x).backward()
    assert cap.coverage()["router.weight"].status == "factors"      # tokens flattened, and found
    assert {row.name.partition(".")[0] for row in cap.coverage().missing} == {"experts"}
    with pytest.raises(UncoveredError, match="experts"):
        cap.grads().norms()
    cap.fill(loss, x, reduction=reduction)
    assert cap.coverage().complete
    rows = [row for row in cap.coverage() if row.how == "each sample by itself (loop)"]
    assert rows and all(row.status == "per sample" and row.name.startswith("experts") for row in rows)
    share = 1 / 5 if reduction == "mean" else 1
    truth = {name: rows * share for name, rows in alone(torch, model, x, loss).items()}
    grads = cap.grads()
    for name, got in grads.per_sample().items():
        assert torch.allclose(got, truth[name], rtol=1e-4, atol=1e-6), name
    flat = torch.cat([truth[name].reshape(5, -1) for name in grads.names], 1)
    assert torch.allclose(grads.norms(), flat.norm(dim=1), rtol=1e-4)
    assert torch.allclose(grads.dots(), flat @ flat.t(), rtol=1e-3, atol=1e-5)
    assert max(cap.check().values()) < 1e-4


def test_a_loss_that_is_not_the_batchs_is_refused(torch: Any) -> None:
    model, x = experts_of(torch), torch.randn(5, 3, 4)
    with capture(model) as cap:
        means(model, x).backward()
        with pytest.raises(CaptureError, match="leave the capture block"):
            cap.fill(means, x)
    before = str(cap.coverage())
    with pytest.raises(CaptureError, match="reduction='mean'"):
        cap.fill(means, x)
    with pytest.raises(CaptureError, match="do not add up"):
        cap.fill(squares, x)
    with pytest.raises(CaptureError, match=r"scalar, got shape \(1, 3, 4\)"):
        cap.fill(lambda model, x: model(x), x)
    with pytest.raises(ValueError, match=r"a batch of 5 in dimension 0, got \[4\]"):
        cap.fill(means, x[:4])
    with pytest.raises(ValueError, match="how is 'loop' or 'vmap'"):
        cap.fill(means, x, how="once")
    with pytest.raises(ValueError, match="reduction must be 'sum' or 'mean'"):
        cap.fill(means, x, reduction="none")
    assert str(cap.coverage()) == before


def test_samples_that_depend_on_each_other_cannot_be_filled_in(torch: Any) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
    x = torch.randn(5, 4)
    with capture(model) as cap:
        squares(model, x).backward()
    with pytest.raises(CaptureError, match="batch norm in training mode"):
        cap.fill(squares, x)


def test_what_a_step_filled_is_not_there_in_the_next(torch: Any) -> None:
    model, x = experts_of(torch), torch.randn(5, 3, 4)
    cap = capture(model)
    with cap:
        squares(model, x).backward()
    cap.fill(squares, x)
    with cap:
        squares(model, x * 2).backward()
    assert not cap.coverage().complete


def test_packed_sequences_are_filled_in(torch: Any) -> None:
    nn = torch.nn
    rnn = nn.utils.rnn

    class Packed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gru, self.fc = nn.GRU(2, 3, batch_first=True), nn.Linear(3, 2)

        def forward(self, x: Any, lengths: Any) -> Any:
            packed = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            return self.fc(rnn.pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=4)[0])
    model, x, lengths = Packed(), torch.randn(3, 4, 2), torch.tensor([2, 4, 3])

    def loss(model: Any, x: Any, lengths: Any) -> Any:
        return model(x, lengths).pow(2).sum()
    with capture(model) as cap:
        loss(model, x, lengths).backward()
    assert {row.status for row in cap.coverage() if row.name.startswith("gru")} == {"whole batch"}
    cap.fill(loss, x, lengths)
    norms = []
    for n in range(3):
        model.zero_grad()
        loss(model, x[n:n + 1], lengths[n:n + 1]).backward()
        norms.append(sum(float(p.grad.pow(2).sum()) for p in model.parameters()) ** 0.5)
    assert torch.allclose(cap.grads().norms(), torch.tensor(norms), rtol=1e-4)


@pytest.mark.oracle
def test_one_vmapped_pass_fills_in_what_a_custom_function_hides() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)

    class Own(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any, w: Any) -> Any:
            return x * w

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, w = ctx.saved_tensors
            return g * w, (g * x).sum(0)

    class Uses(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.w = torch.nn.Linear(4, 3), torch.nn.Parameter(torch.randn(3))

        def forward(self, x: Any) -> Any:
            return Own.apply(self.fc(x), self.w)
    model, x = Uses(), torch.randn(5, 4)
    with capture(model) as cap:
        squares(model, x).backward()
    assert [row.name for row in cap.coverage().missing] == ["w"]
    cap.fill(squares, x, how="vmap")
    assert cap.coverage()["w"].how == "each sample by itself (vmap)"
    truth = alone(torch, model, x, squares)
    assert torch.allclose(cap.grads().per_sample()["w"], truth["w"], rtol=1e-5)

    model, x = experts_of(torch), torch.randn(5, 3, 4)
    with capture(model) as cap:
        squares(model, x).backward()
    with pytest.raises(CaptureError, match="does not run under torch.func.vmap"):
        cap.fill(squares, x, how="vmap")


def test_vmap_is_torchs_alone() -> None:
    import retrograd
    model, x = experts_of(retrograd), retrograd.randn(5, 3, 4)
    with capture(model) as cap:
        squares(model, x).backward()
    with pytest.raises(ValueError, match="torch.func"):
        cap.fill(squares, x, how="vmap")


def test_an_order_that_the_data_gives_is_asked_for_at_every_step(torch: Any) -> None:
    nn = torch.nn

    class Sorts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two, self.three = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            order = torch.argsort(x[:, 0])
            return self.three(self.two(self.one(x).tanh()[order])[torch.argsort(order)])
    model, x = Sorts(), torch.randn(5, 3)
    cap = capture(model)
    for rows in (x[torch.argsort(x[:, 0])], x, x.flip(0), x[torch.argsort(x[:, 0])]):
        model.zero_grad()
        with cap:
            squares(model, rows).backward()
        assert cap.coverage().verified and cap.coverage().complete
        truth = alone(torch, model, rows, squares)
        for name, got in cap.grads().per_sample().items():
            assert torch.allclose(got, truth[name], rtol=1e-4, atol=1e-6), name


@pytest.mark.parametrize("N", [3, 4, 33])
def test_a_batch_turned_upside_down_is_found(torch: Any, N: int) -> None:
    nn = torch.nn

    class Flips(nn.Module):                     # with an odd batch even samples stay at even places
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            return self.two(self.one(x).tanh().flip(0)).flip(0)
    model, x = Flips(), torch.randn(N, 3)
    with capture(model) as cap:
        squares(model, x).backward()
    assert cap.coverage().complete and cap.coverage().verified
    truth = alone(torch, model, x, squares)
    for name, got in cap.grads().per_sample().items():
        assert torch.allclose(got, truth[name], rtol=1e-4, atol=1e-6), name


@pytest.mark.parametrize("recurrent", [False, True])
def test_lengths_of_packed_sequences_differ_from_step_to_step(torch: Any, recurrent: bool) -> None:
    nn = torch.nn
    rnn = nn.utils.rnn

    class Packed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.gru, self.out = nn.Linear(2, 3), nn.GRU(3, 3, batch_first=True), nn.Linear(3, 2)

        def forward(self, x: Any, lengths: Any) -> Any:
            packed = rnn.pack_padded_sequence(x, lengths, batch_first=True)
            inner = rnn.PackedSequence(self.fc(packed.data).tanh(), packed.batch_sizes)
            if recurrent:
                inner = self.gru(inner)[0]
            return self.out(rnn.pad_packed_sequence(inner, batch_first=True, total_length=4)[0])

    def loss(model: Any, x: Any, lengths: Any) -> Any:
        return model(x, lengths).pow(2).sum()
    model, x = Packed(), torch.randn(3, 4, 2)
    cap = capture(model)
    for lengths in ([3, 3, 3], [4, 3, 2], [4, 4, 4], [4, 4, 1]):        # as many tokens: the number proves nothing
        lengths = torch.tensor(lengths)
        model.zero_grad()
        with cap:
            loss(model, x, lengths).backward()
        assert cap.coverage().verified
        grads = cap.grads(partial=True)
        assert "out.weight" in grads.names
        got = grads.per_sample()
        for n in range(3):
            model.zero_grad()
            loss(model, x[n:n + 1], lengths[n:n + 1]).backward()
            for name, p in model.named_parameters():
                if name in got:
                    assert torch.allclose(got[name][n], p.grad, rtol=1e-4, atol=1e-6), (name, lengths)
        assert "fc.weight" in got or len(set(lengths.tolist())) > 1


def test_models_that_move_no_samples_are_asked_once(torch: Any) -> None:
    nn = torch.nn

    class Usual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tok, self.table, self.fc = nn.Embedding(7, 4), nn.Parameter(torch.randn(9)), nn.Linear(8, 4)
            self.places = nn.Parameter(torch.randn(7, 4))

        def forward(self, ids: Any) -> Any:
            at = torch.arange(ids.shape[1])
            x = self.tok(ids) + self.places[ids] + self.places[2:][at]
            y = (x @ x.transpose(1, 2) + self.table[at[:, None] - at[None] + 4]).softmax(-1) @ x
            return self.fc(torch.cat([x[:, :, :2], y, x[..., 2:]], -1)).chunk(2, -1)[0]

    class Sorts(nn.Linear):
        def forward(self, x: Any) -> Any:
            return super().forward(x).sort(0)[0]
    ids = torch.randint(0, 7, (3, 5))
    for model, x, moved in ((Usual(), ids, False), (Sorts(4, 2), torch.randn(3, 4), True)):
        cap, seen = capture(model), []
        leaf = next(model.parameters())
        handle = leaf.register_hook(lambda g, seen=seen: seen.append(1))
        for passes in (4, 4 if moved else 1):
            seen.clear()
            with cap:
                model(x).pow(2).sum().backward()
            assert len(seen) == passes
        handle.remove()


def test_both_parts_of_complex_gradients_must_add_up(torch: Any) -> None:
    model, x = torch.nn.Sequential(torch.nn.RMSNorm(4, dtype=torch.complex64)), torch.randn(5, 4, dtype=torch.complex64)

    def loss(model: Any, x: Any, sign: float = 1.0) -> Any:
        y = model(x)
        return (y.real + sign * y.imag).sum()
    with capture(model) as cap:
        loss(model, x).backward()
    with pytest.raises(CaptureError, match="do not add up"):
        cap.fill(lambda model, x: loss(model, x, -1.0), x)
    with pytest.raises(CaptureError, match="is the batch's loss a mean"):
        cap.fill(lambda model, x: 5 * loss(model, x), x)
    cap.fill(loss, x)
    assert torch.allclose(cap.grads().weight_grad()["0.weight"], model[0].weight.grad, rtol=1e-4)
