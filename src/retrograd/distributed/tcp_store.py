"""TCPStore: a table that one process keeps and others reach by a socket.

JSON travels, and nothing that it holds is run; but everybody who reaches the port may read and write, as with PyTorch's.
"""
from __future__ import annotations

import os
import socket
import threading
import time
from datetime import timedelta
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from .errors import DistNetworkError, DistStoreError
from .stores import TIMEOUT, HashStore, Store, decoded, encoded

MOST = 2**26            # bytes of a message: who sends more is not answered


class Server:
    """Answers for one table, with a thread for each process that asks."""

    def __init__(self, host: str, port: int) -> None:
        self.table = HashStore()
        try:
            self.listener = Listener((host, port), backlog=128, authkey=None)
        except OSError as error:
            raise DistNetworkError(f"The server socket has failed to listen on any local network address. port: {port}, "
                                   f"{error.strerror}") from error
        self.port = int(self.listener.address[1])
        threading.Thread(target=self.accept, daemon=True, name="retrograd-store").start()

    def accept(self) -> None:
        while True:
            try:
                connection = self.listener.accept()
            except OSError:                     # closed
                return
            threading.Thread(target=self.answer, args=[connection], daemon=True, name="retrograd-store").start()

    def answer(self, connection: Connection) -> None:
        try:
            while True:
                connection.send_bytes(encoded(self.table._do(*decoded(connection.recv_bytes(MOST)))))
        except (EOFError, OSError, ValueError, KeyError, TypeError):
            connection.close()


SERVERS: dict[int, Server] = {}


class TCPStore(Store):
    """A table that the process with is_master=True keeps, at port of host_name.

    port  0: the server takes a free one, which .port then says
    DistNetworkError when the server cannot be reached in time, DistStoreError when a key does not come.
    """

    def __init__(self, host_name: str, port: int, world_size: int | None = None, is_master: bool = False,
                 timeout: timedelta = TIMEOUT, wait_for_workers: bool = True, multi_tenant: bool = False,
                 master_listen_fd: int | None = None, use_libuv: bool = True) -> None:
        super().__init__()
        self._timeout = timeout
        self._lock = threading.Lock()
        self._link: Any = None
        self._process = 0
        self._server: Server | None = None
        if is_master:
            if port in SERVERS and multi_tenant:
                self._server = SERVERS[port]
            else:
                self._server = Server("" if host_name not in ("localhost", "127.0.0.1") else host_name, port)
                SERVERS[self._server.port] = self._server
            port = self._server.port
        self._host, self._port = host_name, port
        if self._server is None:
            self._connection()
        if wait_for_workers and world_size is not None and world_size > 0:
            self.add("init/", 1)
            end = time.monotonic() + timeout.total_seconds()
            while int(self.add("init/", 0)) < world_size:
                if time.monotonic() > end:
                    raise DistStoreError(f"Timed out after {timeout.total_seconds():.0f} seconds waiting for clients. "
                                         f"{self.add('init/', 0)}/{world_size} clients joined.")
                time.sleep(0.002)

    @property
    def host(self) -> str:
        """The machine of the process that keeps the table."""
        return self._host

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._port

    def _connection(self) -> Any:
        if self._link is None or self._process != os.getpid():
            end = time.monotonic() + self._timeout.total_seconds()
            while True:
                try:
                    self._link, self._process = Client((self._host, self._port), authkey=None), os.getpid()
                    break
                except (ConnectionError, socket.gaierror, TimeoutError) as error:
                    if time.monotonic() > end:
                        raise DistNetworkError(
                            f"The client socket has timed out after {round(self._timeout.total_seconds() * 1000)}ms while "
                            f"trying to connect to ({self._host}, {self._port}).") from error
                    time.sleep(0.01)
        return self._link

    def _do(self, name: str, key: Any = "", value: Any = b"", wanted: bytes = b"") -> Any:
        if self._server is not None and self._process in (0, os.getpid()):
            self._process = os.getpid()
            return self._server.table._do(name, key, value, wanted)
        with self._lock:
            link = self._connection()
            try:
                link.send_bytes(encoded([name, key, value, wanted]))
                return decoded(link.recv_bytes(MOST))
            except (EOFError, OSError) as error:
                self._link = None
                raise DistNetworkError(f"The store at {self._host}:{self._port} has gone: its process has ended") from error

    def clone(self) -> TCPStore:
        """Another way to the same table."""
        return TCPStore(self._host, self._port, timeout=self._timeout, wait_for_workers=False)
