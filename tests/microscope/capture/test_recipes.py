"""Recipes, against the definition written out."""
from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from retrograd import microscope
from retrograd.microscope import CaptureError, UncoveredError, capture


def near(a: Any, b: Any, tolerance: float = 1e-4) -> bool:
    assert tuple(a.shape) == tuple(b.shape)
    return float((a - b).norm()) <= tolerance * max(float(b.norm()), 1e-6)


def grads_of(torch: Any, model: Any, x: Any, y: Any) -> Any:
    model.zero_grad()
    with capture(model) as cap:
        torch.nn.functional.mse_loss(model(x), y, reduction="sum").backward()
    return cap.grads(scale="sample")


def small(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Tanh(), nn.Linear(4, 2))


def flat(torch: Any, grads: Any) -> Any:
    return torch.cat([g.reshape(len(g), -1) for g in grads.per_sample().values()], 1)


def test_norm_sampling_is_unbiased(torch: Any) -> None:
    g = grads_of(torch, small(torch), torch.randn(6, 3), torch.randn(6, 2))
    p = microscope.sampling_probabilities(g.norms(), 0.1)
    assert abs(float(p.sum()) - 1) < 1e-5 and near(p, 0.9 * g.norms() / g.norms().sum() + 0.1 / 6)
    drawn, weights = microscope.norm_sampling(g, 4000, generator=torch.Generator().manual_seed(1))
    losses = torch.arange(6).float()
    assert abs(float((losses[drawn] * weights).mean()) - 2.5) < 0.2
    assert near(weights, 1 / (6 * p[drawn]))
    assert microscope.sampling_probabilities(torch.zeros(4)).tolist() == [0.25] * 4
    with pytest.raises(ValueError, match="uniform"):
        microscope.sampling_probabilities(g.norms(), 2)


def test_tracin_predicts_what_a_step_does(torch: Any) -> None:
    model = small(torch).double()
    x, y = torch.randn(5, 3).double(), torch.randn(5, 2).double()
    u, v = torch.randn(3, 3).double(), torch.randn(3, 2).double()
    predicted = microscope.tracin(grads_of(torch, model, x, y), grads_of(torch, model, u, v), lr=1e-6)
    assert predicted.shape == (5, 3)

    def losses() -> Any:
        with torch.no_grad():
            return (model(u) - v).pow(2).sum(1)
    before = losses()
    for n in range(5):
        model.zero_grad()
        (model(x[n:n + 1]) - y[n:n + 1]).pow(2).sum().backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 1e-6 * p.grad
        assert near(before - losses(), predicted[n], 1e-3)
        with torch.no_grad():
            for p in model.parameters():
                p += 1e-6 * p.grad


def test_influence_of_a_linear_model_is_exact(torch: Any) -> None:
    """One linear layer, one output, residuals of one size: K-FAC is the Fisher matrix, so is its inverse."""
    nn = torch.nn
    model, x = nn.Sequential(nn.Linear(3, 1, bias=False)), torch.randn(30, 3)
    with torch.no_grad():
        signs = torch.where(torch.randn(30, 1) > 0, torch.ones(30, 1), -torch.ones(30, 1))
        y = model(x) + signs * 0.5
    train = grads_of(torch, model, x, y)
    test = grads_of(torch, model, torch.randn(4, 3), torch.randn(4, 1))
    kfac = train.kfac(damping=1e-8, ema=0.0)
    got = microscope.influence(train, test, kfac)
    a, b = flat(torch, train), flat(torch, test)
    assert near(got, a @ torch.linalg.inv(a.T @ a / 30) @ b.T, 1e-3)


def test_influence_is_the_products_with_the_solved_gradients(torch: Any) -> None:
    model = small(torch)
    train = grads_of(torch, model, torch.randn(6, 3), torch.randn(6, 2))
    test = grads_of(torch, model, torch.randn(2, 3), torch.randn(2, 2))
    kfac = train.kfac(damping=0.1).corrected(train)
    solved = kfac.apply(test.per_sample())
    each = train.per_sample()
    want = sum(each[n].reshape(6, -1) @ solved[n].reshape(2, -1).T for n in each)
    assert near(microscope.influence(train, test, kfac), want)
    with pytest.raises(CaptureError, match="same parameters"):
        microscope.influence(train, test.select(layers="0"), kfac)


