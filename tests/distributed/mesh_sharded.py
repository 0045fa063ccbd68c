"""PyTorch's fully_shard on a mesh of 2 x 2 ranks, and DTensors that exchange their parts: FOLDER/KIND.RANK.trace."""

import sys
from pathlib import Path

import torch
import torch.distributed as d
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

from retrograd import microscope

d.init_process_group("gloo")
r = d.get_rank()
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicas", "shards"))


def sharded(mesh, **options):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
    fully_shard(model[0], mesh=mesh, **options)
    return fully_shard(model, mesh=mesh)


def step(model):
    torch.manual_seed(r)
    model(torch.randn(3, 4)).pow(2).sum().backward()


def recorded(kind, model, passes):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with microscope.record(model, values="parameters") as rec:
        passes(model, optimizer)
    rec.save(Path(sys.argv[1]) / f"{kind}.{r}.trace")
    return rec


def three(model, optimizer):
    for reduced in (True, False, True):
        model.set_requires_all_reduce(reduced)
        step(model)
        optimizer.step()
        optimizer.zero_grad()


def clipped(model, optimizer):
    step(model)
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()


def once(model, optimizer):
    step(model)


recorded("mesh", sharded(mesh), three)
recorded("clipped", sharded(mesh), clipped)
recorded("copies", sharded(init_device_mesh("cpu", (4, 1), mesh_dim_names=("replicas", "shards"))), once)
recorded("columns", sharded(mesh["shards"], shard_placement_fn=lambda p: Shard(p.ndim - 1)), once)
recorded("row", sharded(init_device_mesh("cpu", (4,)), shard_placement_fn=lambda p: Shard(p.ndim - 1) if p.shape[-1] % 4 == 0
                        else Shard(0)), once)
line = init_device_mesh("cpu", (4,))
whole = torch.arange(32.0).reshape(8, 4)
with microscope.record(nn.Linear(1, 1)) as rec:
    x = distribute_tensor(whole, line, [Shard(0)])
    assert x.full_tensor().equal(whole)
    assert x.redistribute(line, [Replicate()]).to_local().equal(whole)
    assert x.redistribute(line, [Shard(1)]).to_local().equal(whole[:, r:r + 1])
    assert x.sum().full_tensor() == whole.sum()
    assert distribute_tensor(torch.zeros(0, 4), line, [Shard(0)]).full_tensor().shape == (0, 4)
assert not rec.trouble(), rec.trouble()
rec.save(Path(sys.argv[1]) / f"parts.{r}.trace")
assert type(torch.ops._c10d_functional.all_reduce).__name__ == "OpOverloadPacket"      # as before the recording
d.barrier()
d.destroy_process_group()
