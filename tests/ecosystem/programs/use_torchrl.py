"""Returns and a loss of TorchRL."""
import torch
from torchrl.objectives.value.functional import generalized_advantage_estimate

torch.manual_seed(0)
r, v, w = (torch.randn(2, 6, 1) for _ in range(3))
done = torch.zeros(2, 6, 1, dtype=torch.bool)
advantage, target = generalized_advantage_estimate(0.99, 0.95, v, w, r, done, done)
print("advantage", *advantage.flatten().tolist(), target.sum().item())
