"""Hooks of modules inside compiled functions: they are called at their points, with real tensors, as eagerly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from replaying import Way, grads, numbers, same

import retrograd as torch
from retrograd import microscope, nn

ROWS = numbers(6, 8)


def rows(i: int) -> Any:
    return (ROWS * (i + 1) * 0.2).requires_grad_()


def model() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 3))


def seen_forward(m: Any, seen: list[Any]) -> Any:
    return m[2].register_forward_hook(lambda _, args, out: seen.append((args[0].detach().clone(), out.sum().item())))


def replaced_forward(m: Any, seen: list[Any]) -> Any:
    return m[1].register_forward_hook(lambda _, args, out: out * 2 + args[0])


def seen_before(m: Any, seen: list[Any]) -> Any:
    return m[4].register_forward_pre_hook(lambda _, args: seen.append(np.asarray(args[0].detach()).copy().tolist()))


def replaced_before(m: Any, seen: list[Any]) -> Any:
    return m[2].register_forward_pre_hook(lambda _, args: (args[0] * 0.5,))


def named_arguments(m: Any, seen: list[Any]) -> Any:
    return m[0].register_forward_hook(lambda _, args, kwargs, out: seen.append(sorted(kwargs)) or out + 1, with_kwargs=True)


def always(m: Any, seen: list[Any]) -> Any:
    return m[3].register_forward_hook(lambda _, args, out: seen.append(out is None), always_call=True)


def full_backward(m: Any, seen: list[Any]) -> Any:
    return m[2].register_full_backward_hook(
        lambda _, got, given: seen.append((got[0].clone(), given[0].clone())) or (got[0] * 3,))


def before_backward(m: Any, seen: list[Any]) -> Any:
    return m[3].register_full_backward_pre_hook(lambda _, given: seen.append(given[0].clone()) or (given[0] * 0.5,))


def of_every_module(m: Any, seen: list[Any]) -> Any:
    return nn.modules.module.register_module_forward_hook(
        lambda mod, args, out: seen.append(out.sum().item()) if mod in list(m) else None)


def of_every_pass(m: Any, seen: list[Any]) -> Any:
    return nn.modules.module.register_module_full_backward_hook(
        lambda mod, got, given: seen.append(given[0].clone()) if mod in list(m) else None)


def of_a_tensor(m: Any, seen: list[Any]) -> Any:
    def hook(_: Any, args: Any, out: Any) -> None:
        out.register_hook(lambda g: seen.append(g.clone()) or g * 2)
        out.retain_grad()
        kept.append(out)
    kept = [torch.zeros(1)]
    return m[1].register_forward_hook(hook)


HOOKS = [seen_forward, replaced_forward, seen_before, replaced_before, named_arguments, always, full_backward, before_backward,
         of_every_module, of_every_pass, of_a_tensor]


@pytest.fixture(params=["skip", "verified"])
def way(request: Any) -> Way:
    return Way(request.param)


@pytest.mark.parametrize("inside", [False, True], ids=["model", "step"])
@pytest.mark.parametrize("hook", HOOKS, ids=lambda f: f.__name__)
def test_hooks_see_and_change_what_they_do_eagerly(way: Way, hook: Any, inside: bool) -> None:
    """They are registered after some calls, and removed before the last ones."""
    def run(compiled: bool) -> Any:
        m, seen = model(), []
        optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
        call = way.call(m) if compiled and not inside else m

        def step(x: Any) -> Any:
            optimizer.zero_grad()
            loss = call(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        every = way.call(step) if compiled and inside else step
        for i in range(4):
            seen.append(every(rows(i)))
        handle = hook(m, seen)
        try:
            for i in range(4, 9):
                seen.append(every(rows(i)))
        finally:
            handle.remove()
        for i in range(9, 12):
            seen.append(every(rows(i)))
        return [*seen, *m.parameters(), *grads(*m.parameters())]

    assert same(run(False), run(True))


def test_a_hook_that_raises_ends_the_call(way: Way) -> None:
    def run(compiled: bool) -> Any:
        m, seen = model(), []
        call = way.call(m) if compiled else m
        m[3].register_forward_hook(lambda _, args, out: seen.append(out is None), always_call=True)

        def refuse(_: Any, args: Any, out: Any) -> None:
            if out.sum() > wall:
                raise ValueError("too much")

        m[2].register_forward_hook(refuse)
        for i in range(8):
            wall = 100.0 if i % 3 else -100.0
            try:
                y = call(ROWS)
                y.sum().backward()
                seen.append(y.detach())
            except ValueError as error:
                seen.append(str(error))
        return [*seen, *grads(*m.parameters())]

    assert same(run(False), run(True))


def test_a_capture_inside_a_compiled_step_sees_what_it_sees_eagerly(way: Way) -> None:
    def run(compiled: bool) -> Any:
        m, seen = model(), []

        def step(x: Any) -> Any:
            m.zero_grad()
            before = x.sin() * 2
            with microscope.capture(m) as cap:
                loss = m(before).square().mean()
                loss.backward()
            cap.check()
            seen.append(np.asarray(cap.grads().norms()).tolist())
            return loss.detach(), before

        call = way.call(step) if compiled else step
        found = [call(ROWS * (i + 1)) for i in range(5)]
        return [*found, *seen, *grads(*m.parameters())]

    assert same(run(False), run(True))


def test_a_capture_around_compiled_steps_with_hooks_sees_what_it_sees_eagerly(way: Way) -> None:
    def run(compiled: bool) -> Any:
        m, seen = model(), []
        m[2].register_full_backward_hook(lambda _, got, given: (got[0] * 2,))
        m[1].register_forward_hook(lambda _, args, out: out * 2)
        m[0].weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))

        def step(x: Any) -> Any:
            m.zero_grad()
            loss = m(x).square().mean()
            loss.backward()
            return loss.detach()

        call = way.call(step) if compiled else step
        found = [call(ROWS * (i + 1)) for i in range(4)]
        with microscope.capture(m) as cap:
            found.append(call(ROWS))
        seen.append(np.asarray(cap.grads().norms()).tolist())
        found.append(call(ROWS))
        return [*found, *seen, *grads(*m.parameters())]

    assert same(run(False), run(True))
