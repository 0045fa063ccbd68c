"""retrograd launch, programs as torchrun starts them, and ranks that fail, stop or go astray."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from retrograd.cli import launch
from retrograd.cli.launch import CannotLaunch, Ranks, report
from retrograd.distributed import run
from retrograd.distributed.environment import free_port
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
print("rank", before[0], sys.argv[1:], "\\nand more")
dist.destroy_process_group()
"""


def launched(*arguments: str, status: int | None = 0, **env: str) -> subprocess.CompletedProcess[str]:
    return ended([*LAUNCH, *arguments], 60, env, status)


def test_a_program_for_torchrun_runs_unchanged_and_its_lines_say_their_ranks(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    done = launched("-n", "3", str(tmp_path / "train.py"), "-n", "5")
    assert sorted(done.stdout.splitlines()) == [
        f"[{i}] {line}" for i in range(3) for line in ("and more", f"rank {i} ['-n', '5'] ")]


def test_lines_of_several_ranks_do_not_mix(tmp_path: Path) -> None:
    (tmp_path / "say.py").write_text("for i in range(200): print('a', i, '\\nb', 'c', flush=i % 2 == 0)\n")
    done = launched("-n", "3", str(tmp_path / "say.py"))
    lines = done.stdout.splitlines()
    assert sorted(lines) == sorted(line for r in range(3) for i in range(200) for line in (f"[{r}] a {i} ", f"[{r}] b c"))


def test_a_rank_that_raises_ends_all_with_its_traceback() -> None:
    done = launched("-n", "2", str(HERE / "faults.py"), "7", "raise", status=1)
    assert "[1] ValueError: enough" in done.stderr and "[0] end" not in done.stdout
    assert_gone(done.stdout)


@pytest.mark.parametrize("point, text", [("20", "; the other ranks were ended"), ("1000", "")])
def test_the_launcher_ends_with_the_status_of_the_rank_that_failed_first(point: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "end.py").write_text(END)
    done = launched("-n", "2", str(tmp_path / "end.py"), point, status=3)
    assert re.search(rf"retrograd: rank 1 \(process \d+\) ended with status 3{text}\n$", done.stderr), done.stderr


END = """
import sys
import torch.distributed as d
d.init_process_group("mpi")
if d.get_rank() == 1 and sys.argv[1] == "20":
    sys.exit(3)
d.barrier()
d.destroy_process_group()
sys.exit(3 * int(sys.argv[1] == "1000" and "1" in __import__("os").environ["RANK"]))
"""
TOGETHER = """
import sys
from retrograd.cli.run import execute
def fall(n):
    if n:
        fall(n - 1) if n % 2 else fall(n - 1)
    raise ValueError("both " * 2000)
for _ in range(5):
    execute(compile("fall(99)", "fall.py", "exec"), {"fall": fall})
"""


def test_tracebacks_of_ranks_that_fail_together_come_out_in_one_piece_each(tmp_path: Path) -> None:
    (tmp_path / "fall.py").write_text(TOGETHER)
    lines = launched("-n", "3", str(tmp_path / "fall.py")).stderr.splitlines()
    begins = [i for i, line in enumerate(lines) if line[4:] == "Traceback (most recent call last):"]
    assert len(begins) == 15 and {line[:3] for line in lines} == {"[0]", "[1]", "[2]"}
    for begin, end in zip(begins, [*begins[1:], len(lines)]):
        assert {line[:3] for line in lines[begin:end]} == {lines[begin][:3]} and lines[end - 1][4:].startswith("ValueError: both")


def test_what_the_program_told_faulthandler_and_its_alarm_stand(tmp_path: Path) -> None:
    (tmp_path / "watched.py").write_text("""
import faulthandler, signal, time
import torch.distributed as d
rang = []
signal.signal(signal.SIGALRM, lambda *_: rang.append(1))
signal.setitimer(signal.ITIMER_REAL, 2)
faulthandler.dump_traceback_later(2)
d.init_process_group("mpi")
d.destroy_process_group()
end = time.monotonic() + 3
while not rang and time.monotonic() < end:
    time.sleep(0.1)
time.sleep(0.2)
print("rang", rang)
""")
    done = launched("-n", "2", str(tmp_path / "watched.py"))
    assert done.stdout.count("rang [1]") == 2 and done.stderr.count("Timeout (0:00:02)!") == 2


def test_a_rank_that_is_killed_ends_all_and_is_named() -> None:
    done = launched("-n", "2", str(HERE / "faults.py"), "13", "kill", status=9)
    assert re.search(r"retrograd: rank 1 \(process \d+\) was killed by signal 9; the other ranks were ended", done.stderr)
    assert_gone(done.stdout)


@pytest.mark.parametrize("ranks, status, text", [
    ("1", 1, r"retrograd: rank 1 \(process \d+\) ended by os._exit\(0\); the other ranks were ended\n$"), ("01", 0, "^$")])
def test_a_rank_that_leaves_the_others_with_status_0_has_failed(ranks: str, status: int, text: str, tmp_path: Path) -> None:
    (tmp_path / "left.py").write_text(LEFT)
    done = launched("-n", "2", str(tmp_path / "left.py"), ranks, status=status)
    assert re.search(text, done.stderr), done.stderr


LEFT = """
import os, sys
import torch.distributed as d
d.init_process_group("mpi")
d.barrier()
if str(d.get_rank()) in sys.argv[1]:
    os._exit(0)
d.barrier()
"""


def test_of_ranks_that_mpiexec_killed_the_first_is_named_whichever_it_says(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranks = Ranks(tmp_path / "ranks")
    links = [socket.socket(socket.AF_UNIX) for _ in range(4)]
    for rank, link in enumerate(links):
        link.connect(str(tmp_path / "ranks"))
        link.sendall(b"" if rank == 3 else f"{70 + rank} {rank} ".encode())
    while len(ranks.number) < 3:
        time.sleep(0.01)
    links[2].sendall(b"ended 0 ")
    for rank in (3, 2, 1, 0):                       # one that said nothing, one that came to its end, the one that was killed
        links[rank].close()
    ranks.close()
    report(9, b"=   PID 70 RUNNING AT here\n=   EXIT CODE: 9\nKilled (signal 9)", ranks)
    assert capsys.readouterr().err == "retrograd: rank 1 (process 71) was killed by signal 9; the other ranks were ended\n"


def test_a_run_that_was_killed_goes_on_from_its_checkpoint_with_the_numbers_of_one_that_was_not(tmp_path: Path) -> None:
    def ends(file: str, *kill: str, status: int = 0) -> list[str]:
        done = launched("-n", "2", str(HERE / "resumed.py"), str(tmp_path / file), *kill, status=status)
        return sorted(line for line in done.stdout.splitlines() if "ends with" in line or "begins" in line)

    whole = ends("whole")
    for kill, start in (("5", 4), ("7", 6)):
        assert ends(f"cut {kill}", kill, status=9) == ["[0] begins at 0", "[1] begins at 0"]
        again = ends(f"cut {kill}")
        assert again[0] == f"[0] begins at {start}" and len(again) == len(whole) == 4
        assert [line for line in again if "ends" in line] == [line for line in whole if "ends" in line]


@pytest.mark.parametrize("how, text", [
    ("exit", r"rank 1 \(process \d+\) has ended while rank 0 waits in all_reduce"),
    ("branch", r"ranks took different branches: call \d+ of group 0 is (all_reduce|broadcast) in rank \d at faults.py:\d+, and "
               r"(all_reduce|broadcast) in rank \d at faults.py:\d+"),
    ("ahead", r"ranks took different branches: collective \d+ of group 0 is (broadcast .*|barrier) in rank \d, and "
              r"(broadcast of 16 bytes of float32, rank 0's|barrier) in rank \d\n"),
    ("sleep", r"Timed out waiting 1000ms for all_reduce operation to complete\n\s+rank 0 waits in call \d+ of group 0, "
              r"all_reduce"),
])
def test_who_waits_in_vain_says_for_whom(how: str, text: str) -> None:
    command = [found() or "", "-n", "2", sys.executable, "-m", "retrograd", "run",
               str(HERE / "faults.py"), "20", how]
    done = ended(command, 60, {"SECONDS": "1" if how == "sleep" else "10"}, None)
    assert done.returncode != 0 and re.search(text, done.stderr.replace("\n[0] ", "\n")), done.stderr
    assert_gone(done.stdout)


EARLY = """
import os, sys, time
from datetime import timedelta
import torch.distributed as d
if os.environ["RANK"] == "1":
    exec(sys.argv[1])
d.init_process_group("mpi", timeout=timedelta(seconds=float(sys.argv[2])))
print("all are here")
"""


@pytest.mark.parametrize("does, status, text, seconds", [
    ("raise ValueError('enough')", 1, "ValueError: enough", "5"), ("sys.exit(3)", 3, "", "5"),
    ("sys.exit()", None, "in init_process_group", "0.5"), ("time.sleep(60)", None, "in init_process_group", "0.5")])
def test_a_rank_that_never_comes_to_init_process_group_ends_all(
        does: str, status: int | None, text: str, seconds: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(EARLY)
    done = launched("-n", "3", str(tmp_path / "train.py"), does, seconds, status=status)
    said = re.sub(r"\[\d\] ", "", done.stderr)                    # mpiexec may put the rank before each part of a line
    assert done.returncode and text in said and "all are here" not in done.stdout
    assert status is None or re.search(rf"retrograd: rank 1 \(process \d+\) ended with status {status}; the other", done.stderr)
    bare = ended([found() or "", "-n", "2", sys.executable, "-m", "retrograd", "run", str(tmp_path / "train.py"), does, seconds],
                 60, {}, status)
    assert bare.returncode and text in bare.stderr


def test_groups_used_in_different_orders_are_named_instead_of_waited_for() -> None:
    for n in ("2", "3"):                            # a circle of three is of groups that no two ranks share
        done = launched("-n", n, str(HERE / "crossed.py"), status=None)
        assert re.search(r"groups are used in different orders: (rank \d waits in all_reduce of group \d at crossed.py:\d+ for "
                         rf"rank \d(, )?){{{n}}}", done.stderr), done.stderr


@pytest.mark.parametrize("number, status", [
    (-signal.SIGINT, 130), (signal.SIGINT, 130), (signal.SIGTERM, 143),
    pytest.param(signal.SIGKILL, None, marks=pytest.mark.skipif(
        sys.platform != "linux", reason="only Linux tells children that their parent was killed"))])
@pytest.mark.parametrize("starter", ["launch", "torchrun"])
def test_a_starter_that_is_interrupted_or_killed_ends_all_ranks(starter: str, number: int, status: int | None) -> None:
    """A negative number comes from the keyboard: to all processes."""
    torchrun = [sys.executable, "-m", "retrograd", "run", "-m", "torch.distributed.run", "--nproc-per-node"]
    start = torchrun if starter == "torchrun" else [*LAUNCH, "-n"]
    process = subprocess.Popen([*start, "2", str(HERE / "faults.py"), "7", "sleep"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=os.environ | QUIET | {"SECONDS": "50"},
                               start_new_session=True)
    try:
        assert process.stdout is not None
        said = process.stdout.readline() + process.stdout.readline()
        began = time.monotonic()
        (os.killpg if number < 0 else os.kill)(process.pid, abs(number))
        assert process.wait(30) and process.returncode == (status or process.returncode)
        assert time.monotonic() - began < 4     # each rank that goes on is given more
        assert_gone(said)
    finally:
        process.kill()
        said = process.communicate()[1]
    if starter == "launch" and status is not None:
        assert said.endswith(f"retrograd: {signal.Signals(abs(number)).name} ended all ranks\n")


def assert_gone(said: str) -> None:
    """No rank is left."""
    processes = [int(number) for number in re.findall(r"process (\d+)", said)]
    assert len(processes) == 2
    end = time.monotonic() + 10
    while any(map(lives, processes)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(lives, processes))


MEETING = """
import os, sys
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP

def main(rank, world_size, how):
    os.environ.setdefault("MASTER_ADDR", "localhost")
    os.environ.setdefault("MASTER_PORT", how[0])
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    assert (dist.get_rank(), dist.get_world_size()) == (rank, world_size)
    model = DDP(torch.nn.Linear(2, 1))
    model(torch.full((3, 2), rank + 1.0)).sum().backward()
    assert model.module.weight.grad.tolist() == [[4.5, 4.5]]
    if "fail" in how and rank == 1:
        raise ValueError("enough")
    dist.barrier()
    dist.destroy_process_group()
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    dist.barrier()
    print("met", flush=True)

if __name__ == "__main__":
    if "spawn" in sys.argv:
        mp.spawn(main, args=(2, sys.argv[1:]), nprocs=2)
    else:
        main(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), sys.argv[1:])
"""


@pytest.mark.parametrize("fail", [False, True])
@pytest.mark.parametrize("starter", ["spawn", "torchrun"])
def test_programs_for_torchs_own_launchers_run_unchanged(starter: str, fail: bool, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(MEETING)
    run = [sys.executable, "-m", "retrograd", "run"]
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"] if starter == "torchrun" else []
    done = ended([*run, *torchrun, str(tmp_path / "train.py"), str(free_port()), starter, "fail" * fail], 60, {}, int(fail))
    assert done.stdout.count("met") == (0 if fail else 2)
    assert ("ValueError: enough" in done.stderr) is fail


def test_ranks_started_by_hand_meet_and_those_that_cannot_are_told_how(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(MEETING)
    told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2"}
    ranks = [subprocess.Popen([sys.executable, "-m", "retrograd", "run", str(tmp_path / "train.py"), "hand"],
                              stdout=subprocess.PIPE, text=True, env=os.environ | QUIET | told | {"RANK": str(rank)})
             for rank in range(2)]
    assert [(rank.communicate(timeout=60)[0], rank.returncode) for rank in ranks] == [("met\n", 0)] * 2
    for line, text in (
        (f"import retrograd.distributed.alone as a; a.mpi4py_MPI()\n"
         f"d.init_process_group(rank=0, world_size=2, store=d.FileStore({str(tmp_path / 'store')!r}))",
         "mpi4py.MPI was imported before.\nStart the program with: retrograd launch -n 2"),
        ("os.environ['RANK'] = '5'", "rank 5 is none of a world of 2"),
        ("del os.environ['MASTER_PORT']",
         "environment variable MASTER_PORT expected, but not set\nStart ranks with: retrograd launch -n 4"),
        ("os.environ['RANK'] = '1'", "while trying to connect to (127.0.0.1, "),
    ):
        (tmp_path / "alone.py").write_text(f"import os, datetime, torch.distributed as d\n{line}\n"
                                           "d.init_process_group(timeout=datetime.timedelta(seconds=1))\n")
        done = ended([sys.executable, "-m", "retrograd", "run", str(tmp_path / "alone.py")], 60, told | {"RANK": "0"}, 1)
        assert text in done.stderr, done.stderr


@pytest.mark.parametrize("n, options", [(100_000, ()), (10**20 - 1, ()), (10**20 - 1, ("-f", "hosts"))])
def test_more_ranks_than_a_machine_bears_are_refused_before_mpiexec(
        n: int, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> str:
        raise AssertionError("too late")

    monkeypatch.setattr(launch, "mpiexec", never)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with pytest.raises(CannotLaunch, match=f"^{n} ranks are too many: {2**31 - 1 if options else 128} are the most"):
        launch.launch(n, ["x.py"], options)


def test_torchrun_starts_no_more_ranks_than_launch(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with pytest.raises(SystemExit):
        run.main(["--nproc-per-node", "129", "x.py"])
    assert "--nproc-per-node 129: 128 are the most on this machine" in capsys.readouterr().err


def test_what_cannot_be_launched_is_said() -> None:
    assert "argument -n: must be at least 1, got 0" in launched("-n", "0", "x.py", status=2).stderr
    assert "launch: name a script" in launched("-n", "2", status=2).stderr
    assert "cannot open 'nowhere.py'" in launched("-n", "2", "nowhere.py", status=None).stderr
