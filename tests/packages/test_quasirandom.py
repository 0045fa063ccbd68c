"""torch.quasirandom: PyTorch's points, number for number."""
from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch


@pytest.mark.oracle
@pytest.mark.parametrize("scramble", [False, True])
@pytest.mark.parametrize("dimension", [1, 2, 40, 1111])
def test_points_are_pytorchs(dimension: int, scramble: bool) -> None:
    import torch as theirs

    def told(module: Any) -> list[Any]:
        engine = module.quasirandom.SobolEngine(dimension, scramble, seed=3)
        seen = [repr(engine), engine.sobolstate.tolist()]
        seen += [engine.draw(n).tolist() for n in (1, 5, 16)]
        engine.fast_forward(9)
        seen.append(engine.draw(3, dtype=module.float64).tolist())
        engine.reset()
        return [*seen, engine.draw_base2(3).tolist(), engine.num_generated]

    assert told(torch) == told(theirs)


@pytest.mark.oracle
def test_scrambling_without_a_seed_draws_from_the_default_generator() -> None:
    import torch as theirs

    drawn = []
    for module in (torch, theirs):
        module.manual_seed(5)
        drawn.append(module.quasirandom.SobolEngine(3, scramble=True).draw(4).tolist())
    assert drawn[0] == drawn[1]


def test_dimensions_out_of_range_are_refused() -> None:
    for dimension in (0, 21202):
        with pytest.raises(ValueError, match="Supported range of dimensionality"):
            torch.quasirandom.SobolEngine(dimension)
    with pytest.raises(NotImplementedError, match="1111"):
        torch.quasirandom.SobolEngine(1112)
    engine = torch.quasirandom.SobolEngine(2)
    engine.draw(3)
    with pytest.raises(ValueError, match="power of 2"):
        engine.draw_base2(1)
