"""What a rank's recording says of DistributedDataParallel and of FSDP2: missing gradients, passes that average, which rank."""
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..record.recording import Event, Recording
from .graph_of import links

if TYPE_CHECKING:
    from .why import Cause

UNUSED = {"never_used", "module_not_called", "not_in_loss"}


def on_its_rank(rec: Recording, n: int | None, cause: Cause) -> Cause:
    """A cause as it is on a rank: named, and with what DistributedDataParallel has to do with it.  n: a tensor's number."""
    rank = rec.header.get("rank")
    if rank is None:
        return cause
    averaged, apart = noted(rec, "averages"), noted(rec, "no_sync")
    if averaged and cause.code in UNUSED:
        if n is not None and rec.tensor_names.get(n, {}).get("at_end", -1) >= 0:
            text = f"rank {rank} did not use it, and DistributedDataParallel put the mean over the ranks there"
            return replace(cause, code="has_grad", text=text, way_out="Nothing to do.")
        if n is None and noted(rec, "unused_allowed"):
            return replace(cause, code="unused_parameter", text=f"rank {rank}: {cause.text}")
        if noted(rec, "unused_allowed"):
            more, or_else = "no rank used it, else DistributedDataParallel had put the mean there", ""
        else:
            more = "DistributedDataParallel waits for a gradient of each parameter"
            or_else = " Or DistributedDataParallel(find_unused_parameters=True)."
        cause = replace(cause, code="unused_parameter", text=f"{cause.text}; {more}", way_out=cause.way_out + or_else)
    elif apart and cause.code in UNUSED and (not averaged or apart[-1].number > averaged[-1].number):
        cause = replace(cause, code="no_sync", text=f"{cause.text}; the pass was inside no_sync(), where gradients of other "
                        "ranks do not come either", where=cause.where or apart[-1].where)
    return replace(cause, text=f"rank {rank}: {cause.text}")


def noted(rec: Recording, what: str) -> list[Event]:
    """The notes of this kind."""
    return [e for e in rec.of("note") if e.what == what]


def averaging(rec: Recording) -> dict[int, Any]:
    """backward pass -> the note of the forward before it, "averages" or "no_sync", that decides whether it averages."""
    found: dict[int, Any] = {}
    last = None
    for e in rec.of("note", "begin"):
        if e.kind == "begin":
            if e.how == "backward":
                found[e.get("pass")] = last
        elif e.what in ("averages", "no_sync"):
            last = e
    return found


def is_sharded(rec: Recording, name: str) -> bool:
    """Is the parameter of that name in a module that fully_shard has changed?"""
    return any(name.startswith(f"{note.text}." if note.text else "") for note in links(rec).sharded)


def scattering(rec: Recording) -> dict[int, dict[str, set[tuple[int, ...]]]]:
    """Backward pass that reduced gradients -> {collective: the ranks of the groups in which it was called}.

    reduce_scatter gives each rank its shard; where a shard is the whole, there is all_reduce alone.
    """
    found: dict[int, dict[str, set[tuple[int, ...]]]] = {}
    open_: list[int] = []
    for e in rec.of("begin", "end", "collective"):
        if e.kind == "begin":
            open_.append(e.get("pass"))
        elif e.kind == "end":
            open_.remove(e.get("pass"))
        else:
            for p in open_:
                found.setdefault(p, {}).setdefault(e.name, set()).add(tuple(rec.header["groups"][e.group]))
    return {p: names for p, names in found.items() if {"reduce_scatter_tensor", "all_reduce"} & set(names)}
