"""Stores: keys and bytes that processes share. HashStore in one process, FileStore in a file, TCPStore at rank 0."""
from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from operator import index
from typing import Any, SupportsIndex
from weakref import finalize

from .errors import DistStoreError, QueueEmptyError

try:
    import fcntl
except ImportError:                             # Windows
    fcntl = None                                # type: ignore[assignment]

PAUSE = 0.002           # seconds between looks for a key
Table = dict[str, bytes]
BYTES = (str, bytes, bytearray, memoryview)
TIMEOUT = timedelta(seconds=300)


class Store:
    """Keys and values that processes share: set, get, add, wait, compare_set, delete_key, check, num_keys, append, queues.

    A subclass defines _do(name, key, value, wanted): does what CHANGES has under that name to its table, alone.
    """

    def __init__(self) -> None:
        self._timeout = TIMEOUT

    def _do(self, name: str, key: Any = "", value: Any = b"", wanted: bytes = b"") -> Any:
        raise NotImplementedError

    def _key(self, key: str) -> str:
        return key

    @property
    def timeout(self) -> timedelta:
        """How long get and wait wait."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long get and wait wait: a timedelta."""
        fits("set_timeout", (timeout, timedelta))
        self._timeout = timeout

    def set(self, key: str, value: str | bytes) -> None:
        """Set the value of a key."""
        fits("set", (key, str), (value, BYTES))
        self._do("set", self._key(key), as_bytes(value))

    def get(self, key: str) -> bytes:
        """The value of a key, once it is set.  DistStoreError after the timeout."""
        fits("get", (key, str))
        self.wait([key])
        found: bytes = self._do("get", self._key(key))
        return found

    def add(self, key: str, amount: int) -> int:
        """Add amount to a number that starts at 0 -> the sum."""
        fits("add", (key, str), (amount, SupportsIndex))
        return int(self._do("add", self._key(key), amount))

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Set desired_value if the value is expected_value, or if the key is new and expected_value is empty -> the value now."""
        fits("compare_set", (key, str), (expected_value, BYTES), (desired_value, BYTES))
        found: bytes = self._do("compare_set", self._key(key), as_bytes(expected_value), as_bytes(desired_value))
        return found

    def append(self, key: str, value: str | bytes) -> None:
        """Append to the value of a key."""
        fits("append", (key, str), (value, BYTES))
        self._do("append", self._key(key), as_bytes(value))

    def check(self, keys: list[str]) -> bool:
        """Are all these keys set?"""
        fits("check", (keys, list), *((key, str) for key in keys))
        return bool(self._do("check", [self._key(key) for key in keys]))

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        """Return once all these keys are set.  DistStoreError after the timeout."""
        fits("wait", (keys, list), (timeout, (timedelta, type(None))))
        limit = (self._timeout if timeout is None else timeout).total_seconds()
        end = time.monotonic() + limit
        while not self.check(keys):
            if time.monotonic() > end:
                raise DistStoreError(f"wait timeout after {round(limit * 1000)}ms, keys: {', '.join(map(self._shown, keys))}")
            time.sleep(PAUSE)

    def _shown(self, key: str) -> str:
        return "/" + self._key(key)

    def delete_key(self, key: str) -> bool:
        """Delete a key -> was it set?"""
        fits("delete_key", (key, str))
        return bool(self._do("delete", self._key(key)))

    def num_keys(self) -> int:
        """The number of keys."""
        return len(self._do("keys"))

    def list_keys(self) -> list[str]:
        """The keys."""
        return list(self._do("keys"))

    def multi_get(self, keys: list[str]) -> list[bytes]:
        """The values of several keys, once all are set."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys: list[str], values: list[str | bytes]) -> None:
        """Set several keys to values."""
        if len(keys) != len(values):
            raise DistStoreError("multiSet keys and values vectors must be of same size")
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Append a value to a queue."""
        fits("queue_push", (key, str), (value, BYTES))
        self._do("push", self._key(key), as_bytes(value))

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Remove the first value of a queue, once there is one; QueueEmptyError if it is empty and block is False."""
        end = time.monotonic() + self._timeout.total_seconds()
        while True:
            found: bytes | None = self._do("pop", self._key(key))
            if found is not None:
                return found
            if not block:
                raise QueueEmptyError("queue is empty")
            if time.monotonic() > end:
                raise DistStoreError(f"wait timeout after {round(self._timeout.total_seconds() * 1000)}ms, keys: {key}")
            time.sleep(PAUSE)

    def queue_len(self, key: str) -> int:
        """The length of a queue."""
        return int(self._do("length", self._key(key)))

    def has_extended_api(self) -> bool:
        """True: the store has append, multi_get, multi_set and queues."""
        return True


class HashStore(Store):
    """A store within this process, for its threads."""

    def __init__(self) -> None:
        super().__init__()
        self._table: Table = {}
        self._lock = threading.Lock()

    def _do(self, name: str, key: Any = "", value: Any = b"", wanted: bytes = b"") -> Any:
        with self._lock:
            return CHANGES[name](self._table, key, value, wanted)

    def clone(self) -> HashStore:
        """Another handle to the same keys."""
        return self


