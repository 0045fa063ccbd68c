"""Optimizers that share their state or their model among ranks, and hooks that compress: FOLDER/rank says what came of it."""

import os
import sys
import warnings
from collections import OrderedDict
from pathlib import Path

import torch
import torch.distributed as d
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import post_localSGD_hook as local
from torch.distributed.algorithms.model_averaging import averagers
from torch.distributed.algorithms.model_averaging import hierarchical_model_averager as hierarchical
from torch.distributed.optim import PostLocalSGDOptimizer, ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

LINES = []


def rounded(x):
    return [round(v, 4) + 0.0 for v in x.flatten().tolist()]


def say(label, f, *args, **kwargs):
    try:
        text = f"{f(*args, **kwargs)}"
    except Exception as error:
        text = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    LINES.append(f"{label} -> {text}")


def made():
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3), nn.Tanh(), nn.Linear(3, 1))
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_((torch.arange(p.numel()).reshape(p.shape) * (0.37 + i)).sin() * 0.5)
    return model


def step(model, optimizer, k):
    optimizer.zero_grad()
    x = (torch.arange(24.0).reshape(6, 4) * (0.1 + k) + d.get_rank()).cos()
    model(x).pow(2).mean().backward()
    optimizer.step()


def show(label, model, optimizer=None):
    LINES.append(f"{label}: {[rounded(p) for p in model.parameters()]}")
    if optimizer is not None:
        LINES.append(f"{label}: {[{k: v for k, v in sorted(g.items()) if k != 'params'} for g in optimizer.param_groups]}")


def state(found):
    return {i: {name: rounded(v) if torch.is_tensor(v) else v for name, v in sorted(s.items())}
            for i, s in sorted(found["state"].items())}, [g["params"] for g in found["param_groups"]]


def zero():
    for kind, options in ((torch.optim.Adam, {"lr": 0.05}), (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9})):
        for view in (False, True):
            ddp = DDP(made())
            optimizer = ZeroRedundancyOptimizer(ddp.parameters(), kind, parameters_as_bucket_view=view, **options)
            say("too early", optimizer.state_dict)
            for k in range(3):
                step(ddp, optimizer, k)
                optimizer.param_groups[0]["lr"] *= 0.5
            show(f"{kind.__name__} {view}", ddp, optimizer)
            optimizer.consolidate_state_dict(to=1)
            if d.get_rank() == 1:
                LINES.append(f"{state(optimizer.state_dict())}")
            LINES.append(f"own: {sorted(p.numel() for p in optimizer.optim.state)}")
            told = [optimizer.state_dict() if d.get_rank() == 1 else None]
            d.broadcast_object_list(told, 1)
            other = DDP(made())
            again = ZeroRedundancyOptimizer(other.parameters(), kind, **options)
            again.load_state_dict(told[0])
            step(other, again, 3)
            show("loaded", other, again)
    model = made()
    groups = [{"params": list(model[0].parameters()), "lr": 0.5}, {"params": list(model[2].parameters())}]
    optimizer = ZeroRedundancyOptimizer(groups, torch.optim.SGD, lr=0.1, momentum=0.5)
    step(model, optimizer, 0)
    optimizer.add_param_group({"params": list(model[4].parameters()), "lr": 0.01})
    for p in model.parameters():
        d.broadcast(p.data, 0)
    ddp = DDP(model)
    step(ddp, optimizer, 1)
    show("groups", ddp, optimizer)
    loss = optimizer.step(lambda: 3.5)
    LINES.append(f"closure {loss} {len(optimizer.param_groups)}")
    optimizer.consolidate_state_dict()
    if d.get_rank() == 0:
        LINES.append(f"{state(optimizer.state_dict())}")
    say("tensor", ZeroRedundancyOptimizer, torch.ones(1), torch.optim.SGD)
    say("number", ZeroRedundancyOptimizer, 3, torch.optim.SGD)
    say("nothing", ZeroRedundancyOptimizer, [], torch.optim.SGD)
    say("numbers", ZeroRedundancyOptimizer, [1.0], torch.optim.SGD)


def averaged():
    for averager in (averagers.PeriodicModelAverager(2, 1), hierarchical.HierarchicalModelAverager(
            OrderedDict([(2, 1), (3, d.get_world_size())]), warmup_steps=1)):
        model = made()
        optimizer = PostLocalSGDOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), averager)
        for k in range(5):
            step(model, optimizer, k)
            show(f"averaged {k}", model)
        saved = optimizer.state_dict()
        LINES.append(f"{sorted(saved)} {saved['step']} {optimizer!r} {len(optimizer.state)}")
        optimizer.load_state_dict({**saved, "step": 9})
        LINES.append(f"{averager.step}")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            optimizer.load_state_dict({k: v for k, v in saved.items() if k != "step"})
        LINES.append(f"{[str(w.message) for w in said]} {averager.step}")
    say("period", averagers.PeriodicModelAverager, 0)
    say("warmup", averagers.PeriodicModelAverager, 2, -1)
    say("empty", hierarchical.HierarchicalModelAverager, {})
    say("size", hierarchical.HierarchicalModelAverager, {2: 1})


def compressed():
    for label, state, hook in (
            ("local", local.PostLocalSGDState(d.group.WORLD, None, 2), local.post_localSGD_hook),
            ("apart", local.PostLocalSGDState(d.group.WORLD, None, 2, False), local.post_localSGD_hook)):
        if label == "local":
            state.subgroup = d.new_subgroups(1)[0]
        ddp = DDP(made())
        ddp.register_comm_hook(state, hook)
        optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
        for k in range(4):
            step(ddp, optimizer, k)
            show(f"{label} {k}", ddp)


if __name__ == "__main__":
    d.init_process_group("gloo")
    zero()
    averaged()
    compressed()
    Path(sys.argv[1], str(d.get_rank())).write_text("\n".join(LINES))
    d.barrier()
    sys.stdout.flush()
    if hasattr(d, "ProcessGroupGloo"):
        os._exit(0)
    d.destroy_process_group()
