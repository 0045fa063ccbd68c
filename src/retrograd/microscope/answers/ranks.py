"""merge: the recordings of several ranks as one.  Which call differs, who waited for whom, what became of a gradient.

PyTorch's DistributedDataParallel exchanges gradients where no recorder sees it: what a pass does after its last gradient
arrived stands for that, under the name AVERAGING.
"""
from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..arguments import FilePath, checked
from ..plain_text import escaped
from ..record.exchanges import UNFINISHED
from ..record.recorder import RecordingError
from ..record.recording import Recording, Value, load
from ..record.replay import double
from .parallel import averaging, is_sharded, noted, scattering
from .why import Cause, hook_of, why_none

AVERAGING = "gradients averaged by DistributedDataParallel"
MESSAGES = ("send", "recv", "isend", "irecv")
OF_ONE_SIZE = ("all_reduce", "broadcast")


@dataclass
class Exchange:
    """What one rank did in one collective; times in ns since the first recording began."""

    rank: int
    name: str
    group: str
    bytes: int
    began: int
    ended: int
    waited: int
    where: str | None
    error: str | None

    @property
    def came(self) -> int:
        """When it had nothing else to do but to wait."""
        return self.ended - self.waited

    def __str__(self) -> str:
        return f"{self.name} in rank {self.rank}" + (f" at {self.where}" if self.where else "")


@dataclass(frozen=True)
class Divergence:
    """The first call that is not the same on all ranks of a group.

    calls  rank -> its call; None: it made no such call
    """

    group: str
    number: int
    calls: dict[int, Exchange | None]

    @escaped
    def __str__(self) -> str:
        said = ", and ".join(f"no call in rank {rank}" if one is None else str(one) for rank, one in self.calls.items())
        sizes = {one.bytes for one in self.calls.values() if one is not None}
        names = {one and one.name for one in self.calls.values()}
        many = f" ({' and '.join(map(str, sorted(sizes)))} bytes)" if len(names) == 1 and len(sizes) > 1 else ""
        return f"ranks took different branches: call {self.number} of group {self.group} is {said}{many}"


@dataclass(frozen=True)
class Averaged:
    """What became of a parameter's gradient in one backward pass.

    code   "mean", "no_sync", "comm_hook", "differs" (other than the mean, and no hook is known), "cannot_know"
    local  rank -> norm of .grad with what this rank computed;  after: rank -> when the pass was over
    """

    step: int
    code: str
    text: str
    local: dict[int, float]
    after: dict[int, float]
    where: str | None = None

    @escaped
    def __str__(self) -> str:
        def told(norms: dict[int, float]) -> str:
            return ", ".join(f"{norm:.4g} in rank {rank}" for rank, norm in norms.items()) or "none"
        place = f" [{self.where}]" if self.where else ""
        return f"pass {self.step}: {self.code}: {self.text}{place}\n  norms: {told(self.local)}; afterwards {told(self.after)}"


@checked
def merge(recordings: FilePath | Iterable[Recording | FilePath]) -> Ranks:
    """Merge the recordings of the ranks of one run: a Ranks, which answers for all of them.

    recordings  Recordings, names of files that Recording.save wrote, or a pattern such as "run.*.trace"
    RecordingError where a recording does not say its rank, or two say the same one.
    """
    if isinstance(recordings, (str, os.PathLike)):
        recordings = sorted(glob.glob(os.fspath(recordings))) or [recordings]
    return Ranks([one if isinstance(one, Recording) else load(one) for one in recordings])


