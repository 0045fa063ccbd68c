"""Text with names of a program in it, as it may go to a terminal."""
from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")       # but tabs and ends of lines


def printable(text: str) -> str:
    """text with control characters written out: ESC as \\x1b."""
    return CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def escaped(method: Callable[[Any], str]) -> Callable[[Any], str]:
    """A __str__ or __repr__ whose text is printable."""
    @functools.wraps(method)
    def call(self: Any) -> str:
        return printable(method(self))
    return call
