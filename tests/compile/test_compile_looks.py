"""Conditions on tensors: a replay asks them again, and a call whose answer is another one is made eagerly from its beginning."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from replaying import grads, numbers, replays, same, skipping

import retrograd as torch
from retrograd import nn

Step = Callable[[Any], Any]


def trained(branch: Callable[[Any, Any, Any], Any], **options: Any) -> tuple[Any, list[Any]]:
    """Eager and compiled training with the same data; -> the compiled step, what was seen."""
    results = []
    for compiled in (False, True):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.3), nn.Tanh(), nn.Linear(6, 2))
        descent, seen = torch.optim.Adam(model.parameters(), 0.05), []

        def step(x: Any, model: Any = model, descent: Any = descent) -> Any:
            return branch(model, descent, x)
        call: Any = skipping(step, **options) if compiled else step
        for i in range(20):
            x = numbers(5, 4, seed=i).abs() * (-1 if i % 6 == 5 else 1)
            try:
                seen.append(call(x).detach())
            except ValueError as error:
                seen.append(str(error))
            seen += [p.detach().clone() for p in (*model.parameters(), *model.buffers())] + grads(*model.parameters())
        results.append((call, [*seen, torch.rand(2), [p._version for p in model.parameters()]]))
    assert len(results[0][1]) == len(results[1][1])
    for i, (want, got) in enumerate(zip(results[0][1], results[1][1])):
        assert same(want, got), (i, want, got)
    return results[1]


def finish(descent: Any, loss: Any) -> Any:
    descent.zero_grad()
    loss.backward()
    descent.step()
    return loss


def on_the_input(model: Any, descent: Any, x: Any) -> Any:
    y = model(x)
    if (x < 0).any():
        y = y * 2
    return finish(descent, y.square().mean())


def before_the_step(model: Any, descent: Any, x: Any) -> Any:
    loss = model(x).square().mean() * x.sum()
    descent.zero_grad()
    loss.backward()
    if loss < 0:                                # .grad, statistics and the random numbers are there already
        return loss * 3
    descent.step()
    return loss


def an_error(model: Any, descent: Any, x: Any) -> Any:
    if not bool((x >= 0).all()):
        raise ValueError("negative")
    return finish(descent, model(x).square().mean())


def a_loop(model: Any, descent: Any, x: Any) -> Any:
    y = model(x)
    while y.norm() > 2 and (x > 0).all():
        y = y / 2
    return finish(descent, y.square().mean())


def the_larger(model: Any, descent: Any, x: Any) -> Any:
    y = model(x).mean()
    return finish(descent, max(y * y, x.mean() * 0 + y.abs()))


def equal_tensors(model: Any, descent: Any, x: Any) -> Any:
    y = model(x)
    if torch.equal(x, x.abs()) and torch.allclose(x.abs(), x) and not x.abs().eq(x).all().logical_not().is_nonzero():
        y = y + 1
    return finish(descent, y.square().mean())


def a_distribution(model: Any, descent: Any, x: Any) -> Any:
    y = model(x)
    normal = torch.distributions.Normal(y, x.abs()[:, :2] + 0.1, validate_args=True)
    return finish(descent, -normal.log_prob(normal.rsample().detach()).mean())


BRANCHES = {f.__name__: f for f in (on_the_input, before_the_step, an_error, a_loop, the_larger, equal_tensors, a_distribution)}


@pytest.mark.parametrize("check", [0, None, 1])
@pytest.mark.parametrize("branch", BRANCHES)
def test_training_with_conditions_is_what_it_is_eagerly(branch: str, check: int | None) -> None:
    call, _ = trained(BRANCHES[branch], check=check)
    assert replays(call) > 6, call.explain()
    assert "a condition" in call.explain()


def test_explain_says_which_condition_was_another_one() -> None:
    call, _ = trained(on_the_input)
    text = call.explain()
    assert ", left 3, " in text and "eager: a condition is another one than in the call that was recorded" in text
    assert f"({__file__.rpartition('/')[2]}:{on_the_input.__code__.co_firstlineno + 2})" in text


def test_a_condition_after_an_optimizers_step_is_refused() -> None:
    def late(model: Any, descent: Any, x: Any) -> Any:
        loss = finish(descent, model(x).square().mean())
        return loss * 2 if (x < 0).any() else loss
    call, _ = trained(late)
    assert replays(call) == 0 and "Python looks at a tensor after an optimizer's step" in call.explain()


def test_conditions_that_change_all_the_time_are_given_up() -> None:
    fast = skipping(lambda x: x * 2 if x.sum() > 0 else x * 3)
    for i in range(80):
        x = numbers(3, seed=i // 2) * (1 if i % 2 else -1)
        assert same(fast(x), x * 2 if x.sum() > 0 else x * 3)
    assert fast.local.strays == 3 and fast.local.variants == []


def test_hooks_before_a_condition_are_called_once() -> None:
    seen: list[str] = []
    layer = nn.Linear(3, 2)
    layer.register_forward_hook(lambda m, args, out: seen.append("forward"))
    layer.weight.register_post_accumulate_grad_hook(lambda p: seen.append("after"))

    def step(x: Any) -> Any:
        layer.zero_grad()
        loss = layer(x).sum()
        loss.backward()
        return loss * 2 if layer.weight.grad[0, 0] < 0 else loss
    fast = skipping(step)
    for i in range(12):
        x = numbers(4, 3, seed=i).abs() * (-1 if i == 9 else 1)
        want = [step(x), layer.weight.grad.clone()]
        assert seen == ["forward", "after"]
        seen.clear()
        assert same([fast(x).detach(), layer.weight.grad], [want[0].detach(), want[1]])
        assert seen == ["forward", "after"]
        seen.clear()
    assert replays(fast) > 6, fast.explain()


def drawing(m: Any, args: Any) -> Any:
    return (args[0] + torch.rand(3),)


def doubling(m: Any, args: Any, out: Any = None) -> None:
    (args[0] if out is None else out).data.mul_(2)


HOOKS: dict[str, Callable[[Any], Any]] = {
    "edits its output": lambda layer: layer.register_forward_hook(doubling),
    "edits what it is shown": lambda layer: layer[1].register_forward_pre_hook(doubling),
    "draws": lambda layer: layer.register_forward_pre_hook(drawing),
    "replaces a gradient": lambda layer: layer[0].weight.register_hook(lambda g: g * 1.1),
    "replaces a gradient by a draw": lambda layer: layer[0].weight.register_hook(lambda g: g + torch.rand(3)),
}


@pytest.mark.parametrize("passes", ["backward", "inputs", "grad"])
@pytest.mark.parametrize("hook", HOOKS)
def test_what_hooks_did_before_a_condition_stays(hook: str, passes: str) -> None:
    found: list[Any] = []
    for compiled in (False, True):
        torch.manual_seed(0)
        layer, seen = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2)), []
        HOOKS[hook](layer)
        w: Any = layer[0].weight

        def step(x: Any, layer: Any = layer, w: Any = w) -> Any:
            w.grad = None
            loss = layer(x).sum()
            if passes == "grad":
                [g] = torch.autograd.grad(loss, w)
            else:
                loss.backward(inputs=[w] if passes == "inputs" else None)
                g = w.grad
            return g * 2 if x.sum() > 0 else g * 3
        call: Any = skipping(step) if compiled else step
        for i in range(16):
            x = numbers(4, 3, seed=i).abs() * (-1 if i % 4 == 3 else 1)
            seen.append([call(x), None if w.grad is None else w.grad.clone(), torch.rand(1)])
        found.append(seen)
    assert same(*found) and ", left " in call.explain(), call.explain()


def test_hooks_that_the_step_registers_are_called_in_autograd_grad() -> None:
    w = numbers(3).requires_grad_()

    def step(x: Any) -> Any:
        y = w * x
        y.register_hook(lambda g: g * 2)
        return torch.autograd.grad(y.sum(), w)[0] + torch.autograd.grad((y * y).sum(), y)[0]
    fast = skipping(step)
    for i in range(4):
        assert same(fast(numbers(3, seed=i)), step(numbers(3, seed=i)))
    assert replays(fast) > 1, fast.explain()


def solved(a: Any, x: Any) -> Any:
    try:
        lower = torch.linalg.cholesky(a)
    except RuntimeError:
        return x * 3
    return lower @ x


def test_an_exception_that_the_step_catches_is_not_recorded() -> None:
    fast = skipping(solved)
    for i in range(10):
        given = torch.eye(3) * (-1 if i < 4 else 2), numbers(3, seed=i)
        assert same(fast(*given), solved(*given)), i
    assert replays(fast) > 2 and "raises" in fast.explain()


@pytest.mark.parametrize("register", ["register_forward_hook", "register_full_backward_hook"])
def test_a_hook_that_raises_while_the_step_is_recorded_is_not_recorded(register: str) -> None:
    layer, seen = nn.Linear(3, 2), []

    def hook(*args: Any) -> None:
        seen.append(len(seen))
        if len(seen) < 5:
            raise ValueError
    getattr(layer, register)(hook)

    def step(x: Any) -> Any:
        try:
            layer(x.requires_grad_()).sum().backward()
        except ValueError:
            return x.detach() * 7
        return x.detach() * 2
    fast = skipping(step)
    for i in range(9):
        x = numbers(2, 3, seed=i)
        assert same(fast(x).detach(), x.detach() * (7 if i < 4 else 2)) and len(seen) == i + 1


def with_statistics(x: Any, a: Any, w: Any) -> Any:
    return (NORMED(x) @ torch.linalg.inv(a)).detach()


def in_place(x: Any, a: Any, w: Any) -> Any:
    x.add_(torch.rand(3))
    return x @ torch.linalg.inv(a)


def after_a_pass(x: Any, a: Any, w: Any) -> Any:
    nn.functional.dropout(w * x).sum().backward()
    y = (w * x) @ torch.linalg.inv(a)
    y.sum().backward()
    return y.detach()


def unused(x: Any, a: Any, w: Any) -> Any:
    torch.linalg.inv(a)
    return x * 2


NORMED = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))


@pytest.mark.parametrize("f", [with_statistics, in_place, after_a_pass, unused])
def test_an_error_of_an_operation_leaves_what_it_leaves_eagerly(f: Any) -> None:
    found: list[Any] = []
    for compiled in (False, True):
        torch.manual_seed(0)
        for p in (*NORMED.parameters(), *NORMED.buffers()):
            p.data.fill_(1)
        seen, w = [], torch.ones(3, requires_grad=True)
        call: Any = skipping(f) if compiled else f
        for i in range(9):
            x, a = numbers(4, 3, seed=i), torch.eye(3) * (i != 7)
            try:
                seen.append(call(x, a, w))
            except RuntimeError as error:
                seen.append((type(error).__name__, str(error).split("(")[0]))
            seen += [x, x._version, torch.rand(1), *[b.clone() for b in NORMED.buffers()], w.grad is None or w.grad.clone()]
        found.append(seen)
    assert same(*found) and "LinAlgError" in str(found[0]) and replays(call) > 4, call.explain()


def test_gradients_that_are_put_away_are_put_back() -> None:
    w = numbers(3, seed=1).requires_grad_()
    w.grad = kept = torch.ones(3)

    def step(x: Any) -> Any:
        grad, w.grad = w.grad, None
        (w * x).sum().backward()
        w.grad = grad
        return x * 2
    fast = skipping(step)
    for i in range(4):
        fast(numbers(3, seed=i))
        assert w.grad is kept


def test_a_clipped_step_on_condition_is_replayed() -> None:
    found: list[Any] = []
    for compiled in (False, True):
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        descent, seen = torch.optim.SGD(model.parameters(), 0.1), []

        def step(x: Any, model: Any = model, descent: Any = descent) -> Any:
            descent.zero_grad(set_to_none=False)
            model(x).square().mean().backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            if torch.isfinite(norm):
                descent.step()
            return norm
        call: Any = skipping(step) if compiled else step
        for i in range(14):
            norm = call(numbers(4, 3, seed=i) * (float("inf") if i % 5 == 4 else 1.0))
            seen.append([norm, *[p.detach().clone() for p in model.parameters()]])
        found.append(seen)
    assert all([str(a) == str(b) for a, b in zip(*found)]) and replays(call) > 5, call.explain()


def test_a_condition_on_what_is_the_same_at_each_call_is_no_entry() -> None:
    fast, x = skipping(lambda x: x + 1 if torch.ones(3).sum() > 2 else x), numbers(3)
    for _ in range(3):
        assert same(fast(x), x + 1)
    assert replays(fast) == 2, fast.explain()


ACTIVATIONS = {
    "relu": nn.ReLU(), "leaky relu": nn.LeakyReLU(0.2), "leaky relu in place": nn.LeakyReLU(0.2, inplace=True),
    "hardtanh": nn.Hardtanh(), "relu6": nn.ReLU6(), "hardshrink": nn.Hardshrink(0.1), "softshrink": nn.Softshrink(0.1),
    "gelu": nn.GELU(), "layer norm": nn.LayerNorm(6),
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_penalties_on_gradients_are_replayed(activation: str) -> None:
    found = []
    for compiled in (False, True):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 6), copy.deepcopy(ACTIVATIONS[activation]), nn.Linear(6, 1))
        descent = torch.optim.Adam(model.parameters(), 0.05)

        def step(real: Any, fake: Any, model: Any = model, descent: Any = descent) -> Any:
            by = torch.rand(5, 1)
            between = (by * real + (1 - by) * fake).requires_grad_(True)
            y = model(between)
            [g] = torch.autograd.grad(y, between, torch.ones_like(y), create_graph=True)
            loss = model(fake).mean() - model(real).mean() + 10 * ((g.norm(2, dim=1) - 1) ** 2).mean()
            return finish(descent, loss).detach()
        call: Any = skipping(step) if compiled else step
        found.append([call(numbers(5, 4, seed=i), numbers(5, 4, seed=i + 50)) for i in range(6)])
        found[-1] += [p.detach() for p in model.parameters()]
    assert same(*found) and replays(call) > 2, call.explain()


def test_the_penalty_of_a_convolution_is_replayed() -> None:
    torch.manual_seed(0)
    layer = nn.Conv2d(1, 3, 3)

    def step(x: Any) -> Any:
        layer.zero_grad()
        x = (x * 1).requires_grad_()
        [g] = torch.autograd.grad(layer(x).square().sum(), x, create_graph=True)
        g.square().sum().backward()
        return layer.weight.grad.clone()
    fast = skipping(step)
    for i in range(7):
        assert same(fast(numbers(2, 1, 5, 5, seed=i)), step(numbers(2, 1, 5, 5, seed=i)))
    assert replays(fast) > 2, fast.explain()


def test_memory_that_is_empty_at_first_is_filled_at_each_replay() -> None:
    def noisy(x: Any) -> Any:
        return x + torch.empty(3).uniform_(-1, 1) + x.new_empty(3).bernoulli_(0.5) + torch.empty_like(x).fill_(2.0)
    found = []
    for call in (noisy, skipping(noisy)):
        torch.manual_seed(3)
        found.append([call(numbers(3, seed=i)) for i in range(5)])
    assert same(*found) and replays(call) == 4, call.explain()


def test_a_name_of_a_module_is_not_taken_for_an_attribute_of_a_tensor() -> None:
    layer, w = nn.Linear(4, 3), numbers(3, 4).requires_grad_()

    def step(x: Any) -> Any:
        w.grad = None
        torch.func.functional_call(layer, {"weight": w * 2}, (x,)).sum().backward()
        return w.grad.clone()                   # torch.func.grad is another thing
    fast = skipping(step)
    for i in range(6):
        assert same(fast(numbers(2, 4, seed=i)), step(numbers(2, 4, seed=i)))
    assert replays(fast) > 2, fast.explain()
