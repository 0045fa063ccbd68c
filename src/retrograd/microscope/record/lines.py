"""Numbers source lines: where in the user's code an op, a hook or a pass stands."""
from __future__ import annotations

import sys
from typing import Any

from mypy_extensions import mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=True)
class Lines:
    """Numbers source lines: `here()` is one dictionary lookup a frame."""

    def __init__(self, homes: tuple[str, ...]) -> None:
        self.table: list[tuple[str, int, str]] = []             # (file, line, function)
        self._numbers: dict[tuple[str, int], int] = {}
        self._skipped: dict[int, bool] = {}                     # id of a code object -> does it belong to a library?
        self._places: dict[tuple[int, int], int] = {}           # (id of a code object, instruction) -> number
        self._codes: list[Any] = []                             # keeps those ids valid
        self._homes: tuple[str, ...] = homes                    # what libraries' files begin with

    def here(self, frame: Any = None) -> int:
        """The number of the user's innermost line, from `frame` outwards; -1 when there is none."""
        return here(self, sys._getframe() if frame is None else frame)

    def user_frame(self, frame: Any) -> Any:
        return user_frame(self, frame)

    def is_library(self, file: str) -> bool:
        return file.startswith(self._homes)

    def number(self, file: str, line: int, function: str) -> int:
        return number(self, file, line, function)


def here(lines: Lines, frame: Any) -> int:
    found = user_frame(lines, frame)
    if found is None:
        return -1
    code = found.f_code
    place = (id(code), int(found.f_lasti))
    known = lines._places.get(place, -1)
    if known < 0:                                               # f_lineno reads a table from its start
        known = lines._places[place] = number(lines, code.co_filename, found.f_lineno, code.co_qualname)
    return known


def user_frame(lines: Lines, frame: Any) -> Any:
    skipped = lines._skipped
    while frame is not None:
        code = frame.f_code
        known = skipped.get(id(code))
        if known is None:
            file: str = code.co_filename
            known = skipped[id(code)] = file.startswith(lines._homes)
            lines._codes.append(code)
        if not known:
            return frame
        frame = frame.f_back
    return None


def number(lines: Lines, file: str, line: int, function: str) -> int:
    key = (file, line)
    found = lines._numbers.get(key, -1)
    if found < 0:
        found = lines._numbers[key] = len(lines.table)
        lines.table.append((file, line, function))
    return found
