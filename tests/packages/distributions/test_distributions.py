"""torch.distributions against PyTorch: moments, densities, draws from a seed, gradients, divergences, errors, texts."""

from __future__ import annotations

import importlib
import math
import pickle
import pkgutil
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from distribution_cases import (
    CASES,
    MOMENTS,
    ROUGH,
    SPD,
    Make,
    Side,
    W,
    alike,
    both,
    moment_of,
    near,
    outcome,
)

import retrograd
import retrograd.distributions as ours
from retrograd.cli.run import torch_means_retrograd


@pytest.fixture(scope="module")
def torch() -> Any:
    found = pytest.importorskip("torch")
    importlib.import_module("torch.distributions").Distribution.set_default_validate_args(True)     # torch.compile says False
    return found


def drawn(side: Side, d: Any, shape: Any = (3,)) -> Any:
    side.torch.manual_seed(7)
    return outcome(d.sample, shape)


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_shapes_moments_and_texts_are_pytorchs(torch: Any, name: str) -> None:
    a, b = [side.make(name) for side in both(torch)]
    assert repr(b) == repr(a)
    assert (tuple(b.batch_shape), tuple(b.event_shape)) == (tuple(a.batch_shape), tuple(a.event_shape))
    assert (b.has_rsample, b.has_enumerate_support) == (a.has_rsample, a.has_enumerate_support)
    assert outcome(lambda: repr(b.support)) == outcome(lambda: repr(a.support))
    for moment in MOMENTS:
        x, y = [outcome(moment_of, d, moment) for d in (a, b)]
        alike(x, y, near(name, 1e-9), what=moment)
    for given in (True, False):
        alike(outcome(a.enumerate_support, given), outcome(b.enumerate_support, given))


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_moments_have_pytorchs_gradients(torch: Any, name: str) -> None:
    for moment in MOMENTS:
        found = []
        for side in both(torch):
            d = side.make(name)
            y = outcome(moment_of, d, moment)
            if isinstance(y, tuple) or y.dtype.kind != "f":
                continue
            y = moment_of(d, moment)
            found.append(side.gradients(y) if y.requires_grad else [])
        if found:
            alike(found[0], found[1], near(name, 1e-7), what=moment)


