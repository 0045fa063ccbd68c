"""With the cyclic collector off, tensors and graphs die by reference count."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import retrograd as torch
from retrograd._engine import node

COMPILED = not str(node.__file__).endswith(".py")
Watched = list[Any]


def leaf(*values: float) -> Any:
    return torch.tensor(values or (1.0, 2.0), requires_grad=True)


def product() -> Watched:
    a, b = leaf(), leaf()
    y = a * b
    y.sum().backward()
    return [a, b, y, a.grad]


def saved_input_without_backward() -> Watched:
    a = leaf()
    return [a, a * a, (a * a).exp()]


def saved_output() -> Watched:
    a = leaf()
    y = a.exp()
    z = y.tanh().softmax(0)
    z.sum().backward(retain_graph=True)
    return [a, y, z]


def saved_attribute_read() -> Watched:
    a = leaf()
    y = a.exp()
    return [a, y, y.grad_fn._saved_result, (a * a).grad_fn._saved_self]


def views() -> Watched:
    a = leaf(1.0, 2.0, 3.0)
    b = a * 1
    v = b[1:]
    w = v.view(2, 1)
    w.sum().backward()
    return [a, b, v, w]


def view_in_place() -> Watched:
    a = leaf(1.0, 2.0, 3.0)
    b = a * 1
    v = b[1:]
    v.mul_(2)
    b[0] = a[2]
    assert v.grad_fn is not None
    b.sum().backward()
    return [a, b, v]


def in_place() -> Watched:
    a = leaf()
    b = a * 1
    b.add_(a).mul_(2).relu_()
    b.sum().backward()
    return [a, b]


def several_outputs() -> Watched:
    a = leaf(1.0, 2.0, 3.0)
    u = a.unbind(0)
    v, i = a.view(1, 3).max(1)
    (u[0] * u[1] + v.sum()).backward()
    return [a, *u, v, i]


def hooks() -> Watched:
    a = leaf()
    y = a * 2
    z = y * y
    y.register_hook(lambda g: g * 2)
    a.register_hook(lambda g: None)
    y.retain_grad()
    a.register_post_accumulate_grad_hook(lambda p: None)
    handle = z.grad_fn.register_hook(lambda gi, go: None)
    y.grad_fn.register_prehook(lambda go: None)
    z.sum().backward()
    handle.remove()
    return [a, y, z, y.grad]


def removed_hooks() -> Watched:
    a = leaf()
    y = a * 2
    handles = [y.register_hook(lambda g: None), a.register_hook(lambda g: None)]
    for handle in handles:
        handle.remove()
    return [a, y]


def kept_node() -> Watched:
    a = leaf()
    y = a * a
    grad_fn = y.grad_fn
    edges = grad_fn.next_functions
    del grad_fn, edges
    return [a, y]


def create_graph() -> Watched:
    a = leaf()
    (g,) = torch.autograd.grad((a**3).sum(), a, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), a, create_graph=True)
    return [a, g, h]


def create_graph_through_saved_output() -> Watched:
    a = leaf()
    y = a.exp().sigmoid()
    (g,) = torch.autograd.grad(y.sum(), a, create_graph=True)
    g.sum().backward()
    return [a, y, g]


def failed_backward() -> Watched:
    a = leaf()
    y = a * a
    y.register_hook(fail)
    try:
        y.sum().backward()
    except ZeroDivisionError as e:
        e.__traceback__ = None
    return [a, y]


def fail(g: Any) -> None:
    raise ZeroDivisionError


def grads_and_inputs() -> Watched:
    a, b = leaf(), leaf()
    p = a * b
    p.sum().backward(inputs=[a, p], retain_graph=True)
    g = torch.autograd.grad(p.sum(), [a, b])
    return [a, b, p, *g]


def no_grad() -> Watched:
    a = leaf()
    with torch.no_grad():
        y = a * 2
        v = a[0]
    return [a, y, v, a.detach(), a.data]


def indexing() -> Watched:
    a = leaf(1.0, 2.0, 3.0)
    b = a * 1
    b[torch.tensor([0, 1])] = 5.0
    b[b > 2] = a[0]
    y = b[torch.tensor([2, 0])]
    y.sum().backward()
    return [a, b, y]


def matrices() -> Watched:
    a = torch.ones(2, 2, requires_grad=True)
    y = torch.cat([a @ a, torch.stack([a, a]).sum(0)]).t().reshape(8)
    y.max().backward()
    return [a, y]


def anomaly() -> Watched:
    a = leaf()
    with torch.autograd.set_detect_anomaly(True):
        y = a * a
        y.sum().backward()
    return [a, y]


@pytest.mark.parametrize(
    "make",
    [
        product,
        saved_input_without_backward,
        saved_output,
        saved_attribute_read,
        views,
        view_in_place,
        in_place,
        several_outputs,
        hooks,
        removed_hooks,
        kept_node,
        create_graph,
        create_graph_through_saved_output,
        failed_backward,
        grads_and_inputs,
        no_grad,
        indexing,
        matrices,
        anomaly,
    ],
    ids=lambda f: f.__name__,
)
def test_dies_by_reference_count(make: Callable[[], Watched], no_gc: None) -> None:
    alive = [weakref.ref(x) for x in make()]
    assert [i for i, r in enumerate(alive) if r() is not None] == []


@cache
def cube() -> Any:
    """An autograd.Function; made once, as a class is in a cycle with its own __mro__."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x**3
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            return g * 3 * x * x

    return Cube


