"""Quantities beyond the table: scale, tokens, segments, projections, several runs, K-FAC."""
from __future__ import annotations

from typing import Any

import pytest
from small import captured, model_of, near

import retrograd
from retrograd import microscope
from retrograd.microscope import CaptureError, UncoveredError, capture


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


def test_complex_layers_with_the_conjugates_where_they_belong(torch: Any) -> None:
    class Model(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv = torch.nn.Conv1d(2, 3, 2, dtype=torch.cdouble)
            self.linear = torch.nn.Linear(9, 4, dtype=torch.cdouble)
            self.scale = torch.nn.Parameter(torch.randn(4, dtype=torch.double))     # real, between complex numbers
            self.mix = torch.nn.Parameter(torch.randn(4, 2, dtype=torch.cdouble))

        def forward(self, x: Any) -> Any:
            return torch.tanh(self.linear(torch.tanh(self.conv(x)).flatten(1)) * self.scale + self.scale) @ self.mix

    model, x = Model(), torch.randn(5, 2, 4, dtype=torch.cdouble)
    with capture(model, check=True) as cap:
        (model(x).abs() ** 2).sum().backward()
    cap.check()
    assert cap.coverage().complete
    rows: list[Any] = []
    for one in x.split(1):
        model.zero_grad()
        (model(one).abs() ** 2).sum().backward()
        rows.append({name: p.grad.clone() for name, p in model.named_parameters()})
    every = cap.grads().per_sample()
    for name in rows[0]:
        assert every[name].dtype == rows[0][name].dtype
        assert near(every[name], torch.stack([row[name] for row in rows]))
    flat = torch.stack([torch.cat([g.abs().pow(2).reshape(-1) for g in row.values()]) for row in rows])
    assert near(cap.grads().norms(), flat.sum(1).sqrt())
    assert near(cap.grads().dots().diagonal(), flat.sum(1))


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_a_bias_before_a_norm_is_covered_although_its_gradient_is_zero_but_for_rounding(torch: Any, dtype: str) -> None:
    class Centred(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv = torch.nn.Conv2d(1, 3, 3, dtype=getattr(torch, dtype))

        def forward(self, x: Any) -> Any:
            y = self.conv(x)
            return y - y.mean((2, 3), keepdim=True)

    model = Centred()
    x, target = (torch.randn(64, n, size, size, dtype=getattr(torch, dtype)) for n, size in ((1, 16), (3, 14)))
    with capture(model, check=True) as cap:
        ((model(x * 0.01) - 30 * target).abs() ** 2).sum().backward()
    assert max(cap.check().values()) < 1e-5 and cap.coverage().complete and cap.coverage().verified
    model.conv.bias.register_hook(lambda g: g + 10)                     # a difference is told all the same
    with capture(model, check=True) as cap:
        ((model(x * 0.01) - 30 * target).abs() ** 2).sum().backward()
    assert not cap.coverage().complete and "a hook on the parameter changed it" in str(cap.coverage())


def test_a_penalty_on_weights_is_named_and_goes_by_itself(torch: Any) -> None:
    model, x = torch.nn.Linear(4, 3), torch.randn(5, 4)

    def penalty() -> Any:
        return 0.1 * sum(p.square().sum() for p in model.parameters())

    cap = capture(model)
    with cap:
        (model(x).square().sum() + penalty()).backward()
    assert all(row.status == "whole batch" and "a penalty on weights" in row.how for row in cap.coverage())
    both = model.weight.grad.clone()
    model.zero_grad()
    with cap:
        model(x).square().sum().backward()
    penalty().backward()                                # as the report says
    assert cap.coverage().complete and torch.allclose(model.weight.grad, both)
    assert torch.allclose(cap.grads().per_sample()["weight"].sum(0), both - 0.2 * model.weight.detach(), atol=1e-5)


@pytest.mark.parametrize("samples", [5, [0, 5], [True, False]])
def test_samples_that_are_not_there_are_refused(torch: Any, samples: Any) -> None:
    model = torch.nn.Linear(4, 3)
    with capture(model) as cap:
        model(torch.randn(5, 4)).square().sum().backward()
    with pytest.raises(IndexError, match=r"^select: samples= does not fit a batch of 5: "):
        cap.grads().select(samples=samples)


def test_a_long_reason_stands_once(torch: Any) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2))
    with capture(model) as cap:
        model(torch.randn(5, 4)).square().sum().backward()
    first, *others = str(cap.coverage()).splitlines()[1:]
    assert "batch norm in training mode (1) mixes the samples" in first and len(others) == 5
    assert all("whole batch  as 0.weight  error" in line for line in others)
    assert len({row.how for row in cap.coverage()}) == 1