def test_dp_sgd_step_without_noise_is_clipped_sgd(torch: Any) -> None:
    model = small(torch)
    g = grads_of(torch, model, torch.randn(6, 3), torch.randn(6, 2))
    each = flat(torch, g)
    limit = float(g.norms().mean())
    want = (each * (limit / each.norm(dim=1)).clamp(max=1).reshape(-1, 1)).sum(0) / 6
    before = torch.cat([p.detach().clone().reshape(-1) for p in model.parameters()])
    microscope.dp_sgd_step(g, torch.optim.SGD(model.parameters(), lr=0.5), limit, 0.0)
    after = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
    assert near(before - after, 0.5 * want)


def test_noise_of_dp_sgd_has_the_right_size(torch: Any) -> None:
    nn = torch.nn
    model = nn.Linear(60, 60)
    g = grads_of(torch, model, torch.randn(4, 60), torch.randn(4, 60))
    generator = torch.Generator().manual_seed(0)
    clean = microscope.private_gradient(g, 0.01, 0.0)
    noisy = microscope.private_gradient(g, 0.01, 3.0, expected=8, generator=generator)
    noise = (noisy["weight"] * 8 - clean["weight"] * 4).reshape(-1)
    assert abs(float(noise.std()) / 0.03 - 1) < 0.05 and abs(float(noise.mean())) < 0.003


def test_dp_sgd_refuses_what_would_not_be_private(torch: Any) -> None:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    model.zero_grad()
    with capture(model) as cap:
        model(torch.randn(6, 3)).pow(2).sum().backward()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(UncoveredError, match="batch norm in training mode"):
        microscope.dp_sgd_step(cap.grads(), optimizer, 1.0, 1.0)
    with pytest.raises(CaptureError, match="partial"):
        microscope.dp_sgd_step(partial(torch), optimizer, 1.0, 1.0)
    model = small(torch)
    g = grads_of(torch, model, torch.randn(6, 3), torch.randn(6, 2))
    with pytest.raises(CaptureError, match="would not be|not among these"):
        microscope.dp_sgd_step(g.select(layers="0"), torch.optim.SGD(model.parameters(), lr=0.1), 1.0, 1.0)


def partial(torch: Any) -> Any:
    model = small(torch)
    with capture(model) as cap:
        model(torch.randn(6, 3)).pow(2).sum().backward()
    return cap.grads(partial=True)


def test_epsilon_comes_from_an_accountant() -> None:
    pytest.importorskip("dp_accounting")
    spent = [microscope.epsilon(1.1, 0.01, steps, 1e-5) for steps in (1000, 4000)]
    # Abadi et al. 2016 and TF Privacy's tutorial: about 1.8 to 2 after 1000 steps of 1% batches at 1.1
    assert 1.2 < spent[0] < 2.5 and spent[0] < spent[1] < 2.5 * spent[0]
    assert microscope.epsilon(2.2, 0.01, 1000, 1e-5) < spent[0]
    with pytest.raises(ValueError, match="noise_multiplier"):
        microscope.epsilon(0.0, 0.01, 10, 1e-5)


def test_fisher_diagonal(torch: Any) -> None:
    model = small(torch)
    for x in (torch.randn(6, 3), torch.randn(6, 5, 3)):
        g = grads_of(torch, model, x, torch.randn(*x.shape[:-1], 2))
        got = microscope.fisher_diagonal(g, room=40)
        for name, each in g.per_sample().items():
            assert near(got[name], each.pow(2).mean(0))


def test_noise_scale_is_unbiased_from_the_definition(torch: Any) -> None:
    model = small(torch)
    g = grads_of(torch, model, torch.randn(12, 3), torch.randn(12, 2))
    each = flat(torch, g)
    trace = each.var(dim=0).sum()               # unbiased
    norm = each.mean(0).pow(2).sum() - trace / 12
    got = microscope.noise_scale(g)
    assert abs(got["trace"] / float(trace) - 1) < 1e-4 and abs(got["squared_norm"] / float(norm) - 1) < 1e-3
    assert abs(got["noise_scale"] / float(trace / norm) - 1) < 1e-3
    with pytest.raises(CaptureError, match="at least two"):
        microscope.noise_scale(g.select(samples=0))


