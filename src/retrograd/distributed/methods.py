"""A ProcessGroup's own methods, allreduce, broadcast, ...: the collectives, begun, with roots that are ranks in the group.

Each takes its tensors in lists of one, as PyTorch's do, and the options as an object of the classes below, or by themselves.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from . import collectives, points
from .process_group import ProcessGroup
from .reducing import ReduceOp

NO_TIMEOUT = timedelta(milliseconds=-1)


@dataclass
class Options:
    """What the options have in common; a timeout below zero is the group's."""

    timeout: timedelta = NO_TIMEOUT
    asyncOp: bool = True


@dataclass
class Reducing(Options):
    reduceOp: Any = field(default_factory=lambda: ReduceOp(ReduceOp.SUM))


@dataclass
class Rooted(Options):
    rootRank: int = 0


class AllreduceOptions(Reducing):
    """Options of allreduce: reduceOp, timeout."""


class AllreduceCoalescedOptions(Reducing):
    """Options of allreduce_coalesced: reduceOp, timeout."""


class ReduceScatterOptions(Reducing):
    """Options of reduce_scatter: reduceOp, timeout."""


class BroadcastOptions(Rooted):
    """Options of broadcast: rootRank, rootTensor, timeout."""

    rootTensor = 0


class GatherOptions(Rooted):
    """Options of gather: rootRank, timeout."""


class ScatterOptions(Rooted):
    """Options of scatter: rootRank, timeout."""


@dataclass
class ReduceOptions(Reducing):
    """Options of reduce: reduceOp, rootRank, rootTensor, timeout."""

    rootRank: int = 0
    rootTensor: int = 0


class AllToAllOptions(Options):
    """Options of alltoall: timeout."""


@dataclass
class BarrierOptions(Options):
    """Options of barrier: device_ids, timeout."""

    device_ids: Any = field(default_factory=list)
    device: Any = None


def one(given: Any) -> Any:
    """The tensor, or list, of a list of one.  ValueError for several: they would be of several devices."""
    if isinstance(given, (list, tuple)):
        if len(given) != 1:
            raise ValueError(f"a list of one tensor was expected, got {len(given)}: tensors of a rank are on one device, the CPU")
        return given[0]
    return given


def option(opts: Any, name: str) -> Any:
    """That option; opts may be it by itself."""
    return getattr(opts, name) if isinstance(opts, Options) else opts


def within(work: Any, opts: Any) -> Any:
    """Its wait() has the timeout of the options."""
    if isinstance(opts, Options) and opts.timeout > timedelta(0):
        work._limit = opts.timeout
    return work


def allreduce(self: Any, tensors: Any, opts: Any = ReduceOp.SUM) -> Any:
    return within(collectives.all_reduce(one(tensors), option(opts, "reduceOp"), self, True), opts)


def allreduce_coalesced(self: Any, tensors: Any, opts: Any = ReduceOp.SUM) -> Any:
    works = [allreduce(self, tensor, opts) for tensor in tensors]
    for work in works[:-1]:
        work.wait()
    return works[-1]


def broadcast(self: Any, tensors: Any, opts: Any = 0) -> Any:
    return within(collectives.broadcast(one(tensors), group=self, async_op=True, group_src=option(opts, "rootRank")), opts)


def reduce(self: Any, tensors: Any, root: Any = 0, op: Any = ReduceOp.SUM) -> Any:
    kind = root.reduceOp if isinstance(root, Reducing) else op
    return within(collectives.reduce(one(tensors), None, kind, self, True, option(root, "rootRank")), root)


def allgather(self: Any, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
    return within(collectives.all_gather(one(output_tensors), one(input_tensors), self, True), opts)


def _allgather_base(self: Any, output: Any, input: Any, opts: Any = None) -> Any:
    return within(collectives.all_gather_into_tensor(output, input, self, True), opts)


def gather(self: Any, output_tensors: Any, input_tensors: Any, opts: Any = 0) -> Any:
    return within(collectives.gather(one(input_tensors), one(output_tensors or [None]), None, self, True,
                                     option(opts, "rootRank")), opts)


def scatter(self: Any, output_tensors: Any, input_tensors: Any, opts: Any = 0) -> Any:
    return within(collectives.scatter(one(output_tensors), one(input_tensors or [None]), None, self, True,
                                      option(opts, "rootRank")), opts)


def reduce_scatter(self: Any, output_tensors: Any, input_tensors: Any, opts: Any = ReduceOp.SUM) -> Any:
    return within(collectives.reduce_scatter(one(output_tensors), one(input_tensors), option(opts, "reduceOp"), self, True), opts)


def _reduce_scatter_base(self: Any, output: Any, input: Any, opts: Any = ReduceOp.SUM) -> Any:
    return within(collectives.reduce_scatter_tensor(output, input, option(opts, "reduceOp"), self, True), opts)


def alltoall(self: Any, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
    return within(collectives.all_to_all(output_tensors, input_tensors, self, True), opts)


def alltoall_base(self: Any, output: Any, input: Any, output_split_sizes: Any, input_split_sizes: Any, opts: Any = None) -> Any:
    return within(collectives.all_to_all_single(output, input, output_split_sizes, input_split_sizes, self, True), opts)


def send(self: Any, tensors: Any, dstRank: int, tag: int) -> Any:
    return points.isend(one(tensors), None, self, tag, dstRank)


def recv(self: Any, tensors: Any, srcRank: int, tag: int) -> Any:
    return points.irecv(one(tensors), None, self, tag, srcRank)


def recv_anysource(self: Any, tensors: Any, tag: int) -> Any:
    return points.irecv(one(tensors), None, self, tag)


def barrier(self: Any, opts: Any = None, timeout: timedelta | None = None) -> Any:
    return within(collectives.barrier(self, True, timeout=timeout), opts)


def monitored_barrier(self: Any, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
    points.monitored_barrier(self, timeout, wait_all_ranks)


for _method in (
    allreduce, allreduce_coalesced, broadcast, reduce, allgather, _allgather_base, gather, scatter, reduce_scatter,
    _reduce_scatter_base, alltoall, alltoall_base, send, recv, recv_anysource, barrier, monitored_barrier):
    setattr(ProcessGroup, _method.__name__, _method)
for _class in (AllreduceOptions, AllreduceCoalescedOptions, ReduceScatterOptions, BroadcastOptions, GatherOptions, ScatterOptions,
               ReduceOptions, AllToAllOptions, BarrierOptions):
    _class.__module__ = f"{__package__}.distributed_c10d"       # as PyTorch's classes say
