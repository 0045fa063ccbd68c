"""DataLoader: batches of a dataset, made here or by worker processes."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from ..._engine.warn import warn
from ..._missing import late_names
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .identity import WorkerInfo as WorkerInfo
from .identity import get_worker_info as get_worker_info
from .passes import _BaseDataLoaderIter as _BaseDataLoaderIter
from .passes import _SingleProcessDataLoaderIter
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "WorkerInfo", "get_worker_info"]


def _workers() -> Any:
    from .workers import _MultiProcessingDataLoaderIter

    return _MultiProcessingDataLoaderIter


late_names(__name__, also={"_MultiProcessingDataLoaderIter": _workers})

T_co = TypeVar("T_co", covariant=True)
_worker_init_fn_t = Callable[[int], None]
_collate_fn_t = Callable[[list[T_co]], Any]

FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
EXCLUSIVE = "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
TOO_MANY = (
    "This DataLoader will create {} worker processes in total. Our suggested max number of worker in current system is "
    "{}{}, which is smaller than what this DataLoader is going to create. Please be aware that excessive worker "
    "creation might get DataLoader running slow or even freeze, lower the worker number to avoid potential "
    "slowness/freeze if necessary.")


class DataLoader(Generic[T_co]):
    """Batches of a dataset: `for batch in DataLoader(data, batch_size=32, shuffle=True)`.

    batch_size, drop_last   samples in a batch (None: single samples), whether a shorter last batch is left out
    shuffle, generator      random order, drawn from generator
    sampler, batch_sampler  an order of one's own, of indices or of lists of indices
    collate_fn              what makes a batch of a list of samples; default_collate
    num_workers             processes that make batches ahead, prefetch_factor each (default 2); batches keep their order
                            (in_order=False: as they come), and an error in a worker is raised where its batch would
                            have come, of the same class.  Where there are no processes, batches are made in line
    multiprocessing_context "fork", "spawn", "forkserver" or a context of multiprocessing
    persistent_workers      keep the processes for the next pass
    worker_init_fn          called with the worker's number in each worker, seeded, before it fetches
    pin_memory, pin_memory_device   no effect, and a warning: there is no accelerator to copy to
    timeout                 seconds to wait for a batch of a worker; 0 for ever

    A worker's generators (torch, random, NumPy) are seeded as PyTorch's, from one number of `generator` for each pass.
    Arrays of 64 KB and more come in shared memory.  https://pytorch.org/docs/stable/data.html
    """

    __initialized = False

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Any = None,
        batch_sampler: Any = None, num_workers: int = 0, collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None, multiprocessing_context: Any = None, generator: Any = None,
        *, prefetch_factor: int | None = None, persistent_workers: bool = False, pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if num_workers < 0:
            raise ValueError(
                "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
                "multiprocessing, otherwise set prefetch_factor to None.")
        if prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            for name, given in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
                if given is not None:
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={given}")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(EXCLUSIVE)
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._iterable:
                sampler = _Endless()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._promised: int | None = None       # what len() said of an iterable dataset
        self._iterator: Any = None              # of persistent workers
        self.check_worker_number_rationality()

    def check_worker_number_rationality(self) -> None:
        """UserWarning for more workers than processors."""
        known = hasattr(os, "sched_getaffinity")
        cores = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
        if self.num_workers > cores:
            warn(
                TOO_MANY.format(self.num_workers, cores, "" if known else " (`cpuset` is not taken into account)"))

    @property
    def multiprocessing_context(self) -> Any:
        """How processes are made: None for the default of multiprocessing, or a context of its."""
        return self.__context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            if self.num_workers == 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                    f"num_workers={self.num_workers}")
            import multiprocessing
            from multiprocessing.context import BaseContext
            if isinstance(context, str):
                known = multiprocessing.get_all_start_methods()
                if context not in known:
                    raise ValueError(
                        f"multiprocessing_context option should specify a valid start method in {known!r}, but got "
                        f"multiprocessing_context={context!r}")
                context = multiprocessing.get_context(context)
            if not isinstance(context, BaseContext):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string specifying the start "
                    f"method, but got multiprocessing_context={context}")
        self.__context = context

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__initialized and name in FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        if self._iterator is not None:
            self._iterator.again(self)
            return self._iterator
        from .workers import _MultiProcessingDataLoaderIter  # multiprocessing takes 10 ms to import
        self.check_worker_number_rationality()
        made = _MultiProcessingDataLoaderIter(self)
        if self.persistent_workers:
            self._iterator = made
        return made

    def __len__(self) -> int:
        if not self._iterable:
            return len(self._index_sampler)
        n = self._promised = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


class _Endless(Sampler[None]):
    """The sampler of iterable datasets, which need no indices."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None
