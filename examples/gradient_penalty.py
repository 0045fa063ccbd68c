"""Penalise the norm of an input gradient (create_graph=True): a critic is trained to have slope one, as in WGAN-GP."""

import numpy as np

import retrograd as torch

nn = torch.nn
rng = np.random.default_rng(0)
critic = nn.Sequential(nn.Linear(2, 24), nn.Softplus(), nn.Linear(24, 1)).double()
with torch.no_grad():
    for p in critic.parameters():
        p.copy_(torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.5))
optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)


def slopes(x: torch.Tensor) -> torch.Tensor:
    """Norm of d critic / d x, row by row, differentiable itself."""
    x = x.detach().requires_grad_()
    (grad,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    return grad.norm(dim=1)


for step in range(201):
    real = torch.tensor(rng.standard_normal((32, 2)) * 0.5 + [2, 0])
    fake = torch.tensor(rng.standard_normal((32, 2)) * 0.5 - [2, 0])
    mix = torch.tensor(rng.random((32, 1)))
    distance = critic(real).mean() - critic(fake).mean()
    slope = slopes(mix * real + (1 - mix) * fake)
    penalty = ((slope - 1) ** 2).mean()
    optimizer.zero_grad()
    (100 * penalty - distance).backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step:3}  distance {distance.item():.4f}  mean slope {slope.mean().item():.4f}")
print("the centres are 4 apart: a critic of slope one tells them apart by 4 at most")
