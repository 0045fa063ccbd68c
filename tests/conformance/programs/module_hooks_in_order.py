"""Module hooks: shared modules, order, legacy hooks, global hooks, what keeps what alive."""

import copy
import gc
import warnings

import torch
import torch.autograd as A
import torch.nn as nn
import torch.nn.modules.module as MM

from _log import T, t

log = []


def show(label):
    print(f"[{label}]", *log)
    log.clear()


def r(v):
    if v is None:
        return None
    if isinstance(v, torch.Tensor):
        return v.tolist()
    if isinstance(v, (tuple, list)):
        return type(v)(r(e) for e in v)
    return v


def fb(n="fb", ret=None):
    def hook(m, gi, go):
        log.append((n, r(gi), r(go)))
        return ret(gi, go) if ret else None

    return hook


def fp(n="fp", ret=None):
    def hook(m, go):
        log.append((n, r(go)))
        return ret(go) if ret else None

    return hook


class Mul(nn.Module):
    def forward(self, x, *a):
        return x * 3


class TwoUse(nn.Module):
    def forward(self, a, b):
        return a * 2


m = TwoUse()
m.register_full_backward_hook(fb())
m(t([1.0]), t([1.0])).sum().backward()
show("2nd input rg but unused in forward")


class TwoOutU(nn.Module):
    def forward(self, a):
        return a * 2, a * 3


m = TwoOutU()
m.register_full_backward_hook(fb())
m(t([1.0]))[1].sum().backward()
show("only second output")
print("# shared module called twice")
m = Mul()
m.register_full_backward_hook(fb())
m.register_full_backward_pre_hook(fp())
a = t([1.0])
m(m(a)).sum().backward()
show("m(m(a))")
print(a.grad)
a = t([1.0])
(m(a) + m(a) * 10).sum().backward()
show("m(a)+10*m(a)")
print(a.grad)
m = nn.Linear(1, 1, bias=False)
m.weight.data.fill_(2.0)
m.register_full_backward_hook(fb())
m.weight.register_hook(lambda g: log.append(("w", g.item())))
m.weight.register_post_accumulate_grad_hook(lambda p: log.append(("wpost", p.grad.item())))
a = t([[1.0]])
m(m(a)).sum().backward()
show("shared linear: weight hook once with sum")
print("# two forwards, one backward; retain graph twice")
m = Mul()
m.register_full_backward_hook(fb())
a = t([1.0])
y = m(a).sum()
y.backward(retain_graph=True)
y.backward()
show("2 backwards through same graph")
print("# hook added after forward does not fire; removed after forward still fires?")
m = Mul()
a = t([1.0])
y = m(a)
m.register_full_backward_hook(fb("late"))
y.sum().backward()
show("registered after forward")
m = Mul()
h = m.register_full_backward_hook(fb("removed"))
a = t([1.0])
y = m(a)
h.remove()
y.sum().backward()
show("removed after forward")
m = Mul()
h = m.register_full_backward_hook(fb("first"))
a = t([1.0])
y = m(a)
m.register_full_backward_hook(fb("late2"))
y.sum().backward()
show("second added after forward")
print("# weights grads timing: full_backward_hook vs weight grad accumulate")
m = nn.Linear(2, 1)
m.register_full_backward_hook(
    lambda mm, gi, go: log.append(("fb", mm.weight.grad is not None, mm.bias.grad is not None))
)
m(t([[1.0, 2.0]])).sum().backward()
show("param.grad present when full hook fires (input rg)?")
m = nn.Linear(2, 1)
m.register_full_backward_hook(
    lambda mm, gi, go: log.append(("fb", mm.weight.grad is not None, mm.bias.grad is not None))
)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    m(torch.ones(1, 2)).sum().backward()
show("input no rg")
m = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
for n, mm in m.named_modules():
    mm.register_full_backward_hook(lambda q, gi, go, n=n: log.append(("fb", n or "root")))
    mm.register_full_backward_pre_hook(lambda q, go, n=n: log.append(("fp", n or "root")))
    mm.register_forward_pre_hook(lambda q, i, n=n: log.append(("pre", n or "root")))
    mm.register_forward_hook(lambda q, i, o, n=n: log.append(("fwd", n or "root")))
