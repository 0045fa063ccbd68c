"""Exceptions in hooks: what ran before, what is freed, and whether one can try again."""

import torch

from _log import case, t


class Stop(Exception):
    pass


def stop(*args):
    raise Stop("here")


def attempt(f):
    try:
        f()
        return "ok"
    except Exception as e:
        return type(e).__name__, str(e)[:60]


@case
def nothing_below_runs():
    log, a, b = [], t(2.0), t(3.0)
    y = a * b
    a.register_hook(lambda g: log.append("a"))
    y.register_hook(stop)
    return attempt(lambda: (y * 2).backward()), log, a.grad, b.grad


@case
def the_hooks_before_it_ran():
    log, a = [], t(2.0)
    a.register_hook(lambda g: log.append(1))
    a.register_hook(stop)
    a.register_hook(lambda g: log.append(3))
    return attempt((a * 2).backward), log, a.grad


@case
def earlier_leaves_keep_their_gradients():
    a, b, c = t(1.0), t(2.0), t(3.0)
    b.register_hook(stop)
    found = attempt((a * b * c).backward)
    return found, a.grad, b.grad, c.grad


@case
def retry_after_removal():
    a = t(2.0)
    y = a * a
    z = y + 1
    handle = y.register_hook(stop)
    first = attempt(z.backward)
    handle.remove()
    return first, attempt(z.backward), a.grad


@case
def retry_when_a_saving_node_ran():
    a = t(2.0)
    y = a * a
    z = y * y
    handle = y.register_hook(stop)
    first = attempt(z.backward)
    handle.remove()
    return first, attempt(z.backward), a.grad


@case
def retry_with_a_retained_graph():
    a = t(2.0)
    y = a * a
    z = y * y
    handle = a.register_hook(stop)
    first = attempt(lambda: z.backward(retain_graph=True))
    handle.remove()
    return first, attempt(z.backward), a.grad


@case
def post_accumulate_hook_raises_after_the_sum():
    a = t(2.0)
    a.register_post_accumulate_grad_hook(stop)
    return attempt((a * 3).backward), attempt((a * 3).backward), a.grad


@case
def node_hooks_raise():
    a, log = t(2.0), []
    y = a * 3
    pre = y.grad_fn.register_prehook(stop)
    first = attempt(y.backward)
    pre.remove()
    y.grad_fn.register_hook(stop)
    return first, attempt(y.backward), a.grad


@case
def multi_grad_hook_raises():
    a, b = t(2.0), t(3.0)
    handle = torch.autograd.graph.register_multi_grad_hook((a, b), stop)
    first = attempt((a * b).backward)
    handle.remove()
    return first, attempt((a * b).backward), a.grad, b.grad


@case
def under_grad():
    a = t(2.0)
    handle = a.register_hook(stop)
    y = a * a
    first = attempt(lambda: torch.autograd.grad(y, a, retain_graph=True))
    handle.remove()
    return first, torch.autograd.grad(y, a)


@case
def modes_are_restored():
    a = t(2.0)
    a.register_hook(stop)
    with torch.no_grad():
        first = attempt((a.detach().requires_grad_() * 1).sum)
    y = a * 2
    found = attempt(lambda: y.backward(create_graph=True))
    return found, torch.is_grad_enabled(), (a * 2).requires_grad


@case
def system_exit_and_generator_exit():
    a = t(2.0)

    def leave(g):
        raise SystemExit(3)

    a.register_hook(leave)
    try:
        (a * 2).backward()
    except SystemExit as e:
        return e.code, a.grad


@case
def exception_with_a_cause():
    a = t(2.0)

    def hook(g):
        try:
            1 / 0
        except ZeroDivisionError as e:
            raise Stop("outer") from e

    a.register_hook(hook)
    try:
        (a * 2).backward()
    except Stop as e:
        return repr(e.__cause__), a.grad


@case
def stop_iteration():
    a = t(2.0)
    a.register_hook(lambda g: next(iter(())))
    return attempt((a * 2).backward), a.grad


@case
def saved_tensor_hooks_raise():
    a = t(2.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, stop):
        y = a * a
    first = attempt(lambda: (y + 1).backward())
    with torch.autograd.graph.saved_tensors_hooks(stop, lambda x: x):
        second = attempt(lambda: a * a)
    return first, second, a.grad, (a * 2).grad_fn is not None


@case
def function_raises():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ctx.saved_tensors
            if len(log) < 1:
                log.append("raise")
                raise Stop("in backward")
            return g

    log, a = [], t(2.0)
    y = F.apply(a)
    return attempt(y.backward), attempt(y.backward), a.grad
