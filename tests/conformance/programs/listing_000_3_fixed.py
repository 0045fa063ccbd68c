"""A listing of document 000: retain_graph."""

import torch

torch.manual_seed(0)
x = torch.tensor(1.0, requires_grad=True)
y = x**2
y.backward(retain_graph=True)
print(x.grad)
y.backward()
print(x.grad)
