"""Structural similarity, and its gradient."""
import torch
from pytorch_msssim import MS_SSIM, ssim

torch.manual_seed(0)
x, y = torch.rand(2, 3, 180, 180, requires_grad=True), torch.rand(2, 3, 180, 180)
a, b = ssim(x, y, data_range=1.0), MS_SSIM(data_range=1.0)(x, y)
(a + b).backward()
print("similarity", a.item(), b.item(), x.grad.abs().sum().item())
