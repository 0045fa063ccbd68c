"""The mean of parameters over ranks."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ...._engine.tensor import bump, wrap
from ...collectives import all_reduce, parts
from ...process_group import ProcessGroup, found, outside

__all__ = ["average_parameters", "average_parameters_or_parameter_groups", "get_params_to_average"]


def average_parameters(params: Iterator[Any], process_group: ProcessGroup) -> None:
    """Parameters become their means over the ranks of a group: one message for each dtype."""
    if outside(process_group):
        return
    group, all_of_them = found(process_group), list(params)
    for kind in dict.fromkeys(p.dtype for p in all_of_them):
        some = [p for p in all_of_them if p.dtype == kind]
        flat = np.concatenate([p.array.reshape(-1) for p in some]) / some[0].array.dtype.type(group.size())
        all_reduce(wrap(flat), group=group)
        for p, part in zip(some, parts(flat, [p.array.size for p in some]), strict=True):
            np.copyto(p.array, part.reshape(p.array.shape))
            bump(p)


def get_params_to_average(params: Iterable[Any]) -> list[Any]:
    """The parameters, of groups of them as well, that have a gradient.  TypeError for what is neither."""
    found_: list[Any] = []
    for one in params:
        if hasattr(one, "requires_grad"):
            found_.append(one)
        elif isinstance(one, dict):
            found_ += one["params"]
        else:
            raise NotImplementedError(f"Parameter input of type {type(one)} is not supported")
    return [p for p in found_ if p.grad is not None]


def average_parameters_or_parameter_groups(params: Iterable[Any], process_group: ProcessGroup) -> None:
    """average_parameters of those that have a gradient."""
    average_parameters(iter(get_params_to_average(params)), process_group)
