"""Two ranks keep no Work of what they begin: later tensors are what they are, and what was sent arrives."""

import torch
import torch.distributed as d

from retrograd.distributed.work import dropped

d.init_process_group("gloo")
r = d.get_rank()


def forgotten(i):
    if i % 3 == 0:
        d.all_reduce(torch.full((2,), r + 1.0), async_op=True)
    elif i % 3 == 1:
        try:
            d.all_reduce(torch.full((2,), r + 1.0), async_op=True).wait("x")
        except TypeError:
            pass
    elif r == 0:
        d.batch_isend_irecv([d.P2POp(d.isend, torch.full((2,), float(i)), 1)])
        d.irecv(torch.zeros(2), 1)
    else:
        d.irecv(torch.zeros(2), 0)
        d.isend(torch.full((2,), float(i)), 0)


for i in range(300):
    forgotten(i)
    t = torch.full((2,), r + 1.0)
    d.all_reduce(t)
    assert t.tolist() == [3, 3], (i, t)
later = torch.zeros(3)
if r:
    d.irecv(later, 0)
else:
    d.isend(torch.full((3,), 5.0), 1)
for _ in range(1000):
    d.barrier()
assert not dropped and later.tolist() == [5.0 * r] * 3
d.irecv(torch.zeros(1), 1 - r)                  # comes never
d.destroy_process_group()
print("as expected")
