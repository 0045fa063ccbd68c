"""HierarchicalModelAverager: neighbors average often, larger groups seldom."""
from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from ...groups import new_subgroups
from ...process_group import found
from . import averagers, utils

__all__ = ["HierarchicalModelAverager"]


class HierarchicalModelAverager(averagers.ModelAverager):
    """Averages in groups of neighbors.

    period_group_size_dict  ordered {period: size of the group}, both ascending; the last size is that of process_group
    """

    def __init__(self, period_group_size_dict: Mapping[int, int] | None = None, warmup_steps: int = 0,
                 process_group: Any = None) -> None:
        super().__init__(process_group)
        if not period_group_size_dict:
            raise ValueError("Arg ``period_group_size_dict`` must not be empty.")
        self._periods = list(period_group_size_dict)
        if self._periods[0] <= 0:
            raise ValueError("The minimum period in arg ``period_group_size_dict`` must be a positive value.")
        if self._periods[-1] == 1:
            warnings.warn(averagers.EVERY_STEP.format("the maximum period in arg ``period_group_size_dict``"), stacklevel=2)
        whole = found(process_group)
        sizes = list(period_group_size_dict.values())
        if sizes[-1] != whole.size():
            raise ValueError(f"The last value in arg ``period_group_size_dict`` {sizes[-1]} must be equal to the size of arg "
                             f"``process_group`` {whole.size()}.")
        self.period_process_group_dict = {
            period: whole if size == whole.size() else new_subgroups(size, group=whole)[0]
            for period, size in period_group_size_dict.items()}
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        self.warmup_steps = warmup_steps

    def average_parameters(self, params: Iterable[Any]) -> None:
        """Average in the largest group whose time it is, and count."""
        if self.step >= self.warmup_steps:
            due = [group for period, group in self.period_process_group_dict.items()
                   if self.step % period == 0]
            if due:
                utils.average_parameters_or_parameter_groups(params, due[-1])
        self.step += 1