def test_wrong_kinds_of_arguments_are_named(torch: Any) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
    with capture(net) as cap:
        net(torch.randn(5, 4)).pow(3).sum().backward()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    names = {name: getattr(microscope, name) for name in ("capture", "dp_sgd_step", "influence", "tracin")}
    for call, text in {
        "capture(net, layers=0)": "layers= takes names", "capture(net, layers=[net, 3])": "got 3, of type int",
        "cap.grads().clip('1')": "max_norm must be a number, got str", "tracin(cap, cap)": "got Capture: call its grads()",
        "influence(None, cap.grads(), None)": "influence: expected what capture.grads() gives, got NoneType",
        "dp_sgd_step(net, optimizer, 1.0, 1.0)": "dp_sgd_step: expected what capture.grads() gives, got Sequential",
        "dp_sgd_step(cap.grads(), None, 1.0, 1.0)": "expected an optimizer, got NoneType",
    }.items():
        with pytest.raises(TypeError, match=re.escape(text)):
            with eval(call, names | {"net": net, "cap": cap, "optimizer": optimizer}):
                pass
    text = "0.weight, 0.bias, 1.weight, 1.bias: batch norm in training mode (1)"
    with pytest.raises(UncoveredError, match=re.escape(text)) as caught:
        cap.grads().norms()
    assert "fill()" not in str(caught.value)


def test_no_step_of_dp_sgd_takes_a_gradient_that_is_not_private(torch: Any) -> None:
    x, F = torch.randn(6, 4), torch.nn.functional
    encoder, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
    with capture(head) as cap:
        F.cross_entropy(head(encoder(x)), torch.zeros(6).long()).backward()
    before = [p.detach().clone() for p in (*encoder.parameters(), *head.parameters())]
    with pytest.raises(CaptureError, match=r"shape \(4, 4\) outside the captured model"):
        microscope.dp_sgd_step(cap.grads(scale="sample"), optimizer, 1.0, 1.0)
    for expected in (0, -5):
        with pytest.raises(ValueError, match="expected, the batch size"):
            microscope.private_gradient(cap.grads(scale="sample"), 1.0, 1.0, expected)
    with capture(encoder) as cap:
        z = F.normalize(encoder(x), dim=1)
        F.cross_entropy(z @ z.T, torch.arange(6), reduction="sum").backward()
    with pytest.raises(CaptureError, match="not known to keep samples apart"):
        microscope.dp_sgd_step(cap.grads(), torch.optim.SGD(encoder.parameters(), 0.1), 1.0, 1.0)
    with capture(encoder) as cap:
        encoder(x).pow(2).sum().backward()
    copied = torch.nn.Linear(4, 4)
    with pytest.raises(CaptureError, match="holds no parameter of these gradients"):
        microscope.dp_sgd_step(cap.grads(), torch.optim.SGD(copied.parameters(), 0.1), 1.0, 1.0)
    for p, old in zip((*encoder.parameters(), *head.parameters()), before):
        assert torch.equal(p, old)


def test_gradients_of_a_share_of_each_loss_are_not_clipped_or_made_private_in_silence(torch) -> None:
    net = torch.nn.Linear(3, 2)
    x, y = torch.randn(6, 3), torch.tensor([0, 1, 0, 1, 1, 0])
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with capture(net) as cap:
        torch.nn.functional.cross_entropy(net(x), y).backward()
    with capture(net) as summed:
        torch.nn.functional.cross_entropy(net(x), y, reduction="sum").backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.allclose(cap.grads(scale=1.0).clip(1e6)["weight"] * 6, summed.grads().clip(1e6)["weight"], rtol=1e-5)
    with pytest.warns(UserWarning, match="clip: the loss's reduction multiplied"):
        cap.grads().clip(1.0)
    for call in (lambda g: microscope.private_gradient(g, 1.0, 1.0), lambda g: microscope.dp_sgd_step(g, optimizer, 1.0, 1.0),
                 microscope.noise_scale, microscope.fisher_diagonal, lambda g: microscope.noise_scale(g.select("weight"))):
        with pytest.raises(CaptureError, match=r"multiplied every sample's gradient by 1/6. Call grads\(scale='sample'\)"):
            call(cap.grads())
        call(cap.grads(scale="sample"))


def test_an_empty_draw_takes_a_private_step_of_noise_alone(torch) -> None:
    net = torch.nn.Linear(3, 2)
    net.bias.requires_grad_(False)
    optimizer = torch.optim.SGD(net.parameters(), 1.0)
    before, bias = net.weight.detach().clone(), net.bias.detach().clone()
    with pytest.raises(CaptureError, match=r"batch of no samples; skip it.*dp_sgd_step\(None"), capture(net):
        net(torch.ones(0, 3))
    with pytest.raises(ValueError, match="an empty draw needs expected"):
        microscope.dp_sgd_step(None, optimizer, 2.0, 3.0)
    assert net.weight.grad is None
    torch.manual_seed(0)
    microscope.dp_sgd_step(None, optimizer, 2.0, 3.0, expected=4)
    torch.manual_seed(0)
    assert torch.allclose(net.weight, before - torch.randn(2, 3) * 6 / 4) and torch.equal(net.bias, bias)


