"""Hooks under create_graph: they run inside the differentiated graph."""

import torch
from torch.autograd import grad

from _log import case, t


@case
def power_in_the_graph():
    x = t(2.0)
    x.register_hook(lambda g: g * g)
    (g,) = grad(x**3, x, create_graph=True)
    return g, grad(g, x)


@case
def hook_of_a_non_leaf():
    x = t(2.0)
    y = x * x
    y.register_hook(lambda g: g * x)
    (g,) = grad(y * 3, x, create_graph=True)
    return g, grad(g, x)


@case
def third_order():
    x, log = t(2.0), []
    y = x**4
    y.register_hook(lambda g: log.append(("y", g.item())))
    x.register_hook(lambda g: log.append(("x", g.item())))
    (a,) = grad(y, x, create_graph=True)
    (b,) = grad(a, x, create_graph=True)
    (c,) = grad(b, x)
    return log, c


@case
def grad_mode_in_hooks():
    x, log = t(2.0), []
    y = x * x
    y.register_hook(lambda g: log.append((torch.is_grad_enabled(), g.requires_grad)))
    y.grad_fn.register_hook(lambda gi, go: log.append((torch.is_grad_enabled(), gi[0].requires_grad)))
    grad(y, x, create_graph=True)
    grad(y, x, create_graph=True, retain_graph=True)
    with torch.no_grad():
        grad(y, x, create_graph=True)
    grad(y, x)
    return log


@case
def the_gradient_itself_has_hooks():
    x, log = t(2.0), []
    (g,) = grad(x**3, x, create_graph=True)
    g.register_hook(lambda h: log.append(h.item()))
    g.register_hook(lambda h: h * 10)
    (g * 2).backward()
    return log, x.grad


@case
def detached_in_the_hook():
    x = t(2.0)
    y = x * x
    y.register_hook(lambda g: g.detach() * 5)
    (g,) = grad(y * x, x, create_graph=True)
    return g, grad(g, x)


@case
def node_posthook_replaces():
    x = t(2.0)
    y = x**3
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 2,))
    (g,) = grad(y, x, create_graph=True)
    return g, grad(g, x)


@case
def node_prehook_replaces():
    x = t(2.0)
    y = x**3
    y.grad_fn.register_prehook(lambda go: (go[0] * x,))
    (g,) = grad(y, x, create_graph=True)
    return g, grad(g, x)


@case
def backward_with_create_graph():
    x, log = t(2.0), []
    x.register_post_accumulate_grad_hook(lambda p: log.append((p.grad.requires_grad, torch.is_grad_enabled())))
    (x**3).backward(create_graph=True)
    first = x.grad
    x.grad = None
    first.backward()
    return log, first, x.grad


@case
def gradient_penalty():
    x, w = t([1.0, 2.0]), t([3.0, -1.0])
    log = []
    w.register_hook(lambda g: log.append(g.tolist()))
    out = (w * x).tanh().sum()
    (g,) = grad(out, x, create_graph=True)
    (out + (g.pow(2).sum() - 1) ** 2).backward()
    return log, w.grad, x.grad


@case
def retained_gradient_with_a_graph():
    x = t(2.0)
    y = x * x
    y.retain_grad()
    (y**2).backward(create_graph=True)
    first = y.grad
    return first, first.requires_grad, grad(first, x)


@case
def constant_from_a_hook():
    x = t(2.0)
    y = x * x
    y.register_hook(lambda g: torch.tensor(7.0))
    (g,) = grad(y, x, create_graph=True)
    return g, grad(g, x)


@case
def hook_removed_before_the_second_order():
    x, log = t(2.0), []
    handle = x.register_hook(lambda g: log.append(g.item()))
    (g,) = grad(x**3, x, create_graph=True)
    handle.remove()
    return g, grad(g, x), log


@case
def in_place_on_the_gradient():
    x = t([1.0, 2.0])
    y = x**2
    y.register_hook(lambda g: g.clone().mul_(3))
    (g,) = grad(y.sum(), x, create_graph=True)
    return g, grad(g.sum(), x)


@case
def hook_calls_grad_of_its_argument():
    x, log = t(2.0), []

    def hook(g):
        if g.requires_grad:
            log.append(grad(g, x, retain_graph=True, allow_unused=True))

    y = x**3
    x.register_hook(hook)
    (g,) = grad(y, x, create_graph=True)
    return log, g
