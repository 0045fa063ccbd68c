"""A listing of document 002: What a full backward hook may return."""

# document 002 says "if the return value ... is a tensor, it will be used": a bare tensor is refused
import torch
import torch.nn as nn


class S(nn.Module):
    def forward(self, x):
        return (0.4 * x + 0.2) ** 2


for ret in ("tensor", "tuple", "list"):
    m = S()
    x = torch.tensor([0.19], requires_grad=True)
    m.register_full_backward_hook(
        lambda m, gi, go: {"tensor": gi[0] * 2, "tuple": (gi[0] * 2,), "list": [gi[0] * 2]}[ret]
    )
    try:
        m(x).sum().backward()
        print(ret, x.grad)
    except Exception as e:
        print(ret, type(e).__name__, e)
