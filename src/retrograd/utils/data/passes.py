"""One pass over a loader's batches: the indices, the base seed, and batches made here."""
from __future__ import annotations

from typing import Any

from ..._engine.warn import warn
from .fetch import Fetcher, Source
from .sampler import draw_seed

PIN = "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used."
PIN_DEVICE = (
    "pin_memory_device is deprecated, the current accelerator will be used as the device,ignore pin_memory_device='{}'.")
LENGTH = (
    "Length of IterableDataset {} was reported to be {}(when accessing len(dataloader)), but {} samples have been "
    "fetched. ")
WORKERS = (
    "For multiprocessing data-loading, this could be caused by not properly configuring the IterableDataset replica at "
    "each worker. Please see https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples.")


class _BaseDataLoaderIter:
    """One pass over a loader's batches.  It does not hold the loader, which may hold it."""

    def __init__(self, loader: Any) -> None:
        if loader.pin_memory:
            if loader.pin_memory_device:
                warn(PIN_DEVICE.format(loader.pin_memory_device))
            warn(PIN)
        self.source = Source(
            loader.dataset, loader._iterable, loader._auto_collation, loader.collate_fn, loader.drop_last)
        self.order = loader._index_sampler
        self.num_workers = loader.num_workers
        self.begin(loader)
        self.seed = draw_seed(loader.generator)

    def begin(self, loader: Any) -> None:
        """Start from the first index."""
        self.indices = iter(self.order)
        self.given = 0
        self.promised: int | None = loader._promised

    def __iter__(self) -> Any:
        return self

    def __len__(self) -> int:
        return len(self.order)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)

    def __next__(self) -> Any:
        data = self.next()
        self.given += 1
        if self.promised is not None and self.given > self.promised:
            text = LENGTH.format(self.source.dataset, self.promised, self.given)
            warn(text + (WORKERS if self.num_workers else ""))
        return data

    def next(self) -> Any:
        raise NotImplementedError


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Without workers."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if loader.timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self.fetcher = Fetcher(self.source)

    def next(self) -> Any:
        return self.fetcher.fetch(next(self.indices))
