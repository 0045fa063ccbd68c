"""Hooks over several backward passes: retained graphs, accumulated gradients, inputs=, roots."""

import torch

from _log import case, t


def namer(log, name):
    return lambda g: log.append((name, None if g is None else g.tolist()))


@case
def retained_graph_twice():
    log, x = [], t(3.0)
    y = x * x
    y.register_hook(namer(log, "y"))
    x.register_hook(namer(log, "x"))
    y.backward(retain_graph=True)
    y.backward()
    return log, x.grad


@case
def hook_added_between_passes():
    log, x = [], t(3.0)
    y = x * x
    z = y * 2
    z.backward(retain_graph=True)
    y.register_hook(namer(log, "y"))
    z.backward(retain_graph=True)
    y.register_hook(lambda g: g * 0)
    z.backward()
    return log, x.grad


@case
def hook_removed_between_passes():
    x = t(3.0)
    y = x * x
    handle = y.register_hook(lambda g: g * 10)
    y.backward(retain_graph=True)
    first = x.grad.clone()
    handle.remove()
    y.backward()
    return first, x.grad


@case
def two_graphs_on_one_leaf():
    log, x = [], t(3.0)
    x.register_hook(namer(log, "x"))
    x.register_post_accumulate_grad_hook(lambda p: log.append(("sum", p.grad.item())))
    a, b = x * 2, x * 5
    a.backward()
    b.backward()
    torch.autograd.backward([x * 2, x * 5])
    return log


@case
def grad_then_backward():
    log, x = [], t(3.0)
    y = x * x
    y.register_hook(namer(log, "y"))
    x.register_hook(namer(log, "x"))
    x.register_post_accumulate_grad_hook(lambda p: log.append("post"))
    g = torch.autograd.grad(y, x, retain_graph=True)
    y.backward()
    return log, g, x.grad


@case
def inputs_leave_the_others_alone():
    log, a, b = [], t(2.0), t(3.0)
    for name, leaf in (("a", a), ("b", b)):
        leaf.register_hook(namer(log, name))
        leaf.register_post_accumulate_grad_hook(lambda p, name=name: log.append("post " + name))
    y = a * b
    y.register_hook(namer(log, "y"))
    y.backward(inputs=[a], retain_graph=True)
    log.append("--")
    y.backward(inputs=[b, a])
    return log, a.grad, b.grad


@case
def non_leaf_as_input_and_hook():
    log, x = [], t(2.0)
    y = x * 3
    z = y * y
    y.register_hook(namer(log, "y"))
    x.register_hook(namer(log, "x"))
    z.backward(inputs=[y], retain_graph=True)
    z.backward(inputs=[y, x])
    return log, y.grad, x.grad


@case
def the_root_is_an_inner_tensor():
    log, x = [], t(2.0)
    y = x * 3
    y.register_hook(namer(log, "y"))
    z = y * y
    torch.autograd.backward([z, y], [torch.tensor(1.0), torch.tensor(100.0)])
    return log, x.grad


@case
def same_root_twice():
    log, x = [], t(2.0)
    y = x * 3
    y.register_hook(namer(log, "y"))
    torch.autograd.backward([y, y])
    return log, x.grad


@case
def leaf_as_root():
    log, x = [], t(2.0)
    x.register_hook(lambda g: g * 4)
    x.register_post_accumulate_grad_hook(lambda p: log.append(p.grad.item()))
    x.backward()
    x.backward(torch.tensor(10.0))
    return log


@case
def grad_is_reset_in_the_hook():
    x, log = t(2.0), []

    def hook(g):
        log.append(x.grad)
        x.grad = None

    x.register_hook(hook)
    for k in (1, 2, 3):
        (x * k).backward()
    return log, x.grad


@case
def grad_is_replaced_in_the_post_hook():
    x = t([1.0, 2.0])
    x.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", torch.full((2,), -1.0)))
    (x * 3).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    return first, x.grad


@case
def retained_gradients_add_up():
    x = t(2.0)
    y = x * 3
    y.retain_grad()
    z = y * y
    z.backward(retain_graph=True)
    first = y.grad
    z.backward()
    return first, y.grad, first is y.grad


@case
def node_hook_over_two_passes():
    log, x = [], t(2.0)
    y = x * 3
    z = y * y
    y.grad_fn.register_prehook(lambda go: log.append(("pre", go[0].item())))
    y.grad_fn.register_hook(lambda gi, go: log.append(("post", gi[0].item(), go[0].item())))
    z.backward(retain_graph=True)
    z.backward()
    return log


@case
def unused_branch_does_not_fire():
    log, x = [], t(2.0)
    y, z = x * 3, x * 5
    y.register_hook(namer(log, "y"))
    z.register_hook(namer(log, "z"))
    (y * 2).backward()
    return log


@case
def frozen_leaf():
    log, x, w = [], t(2.0), t(3.0)
    y = x * w
    w.register_hook(namer(log, "w"))
    w.register_post_accumulate_grad_hook(lambda p: log.append("post w"))
    w.requires_grad_(False)
    y.backward()
    return log, w.grad, x.grad


@case
def a_shared_leaf_sums_before_its_hook():
    log, x = [], t([1.0, 2.0])
    x.register_hook(namer(log, "x"))
    u = x.sum() + (x * x).sum() + x[0] * 5 + x.max()
    u.backward()
    return log
