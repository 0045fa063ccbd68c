"""DP-SGD by opacus on an MLP."""
import warnings

import torch
from opacus import PrivacyEngine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
data = DataLoader(TensorDataset(torch.randn(64, 8), torch.randint(0, 2, (64,))), batch_size=16)
engine = PrivacyEngine(accountant="rdp")
model, optimizer, data = engine.make_private(module=model, optimizer=optimizer, data_loader=data, noise_multiplier=1.0,
    max_grad_norm=1.0)
for _ in range(5):
    for x, y in data:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item())
print("epsilon", engine.get_epsilon(1e-5))
