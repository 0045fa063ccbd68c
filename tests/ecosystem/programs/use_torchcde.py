"""A controlled differential equation."""
import torch
import torchcde


class F(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 12)

    def forward(self, t, z):
        return self.linear(z).tanh().view(-1, 4, 3)


torch.manual_seed(0)
f = F()
x = torchcde.CubicSpline(torchcde.hermite_cubic_coefficients_with_backward_differences(torch.randn(2, 10, 3)))
z = torchcde.cdeint(x, f, torch.ones(2, 4), x.interval, adjoint=False, method="rk4", options={"step_size": 0.5})
z.square().sum().backward()
print("z", *z.flatten().tolist(), f.linear.weight.grad.abs().sum().item())
