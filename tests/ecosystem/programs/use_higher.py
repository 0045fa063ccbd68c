import higher
import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
inner = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
with higher.innerloop_ctx(model, inner, copy_initial_weights=False) as (fast, steps):
    for _ in range(3):
        steps.step((fast(x) - y).square().mean())
    (fast(x) - y).square().mean().backward()
print([p.grad.tolist() for p in model.parameters()])
