"""Steps of optimizers as formulas of tensors, which autograd can follow; the bits are those of the ordinary steps.

A formula takes a parameter, its gradient, its state before the step (the count "step" always, the others from the second
step on), the options of its group and the number of the step, and gives the parameter and the state after it.  Only
operators and methods that tensors of both engines have are used, so that the microscope differentiates PyTorch's
optimizers by them, too.  Options may be tensors that require grad.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Options = dict[str, Any]
State = dict[str, Any]
Formula = Callable[[Any, Any, State, Options, float], tuple[Any, State]]


def step_of(formula: Formula, p: Any, grad: Any, state: State, group: Options, n: float) -> tuple[Any, State]:
    """(parameter, state) after the step; `p` and `state` stay as they are."""
    o = {k: _scalar(x) for k, x in group.items() if k not in ("params", "param_names")}
    if "betas" in o:
        o["betas"] = tuple(map(_scalar, o["betas"]))
    g = -grad if o.get("maximize") else grad
    decay = o.get("weight_decay", 0)
    if hasattr(decay, "requires_grad") or decay != 0:
        if o.get("decoupled_weight_decay"):
            p = p * (1 - o["lr"] * decay)
        else:
            g = g + p * decay
    return formula(p, g, state, o, n)


def _scalar(x: Any) -> Any:
    """An option as a number, or without dims if autograd follows it; one of another dtype counts as a number, too."""
    if not hasattr(x, "requires_grad"):
        return x
    if x.requires_grad:
        return x.squeeze() if x.dim() else x
    return x.detach().squeeze() if "float32" in str(x.dtype) else x.item()


def _held(state: State, name: str, p: Any) -> Any:
    """A tensor of the state, zeros before the first step."""
    found = state.get(name)
    return p.new_zeros(p.shape) if found is None else found


def _one(state: State) -> Any:
    """1, of the dtype in which counts are kept."""
    return state["step"].detach() * 0 + 1


def _mean(mean: Any, x: Any, weight: Any) -> Any:
    return mean.lerp(x, weight) if mean.element_size() == 2 else mean + (x - mean) * weight


def _squares(mean: Any, g: Any, beta: Any) -> Any:
    if mean.element_size() == 2:
        return (mean * beta).addcmul(g, g, value=1 - beta)
    return mean * beta + (g * (1 - beta)) * g


def _quotient(p: Any, a: Any, b: Any, size: Any) -> Any:
    """p - a / b * size"""
    if p.element_size() == 2 and not hasattr(size, "requires_grad"):
        return p.addcdiv(a, b, value=-size)
    return p - a / b * size


def _root(x: Any) -> Any:
    """The square root, of a number or a tensor; its derivative at 0 is taken as 0.

    What it divides there is 0 for all gradients that the parameter had, so the product of the two has the limit 0.
    """
    if not hasattr(x, "requires_grad"):
        return math.sqrt(x)
    if not (x.requires_grad and bool((x == 0).any())):
        return x.sqrt()
    return x.where(x != 0, 1).sqrt().where(x != 0, 0)


def sgd(p: Any, g: Any, state: State, o: Options, n: float) -> tuple[Any, State]:
    momentum = o["momentum"]
    if not hasattr(momentum, "requires_grad") and momentum == 0:
        return p - g * o["lr"], {}
    b = state.get("momentum_buffer")
    b = g.clone() if b is None else b * momentum + g * (1 - o["dampening"])
    return p - (b * momentum + g if o["nesterov"] else b) * o["lr"], {"momentum_buffer": b}


def adam(p: Any, g: Any, state: State, o: Options, n: float) -> tuple[Any, State]:
    beta1, beta2 = o["betas"]
    m = _mean(_held(state, "exp_avg", p), g, 1 - beta1)
    v = _squares(_held(state, "exp_avg_sq", p), g, beta2)
    after = {"exp_avg": m, "exp_avg_sq": v}
    if o["amsgrad"]:
        v = after["max_exp_avg_sq"] = _held(state, "max_exp_avg_sq", p).maximum(v)
    return _quotient(p, m, _root(v) / _root(1 - beta2**n) + o["eps"], o["lr"] / (1 - beta1**n)), after


def adamax(p: Any, g: Any, state: State, o: Options, n: float) -> tuple[Any, State]:
    beta1, beta2 = o["betas"]
    m = _mean(_held(state, "exp_avg", p), g, 1 - beta1)
    u = (_held(state, "exp_inf", p) * beta2).maximum(g.abs() + o["eps"])
    return p - m / u * (o["lr"] / (1 - beta1**n)), {"exp_avg": m, "exp_inf": u}


def nadam(p: Any, g: Any, state: State, o: Options, n: float) -> tuple[Any, State]:
    beta1, beta2 = o["betas"]
    lr, psi = o["lr"], o["momentum_decay"]
    mu = beta1 * (1.0 - 0.5 * 0.96 ** (n * psi))
    ahead = beta1 * (1.0 - 0.5 * 0.96 ** ((n + 1) * psi))
    product = state.get("mu_product", _one(state)) * mu
    so_far = float(product)
    m = _mean(_held(state, "exp_avg", p), g, 1 - beta1)
    v = _squares(_held(state, "exp_avg_sq", p), g, beta2)
    scale = _root(v / (1 - beta2**n)) + o["eps"]
    p = p - g / scale * (lr * (1.0 - mu) / (1.0 - so_far))
    p = p - m / scale * (lr * ahead / (1.0 - so_far * ahead))
    return p, {"mu_product": product, "exp_avg": m, "exp_avg_sq": v}


def radam(p: Any, g: Any, state: State, o: Options, n: float) -> tuple[Any, State]:
    beta1, beta2 = o["betas"]
    m = _mean(_held(state, "exp_avg", p), g, 1 - beta1)
    v = _squares(_held(state, "exp_avg_sq", p), g, beta2)
    end, correction = 2 / (1 - beta2) - 1, 1 - beta2**n
    rho = end - 2 * n * beta2**n / correction
    size, step = o["lr"] / (1 - beta1**n), m
    if rho > 5.0:
        size = size * math.sqrt(correction * (rho - 4) * (rho - 2) * end / ((end - 4) * (end - 2) * rho))
        step = m / (_root(v) + o["eps"])
    return p - step * size, {"exp_avg": m, "exp_avg_sq": v}


def rmsprop(p: Any, g: Any, state: State, o: Options, n: float) -> tuple[Any, State]:
    v = _squares(_held(state, "square_avg", p), g, o["alpha"])
    after = {"square_avg": v}
    if o["momentum"] > 0:
        after["momentum_buffer"] = v                # its place
    if o["centered"]:
        mean = after["grad_avg"] = _mean(_held(state, "grad_avg", p), g, 1 - o["alpha"])
        v = v - mean * mean
    scale = _root(v) + o["eps"]
    if o["momentum"] > 0:
        b = after["momentum_buffer"] = _held(state, "momentum_buffer", p) * o["momentum"] + g / scale
        return p - b * o["lr"], after
    return _quotient(p, g, scale, o["lr"]), after


def adagrad(p: Any, g: Any, state: State, o: Options, n: float) -> tuple[Any, State]:
    total = _held(state, "sum", p) + g * g
    return p - g / (_root(total) + o["eps"]) * (o["lr"] / (1 + (n - 1) * o["lr_decay"])), {"sum": total}


def adadelta(p: Any, g: Any, state: State, o: Options, n: float) -> tuple[Any, State]:
    rho, eps = o["rho"], o["eps"]
    v, before = _squares(_held(state, "square_avg", p), g, rho), _held(state, "acc_delta", p)
    d = (before + eps).sqrt() / (v + eps).sqrt() * g
    return p - d * o["lr"], {"square_avg": v, "acc_delta": _squares(before, d, rho)}


def asgd(p: Any, g: Any, state: State, o: Options, n: float) -> tuple[Any, State]:
    lr, lambd, one = o["lr"], o["lambd"], _one(state)
    eta, mu = state.get("eta", one * lr), float(state.get("mu", one))
    now = eta if eta.requires_grad else float(eta)
    p = p * (1 - lambd * now) - g * now
    mean = _held(state, "ax", p)
    mean = mean + (p - mean) * mu if mu != 1 else p.clone()
    rate = lr / (1 + lambd * lr * n) ** o["alpha"]
    return p, {"eta": one * rate, "mu": one * (1 / max(1, n - o["t0"])), "ax": mean}


def rprop(p: Any, g: Any, state: State, o: Options, n: float) -> tuple[Any, State]:
    (shrink, grow), (least, most) = o["etas"], o["step_sizes"]
    size = state.get("step_size")
    if size is None:
        size = p.new_zeros(p.shape) + o["lr"]
    turn = g * _held(state, "prev", p)
    size = (size * grow).where(turn > 0, (size * shrink).where(turn < 0, size)).clamp(least, most)
    kept = g.where(~(turn < 0), 0)
    return p - kept.sign() * size, {"prev": kept, "step_size": size}


FORMULAS: dict[str, Formula] = {
    "SGD": sgd, "Adam": adam, "AdamW": adam, "Adamax": adamax, "NAdam": nadam, "RAdam": radam, "RMSprop": rmsprop,
    "Adagrad": adagrad, "Adadelta": adadelta, "ASGD": asgd, "Rprop": rprop}


def formula_of(kind: type) -> Formula | None:
    """The formula of a class of optimizers, of either engine; None if its step is of its own making."""
    for base in kind.__mro__:
        if base.__name__ in FORMULAS and base.__module__.split(".")[1:2] == ["optim"]:
            return FORMULAS[base.__name__]
        if "step" in vars(base):
            return None
    return None
