"""Hooks and in-place edits: which version of a tensor a hook belongs to."""

import torch

from _log import case, t


def namer(log, name):
    return lambda g: log.append((name, None if g is None else g.tolist()))


@case
def hooks_of_three_versions():
    log, x = [], t(2.0)
    y = x * 3
    for i in range(3):
        y.register_hook(namer(log, i))
        y.mul_(i + 2)
    y.backward()
    return log, x.grad


@case
def removed_handle_of_an_old_version():
    log, x = [], t(2.0)
    y = x * 3
    old = y.register_hook(namer(log, "old"))
    y.add_(1)
    new = y.register_hook(namer(log, "new"))
    old.remove()
    (y * 2).backward(retain_graph=True)
    new.remove()
    (y * 2).backward()
    return log, new.id - old.id


@case
def replacing_hook_before_and_after():
    x = t([1.0, 2.0])
    y = x * 1
    y.register_hook(lambda g: g * 2)
    y.mul_(3)
    y.register_hook(lambda g: g * 5)
    y.sum().backward()
    return x.grad


@case
def retain_grad_between_two_edits():
    x = t([1.0, 2.0])
    y = x * 1
    y.mul_(2)
    y.retain_grad()
    y.mul_(3)
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    return y.grad, x.grad, y.retains_grad


@case
def hook_on_the_operand_of_add_():
    log, a, b = [], t([1.0, 2.0]), t([3.0, 4.0])
    b.register_hook(namer(log, "b"))
    y = a * 1
    y.register_hook(namer(log, "y"))
    y.add_(b * b)
    y.sum().backward()
    return log, a.grad, b.grad


@case
def setitem_splits_the_gradient():
    log, a, v = [], t([1.0, 2.0, 3.0]), t(5.0)
    y = a * 2
    y.register_hook(namer(log, "y before"))
    v.register_hook(namer(log, "v"))
    y[1] = v
    y.register_hook(namer(log, "y after"))
    (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    return log, a.grad, v.grad


@case
def view_hook_then_edit_of_the_view():
    log, x = [], t([1.0, 2.0])
    y = x * 1
    v = y[0]
    v.register_hook(namer(log, "v old"))
    v.mul_(4)
    v.register_hook(namer(log, "v new"))
    y.register_hook(namer(log, "y"))
    y.sum().backward()
    return log, x.grad


@case
def stale_view_read_first():
    log, x = [], t([1.0, 2.0])
    y = x * 1
    v = y[0]
    v.register_hook(namer(log, "dropped"))
    y.mul_(4)
    name = v.grad_fn.name()
    v.register_hook(namer(log, "kept"))
    (v * 3).backward()
    return log, name, x.grad


@case
def base_hook_sees_both_views():
    log, x = [], t([1.0, 2.0, 3.0])
    y = x * 1
    y.register_hook(namer(log, "y"))
    a, b = y[:2], y[1:]
    (a.sum() * 2 + b.sum() * 5).backward()
    return log, x.grad


@case
def leaf_edited_under_no_grad_between_passes():
    log, x = [], t([1.0, 2.0])
    x.register_hook(namer(log, "x"))
    (x * x).sum().backward()
    with torch.no_grad():
        x.mul_(10)
    (x * x).sum().backward()
    return log, x.grad, x._version


@case
def hook_edits_its_argument():
    x = t([1.0, 2.0])
    y = x * 3
    y.register_hook(lambda g: g.mul_(7) and None if g.numel() == 1 else (g.clone().mul_(7)))
    (y * torch.tensor([1.0, 2.0])).sum().backward()
    return x.grad


@case
def edit_in_place_reaches_both_operands():
    a, b = t([1.0, 2.0]), t([3.0, 4.0])
    s = a + b
    seen = []
    b.register_hook(lambda g: seen.append(g.tolist()))
    a.register_hook(lambda g: g.mul_(10))
    (s * torch.tensor([1.0, 2.0])).sum().backward()
    return a.grad, b.grad, seen


@case
def data_replaced_in_a_post_accumulate_hook():
    p = t([1.0, 2.0])

    def step(q):
        q.data = q.data - 0.1 * q.grad
        q.grad = None

    p.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        (p * p).sum().backward()
    return p, p.grad, p._version


@case
def edit_of_a_saved_tensor_in_a_hook():
    x = t([1.0, 2.0])
    y = x * 1
    z = y * y
    z.register_hook(lambda g: y.data.mul_(100) and None if False else y.detach().mul_(1) and None if False else None)
    z.register_hook(lambda g: torch.Tensor.add_(y.detach(), 1) is None or None)
    z.sum().backward()


@case
def clone_of_a_hooked_tensor():
    log, x = [], t([1.0, 2.0])
    y = x * 1
    y.register_hook(namer(log, "y"))
    c = y.clone()
    c.mul_(5)
    c.sum().backward()
    return log, c._backward_hooks


@case
def zero_after_hook():
    log, x = [], t([1.0, 2.0])
    y = x * 3
    y.register_hook(namer(log, "before zero_"))
    y.zero_()
    (y + x).sum().backward()
    return log, x.grad
