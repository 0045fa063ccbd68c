"""torch.func: derivatives of functions, of functions of them, of trees of tensors; what belongs to the graph; bad input."""

import torch
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

from _log import T

x = torch.tensor([0.5, -1.0, 2.0])
w = torch.tensor([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]])


def f(x, k=1.0):
    return (x.sin() * x).sum() * k


print("-- grad")
print(grad(f)(x), grad(f)(x, k=2.0), grad_and_value(f)(x), f.__name__, grad(f).__name__, grad(f).__doc__)
print(grad(lambda x: grad(lambda y: (y**3).sum())(x).sum())(x), grad(grad(grad(torch.sin)))(torch.tensor(0.3)))
print(grad(lambda a, b: (a * b.exp()).sum(), argnums=1)(x, x), grad(lambda a, b: (a * b.exp()).sum(), argnums=(0, 1))(x, x))
print(grad(lambda a, b: (a * b).sum(), argnums=-1)(x, w[0]), grad(lambda a, b: (a * b).sum(), argnums=(1, -2))(x, w[0]))
print(grad(lambda p: (p["a"] * p["b"][0]).sum())({"a": x, "b": [x, w]}))
print(grad(lambda x: (x.prod(), (x, {"n": x * 2})), has_aux=True)(x))
print(grad_and_value(lambda x: (x.prod(), x + 1), has_aux=True)(x))
print(grad(lambda x: torch.ones(()))(x), grad(lambda x: x.long().sum())(x), grad(lambda x: x.detach().sum())(x))

print("-- what belongs to the graph")
p = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
for label, call in (
    ("constant", lambda: grad(f)(x)), ("of p", lambda: grad(f)(p)), ("p inside", lambda: grad(lambda x: (x * p).pow(2).sum())(x)),
    ("p detached", lambda: grad(lambda x: (x * p.detach()).sum())(x)), ("value", lambda: grad_and_value(f)(x)[1]),
    ("value of p", lambda: grad_and_value(f)(p)[1]), ("vjp of p", lambda: vjp(torch.sin, p)[1](x)[0]),
    ("vjp", lambda: vjp(torch.sin, x)[1](x)[0]), ("vjp along p", lambda: vjp(torch.sin, x)[1](p)[0]),
    ("vjp's value", lambda: vjp(torch.sin, x)[0]), ("jvp", lambda: jvp(torch.sin, (x,), (x,))[1]),
    ("jvp of p", lambda: jvp(torch.sin, (p,), (x,))[1]), ("jacrev", lambda: jacrev(torch.sin)(x)),
    ("jacrev of p", lambda: jacrev(torch.sin)(p)), ("hessian of p", lambda: hessian(f)(p)),
):
    print(label, call().requires_grad, call().is_leaf)
    with torch.no_grad():
        print("   under no_grad", call().requires_grad)
grad(f)(p).sum().backward()
print(p.grad)
p.grad = None
vjp(torch.sin, p)[1](x)[0].sum().backward()
print(p.grad)
p.grad = None
hessian(f)(p).sum().backward()
print(p.grad)
p.grad = None
grad(f)(x)
print(p.grad, x.requires_grad, x.grad)


def respects(x):
    with torch.no_grad():
        c = x**2
    return (x**2 - c).sum()


print(grad(respects)(x))
print(torch.is_grad_enabled(), [grad(lambda x: (x * torch.is_grad_enabled()).sum())(x) for _ in range(1)])

print("-- vjp")
y, pull = vjp(lambda a, b: (a * b, {"s": a.sum()}), x, w[0])
print(y, pull((x, {"s": torch.tensor(1.0)})), pull((x, {"s": torch.tensor(0.0)})))
print(vjp(lambda a: (a.sin(), a), x, has_aux=True)[2], vjp(lambda t: t["a"] * 2, {"a": x})[1](x))

