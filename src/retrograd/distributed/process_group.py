"""ProcessGroup: the ranks that take part in a collective, with MPI's communicator of theirs, and what is known of all groups."""
from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from .alone import Alone, mpi4py_MPI
from .errors import of_backend
from .reducing import MPI_NAMES, RedOpType
from .stores import Store
from .watch import Watch
from .work import Work, listening, soon

default_pg_timeout = timedelta(minutes=30)
OF_ONE_SIZE = {"all_reduce", "all_reduce_coalesced", "all_gather", "all_gather_into_tensor", "broadcast", "gather", "reduce",
               "reduce_scatter", "reduce_scatter_tensor", "scatter"}
MOST_SAID = 1000
NOT_INITIALIZED = "Default process group has not been initialized, please make sure to call init_process_group."


class ProcessGroup:
    """A group of ranks that call the same collectives in the same order.

    ranks  of the world, in the order of their ranks in the group
    """

    NON_GROUP_MEMBER = -100

    def __init__(self, comm: Any, ranks: list[int], number: int, backend: str, timeout: timedelta, watch: Watch,
                 name: str, desc: str) -> None:
        self.comm, self.ranks, self.number = comm, ranks, number
        self.backend, self.timeout, self.watch = backend, timeout, watch
        self.group_name, self.group_desc = name, desc
        self.place = comm.rank
        self.n = comm.size
        self.calls = 0
        self.collectives = 0                    # of them, those that all ranks call
        self.said: dict[Any, bytes] = {}        # what the other ranks are told of them
        self.neighbors = sorted({ranks[self.place - 1], ranks[(self.place + 1) % self.n]})
        self.bytes = 0                          # given to collectives
        self.mpi = None if isinstance(comm, Alone) else mpi4py_MPI()
        self.in_place = None if self.mpi is None else self.mpi.IN_PLACE
        self.operations = {id(self.operation(kind)): name for kind, name in MPI_NAMES.items()}
        self.sum = self.operation(RedOpType.SUM)
        self.bound_device_id: Any = None
        watch.groups.add(self)

    def rank(self) -> int:
        """This process's rank in the group."""
        return int(self.place)

    def size(self) -> int:
        """The number of ranks."""
        return int(self.n)

    def name(self) -> str:
        """The backend's name."""
        return self.backend

    def _get_backend_name(self) -> str:
        return self.backend

    def set_timeout(self, timeout: timedelta) -> None:
        """Set the timeout (a timedelta) of the group's collectives."""
        self.timeout = timeout

    def operation(self, kind: RedOpType) -> Any:
        """MPI's name for a reduction."""
        return None if self.mpi is None else getattr(self.mpi, MPI_NAMES[kind])

    def run(self, async_op: bool, name: str, begin: Callable[..., Any], arguments: tuple[Any, ...], outputs: list[Any],
            finish: Callable[[], None] | None = None, size: int = 0, **named: Any) -> Work | None:
        """Do what `begin`, a method of the communicator, begins -> None when it is over; with async_op its Work at once."""
        ear = listening.ear
        if async_op or ear is not None and ear.on or listening.profile is not None:
            work = self.start(name, begin, arguments, outputs, finish, size, **named)
            return work if async_op or not work.wait() else None
        self.calls += 1
        self.bytes += size
        number = self.tell(name, size, arguments, named)
        request = begin(*arguments, **named)
        self.watch.enter(self, name)            # while the messages move
        try:
            over = soon(request.Test)
        except BaseException as error:
            if not isinstance(error, Exception):            # it goes on
                Work(self, name, [request], outputs)
                raise
            self.watch.leave()
            self.compare(number)
            raise of_backend(error) from None
        if not over:
            Work(self, name, [request], outputs, finish, number=number).wait()
            return None
        self.watch.leave()
        self.compare(number)
        if finish is not None:
            finish()
        return None

    def tell(self, name: str, size: int, arguments: tuple[Any, ...], named: dict[str, Any]) -> int:
        """Tell the other ranks which collective this one begins -> its number in the group; 0 if ranks do not compare calls."""
        if name == "send" or self.watch.page is None or self.n == 1:
            return 0
        self.collectives += 1
        dtype = None
        if name in OF_ONE_SIZE:
            dtype = getattr(arguments[0], "dtype", None)
            dtype = arguments[1].dtype if dtype is None else dtype
        key = name, dtype, 0 if dtype is None else size, id(named.get("op")), named.get("root")
        what = self.said.get(key)
        if what is None:
            if len(self.said) > MOST_SAID:
                self.said.clear()
            what = self.said[key] = self.what(name, dtype, size, named)
        self.watch.tell(self.number, self.collectives, what)
        return self.collectives

    def what(self, name: str, dtype: Any, size: int, named: dict[str, Any]) -> bytes:
        """A collective, for who reads of it."""
        text = name if dtype is None else f"{name} of {size} bytes of {dtype}"
        if "op" in named:
            text += f", {self.operations.get(id(named['op']))}"
        return (text + (f", rank {self.ranks[named['root']]}'s" if "root" in named else "")).encode()

    def compare(self, number: int) -> None:
        """A collective is over: DistBackendError if other ranks called another one in its place."""
        if number:
            self.watch.compare(self, number)

    def start(self, name: str, begin: Callable[..., Any], arguments: tuple[Any, ...], outputs: list[Any],
              finish: Callable[[], None] | None = None, size: int = 0, **named: Any) -> Work:
        """Begin what `begin`, a method of the communicator, does."""
        ear = listening.ear
        if ear is None or not ear.on:
            return self._start(name, begin, arguments, outputs, finish, size, **named)
        work: Work = ear.begin(ProcessGroup._start, name, self, size, (name, begin, arguments, outputs, finish, size), named)
        return work

    def _start(self, name: str, begin: Callable[..., Any], arguments: tuple[Any, ...], outputs: list[Any],
               finish: Callable[[], None] | None, size: int, **named: Any) -> Work:
        self.calls += 1
        self.bytes += size
        number = self.tell(name, size, arguments, named)
        self.watch.enter(self, name)
        try:
            return Work(self, name, [begin(*arguments, **named)], outputs, finish, number=number)
        except BaseException:
            self.watch.leave()
            raise


