"""Gradients that depend on values: a hook reads the activation at backward time and decides what passes."""

import numpy as np

import retrograd as torch

rng = np.random.default_rng(0)


def straight_through(x: torch.Tensor) -> torch.Tensor:
    """round(x), with a gradient that passes where x is near a whole number and fades in between."""
    y = (x.round() - x).detach() + x  # x's gradient is 1 everywhere
    if y.requires_grad:
        y.register_hook(lambda grad: grad * (1 - 2 * (x.detach() - x.detach().round()).abs()))
    return y


def guided(x: torch.Tensor) -> torch.Tensor:
    """relu, with "guided backpropagation": gradients pass only where both the input and the gradient are positive."""
    y = x.relu()
    y.register_hook(lambda grad: grad.clamp(min=0))
    return y


x = torch.tensor([1.0, 1.1, 1.3, 1.5, -0.2, 2.9], requires_grad=True)
straight_through(x).sum().backward()
print("rounded", straight_through(x).tolist())
print("gradient", x.grad)

w1 = torch.tensor(rng.standard_normal((6, 16)) * 0.5)
w2 = torch.tensor(rng.standard_normal((16, 1)) * 0.5)
image = torch.tensor(rng.standard_normal((1, 6)), requires_grad=True)
for name, relu in [("plain", torch.relu), ("guided", guided)]:
    (saliency,) = torch.autograd.grad(relu(image @ w1).matmul(w2).sum(), image)
    print(f"{name:6} saliency", [f"{g:.4f}" for g in saliency[0].tolist()])

# the hook sees x as it is when backward runs, not as it was in forward
x = torch.tensor([2.0, 3.0], requires_grad=True)
y = x + 1
y.register_hook(lambda grad: grad * 4 if bool((x > 0).all()) else grad)
loss = y.sum()
with torch.no_grad():
    x.neg_()
loss.backward()
print("x turned negative after forward:", x.grad)
