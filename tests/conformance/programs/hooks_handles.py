"""Handles of hooks, copies and pickles of hooked tensors, reentrant hooks, post-accumulate hooks."""

import copy
import gc
import pickle
import weakref
from collections import OrderedDict

import torch
import torch.autograd as A
import torch.nn as nn
from torch.utils.hooks import RemovableHandle

from _log import T, t

log = []


def show(label):
    print(f"[{label}]", *log)
    log.clear()


print("# handles")
x = t(2.0)
print(x._backward_hooks, x._post_accumulate_grad_hooks)
h = x.register_hook(lambda g: log.append("a"))
print(type(h), type(x._backward_hooks), list(x._backward_hooks) == [h.id], h.id, RemovableHandle.next_id)
h2 = x.register_hook(lambda g: log.append("b"))
print(h2.id - h.id)
p = x.register_post_accumulate_grad_hook(lambda p: log.append("p"))
print(p.id - h2.id, list(x._post_accumulate_grad_hooks) == [p.id], type(x._post_accumulate_grad_hooks))
h.remove()
h.remove()
(x * 1).backward()
show("removed twice ok")
h2.remove()
print("after removing all:", x._backward_hooks, bool(x._backward_hooks))
(x * 1).backward()
show("none but p")
with x.register_hook(lambda g: log.append("ctx")) as hh:
    (x * 1).backward()
    show("inside with")
    print(type(hh))
(x * 1).backward()
show("outside with")


def f():
    with x.register_hook(lambda g: log.append("ctx")):
        raise ValueError("in with")


T("with + exception", f)
(x * 1).backward()
show("still removed")
print("# weakref")
x = t(2.0)
h = x.register_hook(lambda g: None)
print(h.hooks_dict_ref() is x._backward_hooks)
del x
gc.collect()
print("dead", h.hooks_dict_ref())
T("remove after tensor died", h.remove)
y = t(2.0) * 3
h = y.register_hook(lambda g: None)
print("deleting handle keeps hook:")
x = t(2.0)
h = x.register_hook(lambda g: log.append("alive"))
del h
gc.collect()
(x * 1).backward()
show("handle deleted")
print("# nonleaf tensor object deleted; hook still fires through the graph")
x = t(2.0)
y = x * 3
y.register_hook(lambda g: log.append("y"))
z = y * 2
del y
gc.collect()
z.backward()
show("y deleted")
x = t(2.0)
y = x * 3
y.retain_grad()
wr = weakref.ref(y)
z = y * 2
del y
gc.collect()
T("retain_grad on deleted tensor", lambda: z.backward())
print(wr())
print("# leaf object deleted")


def mk():
    x = t(2.0)
    x.register_hook(lambda g: log.append("x"))
    return x * 3


y = mk()
gc.collect()
y.backward()
show("leaf deleted but in graph")
print("# order with OrderedDict manip")
x = t(2.0)
a = x.register_hook(lambda g: log.append("a"))
b = x.register_hook(lambda g: log.append("b"))
x._backward_hooks.move_to_end(b.id, last=False)
(x * 1).backward()
show("move_to_end b first")
T("register_hook has prepend?", lambda: x.register_hook(lambda g: g, prepend=True))
print("# pickle / copy of handle")


def fwd_hook(m, i, o):
    pass


hh = RemovableHandle(OrderedDict())
print(hh.hooks_dict_ref())
T("getstate dead", lambda: hh.__getstate__())
hh3 = pickle.loads(pickle.dumps(hh))
print(hh3.hooks_dict_ref(), RemovableHandle.next_id >= hh3.id + 1)
T("RemovableHandle(dict)", lambda: RemovableHandle({}))
print("# copying tensors with hooks")
x = t(2.0)
x.register_hook(lambda g: log.append("x"))
xc = copy.deepcopy(x)
print("deepcopy hooks:", xc._backward_hooks)
xd = copy.copy(x)
print("copy.copy", xd._backward_hooks is x._backward_hooks, xd is x)
T("pickle tensor with (lambda) hook", lambda: pickle.loads(pickle.dumps(x))._backward_hooks)


@torch.utils.hooks.unserializable_hook
def un(g):
    pass