@pytest.mark.oracle
@pytest.mark.parametrize("double", [True, False], ids=["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_a_seed_draws_pytorchs_numbers(torch: Any, name: str, double: bool) -> None:
    sides = both(torch, double)
    a, b = [side.make(name) for side in sides]
    for shape in ((3,), (), (2, 9)):
        x, y = drawn(sides[0], a, shape), drawn(sides[1], b, shape)
        alike(x, y)
        assert float(torch.rand(1)) == float(retrograd.rand(1)), "as many random numbers were taken"


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_rsample_has_pytorchs_gradients(torch: Any, name: str) -> None:
    found = []
    for side in both(torch):
        d = side.make(name)
        if not d.has_rsample:
            return
        side.torch.manual_seed(3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = d.rsample((4,))
        known = y.requires_grad and not (side.torch is torch and "wishart" in name)    # there it raises
        found.append([y.detach().numpy(), *(side.gradients(y) if known else [])])
    alike(found[0][0], found[1][0])
    if "wishart" in name:
        assert all(np.isfinite(g).all() and g.any() for g in found[1][1:])
    elif name in ROUGH:
        alike(found[0][1:], found[1][1:], 5e-3, 5e-3)
    else:
        alike(found[0][1:], found[1][1:], 1e-7, 1e-8)


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_log_prob_and_its_gradients_are_pytorchs(torch: Any, name: str) -> None:
    sides = both(torch)
    a, b = [side.make(name) for side in sides]
    values = drawn(sides[0], a, (5,))
    found = []
    for side, d in zip(sides, (a, b)):
        value = side.torch.tensor(values)
        wants = values.dtype.kind == "f" and not getattr(d.support, "is_discrete", False)
        value.requires_grad_(wants)
        y = d.log_prob(value)
        found.append([y.detach().numpy(), *(side.gradients(y, *([value] if wants else [])) if y.requires_grad else [])])
    alike(found[0], found[1], near(name, 1e-8), 1e-8)


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_cdf_and_icdf_are_pytorchs(torch: Any, name: str) -> None:
    sides = both(torch)
    made = [side.make(name) for side in sides]
    values = drawn(sides[0], made[0], (5,))
    chances = np.linspace(0.01, 0.99, 7).reshape(7, *(1,) * len(made[0].batch_shape))
    for method, at in (("cdf", values), ("icdf", chances)):
        x, y = [outcome(getattr(d, method), side.torch.tensor(at)) for side, d in zip(sides, made)]
        alike(x, y, 1e-8, 1e-9, what=method)


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_expand_is_pytorchs(torch: Any, name: str) -> None:
    sides = both(torch)
    made = [side.make(name) for side in sides]
    wide = [d.expand((4, *d.batch_shape)) for d in made]
    assert (repr(wide[1]), tuple(wide[1].batch_shape)) == (repr(wide[0]), tuple(wide[0].batch_shape))
    assert type(wide[1]) is type(made[1])
    values = drawn(sides[0], wide[0], (2,))
    alike(values, drawn(sides[1], wide[1], (2,)))
    x, y = [outcome(d.log_prob, side.torch.tensor(values)) for side, d in zip(sides, wide)]
    alike(x, y, near(name, 1e-8), 1e-8)
    for moment in ("mean", "variance"):
        alike(outcome(moment_of, wide[0], moment), outcome(moment_of, wide[1], moment), near(name, 1e-9), what=moment)


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_values_that_do_not_fit_are_refused_in_pytorchs_words(torch: Any, name: str) -> None:
    sides = both(torch)
    made = [side.make(name) for side in sides]
    good = np.asarray(drawn(sides[0], Side(torch).make(name), (2,)), np.float64)
    for bad in (good * math.nan, good - 1e3, good + 0.37, good[..., None], np.zeros(7), good[0], np.float64(0.5)):
        x, y = [outcome(d.log_prob, side.torch.tensor(bad)) for side, d in zip(sides, made)]
        alike(x, y, near(name, 1e-6), 1e-7)
    alike(outcome(made[0].log_prob, 0.5), outcome(made[1].log_prob, 0.5))


REFUSED: dict[str, Make] = {
    "scale": lambda D, p: D.Normal(p([0.0, 1.0]), p([-1.0, 1.0])),
    "scale number": lambda D, p: D.Laplace(0.0, -1.0),
    "nan": lambda D, p: D.Normal(p([math.nan]), p([1.0])),
    "text": lambda D, p: D.Normal("a", 1.0),
    "shapes": lambda D, p: D.Normal(p([0.0, 1.0]), p([1.0, 1.0, 1.0])),
    "neither": lambda D, p: D.Bernoulli(),
    "both": lambda D, p: D.Categorical(p([0.5]), p([0.5])),
    "probs": lambda D, p: D.Bernoulli(p([1.5])),
    "negative": lambda D, p: D.Categorical(p([-0.5, 1.5])),
    "scalar": lambda D, p: D.Categorical(p(0.5)),
    "scalar logits": lambda D, p: D.Categorical(logits=p(0.5)),
    "dirichlet": lambda D, p: D.Dirichlet(p(0.5)),
    "dirichlet value": lambda D, p: D.Dirichlet(p([0.5, -1.0])),
    "uniform": lambda D, p: D.Uniform(p([1.0]), p([0.0])),
    "geometric": lambda D, p: D.Geometric(p([0.0])),
    "counts": lambda D, p: D.Binomial(p([1.0, 2.0]), p([0.2, 0.4])).entropy(),
    "counts of values": lambda D, p: D.Binomial(p([1.0, 2.0]), p([0.2, 0.4])).enumerate_support(),
    "continuous bernoulli": lambda D, p: D.ContinuousBernoulli(p([1.5]), validate_args=True),
    "lkj": lambda D, p: D.LKJCholesky(1),
    "multinomial": lambda D, p: D.Multinomial(p([1.0, 2.0]), p([0.2, 0.4])),
    "mvn": lambda D, p: D.MultivariateNormal(p([0.0, 0.0]), p([[1.0, 2.0], [2.0, 1.0]])),
    "mvn twice": lambda D, p: D.MultivariateNormal(p([0.0, 0.0]), p(SPD), p(SPD)),
    "mvn loc": lambda D, p: D.MultivariateNormal(p(0.0), p(SPD)),
    "mvn flat": lambda D, p: D.MultivariateNormal(p([0.0]), p([1.0])),
    "mvn flat tril": lambda D, p: D.MultivariateNormal(p([0.0]), scale_tril=p([1.0])),
    "mvn tril": lambda D, p: D.MultivariateNormal(p([0.0, 0.0]), scale_tril=p([[1.0, 2.0], [2.0, 1.0]])),
    "low rank": lambda D, p: D.LowRankMultivariateNormal(p([0.0, 0.0]), p(W), p([1.0, 1.0])),
    "low rank batch": lambda D, p: D.LowRankMultivariateNormal(p([[0.0] * 3] * 2), p([W] * 3), p([1.0] * 3)),
    "low rank diagonal": lambda D, p: D.LowRankMultivariateNormal(p([0.0] * 3), p(W), p([1.0] * 2)),
    "wishart": lambda D, p: D.Wishart(p(1.0), p(SPD)),
    "wishart twice": lambda D, p: D.Wishart(p(5.0)),
    "independent": lambda D, p: D.Independent(D.Normal(0.0, 1.0), 1),
    "mixture": lambda D, p: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0)),
    "mixture parts": lambda D, p: D.MixtureSameFamily(D.Categorical(p([0.5, 0.5])), 3),
    "mixture count": lambda D, p: D.MixtureSameFamily(D.Categorical(p([0.5, 0.5])), D.Normal(p([0.0] * 3), 1.0)),
    "mixture batch": lambda D, p: D.MixtureSameFamily(D.Categorical(p([[0.5] * 2] * 3)), D.Normal(p([[0.0] * 2] * 2), 1.0)),
    "transforms": lambda D, p: D.TransformedDistribution(D.Normal(0.0, 1.0), 3),
    "transform list": lambda D, p: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
    "transform dims": lambda D, p: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()),
    "cache": lambda D, p: D.ExpTransform(cache_size=2),
    "reshape": lambda D, p: D.ReshapeTransform((2,), (3,)),
    "registry": lambda D, p: D.biject_to(D.constraints.lower_cholesky),
    "register": lambda D, p: D.biject_to.register(3, abs),
    "default": lambda D, p: D.Distribution.set_default_validate_args(3),
    "no kl": lambda D, p: D.kl_divergence(D.Normal(0.0, 1.0), D.VonMises(p([0.0]), p([1.0]))),
    "kl counts": lambda D, p: D.kl_divergence(D.Binomial(2, p([0.5])), D.Binomial(3, p([0.5]))),
    "kl families": lambda D, p: D.kl_divergence(D.Normal(0.0, 1.0), D.Poisson(p([1.0]))),
    "kl vectors": lambda D, p: D.kl_divergence(
        D.MultivariateNormal(p([0.0] * 3), p(SPD)), D.MultivariateNormal(p([0.0]), p([[1.0]]))),
    "icdf": lambda D, p: D.Gamma(1.0, 1.0).icdf(p([0.5])),
    "negative count": lambda D, p: D.Multinomial(-1, p([0.5, 0.5])),
    "mode": lambda D, p: D.MixtureSameFamily(D.Categorical(p([1.0])), D.Normal(p([0.0]), 1.0)).mode,
    "rsample": lambda D, p: D.Poisson(1.0).rsample(),
    "cat": lambda D, p: D.CatTransform([D.ExpTransform()], 0, [2])(p([1.0])),
    "cat dim": lambda D, p: D.CatTransform([D.ExpTransform()], 3)(p([1.0])),
    "stack": lambda D, p: D.StackTransform([D.ExpTransform()])(p([1.0, 2.0])),
    "cat lengths": lambda D, p: D.constraints.cat([D.constraints.real], 0, [1, 2]),
    "tril": lambda D, p: D.utils.vec_to_tril_matrix(p([1.0, 2.0])),
    "diag": lambda D, p: D.utils.tril_matrix_to_vec(p([[1.0]]), 3),
    "dependent": lambda D, p: D.constraints.dependent.check(p([1.0])),
    "static": lambda D, p: D.Binomial.support.event_dim + D.Independent.support.event_dim,
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_made_is_refused_in_pytorchs_words(torch: Any, name: str) -> None:
    x, y = [outcome(REFUSED[name], side.D, side.p) for side in both(torch)]
    assert isinstance(x, tuple) and isinstance(y, tuple)
    assert y == x


# ---- divergences ----

KINDS: dict[str, Make] = {
    "Bernoulli": lambda D, p: D.Bernoulli(p([0.1, 0.5, 1.0])),
    "Beta": CASES["beta"],
    "Binomial": CASES["binomial"],
    "Categorical": lambda D, p: D.Categorical(p([0.1, 0.5, 0.0])),
    "Cauchy": CASES["cauchy"],
    "ContinuousBernoulli": CASES["continuous_bernoulli"],
    "Dirichlet": CASES["dirichlet"],
    "Exponential": lambda D, p: D.Exponential(p([[0.4], [2.0]])),
    "Gamma": lambda D, p: D.Gamma(p([0.2, 1.0, 4.0]), p([1.5, 0.3, 4.0])),
    "Geometric": CASES["geometric"],
    "Gumbel": lambda D, p: D.Gumbel(p([[0.1], [-1.0]]), p([[0.4], [2.0]])),
    "HalfNormal": CASES["half_normal"],
    "Independent": CASES["independent"],
    "Laplace": lambda D, p: D.Laplace(p([[0.1], [-1.0]]), p([[0.4], [2.0]])),
    "LowRankMultivariateNormal": CASES["low_rank"],
    "MultivariateNormal": CASES["multivariate_normal_batch"],
    "Normal": lambda D, p: D.Normal(p([[0.1], [-1.0]]), p([[0.4], [2.0]])),
    "OneHotCategorical": CASES["one_hot"],
    "Pareto": lambda D, p: D.Pareto(p([[0.4], [2.0]]), p([[0.7], [3.0]])),
    "Poisson": lambda D, p: D.Poisson(p([0.4, 3.0, 40.0])),
    "Uniform": lambda D, p: D.Uniform(p([[0.1], [-1.0], [0.5]]), p([[0.4], [2.0], [3.0]])),
    "TransformedDistribution": CASES["log_normal"],
    "LogNormal": CASES["log_normal"],
    "Wishart": CASES["wishart"],
    "Chi2": lambda D, p: D.Chi2(p([0.2, 1.0, 4.0])),
}
OTHER = {"Uniform": lambda D, p: D.Uniform(p([[0.0], [-3.0], [0.2]]), p([[1.0], [5.0], [4.0]])),
         "Pareto": lambda D, p: D.Pareto(p([[0.1], [2.5]]), p([[1.5], [2.0]])),
         "Categorical": lambda D, p: D.Categorical(p([0.3, 0.0, 0.7])),
         "Bernoulli": lambda D, p: D.Bernoulli(p([0.3, 0.0, 0.7]))}


@pytest.mark.oracle
def test_the_pairs_of_divergences_are_pytorchs(torch: Any) -> None:
    def pairs(module: Any) -> set[tuple[str, str]]:
        return {(a.__name__, b.__name__) for a, b in module._KL_REGISTRY}
    importlib.import_module("torch.distributions.kl")
    assert pairs(importlib.import_module("retrograd.distributions.kl")) == pairs(torch.distributions.kl)


@pytest.mark.oracle
@pytest.mark.parametrize("p", KINDS)
@pytest.mark.parametrize("q", KINDS)
def test_divergences_and_their_gradients_are_pytorchs(torch: Any, p: str, q: str) -> None:
    found = []
    for side in both(torch):
        pair = KINDS[p](side.D, side.p), OTHER.get(q, KINDS[q])(side.D, side.p)
        made = outcome(side.D.kl_divergence, *pair)
        if isinstance(made, np.ndarray):
            y = side.D.kl_divergence(*pair)
            finite = side.torch.where(side.torch.isfinite(y), y, side.torch.zeros_like(y))
            made = [made, *(side.gradients(finite) if finite.requires_grad else [])]
        found.append(made)
    if isinstance(found[0], tuple) and "shape of the mask" in found[0][1]:
        assert isinstance(found[1], list), "PyTorch does not broadcast there"
    elif isinstance(found[0], tuple):
        assert found[0][0] == found[1][0]
        assert found[0] == found[1] or "size of tensor" in found[0][1], "which of the two has which size is left open"
    else:
        alike(found[0][0], found[1][0], 1e-7, 1e-8)
        for x, y in zip(found[0][1:], found[1][1:]):
            if x is not None and np.isfinite(x).all():      # masked by multiplication, PyTorch's are nan
                alike(x, np.zeros_like(x) if y is None else y, 1e-6, 1e-7)


# ---- transforms ----

TRANSFORMS: dict[str, tuple[Make, Any]] = {
    "abs": (lambda D, p: D.AbsTransform(), [0.5, -1.0]),
    "affine": (lambda D, p: D.AffineTransform(p([0.1, 2.0]), p([1.5, -0.4])), [0.5, -1.0]),
    "affine numbers": (lambda D, p: D.AffineTransform(1.0, -2.0), [0.5, -1.0]),
    "affine event": (lambda D, p: D.AffineTransform(p([0.1, 2.0]), p([1.5, -0.4]), event_dim=1), [[0.5, -1.0]]),
    "cat": (lambda D, p: D.CatTransform([D.ExpTransform(), D.AffineTransform(p(1.0), p(2.0))], 0, [2, 1]), [0.5, -1.0, 2.0]),
    "cat inside": (lambda D, p: D.CatTransform(
        [D.StickBreakingTransform(), D.StickBreakingTransform()], 0, [1, 1]), [[0.5, -1.0], [0.3, 0.2]]),
    "compose": (lambda D, p: D.ComposeTransform([D.AffineTransform(p(0.2), p(2.0)), D.SigmoidTransform()]), [0.5, -1.0]),
    "compose vectors": (lambda D, p: D.ComposeTransform(
        [D.AffineTransform(p(0.2), p(2.0)), D.StickBreakingTransform(), D.ExpTransform()]), [[0.5, -1.0], [0.3, 0.0]]),
    "corr cholesky": (lambda D, p: D.CorrCholeskyTransform(), [[0.5, -1.0, 0.2], [0.0, 2.0, 1.0]]),
    "cdf": (lambda D, p: D.CumulativeDistributionTransform(D.Normal(p(0.2), p(1.5))), [0.5, -1.0]),
    "exp": (lambda D, p: D.ExpTransform(), [0.5, -1.0]),
    "identity": (lambda D, p: D.identity_transform, [0.5, -1.0]),
    "independent": (lambda D, p: D.IndependentTransform(D.ExpTransform(), 1), [[0.5, -1.0], [0.3, 0.0]]),
    "inverse": (lambda D, p: D.SoftplusTransform().inv, [0.5, 1.0]),
    "inverse of several": (
        lambda D, p: D.ComposeTransform([D.ExpTransform(), D.AffineTransform(p(0.1), p(2.0))]).inv, [0.5, 1.0]),
    "lower cholesky": (lambda D, p: D.LowerCholeskyTransform(), [[0.5, -1.0], [0.3, 0.0]]),
    "positive definite": (lambda D, p: D.PositiveDefiniteTransform(), [[0.5, -1.0], [0.3, 0.0]]),
    "power": (lambda D, p: D.PowerTransform(p([2.0, -0.5])), [0.5, 1.0]),
    "reshape": (lambda D, p: D.ReshapeTransform((2, 2), (4,)), [[[0.5, -1.0], [0.3, 0.0]]]),
    "sigmoid": (lambda D, p: D.SigmoidTransform(), [0.5, -40.0]),
    "softmax": (lambda D, p: D.SoftmaxTransform(), [[0.5, -1.0], [0.3, 0.0]]),
    "softplus": (lambda D, p: D.SoftplusTransform(), [0.5, 30.0]),
    "stack": (lambda D, p: D.StackTransform([D.ExpTransform(), D.TanhTransform()], 1), [[0.5, -1.0], [0.3, 0.0]]),
    "stick breaking": (lambda D, p: D.StickBreakingTransform(), [[0.5, -1.0], [0.3, 0.0]]),
    "tanh": (lambda D, p: D.TanhTransform(), [0.5, -1.0]),
}


@pytest.mark.oracle
@pytest.mark.parametrize("cache", [0, 1])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_are_pytorchs(torch: Any, name: str, cache: int) -> None:
    make, data = TRANSFORMS[name]
    found = []
    for side in both(torch):
        t = make(side.D, side.p)
        t = t.with_cache(1) if cache else t
        x = side.torch.tensor(data, dtype=side.dtype, requires_grad=True)
        y = t(x)
        back = t.inv(y)
        assert (back is x) == bool(cache and name != "identity") or name == "identity"
        change = outcome(t.log_abs_det_jacobian, x, y)
        grads = side.gradients(t.log_abs_det_jacobian(x, y), x) if isinstance(change, np.ndarray) and (
            t.log_abs_det_jacobian(x, y).requires_grad) else []
        sign = outcome(getattr, t, "sign")
        shapes = [outcome(lambda f, s: tuple(f(s)), getattr(t, f), side.torch.Size(s))
                  for f in ("forward_shape", "inverse_shape") for s in (x.shape, y.shape, (), (7,), (3, 3))]
        found.append([y.detach().numpy(), back.detach().numpy(), change, grads, side.gradients(y, x), repr(t), sign, shapes,
                      *[outcome(lambda *of: repr(getattr(*of)), t, n) for n in ("domain", "codomain", "bijective")],
                      outcome(getattr, t, "event_dim"), t == t, t == make(side.D, Side(side.torch).p), t == 3])
    for a, b in zip(*found):
        alike(a, b, 1e-8, 1e-9)


REGIONS: dict[str, Make] = {
    "real": lambda c, p: c.real,
    "real_vector": lambda c, p: c.real_vector,
    "positive": lambda c, p: c.positive,
    "nonnegative": lambda c, p: c.nonnegative,
    "greater_than": lambda c, p: c.greater_than(p([1.0, -2.0])),
    "greater_than_eq": lambda c, p: c.greater_than_eq(0.5),
    "less_than": lambda c, p: c.less_than(0.5),
    "unit_interval": lambda c, p: c.unit_interval,
    "interval": lambda c, p: c.interval(-1.0, 3.0),
    "half_open_interval": lambda c, p: c.half_open_interval(-1.0, 3.0),
    "simplex": lambda c, p: c.simplex,
    "lower_cholesky": lambda c, p: c.lower_cholesky,
    "corr_cholesky": lambda c, p: c.corr_cholesky,
    "positive_definite": lambda c, p: c.positive_definite,
    "positive_semidefinite": lambda c, p: c.positive_semidefinite,
    "independent": lambda c, p: c.independent(c.positive, 1),
    "cat": lambda c, p: c.cat([c.positive, c.real], -1, [1, 1]),
    "stack": lambda c, p: c.stack([c.positive, c.real], -1),
    "boolean": lambda c, p: c.boolean,
    "one_hot": lambda c, p: c.one_hot,
    "nonnegative_integer": lambda c, p: c.nonnegative_integer,
    "positive_integer": lambda c, p: c.positive_integer,
    "integer_interval": lambda c, p: c.integer_interval(0, 2),
    "less_than_integer": lambda c, p: c._IntegerLessThan(1),
    "multinomial": lambda c, p: c.multinomial(3),
    "lower_triangular": lambda c, p: c.lower_triangular,
    "square": lambda c, p: c.square,
    "symmetric": lambda c, p: c.symmetric,
    "mixture": lambda c, p: c.MixtureSameFamilyConstraint(c.positive),
    "dependent": lambda c, p: c.dependent(is_discrete=True, event_dim=1),
}
POINTS: list[Any] = [
    [0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [-1.0, 2.0], [math.nan, 1.0], [3.0, 0.2], [[1.0, 0.0], [0.0, 1.0]],
    [[1.0, 0.0], [0.6, 0.8]], [[1.0, 2.0], [2.0, 1.0]], [[2.0, 0.5], [0.5, 1.0]], [[1.0, 1.0], [0.0, 1.0]],
    [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 1.0], [1.0, 1.0]],
]


@pytest.mark.oracle
@pytest.mark.parametrize("name", REGIONS)
def test_constraints_are_pytorchs(torch: Any, name: str) -> None:
    found = []
    for side in both(torch):
        c = REGIONS[name](side.D.constraints, partial(side.p, grad=False))
        rows = [repr(c), c.is_discrete, c.event_dim, side.D.constraints.is_dependent(c)]
        rows += [outcome(c.check, side.p(x, False)) for x in POINTS]
        for registry in (side.D.biject_to, side.D.transform_to):
            shape = (2, 1) if name == "corr_cholesky" else (2, 2)
            x = side.torch.tensor([[0.3, -1.0], [2.0, 0.5]], dtype=side.dtype)[:shape[0], :shape[1]]
            rows += [outcome(lambda r, c: repr(r(c)), registry, c), outcome(lambda r, c, x: r(c)(x), registry, c, x)]
        found.append(rows)
    for a, b in zip(*found):
        alike(a, b)


LIMITS: list[Any] = [
    ours.constraints.real, ours.constraints.real_vector, ours.constraints.positive, ours.constraints.nonnegative,
    ours.constraints.greater_than(0.1), ours.constraints.greater_than_eq(0.1), ours.constraints.less_than(0.1),
    ours.constraints.unit_interval, ours.constraints.interval(0.1, 0.7), ours.constraints.half_open_interval(-1, 1),
    ours.constraints.interval(-math.inf, math.inf), ours.constraints.interval(True, 2), ours.constraints.integer_interval(0, 1),
    ours.constraints.integer_interval(0.5, 2), ours.constraints.nonnegative_integer, ours.constraints.positive_integer,
    ours.constraints.boolean, ours.constraints.simplex, ours.constraints.greater_than(retrograd.tensor([0.0, 1.0])),
    ours.constraints.independent(ours.constraints.positive, 2),
]


@pytest.mark.parametrize("limit", LIMITS, ids=[f"{i} {c}" for i, c in enumerate(LIMITS)])
def test_a_constraint_holds_where_each_element_is_found_inside(limit: Any) -> None:
    numbers = [0.0, -0.0, 0.1, 0.7, 0.5, 1.0, 2.0, -1.0, 1e30, math.inf, -math.inf, math.nan]
    for dtype in (retrograd.float32, retrograd.float64, retrograd.float16, retrograd.int64, retrograd.int32):
        for a in numbers if dtype.is_floating_point else (0, 1, 2, 3, -1):
            for b in (0.1, 0.5, 1.0) if dtype.is_floating_point else (0, 1, 2):
                value = retrograd.tensor([[a, b], [b, b]], dtype=dtype)
                for x in (value, value[0], value[:, 0], value[0, 0], value[:0]):
                    checked = outcome(lambda limit, x: bool(limit.check(x).all()), limit, x)
                    assert outcome(ours.constraints.holds, limit, x) == checked, (x, checked)


@pytest.mark.oracle
def test_every_module_and_name_is_there(torch: Any) -> None:
    for module in pkgutil.iter_modules(torch.distributions.__path__):
        theirs = importlib.import_module(f"torch.distributions.{module.name}")
        mine = importlib.import_module(f"retrograd.distributions.{module.name}")
        assert set(getattr(theirs, "__all__", ())) <= set(dir(mine)), module.name
    assert sorted(ours.__all__) == sorted(torch.distributions.__all__)
    for name in ours.__all__:
        mine, theirs = getattr(ours, name), getattr(torch.distributions, name)
        if isinstance(mine, type):
            missing = {n for n in dir(theirs) if not n.startswith("_")} - set(dir(mine))
            assert not missing, (name, missing)
            assert mine.__module__.removeprefix("retrograd") == theirs.__module__.removeprefix("torch")


# ---- without PyTorch ----


@pytest.mark.parametrize("shape", [0.05, 0.4, 1.0, 2.5, 60.0])
def test_gamma_numbers_have_the_moments_and_the_distribution_function_of_their_shape(shape: float) -> None:
    retrograd.manual_seed(0)
    x = ours.Gamma(shape, 2.0).sample((20000,))
    assert abs(float(x.mean()) - shape / 2) < 5 * math.sqrt(shape) / 2 / math.sqrt(20000)
    uniform = np.sort(ours.Gamma(shape, 2.0).cdf(x).numpy())
    assert np.abs(uniform - np.linspace(0, 1, 20000)).max() < 0.015         # Kolmogorov's distance


@pytest.mark.parametrize("n, p", [(3.0, 0.2), (40.0, 0.1), (40.0, 0.5), (1000.0, 0.97), (5.0, 0.0), (5.0, 1.0)])
def test_binomial_numbers_have_the_moments_of_their_parameters(n: float, p: float) -> None:
    retrograd.manual_seed(0)
    x = ours.Binomial(n, retrograd.tensor(p)).sample((10000,)).numpy().astype(np.float64)
    assert abs(x.mean() - n * p) <= 5 * math.sqrt(n * p * (1 - p) / 10000)
    assert x.var() == pytest.approx(n * p * (1 - p), rel=0.08)


def test_the_derivative_of_beta_numbers_of_shape_a_and_1_is_that_of_u_to_the_1_over_a() -> None:
    a = retrograd.tensor([0.3, 1.0, 2.5, 40.0], dtype=retrograd.float64)
    x = retrograd.tensor([[1e-6], [0.2], [0.5], [0.999]], dtype=retrograd.float64)
    found = retrograd._dirichlet_grad(x, a.expand(4, 4), a + 1).numpy() * (1 - x).numpy()     # type: ignore[attr-defined]
    np.testing.assert_allclose(found, (-x * x.log() / a).numpy(), rtol=1e-11)


@pytest.mark.parametrize("a", [0.1, 0.9, 1.0, 3.0, 20.0])
def test_the_derivative_of_gamma_numbers_is_that_of_their_distribution_function(a: float) -> None:
    x = np.concatenate([a * np.array([0.4, 0.7, 1.0, 1.3, 2.0]), [0.999, 1.001] if a < 9 else [15.0, 30.0]])
    shape = retrograd.tensor(a, dtype=retrograd.float64)
    found = retrograd._standard_gamma_grad(shape.expand(7), retrograd.tensor(x)).numpy()      # type: ignore[attr-defined]
    # the same integral by the trapezoidal rule in log t, where cutting off both ends costs nothing
    s = np.linspace(-60 / a - 5, math.log(max(x) + 60 + 9 * math.sqrt(a)), 2_000_001)
    t = np.exp(s)
    density = np.exp(a * s - t - math.lgamma(a))
    mean_log = float(ours.Gamma(shape, 1.0).concentration.digamma())
    steps = density * (s - mean_log) * (s[1] - s[0])
    lower = np.cumsum(steps) - steps / 2
    slope = np.interp(np.log(x), s, lower)
    np.testing.assert_allclose(found, -slope / np.exp((a - 1) * np.log(x) - x - math.lgamma(a)), rtol=2e-5)


def test_derivatives_at_the_ends_of_shapes_and_numbers_are_finite() -> None:
    def beta(x: float, a: float, total: float) -> float:
        given = [retrograd.tensor([v], dtype=retrograd.float64) for v in (x, a, total)]
        return float(retrograd._dirichlet_grad(*given))                                       # type: ignore[attr-defined]

    def gamma(a: float, x: float) -> float:
        given = [retrograd.tensor([v], dtype=retrograd.float64) for v in (a, x)]
        return float(retrograd._standard_gamma_grad(*given))                                  # type: ignore[attr-defined]

    for a in (1.0, 1e6, 1e9):                   # u ** (1 / a), which is 1 or little less
        x = 1.0 - 0.7 / a
        assert beta(x, a, a + 1) == pytest.approx(-x * math.log1p(-0.7 / a) / a * a / 0.7, rel=1e-9)
    assert beta(1.0, 1.0, 2.0) == pytest.approx(1.0) and beta(0.0, 1.0, 2.0) == 0 and gamma(2.0, 0.0) == 0
    assert beta(1.0, 1.0, 1.0) == pytest.approx(math.pi**2 / 6), "the limit for concentrations that are rounded away"
    for z in (-2.0, 0.0, 2.0):                  # nearly a + sqrt(a) z
        assert gamma(1e12, 1e12 + z * 1e6) == pytest.approx(1 + z / 2e6, rel=1e-8)
    for large in ([1e8, 1.0], [1e-30, 1.0], [1e-3, 1e9]):
        concentration = retrograd.tensor(large, requires_grad=True)
        ours.Dirichlet(concentration).rsample((50,))[:, 0].sum().backward()
        assert concentration.grad is not None and bool(concentration.grad.isfinite().all())


def test_second_derivatives_of_gamma_numbers_are_refused_as_in_pytorch() -> None:
    a = retrograd.tensor([2.0, 3.0], requires_grad=True)
    g, = retrograd.autograd.grad(retrograd._standard_gamma(a).sum(), a, create_graph=True)    # type: ignore[attr-defined]
    with pytest.raises(NotImplementedError, match="the derivative for '_standard_gamma_grad' is not implemented"):
        g.sum().backward()


def test_a_subclass_with_its_own_init_needs_its_own_expand() -> None:
    class Mine(ours.Normal):
        def __init__(self, loc: Any) -> None:
            super().__init__(loc, 1.0)

    with pytest.raises(NotImplementedError, match="Subclass Mine of Normal that defines a custom __init__ method must also"):
        Mine(retrograd.zeros(2)).expand((3, 2))

    class Same(ours.Normal):
        pass

    assert type(Same(0.0, 1.0).expand((3,))) is Same


def test_a_distribution_of_ones_own() -> None:
    class Coin(ours.Distribution):
        def sample(self, sample_shape: Any = ()) -> Any:
            return retrograd.ones(self._extended_shape(sample_shape))

    with pytest.warns(UserWarning, match="does not define `arg_constraints`. Please set"):
        coin = Coin(retrograd.Size([2]))
    assert coin.sample((3,)).shape == (3, 2)
    for ask in (lambda: coin.mean, lambda: coin.variance, coin.entropy, lambda: coin.expand((3,)), coin.rsample):
        with pytest.raises(NotImplementedError):
            ask()
    with pytest.warns(UserWarning, match="does not define `support` to enable sample validation"):
        coin._validate_sample(retrograd.zeros(2))
    with pytest.warns(FutureWarning, match="`sample_n"):
        assert coin.sample_n(4).shape == (4, 2)


def test_the_nearest_registered_divergence_is_taken_and_a_tie_is_told() -> None:
    from retrograd.distributions import kl

    class A(ours.Normal):
        pass

    class B(A):
        pass

    before = dict(kl._KL_REGISTRY)
    try:
        ours.register_kl(A, ours.Normal)(lambda p, q: "A, Normal")
        assert ours.kl_divergence(B(0.0, 1.0), B(0.0, 1.0)) == "A, Normal"
        ours.register_kl(ours.Normal, A)(lambda p, q: "Normal, A")
        with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(B, B\). Please register_kl\(A, A\)"):
            assert ours.kl_divergence(B(0.0, 1.0), B(0.0, 1.0)) == "A, Normal"
        ours.register_kl(A, A)(lambda p, q: "A, A")
        assert ours.kl_divergence(B(0.0, 1.0), A(0.0, 1.0)) == "A, A"
    finally:
        kl._KL_REGISTRY.clear()
        kl._KL_REGISTRY.update(before)
        kl._KL_MEMOIZE.clear()


def test_distributions_and_transforms_are_pickled() -> None:
    for made in (ours.Normal(0.0, 1.0), ours.Categorical(retrograd.ones(3)), ours.LogNormal(0.0, 1.0)):
        again = pickle.loads(pickle.dumps(made))
        assert repr(again) == repr(made) and type(again) is type(made)
    t = ours.ExpTransform()
    assert t.inv.inv is t and pickle.loads(pickle.dumps(t)) == t


def test_validation_can_be_switched_off() -> None:
    assert float(ours.Normal(0.0, -1.0, validate_args=False).loc) == 0
    ours.Distribution.set_default_validate_args(False)
    try:
        ours.Normal(0.0, -1.0)
    finally:
        ours.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="to satisfy the constraint GreaterThan"):
        ours.Normal(0.0, -1.0)


