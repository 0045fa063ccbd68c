"""Which lines of a poem taught a model to continue like that?  Influence functions on a character transformer.

The model learns the lines of data/jabberwocky.txt.  For a line it never saw, the script then ranks the poem's lines by how
much they helped: by gradients alone (TracIn), and through the inverse curvature (K-FAC).
"""

from pathlib import Path
from typing import Any

import numpy as np

import retrograd as torch
from retrograd import microscope

nn, F = torch.nn, torch.nn.functional
# Shapes: N lines, T characters, D width
D = 32
rng = np.random.default_rng(0)
poem = Path(__file__).with_name("data").joinpath("jabberwocky.txt").read_text(encoding="utf-8")
lines = list(dict.fromkeys(line for line in poem.split("\n") if line))
letters = sorted(set(poem))
T = max(len(line) for line in lines)


def codes(line: str) -> tuple[list[int], list[int]]:
    """(T,) characters, and (T,) the next ones; -100 behind the end, which the loss ignores"""
    numbers = [letters.index(c) for c in line + "\n"]
    pad = T - len(line)
    return numbers[:-1] + [0] * pad, numbers[1:] + [-100] * pad


def batch(some: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    pairs = [codes(line) for line in some]
    return torch.tensor([x for x, _ in pairs]), torch.tensor([y for _, y in pairs])


class Characters(nn.Module):
    """codes (N, T) -> scores of the next character (N, T, number of letters)"""

    def __init__(self) -> None:
        super().__init__()
        self.letter = nn.Embedding(len(letters), D)
        self.place = nn.Parameter(torch.zeros(T, D))
        layer = nn.TransformerEncoderLayer(
            D, 4, 2 * D, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 1, nn.LayerNorm(D), enable_nested_tensor=False)
        self.out = nn.Linear(D, len(letters))

    def forward(self, x: torch.Tensor) -> Any:
        t = x.shape[1]
        unseen = torch.ones(t, t, dtype=torch.bool).triu(1)
        return self.out(self.layers(self.letter(x) + self.place[:t], mask=unseen))


def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Sum over characters, so that every line's gradient is its own."""
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")


torch.manual_seed(0)
model = Characters()
with torch.no_grad():
    for p in model.parameters():
        if p.dim() == 2:
            p.copy_(torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.2))
steps = 150
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)
for step in range(steps):
    x, y = batch([lines[i] for i in rng.choice(len(lines), 8, replace=False)])
    optimizer.zero_grad()
    loss = loss_of(x, y) / int((y >= 0).sum())
    loss.backward()
    optimizer.step()
    schedule.step()
    if step % 50 == 0 or step == steps - 1:
        print(f"step {step:3}  loss {loss.item():.2f}")

with microscope.capture(model) as of_lines:
    loss_of(*batch(lines)).backward()
print(of_lines.coverage().complete, f"worst error {max(of_lines.check().values()):.0e}")
train = of_lines.grads()

asked = "He took his vorpal blade and went"
with microscope.capture(model) as of_question:
    loss_of(*batch([asked])).backward()
question = of_question.grads()


def show(title: str, scores: torch.Tensor) -> None:
    print(f"{title}: {asked!r}")
    best = torch.argsort(scores[:, 0], descending=True)[:4].tolist()
    for i in best:
        print(f"  {float(scores[i, 0] / scores[:, 0].abs().max()):5.2f}  {lines[i]}")


show("gradients", microscope.tracin(train, question))
curvature = train.kfac(damping=0.1).corrected(train)
show("influence", microscope.influence(train, question, curvature))
