"""torch.distributed.rendezvous: where ranks meet, tcp://host:port, file:///path or env:// -> store, rank, world size."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from numbers import Integral
from typing import Any
from urllib.parse import ParseResult, urlparse

from .._missing import late_names
from .process_group import default_pg_timeout
from .stores import FileStore, Store
from .tcp_store import TCPStore

__all__ = ["register_rendezvous_handler", "rendezvous"]
Place = Iterator[tuple[Store, int, int]]
START = 'Start ranks with: retrograd launch -n 4 program.py.  A process alone needs no launcher: init_process_group("mpi")'
_handlers: dict[str, Callable[..., Place]] = {}
late_names(__name__)


def register_rendezvous_handler(scheme: str, handler: Callable[..., Place]) -> None:
    """Register handler(url, timeout=) -> (store, rank, world size) for URLs of a scheme.  RuntimeError if it has one."""
    if scheme in _handlers:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _handlers[scheme] = handler


def rendezvous(url: str, rank: int = -1, world_size: int = -1, **kwargs: Any) -> Place:
    """An iterator that yields one (store, rank, world size).

    url               of a scheme with a handler: tcp, file, env, or one that was registered
    rank, world_size  instead of those in the URL ("tcp://host:29500?rank=0&world_size=2") or, for env://, the environment
    RuntimeError for a scheme without a handler; ValueError from next() for what is not told.
    """
    if not isinstance(url, (str, bytes)):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url!r}")
    for name, number in (("rank", rank), ("world_size", world_size)):
        if not isinstance(number, Integral):
            raise RuntimeError(f"`{name}` must be an integer. {number}")
    url = os.fsdecode(url)
    parsed = urlparse(url)
    given = [f"{name}={number}" for name, number in (("rank", rank), ("world_size", world_size)) if number != -1]
    if given and asked(parsed).keys() & {"rank", "world_size"}:
        raise AssertionError(f"The url: {url} has node-specific arguments(rank, world_size) already.")
    if parsed.scheme not in _handlers:
        raise RuntimeError(f"No rendezvous handler for {parsed.scheme}://")
    query = "&".join([*filter(None, [parsed.query]), *given])
    return _handlers[parsed.scheme](parsed._replace(query=query).geturl(), **kwargs)


def asked(url: ParseResult) -> dict[str, str]:
    """What follows the "?"."""
    pairs = (pair.partition("=") for pair in url.query.split("&") if pair)
    return {name: value for name, _, value in pairs}


def missing(url: ParseResult, what: str) -> ValueError:
    return ValueError(f"Error initializing torch.distributed using {url.scheme}:// rendezvous: {what}")


def who(url: ParseResult, otherwise: Callable[[str, str], str]) -> tuple[int, int]:
    """rank and world size.  otherwise(name, what it is): says what the URL does not"""
    found, names = asked(url), ("rank", "world_size")
    rank, size = (int(found[name] if name in found else otherwise(name, name.replace("_", " "))) for name in names)
    if not 0 <= rank < size:
        raise ValueError(f"rank {rank} is none of a world of {size}")
    return rank, size


def in_the_url(url: ParseResult) -> Callable[[str, str], str]:
    def otherwise(name: str, what: str) -> str:
        raise missing(url, f"{what} parameter missing")

    return otherwise


def of_environment(url: ParseResult, name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise missing(url, f"environment variable {name} expected, but not set\n{START}")
    return value


def by_file(url: str, **_: Any) -> Place:
    parsed = urlparse(url)
    if not parsed.path:
        raise missing(parsed, "path missing")
    rank, size = who(parsed, in_the_url(parsed))
    yield FileStore(parsed.path, size), rank, size


def by_tcp(url: str, timeout: timedelta = default_pg_timeout, **_: Any) -> Place:
    parsed = urlparse(url)
    if parsed.port is None:
        raise missing(parsed, "port number missing")
    if parsed.hostname is None:
        raise AssertionError("hostname cannot be None")
    rank, size = who(parsed, in_the_url(parsed))
    yield kept_by_rank_0(parsed.hostname, parsed.port, rank, size, timeout), rank, size


def by_environment(url: str, timeout: timedelta = default_pg_timeout, **_: Any) -> Place:
    parsed = urlparse(url)
    rank, size = who(parsed, lambda name, _: of_environment(parsed, name.upper()))
    host, port = of_environment(parsed, "MASTER_ADDR"), int(of_environment(parsed, "MASTER_PORT"))
    yield kept_by_rank_0(host, port, rank, size, timeout), rank, size


def kept_by_rank_0(host: str, port: int, rank: int, size: int, timeout: timedelta) -> TCPStore:
    port += os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"    # PyTorch's torchrun has a store of its own at that port
    if not 0 <= port < 2**16:
        raise ValueError(f"port must have value from 0 to 65535 but was {port}.")
    return TCPStore(host, port, size, rank == 0, timeout, multi_tenant=True)


for _scheme, _handler in (("tcp", by_tcp), ("env", by_environment), ("file", by_file)):
    register_rendezvous_handler(_scheme, _handler)
