"""Some of PyTorch's own samples of each operation; docs/opinfo.md tells of all of them."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parent.parent / "docs" / "opinfo.md"
MOST = 1                                        # samples of each operation


def operations() -> list[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torch.testing._internal.common_methods_invocations import op_db
    except ImportError:
        return []
    return list(op_db)


def explained(tallies: Iterable[Any]) -> int:
    """How many operations have samples; every difference has a listed reason."""
    from opinfo.reasons import reason

    count, unexplained = 0, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for tally in tallies:
            count += tally.samples + tally.errors > 0
            unexplained += [f"{tally.name} {where}: {what}" for where, what in tally.differences
                            if reason(tally.name, where, what) is None]
    assert unexplained == []
    return count


@pytest.mark.oracle
@pytest.mark.parametrize("part", range(8))
def test_samples_agree_but_for_the_listed_reasons(part: int) -> None:
    """Every eighth operation: values, gradients, methods and errors."""
    pytest.importorskip("expecttest")           # torch.testing._internal needs it
    from opinfo.compare import compare

    assert explained(compare(op, ("float64",), MOST) for op in operations()[part::8]) > 60


@pytest.mark.oracle
def test_samples_of_modules_and_optimizers_agree_but_for_the_listed_reasons() -> None:
    """The first four of each module, all of each optimizer; values, gradients, states and errors."""
    pytest.importorskip("expecttest")
    from opinfo import modules

    assert explained(modules.tallies([], 4)) > 120


# What only one of them does: retrograd edits a tangent under vmap, asks first whether there is a jvp, and has no sizes that
# depend on values in fake functions.
OWN = {"NumpyExpMarkDirtyAutogradFunction 0 vmap of jvp", "NumpyCubeNotComposableAutogradFunction 0 jacfwd",
       "NumpyNonzeroCustomOp 0 opcheck", "NumpyNMSCustomOp 0 opcheck"}


@pytest.mark.oracle
@pytest.mark.once
def test_samples_of_functions_and_custom_operators_agree() -> None:
    """Results, gradients of orders 1 and 2, vmap in three ways, jvp, Jacobians, opcheck and schemas."""
    pytest.importorskip("expecttest")
    import torch

    program = [str(PAGE.parents[1] / "tests" / "opinfo" / "samples_of_functions.py"),
               str(Path(torch.__file__).parent / "testing" / "_internal")]
    theirs, ours = (
        subprocess.run([sys.executable, *way, *program], capture_output=True, text=True, check=True).stdout.splitlines()
        for way in ([], ["-m", "retrograd", "run"]))
    assert len(theirs) > 240
    assert {a.partition(": ")[0] for a, b in zip(theirs, ours, strict=True) if a != b} == OWN


@pytest.mark.oracle
def test_derivatives_of_complex_numbers_are_finite_differences() -> None:
    """Every twelfth operation, first and second order; `python -m tests.opinfo.finite` checks all."""
    pytest.importorskip("expecttest")
    from opinfo import finite

    checked, wrong = 0, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op in finite.operations()[::12]:
            done, found = finite.check(op, 1)
            checked += done
            wrong += found
    assert wrong == [] and checked > 20


def test_nearly_all_samples_agree_and_no_difference_is_unexplained() -> None:
    page = PAGE.read_text(encoding="utf-8")
    shares = [float(p) for p in re.findall(r"\| ([\d.]+) % \|", page)]
    assert len(shares) == 4 and shares[0] >= 99.85      # of all samples
    assert shares[1] >= 99 and shares[2] >= 99.85       # of those of complex numbers, of modules and optimizers
    assert shares[3] >= 98.5                            # of the inputs that must fail
    assert "not explained" not in page
