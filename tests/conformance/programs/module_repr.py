"""repr of modules."""

import torch
import torch.nn as nn

from _log import P

print("# module repr")


class Net(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Linear(2, 3)
        s.seq = nn.Sequential(nn.ReLU(), nn.Linear(3, 1, bias=False))
        s.p = nn.Parameter(torch.ones(1))
        s.l = nn.ModuleList([nn.Identity(), nn.Identity(), nn.Linear(1, 1)])
        s.d = nn.ModuleDict({"k": nn.Tanh()})

    def extra_repr(s):
        return "extra=1"


class E(nn.Module):
    pass


class E1(nn.Module):
    def extra_repr(s):
        return "a=1"


class E2(nn.Module):
    def extra_repr(s):
        return "a=1\nb=2"


P(
    Net(),
    E(),
    E1(),
    E2(),
    nn.Sequential(),
    nn.Sequential(nn.Linear(1, 1)),
    nn.ReLU(),
    nn.ReLU(inplace=True),
    nn.Dropout(0.3),
    nn.Conv2d(1, 2, 3, padding=1),
    nn.BatchNorm1d(3),
    nn.LayerNorm(3),
    nn.Embedding(3, 4),
    nn.LSTM(1, 2),
    nn.GELU(),
    nn.LeakyReLU(0.1),
    nn.Softmax(dim=1),
    nn.MSELoss(),
    nn.CrossEntropyLoss(),
    nn.Flatten(),
    nn.MaxPool2d(2),
    nn.ModuleList([nn.Linear(1, 1)] * 3),
    nn.ParameterList([nn.Parameter(torch.ones(2, 2))]),
    nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU()),
    nn.Sigmoid(),
    nn.Tanh(),
    nn.ELU(),
    nn.Softplus(),
    nn.Bilinear(1, 2, 3),
    nn.Unflatten(1, (2, 2)),
)
print(list(nn.Linear(1, 1, bias=False).named_parameters())[0][0])
