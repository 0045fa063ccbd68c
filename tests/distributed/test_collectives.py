"""Collectives on two and four ranks, and in one process without MPI."""

from __future__ import annotations

import copy
import importlib
import mmap
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import retrograd as torch
import retrograd.distributed as d
from retrograd.distributed.environment import free_port
from retrograd.distributed.watch import ROOM, SLOT, TOLD, Watch

from .ranks import needs_mpi, ours, theirs


@needs_mpi
@pytest.mark.oracle
@pytest.mark.once
@pytest.mark.parametrize("n", [2, 4])
def test_every_collective_gives_and_refuses_what_pytorchs_does_over_gloo(n: int, tmp_path: Path) -> None:
    for name, start in (("ours", ours), ("theirs", theirs)):
        (tmp_path / name).mkdir()
        start(n, "collectives.py", str(tmp_path / name), str(free_port()))
    for rank in range(n):
        mine, other = ((tmp_path / name / str(rank)).read_text().splitlines() for name in ("ours", "theirs"))
        assert len(mine) > 100 and [pair for pair in zip(mine, other, strict=True) if pair[0] != pair[1]] == []


@needs_mpi
@pytest.mark.oracle
@pytest.mark.once
def test_device_meshes_are_what_pytorchs_are(tmp_path: Path) -> None:
    for name, start in (("ours", ours), ("theirs", theirs)):
        (tmp_path / name).mkdir()
        start(4, "meshes.py", str(tmp_path / name))
    for rank in "0123":
        mine, other = ((tmp_path / name / rank).read_text().splitlines() for name in ("ours", "theirs"))
        assert len(mine) > 200 and [pair for pair in zip(mine, other, strict=True) if pair[0] != pair[1]] == []


def test_a_mesh_of_ranks_that_do_not_exist_or_come_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}.items():
        monkeypatch.setenv(name, value)
    mesh = d.init_device_mesh("cpu", (1,), mesh_dim_names=("dp",))
    try:
        assert d.is_initialized() and mesh["dp"].get_group() is d.group.WORLD
        with pytest.raises(ValueError, match=r"ranks from 0 to 0, each at most once, were expected, got \[3\]"):
            d.DeviceMesh("cpu", [3])
        with pytest.raises(ValueError, match=r"sizes of dimensions must be positive, got \(-1,\)"):
            d.init_device_mesh("cpu", (-1,))
        with pytest.raises(NotImplementedError, match="backend_override"):
            d.init_device_mesh("cpu", (1,), backend_override={0: "gloo"})
    finally:
        d.destroy_process_group()


@needs_mpi
@pytest.mark.oracle
@pytest.mark.once
def test_methods_of_groups_and_their_options_do_what_pytorchs_do(tmp_path: Path) -> None:
    for name, start in (("ours", ours), ("theirs", theirs)):
        (tmp_path / name).mkdir()
        start(2, "pg_methods.py", str(tmp_path / name))
    for rank in "01":
        mine, other = ((tmp_path / name / rank).read_text().splitlines() for name in ("ours", "theirs"))
        assert len(mine) > 20 and mine == other


