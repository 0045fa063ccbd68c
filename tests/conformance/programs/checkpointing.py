"""torch.utils.checkpoint: what is run again, and how it meets hooks, saved-tensor hooks and random numbers."""

import torch
from torch.autograd import Function, grad
from torch.autograd.graph import save_on_cpu, saved_tensors_hooks
from torch.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_early_stop,
)

from _log import T, case, t


@case
def the_function_runs_twice():
    log, x = [], t([1.0, 2.0])

    def f(a):
        log.append(("run", torch.is_grad_enabled(), a.requires_grad))
        return a.exp().sin()

    y = checkpoint(f, x, use_reentrant=False)
    name = y.grad_fn.name()
    y.sum().backward()
    return log, name, x.grad


@case
def gradients_are_the_same():
    found = []
    for wrap in (lambda f, *a: f(*a), lambda f, *a: checkpoint(f, *a, use_reentrant=False)):
        x, w = t([1.0, 2.0]), t([[1.0, -1.0], [0.5, 2.0]])
        wrap(lambda a, b: (a @ b).tanh().relu() * a, x, w).sum().backward()
        found.append((x.grad, w.grad))
    return found


@case
def reentrant():
    log, x = [], t([1.0, 2.0])

    def f(a):
        log.append(("run", torch.is_grad_enabled(), a.requires_grad))
        return a.exp().sin()

    y = checkpoint(f, x, use_reentrant=True)
    name = y.grad_fn.name()
    y.sum().backward()
    return log, name, x.grad


T("no choice", lambda: checkpoint(torch.sin, t([1.0]))[0].backward())
T("grad with reentrant", lambda: (lambda x: grad(checkpoint(torch.sin, x, use_reentrant=True).sum(), x))(t([1.0])))
T("no input requires grad", lambda: checkpoint(torch.sin, torch.ones(1), use_reentrant=True))
T("none of the inputs, not reentrant", lambda: checkpoint(torch.sin, torch.ones(1), use_reentrant=False))
T("keyword arguments, reentrant", lambda: checkpoint(lambda a, k: a * k, t([1.0]), use_reentrant=True, k=2))
T("keyword arguments", lambda: checkpoint(lambda a, k: a * k, t([1.0]), use_reentrant=False, k=2))
T("bad check", lambda: checkpoint(torch.sin, t([1.0]), use_reentrant=False, determinism_check="maybe"))
T("under no_grad", torch.no_grad()(lambda: checkpoint(torch.sin, t([1.0]), use_reentrant=False)))


@case
def early_stop():
    log, x = [], t([1.0, 2.0])

    def f(a):
        log.append("start")
        y = a.exp()
        log.append("exp")
        z = y * 2 + 1
        log.append("end")
        return z

    checkpoint(f, x, use_reentrant=False).sum().backward()
    log.append("--")
    checkpoint(f, x, use_reentrant=False, early_stop=False).sum().backward()
    log.append("--")
    with set_checkpoint_early_stop(False):
        y = checkpoint(f, x, use_reentrant=False)
    y.sum().backward()
    return log, x.grad


@case
def hooks_inside():
    log, x = [], t([1.0, 2.0])
    x.register_hook(lambda g: log.append(("x", g.tolist())))

    def f(a):
        y = a * a
        y.register_hook(lambda g: log.append(("y", g.tolist())))
        return y * 3

    z = checkpoint(f, x, use_reentrant=False)
    z.register_hook(lambda g: log.append(("z", g.tolist())))
    z.sum().backward()
    return log, x.grad


@case
def replacing_hook_inside():
    x = t([1.0, 2.0])

    def f(a):
        y = a * a
        y.register_hook(lambda g: g * 10)
        return y * 3

    checkpoint(f, x, use_reentrant=False).sum().backward()
    return x.grad


@case
def leaf_made_inside():
    x, w = t([1.0, 2.0]), t([3.0, 4.0])
    w.register_post_accumulate_grad_hook(lambda p: print("   w done", p.grad))
    checkpoint(lambda a: (a * w).exp() * w, x, use_reentrant=False).sum().backward()
    return x.grad


