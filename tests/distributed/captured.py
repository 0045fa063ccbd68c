"""Each rank captures its share of a batch; what comes of all shares is what one process with the whole batch has."""

import sys

import torch
import torch.distributed as d
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from retrograd.microscope import KFAC, capture

d.init_process_group("gloo")
r = d.get_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(7, 7), nn.Linear(7, 5), nn.Tanh(), nn.LayerNorm(5), nn.Linear(5, 3))
ids = torch.randint(0, 7, (7, 3))
shares = [slice(0, 3), slice(3, 7)]             # of unequal size


def grads_of(model, ids, step=0):
    with capture(model) as cap:
        model((ids + step) % 7).pow(2).sum().backward()
    return cap.grads()


ddp = DDP(model)
mine, alone = grads_of(ddp, ids[shares[r]]), grads_of(model, ids)
every = mine.across()
assert [tuple(each) for each in every.ids] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3)] and every.mine == shares[r]
torch.testing.assert_close(every.norms(), alone.norms(), atol=1e-5, rtol=1e-4)
torch.testing.assert_close(every.dots(), alone.dots()[shares[r]], atol=1e-4, rtol=1e-4)
for how in ("sum", "mean"):
    got, want = every.weight_grad(how), alone.weight_grad(how)
    for name in want:
        torch.testing.assert_close(got[f"module.{name}"], want[name], atol=1e-4, rtol=1e-4)

same = ids[3 * r:3 * r + 3]                     # shares of equal size, and means of them
with capture(ddp) as cap:
    ddp.zero_grad()
    ddp(same).pow(2).mean().backward()
summed = cap.grads().across().weight_grad()
averaged = cap.grads(scale="sample").across().weight_grad("mean")
for name, p in ddp.named_parameters():
    torch.testing.assert_close(summed[name], 2 * p.grad, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(averaged[name], p.grad, atol=1e-5, rtol=1e-4)

ranks, one = KFAC(ema=0.5), KFAC(ema=0.5)
count, whole = 0, d.all_reduce


def counted(*args, **kwargs):
    global count
    count += 1
    return whole(*args, **kwargs)


d.all_reduce = counted
for step in range(3):
    ranks.update(grads_of(ddp.module, ids[shares[r]], step)).all_reduce()
    one.update(grads_of(model, ids, step))
assert count == 3, count
for name, (A, G) in one.factors.items():
    torch.testing.assert_close(ranks.factors[name][0], A, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(ranks.factors[name][1], G, atol=1e-4, rtol=1e-4)
for name, wanted in one.diagonal.items():
    torch.testing.assert_close(ranks.diagonal[name], wanted, atol=1e-4, rtol=1e-4)
d.barrier()
print("as expected")
sys.stdout.flush()
d.destroy_process_group()
