"""Leaf flags, requires_grad, .grad and .data assignment, conversions, copies."""

import copy
import pickle

import torch

from _log import T, t

# --- leaf / non-leaf
x = t([1.0, 2.0])
c = torch.tensor([1.0, 2.0])
y = x * 2
d = y.detach()
z = c * 2
for n, v in dict(x=x, c=c, y=y, d=d, z=z).items():
    print(
        n,
        "is_leaf",
        v.is_leaf,
        "rg",
        v.requires_grad,
        "grad_fn",
        v.grad_fn,
        "retains",
        v.retains_grad,
        "out_nr",
        v.output_nr,
    )
print(repr(x))
print(repr(y))
print(repr(c))
T("rg int", lambda: torch.tensor([1, 2], requires_grad=True))
T("rg_ int", lambda: torch.tensor([1, 2]).requires_grad_())


def f():
    a = torch.tensor([1, 2])
    a.requires_grad = True


T("rg= int", f)


def f():
    y.requires_grad = False


T("nonleaf rg=False", f)
T("nonleaf rg_(False)", lambda: y.requires_grad_(False))
T("nonleaf rg_(True)", lambda: y.requires_grad_(True).requires_grad)


def f():
    x.requires_grad = "a"


T("rg='a'", f)
T("detach_ on nonleaf", lambda: (lambda q: (q.detach_(), q.is_leaf, q.requires_grad, q.grad_fn))(x * 3))
T("detach_ on view", lambda: (x * 2)[0:1].detach_())
T("detach_ on leaf", lambda: t([1.0]).detach_())
T("is x.grad", lambda: x.grad)
T("y.grad nonleaf", lambda: y.grad)
T("y.grad nonleaf again(warns every time?)", lambda: (y.grad, y.grad))


def f():
    y2 = x * 2
    y2.retain_grad()
    return (y2.grad, y2.retains_grad)


T("retain_grad then .grad", f)
T("retain_grad on leaf", lambda: (x.retain_grad(), x.retains_grad))
T("retain_grad no rg", lambda: c.retain_grad())


def f():
    q = x * 2
    q.grad = torch.ones(2)
    return q.grad


T("assign grad on nonleaf", f)


def f():
    x.grad = torch.ones(3)


T("grad wrong shape", f)


def f():
    x.grad = torch.ones(2, dtype=torch.float64)


T("grad wrong dtype", f)


def f():
    x.grad = 1.0


T("grad non tensor", f)


def f():
    x.grad = x


T("grad self", f)


def f():
    x.grad = [1]


T("grad list", f)


def f():
    c.grad = torch.ones(2)
    return c.grad


T("grad on no-rg", f)


def f():
    x.grad = torch.ones(2)
    del x.grad
    return x.grad


T("del grad", f)


def f():
    x.grad = torch.ones(2)
    x.grad = None
    return x.grad


T("grad=None", f)


# grad_fn assign
def f():
    y.grad_fn = None


T("grad_fn set", f)


def f():
    x._backward_hooks = {}


T("_backward_hooks set", f)
T("x.data", lambda: x.data)


def f():
    a = t([1.0, 2.0])
    b = a.data
    b[0] = 5
    return a, a._version, b._version


T("data shares no version", f)


def f():
    a = t([1.0, 2.0])
    b = a.detach()
    b[0] = 5
    return a, a._version, b._version


T("detach shares version", f)


def f():
    a = t([1.0, 2.0])
    a.data = torch.zeros(3)
    return a


T("data= other shape", f)


def f():
    a = t([1.0, 2.0])
    a.data = torch.zeros(2, dtype=torch.float64)
    return a


T("data= other dtype", f)


def f():
    a = t([1.0, 2.0])
    a.data = torch.tensor([1, 2])
    return a


T("data= int on rg", f)


def f():
    a = t([1.0, 2.0])
    b = a * a
    a.data = torch.tensor([5.0, 5.0])
    b.sum().backward()
    return a.grad


T("data= after save (undetected)", f)


def f():
    a = t([1.0, 2.0])
    b = a * a
    a.data.mul_(3)
    b.sum().backward()
    return a.grad


T("data.mul_ after save (undetected, wrong grad)", f)


def f():
    a = t([1.0, 2.0])
    b = a * a
    a.detach().mul_(3)
    b.sum().backward()
    return a.grad


T("detach().mul_ after save (detected)", f)
T("numpy on rg", lambda: x.numpy())
T("numpy nonleaf", lambda: y.numpy())
T("item", lambda: x[0].item())
T("float(rg)", lambda: float(x[0]))
T("tolist", lambda: x.tolist())
T("bool multi", lambda: bool(x))
T("deepcopy leaf", lambda: copy.deepcopy(x))
T("deepcopy nonleaf", lambda: copy.deepcopy(y))
T("pickle nonleaf", lambda: pickle.loads(pickle.dumps(y)))
T("pickle leaf", lambda: pickle.loads(pickle.dumps(x)))
T("torch.tensor(rg)", lambda: torch.tensor(x))
T("x.new_tensor(rg)", lambda: c.new_tensor(x))
T("clone", lambda: x.clone())
T("as_tensor", lambda: torch.as_tensor(x) is x)
