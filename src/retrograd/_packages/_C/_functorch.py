"""Samples under vmap, as libraries look at them."""
from __future__ import annotations

from typing import Any

from retrograd._missing import late_names
from retrograd.func._batching.level import Batched, Level, levels

late_names(__name__)


def _at(level: int) -> Level:
    return levels()[level - 1]


def is_batchedtensor(tensor: Any) -> bool:
    """Is it a sample of a batch?"""
    return type(tensor) is Batched


def get_unwrapped(tensor: Any) -> Any:
    """All samples.  RuntimeError for what is no sample."""
    if type(tensor) is not Batched:
        raise RuntimeError("No wrappers present!")
    return tensor.level.given(tensor)[0]


def maybe_get_bdim(tensor: Any) -> int:
    """Along which dim of get_unwrapped the samples lie; -1 for what is no sample."""
    return int(tensor.level.given(tensor)[1]) if type(tensor) is Batched else -1


def maybe_get_level(tensor: Any) -> int:
    """Of how many calls of vmap, one inside the other, the sample's is the innermost; -1 for what is no sample."""
    return tensor.level.depth if type(tensor) is Batched else -1


def _add_batch_dim(tensor: Any, batch_dim: int, level: int) -> Any:
    """The sample of a tensor whose samples lie along a dim."""
    return _at(level).sample(tensor, batch_dim)


def _remove_batch_dim(tensor: Any, level: int, batch_size: int, out_dim: int) -> Any:
    """All samples, along a dim."""
    return _at(level).lift(tensor).movedim(0, out_dim)
