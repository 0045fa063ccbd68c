"""Compiled functions whose results are differentiated outside."""

from __future__ import annotations

from typing import Any

import pytest
from replaying import grads, numbers, replays, same, skipping
from test_compile_coverage import MODELS, ROWS

import retrograd as torch
import retrograd.nn.functional as F
from retrograd import nn

TARGETS = torch.tensor([0, 1, 2, 3, 4, 5])


def pair(make: Any, **options: Any) -> Any:
    """Two equal models, the second one also compiled."""
    torch.manual_seed(0)
    eager = make()
    torch.manual_seed(0)
    model = make()
    return eager, model, skipping(model, **options)


def state(model: Any) -> Any:
    return [*[t.clone() for t in (*model.parameters(), *model.buffers())], *grads(*model.parameters())]


def alike_outside(make: Any, step: Any, calls: int = 6, **options: Any) -> Any:
    """step(call, optimizer) -> numbers: the same for the model and for the compiled one."""
    eager, model, fast = pair(make, **options)
    sides = [(m, call, torch.optim.SGD(m.parameters(), lr=0.1)) for m, call in ((eager, eager), (model, fast))]
    for i in range(calls):
        got = []
        for _, call, optimizer in sides:
            torch.manual_seed(i)
            got.append(step(call, optimizer))
        assert same(*got), f"call {i}"
        assert same(state(eager), state(model)), f"state after call {i}"
    assert replays(fast) >= calls - 3, fast.explain()
    return fast


@pytest.mark.parametrize("check", [0, 1])
@pytest.mark.parametrize("name", list(MODELS))
def test_models_are_replayed_in_a_loop_of_ones_own(name: str, check: int) -> None:
    make, x = MODELS[name]

    def step(call: Any, optimizer: Any) -> Any:
        optimizer.zero_grad()
        y = call(x)
        loss = (y * y).mean()
        loss.backward()
        optimizer.step()
        return y.detach(), loss.detach()

    alike_outside(make, step, check=check)


def dropping() -> Any:
    return nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 8))


