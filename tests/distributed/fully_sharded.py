"""PyTorch's fully_shard (FSDP2) on ranks: records steps into FOLDER/run.RANK.trace, and captures what one process would."""

import sys
from pathlib import Path

import torch
import torch.distributed as d
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecisionPolicy, fully_shard

from retrograd import microscope
from retrograd.microscope import KFAC, capture

d.init_process_group("gloo")
r = d.get_rank()
mesh = init_device_mesh("cpu", (d.get_world_size(),))


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.a, self.b, self.idle = nn.Linear(4, 5), nn.Linear(5, 3), nn.Linear(4, 2)

    def forward(self, x):
        return self.b(self.a(x).tanh())


def sharded(**options):
    model = Branches()
    for layer in (model.a, model.b):
        fully_shard(layer, mesh=mesh, **options)
    return fully_shard(model, mesh=mesh, **options)


def late(p):
    """A hook of a shard."""


def loss(model, x):
    return model(x).float().pow(2).sum()


torch.manual_seed(0)
xs = torch.randn(7, 4)
mine = xs[:3] if r == 0 else xs[3:]

model = sharded()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
silent = model.a.weight.register_hook(late)
with microscope.record(model, values="parameters") as rec:
    loss(model, mine).backward()
    optimizer.step()
    optimizer.zero_grad()
    model.set_requires_gradient_sync(False)
    loss(model, mine).backward()
    model.set_requires_gradient_sync(True)
    loss(model, mine).backward()
assert microscope.why_none(model.a.weight, rec).code == rec.why_none("a.weight").code == "has_grad"
assert microscope.why_not_fired(silent, rec).code == "sharded"
assert rec.ledger("a.weight").check() < 1e-5 and not rec.trouble()
rec.save(Path(sys.argv[1]) / f"run.{r}.trace")

half = sharded(mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32))
with microscope.record(half) as rec:
    loss(half, mine).backward()
assert not rec.trouble(), rec.trouble()
watched = sharded()
optimizer = torch.optim.SGD(watched.parameters(), lr=0.1)
with microscope.watch(watched) as watch:
    loss(watched, mine).backward()
    optimizer.step()
shown = next(row for row in watch.rows if row["name"] == "a.weight")
assert abs(shown["grad_norm"] - watched.a.weight.grad.to_local().norm().item()) < 1e-5       # of this rank's shard

model, alone = sharded(), Branches()
found = []
for one, x in ((model, mine), (alone, xs)):
    with capture(one) as cap:
        loss(one, x).backward()
    found.append(cap.grads())
every, whole = found[0].across(), found[1]
torch.testing.assert_close(every.norms(), whole.norms())
for name, wanted in whole.weight_grad().items():
    torch.testing.assert_close(every.weight_grad()[name], wanted)
ranks, one = KFAC().update(found[0]).all_reduce(), KFAC().update(whole)
for name, (A, G) in one.factors.items():
    torch.testing.assert_close(ranks.factors[name][0], A)
    torch.testing.assert_close(ranks.factors[name][1], G)

old = FullyShardedDataParallel(Branches(), device_id=torch.device("cpu"), use_orig_params=True)
for inside in (capture, microscope.record):
    try:
        with inside(old):
            loss(old, mine).backward()
    except RuntimeError as error:
        assert "use torch.distributed.fsdp.fully_shard" in str(error), error
    else:
        raise AssertionError(f"{inside.__name__} took FSDP1")
    loss(old, mine).backward()                  # and left nothing behind
d.barrier()
d.destroy_process_group()
