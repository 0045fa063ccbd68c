"""Quantities of the global batch: each rank has captured its share, and knows whose the other samples are."""
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import CaptureError
from .store import contents
from .terms import Dense, Outer, Rows, Term

if TYPE_CHECKING:
    from .grads import Grads


class RankedSample(NamedTuple):
    """Sample number `sample` of a rank's share."""

    rank: int
    sample: int


class Across:
    """The samples of all ranks of a group, rank by rank.  Made by Grads.across(); every rank calls the same methods.

    ids   of all N samples, in the order of norms() and of the columns of dots()
    mine  the places of this rank's
    """

    def __init__(self, grads: Grads, group: Any = None) -> None:
        self.grads, self.group = grads, group
        self.torch = grads.torch
        self.dist = import_module(f"{self.torch.__name__}.distributed")
        if not self.dist.is_initialized():
            raise CaptureError("across: there are no ranks: call torch.distributed.init_process_group first")
        self.rank = self.dist.get_rank(group)
        shares = self._gathered((len(grads), sorted(grads.names)))
        for rank, (_, names) in enumerate(shares):
            if names != shares[0][1]:
                raise CaptureError(f"across: rank {rank} captured parameters other than those of rank 0: "
                                   f"{', '.join(sorted(set(names) ^ set(shares[0][1])))}")
        sizes = [size for size, _ in shares]
        self.ids = [RankedSample(rank, n) for rank, size in enumerate(sizes) for n in range(size)]
        self.mine = slice(sum(sizes[:self.rank]), sum(sizes[:self.rank + 1]))

    def __len__(self) -> int:
        """N."""
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Across {self.dist.get_world_size(self.group)} ranks: {len(self.grads.names)} parameters, {len(self)} samples"

    def _gathered(self, mine: Any) -> list[Any]:
        every = [None] * self.dist.get_world_size(self.group)
        self.dist.all_gather_object(every, mine, group=self.group)
        return every

    def norms(self) -> Any:
        """(N,): the norm of every sample's gradient."""
        mine = self.grads.norms()
        return self.torch.cat([self.torch.tensor(some, dtype=mine.dtype) for some in self._gathered(mine.tolist())])

    def dots(self) -> Any:
        """(n, N): inner products of this rank's samples with all.  One rank's factors are in memory besides its own."""
        T, grads = self.torch, self.grads
        grads._samples("across().dots")
        if len(grads._parts) != 1:
            raise CaptureError("across().dots: the capture has several runs; give one")
        part, factor = grads._parts[0], grads._factors[0]
        found = []
        with T.no_grad():
            for rank in range(self.dist.get_world_size(self.group)):
                told: list[Any] = [None]
                if rank == self.rank:
                    told = [(factor, len(grads), {name: packed(part[name]) for name in grads.names})]
                self.dist.broadcast_object_list(told, group=self.group, group_src=rank)
                its, N, terms = told[0]
                found.append(sum(part[name].dots(unpacked(T, N, *terms[name])) * (factor * its) for name in grads.names))
        return T.cat(found, 1)

    def weight_grad(self, reduction: str = "sum") -> dict[str, Any]:
        """{name: (*shape)}: the gradient of each weight, summed over the samples of all ranks, or their mean; one all-reduce."""
        mine = self.grads.weight_grad("sum")
        if reduction not in ("sum", "mean"):
            raise ValueError(f"weight_grad: reduction must be 'sum' or 'mean', got {reduction!r}")
        T = self.torch
        with T.no_grad():
            names = sorted(mine)
            flat = T.cat([mine[name].reshape(-1) for name in names])
            self.dist.all_reduce(flat, group=self.group)
            parts = (flat / len(self) if reduction == "mean" else flat).split([mine[name].numel() for name in names])
            return {name: part.reshape(mine[name].shape) for name, part in zip(names, parts)}


def packed(term: Term) -> tuple[str, tuple[int, ...], dict[str, Any]]:
    """A term as it can be sent: kind, shape of the weight, tensors."""
    kind, tensors = contents(term)
    return kind, tuple(term.shape), tensors


def unpacked(T: Any, N: int, kind: str, shape: tuple[int, ...], tensors: dict[str, Any]) -> Term:
    if kind == "outer":
        return Outer(T, N, shape, lambda: (tensors["a"], tensors["delta"]))
    if kind == "rows":
        return Rows(T, tensors["ids"], tensors["delta"], shape)
    return Dense(T, N, shape, lambda: tensors["gradient"])