class FileStore(Store):
    """A store in the file file_name, which processes lock while they use it.

    The file is deleted by the last of world_size processes; with world_size -1 by nobody.
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        if fcntl is None:
            raise RuntimeError("FileStore needs a system that locks files as POSIX does; TCPStore does not")
        self.path = file_name
        self.add("users", 1)
        if world_size > 0:
            finalize(self, left, file_name, world_size, os.getpid())

    def _do(self, name: str, key: Any = "", value: Any = b"", wanted: bytes = b"") -> Any:
        return changed(self.path, name, key, value, wanted)

    def clone(self) -> FileStore:
        """Another handle to the same keys."""
        return FileStore(self.path)


def changed(path: str, name: str, key: Any, value: Any, wanted: bytes = b"", wait: bool = True) -> Any:
    """What CHANGES has under that name, done to the file while nobody else uses it.  BlockingIOError without wait if one does."""
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        data = file.read()
        try:
            table: Table = {key: memoryview(held).tobytes() for key, held in decoded(data).items()} if data else {}
        except (ValueError, AttributeError, TypeError) as error:
            raise DistStoreError(f"{path} holds something else than a FileStore's table; remove it, or name another") from error
        found = CHANGES[name](table, key, value, wanted)
        now = encoded({key: held for key, held in table.items()})
        if now != data:
            file.seek(0)
            file.write(now)
            file.truncate()
        return found


def left(path: str, world_size: int, process: int) -> None:
    """A process leaves a FileStore: the last one deletes the file."""
    if process != os.getpid() or not os.path.exists(path):      # a fork of it; the file has gone
        return
    for _ in range(100):                        # without waiting: the collector may come here while this thread has the lock
        with suppress(OSError):
            if changed(path, "add", "gone", 1, wait=False) == world_size:
                os.unlink(path)
            return
        time.sleep(PAUSE)


class PrefixStore(Store):
    """Another store, with a prefix before each key."""

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        fits("__init__", (prefix, str), (store, Store), what="constructor")
        self._prefix, self._store = prefix, store
        self._timeout = store.timeout

    @property
    def underlying_store(self) -> Store:
        """The store whose keys get the prefix."""
        return self._store

    def _do(self, name: str, key: Any = "", value: Any = b"", wanted: bytes = b"") -> Any:
        return self._store._do(name, key, value, wanted)

    def _key(self, key: str) -> str:
        return self._store._key(f"{self._prefix}/{key}")

    def clone(self) -> PrefixStore:
        """Another handle to the same keys."""
        return PrefixStore(self._prefix, self._store)


def fits(function: str, *given: tuple[Any, Any], what: str = "function") -> None:
    """TypeError unless each value is of its kind."""
    for value, kind in given:
        if not isinstance(value, kind):
            raise TypeError(f"{function}(): incompatible {what} arguments. The following argument types are supported:\n"
                            f"    {getattr(kind, '__name__', kind)}, got {value!r} ({type(value).__name__})")


def whole(function: str, value: Any) -> int:
    """The value as an int.  TypeError for what is none."""
    fits(function, (value, SupportsIndex))
    return index(value)


def as_bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def encoded(value: Any) -> bytes:
    """As JSON, which is not run when it is read; bytes are marked and written as their Latin-1 letters."""
    return json.dumps(value, default=marked).encode()


def marked(value: bytes) -> dict[str, str]:
    return {MARK: value.decode("latin-1")}


def decoded(data: bytes) -> Any:
    return json.loads(data, object_hook=unmarked)


def unmarked(found: dict[str, Any]) -> Any:
    return found[MARK].encode("latin-1") if found.keys() == {MARK} else found


MARK = "\0bytes"


def put(table: Table, key: str, value: bytes, _: bytes) -> None:
    table[key] = value


def add(table: Table, key: str, value: int, _: bytes) -> int:
    total = int(table.get(key, b"0")) + int(value)
    table[key] = str(total).encode()
    return total


def append(table: Table, key: str, value: bytes, _: bytes) -> None:
    table[key] = table.get(key, b"") + value


def compare_set(table: Table, key: str, expected: bytes, wanted: bytes) -> bytes:
    if table.get(key, b"") == expected:
        table[key] = wanted
    return table.get(key, expected)


def push(table: Table, key: str, value: bytes, _: bytes) -> None:
    table[key] = encoded([*decoded(table.get(key, b"[]")), value])


def pop(table: Table, key: str, *_: Any) -> bytes | None:
    first: bytes
    first, *rest = decoded(table.get(key, b"[]")) or [None]
    if rest:
        table[key] = encoded(rest)
    else:
        table.pop(key, None)
    return first


CHANGES: dict[str, Callable[..., Any]] = {
    "set": put, "add": add, "append": append, "compare_set": compare_set, "push": push, "pop": pop,
    "get": lambda table, key, *_: table.get(key, b""),
    "check": lambda table, keys, *_: all(key in table for key in keys),
    "delete": lambda table, key, *_: table.pop(key, None) is not None,
    "keys": lambda table, *_: list(table),
    "length": lambda table, key, *_: len(decoded(table.get(key, b"[]"))),
}
