"""DistributedDataParallel over a ring of messages: how many it takes, and with DELAY how much of their time it hides."""

import sys
import time

import numpy as np
import torch
import torch.distributed as d
from ring import Ring
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

delay = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
size, batch = (512, 2048) if delay else (64, 8)
d.init_process_group("mpi")
r, n = d.get_rank(), d.get_world_size()
ring = d.group.WORLD.comm = Ring(d.group.WORLD.comm, delay)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(784, size), nn.ReLU(), nn.Linear(size, size), nn.ReLU(), nn.Linear(size, 10))
ddp = DDP(model, bucket_cap_mb=0.005)
xs = torch.randn(batch * n, 784)


def step(x=None):
    model.zero_grad()
    loss = ddp(xs[r * batch:r * batch + batch] if x is None else x).pow(2).mean()
    began = time.perf_counter()
    loss.backward()
    return time.perf_counter() - began


step()
step()                                          # the buckets are as they will be
buckets, whole = len(ddp.reducer.buckets), sum(p.numel() * 4 for p in model.parameters())
before = ring.messages, ring.bytes, ring.reductions
step()
messages, sent, reductions = ring.messages - before[0], ring.bytes - before[1], ring.reductions - before[2]
every = [0] * n
d.all_gather_object(every, sent)
assert n == 1 or reductions == buckets, (reductions, buckets)
assert messages == 2 * (n - 1) * buckets, (messages, buckets)
assert sum(every) == 2 * (n - 1) * whole, (every, whole)
gradients = [p.grad.clone() for p in model.parameters()]
with ddp.no_sync():
    model.zero_grad()
    ddp(xs).pow(2).mean().backward()
for p, g in zip(model.parameters(), gradients):
    torch.testing.assert_close(g, p.grad, atol=1e-5, rtol=1e-3)
if delay:
    def apart():
        with ddp.no_sync():
            return step()

    def alone():
        began = time.perf_counter()
        for bucket in ddp.reducer.buckets:
            d.all_reduce(torch.zeros(len(bucket.flat)))
        return time.perf_counter() - began

    times = []
    for _ in range(9):
        found = []
        for f in (apart, alone, step):
            d.barrier()
            found.append(f())
        times.append(found)
    computing, communicating, both = np.median(times, 0)
    print(f"{buckets} buckets: computing {computing:.3f} s, communicating {communicating:.3f} s, both {both:.3f} s: "
          f"{(computing + communicating - both) / communicating:.0%} of it hidden")
d.destroy_process_group()
print("as expected")
