"""train, eval, requires_grad_, zero_grad, to and casts."""

import torch
import torch.nn as nn

from _log import T


def net():
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))


m = net()
print([k.training for k in m.modules()], m.eval() is m, [k.training for k in m.modules()])
m[0].train()
print([k.training for k in m.modules()], m.train(False) is m)
T("mode is no bool", lambda: m.train("yes"))
T("mode is a number", lambda: m.train(1))
print(m.requires_grad_(False) is m, {p.requires_grad for p in m.parameters()})
m.requires_grad_()
print({p.requires_grad for p in m.parameters()})

print("# casts")
weight = m[0].weight
for cast in ("double", "half", "float", "bfloat16"):
    getattr(m, cast)()
    print(cast, {str(v.dtype) for v in m.state_dict().values()}, m[0].weight is weight)
m.float()
m[0].weight.grad = torch.ones(3, 2)
print(m.to(torch.float64) is m, m[0].weight.grad.dtype, m[1].num_batches_tracked.dtype)
m.to("cpu")
print(m[0].weight.dtype, m.to(torch.ones(1)).state_dict()["0.weight"].dtype, m[0].weight.grad.dtype)
m.to(dtype=torch.float16)
print(m[0].weight.dtype)
T("to int", lambda: m.to(torch.int64))
m.type(torch.float32)
print(m[0].weight.dtype, m[1].num_batches_tracked.dtype)
T("type", lambda: nn.Linear(1, 1).type(torch.float64).weight.dtype)
T("type by name", lambda: nn.Linear(1, 1).type("torch.DoubleTensor").weight.dtype)

print("# zero_grad")
m = net()
m(torch.tensor([[1.0, 2.0], [3.0, 5.0]])).sum().backward()
print([p.grad is None for p in m.parameters()])
grad = m[0].bias.grad
m.zero_grad(set_to_none=False)
print(m[0].bias.grad is grad, grad)
m.zero_grad()
print([p.grad is None for p in m.parameters()])
w = m[0].weight
w.grad = torch.autograd.grad((w**3).sum(), w, create_graph=True)[0]
m.zero_grad(set_to_none=False)
print(w.grad.requires_grad, w.grad.grad_fn)

print("# buffers of batch norm")
b = nn.BatchNorm1d(2, momentum=0.5)
b(torch.tensor([[1.0, 2.0], [3.0, 8.0]]))
print(b.running_mean, b.running_var, b.num_batches_tracked)
b.eval()
print(b(torch.tensor([[1.0, 2.0]])))
b.reset_running_stats()
print(b.running_mean, b.running_var, b.num_batches_tracked)
T("old state dict", lambda: b.load_state_dict({k: v for k, v in b.state_dict().items() if "num" not in k}))
T("too few dimensions", lambda: b(torch.ones(2)))
T("one value per channel", lambda: b.train()(torch.ones(1, 2)))