class Ranks:
    """The recordings of the ranks of one run: `by_rank[rank]` is that rank's."""

    def __init__(self, recordings: Iterable[Recording]) -> None:
        self.by_rank: dict[int, Recording] = {}
        for rec in recordings:
            rank = rec.header.get("rank")
            if type(rank) is not int:
                raise RecordingError("merge: a recording does not say its rank: record after init_process_group, or under "
                                     "mpiexec or torchrun")
            if rank in self.by_rank:
                raise RecordingError(f"merge: two recordings are of rank {rank}")
            self.by_rank[rank] = rec
        if not self.by_rank:
            raise RecordingError("merge: no recordings")
        self.by_rank = dict(sorted(self.by_rank.items()))
        worlds = {rank: len(rec.header.get("groups", {}).get("0", ())) for rank, rec in self.by_rank.items()}
        told = {size: rank for rank, size in worlds.items() if size}
        if len(told) > 1:
            raise RecordingError("merge: recordings of several runs: there were " + ", and ".join(
                f"{size} ranks in rank {rank}'s" for size, rank in told.items()) + "; remove those of earlier runs")
        self.shift = {rank: 0 for rank in self.by_rank}
        self.exchanges = {rank: exchanges_of(rec, rank) for rank, rec in self.by_rank.items()}
        self._align()

    def _align(self) -> None:
        """Put the recordings on one clock: the machine's, or on several machines the ends of what all took part in."""
        recs = list(self.by_rank.values())
        if len({rec.header.get("host") for rec in recs}) == 1 and all(type(rec.header.get("clock")) is int for rec in recs):
            self.shift = {rank: rec.header["clock"] for rank, rec in self.by_rank.items()}
        else:
            first = next(iter(self.by_rank))
            together = [calls for _, _, calls in self.calls() if None not in calls.values() and len(calls) == len(recs)]
            for rank in self.by_rank:
                lags = [calls[first].ended - calls[rank].ended for calls in together]       # type: ignore[union-attr]
                self.shift[rank] = int(np.median(lags)) if lags else 0
        least = min(self.shift.values())
        for rank, some in self.exchanges.items():
            self.shift[rank] -= least
            for one in some:
                one.began += self.shift[rank]
                one.ended += self.shift[rank]

    def calls(self) -> list[tuple[str, int, dict[int, Exchange | None]]]:
        """(group, number from 1, {rank: its call, or None}) of each collective call of each group."""
        queues: dict[tuple[str, tuple[int, ...]], dict[int, list[Exchange]]] = {}
        for rank, rec in self.by_rank.items():
            groups = rec.header.get("groups", {})
            for one in self.exchanges[rank]:
                if one.name not in MESSAGES:
                    members = tuple(groups.get(one.group, self.by_rank))
                    queues.setdefault((one.group, members), {}).setdefault(rank, []).append(one)
        found: list[tuple[str, int, dict[int, Exchange | None]]] = []
        for (group, members), of in queues.items():
            ranks = [rank for rank in self.by_rank if rank in members]
            for i in range(max(map(len, of.values()))):
                found.append((group, i + 1, {rank: of[rank][i] if i < len(of.get(rank, ())) else None for rank in ranks}))
        return sorted(found, key=lambda row: min(one.began for one in row[2].values() if one is not None))

    def diverged(self) -> Divergence | None:
        """The first call that was not the same on all ranks; None if all agree."""
        for group, number, calls in self.calls():
            there = [one for one in calls.values() if one is not None]
            alike = len(there) == len(calls) and len({one.name for one in there}) == 1
            if not alike or there[0].name in OF_ONE_SIZE and len({one.bytes for one in there}) > 1:
                return Divergence(group, number, calls)
        return None

    def waiting(self) -> dict[int, dict[str, float]]:
        """rank -> seconds in collectives; of these, waiting; of these, for ranks that came later; how long others waited for
        it."""
        found = {rank: {"collectives": 0.0, "waited": 0.0, "for_others": 0.0, "kept_waiting": 0.0} for rank in self.by_rank}
        for rank, some in self.exchanges.items():
            for one in some:
                found[rank]["collectives"] += (one.ended - one.began) / 1e9
                found[rank]["waited"] += one.waited / 1e9
        for _, _, calls in self.calls():
            there = [one for one in calls.values() if one is not None]
            last = max(there, key=lambda one: one.began)
            for one in there:
                lost = max(0, min(last.began, one.ended) - one.came) / 1e9
                found[one.rank]["for_others"] += lost
                found[last.rank]["kept_waiting"] += lost
        return found

    # -- gradients and hooks

    def why_none(self, name: str) -> Cause:
        """Why a parameter has no gradient, and on which ranks.

        name  of the parameter
        """
        causes = {rank: why_none(name, rec) for rank, rec in self.by_rank.items()}
        silent = {rank: cause for rank, cause in causes.items() if cause.code != "has_grad"}
        apart = self.diverged()
        if silent and apart is not None:
            return self._apart(apart, f"{name} has no gradient in rank {', '.join(map(str, silent))}: ")
        return several(silent or causes, [rank for rank in causes if silent and rank not in silent], "has a gradient")

    def why_not_fired(self, name: str) -> Cause:
        """Why a hook did not fire, and on which ranks.  name: of its function, or of what it is on; KeyError if there is
        none."""
        causes: dict[int, Cause] = {}
        for rank, rec in self.by_rank.items():
            for n, hook in enumerate(rec.hooks):
                if name in (hook["name"], hook["on"]) and causes.get(rank, FIRED).code == "fired":
                    causes[rank] = hook_of(rec, n)
        if not causes:
            raise KeyError(f"why_not_fired: no hook named {name!r}, or on {name!r}, was recorded")
        silent = {rank: cause for rank, cause in causes.items() if cause.code != "fired"}
        apart = self.diverged()
        if silent and apart is not None:
            return self._apart(apart, f"{name} did not fire in rank {', '.join(map(str, silent))}: ")
        return several(silent or causes, [rank for rank in causes if silent and rank not in silent], "fired")

    def _apart(self, apart: Divergence, text: str) -> Cause:
        where = next((one.where for one in apart.calls.values() if one is not None and one.where), None)
        return Cause("diverged", text + str(apart), "Make all ranks make the same calls in the same order.", where)

    def averaged(self, name: str) -> list[Averaged]:
        """What each pass did with a parameter's gradient over the ranks.  KeyError if there is no such name.

        name  of the parameter
        With record(values="parameters") the mean is computed again and compared; without, norms tell less.
        """
        seen = {rank: gradients(rec, name) for rank, rec in self.by_rank.items()}
        passes = sorted(set().union(*seen.values()))
        of_pass = {p: {rank: of[p] for rank, of in seen.items() if p in of} for p in passes}
        if any(is_sharded(rec, name) for rec in self.by_rank.values()):
            synced = {rank: scattering(rec) for rank, rec in self.by_rank.items()}
            return [self._scattered(p, of_pass[p], {rank: some[p] for rank, some in synced.items() if p in some}) for p in passes]
        return [self._averaged(p, of_pass[p]) for p in passes]

    def _scattered(self, step: int, seen: dict[int, Passed], synced: dict[int, Any]) -> Averaged:
        """FSDP2: each rank has the gradient of the whole, and keeps the shard of the mean that is its own.

        On a mesh of two dimensions the ranks of a row share the parameter, and all_reduce makes the mean over the rows.
        """
        shards = {rank: one.after for rank, one in seen.items()}
        local = {rank: one.now for rank, one in seen.items()}
        said = partial(Averaged, step, local=norms_of(local), after=norms_of(shards))
        rows = set().union(*(groups.get("reduce_scatter_tensor", {(rank,)}) for rank, groups in synced.items()))
        replicas = set().union(*(groups.get("all_reduce", ()) for groups in synced.values()))
        if len(synced) < len(self.by_rank) or None in shards.values() and rows <= {(rank,) for rank in synced}:
            which = "some ranks" if synced else "it"
            return said("no_sync", f"not averaged: set_requires_gradient_sync(False) kept {which} apart")
        if sum(map(len, rows)) > len(set().union(*rows)):
            return said("cannot_know", "parts of the model are sharded over different groups of ranks")
        if missing := set().union(*rows, *replicas) - set(seen):
            return said("cannot_know", f"there is no recording of rank {', '.join(map(str, sorted(missing)))}")
        if len(rows) > 1 and not replicas:
            return said("no_sync", f"averaged among ranks {' and among ranks '.join(listed(row) for row in sorted(rows))} alone: "
                        "no all_reduce followed (a mesh of one dimension, or set_requires_all_reduce(False))")
        if any(array_of(x) is None for x in (*shards.values(), *local.values())):
            return said("cannot_know", KEPT)
        mean = np.mean([array_of(one) for one in local.values()], 0)
        whole = [together([array_of(shards[rank]) for rank in row], mean.shape) for row in rows]
        if any(one is None for one in whole):
            return said("cannot_know", "the ranks' shards together are not the whole parameter")
        off = max(norm(one - mean) for one in whole) / (norm(mean) or 1.0)
        if off <= exact(local.values()):
            return said("mean", "it is the mean of the ranks' gradients: each rank keeps its shard" + (
                f", and ranks {' and '.join(listed(row) for row in sorted(rows))} the same" if len(rows) > 1 else ""))
        return said("differs", f"the ranks' shards differ from the mean of their gradients by {off:.2g} of its norm: "
                    "gradients of earlier passes, or another reduction")

    def _averaged(self, step: int, seen: dict[int, Passed]) -> Averaged:
        """Rank by rank of a group: the mean of what was in .grad, or of .grad and what arrived, is there afterwards.

        Where .grad is memory of a message, it may have been divided or averaged before it is read; hooks may change it meanwhile.
        """
        notes = {rank: note for rank in seen if (note := averaging(self.by_rank[rank]).get(step)) is not None}
        said = partial(Averaged, step, local=norms_of({rank: one.now for rank, one in seen.items()}),
                       after=norms_of({rank: one.after for rank, one in seen.items()}))
        apart = [note for note in notes.values() if note.what == "no_sync"]
        if apart or not notes:
            what = f"no_sync() kept {'it' if len(apart) == len(seen) else 'some ranks'} apart" if apart else \
                "the model was not called as a DistributedDataParallel"
            return said("no_sync", f"not averaged: {what}", where=apart[0].where if apart else None)
        rows = {tuple(self.by_rank[rank].header["groups"][note.text]) for rank, note in notes.items()}
        missing = set().union(*rows) - set(self.by_rank)
        if missing:
            return said("cannot_know", f"there is no recording of rank {listed(sorted(missing))}")
        ends = {rank: array_of(one.after) for rank, one in seen.items()}
        waits: dict[str, list[int]] = {}
        for rank, rec in self.by_rank.items():
            if names := listed(waited_for(rec, step)):
                waits.setdefault(names, []).append(rank)
        own = all(is_kept(one.brought(), ends[rank]) for rank, one in seen.items())
        if waits and own:
            return said("unused_parameter",
                        "not averaged: DistributedDataParallel waits for gradients that no operation computed: " +
                        "; ".join(f"of {names} in rank {listed(ranks)}" for names, ranks in waits.items()))
        for shares in ({rank: one.brought() for rank, one in seen.items()}, {rank: one.held() for rank, one in seen.items()}):
            if any(shares.get(rank) is None or ends[rank] is None for row in rows for rank in row):
                return said("cannot_know", KEPT)
            off = max(apart_from_mean([shares[rank] for rank in row], [ends[rank] for rank in row]) for row in rows)
            if off <= exact(one.after for one in seen.values()):
                return said("mean", "it is the mean of the ranks' gradients", local={rank: norm(x) for rank, x in shares.items()})
        hooks = [(e, rec) for rec in self.by_rank.values() for e in noted(rec, "comm_hook")]
        if hooks:
            return said("comm_hook", f"the communication hook {hooks[0][0].text} changed it: it differs from the mean "
                        f"by {off:.2g} of their norm", where=hooks[0][0].where)
        if own:
            return said("differs", "not averaged: each rank keeps its own: an earlier backward pass has averaged for this "
                        "forward pass")
        return said("differs", f"it differs from the mean of the ranks' gradients by {off:.2g} of their norm: other hooks, or "
                    "code that wrote into .grad during the pass")

    # -- looking at it

    @checked
    def to_html(self, path: FilePath, title: str | None = None) -> None:
        """Write one HTML page with a lane for each rank: passes, steps, collectives, and who waits for whom.

        path   of the file
        title  of the page
        """
        from ..page.lanes import write_lanes
        write_lanes(self, path, title)

    def summary(self) -> str:
        """Ranks, collectives and waiting, as text."""
        lines = [repr(self)[1:-1], "", f"{'rank':>4}  {'collectives':>11}  {'bytes':>12}  {'in them':>9}  {'waiting':>9}  "
                 f"{'for others':>10}  {'kept others waiting':>19}"]
        for rank, of in self.waiting().items():
            some = self.exchanges[rank]
            lines.append(f"{rank:>4}  {len(some):>11}  {sum(one.bytes for one in some):>12}  {of['collectives']:>7.4f} s  "
                         f"{of['waited']:>7.4f} s  {of['for_others']:>8.4f} s  {of['kept_waiting']:>17.4f} s")
        apart = self.diverged()
        lines += [] if apart is None else ["", str(apart)]
        lines += [f"rank {rank}: {rec.error}" for rank, rec in self.by_rank.items() if rec.error]
        return "\n".join(lines)

    @escaped
    def __repr__(self) -> str:
        events = sum(map(len, self.by_rank.values()))
        return f"<Ranks {', '.join(map(str, self.by_rank))}: {events} events>"


