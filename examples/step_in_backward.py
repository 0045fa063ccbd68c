"""An optimizer inside the backward pass: each parameter is updated and its gradient freed as soon as it is ready."""

import numpy as np

import retrograd as torch

nn = torch.nn
rng = np.random.default_rng(0)
start = [rng.standard_normal(shape) * 0.3 for shape in [(32, 8), (32,), (32, 32), (32,), (1, 32), (1,)]]
x = torch.tensor(rng.standard_normal((64, 8)))
y = x.prod(1, keepdim=True)


def build() -> nn.Sequential:
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)).double()
    with torch.no_grad():
        for p, values in zip(model.parameters(), start):
            p.copy_(torch.tensor(values))
    return model


def loss_of(model: nn.Module) -> torch.Tensor:
    return nn.functional.mse_loss(model(x), y)


usual = build()
optimizer = torch.optim.Adam(usual.parameters(), lr=0.01)
for _ in range(50):
    optimizer.zero_grad()
    loss_of(usual).backward()
    optimizer.step()

model = build()
optimizers = {p: torch.optim.Adam([p], lr=0.01) for p in model.parameters()}
names = {p: name for name, p in model.named_parameters()}
order: list[str] = []
living: list[int] = []


def step(p: nn.Parameter) -> None:
    living.append(sum(q.grad is not None for q in model.parameters()))
    order.append(names[p])
    optimizers[p].step()
    p.grad = None


for p in model.parameters():
    p.register_post_accumulate_grad_hook(step)
for _ in range(50):
    loss_of(model).backward()

print("order of updates:", *order[:6])
print("gradients alive at most:", max(living), "of", len(start))
same = all(torch.equal(p, q) for p, q in zip(usual.parameters(), model.parameters()))
print("equal to the usual way, bit for bit:", same)
print(f"loss {loss_of(model).item():.6f}")
