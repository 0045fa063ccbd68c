"""Hooks inside a compiled step: each replay calls them at their points, with real tensors, as an eager step does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from replaying import Way, grads, numbers, same

import retrograd as torch
from retrograd import nn

Seen = list[Any]
ROWS = numbers(6, 4)


def model() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 3))


class Run:
    """A training step with hooks: how often it is called, and what is changed between calls."""

    def __init__(self, m: Any, seen: Seen) -> None:
        self.m, self.seen = m, seen
        self.optimizer: Any = torch.optim.SGD(m.parameters(), lr=0.1)
        self.number = 0                         # of the call

    def step(self, x: Any) -> Any:
        self.optimizer.zero_grad()
        loss = self.m(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


Hook = Callable[[Run], Any]


def trained(hook: Hook, way: Way | None, calls: int = 9, check: int = 0) -> Any:
    """What was seen, and the state of the model after each call; how often plans were used."""
    m, seen = model(), []
    run = Run(m, seen)
    between = hook(run)
    optimizer, total = run.optimizer, m

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = total(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    call = step if way is None else way.call(step, check=check)
    for i in range(calls):
        run.number = i
        if between is not None:
            between(i)
        try:
            seen.append(call((ROWS * (i + 1) * 0.2).requires_grad_()))
        except ValueError as error:
            seen.append(str(error))
        seen.append([p.detach().clone() for p in m.parameters()])
        seen.append(grads(*m.parameters()))
    return seen, 0 if way is None else way.used(call), call


def everywhere(run: Run, register: str, hook: Callable[[str], Any]) -> None:
    for name, p in run.m.named_parameters():
        getattr(p, register)(hook(name))


# -- kinds of hooks: how each is registered, and what it is given (the last of its arguments is what it may replace)

def post(run: Run, f: Any) -> None:
    everywhere(run, "register_post_accumulate_grad_hook", lambda name: lambda p: f(name, p.grad))


def tensor(run: Run, f: Any) -> None:
    everywhere(run, "register_hook", lambda name: lambda g: f(name, g))


def leaf_node(run: Run, f: Any) -> None:
    for name, p in run.m.named_parameters():
        node = torch.autograd.graph.get_gradient_edge(p).node
        node.register_prehook(lambda gs, name=name: packed(f(name, gs[0])))
        node.register_hook(lambda outs, gs, name=name: packed(f("after " + name, gs[0], False)) and None)
        run.seen.append([type(node).__name__])


def packed(x: Any) -> Any:
    return None if x is None else (x,)


def backward(run: Run, f: Any) -> None:
    for i in (1, 2, 4):
        run.m[i].register_full_backward_hook(lambda m, got, given, i=i: f(i, given[0], False) and None or packed(f(i, got[0])))


def backward_pre(run: Run, f: Any) -> None:
    for i in (1, 3):
        run.m[i].register_full_backward_pre_hook(lambda m, given, i=i: packed(f(i, given[0])))


KINDS: list[Any] = [post, tensor, leaf_node, backward, backward_pre]


# -- what hooks do

def reads(run: Run) -> Any:
    return lambda name, g, mine=True: run.seen.append((name, g.clone(), g.requires_grad, g.grad_fn is None))


def keeps(run: Run) -> Any:
    return lambda name, g, mine=True: run.seen.append(g)


def replaces(run: Run) -> Any:
    return lambda name, g, mine=True: g * 0.5 if mine else None


def edits(run: Run) -> Any:
    def hook(name: Any, g: Any, mine: bool = True) -> None:
        with torch.no_grad():
            if mine:
                g.clamp_(-0.01, 0.01)
    return hook


def sometimes(run: Run) -> Any:
    """By the number of the step."""
    def hook(name: Any, g: Any, mine: bool = True) -> Any:
        if run.number % 3 == 2:
            run.seen.append(name)
            return g + 1 if mine else None
        return None
    return hook


def raises(run: Run) -> Any:
    def hook(name: Any, g: Any, mine: bool = True) -> None:
        run.seen.append(name)
        if run.number in (3, 6) and len(run.seen) % 2:
            raise ValueError(f"no {name}")
    return hook


DEEDS: list[Any] = [reads, keeps, replaces, edits, sometimes, raises]


@pytest.fixture(params=["skip", "verified"])
def way(request: Any) -> Way:
    return Way(request.param)


@pytest.mark.parametrize("check", [0, 1])
@pytest.mark.parametrize("deed", DEEDS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", KINDS, ids=lambda f: f.__name__)
def test_hooks_are_called_as_eagerly(way: Way, kind: Any, deed: Any, check: int) -> None:
    def hook(run: Run) -> None:
        f = deed(run)
        if kind is post and deed in (replaces, sometimes):     # which gives nothing
            inner = f

            def f(name: Any, g: Any) -> None:
                got = inner(name, g)
                if got is not None:
                    g.copy_(got)
        kind(run, f)

    want, _, _ = trained(hook, None)
    got, used, call = trained(hook, way, check=check)
    assert same(want, got)
    if way.name == "skip":
        assert used >= (3 if deed is raises else 5), call.explain()
