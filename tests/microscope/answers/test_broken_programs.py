"""What the microscope says of broken programs, on both engines, in each of the ways to record them."""

from __future__ import annotations

import copy
import inspect
import warnings
from pathlib import Path
from typing import Any

import broken_programs
import pytest
import warm
from both_engines import both
from broken_programs import PROGRAMS
from three_ways import WAYS, Ways

from retrograd.microscope import lint_recording, record


def answers(rec: Any, asked: Any, answer: str) -> list[tuple[str, str | None]]:
    """What is said, as (answer, file:line)."""
    if answer.startswith("RG"):
        return [(p.rule, f"{p.file}:{p.line}") for p in lint_recording(rec.loaded)]
    if asked is None:
        return [(f"{f.kind} {f.direction}", f.where) for f in rec.loaded.trouble()][:1]
    cause = rec.why_not_fired(asked) if hasattr(asked, "remove") else rec.why_none(asked)
    return [(cause.code, cause.where)]


def marked(program: Any) -> str | None:
    """file:line of what ends with `# here`."""
    lines, first = inspect.getsourcelines(program)
    return next((f"{inspect.getsourcefile(program)}:{first + i}" for i, line in enumerate(lines) if "# here" in line), None)


@both
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_mistake_is_named_with_its_line(torch: Any, name: str, way: str, tmp_path: Any, monkeypatch: Any) -> None:
    answer, program = PROGRAMS[name]
    with warnings.catch_warnings(), Ways(way, torch.__name__, tmp_path) as ways:
        warnings.simplefilter("ignore")                 # some of them warn, as they should
        monkeypatch.setattr(broken_programs, "record", ways.record)
        rec, asked = program(torch)
        said = answers(rec, asked, answer)
    where = marked(program)
    assert (answer, where) in [(code, where if where is None else at) for code, at in said], said


@both
def test_a_model_copied_before_the_recording_is_put_down_to_the_step(torch: Any) -> None:
    net = broken_programs.mlp(torch, 3, 2)
    old, optimizer = net[0].weight, broken_programs.sgd(torch, net)
    net = copy.deepcopy(net)
    with record(net) as rec:
        net(broken_programs.batch(torch)).square().mean().backward()
        optimizer.step(); line = inspect.currentframe().f_lineno  # noqa: E702
    cause = rec.why_none(old)
    assert (cause.code, cause.where) == ("replaced", f"{__file__}:{line}")


@pytest.mark.parametrize("name", ["features", "freeze", "gradient_norms", "step_in_backward", "gradient_penalty"])
def test_correct_programs_are_left_alone(name: str) -> None:
    root = Path(__file__).resolve().parents[3]
    done = warm.run("-m", "retrograd", "lint", "--run", f"examples/{name}.py", cwd=root)
    assert done.returncode == 0 and done.stdout.endswith("0 problems\n"), done.stdout[-2000:] + done.stderr[-2000:]


@both
@pytest.mark.parametrize("way", WAYS)
def test_what_looks_like_a_mistake_and_is_none_is_left_alone(torch: Any, way: str, tmp_path: Any) -> None:
    """Two optimizers, each clearing what the other's loss left; accumulation; a scheduler that warms up; losses logged."""
    with Ways(way, torch.__name__, tmp_path) as ways:
        a, b = broken_programs.mlp(torch, 3, 3), broken_programs.mlp(torch, 3, 1)
        first, second = broken_programs.sgd(torch, a), broken_programs.sgd(torch, b)
        warmup = torch.optim.lr_scheduler.LambdaLR(second, lambda step: step / 2)
        with ways.record(a, b) as rec:
            logged = 0.0
            for _ in range(3):
                x = broken_programs.batch(torch)
                second.zero_grad()
                (b(x) - b(a(x).detach())).mean().backward()
                b(x).square().mean().backward()         # accumulated
                second.step()
                warmup.step()
                first.zero_grad()
                loss = -b(a(x)).mean()
                loss.backward()
                first.step()
                logged = logged + loss.detach()
                shown = (0.5 * loss + 0.5 * loss.square()).item()       # of this step's graph only
    assert [str(p) for p in lint_recording(rec.loaded)] == [] and shown
