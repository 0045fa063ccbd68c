"""Records steps of DistributedDataParallel on each rank: FOLDER/run.RANK.trace; with "apart" the last rank goes another way."""

import sys
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as d
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from retrograd import microscope

folder, how = Path(sys.argv[1]), sys.argv[2:]
d.init_process_group("gloo", timeout=timedelta(seconds=3 if how else 60))
r = d.get_rank()


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.a, self.b, self.idle = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 1)

    def forward(self, x, whole=True):
        return self.b(self.a(x).tanh()) if whole else self.a(x)


def halved(state, bucket):
    """A communication hook that sends nothing, and halves."""
    future = torch.futures.Future()
    future.set_result(bucket.buffer() / 2)
    return future


def step(ddp, k, whole=True):
    optimizer.zero_grad()
    ddp(torch.arange(12.0).reshape(3, 4).cos() * (1 + r + k), whole).sum().backward()
    optimizer.step()


def late(p):
    """A hook that never fires."""


plain, hooked = DDP(Branches(), find_unused_parameters=True), DDP(Branches(), find_unused_parameters=True)
plain.module.idle.weight.register_post_accumulate_grad_hook(late)
hooked.register_comm_hook(None, halved)
optimizer = torch.optim.SGD([*plain.parameters(), *hooked.parameters()], lr=0.1)
rec = microscope.record(plain, hooked, values="parameters")
try:
    with rec as kept:
        step(plain, 0)
        step(plain, 3, whole=r == 0)            # branches that find_unused_parameters allows
        if r == 1:
            time.sleep(0.2)
        d.barrier()
        with plain.no_sync():
            step(plain, 1)
        step(hooked, 2)
        if how and r == d.get_world_size() - 1:
            d.broadcast(torch.ones(2), 0)
        else:
            d.all_reduce(torch.ones(2))
except RuntimeError as error:
    assert how, error
kept.save(folder / f"run.{r}.trace")
if not how:
    d.barrier()
    d.destroy_process_group()