KEPT = 'its numbers were not kept: record(values="parameters"), with room for all events'
FIRED = Cause("fired", "", "")
EXACT = {"float16": 1e-2, "bfloat16": 1e-2}


def listed(some: Iterable[int | str]) -> str:
    return ", ".join(map(str, some))


def together(shards: list[Any], shape: tuple[int, ...]) -> Any:
    """Shards side by side in the dimension in which they give an array of this shape; None if there is none."""
    for at, n in enumerate(shape):
        rest = shape[:at] + shape[at + 1:]
        if sum(x.shape[at] for x in shards) == n and all(x.shape[:at] + x.shape[at + 1:] == rest for x in shards):
            return np.concatenate(shards, at)
    return None


def norm(x: Any) -> float:
    return float(np.linalg.norm(x))


def several(causes: dict[int, Cause], others: list[int], what: str) -> Cause:
    """One cause for all ranks that have one: the first rank's, and which ranks are otherwise."""
    rank, cause = next(iter(causes.items()))
    text = cause.text if cause.text.startswith(f"rank {rank}: ") else f"rank {rank}: {cause.text}"
    alike = [str(other) for other, its in causes.items() if its.code == cause.code]
    if len(alike) > 1:
        text = f"ranks {', '.join(alike)}: {text.partition(': ')[2]}"
    rest = "".join(f"; rank {other}: {its.text.removeprefix(f'rank {other}: ')}" for other, its in causes.items()
                   if its.code != cause.code)
    if others:
        rest += f"; rank {', '.join(map(str, others))} {what}"
    return replace(cause, text=text + rest)


