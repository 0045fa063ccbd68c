"""What the microscope says of broken programs, on both engines, in each of the ways to record them."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import broken_programs
import pytest
from both_engines import both
from broken_programs import PROGRAMS
from three_ways import WAYS, Ways

from retrograd.microscope import lint_recording


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
