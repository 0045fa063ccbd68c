"""torch.cuda.nvtx, marks in NVIDIA's profiles: without CUDA each raises RuntimeError, as in PyTorch."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from retrograd._missing import late_names

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]
late_names(__name__)


def range_push(msg: Any) -> NoReturn:
    """Begin a range."""
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


def range_pop() -> NoReturn:
    """End the last range."""
    range_push(None)


def range_start(msg: Any) -> NoReturn:
    """Begin a range that another thread may end."""
    range_push(msg)


def range_end(range_id: Any) -> NoReturn:
    """End it."""
    range_push(None)


def mark(msg: Any) -> NoReturn:
    """Mark a moment."""
    range_push(msg)


@contextmanager
def range(msg: Any, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A range of a with statement."""
    range_push(msg.format(*args, **kwargs))
    yield
