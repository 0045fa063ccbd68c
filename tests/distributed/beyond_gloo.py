"""What gloo writes into wrong places, or refuses."""

import torch
import torch.distributed as d

d.init_process_group("mpi")
r, n = d.get_rank(), d.get_world_size()
whole = torch.zeros(3, 4) + r
d.all_reduce(whole[:, 1:3])
assert whole.tolist() == [[r, 1, 1, r]] * 3
every = [torch.zeros(2, dtype=torch.complex64) for _ in range(n)]
d.gather(torch.ones(2) * (1j + r), every if r == 0 else None)
assert r or [x[0].item() for x in every] == [1j, 1 + 1j]
given = [torch.zeros(r + 1) for _ in range(n)]
d.all_to_all(given, [torch.full((i + 1,), float(r)) for i in range(n)])
assert [x.tolist() for x in given] == [[float(i)] * (r + 1) for i in range(n)]
bits = torch.tensor([True, False, r == 0])
d.all_reduce(bits)
assert bits.tolist() == [True, False, True]
work = d.all_reduce(torch.ones(2, dtype=torch.int16), op=d.ReduceOp.MAX, async_op=True)
assert work.result()[0].tolist() == [1, 1]
assert d.split_group(None, [[0], [1]]).size() == 1 and d.all_reduce(torch.ones(1), d._make_nccl_premul_sum(3.0)) is None
across = [torch.arange(6.0).reshape(2, 3).t() + 10 * i for i in range(n)]       # no elements one after the other
mine = torch.zeros(2, 3).t()
for call, got in (
    (lambda: d.scatter(mine, across if r == 0 else None), across[r]),
    (lambda: d.reduce_scatter(mine, across), n * across[r]),
    (lambda: d.broadcast(mine if r else across[1], 0), across[1] if r else mine),
    (lambda: d.recv(mine, 0) if r else d.send(across[0], 1), across[0] if r else mine),
    (lambda: d.all_to_all([mine, torch.zeros(2, 3).t()], across), across[r]),
    (lambda: d.all_gather([mine, torch.zeros(2, 3).t()], across[r]), across[0]),
    (lambda: d.gather(across[r], [torch.zeros(2, 3).t(), mine] if r == 0 else None), mine if r else across[1]),
):
    mine[:] = -1
    call()
    assert mine.tolist() == got.tolist()
for longer, got in ((torch.full((3,), -1.0), [1, 1, -1]), (torch.full((2, 2), -1.0).t(), [[1, 1], [-1, -1]])):
    if r == 0:
        d.send(torch.ones(2), 1)
    else:
        d.recv(longer, 0)
        assert longer.tolist() == got
d.destroy_process_group()
print("as expected")
