"""The book of a recording: its tables, numbers of shapes and values, and the order of events.

It is in the compiled part because it works at every op, node and hook; of both engines.
  rec   the microscope's Recording, whose tables are filled
  tap   what knows an engine (tap_common.py)
"""
from __future__ import annotations

import threading
import time
from array import array
from math import sqrt
from types import FunctionType
from typing import Any, Final, Optional
from weakref import ref

from mypy_extensions import mypyc_attr

from ... import _kernels
from ..._engine.tensor import TensorBase, edits
from .._measure import measure as careful
from .lines import Lines

now: Final[Any] = time.perf_counter_ns
stats: Final[Any] = _kernels.kernel("stats")
TINY: Final = 1e-30                     # sums of squares beyond these are taken again, scaled
HUGE: Final = 1e30
UNMEASURED: Final = (-1, 0.0, 0.0, 0.0, 0, 0, 0)
BLANK: Final[Any] = array("d", UNMEASURED)              # statistics that nobody took
MARK: Final = "retrograd recording"      # key in a node's metadata: (serial number of the tap, number of the node)
GOING_ON: Final[Any] = ("note", 0, 0, 0, "unfinished", "it goes on", -1)       # an event whose end is not known yet
words: Final[dict[Any, str]] = {}                                       # dtypes and devices as text


def blank(**fields: Any) -> dict[str, Any]:
    """A dict to be copied: half the size and time of one that compiled code makes of its keys."""
    return {name: fields[name] for name in fields}


_anything: Any = blank
COMPILED: Final = not isinstance(_anything, FunctionType)


class Plain:
    """A function of the user's as a hook, and others with its code and name: how a row of rec.hooks begins for it."""

    def __init__(self, tap: Any, function: Any, row: dict[str, Any]) -> None:
        self.tap: Any = tap
        self.code: Any = function.__code__              # keeps its id valid
        self.name: Any = function.__qualname__
        self.home: Any = function.__module__
        self.closed: bool = bool(self.code.co_freevars)
        self.row: dict[str, Any] = row


class Thread:
    """What a thread is doing."""

    def __init__(self, number: int) -> None:
        self.modules: list[Any] = []                    # (module, call, the object), innermost last
        self.passes: list[int] = []
        self.busy: int = 0                              # ours: what ops do now is not recorded
        self.last: int = now()
        self.number: int = number
        self.open: list[Any] = []                       # nodes of retrograd that run, innermost last
        self.adopting: bool = False                     # ops of this thread are seen
        self.extra: Any = ()                            # indices or masks that the next ops may read besides their inputs
        self.viewing: bool = False                      # whether or not their nodes keep any: a view keeps none
        self.told: int = 0                              # id of the error with which the last pass ended
        self.refused: int = 0                           # id of an error that backward() or grad() was seen to raise
        self.stepping: bool = False                     # inside an optimizer's step, whose ops are its own


