"""Plans of what stands for functions meanwhile: put in place, and back."""
from __future__ import annotations

from typing import Any, Final

NOTHING: Final[Any] = object()


def swap_in(plan: list[Any]) -> bool:
    """owner.name = new for each (owner, vars(owner), name, new, what was there); False if something else is there now."""
    for _, own, name, _, had in plan:
        if own.get(name, NOTHING) is not had:
            return False
    for owner, _, name, new, _ in plan:
        setattr(owner, name, new)
    return True


def swap_out(plan: list[Any]) -> None:
    for owner, own, name, _, had in plan:
        if had is not NOTHING:
            setattr(owner, name, had)
        elif name in own:
            delattr(owner, name)