x2 = t(2.0)
x2.register_hook(un)
T("unserializable_hook", lambda: pickle.loads(pickle.dumps(x2))._backward_hooks)
pp = nn.Parameter(torch.ones(1))
pp.register_hook(fwd_hook)
T("param pickle", lambda: pickle.loads(pickle.dumps(pp))._backward_hooks)
print(copy.deepcopy(pp)._backward_hooks)
pp = nn.Parameter(torch.ones(1))
pp.register_post_accumulate_grad_hook(lambda p: None)
print("deepcopy post hooks:", copy.deepcopy(pp)._post_accumulate_grad_hooks)
T("pickle param w/ post hook", lambda: pickle.loads(pickle.dumps(pp))._post_accumulate_grad_hooks)
print("# y.clone / detach / view do not inherit hooks")
x = t(2.0)
x.register_hook(lambda g: log.append("x"))
print(x.detach()._backward_hooks, x.clone()._backward_hooks, x.view(1)._backward_hooks)
print("# hook on tensor alias (view_as) separate")
x = t(2.0)
y = x * 1
v = y.view_as(y)
v.register_hook(lambda g: log.append("v"))
y.register_hook(lambda g: log.append("y"))
(y * 2 + v * 3).backward()
show("view & base")
print("# multiple outputs: hook on each output of unbind")
x = t([1.0, 2.0])
a, b = x.unbind(0)
a.register_hook(lambda g: log.append(("a", g)))
b.register_hook(lambda g: log.append(("b", g)))
(a * 3).backward()
show("only a used")
print(x.grad)
x = t([1.0, 2.0])
a, b = x.unbind(0)
a.register_hook(lambda g: log.append(("a", g)))
b.register_hook(lambda g: log.append(("b", g)))
(a * 3 + b * 4).backward()
show("both")
x = t([1.0, 2.0])
a, b = x.unbind(0)
b.retain_grad()
(a * 3).backward()
print("retain_grad on unused output:", b.grad)
print("# create_graph: hook gets grads with graph")
x = t(2.0)
x.register_hook(lambda g: g * g)
(g,) = A.grad(x**3, x, create_graph=True)
print(g)
print(A.grad(g, x))
print("# hook using enable_grad; hook calling backward (reentrant)")
x = t(2.0)
w = t(3.0)


def h(g):
    (w * g.detach()).backward()


hd = x.register_hook(h)
T("reentrant backward without enable_grad", lambda: (x * 5).backward())
hd.remove()


def h(g):
    with torch.enable_grad():
        (w * g.detach()).backward()
        log.append(("reentrant", w.grad.item()))


x.register_hook(h)
(x * 5).backward()
show("reentrant backward in hook")
x = t(2.0)


def h(g):
    with torch.enable_grad():
        q = t(4.0)
        (r,) = A.grad(q**2, q)
        log.append(r.item())


x.register_hook(h)
(x * 5).backward()
show("autograd.grad in a hook")
x = t(2.0)


def h(g):
    log.append((x * 2).requires_grad)


x.register_hook(h)
(x * 5).backward()
show("ops in hook tracked?")
(x * 5).backward(create_graph=True)
show("ops tracked w/ create_graph")
print("# optimizer zero_grad & hooks; grad=None/zero in post hook")
p = nn.Parameter(torch.ones(2))
p.register_post_accumulate_grad_hook(lambda q: (q.data.add_(q.grad, alpha=-0.1), setattr(q, "grad", None)) and None)
(p * 3).sum().backward()
print(p, p.grad)
p = nn.Parameter(torch.ones(2))
p.register_post_accumulate_grad_hook(lambda q: log.append(torch.is_grad_enabled()))
(p * 3).sum().backward()
(p * 3).sum().backward(create_graph=True)
show("grad mode in post hook")
p = t([1.0, 2.0])
p.register_post_accumulate_grad_hook(lambda q: log.append(("post", q.grad.tolist(), q is p)))
A.backward([(p * 2).sum(), (p * 3).sum(), (p * p).sum()])
show("several uses -> once")
v = t([0.0, 0.0, 0.0])
v.register_post_accumulate_grad_hook(lambda p: p.add_(p.grad, alpha=-0.01) and None)
T("post hook returning tensor via add_", lambda: v.backward(torch.tensor([1.0, 2.0, 3.0])))
v = t([0.0, 0.0, 0.0])
v.register_post_accumulate_grad_hook(lambda p: p.add_(p.grad, alpha=-0.01))
T("docs example lambda p: p.add_()", lambda: (v.backward(torch.tensor([1.0, 2.0, 3.0])), v))
