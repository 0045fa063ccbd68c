"""Modes in the manner of torch.set_default_device: arguments put into factories' calls."""

import torch
import torch.nn as nn
from torch.overrides import TorchFunctionMode

FACTORIES = {torch.empty, torch.ones, torch.zeros, torch.full, torch.rand, torch.randn, torch.arange, torch.linspace, torch.eye,
             torch.tensor, torch.as_tensor, torch.scalar_tensor, torch.tril_indices}


class Device(TorchFunctionMode):
    def __init__(self, device):
        self.device, self.seen = torch.device(device), []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in FACTORIES and kwargs.get("device") is None:
            kwargs["device"] = self.device
            self.seen.append(func.__name__)
        return func(*args, **kwargs)


class Dtype(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in FACTORIES and kwargs.get("dtype") is None:
            kwargs["dtype"] = torch.float64
        return func(*args, **kwargs)


class Ones(TorchFunctionMode):
    """Initialisation is skipped: every parameter is one."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init":
            tensor = kwargs["tensor"] if "tensor" in kwargs else args[0]
            with torch.no_grad():
                return tensor.fill_(1)
        return func(*args, **kwargs)


with Device("cpu") as mode:
    torch.ones(2), torch.zeros(2, device="cpu"), torch.tensor([1]), torch.arange(3), torch.eye(2), torch.as_tensor([2.0])
    nn.Linear(2, 2)
print(mode.seen)
with Dtype():
    print(torch.ones(1).dtype, torch.tensor([1]).dtype, torch.full((1,), 2).dtype, torch.ones(1, dtype=torch.int32).dtype)
    print(nn.Linear(1, 1).weight.dtype, nn.Embedding(2, 2).weight.dtype, nn.Conv2d(1, 1, 1).bias.dtype)
print(torch.ones(1).dtype)
with Ones():
    net = nn.Sequential(nn.Linear(2, 2), nn.Conv1d(1, 1, 1))
print([p.unique().tolist() for p in net.parameters()])
with Device("cpu") as a, Device("cpu") as b:
    torch.ones(1)
print(a.seen, b.seen)


@torch.no_grad()
def f():
    return torch.ones(1, requires_grad=True) * 2


with Dtype():
    print(f().requires_grad, f().dtype)
