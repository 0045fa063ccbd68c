"""Full backward hooks: values, what they may return, odd inputs and outputs, in-place edits."""

import torch
import torch.nn as nn

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


x = t([1.0, 2.0])
print("# values and types")
m = Mul()
m.register_full_backward_hook(fb())
m.register_full_backward_pre_hook(fp())
y = m(x)
print(
    y,
    y.grad_fn.name(),
    y.grad_fn.next_functions[0][0].name(),
    y.grad_fn.next_functions[0][0].next_functions[0][0].name(),
    y._is_view(),
)
y.sum().backward()
show("basic")
m = Mul()
m.register_full_backward_pre_hook(fp())
y = m(x)
print("only pre:", y)
y.sum().backward()
show("only pre")
m = Mul()
m.register_full_backward_hook(lambda m, gi, go: print(type(gi), type(go)))
m(x).sum().backward()
print("# return rules of full_backward_hook")


def ret(f, pre=False, inp=None, mod=Mul):
    def g():
        a = t([1.0, 2.0])
        m = mod()
        if pre:
            m.register_full_backward_pre_hook(lambda m, go: f(go))
        else:
            m.register_full_backward_hook(lambda m, gi, go: f(gi))
        m(a if inp is None else inp(a)).sum().backward()
        return a.grad

    return g


for pre in (False, True):
    k = "pre" if pre else "post"
    T(k + " None", ret(lambda g: None, pre))
    T(k + " tuple", ret(lambda g: (g[0] * 10,), pre))
    T(k + " list", ret(lambda g: [g[0] * 10], pre))
    T(k + " bare tensor len 2", ret(lambda g: g[0] * 10, pre))
    T(k + " wrong len", ret(lambda g: (g[0], g[0]), pre))
    T(k + " empty", ret(lambda g: (), pre))
    T(k + " wrong shape", ret(lambda g: (torch.ones(5),), pre))
    T(k + " wrong dtype", ret(lambda g: (torch.ones(2, dtype=torch.float64),), pre))
    T(k + " (None,)", ret(lambda g: (None,), pre))
    T(k + " scalar", ret(lambda g: (5.0,), pre))
    T(k + " int", ret(lambda g: 5, pre))


def f():
    a = t([4.0])
    m = Mul()
    m.register_full_backward_hook(lambda m, gi, go: gi[0] * 10)
    m(a).sum().backward()
    return a.grad


T("post bare tensor len 1 (shape [1])", f)


def f():
    a = t([[4.0, 5.0]])
    m = Mul()
    m.register_full_backward_hook(lambda m, gi, go: gi[0] * 10)
    m(a).sum().backward()
    return a.grad


T("post bare tensor shape [1,2]", f)


def f():
    a = t([4.0])
    m = Mul()
    m.register_full_backward_pre_hook(lambda m, go: go[0] * 10)
    m(a).sum().backward()
    return a.grad


T("pre bare tensor shape [1]", f)
print("# several hooks chain")
m = Mul()
m.register_full_backward_hook(fb("h1", lambda gi, go: (gi[0] * 10,)))
m.register_full_backward_hook(fb("h2"))
m.register_full_backward_hook(fb("h0"), prepend=True)
m.register_full_backward_pre_hook(fp("p1", lambda go: (go[0] * 2,)))
m.register_full_backward_pre_hook(fp("p2"))
a = t([1.0])
m(a).sum().backward()
show("chain")
print(a.grad)
print("# non requires-grad inputs")
m = nn.Linear(2, 1, bias=False)
m.weight.data.fill_(1.0)
m.register_full_backward_hook(fb())
T("no input rg -> warning", lambda: m(torch.ones(1, 2)).sum().backward())
show("gi is (None,)")
m = nn.Linear(2, 1, bias=False)
m.register_full_backward_hook(lambda m, gi, go: (torch.ones(1, 2),))
T("returns grad", lambda: m(torch.ones(1, 2)).sum().backward())
m = nn.Linear(2, 1, bias=False)
m.register_full_backward_hook(lambda m, gi, go: (None,))
T("returns (None,)", lambda: m(torch.ones(1, 2)).sum().backward())
m = nn.Linear(2, 1, bias=False)
m.register_full_backward_hook(lambda m, gi, go: [None])
T("returns [None]", lambda: m(torch.ones(1, 2)).sum().backward())
m = nn.Linear(2, 1, bias=False)
m.register_full_backward_pre_hook(fp())
T("only pre hook, no input rg -> warns too?", lambda: m(torch.ones(1, 2)).sum().backward())
show("-")
m = Mul()
m.register_full_backward_hook(fb())
T("nothing rg", lambda: m(torch.ones(2)))
show("no fire")
with torch.no_grad():
    y = m(x)
    print("no_grad:", y, y.grad_fn)


class TwoIn(nn.Module):
    def forward(self, a, b, k=None):
        return a * 2 if b is None else a * 2 + b * 3


