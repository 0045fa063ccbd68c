import snntorch
import torch
from snntorch import surrogate

torch.manual_seed(0)
fc, leaky = torch.nn.Linear(10, 4), snntorch.Leaky(beta=0.9, spike_grad=surrogate.fast_sigmoid())
x, mem, out = torch.rand(5, 3, 10) * 5, leaky.init_leaky(), 0
for step in x:
    spikes, mem = leaky(fc(step), mem)
    out = out + spikes
out.square().sum().backward()
print(out.tolist(), round(fc.weight.grad.norm().item(), 4))
