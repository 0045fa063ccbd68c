"""Where the ways of tensors end that do not lead to a loss: found for all tensors at once, since all may be asked for."""
from __future__ import annotations

from functools import cached_property
from typing import Any

from ..record.recording import Event, Recording
from ..record.witness import GRAD, INFERENCE, INPLACE, WANTED, WANTS
from .graph_of import links
from .read_off import READS, computed_with, on_the_way

DETACHES = {"detach", "detach_", "data", "tensor", "as_tensor", "asarray", "new_tensor", "Parameter", "Buffer"}

First = dict[int, int]          # tensor -> the first such op, by number, that read it or what was computed from it


class Ends:
    """roots: the tensors that backward passes began at."""

    def __init__(self, rec: Recording, roots: tuple[int, ...]) -> None:
        self.rec, self.link = rec, links(rec)
        self.before = before = self.link.tensors_before(roots)
        self.ops = [rec.events[i] for i in sorted({i for found in self.link.reads.values() for i in found})]
        self.leading = {e.number for e in self.ops if any(o in before for o in self.link.goes_on(e.number))}

    def first(self, ops: Any) -> First:
        return self.link.first_after(e.number for e in ops)

    @cached_property
    def leads(self) -> First:
        """Those on a way to the roots."""
        return self.first(e for e in self.ops if e.number in self.leading)

    @cached_property
    def cut(self) -> First:
        """Those on a way to the roots that gradients do not pass."""
        return self.first(e for e in self.ops if e.number in self.leading and (cuts(e) or self.passes_none_on(e)))

    def passes_none_on(self, e: Event) -> bool:
        """Of its results, are those on the way leaves or indices?  As of torch.tensor(t, requires_grad=True) or topk()."""
        return bool(e.flags & WANTED) and not e.flags & INPLACE and not boundary(e) and all(
            self.rec.tensor_rows[o][2] & 3 != 2 and o not in e.inputs for o in self.link.goes_on(e.number) if o in self.before)

    @cached_property
    def used(self) -> First:
        """Those that compute: copies, norms and updates are no use of a parameter."""
        return self.first(e for e in self.ops if e.number not in self.link.aside or e.module >= 0)

    @cached_property
    def off(self) -> First:
        """Those that gradients do not pass since they were switched off."""
        return self.first(e for e in self.ops if cuts(e) and switched_off(e))

    @cached_property
    def last(self) -> First:
        """The last of all; a boundary only where there is nothing else."""
        return self.first(sorted(reversed(self.ops), key=boundary))

    @cached_property
    def fates(self) -> dict[int, bool | None]:
        """Op that gave a number -> were the roots computed with it?"""
        reads = [e for e in self.ops if e.name in READS]
        later = on_the_way(self.rec) if reads else {}
        return {e.number: computed_with(self.rec, e, later) for e in reads}

    @cached_property
    def as_number(self) -> First:
        """Those that gave a number which the roots were computed with."""
        return self.link.first_after(i for i, used in self.fates.items() if used)

    @cached_property
    def perhaps(self) -> First:
        """Those that gave a number of which nobody knows."""
        return self.link.first_after(i for i, used in self.fates.items() if used is None)

    @cached_property
    def whole(self) -> First:
        """On the way to as_number's: those that give what has no derivative."""
        found: First = {}
        first, made = self.as_number, self.link.made or {}
        for e in self.ops:
            if cuts(e) and not switched_off(e) and e.name not in DETACHES and not differentiable(self.rec, e):
                for read in {first[o] for o in e.outputs if o in first}:
                    todo = [e.number]
                    while todo:
                        for t in self.link.got.get(todo.pop(), ()):
                            if t not in found and first.get(t) == read:
                                found[t] = e.number
                                todo.extend(made.get(t, ()))
        return found


def ends_of(rec: Recording, roots: tuple[int, ...]) -> Ends:
    known: dict[tuple[int, ...], Ends] = links(rec).ends
    if roots not in known:
        if len(known) > 4:                              # each may be as large as the recording
            known.clear()
        known[roots] = Ends(rec, roots)
    return known[roots]


def switched_off(e: Event) -> bool:
    return not e.flags & GRAD or bool(e.flags & INFERENCE)


def boundary(e: Event) -> bool:
    """Was it put around a module by a full backward hook?  PyTorch's is a view, a leaf until it has its Function's node."""
    return e.name == "backward_hook_function" or (e.name == "view_as" and bool(e.flags & WANTS) and switched_off(e))


def cuts(e: Event) -> bool:
    """Do gradients not pass this op?"""
    return bool(e.flags & WANTED) and (not e.flags & WANTS or e.name == "Parameter")


def differentiable(rec: Recording, e: Event) -> bool:
    """Does it give a tensor of floats, or none at all?"""
    dtypes = dtypes_of(rec, e)
    return not dtypes or any(map(floats, dtypes))


def floats(dtype: str) -> bool:
    """Has it gradients?"""
    return dtype[:5] in ("float", "bfloa", "compl")


def dtypes_of(rec: Recording, e: Event) -> set[str]:
    return {rec.likes[rec.tensor_rows[t][0]][1] for t in e.outputs}
