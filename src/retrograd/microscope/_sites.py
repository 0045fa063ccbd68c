"""Where in the user's code something happens: the innermost frame that belongs to no library of tensors."""
from __future__ import annotations

import os
import sys
from types import CodeType, FrameType
from typing import Any

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
PLUMBING = ("<frozen ", "<__array_function__", os.path.dirname(os.__file__) + os.sep + "contextlib.py",
            os.path.dirname(os.__file__) + os.sep + "functools.py", os.path.dirname(os.__file__) + os.sep + "runpy.py")


class Sites:
    """Numbers source lines: `here()` is one dictionary lookup a frame."""

    def __init__(self) -> None:
        self.table: list[tuple[str, int, str]] = []             # (file, line, function)
        self._numbers: dict[tuple[str, int], int] = {}
        self._skipped: dict[int, bool] = {}                     # id of a code object -> does it belong to a library?
        self._places: dict[tuple[int, int], int] = {}           # (id of a code object, instruction) -> number
        self._codes: list[CodeType] = []                        # keeps those ids valid
        self._homes: tuple[str, ...] = (HOME, *PLUMBING)

    def skip(self, folder: str) -> None:
        """Frames of files under `folder` are not the user's."""
        self._homes = (*self._homes, folder + os.sep)

    def here(self, frame: FrameType | None = None) -> int:
        """The number of the user's innermost line, from `frame` outwards; -1 when there is none."""
        found = self.user_frame(sys._getframe(1) if frame is None else frame)
        if found is None:
            return -1
        place = id(found.f_code), found.f_lasti
        known = self._places.get(place)
        if known is None:                                       # f_lineno reads a table from its start
            code = found.f_code
            known = self._places[place] = self.number(code.co_filename, found.f_lineno, code.co_qualname)
        return known

    def user_frame(self, frame: FrameType | None) -> FrameType | None:
        skipped = self._skipped
        while frame is not None:
            code = frame.f_code
            known = skipped.get(id(code))
            if known is None:
                known = skipped[id(code)] = self.is_library(code.co_filename)
                self._codes.append(code)
            if not known:
                return frame
            frame = frame.f_back
        return None

    def user_frame_is_near(self, frame: FrameType | None) -> bool:
        """Is `frame` the user's, or a module's forward that the user's model is made of, rather than deep inside?"""
        return frame is not None and not self.is_library(frame.f_code.co_filename)

    def is_library(self, file: str) -> bool:
        return file.startswith(self._homes)

    def number(self, file: str, line: int, function: str) -> int:
        key = (file, line)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.table)
            self.table.append((file, line, function))
        return found

    def of_function(self, function: Any) -> int:
        """Where `function` (or a callable object's __call__) is defined; -1 for what is not Python."""
        for _ in range(8):                                      # partials, wrappers, bound methods
            code = getattr(function, "__code__", None)
            if code is not None:
                return self.number(code.co_filename, code.co_firstlineno, code.co_qualname)
            inner = getattr(function, "func", None) or getattr(function, "__wrapped__", None)
            inner = inner or getattr(function, "__func__", None) or getattr(function, "hook", None)
            if inner is None:
                inner = vars(type(function)).get("__call__")
                if getattr(inner, "__code__", None) is None:
                    return -1
            function = inner
        return -1


def name_of(function: Any) -> str:
    """How a hook is called in reports: its qualified name without '<locals>.'"""
    for _ in range(8):
        name = getattr(function, "__qualname__", None)
        if isinstance(name, str):
            return name.replace("<locals>.", "")
        inner = getattr(function, "func", None) or getattr(function, "hook", None)
        if inner is None:
            break
        function = inner
    return type(function).__name__
