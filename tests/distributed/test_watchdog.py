"""The watchdog tells a hang from slowness, and says which rank is where."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from retrograd.microscope import watchdog

from .ranks import HERE, ended, found, needs_mpi

MARKED = {"slow": "computes", "sleep": "stands", "branch": "goes astray"}


def said(how: str, folder: Path) -> str:
    command = [found() or "", "-n", "2", sys.executable, "-m", "retrograd", "run", str(HERE / "watched.py"), str(folder), how]
    return ended(command, 60, {}, None).stdout


@needs_mpi
@pytest.mark.once
@pytest.mark.alone
@pytest.mark.parametrize("how, text", [
    ("none", ""),
    ("slow", r"slow: rank 1, at work, still to come\n  rank 0 waits in all_reduce at watched.py:\d+, for \d.\d s\n"
             r"  rank 1 computes at watched.py:\d+"),
    ("sleep", r"stuck: rank 1 neither computes nor waits for ranks\n  rank 0 waits in all_reduce at watched.py:\d+.*\n"
              r"  rank 1 neither computes nor waits for ranks at watched.py:LINE"),
])
def test_who_is_slow_or_stands_still_is_said_with_lines(how: str, text: str, tmp_path: Path) -> None:
    program = (HERE / "watched.py").read_text().splitlines()
    line = next((i + 1 for i, one in enumerate(program) if how in MARKED and one.endswith(f"# {MARKED[how]}")), 0)
    got = said(how, tmp_path)
    assert re.search(text.replace("LINE", str(line)), got) if text else not re.search("slow|hang|stuck", got), got


@pytest.fixture
def two_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    return tmp_path


@pytest.mark.parametrize("other, code, text", [
    ({"state": "waits", "call": "barrier", "line": "b.py:2"}, "hang",
     "ranks are in different calls: all_reduce at a.py:1, barrier at b.py:2"),
    ({"state": "waits", "call": "all_reduce", "line": "a.py:1"}, "hang", "all ranks wait in all_reduce, and nothing comes"),
    ({"state": "left"}, "hang", "rank 1 has left the watched block"),
    ({"state": "computes", "process": 2 ** 22 + 1}, "hang", "rank 1 has ended"),
    ({"state": "computes", "written": 0}, "stuck", "rank 1 does not answer"),
    ({"state": "computes"}, "slow", "rank 1, at work, still to come"),
    ({"state": "stands"}, "stuck", "rank 1 neither computes nor waits for ranks"),
    ({"state": "stands", "since": 0.1}, "fine", "not decided yet"),
])
def test_what_the_ranks_say_decides(two_ranks: Path, other: dict[str, Any], code: str, text: str) -> None:
    dog = watchdog(1.0, folder=two_ranks)
    here = {"process": os.getpid(), "line": "a.py:1", "call": "", "number": 4, "since": 5.0, "written": time.time(),
            "host": os.uname().nodename}
    for rank, place in enumerate(({"state": "waits", "call": "all_reduce"}, other)):
        (two_ranks / str(rank)).write_text(json.dumps({"rank": rank, **here, **place}))
    verdict = dog.verdict()
    assert (verdict.code, verdict.text) == (code, text) and str(verdict).count("\n") == 2


def test_a_process_that_is_no_rank_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="this process is not a rank"):
        watchdog()
    with pytest.raises(ValueError, match="must be positive"):
        watchdog(0)
