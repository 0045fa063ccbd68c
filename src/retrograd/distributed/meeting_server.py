"""Answers what MPICH asks mpiexec (PMI 1: lines of text), for processes that something else started.  Imports nothing of ours.

    python -I -S meeting_server.py DESCRIPTOR RANKS SECONDS TOKEN STARTER

DESCRIPTOR is a socket that listens, STARTER a pipe that closes with the process that started this one.  A process says "TOKEN
RANK MACHINE"; when all are there, each is told "go", and its MPI goes on from there.  The first that ends without a word ends
this process, and with it what the others still ask.
"""
from __future__ import annotations

import os
import select
import selectors
import socket
import sys
import time

ANSWERS = {
    "init": "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1",
    "get_maxes": "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024",
    "get_appnum": "cmd=appnum rc=0 appnum=0",
    "finalize": "cmd=finalize_ack rc=0",
}
Lines = dict[socket.socket, bytes]      # what came of a line that is not whole


class Ended(Exception):
    """A process has gone without a word."""


def main(descriptor: int, n: int, seconds: float, token: str, starter: int) -> None:
    with socket.socket(fileno=descriptor) as listener:
        links, table = gathered(listener, n, time.monotonic() + seconds, token, starter)
    os.close(starter)
    for link in links:
        link.sendall(b"go\n")
    answer(links, table, f"retrograd-{token[:12]}")


def gathered(listener: socket.socket, n: int, end: float, token: str, starter: int) -> tuple[list[socket.socket], dict[str, str]]:
    """-> (a link to each process, what is known of them: the machine that each rank is on)"""
    links: dict[int, socket.socket] = {}
    machines: dict[int, str] = {}
    while len(links) < n:
        came = select.select([listener.fileno(), starter], [], [], max(end - time.monotonic(), 0.001))[0]
        if listener.fileno() not in came:                        # it is late, or who started this has gone
            raise Ended
        link = listener.accept()[0]
        link.settimeout(10)
        said = link.makefile().readline().split()
        if len(said) == 3 and said[0] == token and said[1].isdigit() and int(said[1]) < n and int(said[1]) not in links:
            link.settimeout(None)
            links[int(said[1])], machines[int(said[1])] = link, said[2]
        else:
            link.close()
    alone = len(set(machines.values())) == 1            # MPICH itself finds out about several machines
    table = {"PMI_process_mapping": f"(vector,(0,1,{n}))"} if alone else {}
    return [links[rank] for rank in range(n)], table


def answer(links: list[socket.socket], table: dict[str, str], name: str) -> None:
    """name: of the table; MPICH names memory that ranks share after it"""
    rest: Lines = dict.fromkeys(links, b"")
    waiting: list[socket.socket] = []
    with selectors.DefaultSelector() as selector:
        for each in links:
            selector.register(each, selectors.EVENT_READ, each)
        while rest:
            for key, _ in selector.select():
                link = key.data
                came = link.recv(65536)
                if not came:
                    raise Ended
                *lines, rest[link] = (rest[link] + came).split(b"\n")
                for line in lines:
                    asked = dict(word.split("=", 1) for word in line.decode().split(" ") if "=" in word)
                    command = asked.get("cmd", "")
                    if command == "barrier_in":
                        waiting.append(link)
                        if len(waiting) == len(links):
                            for each in waiting:
                                each.sendall(b"cmd=barrier_out rc=0\n")
                            waiting.clear()
                        continue
                    link.sendall((said(command, asked, table, name, len(links)) + "\n").encode())
                    if command == "finalize":
                        selector.unregister(link)
                        del rest[link]


def said(command: str, asked: dict[str, str], table: dict[str, str], name: str, n: int) -> str:
    if command == "put":
        table[asked["key"]] = asked["value"]
        return "cmd=put_result rc=0 msg=success"
    if command == "get":
        value = table.get(asked["key"])
        return "cmd=get_result rc=-1 msg=key_not_found" if value is None else f"cmd=get_result rc=0 msg=success value={value}"
    if command == "get_my_kvsname":
        return f"cmd=my_kvsname rc=0 kvsname={name}"
    if command == "get_universe_size":
        return f"cmd=universe_size rc=0 size={n}"
    if command == "abort":
        raise Ended
    return ANSWERS.get(command, f"cmd={command}_result rc=-1 msg=unknown")


if __name__ == "__main__":
    if os.fork() == 0:                                  # nobody has to wait for it
        try:
            main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
        except (Ended, OSError):                        # the links close
            pass
    os._exit(0)
