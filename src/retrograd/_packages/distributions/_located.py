"""What distributions with a location have in common."""
from __future__ import annotations

from typing import Any

from . import constraints
from .utils import broadcast_all

__all__: list[str] = []


class Located:
    """Symmetric about `loc`."""

    loc: Any

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc


class LocScale(Located):
    """A standard distribution, shifted by loc and scaled by scale."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)  # type: ignore[call-arg]