print("-- jvp")
print(jvp(torch.sin, (x,), (torch.ones(3),)), jvp(lambda a, b: a * b, (x, w), (torch.ones(3), torch.zeros(2, 3))))
print(jvp(lambda a: (a.sin(), [a * 2, torch.ones(2)]), (x,), (x,)))
print(jvp(lambda t: t["a"].exp(), ({"a": x},), ({"a": x},)), jvp(lambda a: (a.sin(), a), (x,), (x,), has_aux=True))
print(jvp(lambda x: jvp(torch.sin, (x,), (torch.ones(3),))[1], (x,), (torch.ones(3),)))
print(jvp(grad(f), (x,), (torch.ones(3),))[1], grad(lambda x: jvp(f, (x,), (w[0],))[1])(x))
out, push = linearize(lambda a, b: (a.sin() * b, b), x, w[0])
print(out, push(torch.ones(3), torch.zeros(3)), push(x, x))

print("-- Jacobians")
for jac in (jacrev, jacfwd):
    print(jac(lambda x: w @ x)(x), jac(torch.sin)(x), jac(lambda x: x.sum())(x), jac(lambda a, b: a * b, argnums=1)(x, w[0]))
    print(jac(lambda a, b: a * b, argnums=(0, 1))(x[:2], w[0, :2]), jac(lambda a: (a * 2, {"s": a.sum()}))(x[:2]))
    print(jac(lambda t: t["a"] * t["b"].sum())({"a": x[:2], "b": w[0, :2]}))
    print(jac(lambda x: (x * 2, x), has_aux=True)(x[:2]), jac(lambda x: torch.ones(2))(x))
print(jacrev(jacfwd(lambda x: x**3))(x[:2]), jacrev(torch.sin, chunk_size=2)(x))
print(hessian(f)(x), hessian(lambda a, b: (a * b).sum(), argnums=(0, 1))(x[:2], w[0, :2]))

print("-- a model")
model = torch.nn.Linear(3, 2)
with torch.no_grad():
    model.weight.copy_(w)
    model.bias.copy_(torch.tensor([0.5, -0.5]))
params = {n: v.detach() for n, v in model.named_parameters()}


def loss(params, x, target):
    return torch.nn.functional.cross_entropy(functional_call(model, params, (x,)), target)


samples, targets = torch.stack([x, -x, x * 2, w[1]]), torch.tensor([0, 1, 1, 0])
print(grad(loss)(params, samples, targets))
each = vmap(grad(loss), in_dims=(None, 0, 0))(params, samples, targets)
print({n: v.shape for n, v in each.items()}, each["bias"], torch.allclose(each["weight"].mean(0), grad(loss)(params, samples, targets)["weight"]))
print(jacrev(lambda p: functional_call(model, p, x))(params)["bias"], [v.grad for v in model.parameters()])

print("-- what fails")
T("no number", grad(lambda x: x), x)
T("no tensor", grad(lambda x: 3.0), x)
T("argnums", grad(f, argnums=1), x)
T("argnums twice", grad(lambda a, b: f(a), argnums=(0, 0)), x, x)
T("argnums none", grad(f, argnums=()), x)
T("argnums text", grad(f, argnums="a"), x)
T("no aux", grad(f, has_aux=True), x)
T("aux no tensor", grad(lambda x: (x.sum(), 3), has_aux=True), x)
T("number", grad(f), 3.0)
T("integers", grad(f), x.long())
T("vjp structure", lambda: vjp(lambda x: (x * 2,), x)[1](x))
T("vjp shape", lambda: vjp(torch.sin, x)[1](x[:2]))
T("vjp integers", lambda: vjp(lambda x: x.long(), x))
T("vjp None", lambda: vjp(lambda x: None, x))
T("vjp number", lambda: vjp(lambda x: 3.0, x))
T("vjp of a number", lambda: vjp(torch.sin, 3))
T("vjp no aux", lambda: vjp(torch.sin, x, has_aux=True))
T("jvp no tuple", jvp, torch.sin, x, x)
T("jvp structure", jvp, torch.sin, (x,), x)
T("jvp structure of dicts", jvp, torch.sin, ({"a": [x, x]},), ({"a": [x]},))
T("jvp size", jvp, torch.sin, (x,), (x[:2],))
T("jvp strict", lambda: jvp(lambda x: torch.ones(2), (x,), (x,), strict=True))
T("jvp number", lambda: jvp(lambda x: 3, (x,), (x,)))
T("jvp nothing", jvp, torch.sin, (), ())
T("jacrev chunk", jacrev, torch.sin, chunk_size=0)
T("jacrev argnums", jacrev(torch.sin, argnums=2), x)
push = linearize(torch.sin, x)[1]
T("linearize", push, x, x)
T("linearize shape", push, x[:2])
T("linearize dtype", push, x.double())

