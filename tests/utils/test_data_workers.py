"""Worker processes of a DataLoader: PyTorch's numbers and order, errors, memory, and what is left behind."""

from __future__ import annotations

import collections
import errno
import gc
import importlib
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd
import retrograd.utils.data as D

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")


@pytest.fixture(autouse=True)
def forked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Tests keep their datasets in themselves, and none of ours leaves a process, a thread or a descriptor."""
    method = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("fork", force=True)
    callspec = getattr(request.node, "callspec", None)
    theirs = callspec is not None and callspec.params.get("torch", retrograd) is not retrograd
    if theirs:                                  # PyTorch's workers take so long to end after an error
        monkeypatch.setattr(importlib.import_module("torch.utils.data._utils"), "MP_STATUS_CHECK_INTERVAL", 0.2)
    before = left()
    gc.freeze()                                 # neither workers nor the collection below look through what was there
    yield
    gc.collect()
    multiprocessing.set_start_method(method, force=True)
    if not theirs and request.node.get_closest_marker("oracle") is None:
        assert left() <= before


def left() -> collections.Counter[str]:
    """What there is of processes, threads, descriptors."""
    files = Path("/proc/self/fd")
    links = [os.readlink(f) for f in files.iterdir() if f.is_symlink()] if files.exists() else []
    return collections.Counter(
        [x.partition(":")[0] for x in links if x.startswith(("socket:", "pipe:", "/memfd"))]
        + [p.name for p in multiprocessing.active_children()] + [t.name for t in threading.enumerate()])


def data_of(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.utils.data")


def plain(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [plain(y) for y in x]
    return x.tolist() if hasattr(x, "tolist") else x


class Numbers:
    """A dataset of what its generators draw."""

    def __init__(self, torch: Any, n: int) -> None:
        self.torch = torch
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> Any:
        return i, random.random(), np.random.rand(), self.torch.rand(2), self.torch.initial_seed()


def squares(torch: Any, get: Any, n: int = 8) -> Any:
    """A dataset whose i-th sample is get(i)."""
    class Squares(data_of(torch).Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return n

        def __getitem__(self, i: int) -> Any:
            return get(i)

    return Squares()


# ---- numbers and order ----


class Eager:
    """A sampler that draws when it is asked for its iterator."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def __iter__(self) -> Any:
        return iter(self.torch.randperm(6).tolist())

    def __len__(self) -> int:
        return 6


def drawn(torch: Any) -> Any:
    data = data_of(torch)
    torch.manual_seed(7)
    random.seed(1)
    np.random.seed(2)
    found: list[Any] = []
    g = torch.Generator().manual_seed(3)
    for options in (
        {"batch_size": 3, "shuffle": True}, {"batch_size": 2, "shuffle": True, "persistent_workers": True},
        {"batch_size": None, "prefetch_factor": 1, "generator": g}, {"sampler": Eager(torch)},
        {"batch_size": 4, "sampler": data.RandomSampler(range(10), replacement=True, num_samples=70)},
    ):
        loader = data.DataLoader(Numbers(torch, 10), num_workers=2, **options)
        found += [plain(list(loader)) for _ in range(2)]
        found += [torch.rand(2).tolist(), random.random(), np.random.rand()]
    return found


@pytest.mark.oracle
def test_workers_draw_as_pytorchs_and_leave_the_programs_numbers_alone() -> None:
    torch: Any = pytest.importorskip("torch")
    assert drawn(retrograd) == drawn(torch)


def streamed(torch: Any) -> Any:
    data = data_of(torch)

    class Stream(data.IterableDataset):  # type: ignore[misc,name-defined]
        def __iter__(self) -> Any:
            info = data.get_worker_info()
            for i in range(info.id, 7 + 3 * info.id, info.num_workers):
                yield i, info.seed, torch.rand(1).item()

    torch.manual_seed(7)
    found: list[Any] = []
    for options in (
        {"batch_size": 3}, {"batch_size": 2, "persistent_workers": True, "drop_last": True}, {"batch_size": None},
    ):
        loader = data.DataLoader(Stream(), num_workers=2, **options)
        found += [plain(list(loader)) for _ in range(2)]
    return [*found, torch.rand(1).item()]


