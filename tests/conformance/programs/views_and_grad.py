"""Views under no_grad, ownership and dtype of .grad."""

import torch

from _log import T, t

x = t([1.0, 2.0])
with torch.no_grad():
    v = x[0]
    w = x.view(2)
    u = (x * 1)[0]
print("view in no_grad of leaf:", v.requires_grad, v.is_leaf, v.grad_fn, v)
y = x * 2
with torch.no_grad():
    v2 = y[0]
print("view in no_grad of nonleaf:", v2.requires_grad, v2.is_leaf, v2.grad_fn, v2)
T("use v in grad mode", lambda: v * 3)


def f():
    (v * 3).backward()
    return x.grad, v.grad


T("bw through no_grad view", f)


def f():
    a = x.clone()
    e = a.expand(3, 2)
    e.add_(1)


T("expand nonleaf inplace", f)


def f():
    a = x.clone()
    with torch.no_grad():
        vv = a[0:1]
        vv.mul_(2)
    print(repr(vv))
    return a


T("view+inplace both in no_grad", f)


# view modified in-place in no_grad while created in grad mode
def f():
    a = x.clone()
    vv = a[0:1]
    with torch.no_grad():
        vv.mul_(2)
    return a, vv, vv.grad_fn


T("view made in grad, modified in no_grad", f)


# detach and in-place
def f():
    a = x.clone()
    d = a.detach()
    d.mul_(5)
    return a


T("detach inplace changes a", f)
# .data
a = x.clone()
d = a.data
print(d.requires_grad, d._version, d is a.data)
# grad tensor identity: first backward steals/assigns; second adds in place
g = torch.ones(2)
a = t([1.0, 2.0])
a.backward(g)
print("grad is g?", a.grad is g, a.grad.data_ptr() == g.data_ptr())
b = a * 1
b.backward(g)
gid = id(a.grad)
ptr = a.grad.data_ptr()
(a * 1).backward(g)
print("in-place accumulate", id(a.grad) == gid, a.grad.data_ptr() == ptr, a.grad, a.grad._version)
(a * a).sum().backward(create_graph=True)
print("create_graph out-of-place", id(a.grad) == gid, a.grad)
# accumulate respects user-set grad
a = t([1.0, 2.0])
myg = torch.tensor([10.0, 10.0])
a.grad = myg
(a * 2).sum().backward()
print(a.grad is myg, myg)
# grad requires_grad?
a = t([1.0, 2.0])
(a**3).sum().backward()
print(a.grad.requires_grad, a.grad.is_leaf)
# dtype conv
a = torch.ones(2, dtype=torch.float64, requires_grad=True)
(a.float() * 3).sum().backward()
print(a.grad)
a = torch.ones(2, dtype=torch.float16, requires_grad=True)
(a * 3).sum().backward()
print(a.grad)
# broadcasting grads
a = t([[1.0, 2.0]])
b = t([[1.0], [2.0]])
(a * b).sum().backward()
print(a.grad, b.grad)
a = t(2.0)
(a * torch.ones(2, 3)).sum().backward()
print(a.grad)
# int tensors mix
a = t([1.0, 2.0])
print(
    (a * torch.tensor([2, 3])),
    (a * torch.tensor([2, 3])).dtype,
    (torch.tensor([1, 2]) * 2.5).dtype,
    (torch.tensor(1) * 2.5),
    torch.tensor([1.0, 2.0], dtype=torch.float64) * t(3.0),
)
# grad_dtype
print(a.grad_dtype)
# freeze mid-graph: requires_grad False after building graph
a = t([1.0, 2.0])
b = a * 2
a.requires_grad_(False)
T("bw after leaf frozen", lambda: (b.sum().backward(), a.grad))
a = t([1.0, 2.0])
b = a * 2
d = b.detach()
T("bw on detached", lambda: d.sum().backward())
# detach_ of intermediate after use
a = t([1.0, 2.0])
b = a * 2
c = b * 3
b.detach_()
T("detach_ later keeps c graph", lambda: (c.sum().backward(), a.grad, b.requires_grad))
