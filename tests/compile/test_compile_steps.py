"""Training steps that are replayed give eager's bits."""

from __future__ import annotations

from typing import Any

import pytest
from replaying import alike, grads, numbers, replays, same, skipping

import retrograd as torch
from retrograd import nn
from retrograd.nn import functional as F


def test_a_pure_function_is_replayed_for_other_numbers() -> None:
    calls = []

    def f(x: Any, y: Any) -> Any:
        return (x * y + 1).exp() @ y.t(), x.sum()

    fast = skipping(f)
    for seed in range(4):
        x, y = numbers(3, 4, seed=seed), numbers(3, 4, seed=seed + 10)
        assert same(f(x, y), fast(x, y))
    assert replays(fast) == 3 and not calls


def test_a_training_step_written_by_hand() -> None:
    def make() -> Any:
        w, b = numbers(4, 3).requires_grad_(), torch.zeros(4, requires_grad=True)
        x, y = numbers(5, 3, seed=1), numbers(5, 4, seed=2)

        def step() -> Any:
            loss = F.mse_loss(F.relu(F.linear(x, w, b)), y)
            loss.backward()
            with torch.no_grad():
                for p in (w, b):
                    p.sub_(0.1 * p.grad)
                    p.grad = None
            return loss
        return step, lambda: [w, b, w._version, *grads(w, b)]
    alike(make)


@pytest.mark.parametrize("optimizer", ["SGD", "momentum", "Adam", "AdamW"])
def test_a_training_step_of_modules_and_an_optimizer(optimizer: str) -> None:
    def make() -> Any:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
        params = list(model.parameters())
        descent = (torch.optim.SGD(params, 0.1) if optimizer == "SGD" else torch.optim.SGD(params, 0.1, momentum=0.9)
                   if optimizer == "momentum" else getattr(torch.optim, optimizer)(params, 0.01))
        x, y = numbers(5, 4), torch.tensor([0, 2, 1, 1, 0])

        def step() -> Any:
            descent.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            descent.step()
            return loss
        return step, lambda: [*params, *grads(*params), *[
            s[k] for s in descent.state.values() for k in sorted(s) if isinstance(s[k], torch.Tensor)]]
    alike(make, 6)


def test_gradients_of_gradients() -> None:
    def make() -> Any:
        a, b = numbers(6).requires_grad_(), numbers(6, seed=1).requires_grad_()

        def step() -> Any:
            a.grad = b.grad = None
            x = a
            for _ in range(4):
                x = x * b + a
            ga, gb = torch.autograd.grad(x.sum(), (a, b), create_graph=True)
            penalty = (ga * ga).sum() + (gb * gb).sum()
            penalty.backward()
            return penalty
        return step, lambda: grads(a, b)
    alike(make)


def test_a_result_whose_graph_was_used_up_says_so_as_eagerly() -> None:
    a = numbers(3).requires_grad_()

    def step() -> Any:
        a.grad = None
        loss = (a * a).sum()
        loss.backward()
        return loss

    fast = skipping(step)
    for _ in range(4):
        loss = fast()
        assert loss.requires_grad and type(loss.grad_fn).__name__ == "SumBackward0"
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            loss.backward()
    assert replays(fast) > 0


def test_random_numbers_stay_random() -> None:
    def f(x: Any) -> Any:
        return x + torch.rand(3), F.dropout(x)

    fast = skipping(f)
    torch.manual_seed(0)
    want = [f(torch.ones(3)) for _ in range(4)]
    torch.manual_seed(0)
    assert same(want, [fast(torch.ones(3)) for _ in range(4)])


def test_results_are_new_tensors_and_may_be_fed_back() -> None:
    def f(x: Any) -> Any:
        return x * 2 + 1

    fast, x = skipping(f), numbers(3)
    y = x
    kept = []
    for _ in range(5):
        x, y = f(x), fast(y)
        kept.append((x, y))
        x, y = x.clone(), y
    assert all(same(a, b) for a, b in kept)
    first, second = fast(kept[0][0]), fast(kept[0][0])
    first.zero_()
    assert same(second, f(kept[0][0]))


def test_gradients_accumulate_where_nobody_resets_them() -> None:
    def make() -> Any:
        w = numbers(3).requires_grad_()
        before: list[Any] = []

        def step() -> Any:
            (w * w).sum().backward()

        def state() -> Any:
            before.append(w.grad)
            assert all(g is w.grad for g in before)
            return [w.grad, w.grad._version]
        return step, state
    alike(make, 5)


