"""torch.multiprocessing and torch.futures: what processes share, what they are sent, how they fail."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

import pytest

import retrograd as torch
import retrograd.multiprocessing as mp
from retrograd import nn
from retrograd.futures import Future, collect_all, wait_all

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="fork")


def add_one(i: int, x: Any) -> None:
    x[i] += 1


def fail(i: int, how: str) -> None:
    if how in ("raise", "both") and i == 1:
        raise ValueError("no good")
    if how == "exit" or how == "both":
        sys.exit(3)
    if how == "signal":
        os.kill(os.getpid(), signal.SIGTERM)


def answer(given: Any, back: Any) -> None:
    x, plain = given.get()
    x += 1
    plain += 1
    back.put((x, plain))
    given.get()


def train(model: Any, steps: int) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_what_processes_write_into_shared_memory_is_seen(method: str) -> None:
    x = torch.zeros(3)
    assert not x.is_shared() and x.share_memory_() is x and x.is_shared() and x[1:].is_shared()
    mp.start_processes(add_one, (x,), nprocs=3, start_method=method)
    assert x.tolist() == [1, 1, 1]


def test_a_shared_model_is_trained_by_another_process() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh()).share_memory()
    before = [p.clone() for p in model.parameters()]
    worker = mp.get_context("fork").Process(target=train, args=(model, 3))
    worker.start()
    worker.join()
    torch.manual_seed(0)
    alone = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    train(alone, 3)
    assert worker.exitcode == 0 and not torch.equal(before[0], model[0].weight)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), alone.parameters()))


def test_a_queue_carries_shared_tensors_as_they_are_and_others_as_copies() -> None:
    context = mp.get_context("fork")
    given, back = context.Queue(), context.Queue()
    x, plain = torch.zeros(2).share_memory_(), torch.zeros(2)
    worker = context.Process(target=answer, args=(given, back))
    worker.start()
    given.put((x, plain))
    got, copied = back.get()
    assert x.tolist() == got.tolist() == copied.tolist() == [1, 1] and plain.tolist() == [0, 0]
    got += 1
    assert x.tolist() == [2, 2]
    given.put(None)
    worker.join()


def test_large_tensors_arrive_as_copies_with_their_strides() -> None:
    context = mp.get_context("fork")
    given, back = context.Queue(), context.Queue()
    x, plain = torch.zeros(2).share_memory_(), torch.arange(1 << 20).view(2, -1).t().double()
    worker = context.Process(target=answer, args=(given, back), daemon=True)
    worker.start()
    given.put((x, plain))
    _, copied = back.get(timeout=60)
    assert copied.stride() == plain.stride() == (1, 1 << 19) and torch.equal(copied, plain + 1) and plain[0, 0] == 0
    given.put(None)
    worker.join()


def test_parameters_and_gradients_stay_what_they_were() -> None:
    p = nn.Parameter(torch.ones(2, 3).t())
    q = p.share_memory_()
    assert q is p and isinstance(p, nn.Parameter) and p.requires_grad and p.stride() == (1, 3) and p.tolist() == [[1, 1]] * 3
    (p * 2).sum().backward()
    assert p.grad.tolist() == [[2, 2]] * 3
    with pytest.raises(RuntimeError, match="a view of another one's memory"):
        torch.zeros(4)[1:].share_memory_()


@pytest.mark.parametrize("how, kind, text", [
    ("raise", mp.ProcessRaisedException, "(?s)^\n\n-- Process 1 terminated with the following error:\n.*ValueError: no good"),
    ("exit", mp.ProcessExitedException, "^process [01] terminated with exit code 3$"),
    ("signal", mp.ProcessExitedException, "^process [01] terminated with signal SIGTERM$"),
])
def test_a_process_that_fails_is_raised(how: str, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text):
        mp.start_processes(fail, (how,), nprocs=2, start_method="fork")


def test_of_two_that_failed_the_one_that_says_why_is_raised() -> None:
    """MPI ends the other ranks with a status of their own."""
    context = mp.start_processes(fail, ("both",), nprocs=2, join=False, start_method="fork")
    assert context is not None
    for process in context.processes:
        process.join()
    with pytest.raises(mp.ProcessRaisedException, match="Process 1 terminated with the following error") as raised:
        context.join()
    assert raised.value.error_index == 1


def test_names_are_those_of_multiprocessing() -> None:
    assert mp.Queue and mp.cpu_count() == os.cpu_count() and mp.get_sharing_strategy() == "file_descriptor"
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() == "file_system"
    mp.set_sharing_strategy("file_descriptor")


def test_futures_hand_on_results_and_errors() -> None:
    first: Future[int] = Future()
    second = first.then(lambda f: f.value() + 1)
    bad = second.then(lambda f: 1 / 0)
    seen: list[int] = []
    first.add_done_callback(lambda f: seen.append(f.value()))
    with pytest.raises(RuntimeError):
        first.value()
    threading.Timer(0.01, first.set_result, (3,)).start()
    assert second.wait() == 4 and first.done() and seen == [3]
    with pytest.raises(RuntimeError, match="^Got the following error when running the callback: ZeroDivisionError"):
        bad.wait()
    with pytest.raises(RuntimeError, match="^Attempting to mark a completed Future as complete again"):
        first.set_result(4)
    assert wait_all([first, second]) == [3, 4] and [f.wait() for f in collect_all([second]).wait()] == [4]
    assert collect_all([]).wait() == []
    failed: Future[int] = Future()
    failed.set_exception(KeyError("x"))
    with pytest.raises(KeyError):
        wait_all([first, failed])
    with pytest.raises(AssertionError, match="x is of type <class 'str'>, not an Exception"):
        Future().set_exception("x")


def test_an_unknown_sharing_strategy_is_refused() -> None:
    with pytest.raises(AssertionError, match="invalid sharing strategy 'pigeon', expected one of {'file_"):
        mp.set_sharing_strategy("pigeon")
