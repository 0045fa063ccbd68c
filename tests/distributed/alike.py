"""Ranks that share a batch get the gradients of one process with all of it; hooks that PyTorch has for GPUs alone."""

import torch
import torch.distributed as d
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import DDPCommHookType, register_ddp_comm_hook
from torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

d.init_process_group("mpi")
r, n = d.get_rank(), d.get_world_size()
torch.manual_seed(0)
xs, ys = torch.randn(4 * n, 5), torch.randn(4 * n, 1)


def made():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))


def gradients(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def means(kind, tolerance, state=None):
    model = made()
    ddp = DDP(model)
    if kind is not None:
        register_ddp_comm_hook(kind, ddp, state)
    nn.functional.mse_loss(ddp(xs[4 * r:4 * r + 4]), ys[4 * r:4 * r + 4]).backward()
    one = made()
    nn.functional.mse_loss(one(xs), ys).backward()
    difference = (gradients(model) - gradients(one)).abs().max()
    assert difference <= tolerance, (kind, difference)


def normed():
    """SyncBatchNorm of shares is BatchNorm of the whole, its running statistics and gradients, too."""
    model, one = nn.BatchNorm1d(5), nn.BatchNorm1d(5)
    model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    x, whole = xs[4 * r:4 * r + 4].clone().requires_grad_(), xs.clone().requires_grad_()
    (model(x) * ys[4 * r:4 * r + 4]).tanh().sum().backward()
    (one(whole) * ys).tanh().sum().backward()
    torch.testing.assert_close(x.grad, whole.grad[4 * r:4 * r + 4], atol=1e-5, rtol=1e-4)
    for mine, other in zip(model.buffers(), one.buffers()):
        torch.testing.assert_close(mine, other, atol=1e-6, rtol=1e-4)
    if r == 0:                                  # in evaluation no rank waits for the others
        alone = nn.SyncBatchNorm(5, track_running_stats=False).eval()
        torch.testing.assert_close(alone(x), nn.BatchNorm1d(5, track_running_stats=False)(x))


def sampled():
    """Each example is in one rank's share."""
    loader = DataLoader(TensorDataset(torch.arange(4 * n)), batch_size=2, sampler=DistributedSampler(range(4 * n)))
    seen = [i for [batch] in loader for i in batch.tolist()]
    every = [None] * n
    d.all_gather_object(every, seen)
    assert sorted(i for some in every for i in some) == list(range(4 * n))


def divided():
    """split_group: each part adds its own, in the parent's order whatever the order of the list."""
    parts = [list(range(n))[i::2][::-1] for i in range(2)]
    part, mine = d.split_group(None, parts), sorted(parts[r % 2])
    x = torch.tensor([float(r)])
    d.all_reduce(x, group=part)
    every = [torch.zeros(1) for _ in mine]
    d.all_gather(every, torch.tensor([float(r)]), group=part)
    assert (x.item(), [int(y) for y in every], part.size(), d.get_rank(part)) == (sum(mine), mine, len(mine), mine.index(r))
    assert d.get_process_group_ranks(part) == mine


def ends_early():
    ddp = DDP(nn.Linear(5, 1))
    try:
        with ddp.join(throw_on_early_termination=True):
            for _ in range(1 + r):
                ddp(xs).sum().backward()
    except RuntimeError as error:
        assert "exhausted" in str(error)
    else:
        raise AssertionError("no rank was told")


means(None, 1e-6)

means(DDPCommHookType.ALLREDUCE, 1e-6)
means(DDPCommHookType.FP16_COMPRESS, 1e-3)
means(DDPCommHookType.BF16_COMPRESS, 1e-2)
means(DDPCommHookType.BATCHED_POWER_SGD, 1e-5, PowerSGDState(None, 9, 2, use_error_feedback=False, warm_start=False))
means(DDPCommHookType.QUANTIZE_PER_TENSOR, 2e-2)
means(DDPCommHookType.QUANTIZE_PER_CHANNEL, 2e-2)
normed()
sampled()
divided()
ends_early()
d.destroy_process_group()
print("as expected")
