"""Sparse softmaxes."""
import torch
from entmax import Entmax15Loss, entmax15, entmax_bisect, sparsemax

torch.manual_seed(0)
x = torch.randn(6, 5, requires_grad=True)
for f in (sparsemax, entmax15, lambda x, dim: entmax_bisect(x, 1.3, dim=dim)):
    y = f(x, dim=-1)
    g, = torch.autograd.grad(y.square().sum(), x)
    print("y", *y.flatten().tolist(), g.abs().sum().item())
print("loss", Entmax15Loss(reduction="elementwise_mean")(x, torch.arange(6) % 5).item())
