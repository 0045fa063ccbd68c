"""With the cyclic collector off: hooks, Functions, saved-tensor hooks and checkpoints keep nothing alive."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd import Function, grad
from retrograd.autograd.graph import (
    allow_mutation_on_saved_tensors,
    register_multi_grad_hook,
    save_on_cpu,
    saved_tensors_hooks,
)
from retrograd.utils.checkpoint import checkpoint

Watched = list[Any]


class Token:
    """What a hook's closure holds."""


def leaf() -> Any:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def holding(token: Token, result: Any = None) -> Callable[..., Any]:
    def hook(*args: Any) -> Any:
        return None if token is None else result
    return hook


def fails(*args: Any) -> None:
    raise ZeroDivisionError


def swallow(f: Callable[[], Any]) -> None:
    try:
        f()
    except (RuntimeError, TypeError, ZeroDivisionError) as e:
        e.__traceback__ = None


def all_kinds_fired() -> Watched:
    a, token = leaf(), Token()
    y = a * a
    for register in (y.register_hook, a.register_hook, a.register_post_accumulate_grad_hook,
                     y.grad_fn.register_hook, y.grad_fn.register_prehook):
        register(holding(token))
    y.sum().backward()
    return [a, y, token, a.grad]


def all_kinds_never_fired() -> Watched:
    a, token = leaf(), Token()
    y = a * a
    for register in (y.register_hook, a.register_hook, a.register_post_accumulate_grad_hook,
                     y.grad_fn.register_hook, y.grad_fn.register_prehook):
        register(holding(token))
    return [a, y, token]


def removed() -> Watched:
    a, token = leaf(), Token()
    y = a * a
    for register in (y.register_hook, a.register_hook, a.register_post_accumulate_grad_hook, y.grad_fn.register_hook):
        register(holding(token)).remove()
    y.sum().backward()
    return [a, y, token]


def removes_itself() -> Watched:
    a = leaf()
    handles: list[Any] = []
    handles.append(a.register_hook(lambda g: handles.pop().remove()))
    (a * 2).sum().backward()
    return [a]


def removes_another() -> Watched:
    a, token = leaf(), Token()
    y = a * 2
    handle = a.register_hook(holding(token))
    y.register_hook(lambda g: handle.remove())
    y.sum().backward()
    return [a, y, token]


def raises() -> Watched:
    a = leaf()
    y = a * a
    y.register_hook(fails)
    swallow(y.sum().backward)
    return [a, y]


def raises_in_every_kind() -> Watched:
    found = []
    for kind in range(5):
        a = leaf()
        y = a * a
        register = (y.register_hook, a.register_hook, a.register_post_accumulate_grad_hook,
                    y.grad_fn.register_hook, y.grad_fn.register_prehook)[kind]
        register(fails)
        swallow(y.sum().backward)
        found += [a, y]
    return found


def returns_what_it_may_not() -> Watched:
    found = []
    for value in (1.0, torch.ones(3), torch.ones(2, dtype=torch.float64), (torch.ones(2),)):
        a = leaf()
        y = a * a
        y.register_hook(lambda g, value=value: value)
        swallow(y.sum().backward)
        found += [a, y]
    return found


def returns_a_new_gradient() -> Watched:
    a = leaf()
    y = a * a
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 2, gi[1]))
    y.sum().backward()
    return [a, y, a.grad]


def calls_backward() -> Watched:
    a, b = leaf(), leaf()
    y = a * a

    def hook(g: Any) -> None:
        with torch.enable_grad():
            (b * b).sum().backward()

    y.register_hook(hook)
    y.sum().backward()
    return [a, b, y]


def keeps_the_gradient() -> Watched:
    a, kept = leaf(), list[Any]()
    y = a * a
    y.register_hook(kept.append)
    a.register_hook(kept.append)
    y.sum().backward()
    return [a, y, *kept]


def retained() -> Watched:
    a = leaf()
    y = a * a
    y.retain_grad()
    y.sum().backward()
    return [a, y, y.grad]


def retained_and_edited() -> Watched:
    a = leaf()
    y = a * 1
    y.retain_grad()
    y.mul_(2)
    v = y[0]
    v.retain_grad()
    y.add_(1)
    (v + y.sum()).backward()
    return [a, y, v]


