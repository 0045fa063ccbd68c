"""Values and first gradients of many operations at ordinary and awkward points."""

import torch

from _log import T, t

F, L = torch.nn.functional, torch.tensor
inf, nan = float("inf"), float("nan")
points = [-2.0, -0.5, 0.0, 0.5, 3.0]
unary = "neg exp log log1p expm1 sqrt rsqrt reciprocal square abs sign sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid relu erf erfc floor ceil round trunc frac log2 log10 exp2 sinc logit digamma lgamma nan_to_num deg2rad angle".split()
for name in unary:

    def run(name=name):
        x = t(points)
        y = getattr(x, name)()
        y.sum().backward()
        return y, x.grad

    T(name, run)
for name in "relu leaky_relu elu selu celu gelu silu softplus softsign hardtanh relu6 hardsigmoid hardswish mish logsigmoid tanhshrink softshrink hardshrink".split():

    def run(name=name):
        x = t([-2.5 if name == "gelu" else -4.0, *points])  # at -4 its digits depend on how long the vector is
        y = getattr(F, name)(x)
        y.sum().backward()
        return y, x.grad

    T("F." + name, run)
for label, fn in {
    "add alpha": lambda x, y: torch.add(x, y, alpha=2),
    "sub alpha": lambda x, y: torch.sub(x, y, alpha=2),
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "maximum": lambda x, y: torch.maximum(x, y),
    "minimum": lambda x, y: torch.minimum(x, y),
    "atan2": lambda x, y: torch.atan2(x, y),
    "fmod": lambda x, y: torch.fmod(x, y),
    "remainder": lambda x, y: torch.remainder(x, y),
    "floor_divide": lambda x, y: x // y + 0 * x,
    "fmax": lambda x, y: torch.fmax(x, y),
    "hypot": lambda x, y: torch.hypot(x, y),
    "copysign": lambda x, y: torch.copysign(x, y),
    "logaddexp": lambda x, y: torch.logaddexp(x, y),
    "xlogy": lambda x, y: torch.xlogy(x, y),
    "ldexp": lambda x, y: torch.ldexp(x, L([1, 2, 3, 4, 5])) + y,
    "lerp": lambda x, y: torch.lerp(x, y, 0.3),
    "dist": lambda x, y: torch.dist(x, y),
    "cosine": lambda x, y: F.cosine_similarity(x, y, dim=0),
    "dot": lambda x, y: torch.dot(x, y),
    "outer": lambda x, y: torch.outer(x, y),
    "where": lambda x, y: torch.where(x > y, x, y * 2),
    "heaviside": lambda x, y: torch.heaviside(x.detach(), y.detach()) * x,
}.items():

    def run(fn=fn):
        x, y = t([-2.0, -0.5, 0.0, 0.5, 3.0]), t([1.0, 2.0, 3.0, 0.5, -1.0])
        r = fn(x, y)
        r.sum().backward()
        return r, x.grad, y.grad

    T(label, run)
for label, fn in {
    "x**2": lambda x: x**2,
    "x**3": lambda x: x**3,
    "x**0": lambda x: x**0,
    "x**1": lambda x: x**1,
    "x**-1": lambda x: x**-1,
    "x**0.5": lambda x: x**0.5,
    "x**-0.5": lambda x: x**-0.5,
    "2**x": lambda x: 2**x,
    "0**x": lambda x: 0**x,
    "(-1)**x": lambda x: (-1) ** x,
    "x%2": lambda x: x % 2,
    "x%-2": lambda x: x % -2,
    "1/x": lambda x: 1 / x,
    "x/0": lambda x: x / 0,
    "x*inf": lambda x: x * inf,
    "x+nan": lambda x: x + nan,
    "clamp": lambda x: x.clamp(-0.5, 0.5),
    "clamp min": lambda x: x.clamp(min=0.0),
    "clamp max": lambda x: x.clamp(max=0.0),
    "clamp tensors": lambda x: x.clamp(L([-1.0] * 5), L([0.5] * 5)),
    "softmax": lambda x: x.softmax(0) * L(points),
    "log_softmax": lambda x: x.log_softmax(0) * L(points),
    "logsumexp": lambda x: x.logsumexp(0),
    "cumsum": lambda x: x.cumsum(0) * L(points),
    "cumprod": lambda x: x.cumprod(0),
    "prod": lambda x: x.prod(),
    "norm": lambda x: x.norm(),
    "norm1": lambda x: x.norm(1),
    "norm inf": lambda x: x.norm(inf),
    "norm3": lambda x: x.norm(3),
    "var": lambda x: x.var(),
    "std": lambda x: x.std(correction=0),
    "mean": lambda x: x.mean(),
    "max": lambda x: x.max(),
    "median": lambda x: x.median(),
    "sort": lambda x: x.sort(descending=True)[0] * L(points),
    "topk": lambda x: x.topk(2)[0],
    "flip": lambda x: x.flip(0) * L(points),
    "roll": lambda x: x.roll(2) * L(points),
    "diff": lambda x: x.diff() ** 2,
    "tril": lambda x: torch.outer(x, x).tril(),
    "diag": lambda x: torch.diag(x) @ x,
    "pad": lambda x: F.pad(x, (1, 2)) ** 2,
    "pad value": lambda x: F.pad(x[None], (1, 0, 0, 1), value=3.0) ** 2,
    "kron": lambda x: torch.kron(x, x),
    "unfold": lambda x: x.unfold(0, 3, 1) ** 2,
    "cdist": lambda x: torch.cdist(x[None, :2], x[None, 2:4]),
    "normalize": lambda x: F.normalize(x, dim=0) * L([5.0, 1.0, 2.0, 4.0, 3.0]),
    "layer_norm": lambda x: F.layer_norm(x, (5,)) * L([5.0, 1.0, 2.0, 4.0, 3.0]),
    "glu": lambda x: F.glu(x[:4]),
    "softmin": lambda x: F.softmin(x, 0) * L(points),
    "repeat_interleave": lambda x: x.repeat_interleave(2) ** 2,
    "masked": lambda x: x[x > 0] ** 2,
    "take": lambda x: x.take(L([0, 0, 4])) ** 2,
    "std_mean": lambda x: sum(torch.std_mean(x)),
    "einsum": lambda x: torch.einsum("i,j->", x, x),
    "nansum": lambda x: x.nansum(),
    "x.abs()**x": lambda x: x.abs() ** x,
    "trapezoid": lambda x: torch.trapezoid(x),
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "renorm": lambda x: x.clamp_min(0.1).log(),
}.items():

    def run(fn=fn):
        x = t(points)
        y = fn(x)
        y.sum().backward()
        return y, x.grad

    T(label, run)
