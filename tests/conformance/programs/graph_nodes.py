"""Order of execution, node hooks, metadata, gradient edges."""

import torch
import torch.autograd as A
import torch.autograd.graph as G
from torch.autograd import Function

from _log import T, t

log = []


def show(label):
    print(f"[{label}]", *log)
    log.clear()


print("# engine order")


def namer(n):
    return lambda g: log.append(n)


a = t(1.0)
b = t(1.0)
c = t(1.0)
for n, v in zip("abc", (a, b, c)):
    v.register_hook(namer(n))
p = a * b
q = b * c
r = p * q
for n, v in zip("pqr", (p, q, r)):
    v.register_hook(namer(n))
r.backward()
show("r=p*q (p=a*b first, q=b*c second)")
a = t(1.0)
b = t(1.0)
p = a * 2
p.register_hook(namer("p"))
q = b * 3
q.register_hook(namer("q"))
a.register_hook(namer("a"))
b.register_hook(namer("b"))
(p + q).backward()
show("p created before q; p+q")
a = t(1.0)
b = t(1.0)
q = b * 3
q.register_hook(namer("q"))
p = a * 2
p.register_hook(namer("p"))
a.register_hook(namer("a"))
b.register_hook(namer("b"))
(p + q).backward()
show("q created before p; p+q")
a = t(1.0)
b = t(1.0)
c = t(1.0)
for n, v in zip("abc", (a, b, c)):
    v.register_hook(namer(n))
torch.stack([a, b, c]).sum().backward()
show("stack [a,b,c] leaves order")
a = t(1.0)
b = t(1.0)
c = t(1.0)
for n, v in zip("abc", (a, b, c)):
    v.register_hook(namer(n))
((a * b) + c).backward()
show("(a*b)+c")
a = t(1.0)
b = t(1.0)
c = t(1.0)
for n, v in zip("abc", (a, b, c)):
    v.register_hook(namer(n))
(c + (a * b)).backward()
show("c+(a*b)")
a = t(1.0)
x1 = a * 1
x2 = x1 * 2
x3 = a * 3
x4 = x2 * x3
for n, v in dict(a=a, x1=x1, x2=x2, x3=x3, x4=x4).items():
    v.register_hook(namer(n))
x4.backward()
show("diamond: x1,x2 older, x3 newest")
a = t(1.0)
x3 = a * 3
x1 = a * 1
x2 = x1 * 2
x4 = x2 * x3
for n, v in dict(a=a, x1=x1, x2=x2, x3=x3, x4=x4).items():
    v.register_hook(namer(n))
x4.backward()
show("diamond: x3 oldest")
print("roots order:")
a = t(1.0)
u = a * 2
v = a * 3
u.register_hook(namer("u"))
v.register_hook(namer("v"))
A.backward([u, v])
show("backward([u,v])")
print("# Node hooks")
x = t(2.0)
y = x * 3
T("register_hook return type", lambda: type(y.grad_fn.register_hook(lambda gi, go: None)).__name__)


def nh(v, pre=False):
    def f():
        x = t([1.0, 2.0])
        y = x * 3
        if pre:
            y.grad_fn.register_prehook(lambda go: v() if callable(v) else v)
        else:
            y.grad_fn.register_hook(lambda gi, go: v() if callable(v) else v)
        y.sum().backward()
        return x.grad

    return f


for pre in (False, True):
    k = "pre" if pre else "post"
    n = 1 if pre else 2
    T(k + " None", nh(None, pre))
    T(k + " tuple right len", nh(lambda: (torch.ones(2) * 7,) + (None,) * (n - 1), pre))
    T(k + " bare tensor", nh(lambda: torch.ones(2) * 7, pre))
    T(k + " wrong len", nh(lambda: (torch.ones(2),) * (n + 1), pre))
    T(k + " short len", nh(lambda: (), pre))
    T(k + " list", nh(lambda: [torch.ones(2) * 7] + [None] * (n - 1), pre))
    T(k + " wrong shape", nh(lambda: (torch.ones(3),) + (None,) * (n - 1), pre))
    T(k + " wrong dtype", nh(lambda: (torch.ones(2, dtype=torch.float64),) + (None,) * (n - 1), pre))
    T(k + " None element", nh(lambda: (None,) * n, pre))
    T(k + " int element", nh(lambda: (5,) + (None,) * (n - 1), pre))