OPERATIONS = """
R.SUM | R(T.SUM).op | int(R.MIN) | hash(T.BAND) | T(3) | str(T.AVG) | T.__members__["BOR"] | bool(T.SUM) | R.SUM == T.SUM
R(T.SUM) == T.SUM | T.SUM == R(T.SUM) | R(T.SUM) == R(T.SUM) | R(T.SUM) == R(T.AVG) | R(T.SUM) == 0 | T.SUM == 0
R(T.SUM) == "SUM" | R(T.SUM) != T.AVG | T.SUM == None | {R(T.SUM): 1}[T.SUM] | len({R(T.MAX), R(T.MAX), R(T.MIN)})
isinstance(R.SUM, R) | isinstance(R(T.SUM), R) | isinstance(R(T.SUM), T) | [7, 8][T.AVG] | R(T.SUM).__getstate__()
loads(dumps(T.MIN)) | loads(dumps(R(T.MIN))) == R.MIN | deepcopy(R(T.MIN)) == R.MIN
loads(dumps(d._make_nccl_premul_sum(2.5))).factor | d._make_nccl_premul_sum(2.5) == T.PREMUL_SUM
d._make_nccl_premul_sum(torch.tensor([2.0])).factor | d.reduce_op.AVG | sorted(d.reduce_op.__members__)
d.reduce_op.__members__["MAX"] | d.supports_complex(R.AVG) | d.supports_complex(R.PRODUCT) | R() | R(0) | R("SUM") | R(None)
R(T.SUM, 2) | R(R(T.SUM)) | R(op=T.SUM) | R(T.PREMUL_SUM) | T("SUM") | T(-1) | T() | T.SUM < T.AVG | T.SUM + 1 | T.SUM
R.UNUSED | d._make_nccl_premul_sum(2) | d._make_nccl_premul_sum("a") | d._make_nccl_premul_sum(torch.ones(3))
d.all_reduce(x, op=0) | d.all_reduce(x, op="sum") | d.all_reduce(x, op=None) | d.reduce(x, 0, op=T)
d.all_reduce(x, op=R.PREMUL_SUM) | d.reduce_scatter_single(x, x, op=1.0) | d.reduce_scatter(x, [x], op="sum")
d.all_reduce(x, op=R(T.MAX))
"""


def said_of_operations(torch: Any, d: Any, port: int) -> list[str]:
    """What each expression gives, or the class of its error."""
    names = {"torch": torch, "d": d, "R": d.ReduceOp, "T": d.ReduceOp.RedOpType, "deepcopy": copy.deepcopy, "loads": pickle.loads,
             "dumps": pickle.dumps, "x": torch.ones(1)}
    d.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=0, world_size=1)
    said = []
    for text in OPERATIONS.replace("\n", " | ").strip(" |").split(" | "):
        try:
            said.append(f"{text}: {eval(text, names)!r}".partition(" object at")[0].partition("_reduce_op")[0])
        except Exception as error:
            said.append(f"{text}: {type(error).__name__}")
    d.destroy_process_group()
    return said


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:`torch.distributed.reduce_op` is deprecated:FutureWarning")
def test_reduce_ops_are_made_compared_pickled_and_refused_as_pytorchs() -> None:
    theirs = said_of_operations(importlib.import_module("torch"), importlib.import_module("torch.distributed"), free_port())
    assert len(theirs) > 60 and said_of_operations(torch, d, free_port()) == theirs


def test_a_sum_with_a_factor_takes_no_integers_and_needs_the_factor() -> None:
    d.init_process_group("mpi")
    try:
        d.all_reduce(x := torch.ones(2), op=d._make_nccl_premul_sum(torch.tensor(2.5)))
        assert x.tolist() == [2.5, 2.5]
        with pytest.raises(TypeError, match="PreMulSum Data type must be half, float, bfloat16 or double, got Long"):
            d.all_reduce(torch.arange(4), op=d._make_nccl_premul_sum(2.5))
        with pytest.raises(TypeError, match=r"incompatible function arguments.*_make_nccl_premul_sum\(factor\) gives; got"):
            d.all_reduce(x, op=d.ReduceOp.PREMUL_SUM)
        with pytest.warns(FutureWarning, match="`torch.distributed.reduce_op` is deprecated"):
            assert d.reduce_op.SUM is d.ReduceOp.SUM
    finally:
        d.destroy_process_group()


