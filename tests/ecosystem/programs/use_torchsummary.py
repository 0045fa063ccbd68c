"""The table of a model's layers."""
from torch import nn
from torchsummary import summary

summary(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4)), (3, 8, 8), device="cpu")
