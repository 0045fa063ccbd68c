"""Whole trainings as programs write them: a convolutional classifier, a tied language model, an LBFGS fit, an autoencoder."""

import io
import warnings

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingLR, StepLR
from torch.utils.data import DataLoader, Subset, TensorDataset

rng = np.random.default_rng(3)


def numbers(*shape):
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))


def start(module):
    """Weights that do not depend on whose random numbers they are."""
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(numbers(*p.shape) * 0.3)
    return module


print("-- classifier")


class Pictures(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(4, 6, 3, bias=False), nn.GroupNorm(2, 6), nn.GELU(), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(6, classes)
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        if self.training:
            self.seen += len(x)
        return self.head(self.features(x).flatten(1))


images, labels = numbers(22, 1, 8, 8), torch.arange(22) % 3
images += labels.view(-1, 1, 1, 1) * 0.8
data = TensorDataset(images, labels)
train = DataLoader(Subset(data, range(16)), batch_size=6)
held = DataLoader(Subset(data, range(16, 22)), batch_size=4)
net = start(Pictures(3))
no_decay = [p for p in net.parameters() if p.dim() < 2]
decay = [p for p in net.parameters() if p.dim() >= 2]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.0}], lr=0.02)
schedule = StepLR(optimizer, step_size=2, gamma=0.5)
for epoch in range(4):
    net.train()
    total = 0.0
    for x, y in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y, label_smoothing=0.1)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(x)
    schedule.step()
    net.eval()
    with torch.no_grad():
        right = sum((net(x).argmax(1) == y).sum().item() for x, y in held)
    print(f"epoch {epoch}: loss {total / 16:.4f}, norm {norm:.3f}, rate {schedule.get_last_lr()[0]:.4f}, right {right} of 6")

file = io.BytesIO()
torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}, file)
file.seek(0)
found = torch.load(file)
twin = Pictures(3).eval()
print(twin.load_state_dict(found["net"]), torch.equal(twin(images), net(images)), twin.seen)
print(sorted(found["optimizer"]["state"][0]), found["schedule"]["last_epoch"], net.features[1].num_batches_tracked.item())

print("-- language model")


class Words(nn.Module):
    def __init__(self, words, width, layers):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, width, layers)
        self.out = nn.Linear(width, words)
        self.out.weight = self.table.weight

    def forward(self, x, state=None):
        y, state = self.rnn(self.table(x), state)
        return self.out(y), state


text = torch.from_numpy(rng.integers(0, 11, (25, 3)))
model = start(Words(11, 6, 2))
print(len(list(model.parameters())), len(model.state_dict()))
state = None
for step in range(4):
    piece = text[step * 6 : step * 6 + 7]
    if state is not None:
        state = tuple(s.detach() for s in state)
    model.zero_grad()
    scores, state = model(piece[:-1], state)
    loss = nn.CrossEntropyLoss()(scores.reshape(-1, 11), piece[1:].reshape(-1))
    loss.backward()
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-0.5)
    print(f"perplexity {loss.exp().item():.3f}")

print("-- a fit by LBFGS")
t = torch.linspace(0, 3, 20, dtype=torch.float64)
wave = 1.5 * torch.sin(2 * t + 0.3)
a, w, c = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (1.0, 1.7, 0.0))
fit = torch.optim.LBFGS([a, w, c], max_iter=20, line_search_fn="strong_wolfe")


def closure():
    fit.zero_grad()
    loss = F.mse_loss(a * torch.sin(w * t + c), wave)
    loss.backward()
    return loss


print(f"{fit.step(closure).item():.5f}")
print([round(v.item(), 4) for v in (a, w, c)])

print("-- autoencoder")


class Auto(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Linear(5, 4)
        self.heads = nn.ModuleDict({"mean": nn.Linear(4, 2), "spread": nn.Linear(4, 2)})
        self.up = nn.ModuleList([nn.Linear(2, 4), nn.Linear(4, 5)])

    def forward(self, x, noise):
        h = self.down(x).tanh()
        mean, spread = self.heads["mean"](h), self.heads["spread"](h)
        z = mean + noise * (0.5 * spread).exp()
        for layer in self.up:
            z = layer(z if layer is self.up[0] else F.silu(z))
        return z, mean, spread


auto = start(Auto()).double()
x, noise = numbers(8, 5).double(), numbers(8, 2).double()
optimizer = torch.optim.RMSprop(auto.parameters(), lr=0.01, momentum=0.5)
schedule = CosineAnnealingLR(optimizer, T_max=6)
for _ in range(6):
    y, mean, spread = auto(x, noise)
    loss = F.mse_loss(y, x, reduction="sum") - 0.5 * (1 + spread - mean**2 - spread.exp()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
print(f"{loss.item():.4f}", [f"{p.grad.norm().item():.3f}" for p in auto.parameters()])

print("-- transformer")
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 12, dropout=0.0), 2)
print(len(seen), seen[0].category.__name__)
start(encoder)
tokens = numbers(5, 2, 6)
mask = nn.Transformer.generate_square_subsequent_mask(5)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05, momentum=0.9, nesterov=True)
for _ in range(3):
    optimizer.zero_grad()
    loss = F.mse_loss(encoder(tokens[:-1], mask=mask[:4, :4]), tokens[1:])
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
