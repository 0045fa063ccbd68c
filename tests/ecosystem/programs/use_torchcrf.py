"""A conditional random field."""
import torch
from torchcrf import CRF

torch.manual_seed(0)
crf = CRF(5, batch_first=True)
optimizer = torch.optim.Adam(crf.parameters(), 1e-2)
x, y = torch.randn(4, 7, 5), torch.randint(0, 5, (4, 7))
mask = torch.arange(7) < torch.tensor([[7], [5], [3], [6]])
for _ in range(20):
    loss = -crf(x, y, mask=mask, reduction="mean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
for tags in crf.decode(x, mask):
    print("tags", *tags)
