"""Trains 8 steps with a checkpoint after every second: FILE [STEP], where the last rank is killed; goes on where FILE says."""

import os
import signal
import sys
from pathlib import Path

import torch
import torch.distributed as d
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

file, kill = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else -1
d.init_process_group("mpi")
r = d.get_rank()
torch.manual_seed(0)
data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
ddp = DDP(nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Tanh(), nn.Linear(8, 1)))
optimizer = torch.optim.Adam(ddp.parameters(), lr=0.05)
sampler = DistributedSampler(data, seed=3)
torch.manual_seed(10 + r)                       # dropout differs between the ranks
start = 0
if file.exists():
    found = torch.load(file, weights_only=True)
    ddp.module.load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])
    torch.set_rng_state(found["random"][r])
    start = found["step"]
print("begins at", start, flush=True)
for step in range(start, 8):
    if step % 4 == 0 or step == start:
        sampler.set_epoch(step // 4)
        batches = list(DataLoader(data, batch_size=8, sampler=sampler))
    if step == start and step % 4:              # amid an epoch, whose DataLoader took its random number before
        torch.set_rng_state(found["random"][r])
    if step == kill and r == d.get_world_size() - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    x, y = batches[step % 4]
    optimizer.zero_grad()
    nn.functional.mse_loss(ddp(x), y).backward()
    optimizer.step()
    if step % 2:
        random = [torch.empty_like(torch.get_rng_state()) for _ in range(d.get_world_size())]
        d.all_gather(random, torch.get_rng_state())
        if r == 0:
            torch.save({"model": ddp.module.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1,
                        "random": random}, file)
        d.barrier()
print("ends with", [p.tolist() for p in ddp.parameters()], flush=True)
d.destroy_process_group()
