"""autograd.grad and autograd.backward: arguments, several roots, create_graph."""

from collections import OrderedDict

import torch
import torch.autograd as A

from _log import T, t

print("# autograd.grad")
x = t([1.0, 2.0])
w = t([3.0, 4.0])
c = torch.tensor([1.0, 2.0])
T("basic", lambda: A.grad((x * w).sum(), [x, w]))
T("single input returns tuple", lambda: A.grad((x * w).sum(), x))
T("grad leaves .grad alone", lambda: (A.grad((x * w).sum(), x), x.grad)[1])
T("unused default", lambda: A.grad((x * 2).sum(), [x, w]))
T("unused allow", lambda: A.grad((x * 2).sum(), [x, w], allow_unused=True))
T("unused materialize", lambda: A.grad((x * 2).sum(), [x, w], materialize_grads=True))
T("unused materialize create_graph", lambda: A.grad((x * 2).sum(), [x, w], materialize_grads=True, create_graph=True))
T("materialize + allow_unused False", lambda: A.grad((x * 2).sum(), [x, w], materialize_grads=True, allow_unused=False))
T("input no rg", lambda: A.grad((x * 2).sum(), c))
T("input no rg allow_unused", lambda: A.grad((x * 2).sum(), c, allow_unused=True))
T("empty inputs", lambda: A.grad((x * 2).sum(), []))
T("empty outputs", lambda: A.grad([], [x]))
T("empty outputs allow_unused", lambda: A.grad([], [x], allow_unused=True))
T("output no grad", lambda: A.grad(c.sum(), x))
T("outputs list multi", lambda: A.grad([(x * 2).sum(), (x * 3).sum()], x))
T("outputs list same twice", lambda: (lambda y: A.grad([y, y], x))((x * 2).sum()))
T("nonscalar no grad_outputs", lambda: A.grad(x * 2, x))
T("grad_outputs", lambda: A.grad(x * 2, x, grad_outputs=torch.tensor([1.0, 10.0])))
T("grad_outputs list", lambda: A.grad([x * 2], [x], grad_outputs=[torch.tensor([1.0, 10.0])]))
T("grad_outputs None elt nonscalar", lambda: A.grad([x * 2, (x * 3).sum()], [x], grad_outputs=[None, None]))
T("grad_outputs mix", lambda: A.grad([x * 2, (x * 3).sum()], [x], grad_outputs=[torch.ones(2), None]))
T("grad_outputs wrong len", lambda: A.grad([(x * 2).sum(), (x * 3).sum()], [x], grad_outputs=[torch.tensor(1.0)]))
T("grad_outputs too long", lambda: A.grad([(x * 2).sum()], [x], grad_outputs=[torch.tensor(1.0), torch.tensor(1.0)]))
T("grad_outputs bad shape", lambda: A.grad([x * 2], [x], grad_outputs=[torch.ones(3)]))
T("grad_outputs float", lambda: A.grad([x * 2], [x], grad_outputs=[1.0]))
T("same input twice", lambda: A.grad((x * 2).sum(), [x, x]))
T("grad of itself", lambda: (lambda y: A.grad(y, y))((x * 2).sum()))
T("grad of leaf wrt itself", lambda: A.grad(x.sum() * 1, x))
T("grad leaf==output", lambda: (lambda a: A.grad(a, a))(t(2.0)))
T("grad wrt nonleaf", lambda: (lambda y: A.grad((y**2).sum(), y))(x * 2))
T("grad wrt both nonleaf & leaf", lambda: (lambda y: A.grad((y**2).sum(), [y, x]))(x * 2))
T("dict inputs", lambda: A.grad((x * w).sum(), {"a": x, "b": w}))
T("OrderedDict inputs", lambda: A.grad((x * w).sum(), OrderedDict(a=x)))
T("only_inputs False", lambda: A.grad((x * w).sum(), x, only_inputs=False))
T("is_grads_batched", lambda: A.grad(x * w, [x, w], grad_outputs=torch.eye(2), is_grads_batched=True))
T("is_grads_batched mismatch", lambda: A.grad(x * w, [x, w], grad_outputs=torch.ones(2, 3), is_grads_batched=True))
T("grad nontensor output", lambda: A.grad(1.0, x))
T("grad nontensor input", lambda: A.grad((x * 2).sum(), [1.0]))
T("grad None input", lambda: A.grad((x * 2).sum(), [None]))
print("# backward(inputs)")


def f():
    a = t([1.0, 2.0])
    b = t([3.0, 4.0])
    (a * b).sum().backward(inputs=[a])
    return a.grad, b.grad


T("inputs=[a]", f)


def f():
    a = t([1.0, 2.0])
    b = t([3.0, 4.0])
    (a * b).sum().backward(inputs=a)
    return a.grad, b.grad


T("inputs=a", f)
T("inputs=[]", lambda: (x * 2).sum().backward(inputs=[]))


def f():
    a = t([1.0, 2.0])
    y = a * 2
    (y**2).sum().backward(inputs=[y])
    return y.grad, a.grad


