"""Comparing two steps of a recording: what is told of each, and what is marked; on both engines, from a file too."""

from __future__ import annotations

from typing import Any

import pytest
from both_engines import both
from three_steps import training

import retrograd
from retrograd.microscope import load, record
from retrograd.microscope.answers.compare import titles


def by_name(found: Any) -> dict[tuple[str, str], Any]:
    return {(r.kind, r.name.partition(" (")[0]): r for r in found.rows}


@both
@pytest.mark.parametrize("saved", [False, True])
def test_what_differs_between_two_steps_is_marked(torch: Any, saved: bool, tmp_path: Any) -> None:
    rec = training(torch)
    if saved:
        rec.save(tmp_path / "run.trace")
        rec = load(tmp_path / "run.trace")
    rows = by_name(rec.compare(1, 2))
    assert (rows["learning rate", "SGD"].a, rows["learning rate", "SGD"].b) == (0.1, 0.01)
    assert rows["clipping", "clip_grad_norm_"].a is None and rows["clipping", "clip_grad_norm_"].b < 0.5
    assert rows["gradient", "branch.weight"].a is None and rows["gradient", "branch.weight"].size == float("inf")
    assert rows["module", "branch"].marked and not rows["module", "body"].marked
    assert [r.marked for (kind, _), r in rows.items() if kind == "hook"] == [True]
    assert rows["function", "TanhBackward0"].b == 1 and rows["function", "TanhBackward0"].marked
    assert not rows["step", "SGD"].marked
    gradients = [r.b for (kind, _), r in rows.items() if kind == "gradient"]
    assert sum(g * g for g in gradients) == pytest.approx(1, rel=1e-3)          # as the step found them: clipped


@both
def test_the_numbers_are_those_of_the_program(torch: Any) -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    losses, norms = [], []
    with record(model) as rec:
        for scale in (1.0, 3.0):
            loss = (model(torch.ones(2, 2)) * scale).square().mean()
            loss.backward()
            losses.append(loss.item())
            norms.append(float(model.weight.grad.norm()))
            optimizer.step()
            optimizer.zero_grad()
    rows = by_name(rec.compare(1, 2))
    assert (rows["loss", "loss"].a, rows["loss", "loss"].b) == pytest.approx(losses)
    assert (rows["gradient", "weight"].a, rows["gradient", "weight"].b) == pytest.approx(norms)
    assert rows["gradient", "weight"].ratio == pytest.approx(norms[1] / norms[0])
    assert [r.name for r in rec.compare(1, 1).differences] == []


@both
def test_optimizers_that_step_together_are_one_step_and_in_turn_several(torch: Any) -> None:
    a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    first, second = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (a, b))
    with record(a, b) as rec:
        b(a(torch.ones(1, 2))).sum().backward()
        first.step()
        second.step()
        first.zero_grad()
        second.zero_grad()
        b(a(torch.ones(1, 2)).detach()).sum().backward()
        second.step()
    found = rec.compare(1, 2)
    assert [title.partition(":")[2].partition(", test")[0].strip() for title in found.titles] == [
        "first (SGD), second (SGD)", "second (SGD)"]
    assert [(r.name, r.b) for r in found.differences if r.kind == "step"] == [("first (SGD)", None)]


@both
def test_a_step_that_was_skipped_counts_and_passes_of_closures_do_not(torch: Any) -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = model(torch.ones(1, 2)).square().sum()
        loss.backward()
        return loss

    with record(model) as rec:
        optimizer.step(closure)
        closure()                                       # its gradients are cleared, unused
        optimizer.step(closure)
        optimizer.step(closure)
    assert len(titles(rec)) == 4
    assert ["no optimizer stepped" in title for title in rec.compare(1, 2).titles] == [False, True]
    assert [r.kind for r in rec.compare(1, 3).differences if r.kind == "step"] == []
    with pytest.raises(ValueError, match="steps go from 1 to 4"):
        rec.compare(0, 5)


@both
def test_a_step_that_calls_its_closure_several_times_is_one(torch: Any) -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3, lr=0.1)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = model(torch.ones(1, 2)).square().sum()
        loss.backward()
        return loss

    with record(model) as rec:
        for _ in range(3):
            optimizer.step(closure)
    assert [t.partition(",")[0] for t in titles(rec)] == ["step 1: LBFGS", "step 2: LBFGS", "step 3: LBFGS"]


@both
def test_gradients_that_are_not_finite_are_marked_and_none_is_no_number(torch: Any) -> None:
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.0)
    with record(engine=torch.__name__) as rec:
        for scale in (1.0, float("nan")):
            optimizer.zero_grad()
            (w * scale).sum().backward()
            optimizer.step()
    assert {r.kind for r in rec.compare(1, 2).differences} == {"loss", "gradient"}
    assert "nan" in str(rec.compare(1, 2))


@pytest.mark.parametrize("how", [{"norms": False}, {"nodes": False}, {"ops": False}, {"limit": 9}])
def test_recordings_of_parts_are_compared_as_far_as_they_go(how: Any) -> None:
    rec = training(retrograd, **how)
    assert str(rec.compare(1, 1))
    if how != {"limit": 9}:
        assert rec.compare(1, 2).differences
    else:
        assert "dropped" in str(rec.compare(1, 1))


def test_of_thousands_of_parameters_the_largest_differences_are_shown() -> None:
    torch = retrograd
    layers = torch.nn.ModuleList([torch.nn.Linear(1, 1) for _ in range(100)])
    with record(layers) as rec:
        for step in range(2):
            sum((layer(torch.ones(1, 1)) * (1 + step * (i == 7) * 99)).sum() for i, layer in enumerate(layers)).backward()
            layers.zero_grad()
    found = rec.compare(1, 2)
    assert {r.name for r in found.differences if r.kind == "gradient"} == {"7.weight", "7.bias"}
    text = str(found)
    assert len(text.splitlines()) < 60 and "7.weight" in text and "and 188 more" in text


def test_a_recording_without_passes_has_no_steps() -> None:
    with record(engine="retrograd") as rec:
        retrograd.ones(2)
    with pytest.raises(ValueError, match="the recording has no backward pass"):
        rec.compare(1, 1)
