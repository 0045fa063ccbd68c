"""create_graph: first, second and third derivatives of many operations, and mixed ones."""

import torch

from _log import T, t

F = torch.nn.functional
grad = torch.autograd.grad
weights = torch.tensor([1.0, 2.0, 3.0])


def derivatives(fn, x, order=3):
    y = fn(x)
    out = []
    for _ in range(order):
        y = (y * 1).sum() if y.dim() == 0 else (y * weights[: y.numel()].view_as(y) if y.numel() <= 3 else y).sum()
        if not y.requires_grad:
            out.append("constant")
            break
        (y,) = grad(y, x, create_graph=True, allow_unused=True)
        if y is None:
            out.append("unused")
            break
        out.append([round(v, 3) for v in y.flatten().tolist()])
    return out


c = torch.tensor([0.5, 1.5, 2.5])
for label, fn in {
    "x*x": lambda x: x * x,
    "x*x*x*x": lambda x: x * x * x * x,
    "x**3": lambda x: x**3,
    "x**2.5": lambda x: x**2.5,
    "x**x": lambda x: x**x,
    "2**x": lambda x: 2**x,
    "1/x": lambda x: 1 / x,
    "x/(1+x)": lambda x: x / (1 + x),
    "exp": lambda x: x.exp(),
    "log": lambda x: x.log(),
    "log1p": lambda x: x.log1p(),
    "expm1": lambda x: x.expm1(),
    "sqrt": lambda x: x.sqrt(),
    "rsqrt": lambda x: x.rsqrt(),
    "reciprocal": lambda x: x.reciprocal(),
    "square": lambda x: x.square(),
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "tan": lambda x: x.tan(),
    "tanh": lambda x: x.tanh(),
    "sigmoid": lambda x: x.sigmoid(),
    "relu": lambda x: x.relu() * x,
    "softmax": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(0),
    "logsumexp": lambda x: x.logsumexp(0),
    "sum squared": lambda x: x.sum() ** 3,
    "mean": lambda x: x.mean() ** 3,
    "prod": lambda x: x.prod(),
    "var": lambda x: x.var(),
    "std": lambda x: x.std(),
    "norm": lambda x: x.norm(),
    "max": lambda x: x.max() ** 3,
    "max dim": lambda x: x.max(0)[0] ** 3,
    "cumsum": lambda x: x.cumsum(0) ** 2,
    "sort": lambda x: x.sort(descending=True)[0] ** 3,
    "clamp": lambda x: x.clamp(0.6, 5.0) ** 3,
    "where": lambda x: torch.where(x > 1, x**3, x**2),
    "maximum": lambda x: torch.maximum(x, c) ** 3,
    "dot": lambda x: x.dot(x) ** 2,
    "outer": lambda x: torch.outer(x, x).sum() ** 2,
    "matmul": lambda x: (x[None] @ x[:, None]) ** 2,
    "mm": lambda x: (lambda m: (m @ m).sum())(torch.outer(x, x)),
    "linear": lambda x: F.linear(x[None], torch.outer(x, c), x).sum(),
    "index": lambda x: x[torch.tensor([0, 0, 2])] ** 3,
    "mask": lambda x: (x[x > 1] ** 3).sum(),
    "setitem": lambda x: (lambda q: (q.__setitem__(0, x[1] ** 2), q * x)[1])(x * x),
    "cat": lambda x: (torch.cat([x, x * x]) ** 2).sum(),
    "stack": lambda x: torch.stack([x, x * x]).prod(0),
    "unbind": lambda x: (lambda u: u[0] * u[1] * u[2])(x.unbind(0)),
    "split": lambda x: (lambda u: (u[0] ** 2 * u[1]).sum())(x.split(1)),
    "expand": lambda x: (x.expand(2, 3) ** 3).sum(),
    "flip": lambda x: x.flip(0) * x * x,
    "gather": lambda x: x.gather(0, torch.tensor([2, 2, 1])) ** 3,
    "view": lambda x: x.view(3, 1).t().reshape(3) ** 3,
    "mse": lambda x: F.mse_loss(x**2, c),
    "l1": lambda x: F.l1_loss(x**3, c),
    "cross_entropy": lambda x: F.cross_entropy(x[None], torch.tensor([1])),
    "nll": lambda x: F.nll_loss((x**2)[None], torch.tensor([1])),
    "mul_ in place": lambda x: (x * 1).mul_(x).mul_(x),
    "double": lambda x: (x.double() ** 3).float(),
    "atan2": lambda x: torch.atan2(x, c),
    "lerp": lambda x: torch.lerp(x, c, x),
    "neg": lambda x: -(x**3),
    "remainder": lambda x: (x % 2) ** 3,
    "erf": lambda x: x.erf(),
    "cumprod": lambda x: x.cumprod(0),
    "pow tensor": lambda x: c**x,
}.items():
    x = t([0.5, 1.25, 2.0])
    T(label, derivatives, fn, x)

print("# mixed")
a, b = t(2.0), t(3.0)
y = a**3 * b**2
ga, gb = grad(y, [a, b], create_graph=True)
print(ga, gb)
gaa, gab = grad(ga, [a, b], create_graph=True)
gba, gbb = grad(gb, [a, b], create_graph=True)
print(gaa, gab, gba, gbb)
print(grad(gab, [a, b]))
print("# gradient penalty")
w, x = t([[1.0, 2.0], [3.0, 4.0]]), t([[1.0, -1.0]])
out = torch.tanh(x @ w).sum()
(g,) = grad(out, x, create_graph=True)
penalty = (g.norm() - 1) ** 2
penalty.backward()
print(g, penalty, w.grad, x.grad)
print("# names in the second graph")
for label, fn in {
    "mul": lambda x: x * x,
    "exp": lambda x: x.exp(),
    "tanh": lambda x: x.tanh(),
    "mm": lambda x: x @ x,
}.items():
    x = t([[1.0, 2.0], [3.0, 4.0]])
    (g,) = grad(fn(x).sum(), x, create_graph=True)
    print(label, g.grad_fn, g.requires_grad)
T(
    "retain_graph=False",
    lambda: (lambda a: (lambda y: (grad(y, a, create_graph=True, retain_graph=False), grad(y, a)))(a**3))(t(2.0)),
)
T(
    "grad inside no_grad",
    lambda: torch.no_grad()(lambda: None)() or (lambda a: (lambda y: grad(y, a, create_graph=True))(a**3))(t(2.0)),
)


def in_no_grad():
    a = t(2.0)
    y = a**3
    with torch.no_grad():
        (g,) = grad(y, a, create_graph=True)
    return g, g.requires_grad


T("create_graph inside no_grad", in_no_grad)


def accumulate():
    a = t(2.0)
    (a**3).backward(create_graph=True)
    (a**2).backward(create_graph=True)
    g = a.grad
    a.grad = None
    g.backward()
    return g, a.grad


T("backward twice with create_graph", accumulate)
