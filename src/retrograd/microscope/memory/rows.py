"""What is known of memory: operations, what they saved, groups of it."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# What a row is; a "parameter" takes memory in any case, and adds nothing
KINDS = {"activation": "activations saved for backward", "data": "data saved for backward", "gradient": "gradients",
         "optimizer": "optimizer state"}


class Op(NamedTuple):
    """A call of a public function: number, name, the module and the line that made it, and in which call of the model."""

    number: int
    name: str
    module: str
    line: str
    call: int


@dataclass(slots=True, eq=False)
class Row:
    """A piece of memory, however many operations keep it.

    kind    of KINDS: "activation" was computed, "data" came in (inputs, targets, indices), or "parameter"
    bytes   of the whole memory, of which a saved view may show a part; shape and dtype are those of what was saved first
    op      the operation that saved it first; keepers: number of an operation -> how often its nodes keep it now
    place   what tells this memory from any other that is alive
    began, ended   when it began to be kept, and when the last keeper let it go (None: not yet), as places in Memory.timeline
    freed   the line of the pass that let it go, or "with its graph"; "" while it is kept
    """

    kind: str
    bytes: int
    shape: tuple[int, ...]
    dtype: str
    op: Op
    began: int
    place: Any
    keepers: Counter[int] = field(default_factory=Counter)
    ended: int | None = None
    freed: str = ""


class Group(NamedTuple):
    """Rows that have something in common: what, their bytes and how many they are."""

    name: str
    bytes: int
    number: int


def grouped(rows: list[Row], by: str) -> list[Group]:
    """The largest first.  by: "module", "op", "line", "kind", "dtype" or "freed"."""
    found: dict[str, list[int]] = {}
    for row in rows:
        if by in ("kind", "dtype", "freed"):
            name = getattr(row, by)
        else:
            name = row.op.name if by == "op" else getattr(row.op, by)
        found.setdefault(name, []).append(row.bytes)
    return sorted((Group(name, sum(sizes), len(sizes)) for name, sizes in found.items()), key=lambda g: (-g.bytes, g.name))


def size(n: float) -> str:
    """1536 -> '1.5 KiB'"""
    for unit in ("bytes", "KiB", "MiB"):
        if abs(n) < 1024:
            return f"{n:.0f} {unit}" if unit == "bytes" else f"{n:.1f} {unit}"
        n /= 1024
    return f"{n:.2f} GiB"
