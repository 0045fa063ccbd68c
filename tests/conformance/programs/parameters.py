"""nn.Parameter and nn.Buffer."""

import torch
import torch.nn as nn

from _log import P, T, t

x = t([1.0, 2.0])
y = x * 2
print(repr(nn.Parameter(torch.ones(2))))
T("Parameter(nonleaf)", lambda: nn.Parameter(y))
T("Parameter no grad", lambda: nn.Parameter(y, requires_grad=False))
with torch.no_grad():
    pq = nn.Parameter(torch.ones(1))
    print(pq.requires_grad)
print("# parameter repr")
P(nn.Parameter(torch.tensor(1.0)), nn.Parameter(torch.tensor([1.0, 2.0]), requires_grad=False))
print(nn.Parameter(torch.tensor([1.0])))
print(repr(nn.Parameter(torch.tensor([1.5] * 8))))
print("# buffer", repr(nn.Buffer(torch.ones(1))), type(nn.Buffer(torch.ones(1))))
