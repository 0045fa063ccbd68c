"""no_grad ends gradients, but no tangents, whatever transforms are around it; inference mode and detach() end both."""

import warnings

import torch
from torch import func
from torch.autograd import forward_ad


def T(label, run, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, of its own use of torch.jit
        print(f"[{label}]", run(*args))


x, v = torch.tensor([0.5, 2.0]), torch.tensor([1.0, 3.0])


def square_of(context):
    def f(x):
        with context():
            c = x * x
        return c * x + c

    return f


def detached(x):
    c = (x * x).detach()
    return c * x + c


def edited(x):
    c = torch.zeros(2)
    with torch.no_grad():
        c.copy_(x)
        c[0].mul_(x[1])
    return c * x


def total(f):
    return lambda x: f(x).sum()


USES = {
    "jvp": lambda f: func.jvp(f, (x,), (v,)),
    "jacfwd": lambda f: func.jacfwd(f)(x),
    "linearize": lambda f: func.linearize(f, x)[1](v),
    "grad": lambda f: func.grad(total(f))(x),
    "hessian": lambda f: func.hessian(total(f))(x),
    "grad of grad": lambda f: func.grad(total(func.grad(total(f))))(x),
    "grad of the value": lambda f: func.grad(lambda x: func.vjp(f, x)[0].sum())(x),
    "grad of jvp": lambda f: func.grad(lambda x: func.jvp(f, (x,), (v,))[1].sum())(x),
    "grad in jvp's tangent": lambda f: func.grad(lambda v: func.jvp(f, (x,), (v,))[1].sum())(v),
    "jvp of grad": lambda f: func.jvp(func.grad(total(f)), (x,), (v,)),
    "jvp of jvp": lambda f: func.jvp(lambda x: func.jvp(f, (x,), (v,))[1], (x,), (v,)),
    "jacrev of jacfwd": lambda f: func.jacrev(func.jacfwd(f))(x),
    "jacfwd of jacfwd": lambda f: func.jacfwd(func.jacfwd(f))(x),
    "vmap of jvp": lambda f: func.vmap(lambda a: func.jvp(f, (x * a,), (v,)))(torch.tensor([1.0, 2.0])),
    "jvp of vmap": lambda f: func.jvp(func.vmap(f), (torch.stack([x, v]),), (torch.stack([v, x]),)),
}
FUNCTIONS = {
    "no_grad": square_of(torch.no_grad),
    "set_grad_enabled": square_of(lambda: torch.set_grad_enabled(False)),
    "detach": detached,
    "edits under no_grad": edited,
}
for inside, f in FUNCTIONS.items():
    for use, run in USES.items():
        if "vmap" not in use or f is not edited:
            T(f"{use}: {inside}", run, f)
for use in ("jvp", "jacfwd", "jvp of jvp", "vmap of jvp"):
    T(f"{use}: inference_mode", USES[use], square_of(torch.inference_mode))


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return g * 3 * ctx.saved_tensors[0] ** 2

    @staticmethod
    def jvp(ctx, v):
        return v * 3 * ctx.saved_tensors[0] ** 2


def cube_without_grad(x):
    with torch.no_grad():
        c = Cube.apply(x)
    return c * x


T("a Function under no_grad", func.jvp, cube_without_grad, (x,), (v,))


def cube(x):
    return x * x * x


def products(x):
    return func.grad(total(cube))(x) + x * x


# What is called under no_grad, by what is differentiated.
CALLED = {
    "grad": func.grad(total(cube)),
    "the value": lambda x: func.vjp(cube, x)[0],
    "vjp": lambda x: func.vjp(cube, x)[1](x)[0],
    "jvp": lambda x: func.jvp(cube, (x,), (x,))[1],
    "jacrev": func.jacrev(products),
    "jacfwd": func.jacfwd(cube),
}
for name, transformed in CALLED.items():
    for context in (torch.no_grad, torch.inference_mode):
        if context is torch.inference_mode and name.startswith("jac"):
            continue  # an internal error of PyTorch's

        def inside(x, transformed=transformed, context=context):
            with context():
                c = transformed(x)
            return c * x

        T(f"jvp of {name} under {context.__name__}", func.jvp, inside, (x,), (v,))
        T(f"jvp of {name} alone under {context.__name__}", func.jvp, context()(transformed), (x,), (v,))
    without = torch.no_grad()(transformed)
    T(f"grad of {name} under no_grad", func.grad(lambda x, without=without: (without(x) * x).sum()), x)
T("a vjp made before no_grad", func.jvp, lambda x: torch.no_grad()(func.vjp(cube, x)[1])(x), (x,), (v,))
T(
    "jacfwd inside grad of a constant",
    func.jacfwd(lambda x: func.grad(total(func.jacfwd(cube)))(FUNCTIONS["no_grad"](x))),
    x,
)

# Gradients of values and tangents by what was around the transform.
for inside, f in FUNCTIONS.items():
    w = x.clone().requires_grad_()
    value, tangent = func.jvp(f, (w,), (v,))
    for what, y in (("value", value), ("tangent", tangent)):
        print(
            f"gradient of the {what}: {inside}", y.requires_grad and torch.autograd.grad(y.sum(), w, retain_graph=True)
        )

# Dual tensors.
p = x.clone().requires_grad_()
with forward_ad.dual_level():
    d = forward_ad.make_dual(p, v)
    with torch.no_grad():
        both, constant = p * d, p * 2
        T("under no_grad a dual", lambda: (forward_ad.unpack_dual(both), both.requires_grad, both.grad_fn))
        T("and a parameter", lambda: (forward_ad.unpack_dual(constant), constant.requires_grad, constant.numpy()))
    primal, tangent = forward_ad.unpack_dual(both * d)
    for y in (primal, tangent):
        print(torch.autograd.grad(y.sum(), p, retain_graph=True)[0].tolist())
    y = d * 2
    with torch.no_grad():
        y.mul_(3)
    primal, tangent = forward_ad.unpack_dual(y)
    print(primal.tolist(), tangent.tolist(), torch.autograd.grad(primal.sum(), p, retain_graph=True))
    with forward_ad._set_fwd_grad_enabled(False):
        y = d * 2
    print(forward_ad.unpack_dual(y).tangent, y.requires_grad)
    with torch.inference_mode():
        print(forward_ad.unpack_dual(d * 2).tangent)
