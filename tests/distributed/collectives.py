"""Calls every collective, with right and wrong arguments, and writes what each rank saw: FOLDER/rank."""

import re
import sys
import warnings
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
import torch.distributed as d
import torch.distributed.nn.functional as dnn

warnings.simplefilter("ignore")
LINES = []


def show(x):
    if isinstance(x, torch.Tensor):
        return f"{str(x.dtype)[6:]}{x.tolist()}"
    return [show(one) for one in x] if isinstance(x, (list, tuple)) else x


def say(label, f, *args, **kwargs):
    """What f gives; an error's class and first sentence."""
    try:
        text = f"{show(f(*args, **kwargs))}"
    except Exception as error:
        line = (str(error).splitlines() or [""])[0]
        text = f"{type(error).__name__}: {line.partition('. ')[0].partition(' <torch')[0].partition(' <retro')[0]}"
    LINES.append(f"{label} -> {text}; {show([x for x in args if isinstance(x, (torch.Tensor, list))])}")


def main(folder):
    for f in (d.get_rank, d.get_world_size, d.barrier, d.new_group, d.get_backend, d.destroy_process_group, d.split_group):
        say(f.__name__, f)
    say("all_reduce", d.all_reduce, torch.ones(2))
    d.init_process_group("gloo")
    r, n = d.get_rank(), d.get_world_size()
    say("twice", d.init_process_group, "gloo")
    facts(n)
    reductions(r, n)
    moves(r, n)
    wrong(r, n)
    messages(r, n)
    groups(r, n)
    objects(r, n)
    gradients(r, n)
    stores(r, n)
    d.barrier()
    d.destroy_process_group()
    say("initialized", d.is_initialized)
    say("get_rank", d.get_rank)
    say("no such place", d.init_process_group, "gloo", "nowhere://x")
    Path(folder, str(r)).write_text("\n".join(LINES))


def facts(n):
    say("backend", d.get_backend)
    say("ranks", d.get_process_group_ranks, d.group.WORLD)
    say("world", lambda: [d.group.WORLD.rank(), d.group.WORLD.size(), d.group.WORLD.name(), d.group.WORLD.group_name,
                          d.group.WORLD.group_desc, d.GroupMember.NON_GROUP_MEMBER, str(d.default_pg_timeout)])
    say("available", lambda: [d.is_available(), d.is_gloo_available(), d.is_nccl_available(), d.is_backend_available("gloo"),
                              d.is_backend_available("foo"), d.is_initialized()])
    say("ops", lambda: [repr(d.ReduceOp.SUM), str(d.ReduceOp.AVG), int(d.reduce_op.MIN)])