@pytest.mark.oracle
def test_streams_are_shared_out_as_pytorchs() -> None:
    torch: Any = pytest.importorskip("torch")
    assert streamed(retrograd) == streamed(torch)


def test_without_processes_the_numbers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    crew = importlib.import_module("retrograd.utils.data.crew")
    with_processes = drawn(retrograd), streamed(retrograd)

    def none_here(*args: Any) -> Any:
        raise OSError(errno.ENOSYS, "no processes")

    monkeypatch.setattr(crew, "Crew", none_here)
    assert (drawn(retrograd), streamed(retrograd)) == with_processes
    assert D.get_worker_info() is None


@both
def test_a_worker_knows_who_it_is(torch: Any) -> None:
    data = data_of(torch)

    def who(i: int) -> Any:
        info = data.get_worker_info()
        return info.id, info.num_workers, info.seed, info.dataset is dataset, os.getpid(), torch.get_num_threads()

    dataset = squares(torch, who, 2)
    torch.manual_seed(0)
    first, second = list(data.DataLoader(dataset, num_workers=2, batch_size=None))
    assert data.get_worker_info() is None
    assert first[:2] == [0, 2] and second[:2] == [1, 2] and second[2] == first[2] + 1
    assert first[3] and len({first[4], second[4], os.getpid()}) == 3 and first[5] == 1


@both
def test_what_a_worker_does_to_its_state_stays_there(torch: Any) -> None:
    seen: list[int] = []

    def init(worker: int) -> None:
        np.random.seed(worker)
        seen.append(worker)

    np.random.seed(5)
    want = np.random.RandomState(5).rand()
    loader = data_of(torch).DataLoader(
        squares(torch, lambda i: (len(seen), np.random.rand()), 2), num_workers=2, batch_size=None, worker_init_fn=init)
    assert list(loader) == [[1, np.random.RandomState(i).rand()] for i in (0, 1)]
    assert seen == [] and np.random.rand() == want


@both
def test_persistent_workers_stay(torch: Any) -> None:
    data = data_of(torch)
    kept: list[int] = []

    def get(i: int) -> Any:
        kept.append(i)
        return os.getpid(), len(kept)

    loader = data.DataLoader(squares(torch, get), num_workers=2, batch_size=None, persistent_workers=True)
    first = list(loader)
    next(iter(loader))                          # a pass given up: what it asked for comes first, and is dropped
    again = list(loader)
    assert {p for p, _ in first} == {p for p, _ in again} and min(n for _, n in again) > max(n for _, n in first)
    assert len(again) == 8
    other = list(data.DataLoader(squares(torch, get), num_workers=2, batch_size=None))
    assert {p for p, _ in other}.isdisjoint(p for p, _ in first) and max(n for _, n in other) == 4


@both
def test_out_of_order_the_quick_worker_is_not_held_up(torch: Any) -> None:
    read, write = os.pipe()

    def get(i: int) -> int:
        if i == 0:
            os.read(read, 1)                    # until the last of the other worker
        if i == 7:
            os.write(write, b"x")
        return i

    got = list(data_of(torch).DataLoader(squares(torch, get), num_workers=2, batch_size=None, in_order=False))
    assert sorted(got) == list(range(8)) and got.index(0) > got.index(5)
    os.close(read), os.close(write)


@both
def test_prefetching_is_bounded(torch: Any) -> None:
    """Four tasks, and one more for each batch taken."""
    asked = multiprocessing.Value("i", 0)

    def get(i: int) -> int:
        with asked.get_lock():
            asked.value += 1
        return i

    it = iter(data_of(torch).DataLoader(squares(torch, get, 100), num_workers=2, prefetch_factor=2))
    for taken in range(1, 4):
        next(it)
        until = time.monotonic() + 60
        while asked.value < 4 + taken and time.monotonic() < until:
            time.sleep(0.001)
        time.sleep(0.02)
        assert asked.value == 4 + taken


