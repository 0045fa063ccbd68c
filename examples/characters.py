"""A character transformer learns a poem (data/jabberwocky.txt) and continues from its first words."""

from pathlib import Path
from typing import Any

import numpy as np

import retrograd as torch

nn = torch.nn
# Shapes: N batch, T characters, D width
N, T, D = 8, 24, 32
rng = np.random.default_rng(0)
text = Path(__file__).with_name("data").joinpath("jabberwocky.txt").read_text(encoding="utf-8")
letters = sorted(set(text))
codes = torch.tensor([letters.index(c) for c in text])


class Characters(nn.Module):
    """codes (N, T) -> scores of the next character (N, T, number of letters)"""

    def __init__(self) -> None:
        super().__init__()
        self.letter = nn.Embedding(len(letters), D)
        self.place = nn.Parameter(torch.zeros(T, D))
        layer = nn.TransformerEncoderLayer(
            D, 4, 4 * D, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 1, nn.LayerNorm(D), enable_nested_tensor=False)
        self.out = nn.Linear(D, len(letters))

    def forward(self, x: torch.Tensor) -> Any:
        t = x.shape[1]
        unseen = torch.ones(t, t, dtype=torch.bool).triu(1)  # True where a character would see a later one
        return self.out(self.layers(self.letter(x) + self.place[:t], mask=unseen))


model = Characters().double()
with torch.no_grad():
    for name, p in model.named_parameters():
        if p.dim() == 2:
            p.copy_(torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.2))
        elif name.endswith("bias"):
            p.zero_()
print(f"{len(text)} characters, {len(letters)} different; {sum(p.numel() for p in model.parameters())} parameters")

steps = 400
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-2, total_steps=steps)
for step in range(steps):
    starts = rng.integers(0, len(text) - T, N)
    rows = torch.stack([codes[s : s + T + 1] for s in starts.tolist()])
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    if step % 80 == 0 or step == steps - 1:
        print(f"step {step:3}  loss {loss.item():.3f}")

model.eval()
written = text[:12]
with torch.no_grad():
    for _ in range(140):
        seen = torch.tensor([[letters.index(c) for c in written[-T:]]])
        written += letters[int(model(seen)[0, -1].argmax())]
print(written)