T("inputs nonleaf", f)


def f():
    a = t([1.0, 2.0])
    y = a * 2
    (y**2).sum().backward(inputs=[y, a])
    return y.grad, a.grad, y.retains_grad


T("inputs nonleaf+leaf", f)


def f():
    a = t([1.0, 2.0])
    b = t([1.0, 2.0])
    (a * 2).sum().backward(inputs=[b])
    return a.grad, b.grad


T("inputs unused", f)
T("inputs no rg", lambda: (x * 2).sum().backward(inputs=[c]))


def f():
    a = t([1.0, 2.0])
    (a * 2).sum().backward(inputs={"a": a})
    return a.grad


T("inputs dict", f)


def f():
    a = t([1.0, 2.0])
    (a * 2).sum().backward(inputs=[a, a])
    return a.grad


T("inputs dup", f)
print("# torch.autograd.backward multi")


def f():
    a = t([1.0, 2.0])
    A.backward([(a * 2).sum(), (a * 3).sum()])
    return a.grad


T("multi tensors", f)


def f():
    a = t([1.0, 2.0])
    A.backward([a * 2, a * 3], [torch.ones(2), torch.tensor([1.0, 10.0])])
    return a.grad


T("multi with grad_tensors", f)


def f():
    a = t([1.0, 2.0])
    A.backward([a * 2, a * 3], [torch.ones(2)])


T("grad_tensors short", f)


def f():
    a = t([1.0, 2.0])
    y = (a**2).sum()
    A.backward([y, y])
    return a.grad


T("same root twice", f)


def f():
    a = t([1.0, 2.0])
    y = a**2
    A.backward([y.sum(), y.mean()])
    return a.grad


T("two roots share sub graph (no retain needed)", f)
T("grad_variables deprecated", lambda: A.backward([(x * 2).sum()], grad_variables=[torch.tensor(1.0)]))
T("both", lambda: A.backward([(x * 2).sum()], [torch.tensor(1.0)], grad_variables=[torch.tensor(1.0)]))


def f():
    a = t([1.0, 2.0])
    A.backward([(a * 2).sum(), torch.tensor(3.0)])


T("one root no grad", f)
T("empty tensors", lambda: A.backward([]))
T(
    "backward in no_grad",
    lambda: (lambda a: ((lambda y: torch.no_grad()(lambda: y.backward())())((a**2).sum()), a.grad))(t([1.0, 2.0])),
)
print("# create_graph / double")


def f():
    a = t([2.0, 3.0])
    y = (a**3).sum()
    (g,) = A.grad(y, a, create_graph=True)
    print(g, g.grad_fn)
    (h,) = A.grad(g.sum(), a)
    return h


T("hessian diag", f)


def f():
    a = t(2.0)
    y = a**3
    y.backward(create_graph=True)
    print(a.grad, a.grad.grad_fn)
    a.grad.backward()
    return a.grad


T("backward(create_graph)", f)


def f():
    a = t(2.0)
    y = a**4
    g = y
    out = []
    for _ in range(5):
        (g,) = A.grad(g, a, create_graph=True)
        out.append(g.item())
    return out


T("nth", f)


def f():
    a = t(2.0)
    y = a**3
    (g,) = A.grad(y, a, create_graph=True)
    y.backward()  # retain_graph default = create_graph => graph still alive
    return a.grad


T("create_graph implies retain", f)


def f():
    a = t(2.0)
    y = a**3
    (g,) = A.grad(y, a, create_graph=True, retain_graph=False)
    g.backward()
    return a.grad


T("create_graph with retain_graph=False", f)


def f():
    a = t(2.0)
    y = a * 3
    (g,) = A.grad(y, a, create_graph=True)
    print(g, g.requires_grad, g.grad_fn)
    g.backward()


T("constant grad under create_graph", f)


def f():
    a = t(2.0)
    y = a * a
    (g,) = A.grad(y, a)
    print(g.requires_grad)
    g.backward()


T("without create_graph", f)


def f():
    a = t(2.0)
    y = a**2
    go = t(1.0)
    (g,) = A.grad(y, a, grad_outputs=go, create_graph=True)
    print(g)
    return A.grad(g, go)


T("grad through grad_outputs (double-vjp)", f)


def f():
    a = t(2.0)
    y = a**2
    y.backward(create_graph=True)
    g1 = a.grad
    y.backward(create_graph=True)
    return a.grad is g1, a.grad, g1


T("accumulate out of place under create_graph", f)


def f():
    a = t(0.0)
    y = a**0.5
    (g,) = A.grad(y, a)
    return g


T("sqrt pow at 0", f)
print("is backward grad mode inside hook:")
a = t(2.0)
a.register_hook(lambda g: print("hook grad_enabled", torch.is_grad_enabled(), g.requires_grad))
y = a**2
y.backward(retain_graph=True)
y.backward(create_graph=True)
with torch.no_grad():
    y.backward(create_graph=True)
