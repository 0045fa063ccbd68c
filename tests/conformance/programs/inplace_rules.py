"""In-place operations: refusals, versions, rebased histories, gradients."""

import torch
import torch.autograd.graph as G
import torch.nn.functional as F

from _log import T, t

print("# in-place rules")
x = t([1.0, 2.0])
T("leaf add_", lambda: x.add_(1))
T("leaf +=", lambda: x.__iadd__(1))


def f():
    x[0] = 3


T("leaf setitem", f)


def f():
    x[:] = 3


T("leaf slice setitem", f)
T("view of leaf add_", lambda: x.view(2).add_(1))
T("slice of leaf add_", lambda: x[0:1].add_(1))
T("leaf zero_", lambda: x.zero_())
T("leaf copy_", lambda: x.copy_(torch.zeros(2)))


def f():
    a = t([1.0, 2.0])
    with torch.no_grad():
        a.add_(1)
        a[0] = 9
    return a, a._version, a.is_leaf, a.requires_grad


T("leaf in-place under no_grad", f)


def f():
    a = torch.ones(2)
    b = t([1.0, 2.0])
    a.add_(b)
    return a, a.is_leaf, a.requires_grad, a._version


T("no-rg tensor += rg tensor becomes nonleaf", f)


def f():
    a = torch.ones(2)
    v = a[0:1]
    b = t([5.0])
    v.mul_(b)
    return a, v, a.requires_grad, a.grad_fn.next_functions


T("view inplace makes base require grad", f)


def f():
    a = x.clone()
    v = a[0]
    v.mul_(3)
    return a, v, v.grad_fn, a._version, v._version


T("nonleaf base, view in-place", f)


def f():
    a = x.clone()
    v = a.view(2)
    a.mul_(3)
    return v, v.grad_fn, v.grad_fn.next_functions


T("base in-place regenerates view grad_fn", f)


def f():
    a = x.clone()
    g1 = a.grad_fn
    a.mul_(2)
    return a.grad_fn.name(), a.grad_fn.next_functions[0][0] is g1, a.output_nr


T("in-place rebase history", f)


def f():
    a = x.clone()
    b = a * a
    a.add_(1)
    b.sum().backward()


T("version err", f)


def f():
    a = x.clone()
    b = a * 2
    a.add_(1)
    b.sum().backward()
    return x.grad


T("no saved -> OK", f)


def f():
    a = x.exp()
    a.add_(1)
    a.sum().backward()


T("result saved then inplace (exp)", f)


def f():
    a = x.exp()
    a.mul_(2)
    a.mul_(2)
    a.sum().backward()


T("result saved inplace twice", f)


def f():
    a = x.sigmoid()
    a[0] = 0
    a.sum().backward()


T("sigmoid setitem", f)


def f():
    w = t([[1.0, 2.0], [3.0, 4.0]])
    o = w @ w
    with torch.no_grad():
        w.add_(1)
    o.sum().backward()


T("leaf changed under no_grad", f)


def f():
    w = t([[1.0, 2.0], [3.0, 4.0]]).double().detach().requires_grad_()
    o = w @ w
    with torch.no_grad():
        w.add_(1)
    o.sum().backward()


T("double type name", f)


def f():
    a = x.clone()
    b = F.relu(a)
    b.add_(1)
    b.sum().backward()
    return x.grad


T("relu result modified", f)


def f():
    a = x.clone()
    u = a.unbind(0)
    u[0].mul_(2)


T("multi-output view unbind inplace", f)


def f():
    a = x.clone()
    u = a.split(1)
    u[0].mul_(2)


T("split view inplace", f)


def f():
    a = x.clone()
    u = a.chunk(2)
    u[0].mul_(2)


T("chunk view inplace", f)


def f():
    a = x.clone()
    with torch.no_grad():
        v = a[0:1]
    v.mul_(2)
    return v


T("view created in no_grad then in-place in grad mode", f)