def test_complex_samples_that_depend_on_each_other_are_noticed(torch: Any) -> None:
    class Mixed(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self, over: Any) -> None:
            super().__init__()
            self.over, self.first = over, torch.nn.Linear(4, 3, dtype=torch.cdouble)
            self.last = torch.nn.Linear(3, 2, dtype=torch.cdouble)

        def forward(self, x: Any) -> Any:
            return self.last(self.over(self.first(x)))

    x = torch.randn(6, 4, dtype=torch.cdouble)
    for over, known in (
            (lambda y: y - y.mean(0), False), (lambda y: y.conj() * 1j, True), (lambda y: torch.fft.fft(y, dim=0), False)):
        with capture(Mixed(over), check=True) as cap:
            (cap.model(x).abs() ** 2).sum().backward()
        states = {row.name: row.status for row in cap.coverage().rows}
        assert (states["first.weight"] != "whole batch") is known and states["last.weight"] == "factors"
        assert cap.coverage().verified
    order = torch.tensor([3, 0, 5, 1, 2, 4])
    model = Mixed(lambda y: y)
    with capture(model) as plain:
        (model(x).abs() ** 2).sum().backward()
    model.over = lambda y: y[order]
    with capture(model) as cap:
        (model(x).abs() ** 2).sum().backward()
    assert near(cap.grads().norms(), plain.grads().norms())


@pytest.mark.parametrize("used", [
    "w.mH", "w.H", "w.adjoint()", "w.conj()", "w.T.conj()", "w.conj().T", "w.mT", "w.conj() * 1j", "w * w.mH"])
def test_a_complex_weight_may_be_used_conjugated(torch: Any, used: str) -> None:
    class Model(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.randn(3, 3, dtype=torch.cdouble))

        def forward(self, x: Any) -> Any:
            return x @ eval(used, {"w": self.w})

    model, x = Model(), torch.randn(4, 3, dtype=torch.cdouble)
    with capture(model, check=True) as cap:
        (model(x).abs() ** 2).sum().backward()
    assert cap.coverage().complete
    rows = []
    for one in x.split(1):
        model.zero_grad()
        (model(one).abs() ** 2).sum().backward()
        rows.append(model.w.grad.clone())
    assert near(cap.grads().per_sample()["w"], torch.stack(rows))


def test_complex_weights_of_other_functions_are_covered(torch: Any) -> None:
    class Model(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.modes = torch.nn.Parameter(torch.randn(2, 2, 4, dtype=torch.cdouble))
            self.up = torch.nn.ConvTranspose1d(2, 3, 2, stride=2, dtype=torch.cdouble)
            self.angle = torch.nn.Parameter(torch.randn(9, dtype=torch.double))

        def forward(self, x: Any) -> Any:
            low = torch.einsum("bik,iok->bok", torch.fft.rfft(x)[..., :4], self.modes)
            return torch.fft.irfft(self.up(low), n=9) * torch.exp(1j * self.angle)

    model, x = Model(), torch.randn(5, 2, 9, dtype=torch.double)
    with capture(model, check=True) as cap:
        (model(x).abs() ** 2).sum().backward()
    assert cap.coverage().complete
    rows = []
    for one in x.split(1):
        model.zero_grad()
        (model(one).abs() ** 2).sum().backward()
        rows.append({name: p.grad.clone() for name, p in model.named_parameters()})
    every = cap.grads().per_sample()
    for name in rows[0]:
        assert near(every[name], torch.stack([row[name] for row in rows]))


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


def grads_of_a_layer(engine: Any, size: int) -> Any:
    return captured(engine, engine.nn.Linear(size, 2), engine.randn(3, size)).grads()


def test_gradients_of_other_parameters_are_not_compared(torch: Any) -> None:
    g, wider = grads_of_a_layer(torch, 3), grads_of_a_layer(torch, 4)
    for call in (g.dots, lambda other: microscope.tracin(g, other), lambda other: microscope.influence(g, other, g.kfac())):
        with pytest.raises(CaptureError, match=r"same parameters: weight \(2, 3\) and \(2, 4\)"):
            call(wider)


@pytest.mark.oracle
def test_gradients_of_two_engines_are_not_compared() -> None:
    one, other = (grads_of_a_layer(engine, 3) for engine in (retrograd, pytest.importorskip("torch")))
    for a, b in ((one, other), (other, one)):
        with pytest.raises(CaptureError, match="capture both on the same"):
            a.dots(b)


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


def test_weights_without_tokens_are_left_out_of_per_token_or_named(torch: Any) -> None:
    class Placed(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.place, self.layer = torch.nn.Parameter(torch.randn(1, 3, 4)), torch.nn.Linear(4, 2)

        def forward(self, x: Any) -> Any:
            return self.layer(x + self.place)
    model, x = Placed(), torch.randn(6, 3, 4)
    grads = captured(torch, model, x).grads()
    got, whole = grads.per_token(), grads.per_sample()
    assert list(got) == ["layer.weight", "layer.bias"] and set(whole) == {*got, "place"}
    for name, g in got.items():
        assert tuple(g.shape[:2]) == (6, 3) and near(g.sum(1), whole[name])
    with pytest.raises(CaptureError, match="per_token: the samples of place have no tokens"):
        grads.select("place").per_token()
    with pytest.raises(CaptureError, match=r"select\(tokens=...\): the samples of place have no tokens"):
        grads.select(tokens=[0])
