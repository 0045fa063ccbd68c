"""backward() inside hooks and Functions: order, grad mode, accumulation, errors, retained graphs."""

import torch
from torch.autograd import Function

from _log import T, t


def inner_in_hook():
    a, log = t(3.0), []

    def hook(g):
        log.append("hook begins")
        with torch.enable_grad():
            b = t(5.0)
            b.register_hook(lambda g: log.append("inner leaf"))
            (b * b).backward()
        log.append(("hook ends", b.grad.item()))

    y = a * a
    y.register_hook(hook)
    a.register_hook(lambda g: log.append("outer leaf"))
    y.backward()
    return log, a.grad


T("inner pass in a tensor hook", inner_in_hook)


def same_leaf():
    a = t(2.0)

    def hook(g):
        with torch.enable_grad():
            (a * 10).backward()
        print("  inner done, a.grad", a.grad)

    y = a * 2
    y.register_hook(hook)
    (y * 2).backward()
    return a.grad


T("the same leaf in both", same_leaf)


def without_enable_grad():
    a = t(2.0)
    y = a * 2
    y.register_hook(lambda g: (a * 10).backward())
    y.backward()


T("grad mode is off in a hook", without_enable_grad)


def with_create_graph():
    a, log = t(2.0), []
    y = a * a

    def hook(g):
        log.append((torch.is_grad_enabled(), (a * 2).requires_grad))

    y.register_hook(hook)
    torch.autograd.grad(y, a, create_graph=True)
    torch.autograd.grad(y, a)
    return log


T("grad mode in hooks", with_create_graph)


class Reentrant(Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_()
            ctx.y = ctx.x**3
        return ctx.y.detach()

    @staticmethod
    def backward(ctx, g):
        print("  grad mode in backward", torch.is_grad_enabled())
        ctx.y.backward(g)
        return ctx.x.grad


def function():
    a = t([1.0, 2.0])
    Reentrant.apply(a * 2).sum().backward()
    return a.grad


T("Function", function)


def nested():
    a = t([1.0])
    y = a
    for _ in range(5):
        y = Reentrant.apply(y)
    y.sum().backward()
    return a.grad


T("Function chain", nested)


class Deep(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.n = n
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_()
            ctx.y = Deep.apply(ctx.x, n - 1) if n else ctx.x * 2
        return ctx.y.detach()

    @staticmethod
    def backward(ctx, g):
        ctx.y.backward()
        return ctx.x.grad, None


T("depth 100", lambda: (lambda a: (Deep.apply(a, 100).backward(), a.grad)[1])(t(1.0)))


def inner_error():
    a, log = t(2.0), []

    def hook(g):
        with torch.enable_grad():
            b = t(1.0)
            c = b * 2
            c.register_hook(lambda g: 1 / 0)
            c.backward()

    y = a * 2
    y.register_hook(hook)
    a.register_hook(lambda g: log.append("leaf"))
    try:
        y.backward()
    except ZeroDivisionError as e:
        log.append(repr(e))
    return log, a.grad, torch.is_grad_enabled()


T("error of the inner pass", inner_error)


def caught_error():
    a, log = t(2.0), []

    def hook(g):
        try:
            torch.ones(1).backward()
        except RuntimeError as e:
            log.append(str(e)[:30])

    y = a * 2
    y.register_hook(hook)
    y.backward()
    return log, a.grad


T("error caught in the hook", caught_error)


def same_graph():
    a = t(2.0)
    y = a * a
    z = y * 3
    log = []

    def hook(g):
        if len(log) < 1:
            log.append(g.item())
            y.backward(retain_graph=True)

    z.register_hook(hook)
    z.backward()
    return log, a.grad


T("the same graph from inside, retained", same_graph)


def same_graph_freed():
    a = t(2.0)
    y = a * a
    y.register_hook(lambda g: None)
    z = y * 3

    def hook(g):
        y.backward()

    z.register_hook(hook)
    z.backward()
    return a.grad


T("the same graph from inside, freed", same_graph_freed)


def post_accumulate():
    a, b = t(2.0), t(3.0)

    def hook(p):
        with torch.enable_grad():
            if b.grad is None:
                (b * p.grad.detach()).backward()

    a.register_post_accumulate_grad_hook(hook)
    (a * a).backward()
    return a.grad, b.grad


T("in a post-accumulate hook", post_accumulate)


def grad_in_hook():
    a = t(2.0)
    y = a**3

    def hook(g):
        with torch.enable_grad():
            z = a**4
            (d,) = torch.autograd.grad(z, a)
        return g * d

    y.register_hook(hook)
    y.backward()
    return a.grad


T("autograd.grad in a hook", grad_in_hook)


def node_hooks():
    a, log = t(2.0), []
    y = a * a

    def pre(grads):
        log.append("pre")
        with torch.enable_grad():
            b = t(1.0)
            (b * 2).backward()
            log.append(b.grad.item())

    y.grad_fn.register_prehook(pre)
    y.grad_fn.register_hook(lambda gi, go: log.append(("post", [g.item() for g in gi], [g.item() for g in go])))
    y.backward()
    return log, a.grad


T("in a node prehook", node_hooks)


def leaked_mode():
    a = t(2.0)
    a.register_hook(lambda g: torch.set_grad_enabled(True) and None)
    y = a * a
    with torch.no_grad():
        y.backward()
        return torch.is_grad_enabled()


T("a mode set in a hook does not leak", leaked_mode)
