"""Calls many collectives; at one of them a rank does something else: POINT HOW, the rank being the last one."""

import os
import signal
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as d

point, how = int(sys.argv[1]), sys.argv[2]
d.init_process_group("mpi", timeout=timedelta(seconds=float(os.environ.get("SECONDS", "10"))))
r, n = d.get_rank(), d.get_world_size()
x, parts = torch.ones(4), [torch.zeros(4) for _ in range(n)]
CALLS = [
    lambda: d.all_reduce(x), lambda: d.broadcast(x, 0), lambda: d.reduce(x, 0), lambda: d.all_gather(parts, x), d.barrier,
    lambda: d.all_gather_into_tensor(torch.zeros(4 * n), x), lambda: d.reduce_scatter(x, parts),
    lambda: d.all_to_all_single(torch.zeros(n), torch.ones(n)), lambda: d.all_gather_object([None] * n, r),
    lambda: d.all_reduce(x, async_op=True).wait(),
]
print(f"process {os.getpid()}\n", end="", flush=True)        # one write, also where Python does not buffer
for i in range(50):
    if i == point and how == "ahead" and r < n - 1:
        d.broadcast(x, 0)                       # the root is through at once, and goes on to its next call
    if i == point and r == n - 1:
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "raise":
            raise ValueError("enough")
        if how == "exit":
            sys.exit(3)
        if how == "ahead":
            time.sleep(0.5)
            d.barrier()
        if how == "branch":
            d.broadcast(x, 0)
        if how == "sleep":
            time.sleep(60)
    CALLS[i % len(CALLS)]()
d.barrier()                                     # a call that the last rank cannot pass before the others
print("end", flush=True)
