"""Behaviours that PyTorch's own tests of hooks on edited tensors and on modules check, as programs."""

import gc
import warnings
import weakref

import torch
import torch.nn as nn
from torch.autograd import Function, grad
from torch.autograd.graph import get_gradient_edge, register_multi_grad_hook

from _log import T, case, t


# as: test_hooks_cpp
@case
def a_hook_on_what_a_layer_returns():
    bn = nn.BatchNorm1d(3, affine=False)
    x = torch.tensor([[1.0, 2.0, 3.0], [3.0, 5.0, 1.0], [0.0, 1.0, 2.0]], requires_grad=True)
    count = [0]

    def hook(g):
        count[0] += 1
        return g * 2

    y = bn(x)
    weights = torch.tensor([[1.0, 2.0, 3.0]] * 2 + [[0.0, 1.0, 0.0]])
    (y * weights).sum().backward()
    plain, x.grad = x.grad, None
    z = bn(x)
    z.register_hook(hook)
    (z * weights).sum().backward()
    return count, torch.allclose(x.grad, plain * 2, atol=1e-6)


# as: test_post_accumulate_grad_hook_on_non_leaf
@case
def post_accumulate_on_a_non_leaf():
    (t([1.0]) * 2).register_post_accumulate_grad_hook(lambda p: None)


# as: test_post_accumulate_grad_hook_returns_not_None
@case
def post_accumulate_that_returns_something():
    x = t([1.0, 2.0])
    x.register_post_accumulate_grad_hook(lambda p: p.grad * 2)
    try:
        (x * 3).sum().backward()
    finally:
        print("  ", x.grad)


# as: test_post_accumulate_grad_hook_multiple_hooks
@case
def post_accumulate_in_order():
    x = t([1.0, 2.0])
    x.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(2) is None or None)
    x.register_post_accumulate_grad_hook(lambda p: p.grad.add_(1) is None or None)
    try:
        x.sum().backward()
    finally:
        print("  ", x.grad)


# as: test_post_accumulate_grad_hook_multiple_tensors
@case
def one_post_accumulate_hook_on_two_tensors():
    a, b = t([1.0, 2.0]), t([3.0])

    def hook(p):
        p.grad.mul_(10)

    for p in (a, b):
        p.register_post_accumulate_grad_hook(hook)
    (a.sum() * b).sum().backward()
    return a.grad, b.grad


# as: test_grad_nonleaf_register_hook
@case
def a_sibling_that_nobody_differentiates():
    x = torch.arange(1.0, 5.0, requires_grad=True)
    seen = []
    first, *rest = x.unbind()
    first.register_hook(lambda g: seen.append(g))
    rest[0].retain_grad()
    found = grad(rest[0] * 2 + rest[1] * 3, rest[:2], retain_graph=True)
    print("  ", found, seen)
    (rest[0] * 2).backward()
    return seen, x.grad, rest[0].grad


