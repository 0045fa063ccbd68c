"""Fixtures of several files."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

import retrograd as torch
from retrograd._engine import node


@pytest.fixture
def no_gc() -> Iterator[None]:
    """The collector is off, and afterwards finds nothing of ours: no tensor and no node was in a cycle."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield
        gc.garbage.clear()
        gc.collect()
        ours = [type(x).__qualname__ for x in gc.garbage if is_ours(x)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
        gc.collect()
    assert ours == []


def is_ours(x: object) -> bool:
    return isinstance(x, (torch.Tensor, node.Node)) or type(x).__module__.startswith("retrograd")