def test_gradients_reset_by_hand_between_calls_are_seen() -> None:
    w = numbers(3).requires_grad_()

    def step() -> None:
        (w * 3).sum().backward()

    fast = skipping(step)
    for i in range(8):
        fast()
        assert same(w.grad, torch.full((3,), 3.0 * (i % 3 + 1)))
        if i % 3 == 2:
            w.grad = None
    assert replays(fast) > 2


def test_learning_rates_and_schedules_are_read_at_each_call() -> None:
    def make() -> Any:
        w = numbers(3).requires_grad_()
        descent = torch.optim.SGD([w], 0.5)
        schedule = torch.optim.lr_scheduler.ExponentialLR(descent, 0.5)

        def step() -> Any:
            descent.zero_grad()
            loss = (w * w).sum()
            loss.backward()
            descent.step()
            return loss

        def state() -> Any:
            schedule.step()
            return [w]
        return step, state
    alike(make)


def test_an_exception_leaves_what_eager_leaves() -> None:
    w = numbers(2, 3).requires_grad_()

    def step(x: Any, y: Any) -> Any:
        w.grad = None
        loss = F.cross_entropy(F.linear(x, w), y)
        loss.backward()
        return loss

    fast, x = skipping(step), numbers(4, 3)
    for _ in range(3):
        fast(x, torch.tensor([0, 1, 1, 0]))
    with pytest.raises(IndexError, match="Target 5 is out of bounds"):
        fast(x, torch.tensor([0, 5, 1, 0]))
    assert w.grad is None
    assert same(fast(x, torch.tensor([0, -100, 1, 0])), step(x, torch.tensor([0, -100, 1, 0])))


def test_two_networks_and_two_optimizers() -> None:
    def make() -> Any:
        torch.manual_seed(1)
        maker, judge = nn.Linear(2, 3), nn.Linear(3, 1)
        ours, theirs = torch.optim.Adam(maker.parameters(), 0.01), torch.optim.SGD(judge.parameters(), 0.1)
        z, real = numbers(4, 2), numbers(4, 3, seed=1)

        def step() -> Any:
            theirs.zero_grad()
            bad = judge(maker(z).detach()).mean() - judge(real).mean()
            bad.backward()
            theirs.step()
            ours.zero_grad()
            good = -judge(maker(z)).mean()
            good.backward()
            ours.step()
            return bad, good
        return step, lambda: [*maker.parameters(), *judge.parameters(), *grads(*maker.parameters(), *judge.parameters())]
    alike(make)


def test_a_moving_average_of_weights() -> None:
    def make() -> Any:
        w = numbers(3).requires_grad_()
        mean = w.detach().clone()
        descent = torch.optim.SGD([w], 0.1)

        def step() -> Any:
            descent.zero_grad()
            (w * w).sum().backward()
            descent.step()
            with torch.no_grad():
                mean.mul_(0.9).add_(w * 0.1)
        return step, lambda: [w, mean, mean._version]
    alike(make)


EDITS: dict[str, Any] = {
    "a step by hand": lambda w, loss: w.data.add_(w.grad, alpha=-0.1),
    "of a detached tensor": lambda w, loss: w.detach().add_(w.grad, alpha=-0.1),
    "the gradient": lambda w, loss: (w.data.sub_(w.grad.data * 0.1), w.grad.data.zero_()),
    "clamped": lambda w, loss: w.data.clamp_(-0.5, 0.5), "copied": lambda w, loss: w.data.copy_(w.grad),
    "an element": lambda w, loss: w.data.__setitem__(0, 2.0), "read": lambda w, loss: (w * w.data).sum().backward(),
}


@pytest.mark.parametrize("edit", EDITS)
def test_data_is_edited(edit: str) -> None:
    def make() -> Any:
        w = numbers(3).requires_grad_()

        def step() -> Any:
            w.grad = None
            loss = (w * w).sum()
            loss.backward()
            EDITS[edit](w, loss)
            return loss.data, w.data.sum()
        return step, lambda: [w.detach().clone(), *grads(w)]
    alike(make)


