import geotorch
import torch

torch.manual_seed(0)
layer = torch.nn.Linear(4, 4)
geotorch.orthogonal(layer, "weight")
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
x = torch.randn(8, 4)
for _ in range(5):
    loss = (layer(x) - x.flip(1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 4), round((layer.weight @ layer.weight.T - torch.eye(4)).abs().max().item(), 4))
