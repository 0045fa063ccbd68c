"""torch.autograd.functional: vjp, jvp, jacobian, hessian, vhp, hvp; several inputs, strict mode, create_graph."""

import warnings

import torch
from torch.autograd import grad
from torch.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

from _log import T, case, t

v2, v3 = torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0, 2.0])
cube = lambda x: x**3
total = lambda x: (x**3).sum()
pair = lambda x, y: (x * y.sum(), (x**2).sum() * y)
mixed = lambda x, y: (x.sum() * y).sum() + (x**2).sum()
constant = lambda x: torch.ones(2)

T("jacobian", jacobian, cube, v2)
T("jacobian of a matrix", jacobian, lambda x: x @ x, torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
T("jacobian of two", jacobian, pair, (v2, v3))
T("jacobian, one input in a tuple", jacobian, cube, (v2,))
T("jacobian, tuple of one output", jacobian, lambda x: (x**3,), v2)
T("jacobian, scalar output", jacobian, total, v2)
T("jacobian, 0-dim input", jacobian, lambda x: x * v2, torch.tensor(3.0))
T("jacobian, constant", jacobian, constant, v2)
T("jacobian, independent input", jacobian, lambda x, y: x * 2, (v2, v3))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(jacobian(pair, (v2, v3), vectorize=True))
    print(jacobian(cube, v2, vectorize=True, strategy="forward-mode"))
T("jacobian, empty", jacobian, lambda x: x[:0], v2)
T("hessian", hessian, total, v2)
T("hessian of two", hessian, mixed, (v2, v3))
T("hessian, one-element output", hessian, lambda x: (x**3).sum().view(1), v2)
T("hessian of a linear function", hessian, lambda x: x.sum(), v2)
T("vjp", vjp, cube, v2, v2)
T("vjp of two", vjp, pair, (v2, v3), (v2, v3))
T("vjp, scalar output", vjp, total, v2)
T("vjp, v missing", vjp, cube, v2)
T("vjp, v too short", vjp, cube, v2, torch.ones(1))
T("vjp, v of another length", vjp, pair, (v2, v3), (v2,))
T("vjp, tuple for one", vjp, cube, v2, (v2, v2))
T("jvp", jvp, cube, v2, v2)
T("jvp of two", jvp, pair, (v2, v3), (v2, v3))
T("jvp, 0-dim input", jvp, lambda x: x * v2, torch.tensor(3.0))
T("jvp, v missing", jvp, cube, v2)
T("jvp, linear", jvp, lambda x: 3 * x, v2, v2)
T("vhp", vhp, total, v2, v2)
T("vhp of two", vhp, mixed, (v2, v3), (v2, v3))
T("vhp, vector output", vhp, cube, v2, v2)
T("vhp, two outputs", vhp, lambda x: (total(x), total(x)), v2, v2)
T("vhp, v missing", vhp, total, v2)
T("hvp", hvp, total, v2, v2)
T("hvp of two", hvp, mixed, (v2, v3), (v2, v3))
T("hvp, linear", hvp, lambda x: x.sum(), v2, v2)
T("hvp, vector output", hvp, cube, v2, v2)
T("inputs no tensor", jacobian, cube, 3.0)
T("inputs list", jacobian, cube, [v2])
T("an input no tensor", jacobian, pair, (v2, 3.0))
T("output no tensor", jacobian, lambda x: 3.0, v2)
T("an output no tensor", vjp, lambda x: (x, 3.0), v2, (v2, v2))
T("v no tensor", vjp, cube, v2, 1.0)
T("hessian of a vector", hessian, cube, v2)
T("hessian of two outputs", hessian, lambda x: (x.sum(), x.sum()), v2)
T("bad strategy", jacobian, cube, v2, strategy="sideways")
T("strict and vectorize", jacobian, cube, v2, strict=True, vectorize=True)
T("strict and forward mode", jacobian, cube, v2, strict=True, strategy="forward-mode")
T("create_graph and forward mode", jacobian, cube, v2, create_graph=True, strategy="forward-mode")
T("forward mode without vectorize", jacobian, cube, v2, strategy="forward-mode")

for f, args in ((vjp, (v2,)), (jvp, (v2,)), (jacobian, ())):
    T(f"strict {f.__name__}", f, cube, v2, *args, strict=True)
    T(f"strict {f.__name__}, constant", f, constant, v2, *args, strict=True)
    T(f"strict {f.__name__}, detached", f, lambda x: x.detach() * x.detach(), v2, *args, strict=True)
    T(f"strict {f.__name__}, linear, graph", f, lambda x: 3 * x, v2, *args, strict=True, create_graph=True)
    T(f"strict {f.__name__}, independent", f, lambda x, y: x * 2, (v2, v3), *[(v2, v3) for _ in args], strict=True)
for f, args in ((vhp, (v2,)), (hvp, (v2,)), (hessian, ())):
    T(f"strict {f.__name__}", f, total, v2, *args, strict=True)
    T(f"strict {f.__name__}, linear", f, lambda x: (3 * x).sum(), v2, *args, strict=True)
    T(f"strict {f.__name__}, quadratic, graph", f, lambda x: (x * x).sum(), v2, *args, strict=True, create_graph=True)


@case
def results_are_outside_the_graph():
    x = t([1.0, 2.0])
    out, g = vjp(cube, x, v2)
    j = jacobian(cube, x)
    return out.requires_grad, g.requires_grad, j.requires_grad, hessian(total, x).requires_grad


@case
def create_graph_keeps_it():
    x = t([1.0, 2.0])
    j = jacobian(cube, x, create_graph=True)
    h = hessian(total, x, create_graph=True)
    out, g = vjp(cube, x, v2, create_graph=True)
    return grad(j.sum(), x), grad(h.sum(), x), grad(g.sum() + out.sum(), x)


@case
def create_graph_of_products():
    x, v = t([1.0, 2.0]), t([1.0, 1.0])
    found = []
    for f, g in ((jvp, cube), (vhp, total), (hvp, total)):
        _, p = f(g, x, v, create_graph=True)
        found.append(grad(p.sum(), [x, v], allow_unused=True))
    return found


@case
def grad_and_hooks_of_the_argument_are_untouched():
    x, log = t([1.0, 2.0]), []
    x.register_hook(log.append)
    jacobian(cube, x)
    return x.grad, log


@case
def hooks_in_the_function_fire():
    log = []

    def f(x):
        y = x * x
        y.register_hook(lambda g: log.append(g.tolist()))
        return y * 3

    jacobian(f, v2)
    return log


@case
def inside_no_grad():
    with torch.no_grad():
        return jacobian(cube, v2), vjp(cube, v2, v2), hessian(total, v2)


@case
def float64_stays():
    return jacobian(cube, v2.double()).dtype, hessian(total, v2.double()).dtype