# ---- errors ----


class Two(Exception):
    def __init__(self, a: Any, b: Any) -> None:
        super().__init__(a, b)


def caught(it: Any) -> Any:
    try:
        return next(it)
    except Exception as error:
        lines = str(error).splitlines()
        return type(error).__name__, lines[:2], lines[-1], error.__cause__


@both
def test_an_error_comes_where_its_batch_would_have_come(torch: Any) -> None:
    def get(i: int) -> int:
        if i == 2:
            raise KeyError("two")
        if i == 3:
            raise Two("a", "b")
        if i == 4:
            raise StopIteration
        return i

    it = iter(data_of(torch).DataLoader(squares(torch, get, 6), num_workers=2, batch_size=None))
    assert [caught(it) for _ in range(6)] == [
        0, 1,
        ("KeyError", ["Caught KeyError in DataLoader worker process 0.", "Original Traceback (most recent call last):"],
         "KeyError: 'two'", None),
        ("RuntimeError", ["Caught Two in DataLoader worker process 1.", "Original Traceback (most recent call last):"],
         f"{__name__}.Two: ('a', 'b')", None),
        ("StopIteration", ["Caught StopIteration in DataLoader worker process 0.",
                           "Original Traceback (most recent call last):"], "StopIteration", None),
        5]


@both
def test_an_error_of_worker_init_fn_is_raised(torch: Any) -> None:
    it = iter(data_of(torch).DataLoader(squares(torch, int), num_workers=1, worker_init_fn=lambda i: 1 / 0))
    with pytest.raises(ZeroDivisionError, match="Caught ZeroDivisionError in DataLoader worker process 0.\nOriginal"):
        next(it)


def test_what_cannot_be_handed_over_is_an_error_and_not_silence() -> None:
    class Local(ValueError):
        pass

    def get(i: int) -> Any:
        if i == 0:
            return lambda: i
        if i == 1:
            return retrograd.ones(2, requires_grad=True) * 2
        raise Local("here")

    it = iter(D.DataLoader(squares(retrograd, get), num_workers=1, batch_size=None))
    with pytest.raises((AttributeError, pickle.PicklingError), match="Can't (pickle|get) local object"):     # by version
        next(it)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
        next(it)
    with pytest.raises(ValueError, match="Caught Local in DataLoader worker process 0"):
        next(it)


@both
def test_a_killed_worker_is_noticed(torch: Any) -> None:
    def get(i: int) -> int:
        if i == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return i

    it = iter(data_of(torch).DataLoader(squares(torch, get), num_workers=2, batch_size=None))
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly") as error:
        list(it)
    assert "is killed by signal: Killed. " in str(error.value.__cause__)


def test_a_worker_that_exits_says_how() -> None:
    it = iter(D.DataLoader(squares(retrograd, lambda i: sys.exit(3)), num_workers=1))
    with pytest.raises(RuntimeError, match="exited unexpectedly") as error:
        next(it)
    assert "exited unexpectedly with exit code 3. Details are lost due to mul" in str(error.value.__cause__)


