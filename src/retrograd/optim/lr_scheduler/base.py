"""The base of all schedulers, and how they read and set the rates of an optimizer."""
from __future__ import annotations

import types
from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import ref

from ..._engine.tensor import TensorBase
from ..._engine.warn import warn
from .._replayed import live
from ..optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from "
    "None, the closed form is used instead of the new chainable form, where available. Please open an issue if"
    " you are unable to replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose.")
OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, "
    "make sure to call `optimizer.step()` before `lr_scheduler.step()`. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate")
TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should "
    "call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this "
    "will result in PyTorch skipping the first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate")
NO_INITIAL_LR = (
    "param 'initial_lr' is not specified in param_groups[{}] when resuming scheduler with last_epoch >= 0.\n"
    "This typically happens when:\n"
    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n"
    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)")


class LRScheduler:
    """Base class: each step() sets group["lr"] of each parameter group to what get_lr() returns.

    last_epoch -1 starts anew and notes each group's rate as "initial_lr"; otherwise training goes on after that epoch.
    https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
    """

    _asked, _constant = {"step"}, ("optimizer",)
    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(NO_INITIAL_LR.format(i))
        self.base_lrs: list[Any] = values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        note_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a state_dict() of the same class."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates that the last step() set, one per parameter group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The rates for `last_epoch`; only step() should call it."""
        raise NotImplementedError

    @live
    def step(self, epoch: int | None = None) -> None:
        """Set the next learning rates.  Call it after optimizer.step()."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warn(OVERRIDDEN)
            elif not getattr(self.optimizer, "_opt_called", False):
                warn(TOO_EARLY)
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        rates = self.get_lr
        if epoch is None:
            self.last_epoch += 1
        else:
            self.last_epoch = epoch
            rates = getattr(self, "_get_closed_form_lr", rates)
        self._set(rates)

    def _set(self, rates: Callable[[], list[Any]]) -> None:
        self._get_lr_called_within_step = True
        try:
            found = rates()
        finally:
            self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, found, strict=True):
            put(group, lr)
        self._last_lr: list[Any] = values(self.optimizer, "lr")

    def _now(self) -> list[Any]:
        """The optimizer's rates, copied."""
        return values(self.optimizer, "lr")

    def _times(self, factor: Any) -> list[Any]:
        """The optimizer's rates times factor."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _base_times(self, factor: Any) -> list[Any]:
        return [base_lr * factor for base_lr in self.base_lrs]

    def _ask(self) -> None:
        """Warn if get_lr() is called from outside step()."""
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.")


class _LRScheduler(LRScheduler):
    """The name LRScheduler had before PyTorch 2.0."""


def check_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def note_steps(optimizer: Any) -> None:
    """Make optimizer.step() note that it was called, for the warning about the wrong order."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    func = optimizer.step.__func__
    held = ref(optimizer)                       # no cycle: the wrapper is an attribute of the optimizer

    @wraps(func)
    def step(*args: Any, **kwargs: Any) -> Any:
        it = held()
        it._opt_called = True  # type: ignore[union-attr]
        return func(it, *args, **kwargs)

    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = step


def copied(x: Any) -> Any:
    return x.clone() if isinstance(x, TensorBase) else x  # type: ignore[attr-defined]


def values(optimizer: Optimizer, key: str) -> list[Any]:
    return [copied(group[key]) for group in optimizer.param_groups]


def put(group: dict[str, Any], lr: Any) -> None:
    """Set the rate; a rate that is a tensor is filled in place."""
    if isinstance(group["lr"], TensorBase):
        rate: Any = group["lr"]
        rate.fill_(lr.squeeze() if isinstance(lr, TensorBase) else lr)  # type: ignore[attr-defined]
    else:
        group["lr"] = lr


def per_group(name: str, optimizer: Optimizer, given: Any) -> list[Any]:
    n = len(optimizer.param_groups)
    if not isinstance(given, (list, tuple)):
        given = [given] * n
    elif len(given) != n:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(given)} values, param_groups "
            f"has {n}.")
    return [copied(x) for x in given]


def attributes_of(f: Any) -> Any:
    """What a state dict keeps of a callable: its attributes, or None for a function."""
    return None if isinstance(f, types.FunctionType) else f.__dict__.copy()
