"""Progress of long computations."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress(show: bool | None) -> Iterator[Callable[[str, int | None], Callable[[], None]]]:
    """A function (label, total) -> what to call after each step.  Bars with the time left, where stderr is a terminal.

    show   True or False decides instead; ImportError if the package rich is asked for and not there
    """
    if show is None:
        show = sys.stderr.isatty()
        try:
            import rich.progress  # noqa: F401
        except ImportError:
            show = False
    if not show:
        yield lambda label, total: lambda: None
        return
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
        raise ImportError("progress=True needs the package rich: pip install rich") from None
    columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                          TextColumn("left"), TimeRemainingColumn()]
    with Progress(*columns, console=Console(stderr=True)) as bars:
        def add(label: str, total: int | None) -> Callable[[], None]:
            task = bars.add_task(label, total=total)
            return lambda: bars.advance(task)
        yield add
