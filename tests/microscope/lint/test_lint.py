"""Every rule speaks on its example, and is silent on the corrected one; on live models and recordings, both engines."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from both_engines import both

from retrograd.microscope import lint, lint_recording, lint_source, record
from retrograd.microscope.lint.live import NAMES
from retrograd.microscope.lint.static import RULES

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## (RG\d+): ([^\n]+)\n(.*?)(?=^## |\Z)", re.S | re.M)
SECTIONS = {m[1]: (m[2], re.findall(r"```python[^\n]*\n(.*?)```", m[3], re.S)) for m in SECTION.finditer(PAGE)}


def rules(problems: Any) -> list[str]:
    return sorted({p.rule for p in problems})


def test_the_page_has_every_rule() -> None:
    names = {n: name for n, (name, _) in RULES.items()} | NAMES
    assert {n: title for n, (title, _) in SECTIONS.items()} == names


@pytest.mark.parametrize("number", RULES)
def test_a_rule_finds_the_wrong_listing_alone_and_can_be_silenced(number: str) -> None:
    _, (wrong, right) = SECTIONS[number]
    found = lint_source(wrong)
    assert rules(found) == [number], found
    assert rules(lint_source(right)) == []
    line = found[0].line
    marked = wrong.splitlines()
    marked[line - 1] += f"  # lint: {number}"
    assert [p for p in lint_source("\n".join(marked)) if p.line == line] == []


@pytest.mark.parametrize("number", NAMES)
@both
def test_rule_at_run_time(torch: Any, number: str) -> None:
    """The example makes `problems`; the corrected one makes none of this rule."""
    _, (wrong, right) = SECTIONS[number]
    for code, says in ((wrong, True), (right, False)):
        namespace: dict[str, Any] = {"torch": torch, "nn": torch.nn, "record": record, "lint": lint,
                                     "lint_recording": lint_recording}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(0)
            exec(compile(code, "<example>", "exec"), namespace)
        found = rules(namespace["problems"])
        assert (number in found) is says, namespace["problems"]


def test_our_own_examples_are_clean() -> None:
    for path in sorted((ROOT / "examples").glob("*.py")):
        assert lint_source(path.read_text(encoding="utf-8"), str(path)) == []


def test_what_is_not_python() -> None:
    with pytest.raises(SyntaxError):
        lint_source("def f(:")
    with pytest.raises(TypeError, match="expected a module"):
        lint(3)


@pytest.mark.parametrize("first", ["from retrograd.microscope import lint_recording, Explanation",
                                   "import retrograd.microscope.lint.live, retrograd.microscope.answers.explain",
                                   "from retrograd.microscope import explain, lint, Problem"])
def test_names_are_functions_whatever_was_imported_first(first: str) -> None:
    program = f"{first}\nfrom retrograd import microscope as m\nprint(type(m.lint).__name__, type(m.explain).__name__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["function", "function"], done.stderr


@both
def test_a_parameter_without_a_gradient_has_a_place(torch: Any) -> None:
    """Also one that no line is to blame for: its module was never called."""
    m = torch.nn.ModuleDict({"used": torch.nn.Linear(3, 2), "idle": torch.nn.Linear(3, 2)})
    with record(m) as rec:
        m["used"](torch.ones(1, 3)).sum().backward()
    found = [p for p in lint_recording(rec) if p.rule == "RG302"]
    assert len(found) == 2 and all(p.file == __file__ and p.line > 0 for p in found), found


def test_layers_in_a_python_list_show_without_a_recording(torch: Any) -> None:
    class Hidden(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.layers = [torch.nn.Linear(4, 4)]
            self.shown = torch.nn.ModuleList(self.layers[:0])

    (problem,) = lint(Hidden())
    assert problem.rule == "RG315" and problem.file == __file__ and problem.line > 0
    assert problem.message == "layers is a Python list: parameters() does not find the layers in it"
    assert problem.way_out == "Use nn.ModuleList or nn.ModuleDict."
