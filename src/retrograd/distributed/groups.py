"""Beginning and ending: init_process_group, destroy_process_group, groups of some ranks, and who is who in them."""
from __future__ import annotations

import atexit
import faulthandler
import importlib.util
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from operator import index
from typing import Any

from .alone import Alone, mpi4py_MPI
from .backend import Backend
from .environment import DRAIN, like_torchrun, machine, under_mpi
from .meeting import meet, met
from .process_group import ProcessGroup, default_pg_timeout, found, is_time, outside, world
from .rendezvous import rendezvous
from .stores import HashStore, PrefixStore, Store
from .tcp_store import TCPStore
from .watch import Watch

BACKENDS = ("mpi", "gloo")
CPU_ONLY = ("nccl", "ucc", "xccl")
_told: set[str] = set()


def is_available() -> bool:
    """True: a group of one process needs nothing; larger groups need MPI."""
    return True


def is_initialized() -> bool:
    """Has init_process_group been called?"""
    return world.group is not None


def is_mpi_available() -> bool:
    """Is mpi4py installed?  pip install retrograd[mpi] brings it and an MPI."""
    return importlib.util.find_spec("mpi4py") is not None


def is_gloo_available() -> bool:
    """True: here "gloo" means MPI."""
    return True


def is_nccl_available() -> bool:
    """False: tensors live on the CPU."""
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_backend_available(backend: str) -> bool:
    """Does init_process_group accept the name `backend`?"""
    return backend.lower() in BACKENDS


def is_torchelastic_launched() -> bool:
    """Has a launcher set the variables that torchrun sets?"""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def init_process_group(
    backend: str | None = None, init_method: str | None = None, timeout: timedelta | None = None, world_size: int = -1,
    rank: int = -1, store: Store | None = None, group_name: str = "", pg_options: Any = None, device_id: Any = None,
    _ranks: list[int] | None = None,
) -> None:
    """Form the default group: of all processes that mpiexec started, of those that rendezvous, or of this one alone.

    backend      "mpi"; "gloo" and None mean it, too
    init_method  env:// by default: RANK and WORLD_SIZE, which must agree with what mpiexec started.  Without mpiexec ranks meet
                 as PyTorch's do, at MASTER_ADDR and MASTER_PORT, or by tcp:// or file://: NOTE [Who stands for mpiexec]
    timeout      of each collective, and of waiting for the ranks to come; 30 minutes by default
    store        given instead of init_method: kept as the group's store
    ValueError twice, for ranks that mpiexec did not start, and for gloo without anything that tells the rank.
    """
    if world.group is not None:
        raise ValueError("trying to initialize the default process group twice!")
    is_time(timeout)
    name = checked_backend(backend)
    assert store is None or init_method is None, "Cannot specify both init_method and store."
    like_torchrun()
    launched = under_mpi()
    if store is not None:
        assert world_size > 0, "world_size must be positive if using store"
        assert rank >= 0, "rank must be non-negative if using store"
    limit = default_pg_timeout if timeout is None else timeout
    if init_method is not None:
        rendezvous(init_method, rank, world_size)           # RuntimeError for what is none; nobody meets before next()
    if launched is None:
        told = init_method is not None or world_size > 1 or {"RANK", "WORLD_SIZE"} <= os.environ.keys()
        if store is None and (told or name != "mpi"):
            store, rank, world_size = next(rendezvous(init_method or "env://", rank, world_size, timeout=limit))
        if store is not None and world_size > 1:
            meet_once(store, rank, world_size, limit)
    size = launched[1] if launched is not None else max(world_size, 1)
    if world_size not in (-1, size):
        raise ValueError(f"world_size is {world_size}, but mpiexec started {size} processes: retrograd launch -n {world_size}")
    if rank != -1 and not 0 <= rank < size:
        raise ValueError(f"rank {rank} is none of a world of {size}")
    tell_once(backend, size)
    with all_within(limit) if launched is not None and size > 1 else nullcontext():
        comm = connected(rank if rank >= 0 else int(os.environ["RANK"])) if size > 1 else Alone()
        watch = Watch(comm.rank, comm.size)
        if size > 1:
            watch.open(comm)
        kept = store if store is not None else served(comm, limit)
    if size > 1:
        sys.excepthook = Ending(comm, sys.excepthook)
        atexit.register(watch.end)
    world.made = 1
    world.group = ProcessGroup(comm, list(range(size)), 0, name, limit, watch, "0", "default_pg")
    world.store = kept


