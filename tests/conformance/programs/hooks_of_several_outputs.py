"""Hooks where a node has several outputs, or an output has no gradient."""

import torch
from torch.autograd import Function, grad

from _log import case, t


def namer(log, name):
    return lambda g: log.append((name, None if g is None else g.tolist()))


@case
def unbind_with_one_used():
    log, x = [], t([1.0, 2.0, 3.0])
    a, b, c = x.unbind(0)
    for name, y in zip("abc", (a, b, c)):
        y.register_hook(namer(log, name))
    x.register_hook(namer(log, "x"))
    (b * 5).backward()
    return log


@case
def order_of_registration_decides():
    log, x = [], t([1.0, 2.0, 3.0])
    a, b, c = x.unbind(0)
    for name, y in (("c", c), ("a", a), ("c2", c), ("b", b)):
        y.register_hook(namer(log, name))
    (a + b + c).backward()
    return log


@case
def replacing_the_gradient_of_one():
    x = t([1.0, 2.0, 3.0])
    a, b, c = x.unbind(0)
    b.register_hook(lambda g: g * 100)
    (a + b + c).backward()
    return x.grad


@case
def none_cannot_be_replaced():
    x = t([1.0, 2.0])
    a, b = x.unbind(0)
    b.register_hook(lambda g: torch.tensor(1.0))
    a.backward()


@case
def values_and_indices_of_max():
    log, x = [], t([[1.0, 5.0], [7.0, 2.0]])
    values, indices = x.max(1)
    values.register_hook(namer(log, "values"))
    values.sum().backward()
    return log, indices.requires_grad, x.grad


@case
def prehook_sees_all_outputs():
    log, x = [], t([1.0, 2.0, 3.0, 4.0])
    a, b = x.split(2)
    a.grad_fn.register_prehook(lambda go: log.append([None if g is None else g.tolist() for g in go]))
    a.grad_fn.register_hook(lambda gi, go: log.append([g.tolist() for g in gi]))
    (b * 3).sum().backward()
    return log


@case
def prehook_fills_in_the_missing():
    x = t([1.0, 2.0, 3.0, 4.0])
    a, b = x.split(2)
    a.grad_fn.register_prehook(lambda go: (torch.full((2,), 9.0), go[1]))
    (b * 3).sum().backward()
    return x.grad


@case
def retain_grad_of_an_unused_output():
    x = t([1.0, 2.0])
    a, b = x.unbind(0)
    a.retain_grad()
    b.retain_grad()
    (a * 3).backward()
    return a.grad, b.grad


class Pair(Function):
    @staticmethod
    def forward(ctx, x, materialize):
        ctx.set_materialize_grads(materialize)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):
        print("   got", a, b)
        return (None if a is None else a * 2), None


@case
def function_with_materialized_gradients():
    log, x = [], t([1.0, 2.0])
    a, b = Pair.apply(x, True)
    b.register_hook(namer(log, "b"))
    a.sum().backward()
    return log, x.grad


@case
def function_without():
    log, x = [], t([1.0, 2.0])
    a, b = Pair.apply(x, False)
    b.register_hook(namer(log, "b"))
    x.register_hook(namer(log, "x"))
    a.sum().backward(retain_graph=True)
    b.sum().backward()
    return log, x.grad


@case
def undefined_gradient_runs_down_to_the_leaf():
    class Nothing(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    log, x = [], t([1.0, 2.0])
    y = x * 3
    z = y.exp()
    for name, v in (("x", x), ("y", y), ("z", z)):
        v.register_hook(namer(log, name))
    x.register_post_accumulate_grad_hook(lambda p: log.append(("post", p.grad)))
    y.grad_fn.register_prehook(lambda go: log.append(("pre", go)))
    y.grad_fn.register_hook(lambda gi, go: log.append(("posthook", gi, go)))
    Nothing.apply(z).sum().backward()
    return log, x.grad


@case
def defined_and_undefined_meet():
    class Nothing(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    log, x = [], t([1.0, 2.0])
    y = x * 3
    y.register_hook(namer(log, "y"))
    (Nothing.apply(y).sum() + y.sum()).backward()
    return log, x.grad


@case
def captures_of_several_outputs():
    x = t([1.0, 2.0, 3.0])
    a, b, c = x.unbind(0)
    a.register_hook(lambda g: g * 10)
    loss = a * 2 + b * 3
    return grad(loss, [a, b, c], allow_unused=True, retain_graph=True), grad(loss, [a, x])


@case
def same_output_twice():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            return y, y

        @staticmethod
        def backward(ctx, a, b):
            print("   got", a, b)
            return (a + b) * 2

    log, x = [], t([1.0, 2.0])
    a, b = Twice.apply(x)
    a.register_hook(namer(log, "a"))
    (a * 1 + b * 10).sum().backward()
    return log, a is b, x.grad
