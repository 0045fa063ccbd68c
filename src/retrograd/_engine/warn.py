"""Warnings that point at the user's line, in every build."""
from __future__ import annotations

import sys
import warnings
from typing import Any


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """A warning at the nearest line outside this package."""
    level = 1
    frame: Any = sys._getframe()
    while frame.f_back is not None and str(frame.f_globals.get("__package__")).partition(".")[0] == "retrograd":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
