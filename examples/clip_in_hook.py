"""Clip gradients inside the backward pass with tensor hooks: training survives an outlier."""

from collections.abc import Callable

import numpy as np

import retrograd as torch

nn = torch.nn
rng = np.random.default_rng(0)
x = torch.tensor(rng.standard_normal((64, 4)))
y = x @ torch.tensor([[1.0], [-2.0], [0.5], [3.0]], dtype=torch.float64)
y[7] = 1e6  # a broken label
clipped = 0


def clip(limit: float) -> Callable[[torch.Tensor], torch.Tensor | None]:
    def hook(grad: torch.Tensor) -> torch.Tensor | None:  # runs before .grad is written, once per pass
        global clipped
        norm = grad.norm()
        if norm <= limit:
            return None
        clipped += 1
        return grad * (limit / norm)

    return hook


def train(limit: float | None) -> list[float]:
    model = nn.Linear(4, 1).double()
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    if limit is not None:
        for p in model.parameters():
            p.register_hook(clip(limit))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(240):
        rows = slice(8 * (step % 8), 8 * (step % 8) + 8)
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[rows]), y[rows]).backward()
        optimizer.step()
    return [round(w, 2) for w in model.weight[0].tolist()]


print("weights sought: 1, -2, 0.5, 3")
print("unclipped:", train(None))
print("clipped:  ", train(1.0))
print(clipped, "of 480 gradients were clipped")
