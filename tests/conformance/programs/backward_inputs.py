"""inputs= of backward and grad(): what runs, what is filled, what is freed; unused, repeated, foreign inputs."""

import torch
from torch.autograd.graph import get_gradient_edge

from _log import T, t

grad = torch.autograd.grad


def world():
    a, b, c = t([1.0, 2.0]), t([3.0, 4.0]), t([5.0, 6.0])
    p = a * b
    q = p.exp() * c
    log = []
    for name, x in dict(a=a, b=b, c=c, p=p, q=q).items():
        x.register_hook(lambda g, name=name: log.append(name))
    return a, b, c, p, q, log


def case(fn):
    def run():
        a, b, c, p, q, log = world()
        r = fn(a, b, c, p, q)
        return r, [None if x.grad is None else [round(v, 2) for v in x.grad.tolist()] for x in (a, b, c)], log

    return run


for label, fn in {
    "a": lambda a, b, c, p, q: q.sum().backward(inputs=[a]),
    "tensor": lambda a, b, c, p, q: q.sum().backward(inputs=a),
    "tuple": lambda a, b, c, p, q: q.sum().backward(inputs=(a, c)),
    "generator": lambda a, b, c, p, q: q.sum().backward(inputs=(x for x in (a, c))),
    "c a": lambda a, b, c, p, q: q.sum().backward(inputs=[c, a]),
    "twice a": lambda a, b, c, p, q: q.sum().backward(inputs=[a, a]),
    "non-leaf p": lambda a, b, c, p, q: (q.sum().backward(inputs=[p]), p.grad, p.retains_grad)[1:],
    "p and a": lambda a, b, c, p, q: (q.sum().backward(inputs=[p, a]), p.grad)[1:],
    "root itself": lambda a, b, c, p, q: (lambda s: (s.backward(inputs=[s]), s.grad))(q.sum()),
    "leaf root itself": lambda a, b, c, p, q: a.backward(torch.ones(2), inputs=[a]),
    "unused": lambda a, b, c, p, q: p.sum().backward(inputs=[c]),
    "foreign": lambda a, b, c, p, q: q.sum().backward(inputs=[t([1.0])]),
    "no rg": lambda a, b, c, p, q: q.sum().backward(inputs=[torch.ones(1)]),
    "detached": lambda a, b, c, p, q: q.sum().backward(inputs=[a.detach()]),
    "empty": lambda a, b, c, p, q: q.sum().backward(inputs=[]),
    "empty tuple": lambda a, b, c, p, q: q.sum().backward(inputs=()),
    "number": lambda a, b, c, p, q: q.sum().backward(inputs=[1]),
    "None in list": lambda a, b, c, p, q: q.sum().backward(inputs=[None]),
    "view of p": lambda a, b, c, p, q: q.sum().backward(inputs=[p.view(2)]),
    "edge": lambda a, b, c, p, q: q.sum().backward(inputs=[get_gradient_edge(a)]),
    "grad a": lambda a, b, c, p, q: grad(q.sum(), a),
    "grad list": lambda a, b, c, p, q: grad(q.sum(), [c, a, b]),
    "grad p": lambda a, b, c, p, q: grad(q.sum(), [p]),
    "grad p a": lambda a, b, c, p, q: grad(q.sum(), [p, a]),
    "grad dict": lambda a, b, c, p, q: grad(p.sum(), {"x": a, "y": b}),
    "grad unused": lambda a, b, c, p, q: grad(p.sum(), [a, c]),
    "grad unused first": lambda a, b, c, p, q: grad(p.sum(), [c, a]),
    "grad allow_unused": lambda a, b, c, p, q: grad(p.sum(), [a, c], allow_unused=True),
    "grad materialize": lambda a, b, c, p, q: grad(p.sum(), [a, c], materialize_grads=True),
    "grad no rg": lambda a, b, c, p, q: grad(p.sum(), [a, torch.ones(2)]),
    "grad int": lambda a, b, c, p, q: grad(p.sum(), [a, torch.tensor([1])]),
    "grad edge": lambda a, b, c, p, q: grad(p.sum(), [get_gradient_edge(a), b]),
    "grad edge output": lambda a, b, c, p, q: grad(get_gradient_edge(p.sum()), a),
    "grad of a shape mismatch": lambda a, b, c, p, q: grad(p, a, torch.ones(3)),
    "grad tuple output": lambda a, b, c, p, q: grad((p.sum(), q.sum()), (a,)),
    "grad outputs None": lambda a, b, c, p, q: grad(None, a),
    "grad inputs None": lambda a, b, c, p, q: grad(p.sum(), None),
    "grad retain_graph": lambda a, b, c, p, q: (lambda s: (grad(s, a, retain_graph=True), grad(s, b)))(q.sum()),
    "grad twice": lambda a, b, c, p, q: (lambda s: (grad(s, a), grad(s, b)))(q.sum()),
    "grad twice, other branch": lambda a, b, c, p, q: (lambda s: (grad(s, c), grad(s, a)))((p + c).sum()),
    "grad keeps .grad": lambda a, b, c, p, q: (
        q.sum().backward(retain_graph=True),
        grad(q.sum(), a),
        a.grad is not None,
    )[1:],
    "grad frozen": lambda a, b, c, p, q: (lambda s: (b.requires_grad_(False), grad(s, a)))(q.sum()),
    "grad frozen input": lambda a, b, c, p, q: (lambda s: (a.requires_grad_(False), grad(s, a))[1])(q.sum()),
}.items():
    T(label, case(fn))

print("# in-place changed inputs")


def changed_nonleaf():
    a = t([1.0, 2.0])
    y = a * 1
    z = y * 3
    y.add_(1)
    return grad(z.sum(), y)


T("y changed after use", changed_nonleaf)


def changed_then_used():
    a = t([1.0, 2.0])
    y = a * 1
    y.add_(1)
    return grad((y * 3).sum(), [y, a])


T("y changed before use", changed_then_used)


def view_input():
    a = t([1.0, 2.0])
    y = a * 1
    v = y[0]
    return grad(v * 3, [v, y])


T("view as input", view_input)


def freed_part():
    a, b = t(2.0), t(3.0)
    y = a.exp()
    z = y * b
    z.backward(inputs=[b])
    return grad(y, a)


T("below an unvisited node nothing is freed", freed_part)