def test_under_run_the_modules_have_pytorchs_names() -> None:
    with torch_means_retrograd():
        found: dict[str, Any] = {}
        exec("import torch, torch.distributions as D\nfrom torch.distributions.normal import Normal\n"
             "from torch.distributions import constraints, kl_divergence\n", found)
        assert found["Normal"] is ours.Normal and found["D"].Normal is ours.Normal
        assert found["torch"].distributions.kl.kl_divergence is found["kl_divergence"]


@pytest.mark.parametrize("call", [
    "D.Normal()", "D.Laplace(1, 2, 3, 4)", "D.Cauchy(1, place=2)", "D.StackTransform()", "D.Geometric(o).param_shape",
    "D.NegativeBinomial(1, o).param_shape", "D.Weibull(o, o).expand((5, 2))", "D.Pareto(o, o).expand((5, 2))",
    "D.Kumaraswamy(o, o).expand((-1, 3))", "D.Gumbel(o, o).expand(5)", "D.Gumbel(o, o).expand(None)", "D.Weibull(o, o).expand(3)",
    "D.Weibull(o, o).expand([2, 3])"])
def test_wrong_calls_are_told_in_pytorchs_words(call: str, torch: Any) -> None:
    def told(engine: Any) -> str:
        try:
            return str(eval(call, {"D": engine.distributions, "o": engine.ones(3)}))
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    assert told(retrograd) == told(torch)
