"""The training loop of accelerate, with accumulation of gradients and clipping."""
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.Linear(32, 2))
optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
data = DataLoader(TensorDataset(torch.randn(80, 8), torch.randint(0, 2, (80,))), batch_size=8, shuffle=True)
model, optimizer, data = accelerator.prepare(model, optimizer, data)
for _ in range(2):
    for x, y in data:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            print("loss", loss.item())
