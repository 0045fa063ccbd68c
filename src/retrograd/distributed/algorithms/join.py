"""Join: ranks with unequal numbers of batches. One that has no more does what the others' collectives wait for.

https://pytorch.org/docs/stable/distributed.algorithms.join.html
"""
from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from ..._engine.tensor import wrap
from ..collectives import all_reduce
from ..process_group import ProcessGroup
from ..work import Work


class JoinHook:
    """What a rank does that has no more batches: main_hook() for each batch of the others, post_hook() at the end."""

    def main_hook(self) -> None:
        """The others compute a batch: take part in its collectives."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """No rank has a batch left; is_last_joiner: this one was among the last."""


class _JoinConfig(NamedTuple):
    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool

    @staticmethod
    def construct_disabled_join_config() -> _JoinConfig:
        return _JoinConfig(False, False, False)


class Joinable(ABC):
    """Has collectives that Join knows how to take part in."""

    @abstractmethod
    def __init__(self) -> None:
        self._join_config = _JoinConfig.construct_disabled_join_config()
        self._divide_by_initial_world_size = True

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """A new JoinHook; kwargs as Join was given them."""

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """Where it computes."""

    @property
    @abstractmethod
    def join_process_group(self) -> ProcessGroup:
        """The ranks that take part."""


class Join:
    """with Join([model, optimizer]): ranks may have unequal numbers of batches.

    throw_on_early_termination  RuntimeError on all ranks once one has no more, instead
    """

    def __init__(self, joinables: list[Joinable], enable: bool = True, throw_on_early_termination: bool = False,
                 **kwargs: Any) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._hooks = [one.join_hook(**kwargs) for one in joinables]
        self._enable, self._throw = enable, throw_on_early_termination
        groups = [one.join_process_group for one in joinables]
        if any(group is not groups[0] for group in groups):
            raise ValueError("Using join context manager with multiple process groups")
        self._group = groups[0]

    def __enter__(self) -> None:
        for i, one in enumerate(self._joinables):
            one._join_config = _JoinConfig(self._enable, self._throw, i == 0)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for one in self._joinables:
            one._join_config = _JoinConfig.construct_disabled_join_config()
        if not self._enable or kind is not None:
            return
        last, rounds = True, 0
        while self._present() > 0:
            if self._throw:
                self._agree(True)
                self._end()
            last, rounds = False, rounds + 1
            if rounds == 1000:
                warnings.warn(f"Detected uneven input skew of greater than 1000. This means that rank {self._group.rank()} has "
                              "at least 1000 fewer inputs than other currently-active ranks. This level of skew could lead to "
                              "performance degradation during training.", stacklevel=2)
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(last)

    def _present(self) -> int:
        """How many ranks have a batch; asked by one that has none."""
        count = np.zeros(1, np.float32)
        all_reduce(wrap(count), group=self._group)
        return int(count[0])

    def _agree(self, stop: bool) -> None:
        all_reduce(wrap(np.array([stop], np.int32)), group=self._group)

    def _end(self) -> None:
        raise RuntimeError(f"Rank {self._group.rank()} exhausted all inputs.")

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Work | None:
        """This rank has a batch: Joinables call it before their collectives -> the Work of how many have one."""
        config = joinable._join_config
        if not config.is_first_joinable or not config.enable:
            return None
        group = joinable.join_process_group
        work = all_reduce(wrap(np.ones(1, np.float32)), group=group, async_op=True)
        if config.throw_on_early_termination:
            stop = np.zeros(1, np.int32)
            all_reduce(wrap(stop), group=group)
            if stop[0]:
                raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return work
