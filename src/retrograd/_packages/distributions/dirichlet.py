"""torch.distributions.Dirichlet"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f
from retrograd._functions.gammas import _dirichlet_grad, _sample_dirichlet
from retrograd.autograd import Function
from retrograd.autograd.function import once_differentiable
from retrograd.nn.functional import one_hot

from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class _Dirichlet(Function):
    """Points whose gradients come by way of each coordinate's beta distribution.   Jankowiak and Obermeyer 2018"""

    @staticmethod
    def forward(ctx: Any, concentration: Any) -> Any:
        x = _sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        return _dirichlet_grad(x, concentration, total) * (g - (x * g).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """Dirichlet distribution: density proportional to the product of x_i ** (concentration_i - 1).

    Parameters: concentration (..., K), all > 0.
    Support: vectors (..., K) >= 0 that sum to 1.  ValueError for other parameters and, in log_prob, other values (unless
    validate_args=False).
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _params = {"concentration": 1}

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return f.xlogy(a - 1.0, value).sum(-1) + f.lgamma(a.sum(-1)) - f.lgamma(a).sum(-1)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        corners = (self.concentration < 1).all(dim=-1)          # there the density is greatest
        mode[corners] = one_hot(mode[corners].argmax(dim=-1), above.shape[-1]).to(mode)
        return mode

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Any:
        a, total = self.concentration, self.concentration.sum(-1)
        return (f.lgamma(a).sum(-1) - f.lgamma(total) - (a.size(-1) - total) * f.digamma(total)
                - ((a - 1.0) * f.digamma(a)).sum(-1))

    @property
    def _natural_params(self) -> Any:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return x.lgamma().sum(-1) - f.lgamma(x.sum(-1))
