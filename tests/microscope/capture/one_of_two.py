"""One of two processes, which test_distributed.py forks: MEETING STORE.

Captures a step of the same model under DDP and under FSDP2 on this process's half of the batch, and stores the factors.
"""
from __future__ import annotations

import os
import sys
from typing import Any


def model_of(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(0)
    return nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 6), nn.Tanh(), nn.LayerNorm(6), nn.Linear(6, 3))


def batch_of(torch: Any) -> Any:
    return torch.randint(0, 7, (6,), generator=torch.Generator().manual_seed(1))


def main(rank: int, meeting: str, store: str) -> None:
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.nn.parallel import DistributedDataParallel

    from retrograd.microscope import FactorStore, capture
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    mine = batch_of(torch)[3 * rank:3 * rank + 3]
    for how in ("ddp", "fsdp"):
        model = model_of(torch)
        if how == "ddp":
            whole = DistributedDataParallel(model)
        else:
            mesh = init_device_mesh("cpu", (2,))
            fully_shard(model[1], mesh=mesh)
            whole = fully_shard(model, mesh=mesh)
        cap = capture(model)
        for _ in range(2):                      # the second step is not the checked one
            model.zero_grad()
            with cap:
                whole(mine).pow(2).sum().backward()
        assert cap.coverage().complete, str(cap.coverage())
        with FactorStore(f"{store}/{how}", rank=rank) as out:
            out.append(cap.grads(), 0, samples=range(3 * rank, 3 * rank + 3))
        mean = cap.grads().weight_grad()        # DDP and FSDP leave the mean over processes in .grad
        for name, p in model.named_parameters():
            total = mean[name].clone()
            dist.all_reduce(total)
            grad = p.grad.full_tensor() if hasattr(p.grad, "full_tensor") else p.grad
            assert torch.allclose(total / 2, grad, atol=1e-5), (how, name)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(os.environ["RANK"]), *sys.argv[1:])
    # Without the interpreter's own end: a thread of gloo that still lets a tensor go asks for the GIL, and at that time
    # PyTorch aborts the process (https://github.com/pytorch/pytorch/pull/179291).
    sys.stdout.flush()
    os._exit(0)
