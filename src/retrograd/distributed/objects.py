"""Any object that pickle takes, instead of tensors: its bytes travel, so trust the other ranks."""
from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from .._engine.tensor import wrap
from . import checks
from .groups import warn_outside
from .points import recv, send
from .process_group import ProcessGroup, found, outside

Array = Any


def to_bytes(value: Any) -> Array:
    return np.frombuffer(bytearray(pickle.dumps(value)), np.uint8)


def of_bytes(a: Array) -> Any:
    return pickle.loads(a.tobytes())


def done(pg: ProcessGroup, name: str, begin: Any, *arguments: Any, **named: Any) -> None:
    pg.start(name, begin, arguments, [], **named).wait()


def sizes_of(pg: ProcessGroup, name: str, size: int) -> Array:
    """What each rank says."""
    sizes = np.zeros(pg.n, np.int64)
    done(pg, name, pg.comm.Iallgather, np.array([size], np.int64), sizes)
    return sizes


def gathered(pg: ProcessGroup, name: str, obj: Any) -> list[Any]:
    """Every rank's object, on every rank."""
    mine = to_bytes(obj)
    sizes = sizes_of(pg, name, mine.size)
    everything = np.empty(int(sizes.sum()), np.uint8)
    done(pg, name, pg.comm.Iallgatherv, mine, [everything, sizes.tolist()])
    return [of_bytes(part) for part in np.split(everything, np.cumsum(sizes)[:-1])]


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """On every rank object_list[i] becomes rank i's object."""
    if outside(group):
        return warn_outside("all_gather_object")
    pg = found(group)
    if len(object_list) < pg.n:
        raise IndexError("list assignment index out of range")
    object_list[:pg.n] = gathered(pg, "all_gather_object", obj)
    return None


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None, group: Any = None,
                  group_dst: int | None = None) -> None:
    """On rank dst (0 by default) object_gather_list[i] becomes rank i's object."""
    if outside(group):
        return warn_outside("gather_object")
    root, pg = checks.root_of(group, dst, group_dst, "gather", 0), found(group)
    if pg.place == root and not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if pg.place != root and object_gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    mine = to_bytes(obj)
    sizes = sizes_of(pg, "gather_object", mine.size)
    got = np.empty(int(sizes.sum()) if pg.place == root else 0, np.uint8)
    works = [pg.start("gather_object", pg.comm.Igatherv, (mine, [got, sizes.tolist()]), [], root=root)] if pg.n > 1 else []
    for work in works:
        work.wait()
    if object_gather_list is not None and pg.place == root:
        parts = np.split(got if pg.n > 1 else mine, np.cumsum(sizes)[:-1])
        object_gather_list[:pg.n] = [of_bytes(part) for part in parts]
    return None


def broadcast_object_list(object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
                          group_src: int | None = None, weights_only: Any = None) -> None:
    """The objects in object_list become those of rank src (0 by default); all lists have the same length."""
    if outside(group):
        return warn_outside("broadcast_object_list")
    root, pg = checks.root_of(group, src, group_src, "broadcast", 0), found(group)
    if not isinstance(object_list, list):       # on all ranks alike: the others would wait
        raise TypeError(f"broadcast_object_list: object_list is a list, got {type(object_list).__name__}")
    data = to_bytes(object_list) if pg.place == root else None
    size = np.array([0 if data is None else data.size], np.int64)
    done(pg, "broadcast_object_list", pg.comm.Ibcast, size, root=root)
    buffer = np.empty(int(size[0]), np.uint8) if data is None else data
    done(pg, "broadcast_object_list", pg.comm.Ibcast, buffer, root=root)
    if pg.place != root:
        object_list[:] = of_bytes(buffer)[:len(object_list)]
    return None


def scatter_object_list(scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
                        src: int | None = None, group: Any = None, group_src: int | None = None) -> None:
    """On rank i, scatter_object_output_list[0] becomes scatter_object_input_list[i] of rank src (0 by default)."""
    if outside(group):
        return warn_outside("scatter_object_list")
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    root, pg = checks.root_of(group, src, group_src, "scatter", 0), found(group)
    all_of_them: list[Any] = [None]
    if pg.place == root:
        if scatter_object_input_list is None or len(scatter_object_input_list) != pg.n:
            raise ValueError("source rank must provide non-None scatter_object_input_list, one object for each rank")
        all_of_them = [list(scatter_object_input_list)]
    broadcast_object_list(all_of_them, group=group, group_src=root)
    scatter_object_output_list[0] = all_of_them[0][pg.place]
    return None


def send_object_list(object_list: list[Any], dst: int | None = None, group: Any = None, device: Any = None,
                     group_dst: int | None = None, use_batch: bool = False) -> None:
    """Send objects to rank dst, which calls recv_object_list with a list of the same length."""
    data = to_bytes(list(object_list))
    send(wrap(np.array([data.size])), dst, group, group_dst=group_dst)
    send(wrap(data), dst, group, group_dst=group_dst)


def recv_object_list(object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
                     group_src: int | None = None, use_batch: bool = False, weights_only: Any = None) -> int:
    """Receive what rank src, or any rank, sends by send_object_list -> the sender's rank; -1 outside the group."""
    size = wrap(np.zeros(1, np.int64))
    rank = recv(size, src, group, group_src=group_src)
    if rank < 0:
        return rank
    data = wrap(np.empty(int(size.array[0]), np.uint8))
    recv(data, rank, group)
    object_list[:] = of_bytes(data.array)[:len(object_list)]
    return rank
