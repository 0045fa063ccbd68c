"""register_multi_grad_hook: the parts that its tensors have are no hooks of their own; one hook of the user's fires."""
from __future__ import annotations

import os
import sys
from typing import Any

from .._hooked import Hooked
from .fired import PLACE, describe

OURS = f"{__name__.partition('.')[0]}.autograd.graph"           # where the function of that name is
THEIRS = os.path.join("torch", "autograd", "graph.py")


def part(tap: Any, hook: Any, owner: int, place: int, key: int, site: int) -> bool:
    """Is `hook`, of tensor `owner`, such a part?  Then the function behind it has the recorder around it from now on.

    place, key  its table's id, and where it is in it   site  of its registration; -1 before the recording
    """
    found = kept_in(hook)
    if found is None:
        return False
    holder, attribute = found
    recorder = tap.recorder
    known = tap.multi.get(id(holder))
    firing = recorder.firing
    if known is None and firing is None:                # the recording ended meanwhile, in another thread
        return True
    if known is None:
        function = getattr(holder, attribute)
        n = recorder.new_hook(tap, "multi_grad", "", owner, site, site < 0)
        row = recorder.rec.hooks[n]
        row["tensors"] = []
        describe(recorder, tap, row, function)
        setattr(holder, attribute, Hooked(firing, (
            recorder, tap, function, row, "multi_grad", PLACE["multi_grad"], n, False)))
        recorder.later(setattr, holder, attribute, function)
        known = tap.multi[id(holder)] = holder, n
    n = known[1]
    recorder._hooks[place, key] = n
    tensors = recorder.rec.hooks[n]["tensors"]
    if owner >= 0 and owner not in tensors:
        tensors.append(owner)
    return True


def kept_in(hook: Any) -> tuple[Any, str] | None:
    """What holds the user's function that `hook` is a part of, and in which attribute."""
    code = getattr(hook, "__code__", None)
    if code is not None:
        if "fn" not in code.co_freevars or not code.co_filename.endswith(THEIRS):
            return None
        return hook.__closure__[code.co_freevars.index("fn")], "cell_contents"
    home = sys.modules[OURS]
    if type(hook) is home._One:
        return hook.whole, "fn"
    return (hook, "fn") if type(hook) is home._Any else None
