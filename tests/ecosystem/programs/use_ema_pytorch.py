"""Moving averages of parameters: torch-ema and ema-pytorch."""
import torch
from ema_pytorch import EMA
from torch_ema import ExponentialMovingAverage

torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
first, second = ExponentialMovingAverage(model.parameters(), 0.9), EMA(model, beta=0.9, update_after_step=1, update_every=1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(20):
    optimizer.zero_grad()
    model(torch.randn(8, 4)).square().sum().backward()
    optimizer.step()
    first.update()
    second.update()
with first.average_parameters():
    print("first", *model.weight.flatten().tolist())
print("second", *second.ema_model.weight.flatten().tolist())