def reductions(r, n):
    for dtype in (torch.float32, torch.float64, torch.int32, torch.int64, torch.uint8, torch.int8, torch.float16, torch.bfloat16,
                  torch.bool, torch.complex64):
        for op in ("SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "AVG"):
            whole = not (dtype.is_floating_point or dtype.is_complex)
            if (whole and op == "AVG") or (dtype is torch.bool and op not in ("MIN", "MAX")):
                continue                        # gloo leaves bytes other than 0 and 1 in a bool
            if not whole and op[0] == "B":
                say(f"{op} {dtype}", d.all_reduce, torch.ones(2, dtype=dtype), op=getattr(d.ReduceOp, op))
                continue
            x = (torch.arange(4) + 2 * r + 1).to(dtype)
            say(f"{op} {dtype}", d.all_reduce, x, op=getattr(d.ReduceOp, op))
    for shape in ((), (0,), (2, 3), (2, 0)):
        say(f"all_reduce {shape}", d.all_reduce, torch.full(shape, float(r + 1)))
    for root in range(n):
        x = torch.arange(3.0) + r
        say("reduce", d.reduce, x if r == root else x.clone(), root) if r == root else d.reduce(x, root)
    say("view", d.all_reduce, (torch.arange(6.0).reshape(2, 3) + r).t())
    out = torch.zeros(2)
    say("reduce_scatter", d.reduce_scatter, out, [torch.full((2,), float(10 * r + i)) for i in range(n)])
    say("reduce_scatter_tensor", d.reduce_scatter_tensor, out, torch.arange(2.0 * n) + r)
    x, y = torch.ones(2) * r, torch.ones(3)
    say("all_reduce_coalesced", d.all_reduce_coalesced, [x, y])
    mixed = [torch.ones(2) * r, torch.ones(2, dtype=torch.complex64) * (1 + 2j)]
    say("complex and their elements", lambda: (d.all_reduce_coalesced(mixed), [t.tolist() for t in mixed])[1])
    say("complex and others", d.all_reduce_coalesced, [torch.ones(2, dtype=torch.float64), mixed[1]])
    work = d.all_reduce(x, async_op=True)
    say("work", lambda: [work.wait(), work.is_completed(), work.is_success(), work.result(), work.get_future().wait()])
    say("then", lambda: d.all_reduce(y, async_op=True).get_future().then(lambda f: f.value()[0] * 2).wait())
    say("version", lambda: (x._version > 0))


def moves(r, n):
    for dtype in (torch.float32, torch.int64, torch.bool, torch.bfloat16, torch.float16, torch.complex64):
        x = (torch.arange(4).reshape(2, 2) + r).to(dtype)
        say("broadcast", d.broadcast, x.clone(), n - 1)
        say("all_gather", d.all_gather, [torch.zeros(2, 2, dtype=dtype) for _ in range(n)], x)
        say("all_gather_into_tensor", d.all_gather_into_tensor, torch.zeros(2 * n, 2, dtype=dtype), x)
        if not dtype.is_complex:                # gloo gathers no complex numbers
            say("gather", d.gather, x, [torch.zeros(2, 2, dtype=dtype) for _ in range(n)] if r == 0 else None, 0)
        say("scatter", d.scatter, torch.zeros(2, dtype=dtype),
            [torch.full((2,), i).to(dtype) for i in range(n)] if r == 1 else None, 1)
    say("all_to_all_single", d.all_to_all_single, torch.zeros(n), torch.arange(float(n)) + 10 * r)
    if n == 2:
        say("splits", d.all_to_all_single, torch.zeros(3, 2), torch.arange(6.0).reshape(3, 2) + 10 * r,
            [1, 2] if r == 0 else [2, 1], [1, 2] if r == 0 else [2, 1])
    say("all_to_all", d.all_to_all, [torch.zeros(2) for _ in range(n)], [torch.full((2,), float(i + 10 * r)) for i in range(n)])
    say("group_src", d.broadcast, torch.ones(2) * r, group_src=0)
    say("columns", d.broadcast, (torch.arange(6.0).reshape(2, 3) + r).t(), 0)


def wrong(r, n):
    x = torch.arange(4.0)
    for bad in ([1.0], None, 3, "x", [x, x]):
        say("no tensor", d.all_reduce, bad)
    say("group", d.all_reduce, x, group=5)
    say("max", d.all_reduce, torch.ones(2, dtype=torch.complex64), op=d.ReduceOp.MAX)
    zeros = torch.zeros
    say("too few", d.all_gather, [zeros(4)], x)
    say("too many", d.all_gather, [zeros(4)] * (n + 1), x)
    say("shape", d.all_gather, [zeros(3)] * n, x)
    say("dtype", d.all_gather, [zeros(4, dtype=torch.int)] * n, x)
    say("list", d.all_gather, zeros(4), x)
    say("root", d.broadcast, x, 5 + n)
    say("no root", d.broadcast, x)
    say("float root", d.broadcast, x, 0.5)
    say("time", d.new_group, [0], timeout=5)
    say("time", d.monitored_barrier, timeout=5)
    say("time", d.barrier, timeout=5)
    say("objects", d.all_reduce_coalesced, [])
    say("lists", d.all_gather_coalesced, None, [x])
    say("many", d.new_group, list(range(n + 1)))
    say("twice", d.new_subgroups_by_enumeration, [[0], [0]])
    say("no size", d.new_subgroups)
    say("no group", d.destroy_process_group, "x")
    say("two roots", d.broadcast, x, 0, group_src=0)
    say("inputs", d.reduce_scatter, zeros(2), [torch.ones(2)] * (n + 1))
    say("splits", d.all_to_all_single, zeros(n + 2), torch.ones(n + 2), [1] * n, [2] * n)
    for sizes in ([1.0] * n, [0.5] * n, ["1"] * n, [None] * n, torch.ones(n, dtype=torch.int64), 2):
        say("splits", d.all_to_all_single, zeros(n), torch.ones(n), sizes, [1] * n)
        say("splits", d.all_to_all_single, zeros(n), torch.ones(n), [1] * n, sizes)
    say("splits", d.all_to_all_single, zeros(n), torch.ones(n), (1,) * n, [np.int64(1)] * n)
    say("numpy root", d.broadcast, x, np.int64(0))
    for timeout in (5, "x", None, -1, True, 5.0, timedelta(seconds=5), timedelta(0)):
        say(f"wait {timeout}", d.all_reduce(torch.ones(2), async_op=True).wait, timeout)
    several = (zeros(2),) * n
    for given in (several, iter(several), "ab", {0: x}, [x, 3]):
        say(f"list {type(given)}", d.all_gather, given, zeros(2))
    say("tuple", d.reduce_scatter, zeros(2), several)
    say("tuple", d.all_to_all, several, list(several))
    say("tuple", d.all_to_all, list(several), several)
    say("tuple", d.gather, zeros(2), several)
    say("tuple", d.scatter, zeros(2), several)
    say("tuple", d.all_reduce_coalesced, several)
    say("all_to_all", d.all_to_all, [zeros(2)] * (n + 1), [torch.ones(2)] * n)
    if r == 0:
        say("gather", d.gather, x, None, 0)
        say("gather", d.gather, x, [zeros(4)] * (n + 1), 0)
        say("scatter", d.scatter, x, None, 0)
        say("scatter", d.scatter, x, [zeros(4)] * (n + 1), 0)
    else:
        say("gather", d.gather, x, [zeros(4)] * n, 0)
        say("scatter", d.scatter, x, [zeros(4)] * n, 0)
    say("self", d.send, x, r)
    say("list", d.send, [x], (r + 1) % n)
    for f in (d.isend, d.irecv):
        say("tag", f, x, (r + 1) % n, tag=-3)
    say("batch", d.batch_isend_irecv, [])
    say("batch", d.batch_isend_irecv, [3])
    say("op", d.P2POp, print, x, 0)
    say("range", d.new_group, [0, 5 + n])
    say("doubles", d.new_group, [0, 0])


def messages(r, n):
    right, left = (r + 1) % n, (r - 1) % n
    x, y = torch.arange(3.0) + r, torch.zeros(3)
    if r % 2 == 0:
        d.send(x, right)
        say("recv", d.recv, y, left)
    else:
        say("recv", d.recv, y, left)
        d.send(x, right)
    say("got", lambda: y)
    works = d.batch_isend_irecv([d.P2POp(d.isend, x, right), d.P2POp(d.irecv, y, left)])
    say("batch", lambda: [[work.wait() for work in works], y])
    say("op", lambda: repr(d.P2POp(d.isend, x, right)))
    if r == 0:
        z = torch.zeros(3)
        say("anybody", lambda: sorted([[d.recv(z, tag=7), z.tolist()] for _ in range(1, n)]))
    else:
        d.send(x, 0, tag=7)
    say("monitored_barrier", d.monitored_barrier, timeout=timedelta(seconds=20))
    say("barrier", d.barrier, timeout=timedelta(seconds=20))


def groups(r, n):
    g = d.new_group([0])
    x = torch.ones(2) * (r + 1)
    say("of one", d.all_reduce, x, group=g)
    for f in (d.get_rank, d.get_world_size, d.get_process_group_ranks, d.get_backend):
        if r == 0 or f in (d.get_rank, d.get_world_size):
            say(f.__name__, f, g)
    if r == 0:
        say("global", d.get_global_rank, g, 0)
        say("global", d.get_global_rank, g, 1)
        say("group", d.get_group_rank, g, 1)
        say("broadcast", d.broadcast, x, 1, group=g)
    both = d.new_group(list(range(n))[::-1])
    say("both", d.all_reduce, x, group=both)
    say("order", d.get_process_group_ranks, both)
    mine, every = d.new_subgroups_by_enumeration([[i] for i in range(n)])
    say("enumerated", lambda: [d.get_process_group_ranks(mine), len(every)])
    say("subgroups", d.new_subgroups, n + 1)
    d.destroy_process_group(both)
    say("destroyed", d.destroy_process_group, both)
    say("destroyed", lambda: LINES.append(gone(d.get_rank, both)))
    say("destroyed", lambda: LINES.append(gone(d.get_global_rank, both, 0)))


def gone(f, group, *args):
    """The error, without the group's address."""
    try:
        return f(group, *args)
    except ValueError as error:
        return re.sub("<.*>", "", str(error))


def objects(r, n):
    given = [1, {"a": r}] if r == 0 else [None, None]
    say("broadcast_object_list", d.broadcast_object_list, given, 0)
    say("given", lambda: given)
    every = [None] * n
    say("all_gather_object", d.all_gather_object, every, (r, "x" * r))
    say("every", lambda: every)
    say("gather_object", d.gather_object, r, every if r == 0 else None, 0)
    say("gathered", lambda: every)
    one = [None]
    say("scatter_object_list", d.scatter_object_list, one, list("abcdefgh"[:n]) if r == 0 else None, 0)
    say("one", lambda: one)
    say("empty", d.scatter_object_list, [], None, 0)
    if r == 0:
        d.send_object_list([1, "two"], 1)
    elif r == 1:
        got = [None, None]
        say("recv_object_list", d.recv_object_list, got, 0)
        say("got", lambda: got)


def gradients(r, n):
    def check(label, f, like=lambda: torch.arange(2.0 * n) + r):
        x = like().requires_grad_()
        y = f(x)
        y = sum((i + 1) * (one * one).sum() for i, one in enumerate(y)) if isinstance(y, tuple) else (y * y).sum()
        (y * (r + 1)).backward()
        say(label, lambda: [y.detach(), x.grad])

    check("all_reduce", lambda x: dnn.all_reduce(x * 1))
    check("broadcast", lambda x: dnn.broadcast(x * 1, 0))
    check("all_gather", lambda x: dnn.all_gather(x * 1))
    check("reduce_scatter", lambda x: dnn.reduce_scatter(torch.zeros(2), list((x * 1).split(2))))
    check("all_to_all", lambda x: dnn.all_to_all([torch.zeros(2) for _ in range(n)], list((x * 1).split(2))))
    check("all_to_all_single", lambda x: dnn.all_to_all_single(torch.zeros(2 * n), x * 1))
    check("scatter", lambda x: dnn.scatter(list((x * 1).split(2)), 0))


def stores(r, n):
    store = d.TCPStore("127.0.0.1", int(sys.argv[2]), n, r == 0, timedelta(seconds=20))
    store.set(f"k{r}", f"v{r}")
    say("get", store.get, f"k{(r + 1) % n}")
    d.barrier()
    if r == 0:
        say("add", store.add, "n", 5)
        say("compare_set", store.compare_set, "c", "", "first")
        say("compare_set", store.compare_set, "c", "first", "second")
        say("compare_set", store.compare_set, "c", "other", "third")
        say("check", lambda: [store.check(["c"]), store.check(["c", "none"]), store.delete_key("c"), store.check(["c"])])
        say("wait", store.wait, ["never"], timedelta(milliseconds=50))
        under = d.PrefixStore("a", store)
        under.set("x", "y")
        say("prefix", store.get, "a/x")
    d.barrier()


if __name__ == "__main__":
    main(sys.argv[1])
