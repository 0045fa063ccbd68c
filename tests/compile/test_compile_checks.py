"""Replays that are checked against eager calls."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest
from replaying import grads, numbers, same, skipping

import retrograd as torch
from retrograd import nn
from retrograd._compile.code import Program


def test_checked_replays_find_what_guards_cannot_see() -> None:
    hidden = np.ones(1)
    box = {"f": None}

    def f(x: Any) -> Any:
        return x * 2

    fast = skipping(f, check=1)
    fast(numbers(2)), fast(numbers(2))
    (variant,) = fast.local.variants
    variant.plan.code[0] = (lambda a, b: a * b + hidden[0].astype("float32"), *variant.plan.code[0][1:])
    del box
    with pytest.raises(RuntimeError, match=r"differ, first in mul .*test_compile_checks.py"):
        fast(numbers(2))


def test_checked_steps_go_on_as_eager_ones() -> None:
    def make() -> Any:
        net = nn.Linear(2, 2)
        with torch.no_grad():
            net.weight.copy_(numbers(2, 2))
            net.bias.zero_()
        descent, x = torch.optim.Adam(net.parameters(), 0.1), numbers(3, 2, seed=1)

        def step() -> Any:
            descent.zero_grad()
            loss = net(x).mean()
            loss.backward()
            descent.step()
            return loss
        return step, lambda: [*net.parameters(), *grads(*net.parameters())]
    eager, want = make()
    plain, got = make()
    fast = skipping(plain, check=1)
    for _ in range(5):
        assert same(eager(), fast()) and same(want(), got())


def test_a_plan_that_fails_is_given_up_with_its_reason() -> None:
    w = numbers(3).requires_grad_()

    def step(x: Any) -> Any:
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        return loss

    fast = skipping(step)
    for _ in range(4):
        fast(numbers(3))
    (variant,) = [v for v in fast.local.variants if v.used]

    class Broken:
        wrote = False

        def run(self, filled: Any) -> Any:
            raise ZeroDivisionError("lost")
    variant.plan.program = Broken()
    assert same(fast(numbers(3)).detach(), step(numbers(3)).detach())
    assert "ZeroDivisionError('lost')" in fast.explain() and variant not in fast.local.variants


def test_a_check_sees_what_only_the_program_in_c_does_wrong() -> None:
    fast = skipping(lambda x: x * 2, check=1)
    fast(numbers(2)), fast(numbers(2))
    plan = fast.local.variants[0].plan
    if plan.program is not None:
        plan.program = Program(
            (None, None), (0,), ((True, 11, (2,), ((0, 0), (4, 1), (2, 3.0)), ((2, 0, 2, 1, None),), 0),), ((),), (1,))
        with pytest.raises(RuntimeError, match="in C"):
            fast(numbers(2))


def test_a_plan_keeps_no_array_of_the_recorded_call() -> None:
    x = numbers(1000)
    fast = skipping(lambda x: (x * 2).exp().sin())
    fast(x), fast(x)
    plan = fast.local.variants[0].plan
    assert all(v.array is None for entry in plan.entries for v in entry.outs)
    made = weakref.ref(fast(x))
    assert made() is None


def test_a_check_leaves_gradients_and_versions_of_one_call() -> None:
    w = numbers(2).requires_grad_()

    def step(x: Any) -> None:
        w.grad = None
        (w * x).sum().backward()
        with torch.no_grad():
            w.sub_(w.grad * 0.1)

    def into(x: Any) -> None:
        (x * 2).sum().backward()
    fast, to_argument = (torch.compile(f, options={"python": "skip"}) for f in (step, into))
    for n in range(1, 10):
        fast(numbers(2))
        assert w._version == n
        x = numbers(1).requires_grad_()
        to_argument(x)
        assert x.grad.item() == 2


def test_a_check_takes_nan_for_nan_in_every_dtype() -> None:
    def product(x: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return x @ x

    fast = torch.compile(product, options={"python": "skip", "check": 1})
    infinite = torch.tensor([[torch.inf, -torch.inf], [1.0, 1.0]])
    for x in (torch.ones(2, 2), infinite, infinite):
        assert same(fast(x), product(x))
    assert "replayed 2 times" in fast.explain()
    fast = torch.compile(lambda x: (x * 2).exp(), options={"python": "skip", "check": 1})
    for number in (1.0, torch.nan, torch.nan):
        assert fast(torch.full((3,), complex(number, 1))).isnan().all() == (number != 1)
    assert "replayed 2 times" in fast.explain()


def test_targets_around_the_ignored_one_are_summed_as_eagerly() -> None:
    fast = torch.compile(
        lambda x, y: nn.functional.cross_entropy(x, y, ignore_index=2, reduction="sum"), options={"python": "skip", "check": 1})
    fast(torch.randn(4, 4), torch.tensor([0, 1, 1, 2]))
    for seed in range(50):
        x = torch.randn(4, 4, generator=torch.Generator().manual_seed(seed))
        for y in ([0, 2, 1, 3], [0, 1, 1, 3]):
            fast(x, torch.tensor(y))            # raises where it differs in the last bit
    assert "replayed 100 times" in fast.explain()
