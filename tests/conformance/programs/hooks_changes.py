"""Hooks and in-place edits, autograd.grad, registration and removal during backward, exceptions."""

import torch
import torch.autograd as A

from _log import T, t

log = []


def show(label):
    print(f"[{label}]", *log)
    log.clear()


def L(n):
    def hook(g):
        log.append((n, g.item() if g is not None and g.numel() == 1 else (g if g is None else g.tolist())))

    return hook


print("# in-place and hooks")
x = t(2.0)
y = x * 3
y.register_hook(L("before"))
y.mul_(10)
y.register_hook(L("after"))
(y * 7).backward()
show("hook before/after in-place")
print(x.grad)
x = t(2.0)
y = x * 3
y.register_hook(lambda g: (log.append(("before", g.item())), g * 100)[1])
y.mul_(10)
y.register_hook(lambda g: (log.append(("after", g.item())), g * 2)[1])
(y * 7).backward()
show("values replaced")
print(x.grad)
x = t(2.0)
y = x * 3
y.retain_grad()
y.mul_(10)
(y * 7).backward()
print("retain_grad then in-place:", y.grad)
x = t(2.0)
y = x * 3
y.retain_grad()
y.register_hook(L("h"))
y.mul_(10)
(y * 7).backward()
print("retain+hook then in-place:", y.grad)
show("-")
x = t(2.0)
y = x * 3
y.mul_(10)
y.retain_grad()
(y * 7).backward()
print("in-place then retain:", y.grad)
# hook on base, modify via view
x = t([1.0, 2.0])
y = x * 3
y.register_hook(L("y_before"))
v = y[0]
v.mul_(10)
y.register_hook(L("y_after"))
v.register_hook(L("v"))
(y * torch.tensor([1.0, 2.0])).sum().backward()
show("base hook, view in-place")
print(x.grad)
# hook on view, base in-place
x = t([1.0, 2.0])
y = x * 3
v = y[0]
v.register_hook(L("v_before"))
y.mul_(10)
v.register_hook(L("v_after"))
(v * 2).backward()
show("view hook, base in-place")
print(x.grad)
# leaf hook then in-place under no_grad
x = t(2.0)
x.register_hook(L("x"))
with torch.no_grad():
    x.mul_(5)
(x * 3).backward()
show("leaf hook + no_grad in-place (same leaf)")
# hook on no-rg leaf turned non-leaf
a = torch.ones(1)
a.requires_grad_()
with torch.no_grad():
    pass
# leaf hook and then in-place making it nonleaf? impossible; detach_ on hooked tensor
x = t(2.0)
y = x * 3
y.register_hook(L("y"))
z = y * 4
y.detach_()
z.backward()
show("hook then detach_ later")
print(x.grad, y._backward_hooks)
x = t(2.0)
x.register_hook(L("x"))
y = x * 2
x.requires_grad_(False)
y.backward()
show("rg False after")
print(x.grad)
x = t(2.0)
x.register_hook(L("x"))
x.requires_grad_(False)
x.requires_grad_(True)
(x * 2).backward()
show("rg toggled")
print(x.grad)
print("# hooks under autograd.grad")
x = t(2.0)
w = t(3.0)
x.register_hook(L("x"))
w.register_hook(L("w"))
x.register_post_accumulate_grad_hook(lambda p: log.append("post x"))
y = x * w
y.register_hook(L("y"))
r = A.grad(y * 5, x)
show("grad wrt x only")
print(r, x.grad)
x = t(2.0)
x.register_hook(lambda g: g * 10)
print("leaf hook modifies result of grad:", A.grad(x * 3, x))
x = t(2.0)
y = x * 3
y.register_hook(lambda g: g * 10)
print(
    "nonleaf hook modifies result of grad wrt itself:",
    A.grad(y * 2, y),
    "both",
    (lambda y2: (y2.register_hook(lambda g: g * 10), A.grad(y2 * 2, [y2, x]))[1])(x * 3),
)
x = t(2.0)
y = x * 3
y.retain_grad()
y.register_hook(L("y"))
A.grad(y * 2, y)
show("capture & hook")
print("retain_grad under grad():", y.grad)
x = t(2.0)
y = x * 3
y.retain_grad()
A.grad(y * 2, x)
print("retain_grad under grad() wrt x:", y.grad)
x = t(2.0)
y = x * 3
y.grad_fn.register_prehook(lambda go: log.append("node_pre"))
y.grad_fn.register_hook(lambda gi, go: log.append("node_post"))
y.register_hook(L("tensor"))
A.grad(y * 2, y)
show("grad wrt y: node hooks?")
x = t(2.0)
acc = (x * 1).grad_fn.next_functions[0][0]
acc.register_prehook(lambda go: (log.append(("acc_pre", go[0].item())), (go[0] * 7,))[1])
acc.register_hook(lambda gi, go: log.append("acc_post"))
print(A.grad(x * 2, x))
show("AccumulateGrad hooks under grad()")
(x * 2).backward()
show("under backward")
print(x.grad)
x = t(2.0)
y = x * 3
y.register_hook(L("y"))
y.grad_fn.register_hook(lambda gi, go: log.append("node_post_y"))
(y * 2).backward(inputs=[y])
show("backward(inputs=[nonleaf]) calls its grad_fn?")
print(y.grad, x.grad)
x = t(2.0)
x.register_hook(L("x"))
x.register_post_accumulate_grad_hook(lambda p: log.append("post"))
(x * 2).backward(inputs=[x])
show("backward(inputs=[leaf])")
print("# registering/removing during backward")
x = t(2.0)
y = x * 3


