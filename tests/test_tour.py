"""The tour notebook runs from the first cell to the last, and its results have rich reprs that notebooks show safely."""

from __future__ import annotations

import ast
import contextlib
import io
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from retrograd import Tensor

NOTEBOOK = Path(__file__).resolve().parent.parent / "examples" / "tour.ipynb"
CELLS = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


@pytest.fixture(scope="module")
def shown() -> list[tuple[str, Any]]:
    """What each code cell prints, and the value of its last line, as a notebook computes it."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    found = []
    for n, cell in enumerate(CELLS):
        if cell["cell_type"] != "code":
            continue
        *body, last = ast.parse("".join(cell["source"])).body
        assert isinstance(last, ast.Expr), "a cell ends with what it shows"
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(ast.Module(body, []), f"cell {n}", "exec"), namespace)
            value = eval(compile(ast.Expression(last.value), f"cell {n}", "eval"), namespace)
        found.append((out.getvalue(), value))
    return found


def test_it_is_a_notebook_without_outputs() -> None:
    book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in CELLS}) == len(CELLS)
    assert all((cell["outputs"], cell["execution_count"]) == ([], None) for cell in CELLS if cell["cell_type"] == "code")


class Tags(HTMLParser):
    """The tags of a repr, each closed where it must be."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_every_cell_shows_what_the_text_before_it_promises(shown: list[tuple[str, Any]]) -> None:
    gradient, watched, rec, view, ledger, cause, coverage, norms, trouble = (value for _, value in shown)
    assert gradient.tolist() == [2.0, 4.0, 6.0]
    for value in (watched, rec, view, ledger, coverage):
        tags = Tags()
        tags.feed(value._repr_html_())
        assert tags.open == [] and tags.seen <= {"table", "tr", "th", "td", "p", "code", "iframe"}
    assert ledger.check() < 1e-5 and {"use", "hook"} <= {entry.kind for entry in ledger.entries}
    assert cause.code == "detached" and "encoder" in str(cause)
    assert coverage.complete and isinstance(norms, Tensor) and norms.shape == (20,)
    assert "SqrtBackward0" in str(trouble)


def test_what_the_cells_print_is_true(shown: list[tuple[str, Any]]) -> None:
    trained, edge = shown[1][0].split(), shown[7][0].split()
    assert int(trained[2].rstrip("%")) >= 90
    near, far = float(edge[4].rstrip(";")), float(edge[-1])
    assert near < far / 2