x = t(2.0)
y = x * t(3.0)
y.grad_fn.register_hook(lambda gi, go: (log.append((gi, go)), None)[1])
y.backward()
show("gi,go content")
x = t(2.0)
y = x * 3
y.grad_fn.register_hook(lambda gi, go: (log.append((gi, go)), None)[1])
y.backward()
show("gi for const input")
x = t(2.0)
y = x * 3
hs = [
    y.grad_fn.register_hook(lambda gi, go: log.append("p1")),
    y.grad_fn.register_hook(lambda gi, go: (log.append("p2"), (gi[0] * 2, gi[1]))[1]),
    y.grad_fn.register_hook(lambda gi, go: log.append(("p3", gi[0].item()))),
]
y.backward(retain_graph=True)
show("post hook chain")
print(x.grad)
hs[1].remove()
hs[1].remove()
y.backward()
show("removed p2")
x = t([1.0, 2.0])
a, b = x.unbind(0)
a.grad_fn.register_prehook(lambda go: log.append(("pre", go)))
a.grad_fn.register_hook(lambda gi, go: log.append(("post", gi, go)))
(b * 3).backward()
show("multi-output node: undefined go")
x = t([1.0, 2.0])
y = x * 3
y.grad_fn.register_hook(lambda gi, go: log.append(("go", go)))
y.register_hook(lambda g: g * 2)
y.grad_fn.register_prehook(lambda go: (go[0] * 5,))
y.sum().backward()
show("post sees modified go")
print("# metadata/name")
n = (t(1.0) * 2).grad_fn
print(n.name(), n.metadata, type(n.metadata))
n.metadata["k"] = 1
print(n.metadata)
T("n.metadata()", lambda: n.metadata())


class F2(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


y = F2.apply(t(1.0))
print(y, y.grad_fn.name(), y.grad_fn, type(y.grad_fn).__mro__[:2], y.grad_fn.metadata, isinstance(y.grad_fn, G.Node))
T("custom metadata", lambda: (y.grad_fn.metadata, y.grad_fn.next_functions))
print("# gradient edge")
x = t(2.0)
e = G.get_gradient_edge(x)
print(e.output_nr, e.node.name(), e.ownership_token)
y = x * 3
e2 = G.get_gradient_edge(y)
print(e2)
print(A.grad(y, e, retain_graph=True), A.grad(y * 2, [e2, x]))
T("edge no rg", lambda: G.get_gradient_edge(torch.ones(1)))
T("backward from edge", lambda: (A.backward(G.get_gradient_edge(x * 3)), x.grad))
T("backward inputs=edge leaf", lambda: (lambda q: ((q * 3).backward(inputs=[G.get_gradient_edge(q)]), q.grad))(t(1.0)))
T(
    "backward inputs=edge nonleaf",
    lambda: (lambda q: ((q * 3).backward(inputs=[G.get_gradient_edge(q)]), q.grad))(t(1.0) * 1),
)
T("grad outputs edge", lambda: (lambda q: A.grad(G.get_gradient_edge(q * 3), q))(t(1.0)))
T("grad edge materialize", lambda: A.grad(x * 3, G.get_gradient_edge(t(1.0) * 2), materialize_grads=True))
T("edge wrong grad shape", lambda: A.grad(G.get_gradient_edge(x * 3), x, grad_outputs=torch.ones(2)))
T(
    "edge custom",
    lambda: (lambda e: (e.output_nr, e.node.name(), e.ownership_token))(G.get_gradient_edge(F2.apply(t(1.0)))),
)