for n, p in m.named_parameters():
    p.register_hook(lambda g, n=n: log.append(("hook", n)))
    p.register_post_accumulate_grad_hook(lambda g, n=n: log.append(("post", n)))
x = t([[1.0, 2.0]])
x.register_hook(lambda g: log.append(("hook", "x")))
y = m(x)
y.register_hook(lambda g: log.append(("hook", "y")))
y.sum().backward()
show("FULL ORDER, input rg")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    m(torch.ones(1, 2)).sum().backward()
show("FULL ORDER, input no rg")
print("# legacy backward hook")
m = Mul()
m.register_backward_hook(fb("legacy"))
T("single-node", lambda: m(t([1.0])).sum().backward())
show("-")


class Two(nn.Module):
    def forward(self, x):
        return (x * 3) ** 2


m = Two()
m.register_backward_hook(fb("legacy"))
T("multi-node", lambda: m(t([2.0])).sum().backward())
show("-")
m = Two()
m.register_backward_hook(fb("legacy", lambda gi, go: (gi[0] * 10,)))
a = t([2.0])
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    m(a).sum().backward()
show("replace")
print(a.grad)
m = Two()
m.register_backward_hook(fb("legacy", lambda gi, go: gi[0] * 10))
T("bare tensor", lambda: m(t([2.0])).sum().backward())
log.clear()
m = Two()
m.register_backward_hook(fb("legacy", lambda gi, go: (gi[0], gi[0])))
T("wrong len", lambda: m(t([2.0])).sum().backward())
log.clear()
m = nn.Linear(2, 1)
with torch.no_grad():
    m.weight.copy_(torch.tensor([[0.5, -2.0]]))
m.register_backward_hook(fb("lin"))
T("Linear legacy", lambda: m(t([[1.0, 2.0]])).sum().backward())
show("grad_input = (bias, x, W.T) of Addmm")
m = nn.Linear(2, 1)
with torch.no_grad():
    m.weight.copy_(torch.tensor([[0.5, -2.0]]))
m.register_backward_hook(fb("lin"))
T("Linear legacy no input rg", lambda: m(torch.ones(1, 2)).sum().backward())
show("-")
m = TwoOutU()
m.register_backward_hook(fb("l"))
T("tuple out, different nodes", lambda: sum(m(t([1.0]))).sum().backward())
show("-")


class DictOut(nn.Module):
    def forward(self, x):
        return {"o": x * 2}


m = DictOut()
m.register_backward_hook(fb("l"))
T("dict out", lambda: m(t([1.0]))["o"].sum().backward())
show("-")


class ListOut(nn.Module):
    def forward(self, x):
        return [x * 2]


m = ListOut()
m.register_backward_hook(fb("l"))
T("list out", lambda: m(t([1.0]))[0].sum().backward())
show("-")


class StrIn(nn.Module):
    def forward(self, x, s):
        return x * 2


m = StrIn()
m.register_backward_hook(fb("l"))
T("non-tensor input", lambda: m(t([1.0]), "s").sum().backward())
show("-")


class Nested(nn.Module):
    def forward(self, x):
        return x