@pytest.mark.parametrize("place", ["of the leaf", "of a result", "retained", "for the caller"])
def test_an_edit_of_data_before_the_pass_is_made_eagerly(place: str) -> None:
    def make() -> Any:
        w = numbers(3).requires_grad_()

        def step() -> Any:
            w.grad = None
            y = w * 2
            loss = (y * y * w).sum()
            if place == "retained":
                loss.backward(retain_graph=True)
            (y if place == "of a result" else w).data.mul_(0.5)     # no graph counts it: the pass sees the new numbers
            if place != "for the caller":
                loss.backward()
            return loss
        return step, w
    (step, w), (other, v) = make(), make()
    fast = skipping(other)
    for i in range(5):
        loss, got = step(), fast()
        if place == "for the caller":
            loss.backward()
            got.backward()
        assert same(loss.detach(), got.detach()) and same(w.detach(), v.detach()) and same(grads(w), grads(v)), i
    assert replays(fast) == 0 and ".data" in fast.explain()


@pytest.mark.parametrize("edit", [
    lambda w: w.data[:2].mul_(2), lambda w: w.detach()[1].fill_(0), lambda w: w.data.view(3, 1).add_(1)])
def test_parts_of_tensors_that_were_there_are_edited_eagerly(edit: Any) -> None:
    w, v = numbers(3), numbers(3)
    fast = skipping(lambda: edit(w))
    for _ in range(4):
        fast()
        edit(v)
        assert same(w, v)
    assert replays(fast) == 0 and "a part of a tensor" in fast.explain()


def test_gradients_edited_by_hand() -> None:
    def make() -> Any:
        w = numbers(3).requires_grad_()

        def step() -> Any:
            w.grad = None
            (w * w).sum().backward()
            with torch.no_grad():
                w.grad /= 2
                w.grad *= w.grad
        return step, lambda: grads(w)
    alike(make)


def test_two_backward_passes_in_one_call_are_checked_rightly() -> None:
    w = numbers(4).requires_grad_()

    def twice(x: Any) -> None:
        w.grad = None
        (w * x).sum().backward()
        (w * x).sum().backward()
    fast = torch.compile(twice, options={"python": "skip"})
    for seed in range(9):
        x = numbers(4, seed=seed)
        fast(x)
        assert torch.equal(w.grad, x + x)
    assert fast.local.variants


@pytest.mark.parametrize("form", ["alone", "tuple", "dict", "variable"])
def test_numbers_that_are_only_returned_are_replayed(form: str) -> None:
    def make() -> Any:
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        descent, x = torch.optim.SGD(model.parameters(), 0.1), numbers(4, 3)

        def alone() -> Any:
            descent.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            descent.step()
            return loss.item()

        def pair() -> Any:
            descent.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            return loss.item(), model.bias[0].item(), descent.step(), model.bias[0].item()

        def named() -> Any:
            loss = model(x).square().mean()
            return {"loss": loss, "numbers": [loss.item(), 1.0, (x.sum().item(), 2)]}

        def variable() -> Any:
            before = model(x).mean().item()
            descent.zero_grad()
            loss = model(x).square().mean()
            if descent:
                loss.backward()
            descent.step()
            seen = loss.item()
            pair = before, seen
            return seen, pair
        step: Any = {"alone": alone, "tuple": pair, "dict": named, "variable": variable}[form]
        return step, lambda: [*model.parameters(), *grads(*model.parameters())]
    if form == "dict":
        step, _ = make()
        fast = skipping(step)
        for _ in range(3):
            want, got = step(), fast()
            assert want["numbers"] == got["numbers"] and same(want["loss"].detach(), got["loss"].detach())
        assert replays(fast) == 2
    else:
        alike(make)


def test_numbers_that_python_looks_at_are_not_replayed() -> None:
    def inner(x: Any) -> Any:
        return x.sum().item()

    def again(x: Any, times: int = 1) -> Any:
        return again(x, times - 1) * 2 if times else x.sum().item()

    found: list[float] = []
    def kept(x: Any) -> Any:
        before = x.sum().item()
        found = [before]
        return before, found[0]

    def changed(x: Any) -> Any:
        before = x.sum().item()
        if x.shape[0] > 1:
            before += 1
        return before

    def shared(x: Any) -> Any:
        before = x.sum().item()
        return before, (lambda: before)()

    for f in (kept, changed, shared, lambda x: x.sum().item() > 0, lambda x: -x.sum().item(), lambda x: inner(x), again,
              lambda x: x.sum().item().real,
              lambda x: found.append(x.sum().item()), lambda x: (x.sum().item() if x.sum().item() else 0.0)):
        fast = skipping(f)
        for sign in (1, -1, 1, -1):
            assert fast(sign * torch.ones(3)) == f(sign * torch.ones(3))
        assert replays(fast) == 0
    assert found == [3.0, 3.0, -3.0, -3.0] * 2
