"""Ranks that meet without mpiexec, by every way that PyTorch has; what is refused; stores that strangers write to."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
import warm

import retrograd.distributed as d
from retrograd.distributed.environment import free_port
from retrograd.distributed.stores import encoded

from .ranks import HERE, QUIET, needs_mpi

RUN = [sys.executable, "-m", "retrograd", "run"]
SECOND = timedelta(seconds=1)


def met(how: str, folder: Path, command: list[str]) -> list[tuple[str, int]]:
    """What the two ranks print, and how they end."""
    port = str(free_port())
    ranks = [subprocess.Popen([*command, str(HERE / "met.py"), how, str(rank), port, str(folder)], stdout=subprocess.PIPE,
                              text=True, env=os.environ | QUIET | {"GLOO_SOCKET_IFNAME": "lo"}) for rank in range(2)]
    return [(rank.communicate(timeout=60)[0], rank.returncode) for rank in ranks]


@needs_mpi
@pytest.mark.once
@pytest.mark.parametrize("how", ["tcp?", "file", "env", "store file", "store prefix", "rendezvous"])
def test_two_ranks_started_by_hand_meet(how: str, tmp_path: Path) -> None:
    assert met(how, tmp_path, RUN) == [("met\n", 0)] * 2
    assert not list(tmp_path.iterdir()), "the last to go deletes the file"


def test_a_rank_that_is_killed_while_it_waits_for_others_leaves_no_process() -> None:
    code = "from retrograd.distributed.meeting import serve; x = serve('127.0.0.1', 2, 60); print('serves', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as rank:
        assert rank.stdout is not None and rank.stdout.readline() == "serves\n"
        rank.kill()
        rank.communicate(timeout=20)            # until the end of stderr, which the server has, too


@needs_mpi
@pytest.mark.once
@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_they_meet_by_ipv6(tmp_path: Path) -> None:
    assert met("tcp6", tmp_path, RUN) == [("met\n", 0)] * 2


@pytest.mark.oracle
@pytest.mark.once
def test_what_is_refused_before_ranks_meet_is_what_pytorch_refuses(tmp_path: Path) -> None:
    said = []
    for name, command, packages in (("ours", ["-m", "retrograd", "run"], warm.RETROGRAD), ("theirs", [], warm.TORCH)):
        (tmp_path / name).mkdir()
        done = warm.run(*command, HERE / "refused.py", free_port(), tmp_path / name, packages=packages, timeout=60,
                        env=os.environ | QUIET)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.splitlines())
    mine, other = said
    assert len(mine) > 100 and [pair for pair in zip(mine, other, strict=True) if pair[0] != pair[1]] == []


@pytest.mark.parametrize("message", [
    b"", b"\x00", b"GET / HTTP/1.1\r\n\r\n", b"\xff\xff\xff\xff", struct.pack("!i", 2**30), struct.pack("!i", 4) + b"null",
    *(struct.pack("!i", len(said)) + said for said in (
        b"[" * 100_000, b'["set","a"]', b'["nothing","a","b","c"]', b'[[],"a","b","c"]', b'["get",[],"",""]',
        b'["add","a",{},""]', b'["push",{},"x",""]', b'["__init__","a","b","c"]', b"\xfe\xff"))])
def test_a_store_outlives_whatever_strangers_send(message: bytes) -> None:
    master = d.TCPStore("127.0.0.1", 0, None, True, SECOND)
    master.set("a", "x")
    with socket.create_connection(("127.0.0.1", master.port), 10) as stranger:
        with suppress(OSError):    # the store may have hung up already
            stranger.sendall(message)
            stranger.shutdown(socket.SHUT_WR)
            while stranger.recv(65536):
                pass
    client = d.TCPStore("127.0.0.1", master.port, None, False, SECOND)
    assert (client.get("a"), client.add("n", 1)) == (b"x", 1)


def test_what_the_table_refuses_comes_back_as_the_error_of_the_call() -> None:
    master = d.TCPStore("127.0.0.1", 0, None, True, SECOND)
    client = d.TCPStore("127.0.0.1", master.port, None, False, SECOND)
    client.set("a", "x")
    with pytest.raises(ValueError, match="invalid literal for int"):
        client.add("a", 1)
    with pytest.raises(ValueError, match=r"set: \d\d,\d{3},\d{3} bytes; a message of a TCPStore has at most 67,108,864"):
        client.set("b", "x" * 2**26)
    assert client.get("a") == b"x"


def answers(other: socket.socket, answer: bytes | None) -> None:
    link = other.accept()[0]
    with link, suppress(OSError):
        link.sendall(answer or b"")
        link.recv(100) and link.recv(100)           # until the client goes


@pytest.mark.parametrize("answer", [None, b"HTTP/1.1 400 Bad Request\r\n\r\n", struct.pack("!i", 4) + b"null",
                                    struct.pack("!i", 100_000) + b"[" * 100_000])
def test_what_listens_at_the_port_and_is_no_store_is_told_apart(answer: bytes | None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        threading.Thread(target=answers, args=[other, answer], daemon=True).start()
        client = d.TCPStore("127.0.0.1", other.getsockname()[1], None, False, timedelta(seconds=0.3))
        with pytest.raises(d.DistNetworkError, match="does not answer as a TCPStore|has gone"):
            client.set("a", "x")


def test_a_store_whose_process_has_gone_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        client = d.TCPStore("127.0.0.1", other.getsockname()[1], None, False, SECOND)
        other.accept()[0].close()
    with pytest.raises(d.DistNetworkError, match=r"The store at 127.0.0.1:\d+ has gone: its process has ended, or closed it"):
        client.set("a", "x")


@pytest.mark.parametrize("content", [b"\x00\x01", b"[]", b'{"a": 5}', encoded("a")])
def test_a_file_of_something_else_is_no_store(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(content)
    with pytest.raises(d.DistStoreError, match="holds something else than a FileStore's table; remove it, or name another"):
        d.FileStore(str(tmp_path / "store"), 2)


@needs_mpi
def test_a_file_of_an_earlier_run_is_named(tmp_path: Path) -> None:
    d.FileStore(str(tmp_path / "store")).set("retrograd/meeting", f"127.0.0.1 {free_port()} elsewhere word")
    with pytest.raises(d.DistNetworkError, match=r"could not reach rank 0 at .*\nIf .*store is of an earlier run, remove it"):
        d.init_process_group("gloo", store=d.FileStore(str(tmp_path / "store")), rank=1, world_size=2, timeout=SECOND)


@pytest.mark.once
def test_with_an_mpi_that_cannot_meet_every_rank_is_told_to_use_a_launcher(tmp_path: Path) -> None:
    """Such as Open MPI, whose processes find themselves alone without mpiexec."""
    (tmp_path / "mpi4py").mkdir()
    (tmp_path / "mpi4py" / "__init__.py").touch()
    (tmp_path / "mpi4py" / "MPI.py").write_text("class COMM_WORLD:\n    rank, size = 0, 1\n")
    port = str(free_port())
    ranks = [subprocess.Popen([*RUN, str(HERE / "met.py"), "env", str(rank), port, str(tmp_path)], stderr=subprocess.PIPE,
                              text=True, env=os.environ | QUIET | {"PYTHONPATH": str(tmp_path)}) for rank in range(2)]
    for rank in ranks:
        said = rank.communicate(timeout=60)[1]
        assert rank.returncode == 1 and "only MPICH and its kin can connect such processes" in said, said
        assert "Start the program with: retrograd launch -n 2 program.py" in said
