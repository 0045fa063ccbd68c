"""Calls of modules: what forward hooks may return, order, always_call, registration hooks."""

import torch
import torch.nn as nn
import torch.nn.modules.module as MM

from _log import T, t

log = []


def show(label):
    print(f"[{label}]", *log)
    log.clear()


class Id(nn.Module):
    def forward(self, x, *a, **k):
        log.append(("forward", a, k))
        return x * 2


def mk():
    return Id()


x = t([1.0, 2.0])
print("# forward_pre return rules")


def pre(v, **kw):
    def f():
        m = Id()
        m.register_forward_pre_hook(lambda *a: v(*a), **kw)
        return m(x)

    return f


T("None", pre(lambda m, i: None))
T("tensor wrapped", pre(lambda m, i: i[0] * 10))
T("tuple", pre(lambda m, i: (i[0] * 10,)))
T("list (not tuple) becomes single arg", pre(lambda m, i: [i[0] * 10]))
T("tuple longer", pre(lambda m, i: (i[0] * 10, 5)))
T("empty tuple", pre(lambda m, i: ()))
T("False", pre(lambda m, i: False))
log.clear()
T("kw None", pre(lambda m, a, k: None, with_kwargs=True))
T("kw tuple2", pre(lambda m, a, k: ((a[0] * 10,), {"z": 1}), with_kwargs=True))
T("kw single tensor", pre(lambda m, a, k: a[0], with_kwargs=True))
T("kw tuple of 1", pre(lambda m, a, k: (a,), with_kwargs=True))
T("kw list2", pre(lambda m, a, k: [a, k], with_kwargs=True))
T("kw bad tuple2 types", pre(lambda m, a, k: (a[0], 5), with_kwargs=True))
log.clear()
print("# forward hook return rules")


def fwd(v, **kw):
    def f():
        m = Id()
        m.register_forward_hook(lambda *a: v(*a), **kw)
        return m(x)

    return f


T("None", fwd(lambda m, i, o: None))
T("tensor", fwd(lambda m, i, o: o * 10))
T("other", fwd(lambda m, i, o: "str"))
T("False", fwd(lambda m, i, o: False))
T("kwargs", fwd(lambda m, a, k, o: (log.append((a, k)), o)[1], with_kwargs=True))
log.clear()
T("wrong arity", fwd(lambda m: None))
log.clear()
m = Id()
m.register_forward_hook(lambda m, i, o: log.append(("fh", i)))
m(x, 3, q=4)
show("inputs seen exclude kwargs")
m = Id()
m.register_forward_pre_hook(lambda m, i: (i[0] * 10,))
m.register_forward_hook(lambda m, i, o: log.append(("fh input is modified one", i[0])))
m(x)
show("fwd hook sees pre-modified input")
m = Id()
m.register_forward_hook(lambda m, i, o: o + 1)
m.register_forward_hook(lambda m, i, o: (log.append(("second sees", o)), o * 100)[1])
print(m(x))
show("chain")


def inpl(m, i, o):
    o.add_(5)


m = Id()
m.register_forward_hook(inpl)
print("in-place output change in fwd hook:", m(x))
print("# order & prepend & globals")
m = Id()
for n, p in (("a", False), ("b", True), ("c", False), ("d", True)):
    m.register_forward_hook(lambda m, i, o, n=n: log.append(n), prepend=p)
    m.register_forward_pre_hook(lambda m, i, n=n: log.append("pre_" + n), prepend=p)
g1 = MM.register_module_forward_pre_hook(lambda m, i: log.append("gpre"))
g2 = MM.register_module_forward_hook(lambda m, i, o: log.append("gfwd"))
m(x)
show("order")
g1.remove()
g2.remove()
T("prepend positional?", lambda: Id().register_forward_hook(lambda *a: None, True))
T("full_backward prepend positional ok", lambda: type(Id().register_full_backward_hook(lambda *a: None, True)).__name__)
print("# always_call")


