"""Where each rank is: what an error says when a collective does not end.

The ranks of one machine share a page of memory. A rank that begins a collective writes there which one it is; one that has
waited for long also writes the line of the program, and reads what the others have written. So it finds a rank whose process
has ended, ranks that call different collectives, and ranks that wait for each other in different groups. What a rank's last
collectives were stands there, too: when one is over, it is compared with what the neighbors in the group called. Ranks of
other machines are not seen: there only the timeout tells.
"""
from __future__ import annotations

import mmap
import os
import struct
import sys
import tempfile
import time
import weakref
from dataclasses import dataclass
from typing import Any, NoReturn

from .._engine.anomaly import HOME
from .errors import DistBackendError
from .work import dropped, sweep

SLOT = struct.Struct("=qqqqd32s216s")      # process, state, group, number of the call, when, its name, line of the program
STATE = struct.Struct("=qqqd32s")          # what changes with each call
TOLD = struct.Struct("=qq104sq")           # group, number of a collective in it, what it is, the number again: written last
RECENT = 32                                # collectives of a rank that the page holds
BEGUN = struct.Struct("=128q")             # pairs: group and number of the collective that it waits for; group, how many it began
ROOM = SLOT.size + RECENT * TOLD.size + BEGUN.size
OUT, WAITING, ENDED = range(3)
# collectives that are over for nobody before all have begun
TOGETHER = "all_", "reduce_scatter", "barrier", "new_group", "split_group"


@dataclass
class Seen:
    """What a rank has written."""

    rank: int
    process: int
    state: int
    group: int
    call: int
    when: float
    name: str
    line: str

    def __str__(self) -> str:
        if self.process == 0:
            return f"rank {self.rank} is on another machine"
        if self.state == ENDED or not lives(self.process):
            return f"rank {self.rank} (process {self.process}) has ended; its last call was {self.name or 'none'}"
        doing = "waits in" if self.state == WAITING else "has left"
        return (f"rank {self.rank} {doing} call {self.call} of group {self.group}, {self.name}, since "
                f"{time.time() - self.when:.1f} s" + f", at {self.line}" * bool(self.line))


