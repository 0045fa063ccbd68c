"""A listing of document 000: Two losses on one graph."""

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
x = torch.randn(4, 2)
L1 = lambda y: y.abs().mean()
L2 = lambda y: (y**2).mean()
y = model(x)
loss1 = L1(y)
loss2 = L2(y)

loss1.backward(retain_graph=True)
loss2.backward()
g2 = model[2].bias.grad.clone()
print("both ok", g2.shape)
# without retain_graph
model.zero_grad()
y = model(x)
loss1 = L1(y)
loss2 = L2(y)
loss1.backward()
try:
    loss2.backward()
except RuntimeError as e:
    print("without retain:", str(e)[:60])
