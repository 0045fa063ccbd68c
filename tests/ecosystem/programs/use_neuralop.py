"""A Fourier neural operator."""
import torch
from neuralop.models import FNO

torch.manual_seed(0)
model = FNO(n_modes=(4, 4), in_channels=1, out_channels=1, hidden_channels=8, n_layers=2)
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
x = torch.randn(2, 1, 16, 16)
for _ in range(10):
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
