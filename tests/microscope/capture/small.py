"""What tests of quantities share: a small model, a captured step, and a loop over single samples."""
from __future__ import annotations

from typing import Any

from retrograd.microscope import capture


def near(a: Any, b: Any, tolerance: float = 1e-4) -> bool:
    assert tuple(a.shape) == tuple(b.shape)
    return float((a - b).norm()) <= tolerance * max(float(b.norm()), 1e-6)


def model_of(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Linear(4, 5), nn.LayerNorm(5), nn.Tanh(), nn.Linear(5, 3))


def captured(torch: Any, model: Any, x: Any, loss: Any = None, **options: Any) -> Any:
    model.zero_grad()
    with capture(model, **options) as cap:
        out = model(x)
        (out.pow(2).sum() if loss is None else loss(out)).backward()
    return cap


def alone(torch: Any, model: Any, x: Any, loss: Any) -> list[dict[str, Any]]:
    found = []
    for n in range(len(x)):
        model.zero_grad()
        loss(model(x[n:n + 1]), n).backward()
        found.append({name: p.grad.clone() for name, p in model.named_parameters()})
    model.zero_grad()
    return found
