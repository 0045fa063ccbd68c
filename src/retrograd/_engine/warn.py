"""Warnings that point at the user's line and errors that show no other, in every build."""
from __future__ import annotations

import sys
import warnings
from typing import Any, Final


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """A warning at the nearest line outside this package."""
    level = 1
    frame: Any = sys._getframe()
    while frame.f_back is not None and str(frame.f_globals.get("__package__")).partition(".")[0] == "retrograd":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def instead(error: BaseException) -> BaseException:
    """error, to be raised in place of the one that is handled: compiled code does not know `raise ... from None`."""
    error.__suppress_context__ = True
    return error


class Said:
    """What was said that is said once per process.  `always`: set_warn_always."""

    def __init__(self) -> None:
        self.always = False
        self.texts: set[str] = set()


said: Final = Said()


def once(text: str) -> bool:
    """Is a warning due that comes once per process?  After set_warn_always it always is."""
    if said.always:
        return True
    due = text not in said.texts
    said.texts.add(text)
    return due


def warn_once(text: str) -> None:
    """A warning at the user's line, once per process."""
    if once(text):
        warn(text)


def warn_discarded(have: Any, want: Any) -> None:
    """A warning, once, where complex numbers of dtype `have` lose their imaginary part in dtype `want`."""
    if have.kind == "c" and want.kind not in "cb":
        warn_once("Casting complex values to real discards the imaginary part")