def test_a_worker_is_noticed_whose_child_outlives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child keeps the socket open, so nothing on it tells."""
    monkeypatch.setattr(importlib.import_module("retrograd.utils.data.crew"), "LOOK", 0.05)
    read, write = os.pipe()

    def get(i: int) -> Any:
        if not os.fork():
            os.close(write)
            os.read(read, 1)                    # until the test is over
        os._exit(1)

    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(D.DataLoader(squares(retrograd, get), num_workers=1))
    os.close(read), os.close(write)


@both
def test_timeout(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.05 seconds"):
        list(data_of(torch).DataLoader(squares(torch, lambda i: time.sleep(0.5)), num_workers=1, timeout=0.05))


@both
def test_contexts(torch: Any) -> None:
    data = data_of(torch)
    loader = data.DataLoader(range(3), num_workers=1, multiprocessing_context="fork")
    assert loader.multiprocessing_context is multiprocessing.get_context("fork") and len(list(loader)) == 3
    loader.multiprocessing_context = None
    with pytest.raises(ValueError, match="multiprocessing_context option should specify a valid start method in .*'x'"):
        data.DataLoader(range(3), num_workers=1, multiprocessing_context="x")
    with pytest.raises(TypeError, match="multiprocessing_context option should be a valid context object or a string"):
        data.DataLoader(range(3), num_workers=1, multiprocessing_context=3)
    if torch is retrograd:                      # PyTorch's leaves a warning, too
        with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0 for MultiProcessingDataLo"):
            iter(data.DataLoader(range(3), num_workers=1, prefetch_factor=0))


# ---- memory ----


@both
def test_large_tensors_come_whole(torch: Any) -> None:
    big = torch.arange(60_000.0).view(200, 300)

    def get(i: int) -> Any:
        return [big, big, big.t(), big[:, ::2], big[:, :1], torch.ones(1).expand(300, 300), big > 3, torch.zeros(0, 3),
                {"array": big.numpy().copy(), "bytes": b"x" * 100_000}, torch.nn.Parameter(torch.ones(2))]

    loader = data_of(torch).DataLoader(squares(torch, get), num_workers=1, batch_size=None, collate_fn=lambda x: x)
    got = next(iter(loader))
    for x, y in zip(got[:8], get(0)):
        assert torch.equal(x, y) and x.dtype is y.dtype and x.shape == y.shape
    assert [x.stride() for x in got[:4]] == [(300, 1), (300, 1), (1, 300), (300, 2)] and got[5].stride() == (0, 0)
    assert got[0] is got[1] and got[8]["bytes"] == b"x" * 100_000 and got[8]["array"].flags.writeable
    assert np.array_equal(got[8]["array"], big.numpy())
    assert type(got[9]) is torch.nn.Parameter and got[9].requires_grad
    assert got[0].is_shared() and got[0][1:].is_shared() and not got[7].is_shared() and not got[0].clone().is_shared()
    got[0][0, 1] = -1.0
    assert got[2][1, 0] == -1


def test_a_small_view_does_not_bring_the_block_that_it_shows() -> None:
    handover = importlib.import_module("retrograd.utils.data.handover")
    big = retrograd.zeros(1000, 1000)
    for part in (big[0], big[:, 0], big[3:5, 7:9]):
        text, blocks = handover.pack(part, True)
        assert len(text) < 10_000 and blocks == []


def test_more_batches_than_descriptors_may_be_kept() -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    handover = importlib.import_module("retrograd.utils.data.handover")
    resource.setrlimit(resource.RLIMIT_NOFILE, (handover.MAPPED + 100, limits[1]))
    try:
        loader = D.DataLoader(squares(retrograd, lambda i: retrograd.full((20_000,), float(i)), 350), num_workers=2)
        batches = list(loader)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert [b[0, -1].item() for b in batches] == list(range(350))


@both
def test_long_lists_of_indices_and_long_batches_do_not_wait_for_each_other(torch: Any) -> None:
    n = 60_000
    loader = data_of(torch).DataLoader(
        range(n * 4), num_workers=1, prefetch_factor=4, batch_sampler=[list(range(i * n, i * n + n)) for i in range(4)],
        collate_fn=lambda batch: [str(i) for i in batch])
    assert [len(b) for b in loader] == [n] * 4


# ---- what is left behind ----


@both
def test_a_pass_given_up_leaves_nothing(torch: Any) -> None:
    before = left()
    it = iter(data_of(torch).DataLoader(
        squares(torch, lambda i: torch.ones(100_000), 1000), num_workers=2, prefetch_factor=8))
    next(it)
    assert len(multiprocessing.active_children()) == 2
    del it
    gc.collect()
    until = time.monotonic() + 10
    while torch is not retrograd and left() != before and time.monotonic() < until:
        time.sleep(0.01)                        # PyTorch's threads end a little later
    assert left() == before


def test_workers_do_not_keep_each_other() -> None:
    """Two passes at a time: each end belongs to one process."""
    one, two = (iter(D.DataLoader(squares(retrograd, int, 50), num_workers=2)) for _ in range(2))
    assert next(one).item() == next(two).item() == 0
    first = multiprocessing.active_children()
    del one
    assert len(multiprocessing.active_children()) == 2 < len(first)
    assert [b.item() for b in two] == list(range(1, 50))


def test_locks_that_other_threads_hold_do_not_stop_workers() -> None:
    held, over = threading.Event(), threading.Event()
    generator = retrograd.Generator()

    def hold() -> None:
        with retrograd.default_generator._lock, generator._lock:
            held.set()
            over.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    try:
        it = iter(D.DataLoader(
            squares(retrograd, lambda i: retrograd.rand(1, generator=generator)), num_workers=1, timeout=20,
            generator=retrograd.Generator()))
        assert next(it).shape == (1, 1)
    finally:
        over.set()
        thread.join()


PROGRAM = """
    import os, sys, time
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Slow(Dataset):
        def __len__(self):
            return 100
        def __getitem__(self, i):
            os.write(1, f"{os.getpid()}\\n".encode())
            time.sleep(0.01)
            return torch.ones(100_000)

    it = iter(DataLoader(Slow(), num_workers=2, multiprocessing_context="fork"))
    next(it), next(it)
    os.write(1, b"ready\\n")
    time.sleep(60)
