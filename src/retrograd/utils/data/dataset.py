"""Datasets: what can be asked for its i-th sample, or iterated over."""
from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from ..._engine.warn import warn
from ..._functions.sampling import randperm

__all__ = [
    "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset", "TensorDataset",
    "random_split",
]

T_co = TypeVar("T_co", covariant=True)

SUBSET = (
    "{} overrides __getitem__ but not __getitems__. When subclassing Subset and overriding __getitem__, you must also "
    "override __getitems__ to ensure DataLoader works correctly with your custom logic. A simple implementation:\n\n"
    "def __getitems__(self, indices):\n    return [self.__getitem__(idx) for idx in indices]")


class Dataset(Generic[T_co]):
    """Samples by index: define __getitem__ and, for samplers, __len__; __getitems__(list) fetches a batch at once.

    https://pytorch.org/docs/stable/data.html#torch.utils.data.Dataset
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Any) -> Any:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples in the order in which __iter__ gives them.

    With workers every worker iterates over a copy: __iter__ asks get_worker_info() for its share.
    """

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[Any]):
    """Sample i is the tuple of the i-th elements of some tensors of equal first length."""

    def __init__(self, *tensors: Any) -> None:
        if any(tensors[0].size(0) != t.size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> Any:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class StackDataset(Dataset[Any]):
    """Sample i is the tuple, or the dict, of the i-th samples of several datasets of equal length."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both "
                "types are given.")
        parts = args or tuple(kwargs.values())
        if not parts:
            raise ValueError("At least one dataset should be passed")
        self._length = len(parts[0])
        if any(len(d) != self._length for d in parts):
            raise ValueError("Size mismatch between datasets")
        self.datasets: Any = args or kwargs

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {key: d[index] for key, d in self.datasets.items()}
        return tuple(d[index] for d in self.datasets)

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        """The samples of a batch."""
        named = isinstance(self.datasets, dict)
        columns = [_fetch(d, indices) for d in (self.datasets.values() if named else self.datasets)]
        for column in columns:
            if len(column) != len(indices):
                raise ValueError(
                    f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(column)}")
        rows = zip(*columns)
        return [dict(zip(self.datasets, row)) for row in rows] if named else list(rows)

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Several datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Where each dataset of `sequence` ends."""
        return list(accumulate(len(d) for d in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - self.cumulative_sizes[which - 1] if which else idx]


class ChainDataset(IterableDataset[Any]):
    """Several iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def _checked(self) -> Iterator[Any]:
        for d in self.datasets:
            if not isinstance(d, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield d

    def __iter__(self) -> Iterator[Any]:
        for d in self._checked():
            yield from d

    def __len__(self) -> int:
        return sum(len(d) for d in self._checked())


class Subset(Dataset[T_co]):
    """The samples of a dataset at some indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices
        cls = type(self)
        if cls.__getitem__ is not Subset.__getitem__ and cls.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(SUBSET.format(cls.__name__))

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        """The samples of a batch."""
        return _fetch(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def _fetch(dataset: Any, indices: list[Any]) -> Any:
    if callable(getattr(dataset, "__getitems__", None)):
        return dataset.__getitems__(indices)
    return [dataset[i] for i in indices]


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset[Any]]:
    """Disjoint random subsets of `dataset` of the given lengths, or fractions that sum to 1 (what is left over goes round)."""
    total = sum(lengths)
    if math.isclose(total, 1) and total <= 1:
        sizes = []
        for i, part in enumerate(lengths):
            if part < 0 or part > 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
            sizes.append(math.floor(len(dataset) * part))
        for i in range(len(dataset) - sum(sizes)):
            sizes[i % len(sizes)] += 1
        for i, n in enumerate(sizes):
            if n == 0:
                warn(
                    f"Length of split at index {i} is 0. This might result in an empty dataset.")
        lengths = sizes
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(int(sum(lengths)), generator=generator).tolist()
    ends = accumulate(int(n) for n in lengths)
    return [Subset(dataset, order[end - int(n):end]) for end, n in zip(ends, lengths)]