class Watch:
    """The page of one process; without a communicator it is of one rank, and nothing is written."""

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size
        self.page: Any = None
        self.at = rank * ROOM
        self.under_way = 0
        self.groups: Any = weakref.WeakSet()    # that this rank is in
        self.suspected = ""                     # what the last look found

    def open(self, comm: Any) -> None:
        """Share a page among the ranks of `comm` that see one file system; collective."""
        path = ""
        if self.rank == 0:
            handle, path = tempfile.mkstemp(prefix="retrograd-ranks-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
            os.truncate(handle, self.size * ROOM)
            os.close(handle)
        path = comm.bcast(path, root=0)
        try:
            with open(path, "r+b") as file:
                self.page = mmap.mmap(file.fileno(), self.size * ROOM)
            SLOT.pack_into(self.page, self.at, os.getpid(), OUT, 0, 0, time.time(), b"", b"")
        except (OSError, ValueError):           # of another machine
            self.page = None
        comm.Barrier()
        if self.rank == 0:
            os.unlink(path)

    def enter(self, group: Any, name: str) -> None:
        """This rank begins a collective of `group`."""
        if dropped:
            sweep()
        self.under_way += 1
        if self.page is not None:
            STATE.pack_into(self.page, self.at + 8, WAITING, group.number, group.calls, time.time(), name.encode()[:32])
            self.page[self.at + STATE.size + 8] = 0

    def leave(self) -> None:
        """It is over."""
        self.under_way -= 1
        if self.page is not None and self.under_way == 0:
            self.page[self.at + 8] = OUT

    def end(self) -> None:
        """This rank takes part in nothing more."""
        if self.page is not None:
            self.page[self.at + 8] = ENDED

    def read(self, rank: int) -> Seen:
        process, state, group, call, when, name, line = SLOT.unpack_from(self.page, rank * ROOM)
        text = [part.partition(b"\0")[0].decode(errors="replace") for part in (name, line)]
        return Seen(rank, process, state, group, call, when, *text)

    def tell(self, group: int, number: int, what: bytes) -> None:
        """Which collective this rank begins, the number-th of the group."""
        TOLD.pack_into(self.page, self.at + SLOT.size + number % RECENT * TOLD.size, group, number, what, number)

    def compare(self, group: Any, number: int) -> None:
        """A collective is over: DistBackendError if a neighbor in the group called another one in its place."""
        page, place = self.page, SLOT.size + number % RECENT * TOLD.size
        mine = page[self.at + place:self.at + place + TOLD.size]
        for rank in group.neighbors:
            begin = rank * ROOM + place
            if page[begin:begin + TOLD.size] != mine and (text := self.unlike(rank, group.number, number)):
                self.fail(f"{text}; what it gave is wrong", group)

    def unlike(self, rank: int, group: int, number: int) -> str:
        """How that collective of the other rank is not this rank's; "" if it is, or does not stand in the page."""
        mine, other = self.told(self.rank, group, number), self.told(rank, group, number)
        if not mine or not other or mine == other:
            return ""
        own, its = (text.partition(b"\0")[0].decode(errors="replace") for text in (mine, other))
        return (f"ranks took different branches: collective {number} of group {group} is {own} in rank {self.rank}, and {its} "
                f"in rank {rank}")

    def told(self, rank: int, group: int, number: int) -> bytes:
        """What that collective of the rank is; b"" if the page holds another one, of another group or 32 calls away, or half."""
        what = b""
        for _ in range(2):                      # the first time, the end may have been written after the rest was read
            of, first, what, last = TOLD.unpack_from(self.page, rank * ROOM + SLOT.size + number % RECENT * TOLD.size)
            if not (of == group and first == last == number):
                return b""
        return what

    def look(self, group: Any, name: str, number: int = 0) -> None:
        """This rank has waited for some time for the number-th collective: DistBackendError if it waits in vain."""
        if self.page is None:
            return
        begun = sorted((each.number, each.collectives) for each in self.groups)[-(BEGUN.size // 16 - 1):]
        pairs = [(group.number, number if name.startswith(TOGETHER) else 0), *begun]
        BEGUN.pack_into(self.page, self.at + ROOM - BEGUN.size, *sum(pairs, ()), *[-1] * (BEGUN.size // 8 - 2 * len(pairs)))
        line = program_line()
        self.page[self.at + STATE.size + 8:self.at + SLOT.size] = line.encode()[:216].ljust(216, b"\0")
        others = [self.read(rank) for rank in group.ranks]
        for one in others:
            if one.process and (one.state == ENDED or not lives(one.process)):
                self.fail(f"rank {one.rank} (process {one.process}) has ended while rank {self.rank} waits in {name}", group)
        mine = self.read(self.rank)
        for one in others:
            other = (one.state, one.group, one.call) == (WAITING, mine.group, mine.call) and one.line
            if mine.state == WAITING and other and one.name != mine.name and "send" not in name and "recv" not in name:
                self.fail(f"ranks took different branches: call {mine.call} of group {mine.group} is {mine.name} in rank "
                          f"{mine.rank} at {line}, and {one.name} in rank {one.rank} at {one.line}", group)
        found = self.branches(group) or self.circle()
        if found and found == self.suspected:   # twice: the others may have been writing
            self.fail(found, group)
        self.suspected = found

    def branches(self, group: Any) -> str:
        """The first of this group's recent collectives that is another one in another rank, over or not."""
        numbers = sorted(TOLD.unpack_from(self.page, self.at + SLOT.size + i * TOLD.size)[:2] for i in range(RECENT))
        for of, number in numbers:
            for rank in group.ranks if of == group.number and number else ():
                if text := self.unlike(rank, of, number):
                    return text
        return ""

    def circle(self) -> str:
        """Ranks of different groups, from this one on, of which each waits for the next to begin a collective.

        The last of them waits for this one, which has not begun that; so it is still there, and so are those before it.
        """
        text, rank, seen = [], self.rank, set[int]()
        while rank not in seen:
            seen.add(rank)
            mine = self.read(rank)
            group, number = self.begun(rank)[0]
            if not (mine.state == WAITING and mine.line and number > 0):
                return ""
            after = next((other for other in range(self.size) if other != rank and self.read(other).process and any(
                of == group and count < number for of, count in self.begun(other)[1:])), None)
            if after is None:
                return ""
            text.append(f"rank {rank} waits in {mine.name} of group {group} at {mine.line} for rank {after}")
            rank = after
        return "groups are used in different orders: " + ", ".join(text) if rank == self.rank else ""

    def begun(self, rank: int) -> list[tuple[int, int]]:
        """Which collective the rank waits for; how many it has begun of each of its groups."""
        numbers = BEGUN.unpack_from(self.page, rank * ROOM + ROOM - BEGUN.size)
        return list(zip(numbers[::2], numbers[1::2], strict=True))

    def too_late(self, group: Any, name: str, seconds: float) -> NoReturn:
        """DistBackendError: the timeout has passed."""
        self.look(group, name)
        self.fail(f"Timed out waiting {round(seconds * 1000)}ms for {name} operation to complete", group)

    def fail(self, text: str, group: Any) -> NoReturn:
        seen = "" if self.page is None else "".join(f"\n  {self.read(rank)}" for rank in group.ranks)
        raise DistBackendError(text + seen)


def lives(process: int) -> bool:
    """Does the process run?"""
    try:
        os.kill(process, 0)
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except ProcessLookupError:
        return False
    except OSError:
        return sys.platform != "linux"          # without /proc; on Linux it has just gone


def program_line() -> str:
    """The innermost line that is not of this package: file.py:12."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(HOME):
        frame = frame.f_back
    return "" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
