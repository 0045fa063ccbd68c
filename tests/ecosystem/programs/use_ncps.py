"""A liquid time-constant network."""
import torch
from ncps.torch import LTC, CfC
from ncps.wirings import AutoNCP

torch.manual_seed(0)
for make in (CfC, LTC):
    rnn = make(3, AutoNCP(12, 2))
    optimizer = torch.optim.Adam(rnn.parameters(), 1e-2)
    x = torch.randn(4, 6, 3)
    for _ in range(10):
        loss = (rnn(x)[0] - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(make.__name__, loss.item())
