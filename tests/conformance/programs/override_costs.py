"""A mode that counts multiplications, as flop counters do."""

from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode


class Costs(TorchFunctionMode):
    def __init__(self):
        self.counts, self.calls = Counter(), Counter()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = func.__name__
        self.calls[name] += 1
        if func in (torch.mm, torch.matmul, torch.Tensor.matmul, torch.Tensor.mm):
            a, b = args
            self.counts[name] += a.numel() * b.shape[-1]
        elif func is F.linear:
            self.counts[name] += args[0].numel() * args[1].shape[0]
        elif func is F.conv2d:
            self.counts[name] += out.numel() * args[1][0].numel()
        return out


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(1, 2, 3), nn.Linear(2 * 4 * 4, 5)

    def forward(self, x):
        x = F.relu(self.conv(x))
        return F.log_softmax(self.fc(x.flatten(1)), dim=1)


net = Net()
with Costs() as costs:
    y = net(torch.randn(2, 1, 6, 6))
    z = y @ y.t()
    torch.mm(z, y)
    loss = F.nll_loss(y, torch.tensor([0, 1]))
print(sorted(costs.counts.items()))
for name in ("linear", "conv2d", "relu", "flatten", "log_softmax", "nll_loss", "matmul", "mm", "t", "randn", "tensor"):
    print(name, costs.calls[name])
