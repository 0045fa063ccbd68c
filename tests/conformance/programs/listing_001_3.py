"""A listing of document 001: Outer products."""

import torch

# document text: delta=[1,2], a=[3,4,5]; flattened column by column = a (x) delta
d = torch.tensor([1.0, 2.0])
a = torch.tensor([3.0, 4.0, 5.0])
G = torch.outer(d, a)
print(G)
print(G.t().reshape(-1), torch.kron(a, d))
# two-layer linear network, retain_grad on a1, dashed arrows: x.grad stays None
import torch.nn as nn

torch.manual_seed(0)
W0 = nn.Parameter(torch.randn(3, 4))
W1 = nn.Parameter(torch.randn(2, 3))
x = torch.randn(4)
y = torch.randn(2)
a0 = W0 @ x
a1 = W1 @ a0
a1.retain_grad()
L = 0.5 * ((a1 - y) ** 2).sum()
print(x.is_leaf, x.requires_grad, W0.is_leaf, a0.is_leaf, a0.grad_fn, L.grad_fn)
calls = []
L.backward()
print(x.grad, a1.grad is not None)
# grad wrt x is NOT computed at all: MvBackward0 needs_input_grad false
print(torch.allclose(W1.grad, torch.outer(a1.grad, a0)), torch.allclose(W0.grad, torch.outer(W1.t() @ a1.grad, x)))
print(a0.grad_fn.next_functions)