def meet_once(store: Store, rank: int, size: int, timeout: timedelta) -> None:
    """Meet the other ranks by a store.  ValueError where this process has met others before."""
    if not met.size:
        meet(rank, size, store, timeout, mpi)
    elif (met.rank, met.size) != (rank, size):
        raise ValueError(f"This process is rank {met.rank} of {met.size} since its first init_process_group, and cannot "
                         f"become rank {rank} of {size}")


def checked_backend(backend: str | None) -> str:
    """The name of a backend, in small letters.  RuntimeError where PyTorch's CPU build has none such."""
    if backend is None:
        return "gloo"
    names = {part.rpartition(":")[2] for part in Backend(backend).split(",")}
    for name in names:
        if name in CPU_ONLY:
            raise RuntimeError(f"Distributed package doesn't have {name.upper()} built in")
        assert name in BACKENDS, f"Unknown backend type {name}"
    return "gloo" if len(names) > 1 else names.pop()


def tell_once(backend: str | None, size: int) -> None:
    """Another backend's name means MPI: said once a program, by one rank."""
    if size > 1 and backend is not None and "gloo" in backend and "gloo" not in _told:
        _told.add("gloo")
        found = under_mpi() or (met.rank, met.size)
        if found[0] == 0:
            print('retrograd: backend "gloo" means MPI here', file=sys.stderr)


def mpi() -> Any:
    """mpi4py's module.  RuntimeError where there is no MPI."""
    try:
        return mpi4py_MPI()
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(
            f"Distributed package doesn't have MPI built in. {error}.\npip install retrograd[mpi] brings mpi4py and an MPI; "
            "a site's own MPI works as well") from error


def connected(rank: int) -> Any:
    """A communicator of all processes, with this rank for this one.  ValueError, on all, where two say the same."""
    whole = mpi().COMM_WORLD
    ranks = whole.allgather(rank)
    if sorted(ranks) != list(range(whole.size)):
        raise ValueError(f"the {whole.size} processes say that they are ranks {', '.join(map(str, ranks))}")
    return whole.Split(0, rank)


