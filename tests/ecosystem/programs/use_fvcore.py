"""Flops of a model, counted by fvcore."""
import torch
from fvcore.nn import parameter_count

print("parameters", *parameter_count(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 2))).values())
