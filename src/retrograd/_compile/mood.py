"""The modes under which a call runs."""
from __future__ import annotations

from typing import Any, Final

from .._engine.modes import modes, state
from .._tensor import dtypes
from ..nn import hooks
from ..optim import optimizer
from .reach import MISSING
from .values import Guards

# (namespace, name): programs put tables of their own in the place of these
GLOBAL_HOOKS: Final[list[tuple[dict[str, Any], str]]] = [
    (space, name) for space in (vars(hooks), vars(optimizer)) for name, x in space.items()
    if name == "watcher" or (name.startswith("_global_") and isinstance(x, dict))]
CALLED = ("_global_forward", "_global_backward", "_global_optimizer")      # those that plans call
# None of them has a hook, in C: the tables are those of the import, and empty.
NO_HOOKS: Final[Any] = None if Guards is None else Guards([
    *[("dict", space, name, space[name]) for space, name in GLOBAL_HOOKS],
    ("empty", tuple([space[name] for space, name in GLOBAL_HOOKS if space[name] is not None]), None, None)], (), MISSING)


def mood() -> Any:
    """The modes of this thread; None where every call runs eagerly."""
    if modes.observer is not None or modes.clerk is not None or modes.anomaly:
        return None
    everywhere: Any = None                      # where there are hooks of every module or optimizer
    if NO_HOOKS is None or NO_HOOKS.first(0) is not None:
        for space, name in GLOBAL_HOOKS:
            if space[name]:
                if not name.startswith(CALLED):
                    return None
                everywhere = name if everywhere is None else f"{everywhere} {name}"
    it = state()
    if it.task is not None:
        return None
    if not modes.usual or modes.dispatching:
        if (it.inference or it.pack_hooks or it.pack_disabled is not None or it.mutation is not None or it.functions
                or it.listener is not None or it.lenient):
            return None
    return it.grad, dtypes.get_default_dtype(), everywhere
