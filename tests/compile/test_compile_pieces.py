"""What one piece of compared calls may hold, and what is left as it is."""

from __future__ import annotations

from typing import Any

import pytest
from replaying import Way, comparing, computed, grads, numbers, same

import retrograd as torch
from retrograd import nn
from retrograd._compile.promises import HERE


def plans(fast: Any) -> int:
    return int(fast.explain().split(": ")[1].split()[0])


@pytest.mark.parametrize("way", [Way("skip"), Way("verified")], ids=lambda way: way.name)
def test_gradients_asked_for_within_a_call(way: Way) -> None:
    x, p0 = numbers(20, 3), numbers(3, seed=1)

    def force(q: Any) -> Any:
        (g,) = torch.autograd.grad((x @ q).tanh().sum() + (q * q).sum() * 0.5, (q,))
        return g

    def propose(q: Any) -> Any:
        q, p = q.detach().requires_grad_(), p0
        for _ in range(3):
            p = p - 0.05 * force(q)
            q = (q.detach() + 0.1 * p).requires_grad_()
        return q, p, q.requires_grad, q.is_leaf

    fast = way.call(propose)
    for seed in range(5):
        q = numbers(3, seed=seed)
        assert same(propose(q), fast(q)), fast.explain()
    assert way.used(fast) >= 2, fast.explain()
    assert way.name == "skip" or not HERE or plans(fast) == 1, fast.explain()


@pytest.mark.parametrize("way", [Way("skip"), Way("verified")], ids=lambda way: way.name)
def test_second_derivatives_within_a_call(way: Way) -> None:
    a, b, c = (numbers(4, 4, seed=i).requires_grad_() for i in range(3))

    def step() -> Any:
        a.grad = b.grad = None
        h = (a @ b.T).tanh() * c
        ga, gb, unused = torch.autograd.grad((h * h).mean(), (a, b, torch.ones(1, requires_grad=True)), create_graph=True,
                                             allow_unused=True)
        penalty = (ga * ga).sum() + (gb * gb).sum()
        penalty.backward()
        return penalty, unused, ga.detach()

    fast = way.call(step)
    for _ in range(5):
        want, want_grads = step(), grads(a, b, c)
        c.grad = None
        got = fast()
        assert same(want[0].detach(), got[0].detach()) and same(want[1:], got[1:]), fast.explain()
        assert same(want_grads, grads(a, b, c)), fast.explain()
        c.grad = None
    assert way.used(fast) >= 2, fast.explain()


@pytest.mark.parametrize("way", [Way("skip"), Way("verified")], ids=lambda way: way.name)
def test_a_result_whose_graph_was_used_in_part(way: Way) -> None:
    a = numbers(3).requires_grad_()

    def step(x: Any) -> Any:
        y = (a * x).exp()
        (y * 2).sum().backward()
        z = y * a
        return y, z

    fast = way.call(step)
    for _ in range(5):
        a.grad = None
        for y, z in (step(numbers(3, seed=1)), fast(numbers(3, seed=1))):
            for t in (y, z):
                with pytest.raises(RuntimeError, match="a second time"):
                    t.sum().backward()
    assert way.used(fast) >= 2, fast.explain()


def test_gradients_are_another_function_than_they_were() -> None:
    a = numbers(3).requires_grad_()

    def f(x: Any, twice: bool) -> Any:
        y = (a * x).sin()
        got = torch.autograd.grad(y.sum(), (a,), retain_graph=True)
        return [got[0] + torch.autograd.grad(y.sum() * 2 if twice else y.cos().sum(), (a,))[0], y.detach()]

    fast = comparing(f)
    for i in range(12):
        x = numbers(3, seed=i)
        assert same(f(x, i % 3 == 0), fast(x, i % 3 == 0)), fast.explain()


@pytest.mark.skipif(not HERE, reason="an install without C")
def test_few_calls_on_small_arrays_are_made_as_they_come() -> None:
    w, found = numbers(3), []

    def f(x: Any, more: bool) -> Any:
        found.append((x * 2).tolist())
        y = x + 1
        if more:
            y = y - w
        found.append(y.tolist())
        with torch.no_grad():
            w.sub_(0.1 * y)
        return w.clone()

    fast = torch.compile(f)
    seen = []
    for i in range(60):
        had = w.clone()
        want, shown = f(numbers(3, seed=i), i % 7 == 0), found[-2:]
        w.copy_(had)
        assert same(fast(numbers(3, seed=i), i % 7 == 0), want) and found[-2:] == shown
        seen.append(fast.explain())
    assert any("on small arrays, made as they come" in text for text in seen), seen[-1]
    assert computed(fast) == 0


