"""A number read off a tensor: the cause of a missing gradient where the loss was computed with it, and nowhere else."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from both_engines import both

from retrograd.microscope import load, record

Program = Callable[[Any, Any, Any, Any], None]
PROGRAMS: list[tuple[str, Program]] = []
log = logging.getLogger(__name__)


def is_(code: str) -> Callable[[Program], Program]:
    """Why aux.weight has no gradient after the program."""
    def keep(program: Program) -> Program:
        PROGRAMS.append((code, program))
        return program

    return keep


@is_("not_in_loss")
def printed_and_then_a_target_is_made(torch: Any, m: Any, aux: Any, x: Any) -> None:
    print(aux(x).sum().item())
    target = torch.ones(4, 2)
    loss = (m(x) * 0.5 - target).pow(2).sum()
    loss.backward()


@is_("not_in_loss")
def shown_in_a_text(torch: Any, m: Any, aux: Any, x: Any) -> None:
    value = aux(x).sum()
    text = f"aux {value.item():.3f}" + str(float(value.detach())) + "{:5.2f}".format(value.item())     # noqa: UP032
    log.info("%s %s", text, value.item())
    loss = (m(x) * 2 + torch.zeros(2)).sum()
    loss.backward()


@is_("not_in_loss")
def summed_up_for_an_average(torch: Any, m: Any, aux: Any, x: Any) -> None:
    total, history = 0.0, []
    for step in range(3):
        side = aux(x).sum()
        loss = (m(x) * 0.5 - torch.ones(2)).pow(2).sum()
        loss.backward()
        total += side.item()
        history.append(side.item())
        print(step, total / (step + 1), sum(history) / len(history))


@is_("not_in_loss")
def decides_when_to_stop(torch: Any, m: Any, aux: Any, x: Any) -> None:
    best = math.inf
    for _ in range(2):
        worth = aux(x).sum().item()
        if worth < best:
            best = worth
        elif worth > 100 or aux(x).sum() > 1e9:
            break
        (m(x) * 2.0).sum().backward()


@is_("not_in_loss")
def returned_by_a_function_that_is_only_printed(torch: Any, m: Any, aux: Any, x: Any) -> None:
    def evaluate() -> Any:
        return aux(x).mean().item()

    for _ in range(2):
        print(evaluate())
        (m(x) * 3 - torch.ones(2)).sum().backward()


@is_("read_as_number")
def multiplied(torch: Any, m: Any, aux: Any, x: Any) -> None:
    scale = aux(x).mean().item()
    loss = m(x).sum() * scale
    loss.backward()


@is_("read_as_number")
def computed_with_and_used_inside_blocks(torch: Any, m: Any, aux: Any, x: Any) -> None:
    scale = float(aux(x).mean().detach())
    twice = abs(scale) * 2 + 1
    for _ in range(2):
        with torch.enable_grad():
            loss = m(x).sum()
            loss = loss / twice
        loss.backward()


@is_("read_as_number")
def in_the_statement_itself(torch: Any, m: Any, aux: Any, x: Any) -> None:
    (m(x).sum() + 0.1 * aux(x).pow(2).mean().item()).backward()


@is_("read_as_number")
def added_on(torch: Any, m: Any, aux: Any, x: Any) -> None:
    loss = m(x).sum()
    loss += aux(x).mean().item()
    loss.backward()


@is_("read_as_number")
def a_target_of_numbers(torch: Any, m: Any, aux: Any, x: Any) -> None:
    wanted = aux(x).mean(0).tolist()
    target = torch.tensor(wanted)
    (m(x) - target).pow(2).sum().backward()


@is_("read_as_number")
def through_numpy(torch: Any, m: Any, aux: Any, x: Any) -> None:
    array = aux(x).detach().numpy() * 2
    (m(x) * torch.from_numpy(array)).sum().backward()


@is_("read_as_number")
def a_penalty_that_returns_a_number(torch: Any, m: Any, aux: Any, x: Any) -> None:
    def penalty() -> Any:
        return (aux.weight ** 2).sum().item()

    loss = m(x).sum() + 0.01 * penalty()
    loss.backward()


@is_("read_as_number")
def one_of_several_numbers(torch: Any, m: Any, aux: Any, x: Any) -> None:
    loss = m(x).sum()
    for value in aux(x)[0].tolist():
        loss = loss * value
    loss.backward()


@is_("cannot_know")
def assigned_anew_on_one_way(torch: Any, m: Any, aux: Any, x: Any) -> None:
    scale = aux(x).mean().item()
    if x.shape[0] > 3:
        scale = 2.0
    (m(x) * scale).sum().backward()


@is_("cannot_know")
def handed_to_a_function(torch: Any, m: Any, aux: Any, x: Any) -> None:
    def scaled(y: Any, by: float) -> Any:
        return y * 2

    scaled(m(x), aux(x).mean().item()).sum().backward()


@is_("cannot_know")
def kept_by_an_object(torch: Any, m: Any, aux: Any, x: Any) -> None:
    m.scale = aux(x).mean().item()
    (m(x) * m.scale).sum().backward()


def models(torch: Any) -> Any:
    torch.manual_seed(0)
    return torch.nn.Linear(3, 2), torch.nn.Linear(3, 2), torch.randn(4, 3)


@both
@pytest.mark.parametrize(("code", "program"), PROGRAMS, ids=[p.__name__ for _, p in PROGRAMS])
def test_a_number_is_the_cause_where_the_loss_was_computed_with_it(
        torch: Any, code: str, program: Program, tmp_path: Path) -> None:
    m, aux, x = models(torch)
    hook = aux.register_full_backward_hook(lambda module, gi, go: None)
    with record(m, aux) as rec:
        program(torch, m, aux, x)
    cause = rec.why_none(aux.weight)
    assert cause.code == code, cause
    assert cause.certain == (code != "cannot_know")
    assert rec.why_none(m.weight).code == "has_grad"
    if any(e.path == "aux" for e in rec.of("enter")):
        assert rec.why_not_fired(hook).code == code
    rec.save(tmp_path / "run.trace")
    assert load(tmp_path / "run.trace").why_none("aux.weight") == cause


@both
def test_without_its_source_nobody_knows_what_became_of_a_number(torch: Any) -> None:
    m, aux, x = models(torch)
    program = "print(aux(x).sum().item()); loss = (m(x) * 2).sum(); loss.backward()"
    with record(m, aux) as rec:
        exec(compile(program, "<nowhere>", "exec"), {"m": m, "aux": aux, "x": x, "print": lambda *args: None})
    cause = rec.why_none(aux.weight)
    assert cause.code == "cannot_know" and "item()" in cause.text


@both
def test_an_answer_asked_for_during_the_recording_is_not_kept(torch: Any) -> None:
    m, aux, x = models(torch)
    with record(m, aux) as rec:
        scale = aux(x).mean().item()
        m(x).sum().backward()
        assert rec.why_none(aux.weight).code == "not_in_loss"
        (m(x) * scale).sum().backward()
        assert rec.why_none(aux.weight).code == "read_as_number"
