import torch
import zuko

torch.manual_seed(0)
flow = zuko.flows.NSF(features=2, context=1, transforms=2, hidden_features=[16, 16])
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
x, c = torch.randn(64, 2), torch.rand(64, 1)
for _ in range(10):
    loss = -flow(c).log_prob(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
print(flow(c[:3]).sample((2,)).shape)