def test_pieces_of_the_same_calls_take_turns() -> None:
    w, w2, held = numbers(3, 3).requires_grad_(), numbers(3, 3).requires_grad_(), []

    def step(x: Any, p: Any, last: bool) -> Any:
        h = (x @ p).tanh()
        if last:
            held.append(h)                      # what is kept until the end of the piece alternates, too
        ((h * h).mean() / 2).backward()
        del h
        got = p.grad.clone()
        if last:
            p.grad = None
        return got

    fast = comparing(step)
    for i in range(40):
        x = numbers(2, 3, seed=i)
        assert same(step(x, w, i % 3 == 2), fast(x, w2, i % 3 == 2)), fast.explain()
    assert not HERE or plans(fast) <= 4 and computed(fast) > 30, fast.explain()


LAYER, FROZEN = nn.Linear(4, 2), nn.Linear(4, 4).requires_grad_(False)


def attack(x: Any, i: int) -> Any:
    adv = (x + 0.1).requires_grad_()
    (adv * adv).sum().backward()
    return adv.grad, adv.is_leaf, adv.requires_grad


def score(x: Any, i: int) -> Any:
    adv = x.clone().requires_grad_()
    y = adv * adv * 2
    return torch.autograd.grad(y, adv, torch.ones_like(y))[0]


def penalty(x: Any, i: int) -> Any:
    between = (x * 0.3 + 0.1).requires_grad_(True)
    y = LAYER(between)
    [g] = torch.autograd.grad(outputs=y, inputs=between, grad_outputs=torch.ones_like(y), create_graph=True)
    LAYER.zero_grad()
    ((g.norm(2, dim=-1) - 1) ** 2).mean().backward()
    return LAYER.weight.grad.clone()


def saliency(x: Any, i: int) -> Any:
    x = (x - x.mean(0)) / (x.std(0) + 1e-6)
    x.requires_grad_()
    LAYER(x)[:, 0].sum().backward()
    return x.grad


def adapter(x: Any, i: int) -> Any:
    out = FROZEN(x).requires_grad_(True)
    LAYER(out).square().sum().backward()
    return out.grad


def leaps(x: Any, i: int) -> Any:
    for _ in range(3):
        x = (x * 0.9 + 0.1).detach().requires_grad_()
        [g] = torch.autograd.grad((x * x).sum(), x)
        x = (x - 0.1 * g).detach()
    return x


def kept_at_times(x: Any, i: int) -> Any:
    leaf = (x * 2 + 1).requires_grad_()
    y = leaf * leaf * 3
    [g] = torch.autograd.grad(y.sum(), leaf, retain_graph=True)
    if i % 5 == 3:
        y.sum().backward()
        return g, leaf.grad
    return g, leaf if i % 7 == 4 else leaf.detach(), leaf.is_leaf


def off_again(x: Any, i: int) -> Any:
    y = (x * 2).requires_grad_()
    return (y * 3).requires_grad, y.requires_grad_(False), (y * 2).requires_grad


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("f", [attack, score, penalty, saliency, adapter, leaps, kept_at_times, off_again])
def test_results_that_become_leaves_get_gradients(f: Any, always: bool) -> None:
    call = comparing(f) if always else torch.compile(f)
    for i in range(24):
        x = numbers(5, 4, seed=i)
        assert same(call(x.clone(), i % 8 if f is kept_at_times else 0), f(x.clone(), i % 8 if f is kept_at_times else 0)), i


def test_a_function_of_single_small_calls_goes_back_to_eager_mode() -> None:
    fast = torch.compile(lambda x: torch.where(x > 0, x, x.exp()).sum())
    for i in range(80):
        x = numbers(8, seed=i)
        assert same(fast(x), torch.where(x > 0, x, x.exp()).sum())
    assert not HERE or "eager: what could be planned are single calls on small arrays" in fast.explain()
