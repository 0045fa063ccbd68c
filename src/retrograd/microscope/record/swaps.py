"""Plans of what stands for functions meanwhile: put in place, and back."""
from __future__ import annotations

from typing import Any, Final

NOTHING: Final[Any] = object()


class Seat:
    """Where the functions of one plan find who records.

    A program may put its own function over one of them, and that one stays when the recording ends: then another plan is made,
    and what the program calls beneath is of the old one, whose seat stays empty.  So nothing is told twice.
    """

    def __init__(self) -> None:
        self.current: Any = None


def swap_in(plan: list[Any]) -> bool:
    """owner.name = new for each (owner, vars(owner), name, new, what was there); False if something else is there now."""
    for _, own, name, _, had in plan:
        if own.get(name, NOTHING) is not had:
            return False
    for owner, _, name, new, _ in plan:
        setattr(owner, name, new)
    return True


def swap_out(plan: list[Any]) -> None:
    """Put back what was there, but not over what somebody else put there meanwhile."""
    for owner, own, name, new, had in plan:
        if own.get(name, NOTHING) is not new:
            continue
        if had is not NOTHING:
            setattr(owner, name, had)
        else:
            delattr(owner, name)