def test_a_mean_of_integers_is_refused_as_by_gloo_and_lists_of_objects_are_checked_on_every_rank() -> None:
    d.init_process_group("mpi")
    try:
        with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
            d.all_reduce(torch.arange(4), op=d.ReduceOp.AVG)
        with pytest.raises(TypeError, match="broadcast_object_list: object_list is a list, got NoneType"):
            d.broadcast_object_list(None, 0)        # type: ignore[arg-type]
        with pytest.raises(ValueError, match="a list of one tensor was expected, got 2"):
            d.group.WORLD.allreduce([torch.ones(1), torch.ones(1)])
    finally:
        d.destroy_process_group()


@needs_mpi
@pytest.mark.once
def test_what_gloo_does_wrong_or_refuses() -> None:
    """A slice's elements are where they are, gathered numbers may be complex, what is exchanged may differ in shape."""
    assert ours(2, "beyond_gloo.py").stdout.count("as expected\n") == 2


@needs_mpi
@pytest.mark.once
def test_works_that_nobody_keeps_write_into_no_other_tensors() -> None:
    assert ours(2, "dropped.py").stdout.count("as expected\n") == 2


@needs_mpi
@pytest.mark.once
def test_calls_that_do_not_fit_together_are_told_by_each_rank_instead_of_wrong_numbers() -> None:
    """Who only sends, as the root of a broadcast, may be through before the other rank has begun."""
    said = ours(2, "mismatched.py").stdout
    first = "root: nothing", "scattered: nothing"
    for name, what in {
        "size": "all_reduce of 16 bytes of float32, SUM", "dtype": "all_reduce of 16 bytes of float32, SUM",
        "operation": "all_reduce of 16 bytes of float32, SUM", "root": "broadcast of 16 bytes of float32, rank 0's",
        "scattered": "scatter of 16 bytes of float32, rank 0's", "reduced": "reduce_scatter of 32 bytes of float32, SUM",
        "gathered": "all_gather of 16 bytes of float32", "later": "all_reduce of 16 bytes of float32, SUM",
        "name": "all_reduce of 4 bytes of float32, SUM",
    }.items():
        lines = [line for line in said.splitlines() if line.startswith(f"{name}: ") and line not in first]
        assert len(lines) >= 1 + (name not in ("root", "scattered")) and all(
            "ranks took different branches" in line and f"{what} in rank 0" in line and "in rank 1" in line
            for line in lines), said
    unlike = "ProcessGroupGloo::alltoall: input and output tensors must have the same size"
    assert said.count(f"own: {unlike}\n") == 2 and said.count(f"negative: {unlike}: a part of -1 rows\n") == 2
    for name in ("others", "splits", "awaited"):
        assert said.count(f"{name}: {unlike}: rank 0 sent 3 elements to rank 1, which expected 2") == 1, said
    assert said.count("meta: ") == 26 and "meta " not in said
    assert said.count("short: DistBackendError: Message truncated") == 1
    assert said.count("tag: RuntimeError: Tag must be at most ") == said.count("kind: TypeError: ") == 2
    assert said.count("destroyed: Default process group has not been initialized") == 2


def test_calls_of_other_groups_of_other_numbers_or_half_written_are_not_compared() -> None:
    first, second = Watch(0, 2), Watch(1, 2)
    first.page = second.page = mmap.mmap(-1, 2 * ROOM)
    group = SimpleNamespace(number=0, ranks=[0, 1], neighbors=[1])
    for mine, other in [((0, 5, b"barrier"), (1, 5, b"reduce")), ((1, 5, b"barrier"), (0, 5, b"reduce")),
                        ((0, 5, b"barrier"), (0, 37, b"reduce")), ((0, 37, b"barrier"), (0, 5, b"reduce"))]:
        first.tell(*mine)
        second.tell(*other)
        first.compare(group, 5)
    first.tell(0, 5, b"barrier")
    place = ROOM + SLOT.size + 5 * TOLD.size
    second.page[place:place + TOLD.size] = TOLD.pack(0, 5, b"", 0)      # half written
    first.compare(group, 5)
    assert not first.branches(group)
    second.tell(0, 5, b"reduce")
    assert first.branches(group)
    with pytest.raises(d.DistBackendError, match="collective 5 of group 0 is barrier in rank 0, and reduce in rank 1"):
        first.compare(group, 5)


