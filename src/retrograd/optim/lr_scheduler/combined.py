"""Schedulers made of schedulers."""
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from .._replayed import live
from ..optimizer import Optimizer
from .base import LRScheduler, put, values
from .plateau import ReduceLROnPlateau


class _Several(LRScheduler):
    """What SequentialLR and ChainedScheduler share: other schedulers of the same optimizer."""

    _schedulers: Any

    def _check(self, schedulers: Sequence[LRScheduler], optimizer: Any) -> None:
        name = type(self).__name__
        for i, s in enumerate(schedulers):
            if not hasattr(s, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(s, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {i} in the given schedulers sequence.")
            if optimizer != s.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(s).__name__} at index {i} has {s.optimizer}, which is different from "
                    f"{type(optimizer).__name__}.")

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer, with the schedulers' state dicts."""
        state = super().state_dict()
        del state["_schedulers"]
        state["_schedulers"] = [s.state_dict() for s in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a state_dict()."""
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for i, state in enumerate(state_dict["_schedulers"]):
            self._schedulers[i].load_state_dict(state)


class SequentialLR(_Several):
    """One scheduler after the other: the next one starts, at its epoch 0, when a milestone is reached.

    milestones: steps, one fewer than schedulers (ValueError otherwise).
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}")
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:            # undo what making the schedulers did to the rates
            put(group, group["initial_lr"])
        self.recursive_undo()
        now = schedulers[bisect_right(milestones, 0)]
        now._initial_step()
        self._last_lr = now.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Undo the initial step of all schedulers inside sched, by default of this one."""
        at = self if sched is None else sched
        if hasattr(at, "_schedulers"):
            for s in at._schedulers:
                self.recursive_undo(s)
        elif hasattr(at, "last_epoch"):
            at.last_epoch -= 1

    @live
    def step(self) -> None:  # type: ignore[override]
        """Let the scheduler whose turn it is step."""
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        now = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            now._update_lr(0)
        else:
            now.step()
        self._last_lr = now.get_last_lr()


class ChainedScheduler(_Several):
    """Every scheduler steps at every step, each from the rates that the one before it left."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        self._check(schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = values(schedulers[-1].optimizer, "lr")

    @live
    def step(self) -> None:  # type: ignore[override]
        """Let every scheduler step."""
        for s in self._schedulers:
            s.step()
        self._last_lr = values(self._schedulers[-1].optimizer, "lr")