def test_numbers_that_make_no_sense_and_names_that_nothing_has_are_refused(torch) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 2))
    with pytest.raises(CaptureError, match="capture: layers= has '9.weight', which selects no parameter"):
        capture(net, layers=["0.weight", "9.weight"])
    with capture(net) as cap:
        net(torch.randn(4, 3)).sum().backward()
    for call, error, text in (
        (lambda: cap.grads(["0.weight", "7"]), CaptureError, "grads: layers= has '7'"),
        (lambda: cap.grads().select(["0.weight", "7"]), CaptureError, "select: layers= has '7'"),
        (lambda: cap.grads(scale=0), ValueError, "scale must be finite and not 0"),
        (lambda: cap.grads(scale=float("nan")), ValueError, "scale must be finite and not 0"),
        (lambda: cap.grads().clip(torch.ones(3)), TypeError, "clip: max_norm must be a number, got"),
        (lambda: microscope.private_gradient(cap.grads(), 1.0, float("nan")), ValueError, "noise_multiplier"),
        (lambda: microscope.sampling_probabilities(torch.tensor([-1.0, 2.0])), ValueError, "norms must be 0 or more"),
        (lambda: microscope.sampling_probabilities(torch.tensor([float("nan"), 2.0])), ValueError, "norms must be 0 or more"),
        (lambda: microscope.curvature(net, torch.nn.functional.mse_loss, (torch.ones(4, 3), torch.ones(4, 2))), TypeError,
         r"data is an iterable of batches, such as \[\(x, y\)\]"),
        (lambda: microscope.curvature(net, torch.nn.functional.mse_loss, [(torch.ones(4, 3), torch.ones(4, 2))]).trace(probes=0),
         ValueError, "probes must be 1 or more"),
    ):
        with pytest.raises(error, match=text):
            call()


def complex_grads(torch: Any) -> Any:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4, dtype=torch.cdouble), torch.nn.Linear(4, 2, dtype=torch.cdouble))
    with capture(model) as cap:
        model(torch.randn(5, 3, dtype=torch.cdouble)).abs().pow(2).sum().backward()
    return cap.grads(scale="sample")


def test_both_parts_of_a_complex_gradient_get_the_noise(torch: Any) -> None:
    net = torch.nn.Linear(100, 100, bias=False, dtype=torch.cdouble)
    optimizer = torch.optim.SGD(net.parameters(), 0.0)
    with capture(net) as cap:
        net(torch.zeros(4, 100, dtype=torch.cdouble)).abs().sum().backward()
    g = cap.grads(scale="sample")
    found = [microscope.private_gradient(g, 2.0, 3.0)["weight"]]
    for given in (g, None):
        microscope.dp_sgd_step(given, optimizer, 2.0, 3.0, expected=4)
        found.append(net.weight.grad)
    for noise in found:
        parts = torch.view_as_real(noise).reshape(-1, 2)
        assert torch.allclose(parts.std(0), torch.full((2,), 6 / 4, dtype=torch.double), rtol=0.03)
        assert abs(float((parts[:, 0] * parts[:, 1]).mean())) < 0.1


def test_the_fisher_diagonal_of_complex_weights_is_of_squared_sizes(torch: Any) -> None:
    g = complex_grads(torch)
    for name, found in microscope.fisher_diagonal(g).items():
        assert near(found, g.per_sample()[name].abs().pow(2).mean(0), 1e-12)


def test_products_and_norms_of_complex_factors_are_those_of_the_gradients(torch: Any) -> None:
    g = complex_grads(torch)
    for name, k in g.kronecker(1).items():
        if name.endswith("weight"):
            dots, rows = g.dots(per_layer=True)[name], g.per_sample()[name]
            assert near(torch.stack([k.dot(row) for row in rows]), dots[1], 1e-12)
            assert near(k.dot(k.vec()), dots[1, 1], 1e-12) and near(k.norm(), g.norms(per_layer=True)[name][1], 1e-12)


def test_the_noise_scale_of_complex_weights_counts_both_parts(torch: Any) -> None:
    g = complex_grads(torch)
    rows = torch.cat([torch.view_as_real(x.resolve_conj()).reshape(len(x), -1) for x in g.per_sample().values()], 1)
    found = microscope.noise_scale(g)
    assert abs(found["trace"] / float(rows.var(0).sum()) - 1) < 1e-9
    assert abs(found["squared_norm"] / float(rows.mean(0).pow(2).sum() - rows.var(0).sum() / len(rows)) - 1) < 1e-9
