"""Distributions with parameters, made on either engine, and how what they give is compared."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import retrograd

Make = Callable[[Any, Any], Any]
SPD = [[2.0, 0.3, -0.2], [0.3, 1.5, 0.4], [-0.2, 0.4, 1.0]]
LOWER = [[1.2, 0.0, 0.0], [0.3, 0.8, 0.0], [-0.5, 0.4, 1.1]]
W = [[0.5, -0.3], [1.0, 0.2], [-0.7, 0.4]]

# name: what makes one from (torch.distributions, p), where p(data) is a parameter, a leaf that requires grad
CASES: dict[str, Make] = {
    "bernoulli": lambda D, p: D.Bernoulli(p([0.1, 0.5, 0.7])),
    "bernoulli_logits": lambda D, p: D.Bernoulli(logits=p([[0.1], [-3.0]])),
    "beta": lambda D, p: D.Beta(p([0.5, 2.0, 7.0]), p([1.5, 0.3, 4.0])),
    "beta_numbers": lambda D, p: D.Beta(2.0, 3),
    "binomial": lambda D, p: D.Binomial(p([10.0, 10.0, 10.0], False), p([0.1, 0.5, 0.9])),
    "binomial_logits": lambda D, p: D.Binomial(200, logits=p([0.1, -1.0])),
    "binomial_mixed": lambda D, p: D.Binomial(p([5.0, 80.0], False), probs=p([0.3, 0.6])),
    "categorical": lambda D, p: D.Categorical(p([0.1, 0.5, 0.9])),
    "categorical_logits": lambda D, p: D.Categorical(logits=p([[0.1, -1.0, 2.0], [0.0, 0.0, 0.5]])),
    "cauchy": lambda D, p: D.Cauchy(p([0.1, -1.0]), p([0.4, 2.0])),
    "chi2": lambda D, p: D.Chi2(p([0.7, 3.0, 11.0])),
    "continuous_bernoulli": lambda D, p: D.ContinuousBernoulli(p([0.1, 0.4999, 0.7])),
    "continuous_bernoulli_logits": lambda D, p: D.ContinuousBernoulli(logits=p([0.3, -2.0])),
    "dirichlet": lambda D, p: D.Dirichlet(p([[0.5, 1.0, 3.0], [2.0, 2.5, 0.2]])),
    "dirichlet_corner": lambda D, p: D.Dirichlet(p([[0.5, 0.3, 0.2], [2.0, 2.5, 0.2]])),
    "exponential": lambda D, p: D.Exponential(p([0.4, 2.0])),
    "fisher_snedecor": lambda D, p: D.FisherSnedecor(p([1.0, 5.0, 7.0]), p([1.5, 3.0, 9.0])),
    "gamma": lambda D, p: D.Gamma(p([0.2, 1.0, 4.0, 30.0]), p([1.5, 0.3, 4.0, 2.0])),
    "generalized_pareto": lambda D, p: D.GeneralizedPareto(p([0.1, -1.0]), p([0.4, 2.0]), p([0.3, -0.4])),
    "geometric": lambda D, p: D.Geometric(p([0.1, 0.5, 0.9])),
    "geometric_logits": lambda D, p: D.Geometric(logits=p([0.1, -2.0])),
    "gumbel": lambda D, p: D.Gumbel(p([0.1, -1.0]), p([0.4, 2.0])),
    "gumbel_numbers": lambda D, p: D.Gumbel(0.5, 2.0),
    "half_cauchy": lambda D, p: D.HalfCauchy(p([0.4, 2.0])),
    "half_normal": lambda D, p: D.HalfNormal(p([0.4, 2.0])),
    "independent": lambda D, p: D.Independent(D.Normal(p([[0.1, -1.0], [2.0, 0.0]]), p([[0.4, 2.0], [1.0, 3.0]])), 1),
    "inverse_gamma": lambda D, p: D.InverseGamma(p([0.7, 1.5, 4.0]), p([1.0, 0.3, 2.0])),
    "kumaraswamy": lambda D, p: D.Kumaraswamy(p([0.7, 1.5, 4.0]), p([1.0, 0.3, 2.0])),
    "laplace": lambda D, p: D.Laplace(p([0.1, -1.0]), p([0.4, 2.0])),
    "lkj": lambda D, p: D.LKJCholesky(3, p([0.7, 2.0])),
    "log_normal": lambda D, p: D.LogNormal(p([0.1, -1.0]), p([0.4, 1.0])),
    "logistic_normal": lambda D, p: D.LogisticNormal(p([0.1, -1.0]), p([0.4, 2.0])),
    "low_rank": lambda D, p: D.LowRankMultivariateNormal(p([0.1, -1.0, 2.0]), p(W), p([0.4, 2.0, 1.0])),
    "low_rank_batch": lambda D, p: D.LowRankMultivariateNormal(p([[0.1, -1.0, 2.0], [0.0, 1.0, 2.0]]), p(W), p([0.4, 2.0, 1.0])),
    "mixture": lambda D, p: D.MixtureSameFamily(D.Categorical(p([0.3, 0.7])), D.Normal(p([0.1, -1.0]), p([0.4, 2.0]))),
    "mixture_of_vectors": lambda D, p: D.MixtureSameFamily(
        D.Categorical(p([0.3, 0.7])), D.Independent(D.Normal(p([[0.1, -1.0], [2.0, 0.0]]), p([[0.4, 2.0], [1.0, 3.0]])), 1)),
    "multinomial": lambda D, p: D.Multinomial(5, p([[0.1, 0.5, 0.9], [0.3, 0.3, 0.1]])),
    "multivariate_normal": lambda D, p: D.MultivariateNormal(p([0.1, -1.0, 2.0]), p(SPD)),
    "multivariate_normal_precision": lambda D, p: D.MultivariateNormal(p([0.1, -1.0, 2.0]), precision_matrix=p(SPD)),
    "multivariate_normal_batch": lambda D, p: D.MultivariateNormal(
        p([[0.1, -1.0, 2.0], [0.0, 1.0, 2.0]]), scale_tril=p(LOWER)),
    "negative_binomial": lambda D, p: D.NegativeBinomial(p([3.0, 7.5]), p([0.2, 0.6])),
    "negative_binomial_logits": lambda D, p: D.NegativeBinomial(4, logits=p([0.2, -0.6])),
    "normal": lambda D, p: D.Normal(p([0.1, -1.0]), p([0.4, 2.0])),
    "normal_numbers": lambda D, p: D.Normal(0.5, 2),
    "normal_wide": lambda D, p: D.Normal(p([[0.1], [-1.0]]), p([0.4, 2.0, 1.0])),
    "one_hot": lambda D, p: D.OneHotCategorical(p([[0.1, 0.5, 0.9], [0.3, 0.3, 0.1]])),
    "one_hot_straight": lambda D, p: D.OneHotCategoricalStraightThrough(logits=p([0.1, 0.5, 0.9])),
    "pareto": lambda D, p: D.Pareto(p([0.4, 2.0]), p([1.5, 3.0])),
    "poisson": lambda D, p: D.Poisson(p([0.4, 3.0, 40.0])),
    "relaxed_bernoulli": lambda D, p: D.RelaxedBernoulli(p(0.7), p([0.1, 0.5, 0.9])),
    "relaxed_bernoulli_logits": lambda D, p: D.RelaxedBernoulli(p([0.7]), logits=p([0.1, -2.0])),
    "relaxed_one_hot": lambda D, p: D.RelaxedOneHotCategorical(p(0.7), p([0.1, 0.5, 0.9])),
    "student_t": lambda D, p: D.StudentT(p([0.9, 1.5, 4.0, 11.0]), p([0.1, -1.0, 2.0, 0.0]), p([0.4, 2.0, 1.0, 3.0])),
    "transformed": lambda D, p: D.TransformedDistribution(D.Uniform(p([0.0, 0.0]), p([1.0, 1.0])), [
        D.SigmoidTransform().inv, D.AffineTransform(loc=p([0.1, -1.0]), scale=p([0.4, -2.0]))]),
    "transformed_wide": lambda D, p: D.TransformedDistribution(
        D.Normal(p(0.0), p(1.0)), [D.AffineTransform(p([0.1, -1.0]), p([0.4, 2.0])), D.TanhTransform()]),
    "uniform": lambda D, p: D.Uniform(p([0.1, -1.0]), p([0.4, 2.0])),
    "von_mises": lambda D, p: D.VonMises(p([0.1, -1.0, 2.0]), p([0.4, 2.0, 30.0])),
    "weibull": lambda D, p: D.Weibull(p([0.4, 2.0]), p([0.7, 3.0])),
    "wishart": lambda D, p: D.Wishart(p(5.0), p(SPD)),
    "wishart_batch": lambda D, p: D.Wishart(p([4.0, 7.5]), scale_tril=p(LOWER).tril()),
}
MOMENTS = "mean mode variance stddev entropy perplexity".split()
# PyTorch approximates the derivatives of gamma and beta numbers
ROUGH = {"beta", "chi2", "dirichlet", "dirichlet_corner", "fisher_snedecor", "gamma", "inverse_gamma", "student_t", "wishart",
         "wishart_batch"}
SINGLE = {"generalized_pareto"}                 # which PyTorch does not compute in float64


class Side:
    """One engine, and the parameters made on it."""

    def __init__(self, torch: Any, double: bool = True) -> None:
        self.torch = torch
        self.D = importlib.import_module(f"{torch.__name__}.distributions")
        self.double = double
        self.dtype = torch.float64 if double else torch.float32
        self.leaves: list[Any] = []

    def p(self, data: Any, grad: bool = True) -> Any:
        leaf = self.torch.tensor(data, dtype=self.dtype, requires_grad=grad)
        if grad:
            self.leaves.append(leaf)
        return leaf

    def make(self, name: str) -> Any:
        if name in SINGLE:
            self.dtype = self.torch.float32
        return CASES[name](self.D, self.p)

    def gradients(self, y: Any, *more: Any) -> list[Any]:
        """Of a weighted sum of y, by each parameter, or None."""
        weights = self.torch.arange(1.0, y.numel() + 1, dtype=y.dtype).reshape(y.shape)
        found = self.torch.autograd.grad((y * weights).sum(), [*self.leaves, *more], retain_graph=True, allow_unused=True)
        return [None if g is None else g.numpy() for g in found]


def both(torch: Any, double: bool = True) -> tuple[Side, Side]:
    return Side(torch, double), Side(retrograd, double)


def outcome(f: Callable[..., Any], *given: Any) -> Any:
    """An array, or what was raised."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = f(*given)
    except Exception as error:
        return type(error).__name__, str(error).replace("retrograd", "torch")
    return y.detach().numpy() if hasattr(y, "detach") else y


def alike(a: Any, b: Any, rtol: float = 1e-9, atol: float = 1e-10, what: str = "") -> None:
    if isinstance(a, np.ndarray):
        assert isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape, (what, a, b)
        if a.dtype == np.float32:
            rtol, atol = max(rtol, 3e-5), max(atol, 1e-5)
        np.testing.assert_allclose(b, a, rtol=rtol, atol=atol, err_msg=what)
    elif isinstance(a, list):
        assert len(a) == len(b)
        for i, (x, y) in enumerate(zip(a, b)):
            alike(x, y, rtol, atol, f"{what} {i}")
    else:
        assert a == b, what


def moment_of(d: Any, moment: str) -> Any:
    y = getattr(d, moment)
    return y() if moment in ("entropy", "perplexity") else y


def near(name: str, rtol: float) -> float:
    """PyTorch's Bessel functions have six digits."""
    return 1e-4 if name == "von_mises" else rtol