m = TwoIn()
m.register_full_backward_hook(fb())
a = t([1.0])
m(a, torch.ones(1)).sum().backward()
show("second input no rg")
m(a, None).sum().backward()
show("None input")
m(torch.ones(1), t([1.0])).sum().backward()
show("first no rg")


class TwoInStr(nn.Module):
    def forward(self, a, s, b):
        return a * 2 + b * 3


m = TwoInStr()
m.register_full_backward_hook(fb())
m(a, "str", t([1.0])).sum().backward()
show("non-tensor in the middle")


class Kw(nn.Module):
    def forward(self, a, b=None):
        return a * 2 + b * 3


m = Kw()
m.register_full_backward_hook(fb())
m(t([1.0]), b=t([1.0])).sum().backward()
show("kwargs ignored")
T("only kwargs", lambda: m(a=t([1.0]), b=t([1.0])).sum().backward())
show("all kwargs: gi is empty tuple")
m = Kw()
m.register_full_backward_hook(fb())
T("nested list input", lambda: type("NL", (nn.Module,), dict(forward=lambda s, l: l[0] * 2))())
NL = type("NL", (nn.Module,), dict(forward=lambda s, l: l[0] * 2))
m = NL()
m.register_full_backward_hook(fb())
T("list input: inner tensors ignored", lambda: m([t([1.0])]).sum().backward())
show("-")
print("# outputs")


class TupOut(nn.Module):
    def forward(self, x):
        return x * 2, x * 3, "s", None


m = TupOut()
m.register_full_backward_hook(fb())
m.register_full_backward_pre_hook(fp())
a = t([1.0])
o = m(a)
print(o)
o[0].sum().backward(retain_graph=True)
show("only first output used")
(o[0] + o[1]).sum().backward()
show("both")


class DictOut(nn.Module):
    def forward(self, x):
        return {"o": x * 2}


m = DictOut()
m.register_full_backward_hook(fb())
T("dict out", lambda: m(t([1.0]))["o"].sum().backward())
show("fires?")


class ListOut(nn.Module):
    def forward(self, x):
        return [x * 2]


m = ListOut()
m.register_full_backward_hook(fb())
T("list out", lambda: m(t([1.0]))[0].sum().backward())
show("fires?")
from collections import namedtuple

NT = namedtuple("NT", "a b")


class NTOut(nn.Module):
    def forward(self, x):
        return NT(x * 2, x * 3)


m = NTOut()
m.register_full_backward_hook(fb())
T("namedtuple out", lambda: type(m(t([1.0]))).__name__)


class NoneOut(nn.Module):
    def forward(self, x):
        return None


m = NoneOut()
m.register_full_backward_hook(fb())
T("None out", lambda: m(t([1.0])))


class Pass(nn.Module):
    def forward(self, x):
        return x


m = Pass()
m.register_full_backward_hook(fb())
a = t([1.0])
y = m(a)
print("identity module", y is a, y.grad_fn.name())
y.sum().backward()
show("identity")
print(a.grad)


class Det(nn.Module):
    def forward(self, x):
        return x.detach()


m = Det()
m.register_full_backward_hook(fb())
T("detached output", lambda: m(t([1.0])).requires_grad)


class Ig(nn.Module):
    def __init__(s):
        super().__init__()
        s.w = nn.Parameter(torch.ones(1))

    def forward(s, x):
        return s.w * 2


m = Ig()
m.register_full_backward_hook(fb())
a = t([1.0])
m(a).sum().backward()
show("input not used by forward: hook?")
print(a.grad, m.w.grad)
print("# in-place")


class InIn(nn.Module):
    def forward(self, x):
        x.add_(1)
        return x * 2


m = InIn()
m.register_full_backward_hook(fb())
T("forward modifies input in place", lambda: m(t([1.0]) * 1))
m = Mul()
m.register_full_backward_hook(fb())
T("in-place on output after", lambda: m(t([1.0])).add_(1))


def f():
    y = m(t([1.0]))
    y += 1
    return y


T("+= on output", f)
T(
    "relu_ after Linear with hook",
    lambda: (lambda l: (l.register_full_backward_hook(fb()), nn.ReLU(inplace=True)(l(torch.ones(1, 2)))))(
        nn.Linear(2, 2)
    ),
)
T(
    "inplace ReLU module with hook",
    lambda: (lambda l: (l.register_full_backward_hook(fb()), l(t([1.0]) * 1)))(nn.ReLU(inplace=True)),
)
T(
    "in-place on original input after forward",
    lambda: (lambda a: (lambda y: (a.add_(1), y.sum().backward()))(m(a)))(t([1.0]) * 1),
)
log.clear()


def fh_inplace(mm, i, o):
    o.add_(1)


m2 = Mul()
m2.register_forward_hook(fh_inplace)
m2.register_full_backward_hook(fb())
T("fwd hook in-place on output (before bw hook wraps)", lambda: m2(t([1.0])).sum().backward())
log.clear()
T("view then in-place on output", lambda: m(t([1.0, 2.0]))[0].add_(1))
