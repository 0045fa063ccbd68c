"""torch.distributions.Chi2"""
from __future__ import annotations

from typing import Any

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """Chi-squared distribution: the sum of df squared standard normal variables; df may be fractional.

    Density proportional to x ** (df / 2 - 1) exp(-x / 2).

    Parameters: df > 0.
    Support: x >= 0.  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"df": constraints.positive}
    _params = Gamma._params

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Any:
        """Degrees of freedom."""
        return self.concentration * 2
