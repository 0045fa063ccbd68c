"""Anomaly mode: where the forward call of a failing or NaN-making node was."""
from __future__ import annotations

from .._engine import scopes
from .._engine.modes import modes, set_anomaly
from .._engine.warn import warn

__all__ = ["detect_anomaly", "set_detect_anomaly", "is_anomaly_enabled", "is_anomaly_check_nan_enabled"]


class set_detect_anomaly(scopes.AnomalyFrom):
    """Switch anomaly detection on or off (mode), from the call on; as a context, until its end.  For debugging: it is slow.

    check_nan=False: NaN is no error.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.note()
        set_anomaly(mode, check_nan)


class detect_anomaly(scopes.Anomaly):
    """Context: an error in backward names the forward call, and NaN out of a node raises RuntimeError (unless check_nan=False).

    https://pytorch.org/docs/stable/autograd.html#anomaly-detection
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.")


def is_anomaly_enabled() -> bool:
    """Is anomaly detection on?"""
    return modes.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Does anomaly detection look for NaN?"""
    return modes.check_nan
