"""What replayed programs got wrong elsewhere: each of these gives eager's numbers and leaves eager's state, in both modes."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from replaying import comparing, computed, grads, numbers, replays, same, skipping

import retrograd as torch
from retrograd import microscope, nn
from retrograd.nn import functional as F

Made = tuple[Callable[[int], Any], Callable[[], Any]]
CASES: dict[str, Callable[[], Made]] = {}


def case(f: Callable[[], Made]) -> Callable[[], Made]:
    CASES[f.__name__] = f
    return f


def net() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def everything(*owners: Any) -> list[Any]:
    found: list[Any] = []
    for owner in owners:
        if isinstance(owner, nn.Module):
            found += [*owner.parameters(), *owner.buffers(), *grads(*owner.parameters())]
        else:
            found += [x for kept in owner.state.values() for _, x in sorted(kept.items())]
    return found


@case
def plain_steps() -> Made:
    model = net()
    descent = torch.optim.Adam(model.parameters(), 0.01)
    x, y = numbers(5, 3), torch.tensor([0, 1, 1, 0, 1])

    def step(i: int) -> Any:
        descent.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        descent.step()
        return loss
    return step, lambda: everything(model, descent)


@case
def gradients_reset_between_forward_and_backward() -> Made:
    model = net()
    descent = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)

    def step(i: int) -> Any:
        loss = (model(numbers(5, 3, seed=i)) ** 2).mean()
        descent.zero_grad()
        loss.backward()
        descent.step()
        return loss.detach()
    return step, lambda: everything(model, descent)


@case
def gradients_filled_with_zeros() -> Made:
    model = net()
    descent = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)

    def step(i: int) -> Any:
        descent.zero_grad(set_to_none=False)
        (model(torch.ones(5, 3)) ** 2).mean().backward()
        descent.step()
    return step, lambda: everything(model)


@case
def aliased_inputs() -> Made:
    a = numbers(4).requires_grad_()
    b = a.detach().view(2, 2)

    def f(x: Any, y: Any) -> Any:
        return (x * y + x).sum() + (b * 2).sum()

    def step(i: int) -> Any:
        a.grad = None
        other = [a, numbers(4), a.detach(), numbers(4).requires_grad_()][i % 4]
        loss = f(a, other)
        loss.backward()
        return loss.detach()
    return step, lambda: grads(a)


@case
def outputs_kept_and_overwritten() -> Made:
    w, kept = numbers(3), []

    def step(i: int) -> Any:
        y = (w * (i % 2 + 1)).exp() + 1
        z = y * 2
        kept.append(z)
        if i % 3 == 2:
            kept[-2].zero_()
        return y
    return step, lambda: kept


@case
def constants_and_branches() -> Made:
    w, count = numbers(3).requires_grad_(), {"n": 0}

    def step(i: int) -> Any:
        count["n"] += 1
        x = w * count["n"] if count["n"] % 3 else w.exp() * 2.5
        for _ in range(i % 2):
            x = x + 1
        if x.sum() > 0:
            x = -x
        return (x * x.detach().sum().item()).detach()
    return step, lambda: [w, count["n"]]


@case
def caches_of_classes() -> Made:
    class Table:
        cache: dict[int, Any] = {}

        @functools.lru_cache(maxsize=3)  # noqa: B019
        def shift(self, k: int) -> Any:
            return torch.full((2,), float(k))

        def get(self, x: Any, k: int) -> Any:
            if k not in Table.cache:
                Table.cache[k] = x * k + 1
            return Table.cache[k] * 2 + self.shift(k)
    table, x = Table(), numbers(2)

    def step(i: int) -> Any:
        return table.get(x * (i + 1), i % 3)
    return step, lambda: list(Table.cache.values())


@case
def attributes_changed_between_calls() -> Made:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.by, self.sizes = nn.Linear(2, 2), 1.0, [1.0]
            nn.init.ones_(self.layer.weight)
            nn.init.zeros_(self.layer.bias)

        def forward(self, x: Any) -> Any:
            return self.layer(x) * self.by * self.sizes[0] + (1 if self.training else 0)
    model = Scaled()

    def step(i: int) -> Any:
        if i == 2:
            model.by = 3.0
        if i == 4:
            model.sizes[0] = 2.0
        if i == 6:
            model.eval()
        if i == 8:
            model.layer.weight = nn.Parameter(numbers(2, 2))
        model.zero_grad()
        loss = model(numbers(3, 2)).sum()
        loss.backward()
        return loss.detach()
    return step, lambda: everything(model)


@case
def schedules() -> Made:
    model = net()
    descent = torch.optim.AdamW(model.parameters(), 0.1)
    schedule = torch.optim.lr_scheduler.StepLR(descent, 2, 0.5)

    def step(i: int) -> Any:
        descent.zero_grad()
        loss = model(numbers(4, 3)).pow(2).mean()
        loss.backward()
        descent.step()
        schedule.step()
        return descent.param_groups[0]["lr"]
    return step, lambda: everything(model, descent)


@case
def statistics_of_batch_norm() -> Made:
    model = nn.Sequential(net(), nn.BatchNorm1d(2))

    def step(i: int) -> Any:
        model.train(i % 4 != 3)
        model.zero_grad()
        out = model(numbers(6, 3, seed=i)).pow(2).sum()
        out.backward()
        return out.detach()
    return step, lambda: everything(model)


@case
def dropout() -> Made:
    model = net()

    def step(i: int) -> Any:
        if i % 4 == 0:
            torch.manual_seed(i)
        model.zero_grad()
        out = F.dropout(model(numbers(6, 3)), 0.5, training=i % 3 != 2).sum() + torch.rand(()) * 2
        out.backward()
        return out.detach()
    return step, lambda: everything(model)


@case
def accumulation() -> Made:
    model = net()
    descent = torch.optim.SGD(model.parameters(), 0.1)

    def step(i: int) -> Any:
        loss = model(numbers(4, 3, seed=i)).pow(2).mean() / 3
        loss.backward()
        if i % 3 == 2:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            descent.step()
            descent.zero_grad(set_to_none=i % 2 == 0)
        return loss.item()
    return step, lambda: everything(model)


@case
def hooks_that_come_and_go() -> Made:
    model, seen, handles = net(), [], []

    def step(i: int) -> Any:
        if i == 3:
            handles.append(model[0].register_forward_hook(lambda m, a, out: seen.append(out.sum().item())))
            handles.append(model[0].weight.register_hook(lambda g: g * 2))
            handles.append(model[2].register_full_backward_hook(lambda m, gi, go: seen.append(go[0].sum().item())))
        if i == 7:
            for handle in handles:
                handle.remove()
        model.zero_grad()
        hidden = model(numbers(4, 3))
        if i % 4 == 1:
            hidden.register_hook(lambda g: seen.append(g.tolist()))
        loss = hidden.pow(2).mean()
        loss.backward()
        return loss.detach()
    return step, lambda: [*everything(model), seen]


@case
def exceptions_in_the_middle() -> Made:
    model, kept = net(), []

    def step(i: int) -> Any:
        x = model(numbers(4, 3))
        kept[:] = [x.detach() * 2]
        try:
            if i % 3 == 1:
                (x @ numbers(3, 3)).sum().backward()
            if i % 3 == 2:
                F.cross_entropy(x, torch.tensor([0, 1, 5, 0])).backward()
            x.sum().backward()
        except (RuntimeError, IndexError) as error:
            return type(error).__name__, x.detach()
        return x.detach()
    return step, lambda: [*everything(model), *kept]


@case
def moving_averages() -> Made:
    model = net()
    mean = copy.deepcopy(model)
    descent = torch.optim.SGD(model.parameters(), 0.1)

    def step(i: int) -> Any:
        descent.zero_grad()
        loss = model(numbers(4, 3)).pow(2).mean()
        loss.backward()
        descent.step()
        with torch.no_grad():
            for old, new in zip(mean.parameters(), model.parameters()):
                old.mul_(0.9).add_(new, alpha=0.1)
        return loss.detach(), mean(numbers(4, 3)).detach()
    return step, lambda: everything(model, mean)


@case
def two_networks_and_two_optimizers() -> Made:
    torch.manual_seed(1)
    maker, judge = nn.Linear(2, 3), nn.Linear(3, 1)
    ours, theirs = torch.optim.Adam(maker.parameters(), 0.01), torch.optim.SGD(judge.parameters(), 0.1)
    z, real = numbers(4, 2), numbers(4, 3, seed=1)

    def step(i: int) -> Any:
        fake = maker(z)
        theirs.zero_grad()
        bad = judge(fake.detach()).mean() - judge(real).mean()
        bad.backward()
        theirs.step()
        ours.zero_grad()
        good = -judge(fake).mean()
        good.backward()
        ours.step()
        return bad.detach(), good.detach()
    return step, lambda: everything(maker, judge, ours, theirs)


@case
def arrays_of_numpy_edited_in_the_middle() -> Made:
    array = np.ones(3, np.float32)
    x, w = torch.from_numpy(array), numbers(3).requires_grad_()

    def step(i: int) -> Any:
        y = x * w
        array[i % 3] += 1
        w.detach().numpy()[0] += 1
        return (y + x).detach(), (w * 2).detach()
    return step, lambda: [x, w]


@case
def edits_in_place() -> Made:
    w, state = numbers(3).requires_grad_(), numbers(3)

    def step(i: int) -> Any:
        w.grad = None
        y = state * 2
        state.add_(1)
        state[0] = i
        z = y * w + state
        (z * state).sum().backward()
        with torch.no_grad():
            w.sub_(w.grad, alpha=0.1)
            w.mul_(0.9)
        y *= 2
        return y, z.detach()
    return step, lambda: [w, state, w._version, state._version, *grads(w)]


@case
def looks_that_no_function_tells_of() -> Made:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2 + ctx.saved_tensors[0] * 0
    w = numbers(3).requires_grad_()

    def step(i: int) -> Any:
        w.grad = None
        y = w * 3 + 1
        z = Double.apply(y)
        shown = [repr(y)[:30], str(z.shape), np.asarray(y.detach()).tolist(), copy.deepcopy(y.detach()), float(y.sum().detach()),
                 [float(v) for v in y.detach()], y.grad_fn is None, len(y), y.is_leaf, nn.Parameter(y.detach() + 1).detach(),
                 y._version, y.data]
        torch.utils.checkpoint.checkpoint(lambda t: (t * t).sum(), z + y, use_reentrant=False).backward()
        return shown
    return step, lambda: grads(w)


@case
def recordings_inside() -> Made:
    w = numbers(3).requires_grad_()

    def step(i: int) -> Any:
        w.grad = None
        y = w.detach() * 3
        with microscope.record() as rec:
            z = (w * w).exp() + y
            z.sum().backward()
        return len(rec.events), y * 2, y + 1
    return step, lambda: grads(w)


@case
def modes_inside() -> Made:
    w = numbers(3).requires_grad_()

    def step(i: int) -> Any:
        with torch.no_grad():
            a = w * 2
        with torch.set_grad_enabled(i % 2 == 0):
            b = w * 3
        with torch.inference_mode():
            c = w * 4
        packed: list[Any] = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: (packed.append(t.tolist()), t)[1], lambda t: t):
            d = w * w
        return a.requires_grad, b.requires_grad, c.is_inference(), c.tolist(), packed, d.detach(), a
    return step, lambda: [w]


@case
def gradients_taken_twice() -> Made:
    w = numbers(3).requires_grad_()

    def step(i: int) -> Any:
        w.grad = None
        y = (w * w).sum()
        first, = torch.autograd.grad(y, w, create_graph=True)
        (first * first).sum().backward()
        y = (w * 3).sum()
        y.backward(retain_graph=True)
        y.backward()
        try:
            y.backward()
        except RuntimeError as error:
            return str(error)[:50], first.detach()
        return first.detach()
    return step, lambda: grads(w)


@pytest.mark.parametrize("mode", ["skip", "verified"])
@pytest.mark.parametrize("name", CASES)
def test_a_footgun_gives_eagers_numbers(name: str, mode: str) -> None:
    (eager, want), (plain, got) = CASES[name](), CASES[name]()
    fast = skipping(plain, plans=20) if mode == "skip" else comparing(plain, plans=20)
    for i in range(12):
        torch.manual_seed(i)
        a = eager(i)
        torch.manual_seed(i)
        b = fast(i)
        assert same(a, b), f"call {i}: {a} and {b}\n{fast.explain()}"
        assert same(want(), got()), f"state after call {i}\n{fast.explain()}"


def test_steps_are_computed_by_plans() -> None:
    for name in ("plain_steps", "gradients_reset_between_forward_and_backward", "schedules", "accumulation"):
        step, _ = CASES[name]()
        fast = comparing(step, plans=20)
        for i in range(12):
            fast(i)
        assert computed(fast) > 0, fast.explain()


def test_steps_that_fill_gradients_with_zeros_are_replayed() -> None:
    step, _ = CASES["gradients_filled_with_zeros"]()
    fast = skipping(lambda: step(0))
    for _ in range(5):
        fast()
    assert replays(fast) == 2, fast.explain()
