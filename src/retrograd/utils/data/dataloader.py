"""DataLoader: batches of a dataset, fetched here or by worker threads."""
from __future__ import annotations

import os
import queue
import sys
import threading
import traceback
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed

__all__ = ["DataLoader", "WorkerInfo", "get_worker_info"]

T_co = TypeVar("T_co", covariant=True)

FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
EXCLUSIVE = "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
TOO_MANY = (
    "This DataLoader will create {} worker processes in total. Our suggested max number of worker in current system is "
    "{}{}, which is smaller than what this DataLoader is going to create. Please be aware that excessive worker "
    "creation might get DataLoader running slow or even freeze, lower the worker number to avoid potential "
    "slowness/freeze if necessary.")
PIN = "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used."
LENGTH = (
    "Length of IterableDataset {} was reported to be {}(when accessing len(dataloader)), but {} samples have been "
    "fetched. ")
WORKERS = (
    "For multiprocessing data-loading, this could be caused by not properly configuring the IterableDataset replica at "
    "each worker. Please see https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples.")


class DataLoader(Generic[T_co]):
    """Batches of a dataset: `for batch in DataLoader(data, batch_size=32, shuffle=True)`.

    batch_size, drop_last   samples in a batch (None: single samples), whether a shorter last batch is left out
    shuffle, generator      random order, drawn from generator
    sampler, batch_sampler  an order of one's own, of indices or of lists of indices
    collate_fn              what makes a batch of a list of samples; default_collate
    num_workers             threads that fetch batches ahead, prefetch_factor each (default 2); batches keep their
                            order, and an error in a worker is raised where its batch would have come
    worker_init_fn          called with the worker's number in each worker before it fetches
    timeout                 seconds to wait for a batch of a worker; 0 for ever

    pin_memory, multiprocessing_context, persistent_workers and in_order are accepted; workers are threads here, so
    memory is shared and a dataset's state too.  https://pytorch.org/docs/stable/data.html
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
        if multiprocessing_context is not None and num_workers == 0:
            raise ValueError(
                "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                f"num_workers={num_workers}")
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
        self._check_workers()

    def _check_workers(self) -> None:
        known = hasattr(os, "sched_getaffinity")
        cores = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
        if self.num_workers > cores:
            warnings.warn(
                TOO_MANY.format(self.num_workers, cores, "" if known else " (`cpuset` is not taken into account)"),
                stacklevel=3)

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
        return _Here(self) if self.num_workers == 0 else _Workers(self)

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


class _Fetcher:
    """Gets the samples for one entry of the index sampler and makes a batch of them; StopIteration at the end."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.dataset = loader.dataset
        self.collate = loader.collate_fn
        self.batched = loader._auto_collation
        self.drop_last = loader.drop_last
        self.samples = iter(loader.dataset) if loader._iterable else None
        self.ended = False

    def fetch(self, index: Any) -> Any:
        if self.samples is not None:
            return self.collate(self._next(index))
        if not self.batched:
            return self.collate(self.dataset[index])
        if getattr(self.dataset, "__getitems__", None):
            return self.collate(self.dataset.__getitems__(index))
        return self.collate([self.dataset[i] for i in index])

    def _next(self, index: Any) -> Any:
        samples: Any = self.samples
        if self.ended:
            raise StopIteration
        if not self.batched:
            return next(samples)
        data = []
        for _ in index:
            try:
                data.append(next(samples))
            except StopIteration:
                self.ended = True
                break
        if not data or (self.drop_last and len(data) < len(index)):
            raise StopIteration
        return data


class _Pass:
    """One pass over a loader's batches."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        if loader.pin_memory:
            warnings.warn(PIN, stacklevel=4)
        self.loader = loader
        self.indices = iter(loader._index_sampler)
        self.seed = draw_seed(loader.generator)
        self.given = 0

    def __iter__(self) -> Any:
        return self

    def __len__(self) -> int:
        return len(self.loader._index_sampler)

    def __next__(self) -> Any:
        data = self.next()
        self.given += 1
        promised = self.loader._promised
        if promised is not None and self.given > promised:
            text = LENGTH.format(self.loader.dataset, promised, self.given)
            warnings.warn(text + (WORKERS if self.loader.num_workers else ""), stacklevel=2)
        return data

    def next(self) -> Any:
        raise NotImplementedError


class _Here(_Pass):
    """Without workers."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        if loader.timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self.fetcher = _Fetcher(loader)

    def next(self) -> Any:
        return self.fetcher.fetch(next(self.indices))


