"""torch.distributed.tensor.placement_types: how the dims of a device mesh would hold a tensor.  Descriptions alone."""
from __future__ import annotations

from dataclasses import dataclass, field

from retrograd._missing import late_names

__all__ = ["Partial", "Placement", "Replicate", "Shard"]
late_names(__name__)


class Placement:
    """What the placements have in common."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Is it divided, along that dim?"""
        return type(self) is Shard and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Is it whole everywhere?"""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Are there parts to reduce, by that operation?"""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Divided along a dim."""

    dim: int

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True)
class Replicate(Placement):
    """Whole everywhere."""

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True, repr=False)
class Partial(Placement):
    """To be reduced."""

    reduce_op: str = "sum"

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


@dataclass(frozen=True, repr=False)
class _StridedShard(Placement):
    """Divided along a dim that another one has divided before."""

    dim: int
    split_factor: int = field(kw_only=True)

    def __repr__(self) -> str:
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"

    def __str__(self) -> str:
        return f"_S({self.dim}, {self.split_factor})"
