"""Schedulers: two forms agree, state dicts resume, rates equal PyTorch's where one is installed.

Numbers and messages are in conformance/programs/optim_schedulers.py.
"""

from __future__ import annotations

import copy
import io
import math
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd.optim import lr_scheduler as L
from retrograd.serialization import load, save

MAKE: dict[str, Callable[[Any, Any], Any]] = {
    "step": lambda L, o: L.StepLR(o, 3, gamma=0.5),
    "multistep": lambda L, o: L.MultiStepLR(o, [2, 5, 5, 9], gamma=0.5),
    "exponential": lambda L, o: L.ExponentialLR(o, 0.9),
    "constant": lambda L, o: L.ConstantLR(o, 0.5, 4),
    "linear": lambda L, o: L.LinearLR(o, 0.25, 0.75, 6),
    "polynomial": lambda L, o: L.PolynomialLR(o, 8, 2.0),
    "cosine": lambda L, o: L.CosineAnnealingLR(o, 7, 0.01),
    "cosine 1": lambda L, o: L.CosineAnnealingLR(o, 1, 0.01),
    "restarts": lambda L, o: L.CosineAnnealingWarmRestarts(o, 4, 2, 0.01),
    "lambda": lambda L, o: L.LambdaLR(o, [lambda n: 0.9**n, lambda n: 1 / (n + 1)]),
    "multiplicative": lambda L, o: L.MultiplicativeLR(o, lambda n: 0.5 if n % 3 else 1.1),
    "one cycle": lambda L, o: L.OneCycleLR(o, 1.0, total_steps=40),
    "one cycle 3": lambda L, o: L.OneCycleLR(o, [1.0, 2.0], epochs=4, steps_per_epoch=10, three_phase=True,
                                             anneal_strategy="linear", pct_start=0.2),
    "cyclic": lambda L, o: L.CyclicLR(o, 0.1, 1.0, 3, 5),
    "cyclic 2": lambda L, o: L.CyclicLR(o, 0.1, 1.0, 4, mode="triangular2"),
    "cyclic exp": lambda L, o: L.CyclicLR(o, [0.1, 0.2], 1.0, 4, mode="exp_range", gamma=0.9),
    "sequential": lambda L, o: L.SequentialLR(
        o, [L.LinearLR(o, 0.1, total_iters=4), L.CosineAnnealingLR(o, 5), L.ExponentialLR(o, 0.5)], [4, 11]),
    "chained": lambda L, o: L.ChainedScheduler([L.ConstantLR(o, 0.5, 3), L.ExponentialLR(o, 0.9)]),
    "plateau": lambda L, o: L.ReduceLROnPlateau(o, patience=1, factor=0.5, cooldown=1),
}


def optimizer(T: Any, adam: bool = False) -> Any:
    x, y = T.tensor([1.0], requires_grad=True), T.tensor([1.0], requires_grad=True)
    groups = [{"params": [x], "lr": 0.05}, {"params": [y], "lr": 0.5}]
    return T.optim.Adam(groups) if adam else T.optim.SGD(groups, momentum=0.9)


def metric(i: int) -> float:
    return round(3 + math.cos(i * i), 1)


def go(o: Any, s: Any, start: int, stop: int) -> list[Any]:
    """The rates and momenta that each step runs with."""
    out = []
    for i in range(start, stop):
        out.append([(g["lr"], g.get("momentum"), g.get("betas"), r) for g, r in zip(o.param_groups, s.get_last_lr())])
        o.step()
        s.step(*([metric(i)] if hasattr(s, "patience") else []))
    return out


@pytest.mark.oracle
@pytest.mark.parametrize("adam", [False, True])
@pytest.mark.parametrize("name", MAKE)
def test_fifty_steps_equal_pytorchs(name: str, adam: bool) -> None:
    real = pytest.importorskip("torch")
    runs = []
    for T, module in ((real, real.optim.lr_scheduler), (torch, L)):
        o = optimizer(T, adam)
        s = MAKE[name](module, o)
        path = go(o, s, 0, 40)
        runs.append((path, {k: v for k, v in s.state_dict().items() if not callable(v)}, repr(o)))
    assert runs[0][0] == [
        [(pytest.approx(a, rel=1e-12), b if b is None else pytest.approx(b), c if c is None else pytest.approx(c),
          pytest.approx(d, rel=1e-12)) for a, b, c, d in row] for row in runs[1][0]]
    assert list(runs[0][1]) == list(runs[1][1]) or set(runs[0][1]) == set(runs[1][1])


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("kept", ["dict", "file", "pickle"])
def test_goes_on_from_a_state_dict(name: str, kept: str) -> None:
    o = optimizer(torch)
    s = MAKE[name](L, o)
    go(o, s, 0, 7)
    state = copy.deepcopy(s.state_dict())
    state_o = copy.deepcopy(o.state_dict())
    if kept == "file":
        f = io.BytesIO()
        save([state, state_o], f)
        f.seek(0)
        state, state_o = load(f)
    elif kept == "pickle":
        state, state_o = pickle.loads(pickle.dumps((state, state_o)))
    want = go(o, s, 7, 25)
    o2 = optimizer(torch)
    s2 = MAKE[name](L, o2)
    s2.load_state_dict(state)
    o2.load_state_dict(state_o)
    assert go(o2, s2, 7, 25) == want


@pytest.mark.parametrize("name", ["step", "multistep", "exponential", "constant", "linear", "polynomial", "cosine"])
def test_closed_form_is_the_chained_form(name: str) -> None:
    o = optimizer(torch)
    s = MAKE[name](L, o)
    for _ in range(8):
        o.step()
        s.step()
        assert s.get_last_lr() == pytest.approx(s._get_closed_form_lr(), rel=1e-9, abs=1e-12)


def test_loading_leaves_the_dict_as_it_was() -> None:
    for name in ("lambda", "sequential", "cyclic"):
        s = MAKE[name](L, optimizer(torch))
        state = s.state_dict()
        before = list(state)
        s.load_state_dict(state)
        assert list(state) == before


def test_copies_work_on_their_own() -> None:
    o = optimizer(torch)
    s = MAKE["cosine"](L, o)
    s2 = copy.deepcopy(s)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")         # the copy's optimizer has not stepped
        s2.step()
    assert s.last_epoch == 0 and s2.last_epoch == 1 and o.param_groups[0]["lr"] == 0.05


def test_rates_that_are_tensors_are_filled() -> None:
    rate = torch.tensor(0.5)
    o = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=rate)
    s = L.ExponentialLR(o, 0.5)
    o.step()
    s.step()
    assert o.param_groups[0]["lr"] is rate and rate.item() == 0.25 and s.base_lrs[0].item() == 0.5


def test_steps_in_order_give_no_warning() -> None:
    o = optimizer(torch)
    s = L.StepLR(o, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            o.step()
            s.step()
    hooked: list[int] = []
    o.register_step_post_hook(lambda *a: hooked.append(1))
    o.step()
    assert hooked == [1]
