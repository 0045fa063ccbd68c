"""How the samples of one task are got and made a batch: the same here and in a worker."""
from __future__ import annotations

from typing import Any, NamedTuple


class Source(NamedTuple):
    """What samples come from, and how they become a batch."""

    dataset: Any
    iterable: bool
    batched: bool
    collate: Any
    drop_last: bool


class Fetcher:
    """Gets the samples for one entry of the index sampler and makes a batch of them; StopIteration at the end."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.samples = iter(source.dataset) if source.iterable else None
        self.ended = False

    def fetch(self, index: Any) -> Any:
        dataset, _, batched, collate, _ = self.source
        if self.samples is not None:
            return collate(self._next(index))
        if not batched:
            return collate(dataset[index])
        if getattr(dataset, "__getitems__", None):
            return collate(dataset.__getitems__(index))
        return collate([dataset[i] for i in index])

    def _next(self, index: Any) -> Any:
        samples: Any = self.samples
        if self.ended:
            raise StopIteration
        if not self.source.batched:
            return next(samples)
        data = []
        for _ in index:
            try:
                data.append(next(samples))
            except StopIteration:
                self.ended = True
                break
        if not data or (self.source.drop_last and len(data) < len(index)):
            raise StopIteration
        return data