print("-- inference mode")
with torch.inference_mode():
    made = torch.tensor([1.0, 2.0, 3.0])


def inside(x):
    print("   modes", torch.is_inference_mode_enabled(), torch.is_grad_enabled(), (x * 2).is_inference())
    return (x**3).sum()


def escapes(x):
    with torch.inference_mode():
        y = x * x
    return (y * x).sum()


def mode(value):
    return value, value.is_inference(), value.requires_grad


for label, call in (
    ("grad", lambda x: grad(inside)(x)), ("value", lambda x: grad_and_value(f)(x)[1]), ("vjp", lambda x: vjp(torch.sin, x)[1](x)[0]),
    ("jvp", lambda x: jvp(torch.sin, (x,), (x,))[1]), ("jacrev", lambda x: jacrev(torch.sin)(x)), ("nothing", grad(lambda x: p.sum())),
    ("jacfwd", lambda x: jacfwd(torch.sin)(x)), ("jacfwd of a constant", jacfwd(lambda x: p.detach())), ("hessian", hessian(f)),
    ("order 2", lambda x: grad(lambda x: grad(f)(x).pow(2).sum())(x)), ("captured", grad(lambda x: (x * made * x).sum())),
    ("captured, Jacobian", jacrev(lambda x: x * made)),
):
    print(label, mode(call(made)))
    with torch.inference_mode():
        print("   within", mode(call(x)), mode(call(made)), torch.is_inference_mode_enabled())
T("escapes", grad(escapes), x)
out, pull = vjp(torch.sin, made)
print(linearize(torch.sin, x)[1](made), pull(made), torch.is_inference_mode_enabled(), torch.is_grad_enabled())

print("-- results and arguments that are not contiguous")
for jac in (jacrev, jacfwd):
    print(jac(lambda x: x.t())(w), jac(lambda x: x * 2)(w.t()), jac(lambda x: x[:, ::2] * 2)(w[:, ::2]))
    print(jac(lambda x: x.sum(0).expand(2, 3))(w), hessian(lambda x: (x.t() ** 3).sum())(w.t()))

print("-- pushed through products, whose rules read constant operands too")
q, c = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0])
for label, f in (
    ("times a number", lambda x: x * 3), ("divided", lambda x: x / c), ("matrix", lambda x: w[:, :2] @ x), ("relu", torch.relu),
    ("sum", lambda x: x + 3 * c), ("first of addmv", lambda x: torch.addmv(x, w[:, :2], c)), ("cumsum", lambda x: x.cumsum(0)),
    ("second of addmv", lambda x: torch.addmv(c, w[:, :2], x)), ("aside", lambda x: x + q * c), ("both", lambda x: (x + q) * c),
    ("detached", lambda x: x.detach() * c + x), ("max", lambda x: x.amax()), ("constant", lambda x: c * 3),
):
    print(label, [d.requires_grad for d in (
        jacfwd(f)(q), jacfwd(f)(c), jvp(f, (q,), (c,))[1], jacrev(f)(q), hessian(lambda x: x.sin().sum())(q))])
    if jacfwd(f)(q).requires_grad:
        jacfwd(f)(q).sum().backward()
        print("   ", q.grad)
        q.grad = None
    with torch.no_grad():
        print("   under no_grad", jacfwd(f)(q).requires_grad)