def f():
    a = t([1.0, 2.0])
    with torch.no_grad():
        v = a[0:1]
    v.mul_(2)
    return v


T("view of leaf created in no_grad then in-place", f)


def f():
    a = x.expand(3, 2)
    a.add_(1)


T("expand in-place", f)


def f():
    a = x.clone()
    a.resize_(3)


T("resize_ rg", f)


def f():
    a = x.clone()
    a.set_(torch.ones(3))
    return a


T("set_", f)


def f():
    a = x.clone()
    a.unsqueeze_(0)
    return a


T("unsqueeze_", f)


def f():
    a = x.clone()
    a.t_()
    return a


T("t_", f)


def f():
    a = x.clone()
    a.requires_grad_(False)


T("nonleaf rg_(False)", f)
print("# versions")
a = torch.ones(2)
print(a._version)
a.add_(1)
print(a._version)
a[0] = 3
print(a._version)
v = a[0:1]
v.add_(1)
print(a._version, v._version)
a.zero_()
print(v._version)
a.data.add_(1)
print(a._version)
b = a.detach()
b.add_(1)
print(a._version)
a.fill_(2)
print("fill", a._version)
a.copy_(a.clone())
print("copy_", a._version)
a.requires_grad_()
print("rg_", a._version)
out = torch.empty(2)
torch.add(torch.ones(2), 1, out=out)
print("out=", out._version)
T("out= with rg", lambda: torch.add(x, 1, out=torch.empty(2)))
T("set _version", lambda: setattr(a, "_version", 3))
z = torch.ones(1)
G.increment_version(z)
print("increment", z._version)
G.increment_version([z, z])
print(z._version)
print("# setitem grads")


def f():
    a = t([1.0, 2.0, 3.0])
    b = a * 1
    b[1] = 10.0
    b.sum().backward()
    return a.grad


T("setitem const", f)


def f():
    a = t([1.0, 2.0, 3.0])
    w = t(7.0)
    b = a * 1
    b[1] = w
    (b * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    return a.grad, w.grad


T("setitem tensor", f)


def f():
    a = t([1.0, 2.0, 3.0])
    b = a * 1
    v = b[0:2]
    v *= 2
    (b * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    return a.grad


T("view mul_ grads", f)


def f():
    a = t([1.0, 2.0, 3.0])
    w = t([5.0, 6.0])
    b = a * 1
    v = b[0:2]
    v *= w
    (b * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    return a.grad, w.grad


T("view mul_(w) grads", f)


def f():
    a = t([1.0, 2.0, 3.0])
    b = torch.zeros(3)
    b[0:2] = a[1:]
    print(b)
    (b * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    return a.grad


T("assign into zeros", f)


def f():
    a = torch.zeros(3)
    a.requires_grad_()
    b = a.clone()
    c = b
    b += 1
    return c is b, b.grad_fn


T("+= keeps identity", f)


def f():
    a = t([1.0, 2.0])
    b = a * a
    b += a
    b *= a
    b.sum().backward()
    return a.grad


T("chain of in-place: (a^2+a)*a -> 3a^2+2a", f)


def f():
    a = t([1.0, 2.0])
    b = a * 2
    b.mul_(b)
    b.sum().backward()
    return a.grad


T("self mul_ ", f)


def f():
    a = t([1.0, 2.0])
    b = a * 2
    c = b * b
    b += 1
    try:
        c.sum().backward()
    except RuntimeError as e:
        print(str(e)[:90])
    return a.grad


T("partial", f)
print("# is_view etc")
a = torch.ones(2, 2)
v = a[0]
print(
    v._is_view(),
    v._base is a,
    a.view(4)[1:]._base is a,
    a.clone()._is_view(),
    a.detach()._is_view(),
    a.reshape(4)._is_view(),
    a.t().reshape(4)._is_view(),
)
xx = t([[1.0, 2.0], [3.0, 4.0]])
print(xx.detach()._is_view(), xx.detach()._base, xx[0]._base is xx, xx.reshape(4)._is_view())
