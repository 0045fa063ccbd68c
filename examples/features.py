"""Extract features with forward hooks: outputs of inner layers by name, without a change to the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import retrograd as torch

nn = torch.nn
rng = np.random.default_rng(0)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> Any:
        return self.head(self.body(x).mean((2, 3)))


class Features:
    """with Features(model, names) as f: model(x); f["body.0"] is that layer's output."""

    def __init__(self, model: nn.Module, names: list[str]) -> None:
        self.found: dict[str, torch.Tensor] = {}
        self.handles = [model.get_submodule(name).register_forward_hook(self.keeper(name)) for name in names]

    def keeper(self, name: str) -> Callable[..., None]:
        def hook(module: nn.Module, args: tuple[Any, ...], output: torch.Tensor) -> None:
            self.found[name] = output.detach()

        return hook

    def __getitem__(self, name: str) -> torch.Tensor:
        return self.found[name]

    def __enter__(self) -> Features:
        return self

    def __exit__(self, *exc: object) -> None:
        for handle in self.handles:
            handle.remove()


model = Net()
with torch.no_grad():
    for p in model.parameters():
        p.copy_(torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.4))
images = torch.tensor(rng.standard_normal((5, 1, 8, 8)), dtype=torch.float32)
names = [name for name, module in model.named_modules() if not list(module.children())]

with Features(model, names) as features, torch.no_grad():
    scores = model(images)
for name in names:
    f = features[name]
    print(f"{name:7} {type(model.get_submodule(name)).__name__:9} {tuple(f.shape)!s:15} mean {f.mean().item():.4f}")
print("the head's output is the model's:", torch.equal(features["head"], scores))

# features as inputs of something else: how alike are the images, seen by the last convolution?
seen = features["body.4"].flatten(1)
seen = seen / seen.norm(dim=1, keepdim=True)
for row in (seen @ seen.T).tolist():
    print(" ".join(f"{v:.3f}" for v in row))
model(images)
print("hooks left:", sum(len(m._forward_hooks) for m in model.modules()))
