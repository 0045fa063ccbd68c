"""Counts of multiplications and parameters."""
import torch
from thop import profile
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(72, 4))
print("counts", *profile(model, (torch.randn(1, 3, 8, 8),), verbose=False))
