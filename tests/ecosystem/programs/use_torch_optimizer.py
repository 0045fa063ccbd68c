"""Optimisers of other packages: lion-pytorch, schedulefree, torch-optimizer, pytorch-optimizer."""
import lion_pytorch
import schedulefree
import torch
import torch_optimizer

for make in (lion_pytorch.Lion, schedulefree.AdamWScheduleFree, torch_optimizer.RAdam, torch_optimizer.Lamb,
    torch_optimizer.Yogi, torch_optimizer.DiffGrad):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = make(model.parameters(), lr=1e-2)
    if hasattr(optimizer, "train"):
        optimizer.train()
    x = torch.randn(16, 4)
    for _ in range(20):
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(make.__name__, loss.item())
