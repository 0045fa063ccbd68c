"""TCPStore: a table that one process keeps and others reach by a socket.

JSON travels, and nothing that it holds is run; but everybody who reaches the port may read and write, as with PyTorch's.
"""
from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import suppress
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any
from weakref import WeakValueDictionary, finalize

from .errors import DistNetworkError, DistStoreError
from .stores import TIMEOUT, HashStore, Store, decoded, encoded, fits

MOST = 2**26            # bytes of a message: who sends more is not answered
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class Server:
    """Answers for one table, with a thread for each process that asks; the port is free again when nobody holds it."""

    def __init__(self, host: str, port: int) -> None:
        self.table = HashStore()
        listener = listening(host, port)
        self.port = int(listener.getsockname()[1])
        finalize(self, closed, listener, os.getpid())
        threading.Thread(target=accept, args=[listener, self.table], daemon=True, name="retrograd-store").start()


def listening(host: str, port: int) -> socket.socket:
    """A socket for this machine alone if `host` says so, else for all that reach it."""
    try:
        return socket.create_server((host if host in THIS_MACHINE else "", port), backlog=128,
                                    family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise DistNetworkError(f"The server socket has failed to listen on any local network address. port: {port}, "
                               f"{os.strerror(error.errno or 0)}") from error


def closed(listener: socket.socket, process: int) -> None:
    if process == os.getpid():                  # a fork has the same socket
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)     # wakes whoever waits in accept()
        listener.close()


def accept(listener: socket.socket, table: HashStore) -> None:
    while True:
        try:
            link = Connection(listener.accept()[0].detach())
        except OSError:                         # closed
            return
        threading.Thread(target=answer, args=[link, table], daemon=True, name="retrograd-store").start()


def answer(link: Connection, table: HashStore) -> None:
    """Until the other end closes, or says what no store says."""
    with link, suppress(EOFError, OSError, ValueError, TypeError, RecursionError):
        while True:
            name, key, value, wanted = decoded(link.recv_bytes(MOST))
            try:
                found = [True, table._do(name, key, value, wanted)]
            except (ValueError, TypeError, KeyError) as error:
                found = [False, str(error)]
            link.send_bytes(encoded(found))


SERVERS: WeakValueDictionary[int, Server] = WeakValueDictionary()       # those that several stores of this process may share


class TCPStore(Store):
    """A store kept by the process with is_master=True, at a port of host_name.

    port  0: the server takes a free one, which .port then says
    world_size, wait_for_workers  wait until so many processes have come; None, or False: do not
    timeout  how long get and wait wait, and making the store
    multi_tenant  True: stores of this process at one port share a server
    master_listen_fd, use_libuv  accepted without effect
    DistNetworkError when the server cannot be reached in time, DistStoreError when a key does not come.
    """

    def __init__(self, host_name: str, port: int, world_size: int | None = None, is_master: bool = False,
                 timeout: timedelta = TIMEOUT, wait_for_workers: bool = True, multi_tenant: bool = False,
                 master_listen_fd: int | None = None, use_libuv: bool = True) -> None:
        super().__init__()
        fits("__init__", (host_name, str), (port, int), (timeout, timedelta), what="constructor")
        if not 0 <= port < 2**16:
            raise TypeError("__init__(): incompatible constructor arguments. The following argument types are supported:\n"
                            f"    a port from 0 to 65535, got {port}")
        self._timeout = timeout
        self._lock = threading.Lock()
        self._link: Any = None
        self._process = 0
        self._server: Server | None = None
        if is_master:
            self._server = SERVERS.get(port) if multi_tenant else None
            if self._server is None:
                self._server = Server(host_name, port)
                if multi_tenant:
                    SERVERS[self._server.port] = self._server
            port = self._server.port
        self._host, self._port = host_name, port
        if self._server is None:
            self._connection()
        if wait_for_workers and world_size is not None and world_size > 0:
            self._wait_for(world_size)

    def _wait_for(self, world_size: int) -> None:
        self.add("init/", 1)
        end = time.monotonic() + self._timeout.total_seconds()
        while int(self.add("init/", 0)) < world_size:
            if time.monotonic() > end:
                raise DistStoreError(f"Timed out after {self._timeout.total_seconds():.0f} seconds waiting for clients. "
                                     f"{self.add('init/', 0)}/{world_size} clients joined.")
            time.sleep(0.002)

    @property
    def host(self) -> str:
        """The machine of the process that keeps the store."""
        return self._host

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._port

    def _connection(self) -> Any:
        if self._link is None or self._process != os.getpid():
            seconds = self._timeout.total_seconds()
            end = time.monotonic() + seconds
            while True:
                try:
                    link = socket.create_connection((self._host, self._port), max(end - time.monotonic(), 0.01))
                    break
                except OSError as error:
                    if time.monotonic() > end:
                        raise DistNetworkError(f"The client socket has timed out after {round(seconds * 1000)}ms while "
                                               f"trying to connect to ({self._host}, {self._port}).") from error
                    time.sleep(0.01)
            link.setblocking(True)
            self._link, self._process = Connection(link.detach()), os.getpid()
        return self._link

    def _do(self, name: str, key: Any = "", value: Any = b"", wanted: bytes = b"") -> Any:
        if self._server is not None and self._process in (0, os.getpid()):
            self._process = os.getpid()
            return self._server.table._do(name, key, value, wanted)
        message = encoded([name, key, value, wanted])
        if len(message) > MOST:
            raise ValueError(f"{name}: {len(message):,} bytes; a message of a TCPStore has at most {MOST:,}")
        with self._lock:
            good, found = self._asked(message)
        if not good:
            raise ValueError(found)
        return found

    def _asked(self, message: bytes) -> tuple[bool, Any]:
        """The server's answer, which comes at once: whoever keeps it waiting is no store."""
        link, place = self._connection(), f"{self._host}:{self._port}"
        try:
            link.send_bytes(message)
            if not link.poll(self._timeout.total_seconds()):
                raise ValueError
            good, found = decoded(link.recv_bytes(MOST))
            return good, found
        except (EOFError, ConnectionError) as error:
            self._link = None
            raise DistNetworkError(f"The store at {place} has gone: its process has ended, or closed it") from error
        except (OSError, ValueError, TypeError, RecursionError) as error:
            self._link = None
            raise DistNetworkError(f"What listens at {place} does not answer as a TCPStore") from error

    def clone(self) -> TCPStore:
        """Another connection to the same store."""
        return TCPStore(self._host, self._port, timeout=self._timeout, wait_for_workers=False)
