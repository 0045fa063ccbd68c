"""Modules and grad modes, zero_grad."""

import torch
import torch.nn as nn

from _log import T, t

x = t([1.0, 2.0])
# model.eval is unrelated
m = nn.Linear(2, 2).eval()
print("eval requires_grad", m(x).requires_grad)
r = (nn.Identity()(x) * 1).sum()
r.backward()
T("identity*1 twice", lambda: r.backward())
print("# grad accumulations with zero_grad set_to_none")
m = nn.Linear(2, 1)
m(torch.ones(1, 2)).sum().backward()
m.zero_grad()
print(m.weight.grad)
m(torch.ones(1, 2)).sum().backward()
m.zero_grad(set_to_none=False)
print(m.weight.grad)
