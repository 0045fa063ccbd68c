"""Every layer of the table of captures: gradients are those without the block, and all that was saved is let go."""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from retrograd import microscope

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "capture"))
from cases import CASES, TABLE, engine_named  # noqa: E402


@pytest.mark.parametrize("engine, name", TABLE)
def test_a_layer_computes_what_it_did_and_its_memory_comes_back(engine: str, name: str) -> None:
    torch = engine_named(engine)
    torch.manual_seed(0)
    case = CASES[name](torch)
    drawn = torch.get_rng_state()
    buffers = {key: b.clone() for key, b in case.model.named_buffers()}

    def gradients() -> dict[str, Any]:
        torch.set_rng_state(drawn)
        case.model.zero_grad()
        for key, b in case.model.named_buffers():
            b.data.copy_(buffers[key])
        case.out(case.model(*case.inputs)).sin().sum().backward()
        return {key: None if p.grad is None else p.grad.clone() for key, p in case.model.named_parameters()}

    plain = gradients()
    with microscope.memory(case.model) as mem:
        held = gradients()
    for key, g in plain.items():
        assert (g is None) == (held[key] is None) and (g is None or torch.allclose(g, held[key], rtol=1e-5, atol=1e-7)), key
    assert {group.name for group in mem.by("kind", at_peak=False)} <= {"gradient"} and mem.peak > mem.fixed
