"""What programs ask before they use a GPU or several processes, and what they get on a machine without."""

import torch
from torch import nn
from torch.utils.checkpoint import get_device_states, set_device_states
from torch.utils.data import DistributedSampler

from _log import P, T, case

P(torch.accelerator.is_available(), torch.accelerator.device_count(), torch.accelerator.current_accelerator())
for name in ("current_device_index", "current_stream", "synchronize", "empty_cache", "memory_allocated"):
    T(f"accelerator {name}", getattr(torch.accelerator, name))
T("accelerator set_device_index", torch.accelerator.set_device_index, 0)
P(torch.xpu.is_available(), torch.xpu.device_count(), torch.xpu.is_initialized(), torch.xpu.memory_allocated())
P(torch.mps.is_available(), torch.mps.device_count())
for part in (torch.xpu, torch.mps):
    for name in ("synchronize", "empty_cache"):
        T(f"{part.__name__.rpartition('.')[2]} {name}", getattr(part, name))
T("xpu current_device", torch.xpu.current_device)
T("mps current_allocated_memory", torch.mps.current_allocated_memory)
torch.xpu.manual_seed(1), torch.xpu.manual_seed_all(1)
P(torch.distributed.is_initialized(), torch.distributed.is_torchelastic_launched(), torch.cuda.amp.amp_definitely_not_available())


def about(made):
    return made._enabled, made.fast_dtype, isinstance(made, torch.amp.autocast)


T("autocast", lambda: about(torch.autocast("cuda")))
T("autocast of a dtype", lambda: about(torch.autocast("cuda", dtype=torch.bfloat16)))
T("autocast off", lambda: about(torch.autocast("cuda", enabled=False)))
T("autocast cpu off", lambda: about(torch.autocast("cpu", enabled=False)))
T("cuda.amp.autocast", lambda: about(torch.cuda.amp.autocast()))
T("cuda.amp.autocast off", lambda: about(torch.cuda.amp.autocast(False)))
T("cuda.amp.GradScaler", lambda: torch.cuda.amp.GradScaler().is_enabled())
T("cuda.amp.GradScaler off", lambda: isinstance(torch.cuda.amp.GradScaler(enabled=False), torch.amp.GradScaler))


@case
def functions_for_autocast():
    class Double(torch.autograd.Function):
        @staticmethod
        @torch.cuda.amp.custom_fwd
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        @torch.cuda.amp.custom_bwd
        def backward(ctx, g):
            return 2 * g

    x = torch.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    return x.grad


P(torch.is_autocast_enabled(), torch.is_autocast_enabled("cpu"), torch.is_autocast_cache_enabled())
P(torch.get_autocast_dtype("cuda"), torch.get_autocast_dtype("cpu"), torch.get_autocast_gpu_dtype())


@case
def data_parallel_calls_its_module():
    torch.manual_seed(0)
    inner = nn.Linear(2, 3)
    model = nn.DataParallel(inner, dim=1)
    P(model, list(model.state_dict()), model.device_ids, model.module is inner, torch.nn.parallel.DataParallel is nn.DataParallel)
    x = torch.ones(2, 2, requires_grad=True)
    model(x).sum().backward()
    return torch.equal(model(x), inner(x)), torch.equal(x.grad, inner.weight.sum(0).expand(2, 2))


@case
def shares_of_a_dataset():
    for flags in ({}, {"drop_last": True}):
        P([list(DistributedSampler(range(7), 3, rank, shuffle=False, **flags)) for rank in range(3)])
        P([len(DistributedSampler(range(7), 3, rank, **flags)) for rank in range(3)])
        drawn = sum((list(DistributedSampler(range(7), 3, rank, seed=5, **flags)) for rank in range(3)), [])
        P(len(drawn), len(set(drawn)))
    sampler = DistributedSampler(range(50), 2, 0)
    first = list(sampler)
    P(first == list(sampler))
    sampler.set_epoch(1)
    return first == list(sampler), list(DistributedSampler(range(1), 4, 3))


T("rank", DistributedSampler, range(5), 2, 2)
T("negative rank", DistributedSampler, range(5), 2, -1)
T("states", get_device_states, torch.ones(2), 3)
T("states set", set_device_states, [], [])
T("assert", torch._assert, False, "said")
T("assert of a tensor", torch._assert, torch.tensor(True), "said")
P(torch.functional.einsum is torch.einsum, torch.functional.norm is torch.norm, torch.functional.split is torch.split)
P(issubclass(torch.jit.ScriptModule, nn.Module), isinstance(nn.Linear(1, 1), torch.jit.ScriptModule))
P(issubclass(torch.jit.TracerWarning, Warning))
