"""Programs that change something between the calls of what they compiled: what eager calls show, in both modes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from replaying import comparing, grads, numbers, replays, same, skipping

import retrograd as torch
from retrograd import nn
from retrograd.nn import functional as F

Compile = Callable[[Any], Any]
PROGRAMS: dict[str, Callable[[Compile], list[Any]]] = {}


def program(f: Callable[[Compile], list[Any]]) -> Callable[[Compile], list[Any]]:
    PROGRAMS[f.__name__] = f
    return f


def net() -> Any:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def stepping(model: Any) -> Any:
    x = numbers(5, 3)

    def step() -> Any:
        model.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss.detach()
    return step


@program
def complex_numbers(compiled: Compile) -> list[Any]:
    z, g, seen = torch.tensor([1 + 2j, 3 - 1j]).requires_grad_(), torch.tensor([1 + 1j, 2 - 3j]), []
    for f in (torch.exp, lambda z: z * z, lambda z: z / (z + 1), lambda z: z.abs().sum() * z, lambda z: z.real * z):
        call = compiled(lambda z, f=f: f(z))
        for _ in range(3):
            z.grad = None
            y = call(z)
            y.backward(g)
            seen += [y.detach().real, *[x.real for x in grads(z)], *[x.imag for x in grads(z)]]
    return seen


@program
def views_that_are_edited(compiled: Compile) -> list[Any]:
    w, seen = torch.ones(3, 3).requires_grad_(), []

    def f(x: Any) -> Any:
        y = x * 2
        return y, y[0], y.t()
    call = compiled(f)
    for _ in range(5):
        w.grad = None
        y, row, turned = call(w)
        row.mul_(3)
        (y * turned).sum().backward()
        seen += [row._base is y, turned._base is y, row._version, y._version, *grads(w)]
    return seen


@program
def seeds_before_a_call_that_draws(compiled: Compile) -> list[Any]:
    model, seen = nn.Sequential(net(), nn.Dropout(0.4)), []
    call = compiled(lambda x: model(x).detach() + torch.rand(2))
    for i in range(12):
        if i % 4 == 0:
            torch.manual_seed(i)
        seen += [call(numbers(5, 3)), torch.rand(2)]
        if i == 6:
            model[1].p = 0.7
    return seen


@program
def gradients_that_share_memory(compiled: Compile) -> list[Any]:
    model, seen = net(), []
    x, w = numbers(5, 3), model[0].weight

    def step() -> Any:
        loss = model(x).square().mean()
        loss.backward()
        return loss.detach()
    call = compiled(step)
    for i in range(12):
        seen += [call(), *[p.detach().clone() for p in model.parameters()], *grads(*model.parameters())]
        if i in (5, 6, 10):
            w.grad = w.detach()
        if i == 7:
            flat = torch.zeros(20)
            w.grad, model[2].weight.grad = flat[:12].view(4, 3), flat[12:].view(2, 4)
    return seen


@program
def memory_edited_between_the_passes(compiled: Compile) -> list[Any]:
    w, seen = torch.from_numpy(np.ones(3, np.float32)).requires_grad_(), []
    array = w.detach().numpy()

    def step() -> Any:
        w.grad = None
        loss = (w * w).sum()
        array[0] += 1
        loss.backward()
        return loss.detach()
    call = compiled(step)
    for _ in range(6):
        seen += [call(), *grads(w)]
    return seen


@program
def functions_with_a_backward_in_python(compiled: Compile) -> list[Any]:
    by, seen = {"s": 1.0}, []

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append("backward")
            return g * 2 * ctx.saved_tensors[0] * by["s"]
    x = numbers(3).requires_grad_()
    call = compiled(lambda x: Scaled.apply(x) + 1)
    for i in range(6):
        x.grad, by["s"] = None, float(i // 2)
        call(x).sum().backward()
        seen += grads(x)
    return seen


@program
def hooks_that_come_and_go(compiled: Compile) -> list[Any]:
    model, seen, handles = net(), [], []

    def note(g: Any) -> None:
        seen.append(g.clone())
    call = compiled(stepping(model))
    for i in range(16):
        seen += [call(), *grads(*model.parameters())]
        if i == 3:
            handles.append(model[0].weight.register_hook(lambda g: g * 2))
        if i == 5:
            handles.append(model[0].register_forward_hook(lambda m, a, out: out + 1))
        if i == 7:
            handles.append(model[2].register_full_backward_hook(lambda m, a, g: note(g[0])))
        if i == 9:
            handles.append(model[2].weight.register_post_accumulate_grad_hook(lambda p: note(p.grad)))
        if i > 10 and handles:
            handles.pop(0).remove()
    return seen


@program
def numbers_of_python(compiled: Compile) -> list[Any]:
    class By:
        scale = 1.0
    by, cell, many, x = By(), {"k": 1.0}, [1.0, 2.0], numbers(4)
    call = compiled(lambda x: x * cell["k"] + sum(many) + by.scale * x)
    seen = []
    edits: list[Callable[[], Any]] = [
        lambda: cell.update(k=2.0), lambda: many.append(5.0), lambda: setattr(By, "scale", 4.0),
        lambda: setattr(by, "scale", 7.0), lambda: cell.update(k=2),
        lambda: cell.update(k=True), lambda: many.__setitem__(0, -0.0)]
    for edit in edits:
        seen += [call(x), call(x), call(x)]
        edit()
    return [*seen, call(x)]


@program
def schedules_and_groups(compiled: Compile) -> list[Any]:
    model, seen = net(), []
    descent = torch.optim.AdamW([
        {"params": model[0].parameters(), "lr": 0.1}, {"params": model[2].parameters(), "amsgrad": True}], 0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(descent, lambda epoch: 0.9**epoch)
    x = numbers(5, 3)

    def step() -> Any:
        descent.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        descent.step()
        return loss
    call = compiled(step)
    edits: dict[int, Callable[[], Any]] = {
        4: lambda: descent.param_groups[0].update(betas=(0.5, 0.9)), 6: lambda: descent.param_groups[0].update(weight_decay=0.1),
        7: lambda: descent.param_groups[1].update(amsgrad=False), 8: descent.state.clear,
        10: lambda: descent.load_state_dict(copy.deepcopy(descent.state_dict()))}
    for i in range(13):
        seen += [call().detach(), *[p.detach().clone() for p in model.parameters()]]
        schedule.step()
        edits.get(i, int)()
    return seen


@program
def layers_that_are_replaced(compiled: Compile) -> list[Any]:
    model, seen = net(), []
    call = compiled(stepping(model))
    edits: dict[int, Callable[[], Any]] = {
        2: lambda: model[0].weight.data.add_(1), 4: lambda: setattr(model[0].weight, "data", torch.ones(4, 3)),
        6: lambda: setattr(model[0], "weight", nn.Parameter(numbers(4, 3, seed=9))), 8: lambda: model[0].requires_grad_(False),
        10: lambda: model.__setitem__(2, nn.Linear(4, 2)), 12: lambda: setattr(model[2], "bias", None)}
    for i in range(15):
        seen += [call(), *grads(*model.parameters())]
        edits.get(i, int)()
    return seen


@program
def targets_out_of_range(compiled: Compile) -> list[Any]:
    model, target, seen = net(), torch.tensor([0, 1, 0]), []

    def step() -> Any:
        model.zero_grad()
        loss = F.cross_entropy(model(numbers(3, 3)), target)
        loss.backward()
        return loss.detach()
    call = compiled(step)
    for i in range(9):
        target[1] = {4: 9, 6: -100}.get(i, 1)
        try:
            seen.append(call())
        except IndexError as error:
            seen.append(type(error).__name__)
        seen += grads(*model.parameters())
    return seen


@program
def two_networks(compiled: Compile) -> list[Any]:
    torch.manual_seed(1)
    maker, judge, z, real = nn.Linear(2, 3), nn.Linear(3, 1), numbers(4, 2), numbers(4, 3, seed=1)
    ours, theirs = torch.optim.Adam(maker.parameters(), 0.01), torch.optim.RMSprop(judge.parameters(), 0.1)

    def one() -> Any:
        theirs.zero_grad()
        loss = F.softplus(-judge(real)).mean() + F.softplus(judge(maker(z).detach())).mean()
        loss.backward()
        theirs.step()
        return loss.detach()

    def other() -> Any:
        ours.zero_grad()
        loss = F.softplus(-judge(maker(z))).mean()
        loss.backward()
        ours.step()
        return loss.detach()
    first, second, seen = compiled(one), compiled(other), []
    for i in range(9):
        seen += [first(), second(), *grads(*maker.parameters(), *judge.parameters())]
        if i % 3 == 0:
            seen.append(first())
    return [*seen, *[p.detach() for p in (*maker.parameters(), *judge.parameters())]]


@program
def results_fed_back(compiled: Compile) -> list[Any]:
    call = compiled(lambda h, x: torch.tanh(h @ x + h))
    h, x, seen = numbers(3, 3), numbers(3, 3, seed=1), []
    for i in range(12):
        h = call(h, h if i % 4 == 3 else x)
        seen.append(h)
    return seen


@pytest.mark.parametrize("mode", ["skip", "checked", "verified"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_changes_between_calls_is_seen(name: str, mode: str) -> None:
    def compiled(f: Any) -> Any:
        if mode == "verified":
            return comparing(f, plans=20)
        return skipping(f, plans=20) if mode == "skip" else skipping(f, plans=20, check=1)
    found = []
    for how in (lambda f: f, compiled):
        torch.manual_seed(0)
        found.append(PROGRAMS[name](how))
    want, got = found
    assert len(want) == len(got)
    for i, (a, b) in enumerate(zip(want, got)):
        assert same(a, b), f"observation {i}: {a} and {b}"


def test_a_step_through_a_block_returns_its_loss_and_is_replayed() -> None:
    torch.manual_seed(0)
    model, x = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), numbers(2, 3, 8)

    def step() -> Any:
        model.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss
    fast = skipping(step)
    losses = [fast().item() for _ in range(4)]
    assert sum(v.used for v in fast.local.variants) > 0, fast.explain()
    assert len(set(losses)) == 1


@pytest.mark.parametrize("scope", [torch.no_grad, torch.no_grad(), torch.enable_grad()])
def test_functions_that_a_scope_decorates_are_replayed(scope: Any) -> None:
    model, x = nn.Linear(3, 2), torch.ones(2, 3)
    f = scope(lambda x: model(x) * 2)
    fast = skipping(f)
    for _ in range(4):
        assert same(f(x), fast(x))
    assert replays(fast) == 3, fast.explain()
