"""One meaning of a step: flights, watch() and recordings count the same."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from retrograd.microscope import flight, record, watch
from retrograd.microscope.answers.compare import titles
from retrograd.microscope.rounds import Rounds

PLANS = {                                       # who steps, -: a step whose gradients are cleared; after each, the step's number
    "one optimizer": ("aaa", [1, 2, 3]),
    "a GAN": ("ababab", [1, 1, 2, 2, 3, 3]),
    "a critic that steps more often": ("aaabaaab", [1, 2, 3, 3, 4, 5, 6, 6]),
    "one after the other": ("aabb", [1, 2, 2, 3]),
    "skipped": ("a-a", [1, 2, 3]),
}


@pytest.mark.parametrize("plan", PLANS)
def test_flights_watches_and_recordings_count_the_same_steps(torch: Any, plan: str, tmp_path: Path) -> None:
    nets = torch.nn.ModuleDict({name: torch.nn.Linear(2, 1) for name in "ab"})
    optimizers = {name: torch.optim.SGD(nets[name].parameters(), lr=0.1) for name in "ab"}
    who, want = PLANS[plan]
    counts, flown = [], []
    scaler = torch.amp.GradScaler("cpu")
    with flight(nets, path=tmp_path / "f", spike=None) as f, watch(nets, every=1, scaler=scaler) as w, record(nets) as rec:
        for name in who:
            net = nets["a" if name == "-" else name]
            loss = net(torch.ones(3, 2)).mean() * (float("inf") if name == "-" else 1)
            scaler.scale(loss).backward()
            flown.append(f.recording().header["steps"][-1])
            scaler.step(optimizers["a" if name == "-" else name])
            scaler.update()
            nets.zero_grad()
            counts.append(w.count)
    assert counts == want
    assert len(titles(rec)) == want[-1]
    known = who.index("b") + 1 if "b" in who else 0     # before, nobody can know of the other optimizer
    assert flown[known:] == want[known:]
    assert f.recording().header["steps"][:want[-1]] == list(range(1, want[-1] + 1))     # PyTorch's update() comes after
    assert len(titles(f.recording())) == want[-1]


def test_what_is_under_way_belongs_to_who_stepped_next_the_last_time() -> None:
    rounds, seen = Rounds(), []
    for name in "aaabaaab":
        seen.append(rounds.now())
        rounds.step(name)
    assert seen == [1, 2, 3, 4, 4, 5, 6, 6]             # the fourth could not be known
