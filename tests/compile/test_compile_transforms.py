"""Compiled functions that use function transforms, forward mode, hooks of saved tensors, and leaves made on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from replaying import Way, numbers, same

import retrograd as torch
from retrograd.autograd import forward_ad
from retrograd.autograd import functional as AF
from retrograd.utils.checkpoint import checkpoint

W = numbers(4, 4, seed=7).requires_grad_()


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * g


def gradient(x: Any) -> Any:
    return torch.func.grad(lambda t: (t**3).sum())(x) * 2


def in_a_graph(x: Any) -> Any:
    def f(t: Any) -> Any:
        return torch.cat([t * t.detach(), t])[1:4]
    g = torch.func.grad(lambda t: f(t).sum())(x)
    z = g.detach().requires_grad_()
    return torch.autograd.grad(f(z).sum(), z)[0]


def hessian_of_edits(x: Any) -> Any:
    return torch.func.hessian(lambda t: t.clone().mul_(2).sin_().sum())(x * 2)


def jvp(x: Any) -> Any:
    return torch.func.jvp(lambda t: (t**3).sum(), (x * 2,), (x,))


def linearized(x: Any) -> Any:
    value, push = torch.func.linearize(lambda t: t.sin(), x * 2)
    return value, push(x)


def rows(x: Any) -> Any:
    return torch.func.jacrev(lambda t: t @ W)(x * 2).sum(0).detach()


def vector_products(x: Any) -> Any:
    ones = torch.ones(4)
    return [AF.hvp(lambda t: t.sin().sum(), x * 2, ones)[1], AF.vhp(lambda t: (t**3).sum(), x * 2, ones)[1],
            AF.hessian(lambda t: (t**3).sum(), x * 2)]


def forward_mode(x: Any) -> Any:
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(forward_ad.make_dual(x * 2, x).sin()).tangent.clone()


def leaf_under_saving(x: Any) -> Any:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        a = x.sin()
        z = a.detach().requires_grad_()
        g, = torch.autograd.grad((z**3).sum(), z)
        return a + g


def leaf_of_a_list(x: Any) -> Any:
    z = (x * 2)[[0, 1]].detach().requires_grad_()
    (z * z).sum().backward()
    return z.grad


def leaf_of_complex(x: Any) -> Any:
    z = torch.complex(x, x).detach().requires_grad_()
    return torch.autograd.grad((z * z).abs().sum(), z)[0]


def function_under_saving(x: Any) -> Any:
    with torch.autograd.graph.save_on_cpu():
        y = Square.apply(W * x)
    return torch.autograd.grad(y.sum() + (W * 2).sum(), W)[0]


def checkpoint_under_saving(x: Any) -> Any:
    W.grad = None
    with torch.autograd.graph.save_on_cpu():
        y = checkpoint(torch.sin, W * x, use_reentrant=True)
    y.sum().backward()
    return W.grad.clone()


def dropped_under_saving(x: Any) -> Any:
    torch.manual_seed(3)
    with torch.autograd.graph.save_on_cpu():
        return torch.nn.functional.dropout(x * W, 0.3).detach()


@pytest.fixture(params=["skip", "verified"])
def way(request: pytest.FixtureRequest) -> Way:
    return Way(request.param)


@pytest.mark.parametrize("f", [
    gradient, in_a_graph, hessian_of_edits, jvp, linearized, rows, vector_products, forward_mode, leaf_under_saving,
    leaf_of_a_list, leaf_of_complex, function_under_saving, checkpoint_under_saving, dropped_under_saving,
], ids=lambda f: f.__name__)
def test_what_eager_mode_gives(way: Way, f: Callable[[Any], Any]) -> None:
    fast = way.call(f)
    for seed in range(7):
        x = numbers(4, seed=seed)
        assert same(fast(x), f(x))


@pytest.mark.parametrize("mode", ["all", "any"])
def test_a_hook_of_several_tensors_is_called_once_a_pass(way: Way, mode: Any) -> None:
    p, q = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    seen: list[Any] = []
    fast = way.call(lambda x: (p * x + q * x * 2).sum().backward())
    for _ in range(4):
        fast(torch.ones(3))
    hook = torch.autograd.graph.register_multi_grad_hook(
        [p, q], lambda gs: seen.append([g.sum().item() for g in gs] if mode == "all" else 0), mode=mode)
    for _ in range(5):
        fast(torch.ones(3))
    hook.remove()
    fast(torch.ones(3))
    assert seen == 5 * [[3.0, 6.0] if mode == "all" else 0]


@pytest.mark.parametrize("check", [0, 1])
def test_a_step_hook_that_edits_weights_through_data(way: Way, check: int) -> None:
    def run(call: bool) -> list[float]:
        w = torch.tensor([3.0], requires_grad=True)
        descent = torch.optim.SGD([w], lr=0.5)
        descent.register_step_post_hook(lambda *_: w.data.clamp_(-2, 2) and None)

        def step(x: Any) -> None:
            (w * x).sin().sum().backward()
            descent.step()
        f = way.call(step, check=check) if call else step
        found = []
        for _ in range(8):
            f(torch.ones(1))
            found.append(w.item())
        assert not call or way.used(f) >= 4
        return found

    assert run(True) == run(False)


@pytest.mark.parametrize("check", [0, 1])
def test_a_gradient_that_is_zeroed_and_replaced(way: Way, check: int) -> None:
    p = torch.ones(3, requires_grad=True)
    descent = torch.optim.SGD([p], lr=0.1)

    def step(x: Any) -> None:
        descent.zero_grad(set_to_none=False)
        p.grad, = torch.autograd.grad((p * x).sin().sum(), [p])
    fast = way.call(step, check=check)
    for i in range(8):
        old = p.grad
        fast(numbers(3, seed=i))
        assert old is None or (not old.any() and p.grad is not old)


def test_arguments_that_share_memory_where_nothing_is_written(way: Way) -> None:
    x = numbers(5, 4)
    fast = way.call(lambda a, b: a + b, check=1)
    for b in (torch.ones(4), x[0], torch.ones(4), x[0], x[1]):
        assert same(fast(x, b), x + b)


@pytest.mark.parametrize("check", [0, 1])
def test_new_tensors_lie_as_what_they_are_like(way: Way, check: int) -> None:
    x = numbers(4, 5).t()
    fast = way.call(lambda x: torch.zeros_like(x).normal_(), check=check)
    for seed in range(5):
        torch.manual_seed(seed)
        want = torch.zeros_like(x).normal_()
        torch.manual_seed(seed)
        assert same(fast(x), want)
