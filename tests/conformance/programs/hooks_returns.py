"""What hooks may return, and errors at registration."""

import torch
import torch.nn as nn

from _log import T, t

log = []


def show(label):
    print(f"[{label}]", *log)
    log.clear()


print("# registration errors")
c = torch.tensor([1.0, 2.0])
T("hook on no-rg", lambda: c.register_hook(lambda g: g))
T("post on no-rg", lambda: c.register_post_accumulate_grad_hook(lambda p: None))
T("post on nonleaf", lambda: (t([1.0]) * 2).register_post_accumulate_grad_hook(lambda p: None))
T("hook under no_grad on rg", lambda: torch.no_grad()(lambda: type(t([1.0]).register_hook(lambda g: g)).__name__)())
T("hook non-callable", lambda: (lambda a: (a.register_hook(3), (a * 2).sum().backward()))(t([1.0])))
T(
    "post non-callable",
    lambda: (lambda a: (a.register_post_accumulate_grad_hook(3), (a * 2).sum().backward()))(t([1.0])),
)
T("hook zero-arg fn", lambda: (lambda a: (a.register_hook(lambda: 0), (a * 2).sum().backward()))(t([1.0])))
print("# return value rules")


def ret(v, shape=(2,), dtype=torch.float32, leaf=True):
    def f():
        a = torch.ones(shape, requires_grad=True, dtype=dtype)
        b = a if leaf else a * 1
        b.register_hook(lambda g: v() if callable(v) else v)
        (b * 3).sum().backward()
        return a.grad

    return f


for leaf in (True, False):
    k = "leaf" if leaf else "nonleaf"
    T(k + " None", ret(None, leaf=leaf))
    T(k + " same shape", ret(lambda: torch.full((2,), 7.0), leaf=leaf))
    T(k + " wrong shape", ret(lambda: torch.ones(3), leaf=leaf))
    T(k + " broadcastable scalar", ret(lambda: torch.tensor(1.0), leaf=leaf))
    T(k + " shape(1,)", ret(lambda: torch.ones(1), leaf=leaf))
    T(k + " shape (2,1)", ret(lambda: torch.ones(2, 1), leaf=leaf))
    T(k + " shape (1,2)", ret(lambda: torch.ones(1, 2), leaf=leaf))
    T(k + " float64", ret(lambda: torch.ones(2, dtype=torch.float64), leaf=leaf))
    T(k + " int64", ret(lambda: torch.ones(2, dtype=torch.int64), leaf=leaf))
    T(k + " python float", ret(1.0, leaf=leaf))
    T(k + " tuple", ret(lambda: (torch.ones(2),), leaf=leaf))
    T(k + " list", ret(lambda: [torch.ones(2)], leaf=leaf))
    T(k + " False", ret(False, leaf=leaf))
    T(k + " numpy", ret(lambda: __import__("numpy").ones(2, dtype="float32"), leaf=leaf))
    T(k + " str", ret("x", leaf=leaf))
    T(k + " requires-grad tensor", ret(lambda: torch.ones(2, requires_grad=True), leaf=leaf))
    T(k + " Parameter", ret(lambda: nn.Parameter(torch.ones(2)), leaf=leaf))
    T(k + " nonfinite", ret(lambda: torch.tensor([float("nan"), 1.0]), leaf=leaf))
T("leaf f64 param, hook returns f32", ret(lambda: torch.ones(2), dtype=torch.float64))
T("expanded view returned", lambda: (lambda g: (g, g.stride()))(ret(lambda: torch.ones(1).expand(2))()))
print("# post-acc return value")


def f():
    a = t([1.0, 2.0])
    a.register_post_accumulate_grad_hook(lambda p: 5)
    (a * 2).sum().backward()
    return a.grad


T("post returns int", f)


def f():
    a = t([1.0, 2.0])
    a.register_post_accumulate_grad_hook(lambda p: torch.ones(2))
    (a * 2).sum().backward()
    return a.grad


T("post returns tensor", f)
print("# in-place modification of grad in hook")


def f():
    a = t([1.0, 2.0])
    a.register_hook(lambda g: g.mul_(10))
    (a * 2).sum().backward()
    return a.grad


T("leaf in-place mul_ returned", f)


def f():
    a = t([1.0, 2.0])

    def h(g):
        g.mul_(10)

    a.register_hook(h)
    (a * 2).sum().backward()
    return a.grad


T("leaf in-place mul_ not returned", f)


def f():
    a = t([1.0, 2.0])
    y = a * 1
    z = y + a

    def h(g):
        g.mul_(10)

    y.register_hook(h)
    z.sum().backward()
    return a.grad


T("shared gradient aliasing (add gives same grad to both)", f)


def f():
    a = t([1.0, 2.0])
    b = t([1.0, 2.0])
    z = a + b

    def h(g):
        g.mul_(10)

    a.register_hook(h)
    z.backward(torch.ones(2))
    return a.grad, b.grad


T("two leaves share the gradient object: mul_ in a's hook", f)


def f():
    go = torch.ones(2)
    a = t([1.0, 2.0])

    def h(g):
        log.append(g is go)
        g.mul_(10)

    a.register_hook(h)
    a.backward(go)
    return a.grad, go


T("user-provided gradient aliasing", f)
show("same object?")
print("# captured grads alive")


def f():
    a = t([1.0, 2.0])
    s = []
    a.register_hook(lambda g: s.append(g))
    (a * 2).sum().backward()
    (a * 2).sum().backward()
    return s, s[0] is a.grad, s[0].data_ptr() == a.grad.data_ptr()


T("hook keeps grad: not stolen", f)
print("# identity of grad objects between hooks")


def f():
    a = t([1.0, 2.0])
    ids = []
    a.register_hook(lambda g: ids.append(id(g)))
    a.register_hook(lambda g: ids.append(id(g)))
    (a * 2).sum().backward()
    return ids[0] == ids[1]


T("same obj between hooks", f)