class Two(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone(), x.clone()

    @staticmethod
    def backward(ctx, a, b):
        return a + b


# as: test_retain_grad_inplace
@case
def retained_through_edits():
    a = t([1.0, 2.0])
    b = a.clone()
    b.retain_grad()
    b.mul_(2)
    b.retain_grad()
    b.sum().backward()
    print("  ", b.grad, b.retains_grad, a.grad)
    a = t([1.0, 2.0])
    b = a.clone()
    b.retain_grad()
    v = b[0]
    v.retain_grad()
    v.mul_(5)
    (b * torch.tensor([1.0, 10.0])).sum().backward()
    print("  ", b.grad, v.grad, a.grad)
    a = t([1.0, 2.0])
    b = a * 1
    b.retain_grad()
    b[0].mul_(3)
    b.mul_(2)
    b.sum().backward()
    return b.grad, a.grad


# as: test_retains_grad_inplace_multiple_outputs
@case
def retained_of_two_outputs():
    for edit_first in (True, False):
        a = t([1.0, 2.0])
        x, y = Two.apply(a)
        x.retain_grad()
        y.retain_grad()
        (x if edit_first else y).mul_(3)
        (x + 10 * y).sum().backward()
        print("  ", x.grad, y.grad, x.grad_fn.name(), y.grad_fn.name(), a.grad)
    v, m = torch.var_mean(t([1.0, 3.0]))
    v.retain_grad()
    m.retain_grad()
    m.mul_(2)
    (v + m).backward()
    return v.grad, m.grad


# as: test_retain_grad_inplace_over_view
@case
def retained_of_a_view_made_anew():
    base = t([1.0, 2.0]) * 1
    view, other = base[:], base[:]
    view.retain_grad()
    other.retain_grad()
    view.mul_(2)
    print("  ", other.grad_fn.name(), view.grad_fn.name())
    (view * 3 + other * 5).sum().backward()
    return view.grad, other.grad, view.retains_grad, other.retains_grad


# as: test_tensor_hooks_inplace
@case
def hooks_stay_where_they_were_put():
    log, a = [], t([1.0, 2.0])

    def named(name, factor=None):
        def hook(g):
            log.append((name, g.tolist()))
            return None if factor is None else g * factor

        return hook

    b = a.clone()
    b.register_hook(named("first", 2))
    b.mul_(3)
    b.register_hook(named("second", 5))
    b.mul_(7)
    b.register_hook(named("third", 11))
    b.sum().backward()
    print("  ", log, a.grad)
    log.clear()
    base = t([1.0, 2.0]).clone()
    base.register_hook(named("base before"))
    base[0].mul_(4)
    base.register_hook(named("base after"))
    base.sum().backward()
    return log


# as: test_tensor_hooks_inplace_over_view
@case
def hooks_of_a_stale_view():
    log, base = [], t([1.0, 2.0]) * 1
    view, other = base[:], base[:]
    other.register_hook(lambda g: log.append("before"))
    view.mul_(2)
    other.register_hook(lambda g: log.append("without looking"))
    (other * 3).sum().backward(retain_graph=True)
    print("  ", log)
    log.clear()
    base = t([1.0, 2.0]) * 1
    view, other = base[:], base[:]
    other.register_hook(lambda g: log.append("before"))
    view.mul_(2)
    name = other.grad_fn.name()
    other.register_hook(lambda g: log.append("after a look"))
    (other * 3).sum().backward()
    return name, log


# as: test_multi_grad_hooks_invalid_mode
@case
def a_mode_that_does_not_exist():
    register_multi_grad_hook((t([1.0]),), lambda gs: None, mode="foo")


# as: test_multi_grad_all_hooks
@case
def all_gradients_with_functions_and_errors():
    log, a, b, c = [], t([1.0, 2.0]), t([3.0, 4.0]), t([5.0, 6.0])
    x, y = Two.apply(a)
    z = x * b + y * c
    handle = register_multi_grad_hook((x, b, y), lambda gs: log.append([g if g is None else g.tolist() for g in gs]))
    z.sum().backward(inputs=[b], retain_graph=True)
    z.sum().backward(inputs=[a], retain_graph=True)
    z.sum().backward(inputs=[c], retain_graph=True)
    z.sum().backward(retain_graph=True)
    print("  ", log)
    log.clear()
    fail = [True]

    def fails(g):
        if fail[0]:
            raise RuntimeError("once")

    x.register_hook(fails)
    try:
        z.sum().backward(retain_graph=True)
    except RuntimeError as e:
        print("  ", e, log)
    fail[0] = False
    z.sum().backward(retain_graph=True)
    print("  ", len(log))
    handle.remove()
    z.sum().backward()
    return len(log)


# as: test_will_engine_execute_node
@case
def which_nodes_will_run():
    asked = torch._C._will_engine_execute_node

    class Notes(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            print("    ", [asked(n) for n in nodes])
            return g

    a, b = t([1.0]), t([2.0])
    c, d = a * 2, b * 3
    e = Notes.apply(c + d)
    nodes = [get_gradient_edge(v).node for v in (a, b, c, d)]
    for call in (
        lambda: e.sum().backward(retain_graph=True),
        lambda: e.sum().backward(inputs=[a], retain_graph=True),
        lambda: e.sum().backward(inputs=[c], retain_graph=True),
        lambda: grad(e.sum(), [c, d], retain_graph=True),
        lambda: grad(e.sum(), [d], retain_graph=True),
        lambda: grad(e.sum(), [a], retain_graph=True),
        lambda: asked(nodes[0]),
    ):
        try:
            call()
        except Exception as error:
            print("  ", type(error).__name__, error)


# as: test_backward_hook_relative_ordering
@case
def the_order_around_a_layer():
    log = []

    def note(name):
        return lambda *a: log.append(name)

    layer = nn.Linear(2, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.eye(2))
        layer.bias.zero_()
    layer.register_full_backward_hook(note("module"))
    layer.register_full_backward_pre_hook(note("module before"))
    x = torch.ones(1, 2, requires_grad=True)
    x.register_hook(note("x"))
    x.register_post_accumulate_grad_hook(note("x accumulated"))
    for name, p in layer.named_parameters():
        p.register_hook(note(name))
        p.register_post_accumulate_grad_hook(note(f"{name} accumulated"))
        node = get_gradient_edge(p).node
        node.register_prehook(note(f"{name} prehook"))
        node.register_hook(note(f"{name} posthook"))
        layer.__dict__.setdefault("kept", []).append(node)
    y = layer(x)
    y.register_hook(note("y"))
    y.grad_fn.register_prehook(note("y prehook"))
    y.grad_fn.register_hook(note("y posthook"))
    loss = y.sum()
    loss.register_hook(note("loss"))
    loss.grad_fn.register_hook(note("loss posthook"))
    loss.backward()
    for line in log:
        print("  ", line)


# as: test_create_graph_and_full_backward_hook_cycle
@case
def a_layer_with_a_hook_is_collected():
    class Token:
        pass

    def run():
        token = Token()
        layer = nn.Linear(2, 1)
        layer.register_full_backward_hook(lambda m, gi, go, token=token: None)
        x = torch.ones(2, requires_grad=True)
        out = layer(x * x).sum()
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            out.backward(create_graph=True)
        x.grad = None
        for p in layer.parameters():
            p.grad = None
        return weakref.ref(token), len(seen)

    alive, warned = run()
    gc.collect()
    return alive() is None, warned


# as: test_full_backward_hook_double_backward
@case
def a_full_hook_and_a_second_derivative():
    count = [0]
    layer = nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[2.0, 3.0]]))
        layer.bias.zero_()
    layer.register_full_backward_hook(lambda m, gi, go: count.__setitem__(0, count[0] + 1))
    x = t([[1.0, 2.0]])
    y = (layer(x) ** 2).sum()
    (g,) = grad(y, x, create_graph=True)
    first = count[0]
    g.sum().backward()
    return first, count[0], x.grad, layer.weight.grad


# as: test_hook_closure_cycle
@case
def closures_over_their_own_node():
    class Token:
        pass

    found = []
    for use_function in (False, True):
        for tensor_hook in (False, True):

            def run(use_function=use_function, tensor_hook=tensor_hook):
                token, x = Token(), t([2.0])
                y = Two.apply(x)[0] if use_function else x * x
                node = y.grad_fn
                if tensor_hook:
                    y.register_hook(lambda g, node=node, token=token: None)
                else:
                    node.register_hook(lambda gi, go, node=node, token=token: None)
                return weakref.ref(token), y

            alive, y = run()
            gc.collect()
            before = alive() is not None
            del y
            gc.collect()
            found.append((before, alive() is None))
    return found


T("post accumulate without grad", lambda: torch.ones(1).register_post_accumulate_grad_hook(lambda p: None))
