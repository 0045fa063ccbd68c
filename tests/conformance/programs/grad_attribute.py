""".grad: when it is filled, its warning, assignment and deletion, retain_grad, requires_grad after the fact."""

import torch

from _log import T, t

x = t([1.0, 2.0])
y = x * 3
z = (y * y).sum()
y.retain_grad()
y.retain_grad()
z.backward()
print(x.grad, y.grad, y.retains_grad, z.retains_grad)
T("grad of the root", lambda: z.grad)
T("grad of a leaf without rg", lambda: torch.ones(1).grad)


def accumulate():
    a = t([1.0, 2.0])
    seen = []
    for k in range(3):
        (a * (k + 1)).sum().backward()
        seen.append((a.grad.tolist(), a.grad._version, a.grad.requires_grad, a.grad.is_leaf, a.grad.grad_fn))
    return seen


T("accumulate", accumulate)


def retained_accumulates():
    a = t([1.0])
    b = a * 2
    b.retain_grad()
    c = b * 3
    c.sum().backward(retain_graph=True)
    first = b.grad
    c.sum().backward()
    return first, b.grad, first is b.grad, a.grad


T("retained grad of two passes", retained_accumulates)


def assign(a, g):
    a.grad = g
    return a.grad


for label, g in {
    "shape (1, 2)": torch.ones(1, 2),
    "0-dim": torch.tensor(1.0),
    "float64": torch.ones(2, dtype=torch.float64),
    "int64": torch.ones(2, dtype=torch.int64),
    "half": torch.ones(2).half(),
    "tuple": (1.0, 2.0),
    "str": "a",
    "None": None,
    "rg tensor": t([1.0, 1.0]),
    "expanded": torch.ones(1).expand(2),
}.items():
    T(f"assign {label}", assign, t([1.0, 2.0]), g)
T("assign on int tensor", assign, torch.tensor([1, 2]), torch.ones(2))
T("assign on int tensor, int", assign, torch.tensor([1, 2]), torch.tensor([1, 2]))
T("assign on float64", assign, t([1.0], dtype=torch.float64), torch.ones(1))
T("same grad to two leaves", lambda: (lambda a, b, g: assign(a, g) is assign(b, g))(t([1.0]), t([2.0]), torch.ones(1)))


def delete():
    a = t([1.0])
    a.sum().backward()
    del a.grad
    print(a.grad)
    a.sum().backward()
    del a.grad
    del a.grad
    return a.grad


T("delete", delete)


def shared_user_grad():
    g = torch.zeros(2)
    a, b = t([1.0, 2.0]), t([3.0, 4.0])
    a.grad = b.grad = g
    (a * b).sum().backward()
    return g, a.grad is g, b.grad is g


T("one tensor as .grad of two leaves", shared_user_grad)


def grad_is_a_view():
    buffer = torch.zeros(2, 2)
    a = t([1.0, 2.0])
    a.grad = buffer[1]
    (a * 5).sum().backward()
    return buffer, buffer._version, a.grad._is_view()


T("a view of a buffer as .grad", grad_is_a_view)


def frozen():
    a, b = t([1.0]), t([2.0])
    y = a * b
    a.requires_grad_(False)
    y.sum().backward()
    return a.grad, b.grad, a.requires_grad


T("frozen after the graph was built", frozen)


def thawed():
    a, b = t([1.0], rg=False), t([2.0])
    y = a * b
    a.requires_grad_()
    y.sum().backward()
    return a.grad, b.grad


T("thawed after the graph was built", thawed)
T(
    "grad requires grad under create_graph",
    lambda: (lambda a: ((a**2).sum().backward(create_graph=True), a.grad)[1])(t([3.0])),
)


def zero_in_place():
    a = t([1.0, 2.0])
    (a * a).sum().backward()
    g = a.grad
    g.zero_()
    (a * a).sum().backward()
    return g is a.grad, g, g._version


T("zero_ between passes", zero_in_place)


def nonleaf_given():
    a = t([1.0, 2.0])
    b = a * 2
    b.grad = torch.zeros(2)
    b.sum().backward()
    return b.grad, a.grad, b.retains_grad


T("a .grad assigned to a non-leaf is left alone", nonleaf_given)
T("setattr requires_grad on the .grad", lambda: (lambda a: (a.sum().backward(), a.grad.requires_grad_())[1])(t([1.0])))
T(
    "retain_grad on view",
    lambda: (lambda a: (lambda v: (v.retain_grad(), v.sum().backward(), v.grad, a.grad))(a[1:]))(t([1.0, 2.0])),
)
T("grad of half leaf", lambda: (lambda a: ((a * 2.5).sum().backward(), a.grad)[1])(t([1.0, 2.0], dtype=torch.float16)))
T(
    "grad of double leaf",
    lambda: (lambda a: ((a.float() * 2.5).sum().backward(), a.grad)[1])(t([1.0], dtype=torch.float64)),
)
T("grad of unused leaf", lambda: (lambda a, b: ((a * 1).sum().backward(), b.grad))(t([1.0]), t([1.0])))
T("times zero", lambda: (lambda a: ((a * 0).sum().backward(), a.grad)[1])(t([1.0])))
T("leaf as root with gradient", lambda: (lambda a: (a.backward(torch.tensor([5.0, 6.0])), a.grad)[1])(t([1.0, 2.0])))