def under_grad() -> Watched:
    a, token = leaf(), Token()
    y = a * a
    y.register_hook(holding(token))
    a.register_hook(holding(token))
    g = grad(y.sum(), [a, y])
    return [a, y, token, *g]


def with_create_graph() -> Watched:
    a, token = leaf(), Token()
    y = a**3
    y.register_hook(holding(token))
    (g,) = grad(y.sum(), a, create_graph=True)
    g.register_hook(holding(token))
    g.sum().backward()
    return [a, y, g, token]


def several_tensors() -> Watched:
    a, b, token = leaf(), leaf(), Token()
    y = a * b
    for mode in ("all", "any"):
        register_multi_grad_hook((a, b, y), holding(token), mode=mode)
    (y * 2).sum().backward()
    return [a, b, y, token]


def several_tensors_half_done() -> Watched:
    a, b, token = leaf(), leaf(), Token()
    y = a * b
    handle = register_multi_grad_hook((a, b), holding(token))
    b.register_hook(fails)
    swallow((y * 2).sum().backward)
    handle.remove()
    return [a, b, y, token]


@cache
def function(mode: str) -> Any:
    class Cube(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x**3
            ctx.save_for_backward(x, y)
            ctx.token = Token()
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            if mode == "raises":
                raise ZeroDivisionError
            if mode == "wrong":
                return g[:1], g
            return g * 3 * x * x

    return Cube


def functions() -> Watched:
    a = leaf()
    y = function("right").apply(a)
    token = y.grad_fn.token
    y.grad_fn.register_hook(holding(token))
    y.register_hook(holding(token))
    y.sum().backward()
    return [a, y, token]


def functions_unused() -> Watched:
    a = leaf()
    y = function("right").apply(a)
    return [a, y, y.grad_fn.token]


def functions_that_fail() -> Watched:
    found = []
    for mode in ("raises", "wrong"):
        a = leaf()
        y = function(mode).apply(a)
        swallow(y.sum().backward)
        found += [a, y]
    return found


def functions_under_create_graph() -> Watched:
    a = leaf()
    y = function("right").apply(a)
    (g,) = grad(y.sum(), a, create_graph=True)
    g.sum().backward()
    return [a, y, g]


def saved_tensors_packed() -> Watched:
    a, token = leaf(), Token()
    with saved_tensors_hooks(lambda x: (x.detach(), token), lambda p: p[0]):
        y = a.exp() * a
    y.sum().backward()
    return [a, y, token]


def saved_tensors_never_unpacked() -> Watched:
    a, token = leaf(), Token()
    with saved_tensors_hooks(lambda x: (x.detach(), token), lambda p: p[0]):
        y = a.exp() * a
    return [a, y, token]


def saved_tensors_copied() -> Watched:
    a = leaf()
    with save_on_cpu():
        y = a.exp() * a
    y.sum().backward()
    return [a, y]


def saved_tensors_that_fail() -> Watched:
    a, token = leaf(), Token()
    with saved_tensors_hooks(lambda x: (x.detach(), token), fails):
        y = a.exp() * a
    swallow(y.sum().backward)
    return [a, y, token]


def one_saved_tensor() -> Watched:
    a, token = leaf(), Token()
    y = a * a
    y.grad_fn._raw_saved_self.register_hooks(lambda x: (x.detach(), token), lambda p: p[0])
    y.sum().backward()
    return [a, y, token]


def edited_saved_tensors() -> Watched:
    a = leaf()
    with allow_mutation_on_saved_tensors():
        b = a * 1
        y = b**2
        b.sin_()
        y.sum().backward()
    return [a, b, y]


def checkpoints() -> Watched:
    a = leaf()
    y = checkpoint(lambda x: x.exp().sin(), a, use_reentrant=False)
    y.sum().backward()
    return [a, y]


def checkpoints_unused() -> Watched:
    a = leaf()
    y = checkpoint(lambda x: x.exp().sin(), a, use_reentrant=False)
    return [a, y]


def checkpoints_retained() -> Watched:
    a = leaf()
    y = checkpoint(lambda x: x.exp().sin(), a, use_reentrant=False)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return [a, y]


def checkpoints_nested() -> Watched:
    a = leaf()

    def outer(x: Any) -> Any:
        return checkpoint(torch.exp, x.sin(), use_reentrant=False).cos()

    y = checkpoint(outer, a, use_reentrant=False)
    y.sum().backward()
    return [a, y]


def checkpoints_reentrant() -> Watched:
    a = leaf()
    y = checkpoint(lambda x: x.exp().sin(), a, use_reentrant=True)
    y.sum().backward()
    return [a, y]


def checkpoints_that_differ() -> Watched:
    a, runs = leaf(), list[int]()

    def f(x: Any) -> Any:
        runs.append(1)
        return x.exp() if len(runs) > 1 else x.exp().sin()

    y = checkpoint(f, a, use_reentrant=False)
    swallow(y.sum().backward)
    return [a, y]


CASES = [
    all_kinds_fired, all_kinds_never_fired, removed, removes_itself, removes_another, raises, raises_in_every_kind,
    returns_what_it_may_not, returns_a_new_gradient, calls_backward, keeps_the_gradient, retained, retained_and_edited,
    under_grad, with_create_graph, functions, functions_unused,
    functions_that_fail, functions_under_create_graph, saved_tensors_packed, saved_tensors_never_unpacked,
    saved_tensors_copied, saved_tensors_that_fail, one_saved_tensor, edited_saved_tensors, checkpoints,
    checkpoints_unused, checkpoints_retained, checkpoints_nested, checkpoints_reentrant, checkpoints_that_differ,
]


@pytest.mark.parametrize("make", CASES, ids=lambda f: f.__name__)
def test_dies_by_reference_count(make: Callable[[], Watched], no_gc: None) -> None:
    alive = [weakref.ref(x) for x in make()]
    assert [i for i, r in enumerate(alive) if r() is not None] == []


def test_hook_that_holds_its_own_tensor_is_collected() -> None:
    """tensor -> node -> hook -> tensor is a cycle, as in PyTorch; the collector finds it."""
    def make() -> list[weakref.ref[Any]]:
        a = leaf()
        y = a * a
        y.register_hook(lambda g: g * y.detach())
        a.register_hook(lambda g: g * a.detach())
        y.sum().backward()
        return [weakref.ref(a), weakref.ref(y)]

    alive = make()
    gc.collect()
    assert [r() for r in alive] == [None, None]


@pytest.mark.parametrize("make", [several_tensors, several_tensors_half_done], ids=lambda f: f.__name__)
def test_multi_grad_hook_is_collected(make: Callable[[], Watched]) -> None:
    """It knows the nodes of its tensors, which is a cycle, as in PyTorch."""
    alive = [weakref.ref(x) for x in make()]
    gc.collect()
    assert [i for i, r in enumerate(alive) if r() is not None] == []


def test_hook_that_holds_its_own_node_is_collected() -> None:
    def make() -> weakref.ref[Any]:
        a = leaf()
        y = a * a
        node = y.grad_fn
        node.register_hook(lambda gi, go: node and None)
        y.register_hook(lambda g: node and None)
        return weakref.ref(y)

    alive = make()
    gc.collect()
    assert alive() is None


def test_handle_keeps_neither_hook_nor_tensor(no_gc: None) -> None:
    a, token = leaf(), Token()
    handle = a.register_hook(holding(token))
    alive = [weakref.ref(a), weakref.ref(token)]
    del a, token
    assert [r() for r in alive] == [None, None]
    handle.remove()


def test_a_pass_leaves_nothing_in_the_graph(no_gc: None) -> None:
    """Gradients of a retained graph die with the pass, also after an exception half-way."""
    a, seen = leaf(), list[weakref.ref[Any]]()
    y = a * a
    z = y * 2
    y.register_hook(lambda g: seen.append(weakref.ref(g.detach().numpy())))
    z.sum().backward(retain_graph=True)
    assert [r() for r in seen] == [None]
    y.register_hook(fails)
    swallow(lambda: z.sum().backward(retain_graph=True))
    assert [r() for r in seen] == [None, None]
