"""Each rank first enters the collective for which the rank before it waits last."""

import time

import torch
import torch.distributed as d

d.init_process_group("mpi")
r, n = d.get_rank(), d.get_world_size()
pairs = [d.new_group([i, (i + 1) % n], sort_ranks=False) for i in range(n)]     # on two ranks: two groups of both
x = torch.ones(1)
for round in range(3):                          # in any order, if nobody waits between
    works = [d.all_reduce(x, group=pairs[i], async_op=True) for i in ((r, r - 1), (r - 1, r))[r % 2]]
    time.sleep(0.5 * (r == round))
    assert all(work.wait() for work in works)
for i in (r, r - 1):
    d.all_reduce(x, group=pairs[i])
