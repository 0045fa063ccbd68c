"""The cache of array memory keeps what it was given, lets go of what it should, and survives threads, forks and exits."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd import _kernels
from retrograd._kernels import blocks as inner
from retrograd.utils import blocks

MIB = 1 << 20
native = pytest.mark.skipif(_kernels.nn is None, reason="the pure build has no cache")


@pytest.fixture(autouse=True)
def default_limit() -> Any:
    yield
    blocks.limit(inner.DEFAULT)


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300, env=os.environ | environment
    )
    return done.stdout.strip()


def churn(seed: int, turns: int) -> None:
    """Arrays of all sizes, made, checked and dropped in random order."""
    r = random.Random(seed)
    live: list[tuple[Any, int]] = []
    for i in range(turns):
        n = int(2 ** r.uniform(0, 22))
        value = i % 127 if i % 2 else 0
        live.append((np.full(n, value, "i1") if i % 2 else np.zeros(n, "i1"), value))
        if len(live) > 30:
            array, value = live.pop(r.randrange(len(live)))
            assert (array == value).all()


def test_blocks_do_not_overlap_and_zeros_are_zero() -> None:
    churn(0, 3000)
    assert blocks.stats().kept <= inner.DEFAULT * MIB


def test_stats_without_native_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inner, "nn", None)
    blocks.limit(3)
    blocks.clear()
    inner.start()
    assert blocks.stats() == blocks.Stats(0, 0, 0, 0, 0)


@native
def test_backward_reuses_blocks() -> None:
    blocks.clear()
    x = torch.ones(300_000, requires_grad=True)
    for _ in range(3):
        (x * x * x).sum().backward()
        before = blocks.stats()
    x.grad = None
    (x * x * x).sum().backward()
    after = blocks.stats()
    assert after.reused > before.reused
    assert after.limit == inner.DEFAULT * MIB


@native
def test_what_is_kept_is_bounded() -> None:
    blocks.limit(4)
    big = [np.ones(MIB, "i1") for _ in range(8)]
    del big
    assert 0 < blocks.stats().kept <= 4 * MIB
    huge = np.ones(100 * MIB, "i1")             # larger than any class: never kept
    del huge
    assert blocks.stats().kept <= 4 * MIB
    blocks.clear()
    assert blocks.stats().kept == 0
    blocks.limit(0)
    made = blocks.stats()
    array = np.ones(MIB, "i1")
    del array
    assert blocks.stats() == made and made.limit == 0
    with pytest.raises(ValueError, match="expected MiB"):
        blocks.limit(-1)


@native
def test_sizes_that_numpy_misreports() -> None:
    """An empty array with long other dims, and arrays that change their size."""
    for _ in range(3):
        assert np.zeros((0, MIB)).size == 0
    for n, more in ((10, 2000), (3000, 10), (MIB, 3 * MIB), (9 * MIB, 12 * MIB), (12 * MIB, 5), (5, 9 * MIB)):
        array = np.arange(n, dtype="f8")
        array.resize(more, refcheck=False)
        kept = min(n, more)
        assert (array[:kept] == np.arange(kept)).all() and not array[kept:].any()


def test_arrays_cross_threads() -> None:
    """Made in one, dropped in another, with and without the cache."""
    made: list[Any] = []

    def work(seed: int) -> None:
        churn(seed, 600)
        x = torch.ones(50_000, requires_grad=True)
        (x * 2).sum().backward()
        made.append(x.grad)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(made) == 4 and all((g.numpy() == 2).all() for g in made)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_fork_and_exit() -> None:
    code = """
import os, sys
import numpy as np, retrograd as torch
x = torch.ones(300_000, requires_grad=True)
(x * x).sum().backward()
child = os.fork()
x.grad = None
(x * x * x).sum().backward()
assert (x.grad.numpy() == 3).all()
if child == 0:
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
sys.kept_until_the_end = [np.ones(n) for n in (1, 1000, 1_000_000)]
print("fine")
"""
    assert run(code) == "fine"


@native
def test_the_environment_sets_the_limit() -> None:
    code = "import retrograd.utils.blocks as b, numpy as np; np.ones(10**6); s = b.stats(); print(s.limit, s.made > 0)"
    assert run(code, RETROGRAD_BLOCK_CACHE="0") == "0 False"
    assert run(code, RETROGRAD_BLOCK_CACHE="8") == f"{8 * MIB} True"
    assert run(code, RETROGRAD_BLOCK_CACHE=" ") == f"{inner.DEFAULT * MIB} True"
    for huge in (str(2**60), "9" * 5000):
        assert run(code, RETROGRAD_BLOCK_CACHE=huge) == f"{inner.MOST * MIB} True"


@pytest.mark.parametrize("text", ["much", "-1", "1.5"])
def test_an_environment_without_a_number_warns_and_changes_nothing(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETROGRAD_BLOCK_CACHE", text)
    with pytest.warns(RuntimeWarning, match="expected the MiB that the block cache may keep"):
        assert inner.asked() == inner.DEFAULT


@native
def test_arrays_resized_without_the_gil_share_no_block_with_others() -> None:
    """np.fromstring parses, and asks for more memory, while other threads allocate."""
    text = "1 " * 20_000
    wrong: list[str] = []
    done = threading.Event()

    def warm() -> None:
        (torch.ones(3, requires_grad=True) * 2).sum().backward()      # from here on the thread uses the cache

    def parse() -> None:
        warm()
        for _ in range(40):
            if not np.array_equal(np.fromstring(text, sep=" "), np.ones(20_000)):
                wrong.append("parsed")

    def make() -> None:
        warm()
        while not done.is_set():
            live = [np.empty(4096 * 8 * k, "i1") for k in range(1, 6) for _ in range(6)]
            if len({x.ctypes.data for x in live}) < len(live):
                wrong.append("made")

    parsers = [threading.Thread(target=parse) for _ in range(2)]
    maker = threading.Thread(target=make)
    for thread in (maker, *parsers):
        thread.start()
    for thread in parsers:
        thread.join()
    done.set()
    maker.join()
    assert wrong == []
