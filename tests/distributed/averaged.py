"""Records passes whose gradients are averaged, each kind as FOLDER/KIND.RANK.trace."""

import sys
from pathlib import Path

import torch
import torch.distributed as d
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from retrograd import microscope

folder = Path(sys.argv[1])
d.init_process_group("gloo")
r = d.get_rank()


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.a, self.b, self.idle = nn.Linear(3, 1), nn.Linear(3, 1), nn.Linear(3, 1)

    def forward(self, x, both):
        return self.a(x) + self.b(x) if both else self.a(x)


def recorded(kind, between, before=False, dtype=torch.float32, both=True, passes=3, **options):
    module = Two().to(dtype)
    if "find_unused_parameters" not in options:
        del module.idle
    model = DDP(module, **options)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for p in model.parameters() if before else ():
        p.grad = torch.full_like(p, 3.0 * r + 1)
    with microscope.record(model, values="parameters") as rec:
        for i in range(passes):
            model(torch.ones(2, 3, dtype=dtype) * (i + 1 + 2 * r), both).sum().backward()
            between(optimizer, model)
    rec.save(folder / f"{kind}.{r}.trace")


for view in (False, True):
    recorded(f"nothing-{view}", lambda *_: None, gradient_as_bucket_view=view)
    recorded(f"before-{view}", lambda *_: None, before=True, gradient_as_bucket_view=view)
    recorded(f"none-{view}", lambda o, m: o.zero_grad(), gradient_as_bucket_view=view)
    recorded(f"zero-{view}", lambda o, m: o.zero_grad(set_to_none=False), gradient_as_bucket_view=view)
    recorded(f"step-{view}", lambda o, m: o.step(), gradient_as_bucket_view=view)
    recorded(f"clip-{view}", lambda o, m: (nn.utils.clip_grad_norm_(m.parameters(), 0.5), o.step()), gradient_as_bucket_view=view)
recorded("half", lambda *_: None, dtype=torch.bfloat16)
recorded("waits", lambda *_: None, both=r == 0, passes=1, find_unused_parameters=False)
recorded("unused", lambda *_: None, both=r == 0, find_unused_parameters=True)
module = Two()
del module.idle
model, x = DDP(module), torch.ones(2, 3) * (1 + 2 * r)
with microscope.record(model, values="parameters") as rec:
    y = model(x, True)
    module(x, True).sum().backward()            # averages
    y.sum().backward()
rec.save(folder / f"second.{r}.trace")
d.barrier()
d.destroy_process_group()
