"""Modes that log, count and nest."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode, resolve_name


class Log(TorchFunctionMode):
    def __init__(self, name):
        self.name, self.depth = name, 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        print(f"{self.name}{'  ' * self.depth} {resolve_name(func) or func.__name__}({len(args)}{', ' if kwargs else ''}"
              f"{', '.join(kwargs or ())})")
        self.depth += 1
        try:
            return func(*args, **kwargs or {})
        finally:
            self.depth -= 1


net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
x = torch.ones(4, 2)
with Log("a"):
    loss = F.mse_loss(net(x), torch.zeros(4, 1))
    loss.backward()
    with torch.no_grad():
        y = loss * 2
with Log("outer"), Log("inner"):
    z = x + 1
    z += x
    z.shape[0]
    F.softmax(z, dim=-1)
    torch.einsum("ij,ij->i", z, z)
    z[0] = 5.0
    z.requires_grad = True
    z.grad = None
seen = []
h = net[0].weight.register_hook(lambda g: seen.append(float(g.sum() * 0 + 1)))
with Log("b") as log:
    out = net(x).sum()
    torch.autograd.grad(out, list(net.parameters()))
print(seen)
print(type(log).__name__, torch._C._len_torch_function_stack())
try:
    with Log("c"):
        torch.ones(2) + torch.ones(3)
except RuntimeError as e:
    print(e, torch._C._len_torch_function_stack())
