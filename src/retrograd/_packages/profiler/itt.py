"""torch.profiler.itt: marks for Intel's VTune.  Accepted, and nothing is emitted."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]


def is_available() -> bool:
    """False."""
    return False


def range_push(msg: str) -> int:
    """-1: nothing is emitted."""
    return -1


def range_pop() -> int:
    """-1: nothing is emitted."""
    return -1


def mark(msg: str) -> None:
    """Nothing is emitted."""


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Nothing is emitted."""
    yield