def test_function_dies_by_reference_count(no_gc: None) -> None:
    def make() -> Watched:
        a = leaf()
        unused = cube().apply(a * 1)
        y = cube().apply(a)
        y.sum().backward()
        return [a, y, unused]

    alive = [weakref.ref(x) for x in make()]
    assert [r() for r in alive] == [None] * 3


@pytest.mark.filterwarnings("ignore:Using backward")
def test_grad_with_a_graph_dies_once_grad_is_none(no_gc: None) -> None:
    """As PyTorch warns, a leaf whose .grad has a graph down to itself is in a cycle until .grad is None."""
    a = leaf()
    (a**3).sum().backward(create_graph=True)
    alive = [weakref.ref(a), weakref.ref(a.grad)]
    a.grad = None
    del a
    assert [r() for r in alive] == [None, None]


@pytest.mark.filterwarnings("ignore:Using backward")
def test_grad_with_a_graph_is_collected() -> None:
    a = leaf()
    (a**3).sum().backward(create_graph=True)
    alive = [weakref.ref(a), weakref.ref(a.grad)]
    del a
    gc.collect()
    assert [r() for r in alive] == [None, None]


def test_saved_tensors_die_in_backward(no_gc: None) -> None:
    a = leaf()
    b = a * 1
    c = b * b
    d = c.sum()
    alive = weakref.ref(b)
    array = weakref.ref(b.detach().numpy())
    del b, c
    d.backward()
    assert alive() is None and array() is None
    assert a.grad.tolist() == [2.0, 4.0]


def test_intermediate_without_gradient_dies_at_once(no_gc: None) -> None:
    a = leaf()
    b = a + 1
    alive = weakref.ref(b)
    c = b + 1
    del b
    assert alive() is None
    c.sum().backward()
    assert a.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("shape", ["chain", "ladder"])
def test_a_very_long_graph_runs_and_is_freed_without_recursion(shape: str, no_gc: None) -> None:
    n = 1_000_000 if COMPILED else 100_000
    if shape == "ladder":
        n //= 4
    a = torch.tensor(1.0, requires_grad=True)
    y, x = a, a
    for _ in range(n):
        if shape == "ladder":
            x, y = y, x + y * 0.0
        else:
            y = y + 1.0
    alive = weakref.ref(y)
    y.backward()
    assert a.grad.item() == 1.0
    del x, y
    assert alive() is None


def test_a_very_long_graph_is_freed_unused(no_gc: None) -> None:
    a = torch.tensor(1.0, requires_grad=True)
    y = a
    for _ in range(100_000):
        y = y * 1.0
    alive = weakref.ref(y)
    del y
    assert alive() is None
