"""torch.distributions.kl: Kullback-Leibler divergences KL(p || q) = E_p log(p / q), found by the types of p and q.

Most are -entropy(p) - E_p log q, in closed form.   Formulas: Gil, Alajaji, Linder 2013, and _kl_pairs.py for pairs of two kinds
"""
from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any, TypeVar

from retrograd import _functions as f
from retrograd._engine.warn import warn
from retrograd.autograd import grad
from retrograd.linalg import solve_triangular
from retrograd.nn.functional import softplus

from ._gaussian import log_diagonal, lowrank_logdet, lowrank_mahalanobis, mahalanobis, trace_square
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import euler_constant, sum_rightmost

F = TypeVar("F", bound=Callable[..., Any])
__all__ = ["register_kl", "kl_divergence"]
Pair = tuple[type, type]
_KL_REGISTRY: dict[Pair, Callable[[Any, Any], Any]] = {}
_KL_MEMOIZE: dict[Pair, Any] = {}
INF = float("inf")


def register_kl(type_p: Any, type_q: Any) -> Callable[[F], F]:
    """@register_kl(P, Q) on a function (p, q) -> KL(p || q), for the Distributions type_p and type_q and their subclasses.

    If several fit, the types nearest to p's and q's decide; if that is ambiguous, a RuntimeWarning names the missing pair.
    """
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def decorator(fun: F) -> F:
        _KL_REGISTRY[type_p, type_q] = fun
        _KL_MEMOIZE.clear()                     # what was found before may be nearer now
        return fun

    return decorator


def kl_divergence(p: Any, q: Any) -> Any:
    """KL(p || q), with p's and q's batch shapes broadcast.   NotImplementedError if no function is registered for their types"""
    pair = type(p), type(q)
    if pair not in _KL_MEMOIZE:
        _KL_MEMOIZE[pair] = found(*pair)
    fun = _KL_MEMOIZE[pair]
    if fun is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {pair[0].__name__} and q type {pair[1].__name__}")
    return fun(p, q)


def found(type_p: type, type_q: type) -> Any:
    fits = [(a, b) for a, b in _KL_REGISTRY if issubclass(type_p, a) and issubclass(type_q, b)]
    if not fits:
        return None
    by_p = min(fits, key=cmp_to_key(nearer))
    by_q = min([(b, a) for a, b in fits], key=cmp_to_key(nearer))[::-1]
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
             f"Please register_kl({by_p[0].__name__}, {by_q[1].__name__})", RuntimeWarning)
    return _KL_REGISTRY[by_p]


def nearer(a: Pair, b: Pair) -> int:
    """-1 where a is the more special pair, the first types counting first."""
    for x, y in zip(a, b):
        if x is not y:
            return -1 if issubclass(x, y) else 1
    return 0


# ---- pairs of one kind ----


@register_kl(Bernoulli, Bernoulli)
def _(p: Any, q: Any) -> Any:
    ones = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    ones = f.where(q.probs == 0, INF, ones).masked_fill(p.probs == 0, 0)
    zeros = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return ones + f.where(q.probs == 1, INF, zeros).masked_fill(p.probs == 1, 0)


@register_kl(Beta, Beta)
def _(p: Any, q: Any) -> Any:
    a, b, c, d = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    sizes = (c.lgamma() + d.lgamma() + (a + b).lgamma()) - (a.lgamma() + b.lgamma() + (c + d).lgamma())
    return sizes + (a - c) * a.digamma() + (b - d) * b.digamma() + ((c + d) - (a + b)) * (a + b).digamma()