m = Nested()
m.register_backward_hook(fb("l"))
T("output == input nonleaf", lambda: m(t([1.0]) * 2).sum().backward())
show("-")
m = Nested()
m.register_backward_hook(fb("l"))
T("output == leaf input", lambda: m(t([1.0])).sum().backward())
show("-")
m = Mul()
m.register_backward_hook(fb("l"))
T("no rg", lambda: m(torch.ones(1)).sum())
show("-")
m = Mul()
m.register_backward_hook(fb("l"))
y = m(t([1.0]))
y.add_(1) if False else None
T("in-place on output OK with legacy", lambda: m(t([1.0])).add_(1).sum().backward())
show("-")
print("# mixing")
m = Mul()
m.register_full_backward_hook(fb())
T("legacy after full", lambda: m.register_backward_hook(fb()))
m = Mul()
m.register_backward_hook(fb())
T("full after legacy", lambda: m.register_full_backward_hook(fb()))
T("full_pre after legacy ok", lambda: type(m.register_full_backward_pre_hook(fp())).__name__)
m = Mul()
h = m.register_full_backward_hook(fb())
h.remove()
T("legacy after removed full (flag sticky)", lambda: m.register_backward_hook(fb()))
h = MM.register_module_full_backward_hook(fb("g"))
T("global legacy after global full", lambda: MM.register_module_backward_hook(fb()))
m = Mul()
m.register_backward_hook(fb("local legacy"))
T("global full + local legacy", lambda: m(t([1.0])).sum().backward())
show("-")
h.remove()
print(MM._global_is_full_backward_hook)
T("global legacy after removal (sticky)", lambda: MM.register_module_backward_hook(fb()))
MM._global_is_full_backward_hook = None
h = MM.register_module_backward_hook(fb("g"))
T("global full after legacy", lambda: MM.register_module_full_backward_hook(fb()))
h.remove()
MM._global_is_full_backward_hook = None
print("# global order")
hs = [MM.register_module_full_backward_pre_hook(fp("gfp")), MM.register_module_full_backward_hook(fb("gfb"))]
m = Mul()
m.register_full_backward_hook(fb("lfb"), prepend=True)
m.register_full_backward_pre_hook(fp("lfp"), prepend=True)
m(t([1.0])).sum().backward()
show("global first")
nn.Sequential(Mul(), Mul())(t([1.0])).sum().backward()
show("global on sequential")
[h.remove() for h in hs]
MM._global_is_full_backward_hook = None
print("# double backward with module hooks")


class Cube(nn.Module):
    def forward(self, x):
        return x**3


m = Cube()
m.register_full_backward_hook(fb())
m.register_full_backward_pre_hook(fp())
a = t([2.0])
(g,) = A.grad(m(a).sum(), a, create_graph=True)
show("first")
print(g)
g.sum().backward()
show("double")
print(a.grad)
print("# autograd.grad with module hooks: only weight")
m = nn.Linear(1, 1)
with torch.no_grad():
    m.weight.fill_(0.5)
m.register_full_backward_hook(fb())
m.register_full_backward_pre_hook(fp())
a = t([[2.0]])
A.grad(m(a).sum(), m.weight)
show("grad wrt weight only: full hook fires?")
A.grad(m(a).sum(), a)
show("grad wrt input")
A.grad(m(a).sum(), m.bias)
show("grad wrt bias only")
print("# hook exceptions in backward")


def boom(*a):
    raise ValueError("boom")


m = Mul()
m.register_full_backward_hook(boom)
T("exc", lambda: m(t([1.0])).sum().backward())
m = Mul()
m.register_full_backward_pre_hook(boom)
T("exc pre", lambda: m(t([1.0])).sum().backward())
print("# deepcopy/pickle of module w/ hooks; removed module ref")
m = Mul()
m.register_full_backward_hook(fb("cp"))
m2 = copy.deepcopy(m)
m2(t([1.0])).sum().backward()
show("deepcopied module fires")
m = Mul()
m.register_backward_hook(fb("leg"))
y = m(t([1.0]))
m = None
gc.collect()
T("legacy: dead module", lambda: y.sum().backward())
show("-")
m = Mul()
m.register_full_backward_hook(fb("full"))
y = m(t([1.0]))
m = None
gc.collect()
T("full: dead module kept alive", lambda: y.sum().backward())
show("-")
