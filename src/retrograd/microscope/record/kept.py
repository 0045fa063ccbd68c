"""Lists and dicts of the program in which results of many steps are kept with their graphs: a replay buffer without detach."""
from __future__ import annotations

import sys
from bisect import bisect
from collections import deque
from collections.abc import Iterator
from typing import Any

from ..listen.sites import variables
from .naming import objects

MANY = 3                # passes
LONG = 1000             # of a list, the newest
OUTWARDS = 6            # frames


def kept_graphs(recorder: Any, frame: Any) -> Iterator[tuple[str, int, int]]:
    """(variable, site of the newest such result, how many passes ended after one was made) as the block ends."""
    rec = recorder.rec
    ends = [row[1] for row in rec.rows if row[0] == "end"]
    if len(ends) < MANY:
        return
    met: set[int] = set()
    for name, held in containers(recorder.sites, frame):
        if id(held) in met:
            continue
        met.add(id(held))
        made = []
        for x in tensors_in(held, 3):
            n = recorder.tensor_number(x)
            if n is not None and rec.tensor_rows[n][1] >= 0 and rec.tensor_rows[n][2] & 3 == 2:
                made.append(rec.tensor_rows[n][1])
        passed = {at for e in made if (at := bisect(ends, rec.rows[e][1])) < len(ends)}
        if len(passed) >= MANY:
            yield name, rec.events[max(made)].site, len(passed)


def containers(sites: Any, frame: Any) -> Iterator[tuple[str, Any]]:
    """Those of the variables, and of the objects that variables hold, in the user's frames, and in the program's main module,
    which has no frame any more when the program was run from outside."""
    frame = sites.user_frame(frame)
    for _ in range(OUTWARDS):
        if frame is None:
            break
        yield from among(variables(frame))
        yield from among(dict(frame.f_globals))
        frame = sites.user_frame(frame.f_back)
    yield from among(dict(getattr(sys.modules.get("__main__"), "__dict__", {})))


def among(names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The containers in a namespace."""
    for name, held in names.items():
        if type(held) in (list, dict, tuple, deque) and not name.startswith("__"):
            yield name, held
    for name, its in objects(names):
        for key, it in its.items():
            if type(it) in (list, dict, deque) and not key.startswith("_"):
                yield f"{name}.{key}", it


def tensors_in(held: Any, deep: int) -> Iterator[Any]:
    """What it contains that is no container."""
    if isinstance(held, dict):
        held = list(held.values())[-LONG:]
    for x in held if len(held) <= LONG else list(held)[-LONG:]:
        if isinstance(x, (list, tuple, dict, deque)):
            if deep:
                yield from tensors_in(x, deep - 1)
        else:
            yield x
