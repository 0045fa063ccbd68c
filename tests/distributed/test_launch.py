"""retrograd launch, programs as torchrun starts them, and ranks that fail, stop or go astray."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from retrograd.distributed.watch import lives

from .ranks import HERE, QUIET, ended, found, needs_mpi

pytestmark = [needs_mpi, pytest.mark.once]
LAUNCH = [sys.executable, "-m", "retrograd", "launch"]
PROGRAM = """
import os, sys
import torch.distributed as dist
names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")
before = [int(os.environ[name]) for name in names]
dist.init_process_group()
assert [dist.get_rank(), dist.get_node_local_rank(), dist.get_world_size(), dist.get_world_size()] == before
assert dist.is_torchelastic_launched() and os.environ["MASTER_ADDR"] and os.environ["MASTER_PORT"]
print("rank", before[0], sys.argv[1:])
dist.destroy_process_group()
"""


def launched(*arguments: str, status: int | None = 0, **env: str) -> subprocess.CompletedProcess[str]:
    return ended([*LAUNCH, *arguments], 60, env, status)


def test_a_program_for_torchrun_runs_unchanged_and_its_lines_say_their_ranks(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    done = launched("-n", "3", str(tmp_path / "train.py"), "-n", "5")
    assert sorted(done.stdout.splitlines()) == [f"[{i}] rank {i} ['-n', '5']" for i in range(3)]


def test_a_rank_that_raises_ends_all_with_its_traceback() -> None:
    done = launched("-n", "2", str(HERE / "faults.py"), "7", "raise", status=1)
    assert "[1] ValueError: enough" in done.stderr and "[0] end" not in done.stdout
    assert_gone(done.stdout)


def test_a_rank_that_is_killed_ends_all_and_is_named() -> None:
    done = launched("-n", "2", str(HERE / "faults.py"), "13", "kill", status=9)
    assert re.search(r"retrograd: rank 1 \(process \d+\) was killed by signal 9; the other ranks were ended", done.stderr)
    assert_gone(done.stdout)


@pytest.mark.parametrize("how, text", [
    ("exit", r"rank 1 \(process \d+\) has ended while rank 0 waits in all_reduce"),
    ("branch", r"ranks took different branches: call \d+ of group 0 is (all_reduce|broadcast) in rank \d at faults.py:\d+, and "
               r"(all_reduce|broadcast) in rank \d at faults.py:\d+"),
    ("sleep", r"Timed out waiting 1000ms for all_reduce operation to complete\n\s+rank 0 waits in call \d+ of group 0, "
              r"all_reduce"),
])
def test_who_waits_in_vain_says_for_whom(how: str, text: str) -> None:
    command = [found() or "", "-n", "2", sys.executable, "-m", "retrograd", "run",
               str(HERE / "faults.py"), "20", how]
    done = ended(command, 60, {"SECONDS": "1" if how == "sleep" else "10"}, None)
    assert done.returncode != 0 and re.search(text, done.stderr.replace("\n[0] ", "\n")), done.stderr
    assert_gone(done.stdout)


def test_an_interrupt_ends_all_ranks() -> None:
    process = subprocess.Popen([*LAUNCH, "-n", "2", str(HERE / "faults.py"), "7", "sleep"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, env=os.environ | QUIET, start_new_session=True)
    try:
        assert process.stdout is not None
        said = process.stdout.readline() + process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(30) == 130
        assert_gone(said)
    finally:
        process.kill()
        process.communicate()


def assert_gone(said: str) -> None:
    """No rank is left."""
    processes = [int(number) for number in re.findall(r"process (\d+)", said)]
    assert len(processes) == 2
    end = time.monotonic() + 10
    while any(map(lives, processes)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(lives, processes))


def test_what_cannot_be_launched_is_said() -> None:
    assert "argument -n: there are no 0 ranks" in launched("-n", "0", "x.py", status=2).stderr
    assert "a script is to be named" in launched("-n", "2", status=2).stderr
    assert "cannot open 'nowhere.py'" in launched("-n", "2", "nowhere.py", status=None).stderr