@needs_mpi
@pytest.mark.once
def test_a_barrier_may_have_a_timeout_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text("""
import datetime, os, time, torch.distributed as d
d.init_process_group()
if d.get_rank():
    time.sleep(2)
    os._exit(0)
try:
    d.barrier(timeout=datetime.timedelta(seconds=0.3))
except d.DistBackendError as error:
    print(str(error).splitlines()[0], flush=True)
os._exit(0)
""")
    assert "Timed out waiting 300ms for barrier operation to complete" in ours(2, str(tmp_path / "late.py"), status=None).stdout


def test_one_process_is_a_group_without_mpi() -> None:
    program = """
import sys, retrograd as torch, retrograd.distributed as d
d.init_process_group("mpi")
x, w = torch.arange(3.0), torch.ones(2)
d.all_reduce(x, op=d.ReduceOp.AVG)
assert d.all_reduce(w, async_op=True).get_future().then(lambda f: f.value()[0] + 1).wait().tolist() == [2, 2]
ys, o, y = [torch.zeros(3)], [None], torch.zeros(3)
d.all_gather(ys, x), d.all_gather_object(o, "a"), d.reduce_scatter(y, [x]), d.barrier()
assert [ys[0].tolist(), o, y.tolist(), d.get_rank(), d.get_world_size()] == [[0, 1, 2], ["a"], [0, 1, 2], 0, 1]
group = d.new_group([0])
d.broadcast(x, 0, group=group)
for bad in ([0.0], ["0"], 0):
    try:
        d.new_group(bad)
    except TypeError:
        continue
    raise AssertionError(bad)
d.destroy_process_group()
assert not d.is_initialized() and "mpi4py" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_without_a_launcher_there_is_nobody_to_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "PMI_RANK", "OMPI_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="environment variable RANK expected, but not set"):
        d.init_process_group("gloo")
    with pytest.raises(ValueError, match="environment variable MASTER_ADDR expected, but not set"):
        d.init_process_group("gloo", rank=0, world_size=2)
    with pytest.raises(ValueError, match=r"its store is in this process.\nStart the program with: retrograd launch -n 2"):
        d.init_process_group("gloo", rank=0, world_size=2, store=d.HashStore())
    with pytest.raises(RuntimeError, match="No rendezvous handler for carrier-pigeon://"):
        d.init_process_group("gloo", "carrier-pigeon://x", rank=0, world_size=2)
    with pytest.raises(RuntimeError, match="Distributed package doesn't have NCCL built in"):
        d.init_process_group("nccl")
    with pytest.raises(AssertionError, match="Unknown backend type foo"):
        d.init_process_group("foo")
    assert not d.is_initialized()


@pytest.mark.parametrize("kind", ["hash", "file", "tcp"])
def test_stores_keep_bytes(kind: str, tmp_path: Path) -> None:
    store = {"hash": d.HashStore, "file": lambda: d.FileStore(str(tmp_path / "store"), 1),
             "tcp": lambda: d.TCPStore("127.0.0.1", 0, 1, True)}[kind]()
    store.set("a", b"\x00\xff")
    store.append("a", "b")
    assert (store.get("a"), store.add("n", 2), store.add("n", 3), store.get("n")) == (b"\x00\xffb", 2, 5, b"5")
    store.queue_push("q", b"\xfe")
    assert (store.queue_len("q"), store.queue_pop("q"), store.check(["q"])) == (1, b"\xfe", False)
    with pytest.raises(d.QueueEmptyError):
        store.queue_pop("q", block=False)
    store.set_timeout(torch.distributed.default_pg_timeout / 1e5)
    with pytest.raises(d.DistStoreError, match="wait timeout after 18ms, keys: /missing"):
        store.get("missing")
