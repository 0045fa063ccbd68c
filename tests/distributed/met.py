"""A rank that meets the others as HOW says: HOW RANK PORT FOLDER."""

import os
import sys
from datetime import timedelta

import torch
import torch.distributed as d

how, rank, port, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
limit = timedelta(seconds=30)
who = {"rank": rank, "world_size": 2}
asked = f"?rank={rank}&world_size=2"
if how.startswith("env"):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
if how.startswith("store"):
    kind = how.rpartition(" ")[2]
    store = d.FileStore(f"{folder}/store", 2) if kind == "file" else d.TCPStore("localhost", port, 2, rank == 0, limit)
    how = "store"
    who["store"] = d.PrefixStore("run", store) if kind == "prefix" else store
elif how == "rendezvous":
    who["store"], who["rank"], who["world_size"] = next(d.rendezvous(f"tcp://127.0.0.1:{port}", rank, 2, timeout=limit))
method = {
    "tcp?": f"tcp://localhost:{port}{asked}", "tcp6": f"tcp://[::1]:{port}", "file": f"file://{folder}/a b"}.get(how)
d.init_process_group("gloo", init_method=method, timeout=limit, **({} if how.endswith("?") else who))
x = torch.ones(2) * (rank + 1)
d.all_reduce(x)
assert (d.get_rank(), d.get_world_size(), x.tolist()) == (rank, 2, [3, 3])
d.barrier()
d.destroy_process_group()
print("met")