def h(g):
    log.append("y")
    x.register_hook(L("x_added_in_y_hook"))


y.register_hook(h)
y.backward()
show("add hook on later tensor while running")
x = t(2.0)


def h(g):
    log.append("h1")
    x.register_hook(L("x_self_added"))


x.register_hook(h)
T("add hook on same tensor while its hooks run", lambda: (x * 3).backward())
show("1")
(x * 3).backward()
show("2nd backward")
x = t(2.0)
hs = []


def h1(g):
    log.append("h1")
    hs[1].remove()


hs.append(x.register_hook(h1))
hs.append(x.register_hook(L("h2")))
T("h1 removes h2", lambda: (x * 3).backward())
show("removed later hook during iteration")
x = t(2.0)
hs = []


def h1(g):
    log.append("self")
    hs[0].remove()


hs.append(x.register_hook(h1))
x.register_hook(L("h2"))
T("hook removes itself", lambda: (x * 3).backward())
show("1")
(x * 3).backward()
show("2")
x = t(2.0)
y = x * 3
hx = x.register_hook(L("x"))


def h(g):
    log.append("y removes x")
    hx.remove()


y.register_hook(h)
y.backward()
show("remove later tensor's hook")
x = t(2.0)


def p1(p):
    log.append("p1")
    p.register_post_accumulate_grad_hook(lambda q: log.append("p2_added"))


x.register_post_accumulate_grad_hook(p1)
T("post adds post", lambda: (x * 3).backward())
show("post")
print("# exceptions")
x = t(2.0)
w = t(3.0)
y = x * w
z = y * 5


def boom(g):
    raise ValueError("boom")


x.register_hook(L("x"))
w.register_hook(L("w"))
y.register_hook(boom)
T("exc in hook", lambda: z.backward())
show("nothing below ran")
print(x.grad, w.grad)
T("graph freed partially?", lambda: z.backward())
x = t(2.0)
w = t(3.0)
w.register_hook(boom)
y = (x * w) ** 2
T("exc in leaf w hook", lambda: y.backward())
print("x.grad", x.grad, "w.grad", w.grad)
x = t(2.0)
w = t(3.0)
x.register_hook(boom)
y = (x * w) ** 2
T("exc in leaf x hook", lambda: y.backward())
print("x.grad", x.grad, "w.grad", w.grad)


class MyE(Exception):
    pass


def boom2(g):
    raise MyE("custom")


x = t(2.0)
x.register_hook(boom2)
T("custom exception type preserved", lambda: (x * 2).backward())


def boom3(p):
    raise MyE("post")


x = t(2.0)
x.register_post_accumulate_grad_hook(boom3)
T("exc in post: grad was accumulated", lambda: (x * 2).backward())
print(x.grad)
x = t(2.0)
y = x**2
h = y.register_hook(boom2)
T("exc with retain_graph", lambda: y.backward(retain_graph=True))
h.remove()
T("after removing, retry ok", lambda: (y.backward(), x.grad))
x = t(2.0)
y = x**2
h = x.register_hook(boom2)
T("exc at leaf, no retain", lambda: y.backward())
h.remove()
T("retry after leaf exc (node already freed)", lambda: y.backward())
x = t(2.0)
y = x**2
h = y.register_hook(boom2)
T("exc at y (its own prehook), no retain", lambda: y.backward())
h.remove()
T("retry", lambda: (y.backward(), x.grad))


def kb(g):
    raise KeyboardInterrupt


x = t(2.0)
x.register_hook(kb)
T("KeyboardInterrupt", lambda: (x * 2).backward())
