"""set_num_threads and get_num_threads: what BLAS is told, and what is said where nobody can tell it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd import _kernels
from retrograd._kernels import threads


@pytest.fixture(autouse=True)
def as_before() -> Any:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_blas_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    info = pytest.importorskip("threadpoolctl").threadpool_info
    monkeypatch.setattr(threads, "_pools", None)        # other tests may have loaded another BLAS since
    for n in (1, 2):
        torch.set_num_threads(n)
        assert torch.get_num_threads() == n
        assert [pool["num_threads"] for pool in info() if pool["user_api"] == "blas"] == [n] * len(threads.pools())


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "a positive integer"), (-1, "a positive integer"), (1.5, "an int, but got float"), ("2", "an int, but got str"),
     (True, "an int, but got bool"), (None, "an int, but got NoneType")])  # fmt: skip
def test_what_is_no_number_of_threads(value: Any, text: str) -> None:
    with pytest.raises(RuntimeError, match=f"set_num_threads expects {text}$"):
        torch.set_num_threads(value)


def test_without_threadpoolctl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "pools", lambda: None)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    assert torch.get_num_threads() == 3
    torch.set_num_threads(3)                    # nothing to change
    with pytest.warns(UserWarning, match=re.escape("pip install 'retrograd[threads]'")):
        torch.set_num_threads(1)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert torch.get_num_threads() >= 1


def test_import_leaves_threadpoolctl_alone() -> None:
    root = str(Path(torch.__file__).resolve().parent.parent)
    code = f"import sys; sys.path.insert(0, {root!r}); import retrograd; print('threadpoolctl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def convolution() -> bytes:
    """Enough multiplications for several threads, forward and backward; its bits."""
    x = torch.tensor(np.random.RandomState(0).randn(32, 16, 12, 12), dtype=torch.float32)
    w = torch.tensor(np.random.RandomState(1).randn(24, 16, 3, 3), dtype=torch.float32, requires_grad=True)
    y = torch.nn.functional.conv2d(x, w, padding=1)
    y.backward(torch.ones_like(y))
    return y.detach().numpy().tobytes() + w.grad.numpy().tobytes()


def test_callers_at_the_same_time_get_the_same_bits() -> None:
    """Where the threads are busy for one caller, the other does all parts itself."""
    torch.set_num_threads(2)
    alone = convolution()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: convolution(), range(24))) == {alone}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_of_fork_makes_threads_of_its_own() -> None:
    """The child has none of its parent's threads; to wait for them would never end."""
    root, here = (str(Path(p).resolve().parent) for p in (Path(torch.__file__).parent, __file__))
    code = (
        f"import sys; sys.path[:0] = [{root!r}, {here!r}]\n"
        "import os, test_threads as t\n"
        "t.torch.set_num_threads(3)\n"
        "before = t.convolution()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if t.convolution() == before else 3)\n"
        "print(os.waitpid(child, 0)[1], t.convolution() == before)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert (done.stdout, done.returncode) == ("0 True\n", 0), done.stderr


@pytest.mark.skipif(_kernels.nn is None, reason="the pure build has no kernels")
def test_one_thread_is_the_whole_of_several() -> None:
    """To rounding: the gradient of the weight is summed in as many parts as there are threads."""
    found = []
    for n in (1, 2, 5):
        torch.set_num_threads(n)
        found.append(np.frombuffer(convolution(), np.float32))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-4, atol=1e-3)
