import torch
from e3nn import o3

torch.manual_seed(0)
product = o3.FullyConnectedTensorProduct("2x0e+1x1o", "1x0e+1x1o", "2x0e+1x1o")
x, y = product.irreps_in1.randn(4, -1), product.irreps_in2.randn(4, -1)
out = product(x, y)
out.square().sum().backward()
print([round(v, 4) for v in out.norm(dim=1).tolist()], round(product.weight.grad.norm().item(), 4))