@case
def backward_twice():
    log, x = [], t([1.0, 2.0])

    def f(a):
        log.append("run")
        return (a * a).exp()

    y = checkpoint(f, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    return log, x.grad


@case
def backward_twice_freed():
    x = t([1.0, 2.0])
    y = checkpoint(lambda a: (a * a).exp(), x, use_reentrant=False).sum()
    y.backward()
    y.backward()


@case
def double_backward():
    x = t([1.0, 2.0])
    y = checkpoint(lambda a: a**3, x, use_reentrant=False).sum()
    (g,) = grad(y, x, create_graph=True)
    return g, grad(g.sum(), x)


@case
def part_of_the_gradient():
    log, x, w = [], t([1.0, 2.0]), t([3.0, 4.0])

    def f(a, b):
        log.append("run")
        return a.exp() * b

    y = checkpoint(f, x, w, use_reentrant=False).sum()
    return grad(y, w, retain_graph=True), grad(y, x), log


@case
def random_numbers_are_the_same():
    found = []
    for preserve in (True, False):
        torch.manual_seed(0)
        seen, x = [], t([1.0, 2.0, 3.0])

        def f(a):
            mask = torch.rand(3)
            seen.append(mask)
            return a.exp() * mask

        checkpoint(f, x, use_reentrant=False, preserve_rng_state=preserve).sum().backward()
        found.append(torch.equal(seen[0], seen[1]))
    return found


@case
def state_of_the_generator_afterwards():
    torch.manual_seed(0)
    x = t([1.0, 2.0])
    y = checkpoint(lambda a: a.exp() * torch.rand(2), x, use_reentrant=False).sum()
    before = torch.get_rng_state()
    y.backward()
    return torch.equal(before, torch.get_rng_state())


@case
def fewer_tensors_the_second_time():
    x, runs = t([1.0, 2.0]), []

    def f(a):
        runs.append(1)
        return a.exp() if len(runs) > 1 else a.exp().sin()

    try:
        checkpoint(f, x, use_reentrant=False).sum().backward()
    except CheckpointError as e:
        return str(e).splitlines()[:3]


@case
def other_shapes_the_second_time():
    x, runs = t([1.0, 2.0]), []

    def f(a):
        runs.append(1)
        return (a if len(runs) == 1 else a[:1]).exp().sum()

    try:
        checkpoint(f, x, use_reentrant=False).backward()
    except CheckpointError as e:
        return str(e).splitlines()[0]


@case
def more_tensors_the_second_time():
    found = []
    for early in (True, False):
        x, runs = t([1.0, 2.0]), []

        def f(a):
            runs.append(1)
            return a.exp().sin() if len(runs) > 1 else a.exp()

        try:
            checkpoint(f, x, use_reentrant=False, early_stop=early).sum().backward()
            found.append(x.grad)
        except CheckpointError as e:
            found.append(str(e).splitlines()[0])
    return found


@case
def nested():
    log, x = [], t([1.0, 2.0])

    def inner(a):
        log.append("inner")
        return a.exp()

    def outer(a):
        log.append("outer")
        return checkpoint(inner, a.sin(), use_reentrant=False).cos()

    checkpoint(outer, x, use_reentrant=False).sum().backward()
    return log, x.grad


@case
def with_saved_tensor_hooks_outside():
    log, x = [], t([1.0, 2.0])

    def pack(a):
        log.append(("pack", a.tolist()))
        return a

    def unpack(a):
        log.append(("unpack", a.tolist()))
        return a

    with saved_tensors_hooks(pack, unpack):
        y = checkpoint(lambda a: a.exp().sin(), x, use_reentrant=False)
    y.sum().backward()
    return log, x.grad


@case
def with_saved_tensor_hooks_inside():
    log, x = [], t([1.0, 2.0])

    def f(a):
        with saved_tensors_hooks(lambda b: log.append("pack") or b, lambda b: log.append("unpack") or b):
            return a.exp().sin()

    checkpoint(f, x, use_reentrant=False).sum().backward()
    return log, x.grad


@case
def with_save_on_cpu():
    x = t([1.0, 2.0])
    with save_on_cpu():
        y = checkpoint(lambda a: a.exp().sin(), x, use_reentrant=False)
    y.sum().backward()
    return x.grad


@case
def several_outputs_and_other_arguments():
    x, w = t([1.0, 2.0]), t([3.0, 4.0])

    def f(a, k, b=None, *, scale):
        return a * k, {"out": (b * scale).exp()}, "text"

    y, d, s = checkpoint(f, x, 2, w, use_reentrant=False, scale=0.5)
    (y.sum() + d["out"].sum()).backward()
    return s, x.grad, w.grad


@case
def custom_function_inside():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x * x

    x = t([1.0, 2.0])
    checkpoint(lambda a: Cube.apply(a).sin(), x, use_reentrant=False).sum().backward()
    return x.grad


@case
def contexts():
    log = []

    class Note:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            log.append("enter " + self.name)

        def __exit__(self, *a):
            log.append("exit " + self.name)

    x = t([1.0])
    y = checkpoint(torch.exp, x, use_reentrant=False, context_fn=lambda: (Note("forward"), Note("again")))
    log.append("--")
    y.sum().backward()
    return log


@case
def exception_in_the_function():
    x = t([1.0])
    try:
        checkpoint(lambda a: 1 / 0, x, use_reentrant=False)
    except ZeroDivisionError:
        pass
    y = x * x
    y.backward()
    return x.grad


@case
def sequential():
    log, x = [], t([1.0, 2.0])
    steps = [lambda a, i=i: log.append(i) or (a * (i + 1)).sin() for i in range(4)]
    y = checkpoint_sequential(steps, 2, x, use_reentrant=False)
    log.append("--")
    y.sum().backward()
    return log, x.grad


@case
def saved_attribute_outside_of_backward():
    log, x = [], t([1.0, 2.0])

    def f(a):
        log.append("run")
        return a.exp()

    y = checkpoint(f, x, use_reentrant=False)
    return y.grad_fn._saved_result, y.grad_fn._saved_result, log
