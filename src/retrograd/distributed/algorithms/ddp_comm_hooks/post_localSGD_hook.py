"""Post-local SGD: the mean of all ranks at first, later only of a subgroup; parameters are averaged now and then instead.

Lin et al. 2018, arXiv 1808.07217.
"""
from __future__ import annotations

from typing import Any

from ....futures import Future
from ...groups import new_subgroups
from .default_hooks import mean

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]


class PostLocalSGDState:
    """process_group for the first start_localSGD_iter steps, then subgroup, or nobody without post_local_gradient_allreduce."""

    def __init__(self, process_group: Any, subgroup: Any, start_localSGD_iter: int,
                 post_local_gradient_allreduce: bool = True) -> None:
        self.process_group, self.subgroup = process_group, subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket: Any) -> None:
        """Count a step at its last bucket."""
        self.iter += bucket.is_last()


def post_localSGD_hook(state: PostLocalSGDState, bucket: Any) -> Future[Any]:
    """The mean of the ranks that the step asks."""
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean(state.process_group, bucket.buffer())
    if not state.post_local_gradient_allreduce:
        made: Future[Any] = Future()
        made.set_result(bucket.buffer())
        return made
    if state.subgroup is None:
        state.subgroup, _ = new_subgroups(1)
    return mean(state.subgroup, bucket.buffer())
