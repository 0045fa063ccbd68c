import torch
from nflows.distributions.normal import StandardNormal
from nflows.flows.base import Flow
from nflows.transforms.autoregressive import MaskedAffineAutoregressiveTransform
from nflows.transforms.base import CompositeTransform
from nflows.transforms.permutations import ReversePermutation

torch.manual_seed(0)
flow = Flow(CompositeTransform([ReversePermutation(2), MaskedAffineAutoregressiveTransform(2, 8)]), StandardNormal([2]))
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
x = torch.randn(32, 2)
for _ in range(5):
    loss = -flow.log_prob(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 5))