def exchanges_of(rec: Recording, rank: int) -> list[Exchange]:
    """A rank's collectives and messages, in the order in which they began; times as in the recording."""
    found = [Exchange(rank, e.name, e.group, e.bytes, e.t, e.t + e.dt, e.waited, e.where, e.error)
             for e in rec.of("collective")]
    if rec.engine == "torch":
        found = sorted(found + unseen(rec, rank), key=lambda one: one.began)
    end = max((row[1] + row[2] for row in rec.rows), default=0)
    for one in found:
        if one.error == UNFINISHED:
            one.ended, one.waited = max(end, one.began), max(end, one.began) - one.began
    return found


def unseen(rec: Recording, rank: int) -> list[Exchange]:
    """The exchanges of PyTorch's DistributedDataParallel: from a pass's last gradient to its end."""
    averages = {p: note for p, note in averaging(rec).items() if note is not None and note.what == "averages"}
    last: dict[int, Any] = {}
    begins, sizes = {}, dict.fromkeys(averages, 0)
    found = []
    for e in rec.of("begin", "accumulate", "end"):
        p = e.get("pass")
        if p not in averages:
            continue
        if e.kind == "begin":
            begins[p] = last[p] = e
        elif e.kind == "accumulate":
            last[p] = e
            like = rec.tensor(e.tensor)
            sizes[p] += int(np.prod(like["shape"])) * width(like["dtype"])
        else:
            since = last[p].t + last[p].dt
            found.append(Exchange(rank, AVERAGING, averages[p].text, sizes[p], since, max(e.t, since), max(e.t - since, 0),
                                  begins[p].where, e.error))
            begins.pop(p)
    return found + [Exchange(rank, AVERAGING, averages[p].text, sizes[p], last[p].t, last[p].t, 0, e.where, UNFINISHED)
                    for p, e in begins.items()]