@mypyc_attr(allow_interpreted_subclasses=True)
class Book:
    """Tables, and events in order.  What it asks for by raising NotImplementedError, those who keep it provide."""

    def __init__(self, rec: Any, lines: Lines, around: Any, norms: bool, values: Optional[str], limit: int) -> None:
        self.rec: Any = rec
        self.around: Any = around                               # the class of what stands in a hook's place
        self.norms: bool = norms
        self.values: Optional[str] = values
        self.limit: int = limit
        self.on: bool = False
        self.full: bool = False
        self.start: int = 0
        self.lock: Any = threading.Lock()
        self.local: Any = threading.local()
        self.threads: int = 0
        self.open_passes: list[int] = []
        self.timed: bool = False                                # do ops or nodes ask how long it took since the last event?
        self.rows: list[Any] = rec.rows                         # rec's tables, which compiled code reads faster here
        self.modules: list[dict[str, Any]] = rec.modules
        self.hooks: list[dict[str, Any]] = rec.hooks
        self.tensor_rows: list[Any] = rec.tensor_rows
        self.tensor_names: dict[int, dict[str, Any]] = rec.tensor_names
        self.likes: list[Any] = rec.likes
        self.value_likes: Any = rec.value_likes
        self.add_like: Any = rec.value_likes.append
        self.add_stats: Any = rec.stats.extend
        self._likes: dict[Any, int] = {}
        self._ids: dict[Any, tuple[Any, int]] = {}              # id of a tensor -> (weak reference, number)
        self._seen: dict[Any, tuple[Any, int, int]] = {}        # id -> (weak reference, version, number of its value)
        self._modules: dict[Any, tuple[Any, int]] = {}          # id -> (weak reference, number)
        self._parameters: dict[int, Any] = {}                   # number -> weak reference
        self.owners: dict[int, set[int]] = {}                   # parameter -> modules that have it
        self.guessed: set[int] = set()                          # modules named by themselves, not as part of a model
        self._hooks: dict[Any, int] = {}                        # (id of the table, id of the handle) -> hook
        self._plain: dict[Any, Plain] = {}                      # id of a code object -> what is known of its functions
        self._swapped: list[tuple[Any, Any]] = []               # (weak reference of a table, key of a hook around a hook in it)
        self.room: int = 10_000                                 # how many of them there may be before some are forgotten
        self.everywhere: list[Any] = []                         # tables of hooks on every module
        self.pending: list[Any] = []                            # tables with a registration still to be wrapped
        self.sites: Lines = lines
        self.firing: Any = None                                 # Journal.fired, while the block is open

    def tensor(self, tap: Any, t: Any) -> int:
        """The number of a tensor seen before, or a new one."""
        raise NotImplementedError

    def keep(self, tap: Any, n: int, t: Any) -> None:
        """Keep a copy of t as the array of value n."""
        raise NotImplementedError

    def blame(self, tap: Any, tensors: list[Any], values: list[int]) -> None:
        """An op gave NaN or inf: were its inputs finite?"""
        raise NotImplementedError

    def used_outside(self, thread: Thread, n: int, line: int, frame: Any) -> None:
        """An op reads parameter n, perhaps outside the module that owns it."""
        raise NotImplementedError

    def name_new_leaf(self, tap: Any, t: Any, n: int) -> None:
        """A leaf is met that belongs to no module with a name."""
        raise NotImplementedError

    def module(self, tap: Any, module: Any) -> int:
        """The number of a module, which gets a name if it has none."""
        raise NotImplementedError


def thread_of(j: Book) -> Thread:
    found: Any = getattr(j.local, "it", None)
    if found is None:
        with j.lock:
            j.threads += 1
            found = Thread(j.threads - 1)
        j.local.it = found
    it: Thread = found
    return it


def since(j: Book) -> int:
    """The time, in ns since the recording began."""
    time: int = now()
    return time - j.start


def reserve(j: Book, kind: str) -> int:
    """The number of an event that begins; -1 when there is no room for it."""
    if COMPILED:
        return room(j, kind)
    with j.lock:
        return room(j, kind)


def room(j: Book, kind: str) -> int:
    rows = j.rows
    n = len(rows)
    if n < j.limit:
        rows.append(GOING_ON)
        return n
    j.full = True
    dropped = j.rec.dropped
    dropped[kind] = dropped.get(kind, 0) + 1
    return -1


def add(j: Book, table: list[Any], row: Any) -> int:
    """Append a row -> its number.

    Two threads must not get one number.  Between two lines of compiled code no other thread runs, so it takes no lock.
    """
    if COMPILED:
        n = len(table)
        table.append(row)
        return n
    with j.lock:
        n = len(table)
        table.append(row)
    return n


