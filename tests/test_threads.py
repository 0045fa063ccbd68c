"""set_num_threads and get_num_threads: what BLAS is told, and what is said where nobody can tell it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd import _threads


@pytest.fixture(autouse=True)
def as_before() -> Any:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_blas_is_told() -> None:
    info = pytest.importorskip("threadpoolctl").threadpool_info
    for n in (1, 2):
        torch.set_num_threads(n)
        assert torch.get_num_threads() == n
        assert [pool["num_threads"] for pool in info() if pool["user_api"] == "blas"] == [n] * len(_threads.pools())


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "a positive integer"), (-1, "a positive integer"), (1.5, "an int, but got float"), ("2", "an int, but got str"),
     (True, "an int, but got bool"), (None, "an int, but got NoneType")])  # fmt: skip
def test_what_is_no_number_of_threads(value: Any, text: str) -> None:
    with pytest.raises(RuntimeError, match=f"set_num_threads expects {text}$"):
        torch.set_num_threads(value)


def test_without_threadpoolctl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_threads, "pools", lambda: None)
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