def width(dtype: str) -> int:
    """Bytes of an element."""
    return {"64": 8, "32": 4, "16": 2, "128": 16}.get(dtype.lstrip("abcdefghijklmnopqrstuvwxyz"), 1)


@dataclass
class Passed:
    """.grad in a pass, as Values: what arrived, what was there before, after that and its hooks, and when the pass was over."""

    gradient: Value | None
    had: Value | None
    now: Value | None
    after: Value | None

    def brought(self) -> Any:
        """What was there and what arrived; None if it was not kept."""
        here = [array_of(one) for one in (self.had, self.gradient) if one is not None]
        return None if any(one is None for one in here) else sum(here, np.zeros(()))

    def held(self) -> Any:
        """What was there after hooks."""
        return self.brought() if self.now is None else array_of(self.now)


def array_of(value: Value | None) -> Any:
    """Its numbers, in double precision; None if there are none."""
    return None if value is None or value.array is None else double(value.array)


def exact(values: Iterable[Value | None]) -> float:
    """Within what their sums are, in relation to them."""
    return max(EXACT.get(value.dtype, 1e-5) for value in values if value is not None)


def norms_of(seen: dict[int, Any]) -> dict[int, float]:
    return {rank: value.norm for rank, value in seen.items() if value is not None}


def apart_from_mean(shares: list[Any], after: list[Any]) -> float:
    """How far from the mean of the shares is what ranks have afterwards, in relation to the shares."""
    mean = sum(shares) / len(shares)
    return max(norm(one - mean) for one in after) / (float(np.mean([norm(one) for one in shares])) or 1.0)


