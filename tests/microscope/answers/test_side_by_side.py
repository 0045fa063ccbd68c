"""compare(a, b): two recordings event by event, on one engine or two, live or from a file."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from both_engines import both
from three_steps import training

import retrograd
from retrograd.microscope import compare, load, record


def run(torch: Any, scale: float = 1.0, extra: bool = False, hook: bool = False, **how: Any) -> Any:
    torch.manual_seed(0)
    nn = torch.nn
    m = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), *([nn.Softplus()] if extra else []), nn.Linear(4, 2))
    if hook:
        m[0].bias.register_hook(lambda g: g * 2)
    with torch.no_grad():
        m[-1].weight.mul_(scale)
    with record(m, **how) as rec:
        m(torch.ones(2, 3)).square().sum().backward()
    return rec


@both
@pytest.mark.parametrize("saved", [False, True])
def test_the_first_operation_that_differs_is_named_with_line_and_module(torch: Any, saved: bool, tmp_path: Any) -> None:
    a, b = run(torch), run(torch, 1.5)
    if saved:
        for name, rec in (("a", a), ("b", b)):
            rec.save(tmp_path / name)
        a, b = load(tmp_path / "a"), load(tmp_path / "b")
    found = compare(a, b)
    assert found.first.kind == "operation" and found.first.module == "2" and not found.first.backward
    assert found.first.where.startswith("test_side_by_side.py:") and "in 2 [test_side_by_side.py" in str(found)
    assert not found.only_a and not found.only_b and len(found.differences) < len(found.rows)
    row = next(r for r in found.rows if r.kind == "module" and r.name == "2")
    out = next(e for e in a.of("exit") if e.path == "2").facts["tensors"][0]
    value = next(v for e in a.of("op") for t, v in zip(e.outputs, e.values) if t == out)
    assert row.a == a.value(value).norm and row.b != row.a and a.events[row.event_a].path == b.events[row.event_b].path == "2"


@both
def test_equal_runs_do_not_differ(torch: Any) -> None:
    found = compare(run(torch), run(torch), rtol=0)
    assert not found and found.first is None and found.rows and "no difference" in str(found)


@both
def test_a_hook_that_one_run_has_is_the_first_difference_of_the_backward_pass(torch: Any) -> None:
    found = compare(run(torch), run(torch, hook=True))
    assert found.first.backward or found.first.kind == "hook"
    assert {(r.kind, r.name) for r in found.differences if r.event_a >= 0} == {("gradient", "0.bias")}
    assert [r.kind for r in found.only_b] == ["hook"]


@both
def test_recordings_of_different_structure_are_aligned(torch: Any) -> None:
    found = compare(run(torch), run(torch, extra=True))
    assert {r.name for r in found.only_b if r.kind == "module"} == {"2", "3"}
    assert {r.name for r in found.only_a if r.kind == "module"} == {"2"}
    assert found.first in (*found.only_a, *found.only_b) and " only" in str(found.first)
    same = [r for r in found.rows if r.event_a >= 0 and r.event_b >= 0]
    assert [r.module for r in same if r.kind == "module" and not r.marked] == ["0", "1"]


@both
def test_two_steps_of_one_recording(torch: Any) -> None:
    rec = training(torch)
    found = compare(rec, rec, 1, 2)
    assert {r.module for r in found.only_b if r.kind == "module"} == {"branch"}
    assert not compare(rec, rec, 2, 2)
    with pytest.raises(ValueError, match="steps go from 1 to 3"):
        compare(rec, rec, 1, 4)


@pytest.mark.oracle
def test_two_engines_are_compared_by_what_both_have() -> None:
    theirs = importlib.import_module("torch")
    ours, other = training(retrograd), training(theirs)
    found = compare(ours, other)
    assert not found and {r.kind for r in found.rows} == {"module", "loss", "gradient", "hook", "step"}
    assert any("two engines" in note for note in found.notes)
    found = compare(run(retrograd), run(theirs, 1.5))
    assert (found.first.kind, found.first.name) == ("module", "2") and found.first.where.startswith("test_side_by_side.py")


@both
def test_kept_numbers_tell_apart_what_norms_do_not(torch: Any) -> None:
    def flipped(flip: bool, **how: Any) -> Any:
        with record(engine=torch.__name__, **how) as rec:
            x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True) * 2
            (x.flip(0) if flip else x.clone()).sum().backward()
        return [r for r in compare(rec, rec).rows if r.kind == "operation"], rec

    (_, a), (_, b) = flipped(False, values="all"), flipped(True, values="all")
    assert next(r for r in compare(a, b).rows if r.kind == "operation" and r.marked).name in ("clone", "flip")

    def permuted(order: list[int], **how: Any) -> Any:
        with record(engine=torch.__name__, **how) as rec:
            torch.tensor([1.0, 2.0, 3.0], requires_grad=True)[order].exp()
        return rec

    assert not compare(permuted([0, 1, 2]), permuted([2, 1, 0]))
    assert compare(permuted([0, 1, 2], values="all"), permuted([2, 1, 0], values="all"))


def test_parts_of_recordings_and_what_is_none() -> None:
    plain, bare = run(retrograd), run(retrograd, 2.0, norms=False)
    found = compare(plain, bare)
    assert not found and any("nothing of b was measured" in note for note in found.notes)
    with pytest.raises(TypeError, match="b must be a Recording"):
        compare(plain, "run.trace")                     # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rtol must be"):
        compare(plain, plain, rtol=-1)
    with record(engine="retrograd") as empty:
        pass
    with pytest.raises(ValueError, match="neither operations nor backward passes"):
        compare(empty, empty)
    lost = run(retrograd, limit=5)
    assert any("were dropped" in note for note in compare(plain, lost).notes)


def test_nan_on_one_side_differs() -> None:
    found = compare(run(retrograd), run(retrograd, float("nan")))
    assert found.first.module == "2" and found.first.apart == float("inf")
    assert str(found.first.b) == "nan" and "norm " in str(found) and " and nan, apart by inf" in str(found)
    assert not compare(run(retrograd, float("nan")), run(retrograd, float("nan")))
