"""torch.distributions.Chi2"""
from __future__ import annotations

from typing import Any

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """Sums of the squares of df standard normal numbers; df need not be whole."""

    arg_constraints = {"df": constraints.positive}
    _params = Gamma._params

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Any:
        """Degrees of freedom."""
        return self.concentration * 2
