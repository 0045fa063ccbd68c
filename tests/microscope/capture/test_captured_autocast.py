"""Captures under autocast: what is computed in half precision, and in which dtype its gradients come."""
from __future__ import annotations

from typing import Any

import pytest

from retrograd.microscope import capture


@pytest.mark.parametrize("name", ["GELU", "ELU", "LeakyReLU", "Softplus", "Hardswish", "SiLU", "Tanh"])
def test_layers_before_an_activation_are_kept_as_factors(torch: Any, name: str) -> None:
    nn = torch.nn
    model, x = nn.Sequential(nn.Linear(16, 64), getattr(nn, name)(), nn.Linear(64, 16)), torch.randn(5, 12, 16)

    def loss(x: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(x)
        return out.float().pow(2).sum()
    for _ in range(2):
        with capture(model) as cap:
            loss(x).backward()
        report = cap.coverage()
        assert report.complete and report.verified
        assert [row.status for row in report] == ["factors", "per sample"] * 2
        assert [use.dtype for use in cap.uses()] == [torch.bfloat16] * 2
    got = cap.grads().per_sample()
    for n in range(len(x)):
        model.zero_grad()
        loss(x[n:n + 1]).backward()
        for key, p in model.named_parameters():
            assert float((got[key][n] - p.grad).norm()) < 3e-2 * float(p.grad.norm())
