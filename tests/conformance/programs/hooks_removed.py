"""Hooks that are added and removed, by themselves and by others, before and during a pass."""

import torch
from torch.utils.hooks import RemovableHandle

from _log import case, t


@case
def hook_removes_itself():
    x, log = t(2.0), []

    def hook(g):
        log.append("once")
        handle.remove()

    handle = x.register_hook(hook)
    x.register_hook(lambda g: log.append("always"))
    (x * 1).backward()
    (x * 1).backward()
    return log


@case
def hook_removes_the_next_of_its_tensor():
    x, log, handles = t(2.0), [], []

    def first(g):
        log.append("first")
        handles[0].remove()

    x.register_hook(first)
    handles.append(x.register_hook(lambda g: log.append("second")))
    (x * 1).backward()
    (x * 1).backward()
    return log


@case
def hook_removes_one_further_down():
    x, log = t(2.0), []
    y = x * 2
    handle = x.register_hook(lambda g: log.append("x"))
    y.register_hook(lambda g: handle.remove())
    (y * 2).backward()
    return log, len(x._backward_hooks)


@case
def hook_adds_one_further_down():
    x, log = t(2.0), []
    y = x * 2
    y.register_hook(lambda g: x.register_hook(lambda h: log.append(h.item())) and None)
    (y * 3).backward(retain_graph=True)
    (y * 3).backward()
    return log


@case
def hook_adds_one_to_its_own_tensor():
    x, log = t(2.0), []
    x.register_hook(lambda g: x.register_hook(lambda h: log.append("added")) and None)
    for _ in range(3):
        (x * 1).backward()
        log.append("--")
    return log


@case
def post_accumulate_hook_removes_itself():
    x, log = t(2.0), []

    def hook(p):
        log.append(p.grad.item())
        handle.remove()

    handle = x.register_post_accumulate_grad_hook(hook)
    (x * 1).backward()
    (x * 1).backward()
    return log, x.grad


@case
def node_hooks_remove_each_other():
    x, log = t(2.0), []
    y = x * 2
    handles = {}

    def pre(go):
        log.append("pre")
        handles["post"].remove()

    def post(gi, go):
        log.append("post")

    y.grad_fn.register_prehook(pre)
    handles["post"] = y.grad_fn.register_hook(post)
    y.backward(retain_graph=True)
    handles["post"] = y.grad_fn.register_hook(post)
    handles["post2"] = y.grad_fn.register_hook(lambda gi, go: handles["post2"].remove())
    y.grad_fn.register_prehook(lambda go: log.append("pre 2"))
    y.backward()
    return log


@case
def first_hook_of_a_kind_added_while_the_node_waits():
    x, log = t(2.0), []
    y = x * 2
    node = y.grad_fn
    y.register_hook(lambda g: node.register_hook(lambda gi, go: log.append("post")) and None)
    y.register_hook(lambda g: node.register_prehook(lambda go: log.append("pre")) and None)
    y.backward()
    return log


@case
def removal_out_of_order():
    x, log = t(2.0), []
    handles = [x.register_hook(lambda g, i=i: log.append(i)) for i in range(5)]
    for i in (3, 0, 3, 4):
        handles[i].remove()
    (x * 1).backward()
    return log, list(x._backward_hooks) == [handles[1].id, handles[2].id]


@case
def same_function_twice():
    x, log = t(2.0), []
    hook = lambda g: log.append("h")
    a, b = x.register_hook(hook), x.register_hook(hook)
    a.remove()
    (x * 1).backward()
    return log, a.id != b.id


@case
def context_manager():
    x, log = t(2.0), []
    with x.register_hook(lambda g: log.append("inside")) as handle:
        (x * 1).backward()
    (x * 1).backward()
    try:
        with x.register_hook(lambda g: log.append("inside 2")):
            (x * 1).backward()
            raise ValueError
    except ValueError:
        pass
    (x * 1).backward()
    return log, type(handle) is RemovableHandle, len(x._backward_hooks)


@case
def handle_outlives_the_tensor():
    x = t(2.0)
    y = x * 2
    handle = y.register_hook(lambda g: None)
    node = y.grad_fn.register_hook(lambda gi, go: None)
    del x, y
    handle.remove()
    node.remove()
    return handle.hooks_dict_ref(), node.hooks_dict_ref()


@case
def all_removed_then_added_again():
    x, log = t(2.0), []
    y = x * 2
    y.register_hook(lambda g: log.append(1)).remove()
    y.register_hook(lambda g: log.append(2)).remove()
    z = y * 3
    z.backward(retain_graph=True)
    y.register_hook(lambda g: log.append(3))
    z.backward()
    return log


@case
def table_emptied_by_hand():
    x, log = t(2.0), []
    x.register_hook(lambda g: log.append(1))
    x._backward_hooks.clear()
    (x * 1).backward()
    x.register_hook(lambda g: log.append(2))
    (x * 1).backward()
    x._backward_hooks = None
    (x * 1).backward()
    x.register_hook(lambda g: log.append(3))
    (x * 1).backward()
    return log


@case
def ids_are_shared_by_all_kinds():
    x = t(2.0)
    y = x * 2
    ids = [
        x.register_hook(print).id,
        x.register_post_accumulate_grad_hook(print).id,
        y.register_hook(print).id,
        y.grad_fn.register_hook(print).id,
        y.grad_fn.register_prehook(print).id,
    ]
    return [i - ids[0] for i in ids]


@case
def multi_grad_hook_removed_inside():
    a, b, log = t(2.0), t(3.0), []

    def hook(grads):
        log.append([g.item() for g in grads])
        handle.remove()

    handle = torch.autograd.graph.register_multi_grad_hook((a, b), hook)
    (a * b).backward()
    (a * b).backward()
    return log