class WorkerInfo:
    """What get_worker_info() says in a worker: id, num_workers, seed, dataset."""

    def __init__(self, id: int, num_workers: int, seed: int, dataset: Any) -> None:
        self.id = id
        self.num_workers = num_workers
        self.seed = seed
        self.dataset = dataset

    def __repr__(self) -> str:
        return f"WorkerInfo(id={self.id}, num_workers={self.num_workers}, seed={self.seed}, dataset={self.dataset})"


_here = threading.local()


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader, who it is; None elsewhere."""
    return getattr(_here, "info", None)


class _Workers(_Pass):
    """With worker threads.

    Task n goes to worker n % num_workers, at most prefetch_factor tasks to each ahead of the caller; the answers are
    taken in the order of the tasks.  With an iterable dataset a worker that has no more samples drops out.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self.timeout = loader.timeout or None
        self.workers = [_Worker(loader, i, self.seed) for i in range(loader.num_workers)]
        self.turn = 0
        self.waiting: deque[tuple[_Worker, Any]] = deque()          # tasks given out: worker and its answers
        self.exhausted = False
        self.stop = weakref.finalize(self, _dismiss, [w.tasks for w in self.workers])
        for worker in self.workers:
            worker.start()
        for _ in range(max(1, loader.prefetch_factor or 1) * len(self.workers)):
            self.order()

    def order(self) -> None:
        """Give the next task to the next worker that still has samples."""
        alive = [w for w in self.workers if not w.ended]
        if self.exhausted or not alive:
            return
        try:
            index = next(self.indices)
        except StopIteration:
            self.exhausted = True
            return
        while self.workers[self.turn % len(self.workers)].ended:
            self.turn += 1
        worker = self.workers[self.turn % len(self.workers)]
        self.turn += 1
        worker.tasks.put(index)
        self.waiting.append((worker, worker.answers))

    def next(self) -> Any:
        while self.waiting:
            worker, answers = self.waiting.popleft()
            try:
                kind, found = answers.get(timeout=self.timeout)
            except queue.Empty:
                self.stop()
                raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds") from None
            if kind == "end":
                worker.ended = True
                self.order()
                continue
            if kind == "error":
                self.order()
                raise again(found, worker.number)
            self.order()
            return found
        self.stop()
        raise StopIteration


class _Worker:
    """One thread with its tasks and its answers; it does not hold the pass, so that a dropped pass ends it."""

    def __init__(self, loader: DataLoader[Any], number: int, seed: int) -> None:
        self.number = number
        self.tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.ended = False
        info = WorkerInfo(number, loader.num_workers, seed + number, loader.dataset)
        self.thread = threading.Thread(
            target=_work, args=(loader, info, self.tasks, self.answers), daemon=True,
            name=f"DataLoader worker {number}")

    def start(self) -> None:
        self.thread.start()


STOP = object()


def _dismiss(tasks: Iterable[Any]) -> None:
    for queue_ in tasks:
        queue_.put(STOP)


def _work(loader: DataLoader[Any], info: WorkerInfo, tasks: Any, answers: Any) -> None:
    _here.info = info
    broken: Any = None
    fetcher: Any = None
    try:
        if loader.worker_init_fn is not None:
            loader.worker_init_fn(info.id)
        fetcher = _Fetcher(loader)
    except BaseException:
        broken = sys.exc_info()
    while True:
        index = tasks.get()
        if index is STOP:
            return
        if broken is not None:
            answers.put(("error", broken))
            continue
        try:
            answers.put(("data", fetcher.fetch(index)))
        except StopIteration:
            answers.put(("end", None) if loader._iterable else ("error", sys.exc_info()))
        except BaseException:
            answers.put(("error", sys.exc_info()))


def again(caught: Any, number: int) -> BaseException:
    """The exception of a worker, of the same class, with the worker and its traceback in the message."""
    kind, value, trace = caught
    text = "".join(traceback.format_exception(kind, value, trace))
    message = f"Caught {kind.__name__} in DataLoader worker process {number}.\nOriginal {text}"
    try:
        if kind is KeyError:
            out: BaseException = KeyError(_Text(message))
        else:
            out = RuntimeError(message) if kind is StopIteration else kind(message)
    except BaseException:
        out = RuntimeError(message)
    out.__cause__ = value
    return out


class _Text(str):
    """A text that a KeyError, which shows the repr of its key, shows with its line breaks."""

    def __repr__(self) -> str:
        return str(self)