class Bad(nn.Module):
    def forward(self, x):
        raise RuntimeError("fwd failed")


m = Bad()
m.register_forward_hook(lambda m, i, o: log.append("normal"))
m.register_forward_hook(lambda m, i, o: log.append(("always", o)), always_call=True)
T("always_call", lambda: m(x))
show("log")
m = Bad()


def bh(m, i, o):
    raise ValueError("in hook")


m.register_forward_hook(bh, always_call=True)
T("always_call raising is silenced to a warning", lambda: m(x))
m = Id()
m.register_forward_hook(bh, always_call=True)
m.register_forward_hook(lambda m, i, o: log.append(("always2", o)), always_call=True)
T("forward ok, always hook 1 raises, hook2 still called", lambda: m(x))
show("log")
m = Id()
m.register_forward_pre_hook(lambda m, i: (_ for _ in ()).throw(KeyError("pre")))
m.register_forward_hook(lambda m, i, o: log.append(("always", o)), always_call=True)
T("pre hook raises -> always hook called", lambda: m(x))
show("log")
m = Bad()
m.register_forward_hook(lambda m, a, k, o: log.append(("kw always", a, k, o)), always_call=True, with_kwargs=True)
T("always kw", lambda: m(x))
show("log")
g = MM.register_module_forward_hook(lambda m, i, o: log.append(("galways", type(m).__name__)), always_call=True)
T("global always", lambda: nn.Sequential(Id(), Bad())(x))
show("log")
g.remove()
print("dict after remove", MM._global_forward_hooks_always_called, MM._global_forward_hooks_with_kwargs)
g = MM.register_module_forward_hook(lambda m, a, k, o: log.append(("gkw", k)), with_kwargs=True)
T("global with_kwargs", lambda: Id()(x, z=1))
show("log")
g.remove()
MM._global_forward_hooks_with_kwargs.clear()
print("# hooks removed/added during call")
m = Id()


def h1(mm, i, o):
    log.append("h1")
    mm.register_forward_hook(lambda *a: log.append("added"))


m.register_forward_hook(h1)
m(x)
show("add in fwd hook (same call)")
m(x)
show("next call")
m = Id()
hh = []


def h1(mm, i, o):
    log.append("h1")
    hh[1].remove()


hh.append(m.register_forward_hook(h1))
hh.append(m.register_forward_hook(lambda *a: log.append("h2")))
m(x)
show("h1 removes h2 in same call")
print("# .forward() bypasses hooks")
m = Id()
m.register_forward_hook(lambda *a: log.append("hook"))
m.forward(x)
show("direct forward")
print("# module call w/o forward")
T("no forward", lambda: nn.Module()(x))
T("forward missing in subclass", lambda: type("Q", (nn.Module,), {})()(x))


class NoInit(nn.Module):
    def __init__(self):
        self.l = nn.Linear(1, 1)


T("no super().__init__", NoInit)


class NoInit2(nn.Module):
    def __init__(self):
        self.p = nn.Parameter(torch.ones(1))


T("no super().__init__ param", NoInit2)
print("# registration hooks")
log.clear()
h1 = MM.register_module_buffer_registration_hook(lambda m, n, b: log.append(("buf", n)))
h2 = MM.register_module_module_registration_hook(lambda m, n, s: log.append(("mod", n, type(s).__name__)))
h3 = MM.register_module_parameter_registration_hook(lambda m, n, p: log.append(("par", n)))
nn.Sequential(nn.Linear(1, 1, bias=False), nn.BatchNorm1d(1))
show("registration hooks")
for h in (h1, h2, h3):
    h.remove()
h = MM.register_module_parameter_registration_hook(lambda m, n, p: nn.Parameter(torch.zeros_like(p)))
l = nn.Linear(1, 1)
print(l.weight.shape, l.weight.requires_grad)
h.remove()
print("dir register*:", [a for a in dir(nn.Module) if "register" in a and "hook" in a])
print("hook attrs:", [a for a in nn.Module().__dict__])
