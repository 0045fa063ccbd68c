"""Programs written for torch print on retrograd what PyTorch printed: tests/conformance."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from conformance import harness, suite
from conformance.deviations import DEVIATIONS

DOCS = Path(__file__).resolve().parent.parent / "docs" / "deviations.md"


def report(want: str, got: str) -> None:
    equal, lines = harness.diff(want, got)
    if lines:
        pytest.fail(f"{equal} of {want.count(chr(10))} lines; - PyTorch, + here\n" + "\n".join(lines), pytrace=False)


@pytest.mark.parametrize("name", harness.names())
def test_prints_what_pytorch_printed(name: str) -> None:
    report(harness.expected(name), harness.run_retrograd(name))


def test_every_program_has_a_transcript_and_the_reverse() -> None:
    assert harness.names() == sorted(p.stem for p in harness.TRANSCRIPTS.glob("*.txt"))


def test_every_test_of_pytorchs_suite_has_a_program() -> None:
    assert sorted(suite.wanted() - set(suite.blocks())) == []
    assert not suite.wanted() & set(suite.LEFT_OUT)


def test_programs_stand_for_tests_that_exist() -> None:
    assert sorted(set(suite.blocks()) - suite.wanted()) == []


def test_no_deviation_is_stale() -> None:
    assert [f"{d.program}: {d.torch}" for d in harness.stale()] == []


def test_deviations_have_reasons_and_change_something() -> None:
    for d in DEVIATIONS:
        assert d.reason and d.torch != d.ours
        assert d.program == "*" or d.program in harness.names()


@pytest.fixture(scope="session")
def python() -> str:
    """A Python with PyTorch: this one, or that of RETROGRAD_ORACLE."""
    found = os.environ.get("RETROGRAD_ORACLE")
    if found is None and importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    version = harness.torch_version(found or sys.executable)
    if version.split("+")[0] != harness.TORCH:
        pytest.skip(f"transcripts are PyTorch {harness.TORCH}'s, this is {version}")
    return found or sys.executable


@pytest.mark.oracle
@pytest.mark.once
@pytest.mark.parametrize("name", harness.names())
def test_transcript_is_what_pytorch_prints(name: str, python: str) -> None:
    report(harness.transcript(name), harness.run_torch(name, python))


# ---- the comparison itself ----


@pytest.mark.parametrize(
    ("torch", "ours"),
    [
        ("tensor([1.0000, 2.5000])", "tensor([1.0000, 2.5001])"),
        ("loss 0.123456", "loss 0.1234561"),
        ("3.0000e-05", "3.0001e-05"),
    ],
)
def test_nearly_equal_numbers_are_equal(torch: str, ours: str) -> None:
    assert harness.same(torch, ours)


@pytest.mark.parametrize(
    ("torch", "ours"),
    [
        ("tensor([1., 2.])", "tensor([1.0000, 2.0000])"),
        ("tensor([1., 2.])", "tensor([ 1.,  2.])"),
        ("2.5000", "2.5010"),
        ("count 1000", "count 1001"),
        ("0.", "-0."),
        ("AddBackward0", "AddBackward1"),
        ("nan", "inf"),
    ],
)
def test_other_lines_differ(torch: str, ours: str) -> None:
    assert not harness.same(torch, ours)


def test_a_hint_after_an_exception_is_ours_to_add() -> None:
    text = "[add] !! builtins.RuntimeError: bad shape\n"
    assert harness.diff(text, text + "    | Write it so.\n") == (1, [])
    assert harness.diff(text, text + "another line\n")[1]


def test_a_deviation_rewrites_the_expectation() -> None:
    d = harness.Deviation("*", r"<class '(\w+)'>", r"<\1>", "shown shorter", regex=True)
    assert d.apply("a <class 'Node'>\n") == ("a <Node>\n", 1)
    assert harness.stale((harness.Deviation("kinks", "never printed", "anything", "no reason"),))