@contextmanager
def all_within(limit: timedelta) -> Iterator[None]:
    """End this process by SIGALRM, with a traceback, unless the other ranks come in time: MPI waits for ever, with the GIL held.

    faulthandler's own clock may be the program's, and so may the alarm, which is put back.
    """
    mine, began = threading.current_thread() is threading.main_thread(), time.monotonic()
    before = signal.signal(signal.SIGALRM, signal.SIG_DFL) if mine else None
    faulthandler.register(signal.SIGALRM, file=2, chain=True)
    due, again = signal.setitimer(signal.ITIMER_REAL, min(max(limit.total_seconds(), 1e-3), 1e6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.unregister(signal.SIGALRM)
        if mine:
            signal.signal(signal.SIGALRM, signal.SIG_DFL if before is None else before)
        if due:
            signal.setitimer(signal.ITIMER_REAL, max(due - (time.monotonic() - began), 1e-3), again)


def served(comm: Any, timeout: timedelta) -> Store:
    """The store of the default group: rank 0 keeps it."""
    if comm.size == 1:
        return HashStore()
    mine = TCPStore(os.uname().nodename, 0, is_master=True, timeout=timeout) if comm.rank == 0 else None
    host, port, where = comm.bcast(None if mine is None else (mine.host, mine.port, machine()), root=0)
    store = mine or TCPStore("127.0.0.1" if where == machine() else host, port, timeout=timeout)
    comm.Barrier()                              # rank 0 may end the group, and the store with it, once all have come
    return store


class Ending:
    """An uncaught error ends all ranks: its traceback, then MPI's Abort."""

    def __init__(self, comm: Any, before: Any) -> None:
        self.comm, self.before = comm, before

    def __call__(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        try:
            if world.group is not None:
                print(f"retrograd: rank {self.comm.rank} of {self.comm.size} ends all ranks by an error:", file=sys.stderr)
            self.before(kind, error, trace)
        except Exception:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            if world.group is not None and not world.held:
                time.sleep(DRAIN)
                self.comm.Abort(1)


def destroy_process_group(group: Any = None) -> None:
    """Destroy a group, or all of them if none is given.  AssertionError if there is none."""
    if outside(group):
        return
    if group is not None and group is not world.group and group not in world.groups:
        raise ValueError("Invalid process group specified")
    assert (group if group is not None else world.group) is not None, "Process group cannot be None"
    one = found(group)
    ended = [*world.groups, one] if one is world.group else [one]
    for each in ended:
        each.comm.Free()
    if one is not world.group:
        world.groups.remove(one)
        return
    one.watch.end()
    if isinstance(sys.excepthook, Ending):
        sys.excepthook = sys.excepthook.before
    world.groups.clear()
    world.group = world.store = None


def new_group(
    ranks: Sequence[int] | None = None, timeout: timedelta | None = None, backend: str | None = None, pg_options: Any = None,
    use_local_synchronization: bool = False, group_desc: str | None = None, device_id: Any = None,
    group_name: str | None = None, sort_ranks: bool = True,
) -> Any:
    """Make a group of some ranks; all ranks call it, in the same order.

    -> ProcessGroup, or GroupMember.NON_GROUP_MEMBER for a rank that is not in it. ValueError for ranks that there are not.
    use_local_synchronization  True: only the ranks of the group call it
    sort_ranks  False: the group keeps the order of `ranks`
    """
    whole = world.default()
    is_time(timeout)
    chosen = list(whole.ranks) if ranks is None else [index(rank) for rank in (sorted(ranks) if sort_ranks else ranks)]
    if len(chosen) > whole.n:
        raise ValueError("the new group's world size should be less or equal to the world size set by init_process_group")
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"ranks list must not contain duplicate entries, got {list(ranks or ())}")
    for one in chosen:
        if not 0 <= one < whole.n:
            raise ValueError(f"Rank {one} is out of range. Valid ranks are 0 to {whole.n - 1} (world_size={whole.n})")
    name = whole.backend if backend is None else checked_backend(backend)
    number = world.made
    world.made += 1
    if not use_local_synchronization:           # MPI's function waits for ever, and answers nobody
        whole.run(False, "new_group", whole.comm.Ibarrier, (), [])
    if whole.place not in chosen:
        return ProcessGroup.NON_GROUP_MEMBER
    if whole.n == 1:
        comm: Any = Alone()
    else:
        every = whole.comm.Get_group()
        some = every.Incl(chosen)
        with all_within(whole.timeout):
            comm = whole.comm.Create_group(some, tag=number)
    made = ProcessGroup(comm, chosen, number, name, timeout or whole.timeout if timeout else default_pg_timeout, whole.watch,
                        group_name or str(number), group_desc or "undefined")
    world.groups.append(made)
    return made


def new_subgroups(
    group_size: int | None = None, group: Any = None, timeout: timedelta | None = None, backend: str | None = None,
    pg_options: Any = None, group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Divide the ranks into groups of group_size -> (this rank's group, all groups).  ValueError on a remainder."""
    whole = found(group)
    if group_size is None:
        raise ValueError("Default group size only takes effect when CUDA is available.If your subgroup using a backend that "
                         "does not depend on CUDA,please pass in 'group_size' correctly.")
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if whole.n < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({whole.n})")
    if whole.n % group_size:
        raise ValueError(f"The world size ({whole.n}) must be divisible by 'group_size={group_size}'")
    return new_subgroups_by_enumeration(
        [whole.ranks[at:at + group_size] for at in range(0, whole.n, group_size)], timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]], timeout: timedelta | None = None, backend: str | None = None,
    pg_options: Any = None, group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Make a group for each list in ranks_per_subgroup_list -> (this rank's, all).  ValueError if a rank is in two lists."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    parts: dict[int, Sequence[int]] = {}
    for ranks in ranks_per_subgroup_list:
        for rank in ranks:
            if rank in parts:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {list(parts[rank])} and {list(ranks)}")
            parts[rank] = ranks
    made = [new_group(ranks, timeout, backend, pg_options, group_desc=group_desc) for ranks in ranks_per_subgroup_list]
    mine = [one for one in made if not outside(one)]
    return (mine[0] if mine else None), made


def split_group(
    parent_pg: Any = None, split_ranks: list[list[int]] | None = None, timeout: timedelta | None = None, pg_options: Any = None,
    group_desc: str | None = None, backend: str | None = None,
) -> Any:
    """Split a group -> this rank's part, or None for a rank in no part.

    split_ranks  lists of ranks of the parent, which do not overlap; the parent's ranks all call it
    """
    if not split_ranks:
        raise ValueError("split_ranks cannot be None or empty")
    parent = found(parent_pg)
    flat = sorted(rank for ranks in split_ranks for rank in ranks)
    if len(set(flat)) != len(flat):
        raise ValueError("the split group cannot have duplicate ranks")
    if flat and not 0 <= flat[0] <= flat[-1] < parent.n:
        raise ValueError(f"Ranks of a split group must be ranks of its parent, from 0 to {parent.n - 1}: {split_ranks}")
    name = parent.backend if backend is None else checked_backend(backend)
    number = world.made
    world.made += 1
    mine = [ranks for ranks in split_ranks if parent.place in ranks]
    comm: Any = Alone()
    if parent.mpi is not None:
        parent.run(False, "split_group", parent.comm.Ibarrier, (), [])
        key = sorted(mine[0]).index(parent.place) if mine else 0
        with all_within(parent.timeout):
            comm = parent.comm.Split(split_ranks.index(mine[0]) if mine else parent.mpi.UNDEFINED, key)
    if not mine:
        return None
    made = ProcessGroup(comm, [parent.ranks[rank] for rank in sorted(mine[0])], number, name,
                        timeout or parent.timeout, parent.watch, f"{parent.group_name}:split:{number}",
                        group_desc or f"{parent.group_desc}:split:{number}")
    world.groups.append(made)
    return made


def get_rank(group: Any = None) -> int:
    """This process's rank in the group; -1 if it is not in it."""
    return -1 if outside(group) else registered(group).rank()


def get_world_size(group: Any = None) -> int:
    """The number of ranks in the group; -1 if this process is not in it."""
    return -1 if outside(group) else found(group).size()


def get_backend(group: Any = None) -> str:
    """The name of the backend with which the group was made: "gloo" or "mpi"."""
    if outside(group):
        raise ValueError("Invalid process group specified")
    return found(group).backend


def get_backend_config(group: Any = None) -> str:
    """The backend of each device, as one string."""
    name = get_backend(group)
    return f"cpu:{name},cuda:{name}"


def get_process_group_ranks(group: Any) -> list[int]:
    """The ranks of a group, in order."""
    return list(found(group).ranks)


def get_global_rank(group: Any, group_rank: int) -> int:
    """The world rank of a rank of the group."""
    if group is world.group:
        return group_rank
    ranks = registered(group).ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_group_rank(group: Any, global_rank: int) -> int:
    """The rank in the group of a world rank."""
    if group is world.group:
        return global_rank
    ranks = registered(group).ranks
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def registered(group: Any) -> ProcessGroup:
    """found(group), with what PyTorch says here of a group that is not, or no longer, there."""
    if world.group is not None and not (group is None or group is world.group or group in world.groups):
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")
    return found(group)


def get_pg_count() -> int:
    """How many groups have been made."""
    return world.made


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """This process's number on its machine: LOCAL_RANK, as launchers set it.

    Without it fallback_rank; RuntimeError if that is None.
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, assuming "
        "you are not running in a multi-device context and want the code to run locally instead.")


def _get_default_group() -> ProcessGroup:
    return world.default()


def _get_default_store() -> Store:
    world.default()
    assert world.store is not None
    return PrefixStore("default_pg", world.store)


def warn_outside(function: str) -> Any:
    """A rank that is not in the group called a collective of it."""
    rank = -1 if world.group is None else world.group.rank()
    warnings.warn(f"Running {function} on global rank {rank} which does not belong to the given group.", stacklevel=4)
