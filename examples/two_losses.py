"""Adversarial training: two losses share one graph, so the first backward keeps it with retain_graph=True."""

import numpy as np

import retrograd as torch

nn = torch.nn
rng = np.random.default_rng(0)


def fill(model: nn.Module) -> nn.Module:
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.3))
    return model.double()


generator = fill(nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2)))
critic = fill(nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)))
g_optimizer = torch.optim.Adam(generator.parameters(), lr=0.01, betas=(0.5, 0.999))
c_optimizer = torch.optim.Adam(critic.parameters(), lr=0.01, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1, dtype=torch.float64), torch.zeros(64, 1, dtype=torch.float64)
centre = torch.tensor([2.0, -1.0], dtype=torch.float64)

c_loss = g_loss = torch.tensor(0.0)
for step in range(301):
    real = torch.tensor(rng.standard_normal((64, 2)) * 0.3) + centre
    fake = generator(torch.tensor(rng.standard_normal((64, 2))))
    score = critic(fake)
    c_loss = criterion(critic(real), ones) + criterion(score, zeros)
    g_loss = criterion(score, ones)

    # both losses go through `score`: without retain_graph the second backward would find its saved tensors freed
    c_loss.backward(retain_graph=True, inputs=list(critic.parameters()))
    g_loss.backward(inputs=list(generator.parameters()))
    c_optimizer.step()
    g_optimizer.step()
    c_optimizer.zero_grad()
    g_optimizer.zero_grad()
    if step % 100 == 0:
        x, y = fake.detach().mean(0).tolist()
        print(f"step {step:3}  critic {c_loss.item():.4f}  generator {g_loss.item():.4f}  mean of fakes {x:.3f} {y:.3f}")

try:
    g_loss.backward()
except RuntimeError as error:
    print("a third backward:", str(error).split(" (")[0])
