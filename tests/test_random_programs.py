"""A few hundred random programs of each kind do the same on retrograd as on PyTorch (long runs: see random_programs)."""

from __future__ import annotations

import importlib
import random
from typing import Any

import pytest
from random_programs.found import FOUND
from random_programs.program import Outcome, difference, smaller, unknown

import retrograd

# How many programs of a kind: a few seconds of each.
KINDS = {"complex": 500, "indexing": 300, "modules": 120, "optimizers": 60, "reductions": 200, "views": 250}


def test_numbers_agree_within_a_tolerance_of_the_largest() -> None:
    assert Outcome("x", [1.0, 1e-9], 1e-6).agrees(Outcome("x", [1.0, 0.0], 1e-6))
    assert not Outcome("x", [1.0, 1e-5], 1e-6).agrees(Outcome("x", [1.0, 0.0], 1e-6))
    assert Outcome("x", [float("nan"), float("inf")]).agrees(Outcome("x", [float("nan"), float("inf")]))
    assert not Outcome("x", [float("inf")], 1e-6).agrees(Outcome("x", [-float("inf")], 1e-6))


def test_a_difference_is_found_and_made_small() -> None:
    class Other:
        """retrograd with another exp."""

        def __getattr__(self, name: str) -> Any:
            return getattr(retrograd, name)

        def exp(self, x: Any) -> Any:
            return retrograd.exp(x) * 2

    program = ["a = torch.ones(2)", "b = a + 1", "c = torch.exp(a)", "d = c * b"]
    found = difference(program, retrograd, Other())
    assert found and found.place == 2
    assert smaller(found, retrograd, Other()).program == ["a = torch.ones(2)", "c = torch.exp(a)"]


@pytest.mark.oracle
@pytest.mark.parametrize("kind", KINDS)
def test_programs_agree(kind: str) -> None:
    import torch

    module = importlib.import_module(f"random_programs.{kind}")
    for seed in range(KINDS[kind]):
        found = difference(module.program(random.Random(seed)), retrograd, torch, getattr(module, "VERSIONS", True))
        if found and unknown(found, module):
            found = smaller(found, retrograd, torch)
            assert not unknown(found, module), f"seed {seed}\n{found}"


@pytest.mark.oracle
@pytest.mark.parametrize("about", FOUND)
def test_programs_found_agree(about: str) -> None:
    import torch

    found = difference([line.strip() for line in FOUND[about].strip().split("\n")], retrograd, torch)
    assert found is None, found
