"""Queries of a FactorStore that is larger than memory: scores, the best, self-influence, sums; block by block.

A block is some samples of one append with all their layers, so what is in memory at a time is bounded, and no matrix of all
samples by all samples is made.
"""
from __future__ import annotations

import fnmatch
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arguments import checked
from ..bar import progress as bars
from ..errors import StoreError
from ..plain_text import meant

if TYPE_CHECKING:
    from .grads import Grads
    from .store import Record

WORK = 4                # times the bytes that are read, and the scores, that a block takes while it is worked on


class SampleId(NamedTuple):
    """Which sample: rank is None in a store of one process."""

    rank: int | None
    step: int
    sample: int


class Block(NamedTuple):
    """Samples `begin` to `end` of one append: a record for each layer."""

    records: list[Record]
    begin: int
    end: int

    @property
    def ids(self) -> list[SampleId]:
        """Which samples they are."""
        first = self.records[0]
        return [SampleId(first.rank, first.step, sample) for sample in first.samples[self.begin:self.end]]


class Best(NamedTuple):
    """values (M, k) and ids [M][k] of the samples with the greatest scores, greatest first, for each of M queries."""

    values: Any
    ids: list[list[SampleId]]


class Queries:
    """What a FactorStore answers about all its samples, of all ranks."""

    engine: Any

    @property
    def layers(self) -> list[str]:
        """Names of the parameters, in the order in which they first appear."""
        raise NotImplementedError

    def records(self, layer: str = "*", step: int | None = None, sample: int | None = None) -> Iterator[Record]:
        """What is stored, in order."""
        raise NotImplementedError

    @checked
    def scores(self, query: Grads, layer: str = "*", step: int | None = None, memory_mb: float = 512) -> Iterator[tuple[
            Any, list[SampleId]]]:
        """((M, n) inner products with a batch of M queries, ids of the n samples), block by block.

        step  one step alone; all by default
        query      a grads.Grads of one run, with the parameters that are stored; layer= chooses some
        memory_mb  megabytes that a block may take, besides the query
        """
        for got, block in self._scored("scores", query, layer, step, memory_mb):
            yield got, block.ids

    @checked
    def top(self, query: Grads, k: int, layer: str = "*", step: int | None = None, memory_mb: float = 512) -> Best:
        """The k samples with the greatest inner products with each query: a Best.  Arguments as those of scores().

        query, layer, step, memory_mb  as in scores()
        k                              how many of each query
        """
        if k < 1:
            raise ValueError(f"FactorStore.top: k must be at least 1, got {k}")
        M = len(query)
        values, places = np.full((M, k), -np.inf), np.full((M, k), -1, np.int64)
        starts, blocks, seen = [], [], 0
        for got, block in self._scored("top", query, layer, step, memory_mb):
            starts.append(seen)
            blocks.append(block)
            merge_best(values, places, array_of(got), seen)
            seen += block.end - block.begin
        k = min(k, seen)

        def of(place: int) -> SampleId:
            at = bisect_right(starts, place) - 1
            block = blocks[at]
            first = block.records[0]
            return SampleId(first.rank, first.step, first.samples[block.begin + place - starts[at]])

        return Best(self.engine.torch.from_numpy(values[:, :k].copy()), [[of(place) for place in row[:k]] for row in places])

    def self_influence(self, layer: str = "*", step: int | None = None, memory_mb: float = 512, curvature: Any = None) -> tuple[
            Any, list[SampleId]]:
        """((N,) squared norms of the samples' gradients, their ids); with curvature, a KFAC: g' (curvature + damping)^-1 g.

        layer, step, memory_mb  as in scores()
        curvature               a KFAC, or None for the plain norms
        """
        found, ids = [], []
        T = self.engine.torch
        with T.no_grad():
            for block in self._blocks(layer, step, memory_mb, 0, curvature is not None):
                terms = {r.layer: (r.term(block.begin, block.end), r.about["scale"]) for r in block.records}
                if curvature is None:
                    got = sum(term.norms2() * scale ** 2 for term, scale in terms.values())
                else:
                    g = {name: term.per_sample() * scale for name, (term, scale) in terms.items()}
                    solved = curvature.apply(g)
                    got = sum((g[name] * solved[name]).reshape(len(g[name]), -1).sum(1) for name in g)
                found.append(got)
                ids += block.ids
        return T.cat(found), ids

    def total(self, layer: str = "*", step: int | None = None, memory_mb: float = 512) -> dict[str, Any]:
        """{name: (*shape)}: the gradients of all samples, of all ranks, summed.

        layer, step, memory_mb  as in scores()
        """
        found: dict[str, Any] = {}
        with self.engine.torch.no_grad():
            for block in self._blocks(layer, step, memory_mb, 0):
                for r in block.records:
                    got = r.term(block.begin, block.end).total() * r.about["scale"]
                    found[r.layer] = got if r.layer not in found else found[r.layer] + got
        return found

    @checked
    def dots(self, query: Grads, layer: str = "*", step: int | None = None, progress: bool | None = None) -> tuple[Any, Any]:
        """((M, N) inner products, [(step, sample)] of the N): a batch of queries against everything stored.

        query is a grads.Grads; one block is in memory at a time, and the result.  Parameters that are not in both raise
        StoreError, unless layer= chooses some.

        progress   a bar on stderr; by default if it is a terminal, after two seconds
        """
        found, where = [], []
        with bars(progress) as bar:
            advance = bar("blocks", None)
            for got, block in self._scored("dots", query, layer, step, 512):
                found.append(got)
                where += [(each.step, each.sample) for each in block.ids]
                advance()
        return self.engine.torch.cat(found, 1), where

    # Blocks

    def _scored(self, what: str, query: Any, layer: str, step: int | None, memory_mb: float) -> Iterator[tuple[Any, Block]]:
        query._samples(f"FactorStore.{what}")
        if len(query._parts) != 1:
            raise StoreError(f"FactorStore.{what}: the query holds several runs; give one")
        names = {n for n in query.names if fnmatch.fnmatchcase(n, layer)}
        stored = {n for n in self.layers if fnmatch.fnmatchcase(n, layer)}
        if names != stored:
            wrapped = {n.removeprefix("module.") for n in names} == {n.removeprefix("module.") for n in stored}
            way_out = "; capture(model.module) gives those of a DistributedDataParallel their own names" * wrapped
            raise StoreError(f"FactorStore.{what}: query and store do not hold the same parameters: "
                             f"{', '.join(sorted(names ^ stored)[:6])}{way_out}")
        if self.engine is not query.cap.engine:
            raise StoreError(f"FactorStore.{what}: the query is of {query.cap.engine.name}; open the store with engine="
                             f"{query.cap.engine.name!r}")
        part, factor = query._parts[0], query._factors[0]
        with self.engine.torch.no_grad():
            for block in self._blocks(layer, step, memory_mb, len(query)):
                scores = None
                for r in block.records:
                    got, scale = part[r.layer].dots(r.term(block.begin, block.end)), factor * r.about["scale"]
                    got = got if scale == 1 else got * scale
                    scores = got if scores is None else scores + got
                yield scores, block

    def _blocks(self, layer: str, step: int | None, memory_mb: float, queries: int, dense: bool = False) -> Iterator[Block]:
        """Samples whose factors, and scores for so many queries, fit into memory_mb."""
        if not memory_mb > 0:
            raise ValueError(f"FactorStore: memory_mb must be positive, got {memory_mb!r}")
        records = None
        for records in self._appends(layer, step):
            N = len(records[0].samples)
            each = sum(r.bytes_of_sample(dense) for r in records) + 4 * queries
            rows = max(1, int(memory_mb * (1 << 20) / (WORK * each)))
            for begin in range(0, N, rows):
                yield Block(records, begin, min(begin + rows, N))
        if records is None:
            names = self.layers
            known = not names or fnmatch.filter(names, layer)
            raise StoreError("FactorStore: " + (f"no parameter {layer!r} is stored; {meant(layer, names)}" if not known else
                                                "nothing is stored" + ("" if step is None else f" for step {step}")))

    def _appends(self, layer: str, step: int | None) -> Iterator[list[Record]]:
        """The records of the layers of some samples: of one append, and one run in it."""
        groups: dict[Any, list[Record]] = {}
        at = None
        for record in self.records(layer, step):
            here = (id(record.store), record.step)
            key = (*here, record.about["run"], tuple(record.samples))
            if at != here or any(record.layer == other.layer for other in groups.get(key, ())):
                yield from groups.values()
                groups, at = {}, here
            groups.setdefault(key, []).append(record)
        yield from groups.values()


def merge_best(values: Any, places: Any, scores: Any, first: int) -> None:
    """Take the scores (M, n) of samples `first`, ... into the best so far, (M, k), greatest first."""
    M, k = values.shape
    if scores.shape[1] > 4 * k and (values[:, -1] == -np.inf).any():
        columns = np.argpartition(scores, -k, axis=1)[:, -k:]
        rows = np.repeat(np.arange(M), k)
        columns = columns.reshape(-1)
    else:
        rows, columns = np.nonzero(scores > values[:, -1:])
    if not len(rows):
        return
    row = np.concatenate([np.repeat(np.arange(M), k), rows])
    value = np.concatenate([values.reshape(-1), scores[rows, columns]])
    place = np.concatenate([places.reshape(-1), first + columns])
    order = np.lexsort((-value, row))
    ends = np.searchsorted(row[order], np.arange(M))
    best = order[ends[:, None] + np.arange(k)]
    values[...], places[...] = value[best], place[best]


def array_of(t: Any) -> Any:
    return t.array if hasattr(t, "array") else t.numpy()