@register_kl(Binomial, Binomial)
def _(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return f.where(p.total_count > q.total_count, INF, p.total_count * each)


@register_kl(Categorical, Categorical)
def _(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    return f.where(q.probs == 0, INF, terms).masked_fill(p.probs == 0, 0).sum(-1)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _(p: Any, q: Any) -> Any:
    return (p.mean * (p.logits - q.logits) + p._cont_bern_log_norm() + f.log1p(-p.probs)
            - q._cont_bern_log_norm() - f.log1p(-q.probs))


@register_kl(Dirichlet, Dirichlet)
def _(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    sizes = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return sizes + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _(p: Any, q: Any) -> Any:
    """The Bregman divergence of the log normalizer.   Nielsen and Nock 2010"""
    if type(p) is not type(q):
        raise NotImplementedError("The cross KL-divergence between different exponential families cannot"
                                  "                             be computed using Bregman divergences")
    thetas = [theta.detach().requires_grad_() for theta in p._natural_params]
    others = q._natural_params
    normal = p._log_normalizer(*thetas)
    slopes = grad(normal.sum(), thetas, create_graph=True)
    total = q._log_normalizer(*others) - normal
    for theta, other, slope in zip(thetas, others, slopes):
        total = total - sum_rightmost((other - theta) * slope, len(q.event_shape))
    return total


@register_kl(Gamma, Gamma)
def _(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    return (b * (p.rate / q.rate).log() + f.lgamma(b) - f.lgamma(a) + (a - b) * f.digamma(a)
            + (q.rate - p.rate) * (a / p.rate))


@register_kl(Gumbel, Gumbel)
def _(p: Any, q: Any) -> Any:
    ratio, off = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return -ratio.log() + off + ratio * euler_constant + f.exp((1 + ratio).lgamma() - off) - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() - f.log1p(-q.probs) / p.probs - q.logits


@register_kl(Normal, Normal)
def normals(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _(p: Any, q: Any) -> Any:
    return normals(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _(p: Any, q: Any) -> Any:
    ratio, off = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + off / q.scale + ratio * f.exp(-off / p.scale) - 1


@register_kl(OneHotCategorical, OneHotCategorical)
def _(p: Any, q: Any) -> Any:
    return kl_divergence(p._categorical, q._categorical)


@register_kl(Pareto, Pareto)
def _(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    inside = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return f.where(p.scale < q.scale, INF, inside)


@register_kl(Poisson, Poisson)
def _(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Uniform, Uniform)
def _(p: Any, q: Any) -> Any:
    inside = ((q.high - q.low) / (p.high - p.low)).log()
    return f.where((q.low > p.low) | (q.high < p.high), INF, inside)


@register_kl(Independent, Independent)
def _(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Cauchy, Cauchy)
def _(p: Any, q: Any) -> Any:
    """Chyzak and Nielsen 2019"""
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


# ---- normal vectors: (log det Q - log det P + trace(Q^-1 P) + squared distance - n) / 2 ----


def vectors(p: Any, q: Any, which: str) -> int:
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {which} with                          different event shapes cannot be "
                         "computed")
    return int(p.event_shape[0])


def half_logdet(p: Any) -> Any:
    if isinstance(p, MultivariateNormal):
        return log_diagonal(p._unbroadcasted_scale_tril)
    factor, diagonal = p._covariance
    return lowrank_logdet(factor, diagonal, p._capacitance_tril) / 2


def distance(p: Any, q: Any) -> Any:
    off = q.loc - p.loc
    if isinstance(q, MultivariateNormal):
        return mahalanobis(q._unbroadcasted_scale_tril, off)
    factor, diagonal = q._covariance
    return lowrank_mahalanobis(factor, diagonal, off, q._capacitance_tril)


def solved(q: Any, factor: Any) -> Any:
    """trace(Q^-1 F F') for Q = L L'"""
    return trace_square(solve_triangular(q._unbroadcasted_scale_tril, factor, upper=False))


def lowrank_solved(q: Any, factor: Any) -> Any:
    """trace(Q^-1 F F') for Q = W W' + diag(D), by Woodbury's identity"""
    W, D = q._covariance
    half = solve_triangular(q._capacitance_tril, W.mT / D.unsqueeze(-2), upper=False)
    return trace_square(factor * D.rsqrt().unsqueeze(-1)) - trace_square(half.matmul(factor))


def roots(p: Any) -> list[Any]:
    """Matrices F whose F F' add up to the covariance."""
    if isinstance(p, MultivariateNormal):
        return [p._unbroadcasted_scale_tril]
    W, D = p._covariance
    return [W, f.diag_embed(D.sqrt())]


def gaussians(p: Any, q: Any, names: str, solve: Any) -> Any:
    """solve(q, F)   trace(Q^-1 F F')"""
    n = vectors(p, q, names)
    first, *more = roots(p)
    traces = solve(q, first)
    for factor in more:
        traces = traces + solve(q, factor)
    return half_logdet(q) - half_logdet(p) + 0.5 * (traces + distance(p, q) - n)


@register_kl(MultivariateNormal, MultivariateNormal)
def _(p: Any, q: Any) -> Any:
    return gaussians(p, q, "Multivariate Normals", solved)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _(p: Any, q: Any) -> Any:
    return gaussians(p, q, "Low Rank Multivariate Normals", lowrank_solved)


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _(p: Any, q: Any) -> Any:
    return gaussians(p, q, "(Low Rank) Multivariate Normals", lowrank_solved)


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _(p: Any, q: Any) -> Any:
    return gaussians(p, q, "(Low Rank) Multivariate Normals", solved)
