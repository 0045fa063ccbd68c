"""Progress of long computations: bars of rich on a terminal, of tqdm in a notebook."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

AFTER = 2.0                                     # seconds of work before a bar that nobody asked for

Add = Callable[[str, "int | None"], Callable[[], Any]]

_outer: ContextVar[Add | None] = ContextVar("_outer", default=None)


@contextmanager
def progress(show: bool | None) -> Iterator[Add]:
    """A function (label, total) -> what to call after each step; inside another one's block that one's.

    show   None: bars where stderr is a terminal or the program a notebook, of what takes more than two seconds; True: at once,
           ImportError if the package rich is not there; False: none
    """
    outer = _outer.get()
    if outer is not None:
        yield outer
        return
    with bars_of(show) as add:
        token = _outer.set(add)
        try:
            yield add
        finally:
            _outer.reset(token)


def bars_of(show: bool | None) -> Any:
    if show is None and in_notebook():
        return notebook()
    if show is None and not sys.stderr.isatty() or show is False:
        return silent()
    return terminal(show is True)


@contextmanager
def silent() -> Iterator[Add]:
    yield lambda label, total: lambda: None


@contextmanager
def terminal(asked: bool) -> Iterator[Add]:
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
    except ImportError:
        if asked:
            raise ImportError("progress=True needs the package rich: pip install rich") from None
        yield lambda label, total: lambda: None
        return
    columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                          TextColumn("left"), TimeRemainingColumn()]
    bars = Progress(*columns, console=Console(stderr=True))
    due = time.monotonic() + (0 if asked else AFTER)

    def add(label: str, total: int | None) -> Callable[[], None]:
        task = bars.add_task(label, total=total)

        def advance() -> None:
            bars.advance(task)
            if not bars.live.is_started and time.monotonic() >= due:
                bars.start()
        return advance

    try:
        yield add
    finally:
        bars.stop()


def in_notebook() -> bool:
    """Does a notebook's kernel run this program?"""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


@contextmanager
def notebook() -> Iterator[Add]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield lambda label, total: lambda: None
        return
    bars: list[Any] = []

    def add(label: str, total: int | None) -> Callable[[], Any]:
        bars.append(tqdm(total=total, desc=label, delay=AFTER))
        return bars[-1].update

    try:
        yield add
    finally:
        for bar in bars:
            bar.close()
