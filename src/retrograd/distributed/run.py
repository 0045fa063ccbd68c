"""torchrun: `retrograd run -m torch.distributed.run --nproc-per-node 2 train.py ARGUMENTS`.

Starts the ranks of this machine, which meet at MASTER_ADDR and MASTER_PORT; the first that fails ends the others.  Nothing is
started again, and machines neither come nor go: elastic runs are refused.
"""
from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from .environment import crowd, ends_with_us, free_port

GRACE = 10.0            # seconds that ranks have to end when one has failed


def get_args_parser() -> argparse.ArgumentParser:
    """The options of torchrun that have a meaning here."""
    parser = argparse.ArgumentParser("torchrun", description=__doc__, allow_abbrev=False)
    options = (("nnodes", "1", str), ("nproc-per-node", "1", str), ("node-rank", 0, int), ("master-addr", "127.0.0.1", str),
               ("master-port", 29500, int), ("max-restarts", 0, int), ("rdzv-backend", "static", str), ("rdzv-endpoint", "", str),
               ("rdzv-id", "none", str), ("rdzv-conf", "", str))
    for name, default, kind in options:
        parser.add_argument(f"--{name}", f"--{name.replace('-', '_')}", type=kind, default=default)
    parser.add_argument("--standalone", action="store_true", help="this machine alone, at a free port")
    parser.add_argument("-m", "--module", action="store_true", help="the program is a module")
    parser.add_argument("training_script")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER)
    return parser


def main(args: Sequence[str] | None = None) -> None:
    """Start them, and end with the status of the first that failed."""
    parser = get_args_parser()
    given = parser.parse_args(args)
    if ":" in given.nnodes or given.max_restarts:
        parser.error("--nnodes MIN:MAX and --max-restarts: retrograd starts a fixed number of ranks once")
    near = os.cpu_count() if given.nproc_per_node in ("auto", "cpu") else given.nproc_per_node
    if not str(near).isdigit() or not int(str(near)) or not given.nnodes.isdigit():
        parser.error(f"--nproc-per-node {near}, --nnodes {given.nnodes}: numbers of processes and machines, without GPUs")
    machines, n = int(given.nnodes), int(str(near))
    if n > crowd():
        parser.error(f"--nproc-per-node {n}: {crowd()} are the most on this machine")
    host, port = given.master_addr, given.master_port
    if given.rdzv_endpoint:
        host, _, last = given.rdzv_endpoint.partition(":")
        port = int(last or 29400)
    if given.standalone or machines == 1 and port in (0, 29500, 29400):
        host, port = "127.0.0.1", free_port()
    elif machines > 1 and given.rdzv_backend != "static":
        parser.error("--rdzv-backend: on several machines, give each its --node-rank, with --master-addr and --master-port")
    program = [*(["-m"] if given.module else []), given.training_script, *given.training_script_args]
    common = {"WORLD_SIZE": n * machines, "LOCAL_WORLD_SIZE": n, "GROUP_RANK": given.node_rank, "GROUP_WORLD_SIZE": machines,
              "ROLE_WORLD_SIZE": n * machines, "ROLE_NAME": "default", "MASTER_ADDR": host, "MASTER_PORT": port,
              "TORCHELASTIC_RUN_ID": given.rdzv_id, "TORCHELASTIC_RESTART_COUNT": 0, "TORCHELASTIC_MAX_RESTARTS": 0}
    ranks = []
    for i in range(n):
        rank = given.node_rank * n + i
        told = {name: str(value) for name, value in {**common, "RANK": rank, "ROLE_RANK": rank, "LOCAL_RANK": i}.items()}
        ranks.append(subprocess.Popen([sys.executable, "-m", "retrograd", "run", *program],
                                      env={"OMP_NUM_THREADS": "1", **os.environ, **told}, preexec_fn=ends_with_us()))
    signal.signal(signal.SIGTERM, terminated)
    try:
        status = first_failure(ranks, given.node_rank * n)
    except KeyboardInterrupt:
        status = 130
    except Terminated:
        status = 128 + signal.SIGTERM
    end(ranks)
    if status:
        sys.exit(status)


class Terminated(BaseException):
    """SIGTERM has come."""


def terminated(*_: object) -> None:
    raise Terminated


def first_failure(ranks: list[subprocess.Popen[bytes]], first: int) -> int:
    """Wait for all, or for one that fails -> its status; 0"""
    while True:
        states = [process.poll() for process in ranks]
        for i, state in enumerate(states):
            if state:
                how = f"was killed by signal {-state}" if state < 0 else f"ended with status {state}"
                print(f"torchrun: rank {first + i} (process {ranks[i].pid}) {how}; the other ranks are ended", file=sys.stderr)
                return state if state > 0 else 1
        if all(state == 0 for state in states):
            return 0
        time.sleep(0.05)


def end(ranks: list[subprocess.Popen[bytes]]) -> None:
    """End those that go on."""
    for process in ranks:
        if process.poll() is None:
            process.terminate()
    until = time.monotonic() + GRACE
    for process in ranks:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
