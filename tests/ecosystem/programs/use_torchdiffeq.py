import torch
from torchdiffeq import odeint, odeint_adjoint

torch.manual_seed(0)
f = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = f
    def forward(self, t, y):
        return self.net(y ** 3)
field, y0, t = Field(), torch.tensor([[2.0, 0.0]]), torch.linspace(0, 1, 5)
for solve in (odeint, odeint_adjoint):
    field.zero_grad()
    y = solve(field, y0, t, method="dopri5")
    y.square().sum().backward()
    print(y[-1].tolist(), [round(p.grad.norm().item(), 4) for p in field.parameters()])
