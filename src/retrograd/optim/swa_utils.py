"""Averages of a model's weights over training: SWA (Izmailov et al. 2018, arXiv 1803.05407) and exponential ones.

https://pytorch.org/docs/stable/optim.html#weight-averaging-swa-and-ema

optimizer, last_epoch   as in torch.optim.lr_scheduler
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from .._functions.fromdata import tensor
from .._tensor import Tensor
from .._tensor.dtypes import int64
from ..autograd.grad_mode import no_grad
from ..nn.modules.batchnorm import _BatchNorm
from ..nn.modules.module import Module
from .lr_scheduler.base import LRScheduler, per_group
from .optimizer import Optimizer

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn",
    "update_bn",
]


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], Any]:
    """-> f(averaged, current, n): decay * averaged + (1 - decay) * current.  ValueError for a decay outside [0, 1]."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[[Any, Any, Any], Any]:
    """-> f(averaged, current, n): the mean of n + 1 values, averaged being that of n."""

    @no_grad()
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[list[Any], list[Any], Any], None]:
    """get_ema_avg_fn(decay) for lists of tensors, in place."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: list[Any], current_param_list: list[Any], _: Any) -> None:
        for ema, current in zip(ema_param_list, current_param_list, strict=True):
            if ema.is_floating_point():
                ema.lerp_(current, 1 - decay)
            else:
                ema.copy_(ema * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[[list[Any], list[Any], Any], None]:
    """get_swa_avg_fn for lists of tensors, in place."""

    @no_grad()
    def swa_update(averaged_param_list: list[Any], current_param_list: list[Any], num_averaged: Any) -> None:
        for mean, current in zip(averaged_param_list, current_param_list, strict=True):
            if mean.is_floating_point():
                mean.lerp_(current, float(1 / (num_averaged + 1)))
            elif isinstance(num_averaged, Tensor):
                mean.addcdiv_(current - mean, num_averaged + 1)
            else:
                mean.add_(current - mean, alpha=1.0 / (num_averaged + 1))

    return swa_update


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel(Module):
    """A copy of `model` whose parameters average those of the models given to update_parameters().

    avg_fn        f(averaged, current, n) -> new average of one parameter; by default the equal mean
    multi_avg_fn  the same for lists of parameters, in place; AssertionError where both are given
    device        to copy the model to
    use_buffers   average buffers too, instead of copying them

    `module` is the copy; `n_averaged`, a buffer, counts the updates.
    """

    n_averaged: Any

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Callable[[Any, Any, Any], Any] | None = None,
        multi_avg_fn: Callable[[list[Any], list[Any], Any], None] | None = None, use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model computes."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Add the parameters of `model` to the average; the first call copies them."""
        mine, theirs = self._averaged(self.module), self._averaged(model)
        if self.n_averaged == 0:
            for mean, current in zip(mine, theirs):
                mean.copy_(current)
        elif self.multi_avg_fn is not None:
            for dtype in dict.fromkeys(mean.dtype for mean in mine):
                pairs = [pair for pair in zip(mine, theirs) if pair[0].dtype is dtype]
                self.multi_avg_fn([mean for mean, _ in pairs], [current for _, current in pairs], self.n_averaged)
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for mean, current in zip(mine, theirs, strict=True):
                mean.copy_(average(mean, current, self.n_averaged))
        if not self.use_buffers:
            for mean, current in zip(self.module.buffers(), model.buffers(), strict=True):
                mean.detach().copy_(current.detach())
        self.n_averaged += 1

    def _averaged(self, model: Module) -> list[Any]:
        return [t.detach() for t in chain(model.parameters(), model.buffers() if self.use_buffers else ())]


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Recompute the running statistics of every BatchNorm layer, by one pass of `model` over `loader`.

    A batch is a tensor, or a list or tuple whose first element is one; it is moved to `device`, if that is given.
    """
    momenta = {m: m.momentum for m in model.modules() if isinstance(m, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    try:
        for layer in momenta:
            layer.reset_running_stats()
            layer.momentum = None
        for batch in loader:
            given = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(given if device is None else given.to(device))
    finally:
        for layer, momentum in momenta.items():
            layer.momentum = momentum
        model.train(was_training)


def _linear(t: float) -> float:
    return t


def _cosine(t: float) -> float:
    return (1 - math.cos(math.pi * t)) / 2


_ANNEAL = {"cos": _cosine, "linear": _linear}


class SWALR(LRScheduler):
    """Anneal the rate of each group to swa_lr (one, or one per group) over anneal_epochs steps, and keep it there.

    anneal_strategy: "cos" or "linear".
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = per_group("swa_lr", optimizer, swa_lr)
        if anneal_strategy not in _ANNEAL:
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    @property
    def anneal_func(self) -> Callable[[float], float]:
        """From the share of anneal_epochs that has passed to the share of the way that is done."""
        return _ANNEAL[self._anneal_strategy]

    def get_lr(self) -> list[Any]:
        """The rates after this step; only step() should call it."""
        self._ask()
        step = self._step_count - 1
        if not self.anneal_epochs:
            step = max(1, step)
        before, now = (
            self.anneal_func(max(0, min(1, n / max(1, self.anneal_epochs)))) for n in (step - 1, step))
        return [
            group["swa_lr"] * now + _started(group["lr"], group["swa_lr"], before) * (1 - now)
            for group in self.optimizer.param_groups]


def _started(lr: Any, swa_lr: Any, done: float) -> Any:
    """The rate that annealing started from, of which `lr` has done a share of the way to swa_lr."""
    return swa_lr if done == 1 else (lr - done * swa_lr) / (1 - done)