class Losses(nn.Module):
    """Two results: a loss, and logits."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.third = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Any) -> Any:
        h = self.first(x).tanh()
        return F.cross_entropy(self.second(h), TARGETS), torch.lerp(self.third(h), h, 0.25)


def test_several_calls_come_before_their_backward_passes() -> None:
    def step(call: Any, optimizer: Any) -> Any:
        optimizer.zero_grad()
        a, b = call(ROWS), call(ROWS * 2)
        (a * b).sum().backward()
        return a.detach(), b.detach()

    alike_outside(dropping, step)

    def losses(call: Any, optimizer: Any) -> Any:
        optimizer.zero_grad()
        a, b = call(ROWS), call(ROWS * 2)
        b[0].backward()
        (a[0] * 3 + a[1].sum()).backward()
        return a[0].detach(), b[0].detach()

    alike_outside(Losses, losses)


def test_the_recorded_call_can_be_differentiated_after_others() -> None:
    weight = numbers(8, 8).requires_grad_()

    def f(x: Any, target: Any) -> Any:
        h = x @ weight
        return F.cross_entropy(F.layer_norm(torch.lerp(h, h.exp(), 0.5) * h[:1], (8,)), target), F.dropout(h, 0.5)

    def run(call: Any) -> Any:
        torch.manual_seed(0)
        made = [call(ROWS * (i + 1), (TARGETS * 5 + i) % 8) for i in range(4)]
        got = []
        for loss, kept in made:
            weight.grad = None
            (loss + kept.sum()).backward()
            got.append(weight.grad.clone())
        return got

    want, fast = run(f), skipping(f)
    assert same(want, run(fast)) and replays(fast) == 3, fast.explain()


@pytest.mark.parametrize("which", [0, 1])
def test_a_result_without_a_gradient_gives_none(which: int) -> None:
    def step(call: Any, optimizer: Any) -> Any:
        optimizer.zero_grad()
        got = call(ROWS)
        got[which].sum().backward()
        return got[which].detach()

    alike_outside(Losses, step)


def test_the_input_of_a_compiled_model_may_carry_a_graph() -> None:
    before = numbers(8, 8).requires_grad_()

    def step(call: Any, optimizer: Any) -> Any:
        before.grad = None
        optimizer.zero_grad()
        y = call((ROWS @ before).relu())
        (y * y).sum().backward()
        return before.grad.clone()

    alike_outside(dropping, step)


def test_gradients_are_accumulated() -> None:
    def step(call: Any, optimizer: Any) -> Any:
        optimizer.zero_grad()
        for scale in (1.0, 2.0):
            call(ROWS * scale).pow(2).sum().backward()
        optimizer.step()
        return torch.zeros(1)

    alike_outside(dropping, step, calls=8)


def test_autograd_grad_gives_some_gradients() -> None:
    eager, model, fast = pair(dropping)
    for i in range(4):
        got = []
        for m, call in ((eager, eager), (model, fast)):
            torch.manual_seed(i)
            y = call(ROWS)
            got.append(torch.autograd.grad(y.sin().sum(), [m[4].bias, m[0].weight]))
        assert same(*got)
    assert replays(fast) == 3


def replayed(f: Any = None) -> Any:
    fast = skipping(f or Losses())
    for _ in range(3):
        made = fast(ROWS)
    assert type(made[0].grad_fn).__name__ == "CompiledFunctionBackward"
    return fast, made


def test_a_second_pass_needs_retain_graph() -> None:
    _, (loss, _) = replayed()
    loss.backward(retain_graph=True)
    loss.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()


def test_what_a_pass_needs_may_not_be_edited_before_it() -> None:
    model = Losses()
    _, (loss, _) = replayed(model)
    with torch.no_grad():
        model.second.weight.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()

    weight = numbers(8, 8).requires_grad_()
    fast = skipping(lambda x: (x @ weight).exp())
    for _ in range(3):
        y = fast(ROWS)
    with torch.no_grad():
        y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_second_derivatives_are_refused() -> None:
    model = Losses()
    _, (loss, _) = replayed(model)
    (g,) = torch.autograd.grad(loss, [model.first.weight], create_graph=True)
    with pytest.raises(RuntimeError, match="does not currently support double backward"):
        g.sum().backward()


def test_hooks_of_results_fire() -> None:
    model = Losses()
    fast, (loss, logits) = replayed(model)
    seen: list[Any] = []
    logits.register_hook(lambda g: seen.append(g.clone()) or g * 2)
    logits.retain_grad()
    (loss + logits.sum()).backward()
    assert same(seen, [torch.ones(6, 8)]) and same(logits.grad, torch.full((6, 8), 2.0))
    assert replays(fast) == 2


def test_expanded_gradients_and_no_grad_calls_fit_the_same_function() -> None:
    def step(call: Any, optimizer: Any) -> Any:
        optimizer.zero_grad()
        with torch.no_grad():
            seen = call(ROWS)
        y = call(ROWS)
        y.sum().backward()
        return seen, y.detach()

    alike_outside(lambda: nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3)), step)


def test_two_networks_with_two_optimizers() -> None:
    """A GAN: one network's result goes through the other one."""
    def run(compiled: bool) -> Any:
        torch.manual_seed(0)
        generator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8))
        critic = nn.Sequential(nn.Linear(8, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
        g, c = (skipping(generator), skipping(critic)) if compiled else (generator, critic)
        one, two = torch.optim.Adam(generator.parameters()), torch.optim.Adam(critic.parameters())
        seen = []
        for _ in range(6):
            noise = torch.randn(6, 4)
            fake = g(noise)
            two.zero_grad()
            (F.softplus(-c(ROWS)).mean() + F.softplus(c(fake.detach())).mean()).backward()
            two.step()
            one.zero_grad()
            F.softplus(-c(fake)).mean().backward()
            one.step()
            seen.append(fake.detach())
        if compiled:
            assert replays(g) >= 3 and replays(c) >= 9, (g.explain(), c.explain())
        return seen, state(generator), state(critic)

    assert same(run(False), run(True))


OPTIMIZERS: dict[str, dict[str, Any]] = {
    "Adadelta": {}, "Adafactor": {}, "Adagrad": {}, "Adamax": {}, "ASGD": {}, "Muon": {}, "NAdam": {}, "RAdam": {},
    "RMSprop": {"momentum": 0.5, "centered": True}, "Rprop": {}, "SGD": {"momentum": 0.9, "nesterov": True},
    "Adam": {"amsgrad": True, "foreach": False}, "AdamW": {"foreach": True},
}


@pytest.mark.parametrize("check", [0, 1])
@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_steps_of_optimizers_are_replayed(name: str, check: int) -> None:
    def run(compiled: bool) -> Any:
        weight = numbers(8, 4).requires_grad_()
        optimizer = getattr(torch.optim, name)([weight], lr=0.01, **OPTIMIZERS[name])
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)

        def step(x: Any) -> Any:
            optimizer.zero_grad()
            loss = (x @ weight).tanh().square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        call = skipping(step, check=check) if compiled else step
        seen = []
        for seed in range(7):
            seen.append((call(numbers(5, 8, seed=seed)), weight.detach().clone(), weight.grad.clone()))
            schedule.step()
        assert not compiled or replays(call) >= 4, call.explain()
        return seen

    assert same(run(False), run(True))


@pytest.mark.parametrize("check", [0, 1])
@pytest.mark.parametrize("clip", ["norm", "value"])
def test_clipping_is_replayed(clip: str, check: int) -> None:
    def run(compiled: bool) -> Any:
        torch.manual_seed(0)
        model = dropping()
        optimizer = torch.optim.Adam(model.parameters())

        def step(x: Any) -> Any:
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            if clip == "norm":
                total = nn.utils.clip_grad_norm_(model.parameters(), 0.05)
            else:
                total = nn.utils.clip_grad_value_(model.parameters(), 0.01)
            optimizer.step()
            return loss.detach(), total, model[0].bias.grad * 2

        call = skipping(step, check=check) if compiled else step
        seen = []
        for seed in range(6):
            seen.append((call(numbers(5, 8, seed=seed)), state(model)))
        assert not compiled or replays(call) >= 4, call.explain()
        return seen

    assert same(run(False), run(True))


def test_hooks_of_parameters_and_inputs_fire_in_passes_outside() -> None:
    def run(compiled: bool) -> Any:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
        seen: list[Any] = []
        model[0].weight.register_hook(lambda g: seen.append(g.clone()) or g * 2)
        model[2].bias.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
        call = skipping(model) if compiled else model
        weight = numbers(8, 8).requires_grad_()
        for _ in range(5):
            x = ROWS @ weight
            x.register_hook(lambda g: seen.append(g.clone()))
            x.retain_grad()
            call(x).sin().sum().backward()
            seen.append(x.grad)
        assert not compiled or replays(call) >= 3, call.explain()
        return seen, state(model), weight.grad

    assert same(run(False), run(True))