"""


def started(tmp_path: Path) -> tuple[Any, set[int]]:
    """A program in the middle of a pass, in a process group of its own, and its workers."""
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))
    process = subprocess.Popen(
        [sys.executable, "-m", "retrograd", "run", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True)
    assert process.stdout is not None
    pids = set()
    for line in process.stdout:
        if line == "ready\n":
            break
        pids.add(int(line))
    assert len(pids) == 2
    return process, pids


def all_end(pids: set[int]) -> bool:
    until = time.monotonic() + 30
    while pids and time.monotonic() < until:
        pids = {p for p in pids if running(p)}
        time.sleep(0.01)
    return not pids


def running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_workers_end_with_a_killed_program(tmp_path: Path) -> None:
    process, pids = started(tmp_path)
    process.kill()
    process.communicate()
    assert all_end(pids)


def test_ctrl_c_is_shown_once(tmp_path: Path) -> None:
    process, pids = started(tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert errors.count("KeyboardInterrupt") == 1 and errors.count("Traceback") == 1 and process.returncode == 130, errors
    assert all_end(pids)


def test_spawned_workers_of_a_script_import_retrograd_as_torch(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent("""
        import torch, sys
        from torch.utils.data import DataLoader, Dataset

        class Mine(ValueError):
            pass

        class Samples(Dataset):
            def __init__(self):
                self.x = torch.arange(4.0)
            def __len__(self):
                return 4
            def __getitem__(self, i):
                if i == 3:
                    raise Mine("three")
                return torch.full((30_000,), i) + self.x[i], torch.__name__, __name__, torch.initial_seed()

        if __name__ == "__main__":
            torch.manual_seed(0)
            it = iter(DataLoader(Samples(), num_workers=1, batch_size=None, multiprocessing_context="spawn"))
            seed = torch.manual_seed(0) and torch.empty((), dtype=torch.int64).random_().item()
            for _ in range(3):
                x, name, module, seeded = next(it)
                print(x[-1].item(), name, module, seeded == seed)
            torch.save(x, sys.argv[1])
            print(torch.load(sys.argv[1]).shape)
            try:
                next(it)
            except Mine as error:
                print(str(error).splitlines()[0])
    """))
    done = subprocess.run(
        [sys.executable, "-m", "retrograd", "run", str(path), str(tmp_path / "x.pt")], capture_output=True, text=True)
    assert (done.stdout.splitlines(), done.stderr) == (
        [f"{2 * i}.0 torch __mp_main__ True" for i in range(3)] + [
            "torch.Size([30000])", "Caught Mine in DataLoader worker process 0."], "")
