"""Freeze parts of a model with hooks: whole layers for a while, single rows for good; removing a handle unfreezes."""

from typing import Any

import numpy as np

import retrograd as torch

nn = torch.nn
rng = np.random.default_rng(0)
model = nn.Sequential(nn.Embedding(6, 4), nn.Flatten(), nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 2)).double()
with torch.no_grad():
    for p in model.parameters():
        p.copy_(torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.5))


def freeze(module: nn.Module) -> list[Any]:
    """-> handles; remove() them to thaw. The gradient becomes zero: SGD without decay then leaves the weights."""
    return [p.register_hook(torch.zeros_like) for p in module.parameters()]


def freeze_rows(weight: torch.Tensor, rows: list[int]) -> Any:
    mask = torch.ones(len(weight), 1, dtype=weight.dtype)
    mask[rows] = 0
    return weight.register_hook(lambda grad: grad * mask)


words = torch.tensor(rng.integers(0, 6, (40, 3)))
labels = (words.sum(1) % 2).long()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)


def train(steps: int) -> dict[str, torch.Tensor]:
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    loss = torch.tensor(0.0)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(words), labels)
        loss.backward()
        optimizer.step()
    moved = {name: (p.detach() - before[name]).norm().item() for name, p in model.named_parameters()}
    print(f"loss {loss.item():.4f}  moved:", "  ".join(f"{name} {m:.3f}" for name, m in moved.items()))
    return before


embedding = model[0].weight
freeze_rows(embedding, [0, 1])  # say they are padding and a pretrained word
handles = freeze(model[2])
before = train(100)
print("rows of the embedding that moved:", (embedding != before["0.weight"]).any(1).nonzero().flatten().tolist())
for handle in handles:
    handle.remove()
print("layer 2 thawed")
train(100)
