"""From one rank to another: send, recv, isend, irecv, batch_isend_irecv; and monitored_barrier, which is made of such."""
from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np

from . import checks
from .collectives import writing
from .errors import DistBackendError, of_backend
from .groups import get_global_rank, warn_outside
from .process_group import ProcessGroup, found, is_time, outside
from .work import Work

BARRIER = 0x7EAD        # tag of monitored_barrier's messages
ANY = -1


class Received(Work):
    """A message on its way here: knows whom it came from."""

    def __init__(self, group: ProcessGroup, name: str, request: Any, outputs: list[Any], finish: Callable[[], None],
                 source: int, status: Any) -> None:
        super().__init__(group, name, [request], outputs, finish, source)
        self._request, self._status = request, status

    def is_completed(self) -> bool:
        """Is it here?"""
        if not self._done:
            try:
                if not self._request.Test(self._status):
                    return False
            except Exception as error:
                self._error = of_backend(error)
            if self._source == ANY and self._error is None:
                self._source = self._status.Get_source()
            self._end()
        return True


def isend(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> Work | None:
    """Start sending the tensor to rank dst; it must not change before wait() returns."""
    if outside(group):
        return warn_outside("isend")
    to = checks.root_of(group, dst, group_dst, "send")
    checks.tensor(tensor, "tensor")
    pg = found(group)
    if to == pg.place:
        raise ValueError("Invalid destination rank: destination rank should not be the same as the rank of the current process.")
    checks.tag(pg, tag)
    sent = checks.block(tensor.array)
    return pg.start("send", pg.comm.Isend, (checks.plain(sent),), [tensor], None, sent.nbytes, dest=to, tag=tag)


def irecv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> Work | None:
    """Start receiving a tensor from rank src, or from any rank if none is given."""
    checks.tensor(tensor, "tensor")
    if outside(group):
        return warn_outside("irecv")
    pg = found(group)
    anybody = src is None and group_src is None
    source = ANY if anybody else checks.root_of(group, src, group_src, "recv")
    if source == pg.place:
        raise ValueError("Invalid source rank: source rank should not be the same as the rank of the current process.")
    if pg.mpi is None:
        raise RuntimeError("irecv: there is no other rank that could send something")
    checks.tag(pg, tag)
    got = np.empty_like(checks.block(tensor.array))
    pg.calls += 1
    pg.watch.enter(pg, "recv")
    request = pg.comm.Irecv(checks.plain(got), source=pg.mpi.ANY_SOURCE if anybody else source, tag=tag)
    status, byte = pg.mpi.Status(), pg.mpi.BYTE

    def values() -> list[Any]:
        came = status.Get_count(byte) // got.itemsize
        if came < got.size:                     # a shorter message leaves the rest as it is
            got.reshape(-1)[came:] = tensor.array.reshape(-1)[came:]
        return [got]

    return Received(pg, "recvAnySource" if anybody else "recv", request, [tensor], writing([tensor], values), source, status)


def send(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send the tensor to rank dst."""
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receive a tensor from rank src, or from any rank -> the sender's rank; -1 outside the group."""
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return get_global_rank(group, work._source_rank()) if group is not None else work._source_rank()


class P2POp:
    """An isend or irecv (op) of `tensor` for batch_isend_irecv; peer: the other's rank in the world, group_peer in the group."""

    def __init__(self, op: Any, tensor: Any, peer: int | None = None, group: Any = None, tag: int = 0,
                 group_peer: int | None = None) -> None:
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                             "``torch.distributed.irecv``.")
        checks.tensor(tensor, "tensor")
        self.op, self.tensor, self.tag = op, tensor, tag
        self.group = found(group)
        self.group_peer = checks.root_of(group, peer, group_peer, "send")
        self.peer = self.group.ranks[self.group_peer]

    def __repr__(self) -> str:
        ends = [self.group.place, self.group_peer]
        source, destination = ends if self.op is isend else ends[::-1]
        return (f"P2POp({self.op.__name__} pg={self.group.group_name}, group_src={source}, group_dst={destination},  "
                f"{self.tensor.shape}, {self.tensor.dtype})")


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Start all operations of p2p_op_list -> their Works."""
    if not isinstance(p2p_op_list, list) or not all(isinstance(one, P2POp) for one in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    if not p2p_op_list:
        raise IndexError("list index out of range")
    if any(one.group.backend != p2p_op_list[0].group.backend for one in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    begun = [one.op(one.tensor, group=one.group, tag=one.tag, **{
        "group_dst" if one.op is isend else "group_src": one.group_peer}) for one in p2p_op_list]
    return [work for work in begun if work is not None]


def monitored_barrier(group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
    """A barrier that names absent ranks: RuntimeError on rank 0 with the first of them, or with all if wait_all_ranks."""
    is_time(timeout)
    if outside(group):
        return warn_outside("monitored_barrier")
    pg = found(group)
    seconds = (timeout or pg.timeout).total_seconds()
    if pg.n == 1:
        return
    pg.calls += 1
    pg.watch.enter(pg, "monitored_barrier")
    here = np.zeros(1, np.uint8)
    try:
        if pg.place:
            unwatched(pg, [pg.comm.Isend(here, dest=0, tag=BARRIER)])
            if not answered(pg, [pg.comm.Irecv(here, source=0, tag=BARRIER)], seconds)[0]:
                raise RuntimeError(f"Rank {pg.place} successfully reached monitoredBarrier, but received errors while waiting "
                                   f"for send/recv from rank 0. Please check rank 0 logs for faulty rank.")
            return
        came = answered(pg, [pg.comm.Irecv(np.zeros(1, np.uint8), source=i, tag=BARRIER) for i in range(1, pg.n)], seconds)
        missing = [rank for rank, there in enumerate(came, 1) if not there]
        if missing:
            named = ", ".join(map(str, missing)) if wait_all_ranks else missing[0]
            raise RuntimeError(
                f"Rank{'s' * wait_all_ranks} {named} failed to pass monitoredBarrier in {round(seconds * 1000)} ms")
        unwatched(pg, [pg.comm.Isend(here, dest=i, tag=BARRIER) for i in range(1, pg.n)])
    finally:
        pg.watch.leave()


def unwatched(group: Any, requests: list[Any]) -> None:
    """Keep requests, with their buffers, until MPI is done with them: NOTE [Works that nobody keeps]."""
    Work(group, "monitored_barrier", requests, [])


def answered(group: Any, requests: list[Any], seconds: float) -> list[bool]:
    """Which of them were answered in time; the others are cancelled."""
    end = time.monotonic() + seconds
    open_ = set(range(len(requests)))
    try:
        while open_ and time.monotonic() < end:
            open_ = {i for i in open_ if not requests[i].Test()}
            time.sleep(5e-5 if open_ else 0)
    except Exception as error:
        raise DistBackendError(str(error)) from error
    for i in open_:
        requests[i].Cancel()
    unwatched(group, [requests[i] for i in open_])
    return [i not in open_ for i in range(len(requests))]
