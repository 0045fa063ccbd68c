"""Divergences between distributions of two kinds: -entropy(p) - E_p log q, with the moments of p put into log q."""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import INF, register_kl
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant

__all__: list[str] = []

# p has draws where q has none: infinite, in the shape of the parameter named
OUTSIDE: dict[type, tuple[str, tuple[type, ...]]] = {
    Beta: ("concentration1", (Pareto,)),
    ContinuousBernoulli: ("probs", (Pareto,)),
    Exponential: ("rate", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    Gamma: ("concentration", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    Gumbel: ("loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    Laplace: ("loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    Normal: ("loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    Pareto: ("scale", (Beta, ContinuousBernoulli, Uniform)),
    Poisson: ("rate", (Bernoulli, Binomial)),
}


def infinite(parameter: str) -> Any:
    return lambda p, q: f.full_like(getattr(p, parameter), INF)


for kind, (parameter, others) in OUTSIDE.items():
    for other in others:
        register_kl(kind, other)(infinite(parameter))


# ---- -E_p log q for q of one kind, by moments of p ----


def to_exponential(q: Any, mean: Any) -> Any:
    return q.rate * mean - q.rate.log()


def to_gamma(q: Any, mean: Any, mean_log: Any) -> Any:
    a = q.concentration
    return a.lgamma() - a * q.rate.log() - (a - 1) * mean_log + q.rate * mean


def to_normal(q: Any, mean: Any, mean_square: Any) -> Any:
    var = q.scale.pow(2)
    return 0.5 * (var * 2 * math.pi).log() + (0.5 * mean_square - q.loc * mean + 0.5 * q.loc.pow(2)) / var


def to_gumbel(q: Any, mean: Any, mean_exp: Any) -> Any:
    """mean_exp: the mean of exp(-x / scale)"""
    return q.scale.log() + (mean - q.loc) / q.scale + f.exp(q.loc / q.scale) * mean_exp


def to_continuous_bernoulli(q: Any, mean: Any) -> Any:
    return -mean * q.logits - f.log1p(-q.probs) - q._cont_bern_log_norm()


def square(p: Any) -> Any:
    return p.variance + p.mean.pow(2)


@register_kl(Bernoulli, Poisson)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
@register_kl(Uniform, ContinuousBernoulli)
def into_continuous_bernoulli(p: Any, q: Any) -> Any:
    result = -p.entropy() + to_continuous_bernoulli(q, p.mean)
    if isinstance(p, Uniform):
        result = f.where((p.high >= q.support.upper_bound) | (p.low <= q.support.lower_bound), INF, result)
    return result


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() + to_exponential(q, p.mean)


@register_kl(Uniform, Exponential)
def _(p: Any, q: Any) -> Any:
    return f.where(p.low < 0.0, INF, -p.entropy() + to_exponential(q, p.mean))


@register_kl(Beta, Gamma)
def _(p: Any, q: Any) -> Any:
    a, total = p.concentration1, p.concentration1 + p.concentration0
    return -p.entropy() + to_gamma(q, p.mean, a.digamma() - total.digamma())


@register_kl(Exponential, Gamma)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() + to_gamma(q, p.mean, -euler_constant - p.rate.log())


@register_kl(Uniform, Gamma)
def _(p: Any, q: Any) -> Any:
    return f.where(p.low < 0.0, INF, -p.entropy() + to_gamma(q, p.mean, mean_log(p.low, p.high)))


def mean_log(low: Any, high: Any) -> Any:
    """The mean of log x over [low, high]."""
    return (f.xlogy(high, high) - f.xlogy(low, low)) / (high - low) - 1


@register_kl(Pareto, Gamma)
def _(p: Any, q: Any) -> Any:
    result = -p.entropy() + to_gamma(q, p.alpha * p.scale / (p.alpha - 1), p.scale.log() + p.alpha.reciprocal())
    return f.where(p.alpha <= 1, INF, result)


@register_kl(Pareto, Exponential)
def _(p: Any, q: Any) -> Any:
    return f.where(p.alpha <= 1, INF, -p.entropy() + to_exponential(q, p.alpha * p.scale / (p.alpha - 1)))


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Uniform, Normal)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() + to_normal(q, p.mean, square(p))


@register_kl(Pareto, Normal)
def _(p: Any, q: Any) -> Any:
    a = p.alpha
    return f.where(a <= 2, INF, -p.entropy() + to_normal(q, a * p.scale / (a - 1), a * p.scale.pow(2) / (a - 2)))


@register_kl(Exponential, Gumbel)
def _(p: Any, q: Any) -> Any:
    product = p.rate * q.scale
    return -p.entropy() + to_gumbel(q, p.mean, product / (product + 1))


@register_kl(Gamma, Gumbel)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() + to_gumbel(q, p.mean, (1 + (p.rate * q.scale).reciprocal()).pow(-p.concentration))


@register_kl(Normal, Gumbel)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() + to_gumbel(q, p.mean, f.exp(0.5 * (p.scale / q.scale).pow(2) - p.loc / q.scale))


@register_kl(Uniform, Gumbel)
def _(p: Any, q: Any) -> Any:
    ends = f.exp(-p.low / q.scale) - f.exp(-p.high / q.scale)
    return -p.entropy() + to_gumbel(q, p.mean, q.scale / (p.high - p.low) * ends)


@register_kl(Normal, Laplace)
def _(p: Any, q: Any) -> Any:
    off = (p.loc - q.loc) / p.scale
    mean_size = p.scale * (math.sqrt(2 / math.pi) * f.exp(-0.5 * off.pow(2)) + off * f.erf(math.sqrt(0.5) * off))
    return -p.entropy() + f.log(2 * q.scale) + mean_size / q.scale


@register_kl(Beta, Uniform)
def _(p: Any, q: Any) -> Any:
    return f.where((q.low > 0.0) | (q.high < 1.0), INF, -p.entropy() + (q.high - q.low).log())


@register_kl(ContinuousBernoulli, Uniform)
def _(p: Any, q: Any) -> Any:
    return f.where((q.low >= 0.0) | (q.high <= 1.0), INF, -p.entropy() + (q.high - q.low).log())


@register_kl(Uniform, Beta)
def _(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    cross = (a - 1) * mean_log(p.low, p.high) + (b - 1) * mean_log(1 - p.high, 1 - p.low)
    result = -p.entropy() + a.lgamma() + b.lgamma() - (a + b).lgamma() - cross
    return f.where((p.high > 1.0) | (p.low < 0.0), INF, result)


@register_kl(Uniform, Pareto)
def _(p: Any, q: Any) -> Any:
    cross = q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * mean_log(p.low, p.high)
    return f.where(p.low < q.scale, INF, -p.entropy() - cross)
