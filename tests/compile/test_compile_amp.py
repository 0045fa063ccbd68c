"""Steps with autocast, a GradScaler and a learning-rate schedule inside: what they compute, and what they change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from replaying import Way, numbers, replays, same, skipping

import retrograd as torch
from retrograd import nn
from retrograd.nn import functional as F
from retrograd.optim import lr_scheduler as schedules

Step = Callable[[Any], Any]


@pytest.fixture(params=["skip", "verified"])
def way(request: pytest.FixtureRequest) -> Way:
    return Way(request.param)


MODELS: dict[str, Callable[[], Any]] = {
    "mlp": lambda: nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 3)),
    "norms": lambda: nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.BatchNorm1d(8), nn.SiLU(), nn.Dropout(0.3),
                                   nn.Linear(8, 3)),
    "conv": lambda: nn.Sequential(nn.Unflatten(1, (1, 2, 2)), nn.Conv2d(1, 4, 2, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Flatten(), nn.Linear(4, 3)),
    "attention": lambda: nn.Sequential(nn.Unflatten(1, (2, 2)), nn.TransformerEncoderLayer(2, 1, 4, batch_first=True),
                                       nn.Flatten(), nn.Linear(4, 3)),
}
SCHEDULES: dict[str, Callable[[Any], Any]] = {
    "StepLR": lambda o: schedules.StepLR(o, 2, 0.5), "MultiStepLR": lambda o: schedules.MultiStepLR(o, [2, 4]),
    "CosineAnnealingLR": lambda o: schedules.CosineAnnealingLR(o, 5),
    "LambdaLR": lambda o: schedules.LambdaLR(o, lambda e: 0.9**e),
    "CosineAnnealingWarmRestarts": lambda o: schedules.CosineAnnealingWarmRestarts(o, 3, 2),
    "OneCycleLR": lambda o: schedules.OneCycleLR(o, 0.5, total_steps=20),
    "CyclicLR": lambda o: schedules.CyclicLR(o, 0.01, 0.1, step_size_up=3),
    "SequentialLR": lambda o: schedules.SequentialLR(
        o, [schedules.LinearLR(o, 0.1, total_iters=3), schedules.ExponentialLR(o, 0.9)], [3]),
    "ChainedScheduler": lambda o: schedules.ChainedScheduler([schedules.ConstantLR(o, 0.1, 3), schedules.ExponentialLR(o, 0.9)]),
    "ReduceLROnPlateau": lambda o: schedules.ReduceLROnPlateau(o, patience=1, threshold=10.0),
}


def trained(way: Way | None, make: Callable[[], tuple[Step, Callable[[], Any]]], least: int = 4, **options: Any) -> Any:
    """What eight calls return and leave, compiled or not."""
    torch.manual_seed(0)
    step, state = make()
    call = step if way is None else way.call(step, **options)
    seen = [(call(numbers(5, 4, seed=seed)), state()) for seed in range(8)]
    assert way is None or way.used(call) >= least, call.explain()
    return seen


@pytest.mark.parametrize("check", [0, 1])
@pytest.mark.parametrize("model", list(MODELS))
def test_a_step_under_autocast(way: Way, model: str, check: int) -> None:
    def make() -> Any:
        net = MODELS[model]()
        descent = torch.optim.AdamW(net.parameters(), 0.01)
        y = torch.tensor([0, 2, 1, 1, 0])

        def step(x: Any) -> Any:
            descent.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = F.cross_entropy(net(x), y)
            loss.backward()
            descent.step()
            return loss.detach()
        return step, lambda: [t.detach().clone() for t in (*net.parameters(), *net.buffers())]

    least = 0 if model == "attention" and way.name == "verified" else 4    # its results share memory
    assert same(trained(None, make), trained(way, make, least, check=check))


@pytest.mark.parametrize("check", [0, 1])
def test_steps_that_a_scaler_skips_or_makes(way: Way, check: int) -> None:
    def make() -> Any:
        net = nn.Linear(4, 3)
        descent = torch.optim.SGD(net.parameters(), 0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**4, growth_interval=2)
        factors = iter([1.0, 1.0, float("inf"), 1.0, 1.0, 1.0, float("inf"), 1.0])
        factor = torch.ones(())

        def step(x: Any) -> Any:
            descent.zero_grad()
            loss = (net(x) * factor).square().mean()
            scaler.scale(loss).backward()
            scaler.unscale_(descent)
            norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(descent)
            scaler.update()
            return loss.detach().isfinite(), norm.isfinite()

        def state() -> Any:
            factor.fill_(next(factors))
            return scaler.state_dict(), [p.detach().clone() for p in net.parameters()]
        return step, state

    assert same(trained(None, make), trained(way, make, check=check))


@pytest.mark.parametrize("check", [0, 1])
@pytest.mark.parametrize("name", list(SCHEDULES))
def test_a_schedule_that_the_step_advances(way: Way, name: str, check: int) -> None:
    def make() -> Any:
        net = nn.Linear(4, 3)
        descent = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
        schedule = SCHEDULES[name](descent)

        def step(x: Any) -> Any:
            descent.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            descent.step()
            if name == "ReduceLROnPlateau":
                schedule.step(loss.detach())
            else:
                schedule.step()
            return loss.detach()
        return step, lambda: (descent.param_groups[0]["lr"], descent.param_groups[0]["momentum"], schedule.get_last_lr(),
                              net.weight.detach().clone())

    assert same(trained(None, make), trained(way, make, check=check))


def test_what_a_step_may_not_ask() -> None:
    net, x = nn.Linear(4, 3), numbers(5, 4)
    descent = torch.optim.SGD(net.parameters(), 0.1)
    schedule, scaler = schedules.StepLR(descent, 1), torch.amp.GradScaler("cpu")

    def rated() -> Any:
        descent.step()
        schedule.step()
        return net(x).sum() * schedule.get_last_lr()[0]

    def scaled() -> Any:
        return net(x).sum() * scaler.get_scale()

    def made() -> Any:
        own = torch.amp.GradScaler("cpu")
        return own.scale(net(x).sum())

    for f, why in ((rated, "may ask a StepLR for get_last_lr"), (scaled, "may ask a GradScaler for get_scale"),
                   (made, "a GradScaler that the function does not reach")):
        fast = skipping(f)
        for _ in range(4):
            fast()
        assert not fast.local.variants and why in fast.explain()


def test_another_dtype_of_autocast_is_another_plan() -> None:
    net, x = nn.Linear(4, 3), numbers(5, 4)

    def step() -> Any:
        with torch.autocast("cpu"):
            return net(x).detach()

    fast = skipping(step)
    try:
        for kind in (torch.bfloat16, torch.float16, torch.bfloat16):
            torch.set_autocast_dtype("cpu", kind)
            for _ in range(3):
                assert same(fast(), step()) and fast().dtype is kind
    finally:
        torch.set_autocast_dtype("cpu", torch.bfloat16)
    assert replays(fast) >= 4


@pytest.mark.parametrize("cast", [False, True])
@pytest.mark.parametrize("check", [0, 1])
def test_hooks_that_use_what_they_are_shown_several_times(way: Way, cast: bool, check: int) -> None:
    def make() -> Any:
        net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
        net[0].register_forward_hook(lambda module, args, out: out @ out.t() @ out + out)
        net[1].register_forward_pre_hook(lambda module, args: (args[0] * args[0].cos() + args[0],))

        def step(x: Any) -> Any:
            net.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=cast):
                loss = net(x).float().square().mean()
            loss.backward()
            return loss.detach()
        return step, lambda: [p.grad.clone() for p in net.parameters()]

    assert same(trained(None, make), trained(way, make, check=check))
