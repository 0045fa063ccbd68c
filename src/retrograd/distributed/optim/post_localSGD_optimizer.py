"""PostLocalSGDOptimizer: an optimizer after whose steps the ranks' parameters are averaged now and then.

Lin et al. 2018, arXiv 1808.07217.
"""
from __future__ import annotations

import warnings
from typing import Any

from ...optim import Optimizer
from ..algorithms.model_averaging.averagers import ModelAverager

NO_STEP = "Loaded state dict does not contain a step counter for an averager. Setting step counter to 0."


class PostLocalSGDOptimizer(Optimizer):
    """Steps as `optim` does, then lets `averager` average the parameters."""

    def __init__(self, optim: Optimizer, averager: ModelAverager) -> None:
        self.optim, self.averager = optim, averager
        self.param_groups = optim.param_groups

    @property
    def state(self) -> Any:                     # type: ignore[override]
        """That of the optimizer inside."""
        return self.optim.state

    def __repr__(self) -> str:
        return repr(self.optim)

    def state_dict(self) -> dict[str, Any]:
        """That of the optimizer inside, and `step`: the averager's."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what state_dict() gave."""
        self.optim.load_state_dict(state_dict)
        if "step" not in state_dict:
            warnings.warn(NO_STEP, stacklevel=2)
        self.averager.step = state_dict.get("step", 0)

    def step(self) -> None:                     # type: ignore[override]
        """A step, then the average if it is due."""
        self.optim.step()
        self.averager.average_parameters(params=self.param_groups)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients; set_to_none=False: make them zeros."""
        self.optim.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters: a dict param_group, as of an Optimizer."""
        self.optim.add_param_group(param_group)