def is_kept(share: Any, after: Any) -> bool:
    """Is a rank's own share, and nothing else, there afterwards?"""
    return share is not None and after is not None and norm(after - share) <= 1e-6 * norm(share)


def waited_for(rec: Recording, step: int) -> list[str]:
    """The parameters whose gradients a pass had to compute for DistributedDataParallel, and did not."""
    if noted(rec, "unused_allowed"):
        return []
    came = {e.tensor for e in rec.of("accumulate") if e.get("pass") == step}
    all_ = {n for e in rec.of("averaged") if e.get("pass") == step for n in e.tensors}
    return [name for name in rec.parameters if rec.number_of(name) in all_ - came]


def gradients(rec: Recording, name: str) -> dict[int, Passed]:
    """pass -> what became of .grad in it.  KeyError for no parameter.

    Without an event of its end, what is next read of .grad is taken: by a step, a later pass, or at the end.
    """
    n = rec.number_of(name)
    if n is None:
        raise KeyError(f"averaged: no parameter {name!r} was recorded; there are {', '.join(rec.parameters) or 'none'}")
    found: dict[int, Passed] = {}
    last: Passed | None = None                  # what it is afterwards is not known yet
    here: Value | None = None                   # what .grad was when last seen

    def read(value: Value | None) -> None:
        nonlocal last
        if last is not None:
            last.after, last = value, None

    for e in rec.of("accumulate", "averaged", "step", "zero"):
        if e.kind == "accumulate" and e.tensor == n and e.now >= 0:
            if last is not None and e.get("pass") not in found:
                read(rec.value(e.had))
            last = found[e.get("pass")] = Passed(rec.value(e.gradient), rec.value(e.had), rec.value(e.now), None)
        elif e.kind == "averaged" and n in e.tensors:
            before, here = here, rec.value(e.gradients[e.tensors.index(n)])
            if here is not None:
                last = found.setdefault(e.get("pass"), Passed(None, before, None, None))
                read(here)
        elif e.kind == "step" and n in e.tensors:
            read(rec.value(e.gradients[e.tensors.index(n)]))
        elif e.kind == "zero" and n in e.tensors:
            here = None
            if e.to_none:
                last = None
    read(rec.value(rec.tensor_names.get(n, {}).get("at_end", -1)))
    return found
