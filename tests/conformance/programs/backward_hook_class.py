"""torch.utils.hooks.BackwardHook used by hand, as modules use it."""

import torch
from torch.utils.hooks import BackwardHook

from _log import case, t


def call(hooks, pre, f, *args):
    bw = BackwardHook("module", hooks, pre)
    out = f(*bw.setup_input_hook(args))
    return bw.setup_output_hook(out)


def show(name, result=None):
    def hook(*args):
        print("  ", name, *args)
        return result

    return hook


@case
def input_and_output():
    x = t([1.0, 2.0])
    y = call([show("full")], [show("pre")], lambda a: a * 3, x)
    y.sum().backward()
    return y.grad_fn.name(), x.grad


@case
def replaced():
    x = t([1.0, 2.0])
    hooks, pre = [show("full", (torch.full((2,), 7.0),))], [show("pre", (torch.full((2,), 5.0),))]
    call(hooks, pre, lambda a: a * 3, x).sum().backward()
    return x.grad


@case
def chain_and_list():
    x = t([1.0, 2.0])
    hooks = [lambda m, gi, go: [gi[0] * 2], show("second")]
    call(hooks, [], lambda a: a * 3, x).sum().backward()
    return x.grad


@case
def other_arguments():
    x = t([1.0, 2.0])
    f = lambda a, k, b, s: (a * k, s, b + a)
    y, s, z = call([show("full")], [], f, x, 2, torch.ones(2), "s")
    y.sum().backward()
    return s, x.grad


@case
def unused_input():
    x, w = t([1.0, 2.0]), t([3.0, 4.0])
    call([show("full")], [], lambda a, b: a * 2, x, w).sum().backward()
    return x.grad, w.grad


@case
def wrong_count():
    call([lambda m, gi, go: gi + gi], [], lambda a: a * 3, t([1.0, 2.0])).sum().backward()


@case
def wrong_count_of_the_first():
    call([], [lambda m, go: ()], lambda a: a * 3, t([1.0, 2.0])).sum().backward()


@case
def wrong_shape():
    call([lambda m, gi, go: (gi[0].sum(),)], [], lambda a: a * 3, t([1.0, 2.0])).sum().backward()


@case
def no_input_requires_a_gradient():
    w = t([3.0, 4.0])
    call([show("full")], [show("pre")], lambda a: a * w, torch.ones(2)).sum().backward()
    return w.grad


@case
def no_input_requires_a_gradient_and_one_is_returned():
    w = t([3.0, 4.0])
    call([show("full", (torch.ones(2),))], [], lambda a: a * w, torch.ones(2)).sum().backward()


@case
def in_place_on_the_output():
    y = call([show("full")], [], lambda a: a * 3, t([1.0, 2.0]))
    y += 1


@case
def under_no_grad():
    with torch.no_grad():
        return call([show("full")], [], lambda a: a * 3, t([1.0, 2.0]))


@case
def twice_and_double():
    x = t([1.0, 2.0])
    y = call([show("full")], [], lambda a: a**3, x).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    print("   second order")
    return torch.autograd.grad(g.sum(), x)
