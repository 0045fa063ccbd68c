import torch
from einops import rearrange, reduce, repeat
from einops.layers.torch import Rearrange, Reduce

torch.manual_seed(0)
x = torch.randn(2, 3, 8, 8, requires_grad=True)
net = torch.nn.Sequential(Rearrange("b c (h p) (w q) -> b (h w) (c p q)", p=4, q=4), torch.nn.Linear(48, 5),
                          Reduce("b n d -> b d", "mean"))
y = net(x) + reduce(x, "b c h w -> b 1", "max") + repeat(x[:, 0, 0, :5], "b d -> b d")
y.square().sum().backward()
print(y, rearrange(x.grad, "b c h w -> b (c h w)").norm(dim=1))
