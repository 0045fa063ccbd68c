"""Rates that go up and down."""
from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from .._replayed import live
from ..optimizer import Optimizer
from .base import LRScheduler, attributes_of, check_optimizer, per_group, put

NO_MOMENTUM = "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down a cosine to eta_min in T_0 epochs, then again from the top, each cycle T_mult times as long as the last.

    step(epoch) takes fractions of epochs.  Loshchilov and Hutter 2017.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: Any = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._ask()
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base_lr - self.eta_min) * height / 2 for base_lr in self.base_lrs]

    @live
    def step(self, epoch: float | None = None) -> None:
        """Set the rates of the next epoch, or of `epoch`, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            if epoch < self.T_0:
                self.T_i = self.T_0
                self.T_cur = epoch
            elif self.T_mult == 1:
                self.T_cur = epoch % self.T_0
            else:
                n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
                self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
                self.T_i = self.T_0 * self.T_mult**n
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr)


class CyclicLR(LRScheduler):
    """Between base_lr and max_lr and back, linearly: step_size_up steps up, step_size_down down (Smith 2017).

    mode             "triangular"; "triangular2" halves the height each cycle; "exp_range" scales it by gamma**step
    scale_fn         a height of one's own, of the "cycle" number or of the "iterations" (scale_mode)
    cycle_momentum   momentum (or beta1) goes the other way, from max_momentum to base_momentum
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
        step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
        base_momentum: Any = 0.8, max_momentum: Any = 0.9, last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups):
                put(group, lr)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_ref: Any
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = has_beta1(optimizer)
            self.base_momentums = per_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = per_group("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                start_momentum(optimizer, self.use_beta1, self.max_momentums, self.base_momentums)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is not None:
            return
        if self.mode == "exp_range":
            self._scale_fn_ref = partial(pow, self.gamma)
            self.scale_mode = "iterations"
        elif self.mode in ("triangular", "triangular2"):
            self._scale_fn_ref = whole if self.mode == "triangular" else halved
            self.scale_mode = "cycle"

    def scale_fn(self, x: float) -> float:
        """The height of the triangle at cycle or step x, as a share of max_lr - base_lr."""
        height: float = (self._scale_fn_ref if self._scale_fn_custom is None else self._scale_fn_custom)(x)
        return height

    def get_lr(self) -> list[Any]:
        """The rates for `last_epoch`; sets the momentum too."""
        self._ask()
        n = self.last_epoch
        cycle = math.floor(1 + n / self.total_size)
        x = 1.0 + n / self.total_size - cycle
        part = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else n)
        if self.cycle_momentum:
            for group, low, high in zip(
                    self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True):
                put_momentum(group, self.use_beta1, high - (high - low) * part * scale)
        return [low + (high - low) * part * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer; a callable object is kept as its attributes, a function as None."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        f = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = None if f is None else attributes_of(f)
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a state_dict(); a function stays as it is."""
        attributes = state_dict["_scale_fn_custom"]
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)
        self._init_scale_fn()


class OneCycleLR(LRScheduler):
    """From max_lr / div_factor up to max_lr in pct_start of all steps, then down to 1 / final_div_factor of the start.

    total_steps, or epochs and steps_per_epoch; anneal_strategy "cos" or "linear"; three_phase first goes back to the
    start; with cycle_momentum, momentum (or beta1) goes from max_momentum down to base_momentum and back.
    One step() per batch.  Smith and Topin 2019.
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum: Any = 0.85, max_momentum: Any = 0.95, div_factor: float = 25.0,
        final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        if total_steps is not None:
            check_positive("total_steps", total_steps)
            self.total_steps = total_steps
        elif epochs is not None and steps_per_epoch is not None:
            check_positive("epochs", epochs)
            check_positive("steps_per_epoch", steps_per_epoch)
            self.total_steps = epochs * steps_per_epoch
        else:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        top, last = float(pct_start * self.total_steps), self.total_steps - 1
        self._schedule_phases = [phase(top - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
        if three_phase:
            self._schedule_phases += [
                phase(2 * top - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
                phase(last, "initial_lr", "min_lr", "max_momentum", "max_momentum")]
        else:
            self._schedule_phases.append(phase(last, "max_lr", "min_lr", "base_momentum", "max_momentum"))
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        max_lrs = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, max_lrs):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = has_beta1(optimizer)
            high_momentum = per_group("max_momentum", optimizer, max_momentum)
            low_momentum = per_group("base_momentum", optimizer, base_momentum)
            if last_epoch == -1:
                start_momentum(optimizer, self.use_beta1, high_momentum, low_momentum)
        super().__init__(optimizer, last_epoch)

    def _anneal(self, start: Any, end: Any, part: float) -> Any:
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

    def get_lr(self) -> list[Any]:
        """The rates for `last_epoch`; sets the momentum too.  ValueError after total_steps."""
        self._ask()
        n = self.last_epoch
        if n > self.total_steps:
            raise ValueError(f"Tried to step {n} times. The specified number of total steps is {self.total_steps}")
        start = 0.0
        for phase in self._schedule_phases[:-1]:
            if n <= phase["end_step"]:
                break
            start = phase["end_step"]
        else:
            phase = self._schedule_phases[-1]
        part = (n - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                now = self._anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], part)
                put_momentum(group, self.use_beta1, now)
        return rates


# Helpers


def check_positive(name: str, n: Any) -> None:
    if not isinstance(n, int) or n <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {n}")


def has_beta1(optimizer: Optimizer) -> bool:
    """Is the momentum called betas[0]?"""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError(NO_MOMENTUM)
    return "betas" in optimizer.defaults


def start_momentum(optimizer: Optimizer, beta1: bool, high: list[Any], low: list[Any]) -> None:
    for group, top, bottom in zip(optimizer.param_groups, high, low):
        put_momentum(group, beta1, top)
        group["max_momentum"] = top
        group["base_momentum"] = bottom


def put_momentum(group: dict[str, Any], beta1: bool, momentum: Any) -> None:
    if beta1:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


def phase(end: float, start_lr: str, end_lr: str, start_momentum: str, end_momentum: str) -> dict[str, Any]:
    return {
        "end_step": end, "start_lr": start_lr, "end_lr": end_lr, "start_momentum": start_momentum,
        "end_momentum": end_momentum}


def whole(x: float) -> float:
    return 1.0


def halved(x: float) -> float:
    return 1 / (2.0 ** (x - 1))
