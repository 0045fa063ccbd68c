"""docs/microscope-api.md: every public function is there, and each of its options has a line."""
from __future__ import annotations

import inspect
from typing import Any

import pytest

from retrograd import microscope
from tools import microscope_api


def test_every_option_of_a_public_function_is_described() -> None:
    assert microscope_api.undescribed() == []


def test_an_option_of_a_method_that_its_docstring_does_not_name_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def last(self: Any, mode: str = "r") -> Any:
        """The newest row."""

    monkeypatch.setattr(microscope.Watch, "last", last)
    assert microscope_api.undescribed() == ["Watch.last(mode)"]


def test_an_option_without_a_line_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(path: Any, mode: str = "r") -> Any:
        """Read.

        path   of the file
        """

    monkeypatch.setattr(microscope, "load", load)
    assert microscope_api.undescribed() == ["load(mode)"]


def test_the_page_has_every_public_name_and_every_option() -> None:
    page = microscope_api.page()
    for name in microscope.__all__:
        thing = getattr(microscope, name)
        if inspect.isclass(thing) and issubclass(thing, Exception):
            assert f"| `{name}(" in page, name
            continue
        assert f"\n### {name}\n" in page, name
        if name in microscope_api.callables():
            _, _, part = page.partition(f"\n### {name}\n")
            for option in inspect.signature(thing).parameters:
                assert f"`{option}`" in part.partition("\n### ")[0], (name, option)


def test_a_line_that_goes_on_and_names_that_share_a_line_are_read() -> None:
    def f(a: Any, b: Any, c: Any) -> None:
        """What it does,
        in two lines.

        a, b   numbers, which
               go on
        c      with `code` | and <b>
        Not an option.
        """

    lines = {("a", "b"): "numbers, which go on", ("c",): "with `code` | and <b>"}
    assert microscope_api.doc_of(f) == ("What it does, in two lines.", lines)
    assert microscope_api.escaped("x * `a|b` <b> [c]") == "x \\* `a\\|b` &lt;b> \\[c\\]"
