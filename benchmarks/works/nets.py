"""Whole networks with nn.Module and an optimiser: digits by convolution, an LSTM, a character model of two blocks.

Weights come from one NumPy generator, in the order of `named_parameters`, so that engines agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from benchmarks.works.base import Engine, Missing, Task, Work, grad_norm


def need(torch: Engine, *names: str) -> Any:
    """nn of this engine. Missing when it lacks one of the names."""
    nn: Any = getattr(torch, "nn", None)
    for name in names:
        if not hasattr(nn, name):
            raise Missing(f"no nn.{name}")
    return nn


def fill(torch: Engine, model: Any, seed: int) -> None:
    """Weights with variance 1/inputs; ones and zeros where a parameter has one dim, as norms and biases start."""
    r = np.random.RandomState(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if len(p.shape) == 1:
                p.fill_(1.0 if "norm" in name and name.endswith("weight") else 0.0)
            else:
                drawn = r.randn(*p.shape) / np.sqrt(np.prod(p.shape[1:]))
                p.copy_(torch.tensor(drawn.astype(np.float32)))


def task_of(model: Any, optimizer: Any, loss: Callable[[], Any]) -> Task:
    """A step: forget gradients, loss, backward, optimiser. Checked: loss, norm of gradients, loss after the step."""

    def backward() -> Any:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    def step() -> None:
        backward()
        optimizer.step()

    def check() -> list[float]:
        value = backward().item()
        norm = grad_norm(*model.parameters())
        step()
        return [value, norm, loss().item()]

    return Task(step, check)


class Digits(Work):
    """Conv-ReLU-Conv-ReLU-MaxPool-Linear-ReLU-Linear on images of 8 x 8, SGD with momentum. N images, C channels."""

    group: ClassVar[str] = "nets"

    def __init__(self, batch: int = 64, channels: int = 16) -> None:
        self.batch, self.channels = batch, channels
        self.name = f"digits-conv-b{batch}"

    def tiny(self) -> Self:
        return type(self)(3, 2)

    def torch(self, torch: Engine) -> Task:
        nn = need(torch, "Conv2d", "MaxPool2d", "Flatten")
        c = self.channels
        model = nn.Sequential(
            nn.Conv2d(1, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, 2 * c, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(32 * c, 64), nn.ReLU(), nn.Linear(64, 10),
        )  # fmt: skip
        fill(torch, model, 5)
        r = np.random.RandomState(6)
        x = torch.tensor(r.rand(self.batch, 1, 8, 8).astype(np.float32))
        y = torch.tensor(r.randint(0, 10, self.batch))
        descent = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        return task_of(model, descent, lambda: nn.functional.cross_entropy(model(x), y))


class Lstm(Work):
    """nn.LSTM over T steps and a linear layer on its last output; Adam. N sequences, I in, H hidden."""

    group: ClassVar[str] = "nets"

    def __init__(self, batch: int = 16, steps: int = 32, inputs: int = 32, hidden: int = 64) -> None:
        self.batch, self.steps, self.inputs, self.hidden = batch, steps, inputs, hidden
        self.name = f"lstm-{inputs}-{hidden}-t{steps}-b{batch}"

    def tiny(self) -> Self:
        return type(self)(2, 3, 4, 5)

    def torch(self, torch: Engine) -> Task:
        nn = need(torch, "LSTM")

        class Reader(nn.Module):  # type: ignore[misc]
            def __init__(self, inputs: int, hidden: int) -> None:
                super().__init__()
                self.lstm = nn.LSTM(inputs, hidden, batch_first=True)
                self.head = nn.Linear(hidden, 1)

            def forward(self, x: Any) -> Any:
                out, _ = self.lstm(x)
                return self.head(out[:, -1])

        model = Reader(self.inputs, self.hidden)
        fill(torch, model, 7)
        r = np.random.RandomState(8)
        x = torch.tensor(r.randn(self.batch, self.steps, self.inputs).astype(np.float32))
        y = torch.tensor(r.randn(self.batch, 1).astype(np.float32))
        adam = torch.optim.Adam(model.parameters(), lr=1e-3)
        return task_of(model, adam, lambda: nn.functional.mse_loss(model(x), y))


class Characters(Work):
    """A character model: embeddings, pre-norm blocks with causal attention, cross-entropy; AdamW.

    N texts, T characters, D width, H heads, V characters known.
    """

    group: ClassVar[str] = "nets"

    def __init__(
        self, batch: int = 8, length: int = 64, width: int = 128, heads: int = 4, blocks: int = 2, known: int = 64
    ) -> None:
        self.sizes = (batch, length, width, heads, blocks, known)
        self.name = f"characters-{blocks}x{width}-t{length}-b{batch}"

    def tiny(self) -> Self:
        return type(self)(2, 5, 8, 2, 2, 7)

    def torch(self, torch: Engine) -> Task:
        nn = need(torch, "Embedding", "LayerNorm", "ModuleList")
        F = nn.functional
        if not hasattr(F, "scaled_dot_product_attention"):
            raise Missing("no scaled_dot_product_attention")
        batch, length, width, heads, blocks, known = self.sizes

        class Block(nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
                self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

            def forward(self, x: Any) -> Any:
                n, t, d = x.shape
                q, k, v = self.qkv(self.norm1(x)).view(n, t, 3, heads, d // heads).permute(2, 0, 3, 1, 4)
                mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
                x = x + self.out(mixed.transpose(1, 2).reshape(n, t, d))
                return x + self.down(F.gelu(self.up(self.norm2(x))))

        class Model(nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.letters, self.places = nn.Embedding(known, width), nn.Embedding(length, width)
                self.blocks = nn.ModuleList([Block() for _ in range(blocks)])
                self.norm = nn.LayerNorm(width)
                self.head = nn.Linear(width, known)

            def forward(self, x: Any) -> Any:
                h = self.letters(x) + self.places(torch.arange(x.shape[1]))
                for block in self.blocks:
                    h = block(h)
                return self.head(self.norm(h))

        model = Model()
        fill(torch, model, 9)
        text = np.random.RandomState(10).randint(0, known, (batch, length + 1))
        x, y = torch.tensor(text[:, :-1].copy()), torch.tensor(text[:, 1:].reshape(-1))
        adam = torch.optim.AdamW(model.parameters(), lr=1e-3)
        return task_of(model, adam, lambda: F.cross_entropy(model(x).view(-1, known), y))


def works() -> list[Work]:
    return [Digits(), Lstm(), Characters()]
