"""Anomaly mode: where the forward call of a failing or NaN-making node was."""
from __future__ import annotations

import warnings
from typing import Any

from .._engine.modes import modes, set_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly", "is_anomaly_enabled", "is_anomaly_check_nan_enabled"]


class set_detect_anomaly:
    """Switch anomaly detection on or off, from the call on; as a context, until its end.  For debugging: it is slow."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = modes.anomaly, modes.check_nan
        set_anomaly(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        set_anomaly(*self.prev)


class detect_anomaly:
    """Context: an error in backward names the forward call, and NaN out of a node raises RuntimeError.

    https://pytorch.org/docs/stable/autograd.html#anomaly-detection
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.", stacklevel=2)

    def __enter__(self) -> None:
        self.prev = modes.anomaly, modes.check_nan
        set_anomaly(True, self.check_nan)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        set_anomaly(*self.prev)


def is_anomaly_enabled() -> bool:
    """Is anomaly detection on?"""
    return modes.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Does anomaly detection look for NaN?"""
    return modes.check_nan
