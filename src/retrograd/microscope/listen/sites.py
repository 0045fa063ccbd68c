"""Where in the user's code something happens: the innermost frame that belongs to no library of tensors."""
from __future__ import annotations

import dis
import inspect
import os
import sys
from types import FrameType
from typing import Any

from ..record.lines import Lines

HOME = os.path.dirname(os.path.abspath(str(sys.modules[__name__.partition(".")[0]].__file__))) + os.sep      # the package's
PLUMBING = ("<frozen ", "<__array_function__", *(os.path.join(os.path.dirname(os.__file__), name) for name in
            ("contextlib.py", "copy.py", "functools.py", "runpy.py")))


# Frames between a call and who hears it are of these files.
HEARING = (HOME + "_engine", HOME + "microscope", os.path.join(HOME, "_functions", "public.py"))


class Sites(Lines):
    """Numbers lines of the user's code."""

    def __init__(self) -> None:
        super().__init__((HOME, *PLUMBING))

    def skip(self, folder: str) -> None:
        """Frames of files under `folder` are not the user's."""
        self._homes = (*self._homes, folder + os.sep)

    def user_frame_is_near(self, frame: FrameType | None) -> bool:
        """Is `frame` the user's, or a module's forward that the user's model is made of, rather than deep inside?"""
        return frame is not None and not self.is_library(frame.f_code.co_filename)

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


def caller() -> Any:
    """The frame that called the function that is heard."""
    frame: Any = sys._getframe(1)
    while frame.f_code.co_filename.startswith(HEARING):
        frame = frame.f_back
    return frame


def variables(frame: Any) -> dict[str, Any]:
    """What the code of a frame calls what it holds.  Nothing else of the microscope looks into frames:

    it names models as the program does, knows a forward that was called as a function by its module, and, on PyTorch, who gets
    which hook by the function that registers it, for no hook tells of hooks.
    """
    its = frame.f_locals
    found = dict(its)
    # Before Python 3.13 the frame keeps what it gave, and so what the variables held until it is asked again.
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED and sys.getrefcount(its) <= 3:
        its.clear()                             # nobody has it but the frame and us
    return found


def last_read(frame: FrameType, *names: str) -> str:
    """Which of these attributes a frame read last before where it is; '' when its code has none of them."""
    known = set(names).intersection(frame.f_code.co_names)
    if len(known) < 2:
        return known.pop() if known else ""
    read = [i.argval for i in dis.get_instructions(frame.f_code) if i.offset < frame.f_lasti and i.argval in known]
    return str(read[-1]) if read else ""
