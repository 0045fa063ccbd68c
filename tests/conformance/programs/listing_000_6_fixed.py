"""A listing of document 000: Second order."""

import torch

w = torch.tensor(3.0, requires_grad=True)
loss = w**3
g = torch.autograd.grad(loss, w, create_graph=True)
print(type(g), g)
try:
    g.backward()
except AttributeError as e:
    print("AttributeError:", e)
g = g[0]
g.backward()
print(w.grad)