def like(j: Book, t: Any) -> int:
    """The number of t's shape, dtype and device."""
    if isinstance(t, TensorBase):
        return like_of(j, t.array)
    key: Any = (t.shape, t.dtype, t.device)
    found: int = j._likes.get(key, -1)
    return new_like(j, key, t.shape, t.dtype, t.device) if found < 0 else found


def like_of(j: Book, x: Any) -> int:
    """... of an array, whose dtype has the name of its tensor's."""
    key: Any = (x.shape, x.dtype)
    found: int = j._likes.get(key, -1)
    if found < 0:
        found = j._likes[key] = add(j, j.likes, (key[0], word(x.dtype), "cpu"))
    return found


def new_like(j: Book, key: Any, shape: Any, dtype: Any, device: Any) -> int:
    n = j._likes[key] = add(j, j.likes, (tuple([int(n) for n in shape]), word(dtype), word(device)))
    return n


def word(x: Any) -> str:
    """A dtype or a device as text."""
    name: Optional[str] = words.get(x)
    if name is None:
        name = words[x] = str(x).rpartition(".")[2]
    return name


def version(t: Any) -> int:
    if isinstance(t, TensorBase):
        return edits(t)
    try:
        found: int = t._version
        return found
    except RuntimeError:                                # inference tensors have none
        return -1


def value(j: Book, tap: Any, t: Any) -> int:
    """The number of t's value now; -1 of None."""
    return -1 if t is None else value_at(j, tap, t, version(t))


def value_at(j: Book, tap: Any, t: Any, edition: int) -> int:
    """The number of t's value in this version."""
    key: Any = id(t)
    known = j._seen.get(key)
    if known is not None and known[1] == edition and known[0]() is t:
        return known[2]
    row = BLANK
    if j.norms:
        row = measured(tap, t)
    n = new_value(j, tap, t, row)
    j._seen[key] = (ref(t), edition, n)
    return n


def measured(tap: Any, t: Any) -> Any:
    """The statistics of a tensor."""
    if isinstance(t, TensorBase):
        return measure(t.array)
    x: Any = tap.here(t)
    return tap.measure_there(t) if x is None else measure(x)


def measure(x: Any) -> Any:
    """The statistics of an array."""
    found: Any = stats(x)
    if found is None:
        found = stats(x.T)                              # the other order
    if found is not None:
        squares: float = found[0]
        if TINY < squares < HUGE or squares == 0.0 and found[1] == 0.0 and found[2] == 0.0:
            return (x.size, sqrt(squares), found[1], found[2], found[3], 0, 0)
    return careful(x) if x.dtype.kind in "fcV" else UNMEASURED


def new_value(j: Book, tap: Any, t: Any, row: Any) -> int:
    number = like(j, t)
    n = add_value(j, number, row)
    if j.values == "all":
        j.keep(tap, n, t)
    return n


def add_value(j: Book, number: int, row: Any) -> int:
    """A new value of shape and dtype `number`, with these statistics -> its number."""
    if COMPILED and row is BLANK:                       # extended without a line of Python: see add()
        n = len(j.value_likes)
        j.add_like(number)
        j.add_stats(row)
        return n
    with j.lock:
        n = len(j.value_likes)
        j.add_like(number)
        j.add_stats(row)
    return n


def row_of(j: Book, n: int) -> Any:
    """The statistics of a value."""
    return j.rec.stats[7 * n:7 * n + 7]


def path_of(j: Book, n: int) -> str:
    """Where a module is."""
    path: str = j.modules[n]["path"]
    return path or "the model"


def name_of(j: Book, n: int) -> str:
    """What a tensor is called."""
    known = j.tensor_names.get(n)
    if known is not None:
        name: str = known["name"]
        if name:
            return name
    return str(j.rec.name_of_tensor(n))


def names_of(j: Book, tensors: list[int]) -> str:
    """What several tensors are called."""
    names = [name_of(j, n) for n in tensors[:4]]
    if len(tensors) > 4:
        names.append(f"{len(tensors) - 4} more")
    return ", ".join(names)
