"""Two ranks call what does not fit together: each says what it saw."""

import torch
import torch.distributed as d

d.init_process_group("gloo")
r = d.get_rank()
CALLS = {
    "size": lambda: d.all_reduce(torch.ones(4 + r)),
    "dtype": lambda: d.all_reduce(torch.ones(4, dtype=(torch.float32, torch.int32)[r])),
    "operation": lambda: d.all_reduce(torch.ones(4), op=(d.ReduceOp.SUM, d.ReduceOp.MAX)[r]),
    "root": lambda: d.broadcast(torch.ones(4), r),
    "gathered": lambda: d.all_gather([torch.ones(4 + r)] * 2, torch.ones(4 + r)),
    "scattered": lambda: d.scatter(torch.ones(4 + r), None if r else [torch.ones(4)] * 2),
    "reduced": lambda: d.reduce_scatter(torch.ones(4 + r), [torch.ones(4 + r)] * 2),
    "later": lambda: d.all_reduce(torch.ones(4 + r), async_op=True).wait(),
    "name": lambda: d.barrier() if r else d.all_reduce(torch.ones(1)),
}
for name, call in CALLS.items():
    try:
        call()
        print(f"{name}: nothing", flush=True)
    except d.DistBackendError as error:
        print(f"{name}: {str(error).splitlines()[0]}", flush=True)
if r == 0:
    d.send(torch.ones(4), 1)
for text, call in (("short", lambda: d.recv(torch.ones(2), 0)), ("tag", lambda: d.send(torch.ones(1), 1 - r, tag=2**40)),
                   ("kind", lambda: d.send(torch.ones(1), 1 - r, tag="7"))):
    try:
        if r or text != "short":
            call()
    except Exception as error:
        print(f"{text}: {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)
for name, call in {                             # rank 0 sends 3 elements where rank 1 expects 2
    "negative": lambda: d.all_to_all_single(torch.zeros(2), torch.ones(2), [3, -1], [1, 1]),
    "own": lambda: d.all_to_all([torch.zeros(2)] * 2, [torch.ones(3)] * 2),
    "others": lambda: d.all_to_all([torch.zeros(2)] * 2, [torch.ones(2), torch.ones(3 - r)]),
    "splits": lambda: d.all_to_all_single(torch.zeros(4), torch.ones(5 - r), [2, 2], [2, 3 - r]),
    "awaited": lambda: d.all_to_all([torch.zeros(2)] * 2, [torch.ones(2), torch.ones(3 - r)], async_op=True).wait(),
}.items():
    try:
        call()
        print(f"{name}: nothing", flush=True)
    except RuntimeError as error:
        print(f"{name}: {error}", flush=True)
meta, two = torch.ones(2, device="meta"), [torch.full((2,), 7.0) for _ in range(2)]
for name, call in {
    "gathered": lambda: d.all_gather(two, meta), "into": lambda: d.all_gather_into_tensor(torch.zeros(4), meta),
    "reduced": lambda: d.reduce_scatter_tensor(torch.zeros(1), meta), "list": lambda: d.reduce_scatter(two[0], [meta] * 2),
    "all": lambda: d.all_to_all(two, [meta] * 2), "single": lambda: d.all_to_all_single(two[0], meta),
    "coalesced": lambda: d.all_reduce_coalesced([two[0], meta]), "sent": lambda: d.send(meta, 1 - r),
    "received": lambda: d.recv(meta, 1 - r), "sum": lambda: d.all_reduce(meta), "root": lambda: d.broadcast(meta, 1 - r),
    "reduce": lambda: d.reduce(meta, r), "one": lambda: d.gather(meta, two if r == 0 else None),
    "each": lambda: d.scatter(two[0], [meta] * 2 if r == 0 else None),
}.items():
    try:
        if r == 0 or name not in ("one", "each"):
            call()
            print(f"meta {name}: nothing", flush=True)
    except RuntimeError as error:
        assert "meta" in str(error) and [x.tolist() for x in two] == [[7, 7]] * 2
        print(f"meta: {name}", flush=True)
for _ in range(40):                             # more than a page remembers, with messages that only some ranks send
    if r == 0:
        d.send(torch.ones(1), 1)
        d.send(torch.ones(1), 1)
    else:
        d.recv(torch.ones(1))
        d.recv(torch.ones(1))
    d.all_reduce(x := torch.ones(3))
    assert x.tolist() == [2, 2, 2]
others = d.new_group()                          # its collectives take the places of the others on the page
works = [d.all_reduce(torch.ones(i + 1), group=group, async_op=True) for i in range(60) for group in (None, others)]
assert all(work.wait() for work in works)
ddp = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
d.destroy_process_group()
try:
    ddp(torch.ones(1, 1))
except ValueError as error:
    print(f"destroyed: {error}", flush=True)
