"""What a model called, in order: what was found out of the samples of one step holds for another that calls the same."""
from __future__ import annotations

from typing import Any, Final, Optional

from ..listen.ear import GETTER, MARK, Ear, wants

SMALL: Final = 8                                # numbers below say which dimension, how many parts, ...; others are sizes
SAYING: Final = frozenset((bool, str, type(None)))


class Tally(Ear):
    """An ear that notes what it hears while the model runs, functions without parameters too.

    recording   () -> are gradients recorded?
    turning     what properties that give another tensor are heard as
    """

    def __init__(self, taking: Any, after: Any, follows: Any, origin: Any, passes: Any, says: Any, layout: Any,
                 recording: Any, turning: Any) -> None:
        super().__init__(taking, after, follows, origin, passes, says, layout)
        self.turning: Any = turning
        self.said: list[Any] = []
        self.tied: set[int] = set()             # ids of parameters that several modules have
        self.recording: Any = recording
        self.unrecorded: set[int] = set()       # ids of parameters that were used where none are

    def call(self, func: Any, impl: Any, args: tuple[Any, ...], kwargs: Optional[dict[str, Any]]) -> Any:
        if self.running and (type(func) is not GETTER or func in self.turning):
            said = self.said
            said.append(func)
            tell(said, args)
            if kwargs is not None:
                for key, x in kwargs.items():
                    said.append(key)
                    tell(said, (x,))
        return super().call(func, impl, args, kwargs)

    def take(self, first: int, func: Any, impl: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if first in self.tied:                  # of which module?  Such calls do not wait
            out = self.taking(func, impl, args, kwargs)
        else:
            out = super().take(first, func, impl, args, kwargs)
        if self.running and not wants(out) and not self.recording():
            for x in (*args, *kwargs.values()):
                if id(x) in self.followed:
                    self.unrecorded.add(id(x))
            if getattr(out, MARK, None) is None:        # of a call like one that was recorded
                return self.after(func, args, kwargs, out)
        return out

    def begin(self, modules: list[Any]) -> None:
        """Anew, with which of these are in training mode."""
        modes = 1
        for module in modules:
            modes = modes << 1 | (1 if module.training else 0)
        self.said = [modes]

    def sum(self) -> int:
        """A number for all of it."""
        found = hash(tuple(self.said))
        self.said = []
        return found


def turns(Tensor: Any) -> frozenset[Any]:
    """x.T and the like, as they are heard."""
    return frozenset([getattr(Tensor, name).__get__ for name in ("T", "mT", "H", "mH", "real", "imag", "data")])


def tell(said: list[Any], values: Any) -> None:
    """Note what arguments say of how a function works; tensors and factors do not."""
    for x in values:
        kind = type(x)
        if kind is int:
            said.append(x if -SMALL <= x < SMALL else SMALL)
        elif kind in SAYING:
            said.append(x)
        elif kind is tuple or kind is list:
            tell(said, x)
