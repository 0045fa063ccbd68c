"""Messages over a socket between the program and a worker, with descriptors of shared memory.

No message waits for a thread: the program's end never blocks, what it could not send yet waits in `outbox`.
"""
from __future__ import annotations

import os
import socket
import struct
from collections import deque
from typing import Any
from weakref import WeakSet

from .handover import BLOCKS, close

SHARES = hasattr(socket, "send_fds")
TOO_MANY_FILES = (
    "Too many open files. Communication with the workers is no longer possible. Please increase the limit using `ulimit -n` in "
    "the shell")
PIECE = 1 << 16
_HEAD = struct.Struct("<QQ")            # bytes of the text, number of blocks

_ours: WeakSet[Channel] = WeakSet()     # the program's ends


class Channel:
    """One end.  RuntimeError when descriptors were lost on the way; EOFError when the other end is closed."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.inbox = bytearray()
        self.blocks: deque[int] = deque()
        self.outbox = bytearray()

    def keep(self) -> None:
        """Be the program's end: never block, and close in a child of fork, which would keep the worker waiting."""
        self.end.setblocking(False)
        _ours.add(self)

    def fill(self) -> None:
        """Read what has come."""
        try:
            if SHARES:
                data, blocks, flags, _ = socket.recv_fds(self.end, PIECE, BLOCKS, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
                self.blocks.extend(blocks)
                if flags & socket.MSG_CTRUNC:
                    raise RuntimeError(TOO_MANY_FILES)
            else:
                data = self.end.recv(PIECE)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            raise EOFError
        self.inbox += data

    def take(self) -> tuple[bytes, list[int]] | None:
        """A message that has arrived: its text and blocks."""
        if len(self.inbox) < _HEAD.size:
            return None
        size, count = _HEAD.unpack_from(self.inbox)
        end = _HEAD.size + size
        if len(self.inbox) < end:
            return None
        text = bytes(self.inbox[_HEAD.size:end])
        del self.inbox[:end]
        return text, [self.blocks.popleft() for _ in range(count)]

    def wait(self) -> tuple[bytes, list[int]]:
        """The next message, at the end that may block."""
        while (found := self.take()) is None:
            self.fill()
        return found

    def send(self, text: Any, blocks: list[int]) -> None:
        """Send a message, and close its blocks, at the end that may block."""
        data = memoryview(_HEAD.pack(len(text), len(blocks)) + text)
        try:
            if blocks:
                data = data[socket.send_fds(self.end, [data], blocks):]
            self.end.sendall(data)
        finally:
            close(blocks)

    def post(self, text: Any) -> None:
        """Send a message as far as there is room."""
        self.outbox += _HEAD.pack(len(text), 0) + text
        self.flush()

    def flush(self) -> None:
        try:
            while self.outbox:
                del self.outbox[:self.end.send(self.outbox)]
        except BlockingIOError:
            pass
        except ConnectionError:
            self.outbox.clear()             # the worker is gone: reading tells

    def close(self) -> None:
        self.end.close()
        close(self.blocks)
        self.blocks.clear()


def _let_go() -> None:
    for channel in list(_ours):
        channel.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
