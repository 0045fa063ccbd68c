"""Text with names of a program in it, as it may go to a terminal or a notebook."""
from __future__ import annotations

import functools
import html
import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")       # but tabs and ends of lines
ROWS = 20               # of a table in a notebook


def printable(text: str) -> str:
    """text with control characters written out: ESC as \\x1b."""
    return CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def escaped(method: Callable[[Any], str]) -> Callable[[Any], str]:
    """A __str__ or __repr__ whose text is printable."""
    @functools.wraps(method)
    def call(self: Any) -> str:
        return printable(method(self))
    return call


def table(head: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> str:
    """An HTML table; what is beyond ROWS is counted."""
    def line(cells: tuple[Any, ...], tag: str) -> str:
        return "<tr>" + "".join(f'<{tag} style="text-align:left">{html.escape(str(c))}</{tag}>' for c in cells) + "</tr>"

    more = [line((f"and {len(rows) - ROWS} more",), "td")] if len(rows) > ROWS else []
    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows[:ROWS])}{''.join(more)}</table>"


def few(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def meant(name: Any, names: list[str]) -> str:
    """What may have been meant by a name that is not there."""
    near = [n for n in names if n.endswith(f".{name}")] or get_close_matches(str(name), names)
    if not near:
        return f"there are {', '.join(names[:40]) or 'none'}"
    *others, last = near[:3]
    return f"did you mean {', '.join(others)}{' or ' if others else ''}{last}?"
