"""What is never replayed runs eagerly, with its reason."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest
from replaying import numbers, same, skipping

import retrograd as torch
from retrograd import nn


def test_a_branch_on_a_number_of_a_tensor_is_run_eagerly() -> None:
    def f(x: Any) -> Any:
        return x * 2 if x.sum().item() > 0 else x * 3

    fast = skipping(f)
    for sign in (1, -1, 1, -1):
        x = torch.ones(2) * sign
        assert same(fast(x), f(x))
    assert not fast.local.variants and "test_compile_refusals.py:" in fast.explain()


def test_python_numbers_of_tensors_are_not_frozen() -> None:
    def f(x: Any) -> Any:
        return x * x.sum().item()

    fast = skipping(f)
    for seed in range(3):
        x = numbers(2, seed=seed)
        assert same(fast(x), f(x))
    assert "item" in fast.explain()


def test_what_the_function_counts_or_collects_goes_on() -> None:
    counts, seen = {"calls": 0}, []

    def f(x: Any) -> Any:
        counts["calls"] += 1
        return x * 2

    def g(x: Any) -> Any:
        seen.append(1)
        return x * 2

    for call in (skipping(f), skipping(g)):
        for _ in range(4):
            call(numbers(2))
    assert counts["calls"] == 4 and len(seen) == 4


@pytest.mark.parametrize("source", [
    "print(end='')", "time.time()", "random.random()", "next(numbers)", "np.random.rand()", "open(os.devnull).close()",
])
def test_what_reads_or_changes_the_world_is_refused(source: str) -> None:
    import os
    import random
    import time
    scope = {"time": time, "random": random, "np": np, "os": os, "numbers": iter(range(100)), "torch": torch}
    exec(f"def f(x):\n    {source}\n    return x * 2", scope)
    fast = skipping(scope["f"])
    for _ in range(3):
        fast(numbers(2))
    assert not fast.local.variants and "eager:" in fast.explain()


@pytest.mark.parametrize("kept", [True, False])
def test_a_part_of_a_module_that_is_imported_when_asked_for_is_looked_at_too(kept: bool) -> None:
    import random
    lazy: Any = types.ModuleType("lazy")

    def find(name: str) -> Any:
        if name != "draw":
            raise AttributeError(name)
        if kept:
            lazy.draw = random.random
        return random.random
    lazy.__getattr__ = find

    def direct(x: Any) -> Any:
        return x * lazy.draw()

    def through_a_name(x: Any) -> Any:
        m = lazy
        return x * m.draw()
    for f in (direct, through_a_name):
        vars(lazy).pop("draw", None)
        fast = skipping(f)
        assert len({float(fast(numbers(1))) for _ in range(4)}) == 4 and not fast.local.variants


def test_saved_tensor_hooks_see_what_is_saved() -> None:
    w = numbers(3).requires_grad_()
    packed: list[Any] = []

    def step() -> Any:
        w.grad = None
        (w * w).sum().backward()

    fast = skipping(step)
    fast(), fast()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (packed.append(1), t)[1], lambda t: t):
        fast()
    assert packed


@pytest.mark.parametrize("view", [lambda y: y[0], lambda y: y.unfold(0, 2, 1), lambda y: y.as_strided((2,), (2,)),
                                  torch.diagonal])
@pytest.mark.parametrize("part", [False, True])
def test_views_written_through_are_run_eagerly_or_right(view: Any, part: bool) -> None:
    def f(x: Any) -> Any:
        y = x * 1
        v = view(y)
        (v if part else y).mul_(2)
        return v + 1, y

    fast = skipping(f)
    for seed in range(3):
        assert same(f(numbers(2, 2, seed=seed)), fast(numbers(2, 2, seed=seed)))


def test_an_edit_of_memory_that_shows_twice_is_run_eagerly() -> None:
    def f(x: Any) -> Any:
        v = x.clone().unfold(0, 2, 1)
        v[0] = 9.0
        return v * 1

    fast = skipping(f)
    for seed in range(3):
        assert same(f(numbers(4, seed=seed)), fast(numbers(4, seed=seed)))
    assert "shows in several places" in fast.explain()


def test_a_view_of_an_argument_is_not_given_as_a_copy() -> None:
    fast, x = skipping(lambda x: x.unfold(1, 2, 1)), numbers(2, 3).requires_grad_()
    for _ in range(3):
        assert fast(x).data_ptr() == x.data_ptr(), fast.explain()


@pytest.mark.parametrize("line", [
    "torch.manual_seed(0)", "torch.set_grad_enabled(False)", "net.load_state_dict(state)", "descent.param_groups[0]['lr'] = 0.1",
    "torch.set_default_dtype(torch.float32)", "net.eval()", "net.requires_grad_(False)", "x.register_hook(print)",
    "net.weight.data = net.weight.data * 1.0", "torch.nn.init.ones_(net.weight)", "torch.set_num_threads(1)",
])
def test_what_changes_the_state_of_the_library_happens_at_each_call(line: str) -> None:
    net = nn.Linear(2, 2)
    scope = {"torch": torch, "net": net, "state": {k: v.clone() for k, v in net.state_dict().items()},
             "descent": torch.optim.SGD(net.parameters(), 0.5)}
    exec(f"def f(x):\n    {line}\n    return (x * 2).detach()", scope)
    fast = skipping(scope["f"])
    try:
        for _ in range(3):
            net.train()
            net.requires_grad_(True)
            scope["descent"].param_groups[0]["lr"] = 0.5
            with torch.no_grad():
                net.weight.zero_()
            fast(numbers(3).requires_grad_())
        if line == "net.eval()":
            assert not net.training
        if "requires_grad_" in line:
            assert not net.weight.requires_grad
        if "lr" in line:
            assert scope["descent"].param_groups[0]["lr"] == 0.1
        if "state" in line or "ones_" in line:
            assert net.weight.abs().sum() > 0
        if "manual_seed" in line:
            assert torch.initial_seed() == 0
        if "grad_enabled" in line:
            assert not torch.is_grad_enabled()
        assert not any(v.used for v in fast.local.variants), fast.explain()
    finally:
        torch.set_grad_enabled(True)


def test_arguments_that_the_call_changes_are_changed_at_each_call() -> None:
    def f(x: Any, found: list[Any], stats: dict[str, Any]) -> Any:
        found.append(x * 2)
        stats["last"] = x
        return x + 1

    fast = skipping(f)
    for seed in range(4):
        x, found, stats = numbers(2, seed=seed), [], {}
        fast(x, found, stats)
        assert same(found, [x * 2]) and stats["last"] is x


def test_objects_whose_state_is_not_in_a_dict_are_run_eagerly() -> None:
    import array
    import functools as tools

    class Asked:
        def __getattr__(self, name: str) -> Any:
            return {"k": 1.0}[name]
    asked, cells, made = Asked(), array.array("f", [1.0]), tools.lru_cache(lambda k: torch.full((1,), float(k)))
    for f in (lambda x, i: x * cells[0], lambda x, i: x * made(i % 3), lambda x, i: x * asked.k):
        fast = skipping(f)
        for i in range(6):
            cells[0] = i
            assert same(fast(numbers(1), i), f(numbers(1), i))
