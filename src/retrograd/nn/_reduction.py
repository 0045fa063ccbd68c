"""torch.nn._reduction: the numbers that stand for reductions; third-party losses convert with it."""
from __future__ import annotations

from .._engine.warn import warn

NUMBERS = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}
RENAMED = "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead."
REPLACED = "size_average and reduce args will be deprecated, please use reduction='{}' instead."


def get_enum(reduction: str) -> int:
    """0 for "none", 1 for "mean", 2 for "sum"."""
    if reduction == "elementwise_mean":
        warn(RENAMED)
    if reduction not in NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return NUMBERS[reduction]


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The reduction that two older flags meant; None is True."""
    mean, reduced = size_average is None or size_average, reduce is None or reduce
    reduction = "none" if not reduced else "mean" if mean else "sum"
    if emit_warning:
        warn(REPLACED.format(reduction))
    return reduction


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of the reduction that two older flags meant."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
