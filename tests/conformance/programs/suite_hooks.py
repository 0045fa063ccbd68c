"""Behaviours that PyTorch's own tests of hooks, retain_grad and node hooks check, as programs."""

import gc
import weakref

import torch
from torch.autograd import Function, grad
from torch.autograd.graph import register_multi_grad_hook

from _log import case, t


class Identity(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g


# as: test_hooks
@case
def hooks_count_and_replace():
    x, y = torch.ones(5, 5, requires_grad=True), torch.ones(5, 5, requires_grad=True) * 4
    counter = [0]

    def count(step):
        return lambda g: counter.__setitem__(0, counter[0] + step)

    z = x**2 + x * 2 + x * y + y
    x.register_hook(lambda g: None)
    first = z.register_hook(count(1))
    ones = torch.ones(5, 5)
    z.backward(ones, retain_graph=True)
    a = counter[0]
    second = z.register_hook(count(2))
    z.backward(ones, retain_graph=True)
    b = counter[0]
    second.remove()
    z.backward(ones, retain_graph=True)
    c = counter[0]
    first.remove()
    z.register_hook(lambda g: g * 2)
    x.grad = None
    z.backward(ones)
    return a, b, c, x.grad[0]


# as: test_hook_none
@case
def hook_with_a_sibling_that_gets_none():
    class Half(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a.clone(), b.clone()

        @staticmethod
        def backward(ctx, ga, gb):
            return ga, None

    log, a, b = [], t([1.0, 2.0]), t([3.0, 4.0])
    x, y = a * 1, b * 1
    x.register_hook(lambda g: log.append(("x", g.tolist())))
    y.register_hook(lambda g: log.append(("y", g)))
    p, q = Half.apply(x, y)
    (p + q).sum().backward()
    return log, a.grad, b.grad


# as: test_hook_with_no_name
@case
def hook_without_a_name():
    class Hook:
        def __call__(self, g):
            return g * 3

    x = t([1.0, 2.0])
    x.register_hook(Hook())
    x.sum().backward()
    return x.grad


# as: test_hook_edge_case_when_called_with_grad
@case
def which_hooks_run_when():
    for call in ("grad(b)", "grad(a, b)", "grad(a)", "backward", "inputs=[b]", "inputs=[a]", "inputs=[a, b]"):
        log, a = [], t([1.0, 2.0])
        b = a * 2
        c = b * 3
        b.register_hook(lambda g: log.append("tensor b"))
        b.grad_fn.register_prehook(lambda go: log.append("pre b"))
        b.grad_fn.register_hook(lambda gi, go: log.append("post b"))
        node = b.grad_fn.next_functions[0][0]
        a.register_hook(lambda g: log.append("tensor a"))
        node.register_prehook(lambda go: log.append("pre a"))
        node.register_hook(lambda gi, go: log.append("post a"))
        a.register_post_accumulate_grad_hook(lambda p: log.append("acc a"))
        names = dict(a=a, b=b)
        if call.startswith("grad"):
            grad(c.sum(), [names[n] for n in call[5:-1].split(", ")])
        elif call == "backward":
            c.sum().backward()
        else:
            c.sum().backward(inputs=[names[n] for n in call[8:-1].split(", ")])
        print("  ", call, log)


# as: test_prehook_ordering
@case
def prehooks_after_tensor_hooks():
    for call in ("backward", "grad", "inputs"):
        log, a = [], t(1.0)
        b = a * 2
        b.grad_fn.register_prehook(lambda go: log.append("pre 1"))
        b.register_hook(lambda g: log.append("tensor"))
        b.grad_fn.register_prehook(lambda go: log.append("pre 2"))
        c = b * 1
        if call == "backward":
            c.backward()
        elif call == "grad":
            grad(c, a)
        else:
            c.backward(inputs=[a])
        print("  ", call, log)


# as: test_retains_grad_can_always_observe_tensor_prehook
@case
def retained_gradient_sees_all_tensor_hooks():
    a = t(2.0)
    b = a * 1
    b.register_hook(lambda g: g * 2)
    b.retain_grad()
    b.register_hook(lambda g: g * 3)
    b.backward()
    return b.grad, a.grad


# as: test_accumulate_grad_posthooks_can_observe_tensor_prehook
@case
def hooks_of_the_accumulating_node_see_tensor_hooks():
    log, a = [], t(2.0)
    b = a * 1
    node = b.grad_fn.next_functions[0][0]
    node.register_prehook(lambda go: log.append(("pre", go[0].item())))
    node.register_hook(lambda gi, go: log.append(("post", gi, go[0].item())))
    a.register_hook(lambda g: g * 5)
    b.backward()
    return log, a.grad


# as: test_accumulate_grad_posthooks_should_not_execute
@case
def hooks_of_a_leaf_that_is_not_asked_for():
    log, a, b = [], t(2.0), t(3.0)
    c = a * b
    a.register_hook(lambda g: log.append("a"))
    node = c.grad_fn.next_functions[0][0]
    node.register_prehook(lambda go: log.append("pre"))
    node.register_hook(lambda gi, go: log.append("post"))
    c.backward(inputs=[b])
    return log, a.grad, b.grad


@case
def post_accumulate_on_several_tensors():
    log, a, b = [], t(2.0), t(3.0)
    hook = lambda p: log.append((p is a, p is b, p.grad.item()))
    a.register_post_accumulate_grad_hook(hook)
    b.register_post_accumulate_grad_hook(hook)
    (a * 2 + b * b).backward()
    return log


# as: test_post_accumulate_grad_hook_e2e
@case
def optimizer_in_backward():
    p, q = t([1.0, -2.0]), t([1.0, -2.0])
    state = torch.zeros(2)

    def step(w, g, m):
        m.mul_(0.9).add_(g)
        w.sub_(0.1 * m)

    def hook(w):
        step(w, w.grad, state)
        w.grad = None

    handle = p.register_post_accumulate_grad_hook(hook)
    other = torch.zeros(2)
    for _ in range(4):
        (p**4).sum().backward()
        (q**4).sum().backward()
        with torch.no_grad():
            step(q, q.grad, other)
        q.grad = None
    same = torch.equal(p, q)
    handle.remove()
    before = p.detach().clone()
    (p**4).sum().backward()
    return same, torch.equal(before, p), p.grad is not None


# as: test_post_accumulate_grad_hook_gets_cleaned_up
@case
def post_accumulate_closure_dies_with_the_tensor():
    class Token:
        pass

    def make():
        a, token = t(2.0), Token()
        a.register_post_accumulate_grad_hook(lambda p: token and None)
        (a * 2).backward()
        return weakref.ref(token), a

    alive, a = make()
    before = alive() is not None
    del a
    gc.collect()
    return before, alive() is None


# as: test_post_accumulate_grad_hook_ordering
@case
def order_around_accumulation():
    log, a = [], t(2.0)
    node = (a * 1).grad_fn.next_functions[0][0]
    a.register_post_accumulate_grad_hook(lambda p: log.append("acc"))
    node.register_hook(lambda gi, go: log.append("post"))
    node.register_prehook(lambda go: log.append("pre"))
    a.register_hook(lambda g: log.append("tensor"))
    (a * 2).backward()
    return log


# as: test_grad_fn_prehooks
@case
def node_prehooks_chain():
    log, a = [], t([1.0, 2.0])
    b = a * 3
    b.grad_fn.register_prehook(lambda go: (go[0] * 2,))
    b.grad_fn.register_prehook(lambda go: None)
    b.grad_fn.register_prehook(lambda go: go)
    b.grad_fn.register_prehook(lambda go: log.append(go[0].tolist()))
    b.grad_fn.register_hook(lambda gi, go: (gi[0] * 5, None))
    b.sum().backward()
    c = Identity.apply(a)
    c.grad_fn.register_prehook(lambda go: (go[0] * 7,))
    c.sum().backward()
    return log, a.grad


# as: test_grad_fn_prehooks_multiple_outputs
@case
def node_prehooks_with_two_outputs():
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, "text", x * 3

        @staticmethod
        def backward(ctx, a, s, b):
            return a * 2 + b * 3

    a = t([1.0, 2.0])
    x, s, y = Two.apply(a)
    x.grad_fn.register_prehook(lambda go: print("   ", go))
    (x.sum() + y.sum()).backward()
    v, m = torch.var_mean(a)
    v.grad_fn.register_prehook(lambda go: (go[0] * 10, go[1]))
    (v + m).backward()
    return a.grad


# as: test_grad_fn_prehooks_remove_hooks
@case
def node_hooks_removed_before_and_during():
    log, a = [], t(2.0)
    b = a * 2
    first = b.grad_fn.register_prehook(lambda go: log.append("first"))
    first.remove()
    handles = []

    def remover(go):
        log.append("remover")
        handles[0].remove()

    b.grad_fn.register_prehook(remover)
    handles.append(b.grad_fn.register_prehook(lambda go: log.append("in flight")))
    b.backward(retain_graph=True)
    b.backward()
    return log


# as: test_retain_grad
@case
def retain_grad_again_and_again():
    a = t([1.0, 2.0])
    b = a * 3
    b.retain_grad()
    b.retain_grad()
    c = b * b
    c.sum().backward(retain_graph=True)
    first = b.grad.clone()
    c.sum().backward()
    a.retain_grad()
    return first, b.grad, a.retains_grad


@case
def retain_grad_moves_with_in_place():
    a = t([1.0, 2.0])
    b = a * 1
    b.retain_grad()
    b.mul_(2)
    old = b.retains_grad
    b.sum().backward()
    base = a * 1
    base.retain_grad()
    v = base[0]
    v.retain_grad()
    base.mul_(3)
    (base * torch.tensor([1.0, 10.0])).sum().backward()
    return old, b.grad, base.grad, v.grad


# as: test_retain_grad_cycle
@case
def retain_grad_makes_no_cycle():
    gc.collect()
    gc.disable()
    x = t(2.0)
    y = x * 2
    y.retain_grad()
    y.backward()
    alive = weakref.ref(y)
    del y
    gc.enable()
    return alive() is None


# as: test_tensor_hooks_inplace_multiple_outputs
@case
def tensor_hooks_stay_with_the_old_outputs():
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone(), x.clone()

        @staticmethod
        def backward(ctx, a, b):
            return a + b

    log, a = [], t([1.0, 2.0])
    x, y = Two.apply(a)
    x.register_hook(lambda g: log.append(("x old", g.tolist())))
    y.register_hook(lambda g: log.append(("y old", g.tolist())))
    x.mul_(2)
    x.register_hook(lambda g: log.append(("x new", g.tolist())))
    (x + y).sum().backward()
    return log


@case
def multi_grad_all():
    log = []
    t1, t2, t3 = t([1.0, 2.0]), t([1.0, 2.0]), t([1.0, 2.0])
    t4 = t1.mul(t2) * t3
    handle = register_multi_grad_hook((t2, t3), lambda gs: log.append([g is not None for g in gs]))
    t4.sum().backward(inputs=(t2,), retain_graph=True)
    t4.sum().backward(inputs=(t1,), retain_graph=True)
    t4.sum().backward(inputs=(t2, t3), retain_graph=True)
    t4.sum().backward(retain_graph=True)
    handle.remove()
    t4.sum().backward(retain_graph=True)
    return log


# as: test_multi_grad_any_hooks
@case
def multi_grad_any():
    log, a, b, c = [], t(1.0), t(2.0), t(3.0)
    y = a * b
    z = y * c
    a.register_hook(lambda g: log.append("a"))
    handle = register_multi_grad_hook((a, y), lambda g: log.append(("any", g.item())), mode="any")
    z.backward(retain_graph=True)
    z.backward(inputs=[c], retain_graph=True)
    handle.remove()
    z.backward()
    return log


@case
def output_returned_as_is():
    class AsIs(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a, b * 1

        @staticmethod
        def backward(ctx, ga, gb):
            return ga * 2, gb * 3

    log, a, b = [], t([1.0, 2.0]), t([3.0, 4.0])
    x, y = AsIs.apply(a, b)
    x.register_hook(lambda g: log.append(("x", g.tolist())))
    a.register_hook(lambda g: log.append(("a", g.tolist())))
    (x.sum() + y.sum() + a.sum()).backward()
    return log, x is a, a.grad, b.grad


# as: test_reentrant_with_leaf_variable_hook
@case
def leaf_hook_with_a_pass_inside():
    a, log = t([1.0, 2.0]), []

    def hook(g):
        handle.remove()
        saved, a.grad = a.grad, None
        with torch.enable_grad():
            (a * 10).sum().backward()
        log.append(a.grad.tolist())
        a.grad = saved

    handle = a.register_hook(hook)
    (a * 2).sum().backward()
    return log, a.grad


# as: test_reentrant_with_non_leaf_variable_hook
@case
def non_leaf_hook_with_a_pass_inside():
    a, log = t([1.0, 2.0]), []
    y = a * 1

    def hook(g):
        handle.remove()
        with torch.enable_grad():
            z = y.detach().requires_grad_()
            (z * z).sum().backward()
        log.append(z.grad.tolist())
        return g * z.grad

    handle = y.register_hook(hook)
    (y * 2).sum().backward()
    return log, a.grad


@case
def cycle_through_a_hook_is_collected():
    class Token:
        pass

    def make(create_graph):
        token, a = Token(), t(2.0)
        y = a * a
        y.grad_fn.register_hook(lambda gi, go, token=token, node=y.grad_fn: None)
        grad(y, a, create_graph=create_graph)
        return weakref.ref(token), y

    found = []
    for create_graph in (False, True):
        alive, y = make(create_graph)
        gc.collect()
        before = alive() is not None
        del y
        gc.collect()
        found.append((before, alive() is None))
    return found
