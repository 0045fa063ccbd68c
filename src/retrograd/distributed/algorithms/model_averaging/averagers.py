"""Averagers: called after each step, they average the ranks' parameters when it is time."""
from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from ...process_group import found
from . import utils

__all__ = ["ModelAverager", "PeriodicModelAverager"]

EVERY_STEP = (
    "When {} is 1, no need to use model averaging because the communication cost of all-reducing parameters will be no less than "
    "the cost of all-reducing gradients by DistributedDataParallel in the backward pass. Therefore, only DistributedDataParallel "
    "should be used for this case.")


class ModelAverager(ABC):
    """Counts the steps in `step`."""

    def __init__(self, process_group: Any = None) -> None:
        self.process_group = found(process_group)
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Iterable[Any]) -> None:
        """A step is over."""
        raise NotImplementedError


class PeriodicModelAverager(ModelAverager):
    """Averages every `period` steps, the first time after warmup_steps."""

    def __init__(self, period: int, warmup_steps: int = 0, process_group: Any = None) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        self.warmup_steps = warmup_steps
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warnings.warn(EVERY_STEP.format("period"), stacklevel=2)
        self.period = period

    def average_parameters(self, params: Iterable[Any]) -> None:
        """Average if it is time, and count."""
        if self.step >= self.warmup_steps and (self.step - self.warmup_steps) % self.period == 0:
            utils.average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1
