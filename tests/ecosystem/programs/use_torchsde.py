import torch
import torchsde


class Motion(torch.nn.Module):
    noise_type, sde_type = "diagonal", "ito"
    def __init__(self):
        super().__init__()
        self.mu = torch.nn.Parameter(torch.tensor(0.3))
    def f(self, t, y):
        return self.mu * y
    def g(self, t, y):
        return 0.1 * y
torch.manual_seed(0)
sde, y0 = Motion(), torch.ones(3, 2)
noise = torchsde.BrownianInterval(0.0, 1.0, size=(3, 2), entropy=1)
y = torchsde.sdeint(sde, y0, torch.linspace(0, 1, 3), bm=noise, dt=0.1, method="euler")
y.sum().backward()
print(y[-1].tolist(), sde.mu.grad.item())