class GroupMember:
    """What a rank outside a group gets in its place."""

    WORLD: Any = None
    NON_GROUP_MEMBER = ProcessGroup.NON_GROUP_MEMBER


class World:
    """The groups of this process."""

    def __init__(self) -> None:
        self.group: ProcessGroup | None = None
        self.store: Store | None = None
        self.groups: list[ProcessGroup] = []
        self.made = 0                           # groups of any ranks, also those that this rank is not in
        self.held = False                       # an error does not end the other ranks at once: this one has a file to write

    def default(self) -> ProcessGroup:
        """The group of all ranks.  ValueError before init_process_group."""
        if self.group is None:
            raise ValueError(NOT_INITIALIZED)
        return self.group


world = World()


class _GroupMeta(type):
    @property
    def WORLD(cls) -> Any:
        return world.group


class group(metaclass=_GroupMeta):
    """group.WORLD is the group of all ranks."""

    NON_GROUP_MEMBER = ProcessGroup.NON_GROUP_MEMBER


def found(given: Any) -> ProcessGroup:
    """The group that an argument means; None is all ranks."""
    if given is None:
        return world.default()
    if given is not world.group and given not in world.groups:
        world.default()
        if given == ProcessGroup.NON_GROUP_MEMBER:
            raise ValueError("Invalid process group specified")
        raise ValueError(
            f"Process group {given} is not initialized in the world group map. Please initialize the group first.")
    return given


def is_time(timeout: Any) -> None:
    """TypeError unless it is a timedelta, or None."""
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")


def outside(given: Any) -> bool:
    """Is this rank not in the group?"""
    return isinstance(given, int) and given == ProcessGroup.NON_GROUP_MEMBER
