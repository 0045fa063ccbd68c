"""torch.utils.data: datasets, samplers, batches; worker processes: test_data_workers."""

from __future__ import annotations

import collections
import random
import re
import time
import warnings
from typing import Any

import numpy as np
import pytest

import retrograd as torch
import retrograd.utils.data as D

Point = collections.namedtuple("Point", "x y")


def numbers(n: int = 10) -> Any:
    return D.TensorDataset(torch.arange(float(n)).view(n, 1), torch.arange(n))


class Squares(D.Dataset):
    def __init__(self, n: int, wait: float = 0.0) -> None:
        self.n = n
        self.wait = wait

    def __getitem__(self, i: int) -> int:
        if self.wait:
            time.sleep(random.random() * self.wait)
        if i < 0 or i >= self.n:
            raise IndexError(i)
        return i * i

    def __len__(self) -> int:
        return self.n


class Stream(D.IterableDataset):
    def __init__(self, n: int, length: int | None = None) -> None:
        self.n = n
        self.length = length

    def __iter__(self) -> Any:
        info = D.get_worker_info()
        return iter(range(self.n) if info is None else range(info.id, self.n, info.num_workers))

    def __len__(self) -> int:
        if self.length is None:
            raise TypeError("no length")
        return self.length

    def __repr__(self) -> str:
        return "Stream"


def lists(loader: Any) -> list[Any]:
    return [b.tolist() if isinstance(b, torch.Tensor) else b for b in loader]


# ---- batches ----


def test_batches_are_cut_in_order_and_the_last_may_be_dropped() -> None:
    got = list(D.DataLoader(numbers(), batch_size=4))
    assert [y.tolist() for _, y in got] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert got[0][0].shape == (4, 1) and got[0][0].dtype is torch.float32 and isinstance(got[0], list)
    assert len(D.DataLoader(numbers(), batch_size=4)) == 3
    assert len(D.DataLoader(numbers(), batch_size=4, drop_last=True)) == 2
    assert [len(y) for _, y in D.DataLoader(numbers(), batch_size=4, drop_last=True)] == [4, 4]
    assert [y.item() for _, y in D.DataLoader(numbers(3), batch_size=None)] == [0, 1, 2]
    assert lists(D.DataLoader(Squares(5), batch_size=2)) == [[0, 1], [4, 9], [16]]
    assert lists(D.DataLoader(range(4), batch_size=3)) == [[0, 1, 2], [3]]


def test_samplers_of_ones_own() -> None:
    assert lists(D.DataLoader(Squares(5), batch_size=2, sampler=[3, 1, 4])) == [[9, 1], [16]]
    assert lists(D.DataLoader(Squares(5), batch_sampler=[[1, 2], [3]])) == [[1, 4], [9]]
    assert lists(D.DataLoader(Squares(5), sampler=D.SubsetRandomSampler([2]), batch_size=None)) == [4]
    assert list(D.DataLoader(Squares(5), batch_size=3, collate_fn=sum)) == [5, 25]


def test_shuffle_follows_the_generator() -> None:
    def order(seed: int) -> list[int]:
        loader = D.DataLoader(Squares(50), batch_size=None, shuffle=True, generator=torch.Generator().manual_seed(seed))
        return list(loader)

    assert order(1) == order(1) != order(2) and sorted(order(1)) == [i * i for i in range(50)]
    torch.manual_seed(3)
    loader = D.DataLoader(Squares(50), batch_size=None, shuffle=True)
    first, second = list(loader), list(loader)
    torch.manual_seed(3)
    assert first != second and list(loader) == first


def test_streams_are_batched_and_their_length_is_what_they_say() -> None:
    assert lists(D.DataLoader(Stream(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert lists(D.DataLoader(Stream(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert lists(D.DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]
    assert len(D.DataLoader(Stream(5, 5), batch_size=2)) == 3
    with pytest.raises(TypeError):
        len(D.DataLoader(Stream(5)))
    loader = D.DataLoader(Stream(3, 2), batch_size=None)
    assert len(loader) == 2
    with pytest.warns(UserWarning, match=re.escape("Length of IterableDataset Stream was reported to be 2(when acc")):
        assert len(list(loader)) == 3


# ---- workers ----


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_keep_the_order(workers: int) -> None:
    loader = D.DataLoader(Squares(60, 0.002), batch_size=4, num_workers=workers, prefetch_factor=3)
    want = lists(D.DataLoader(Squares(60), batch_size=4))
    assert lists(loader) == want and lists(loader) == want


def test_streams_are_shared_out_among_workers() -> None:
    assert lists(D.DataLoader(Stream(7), batch_size=2, num_workers=2)) == [[0, 2], [1, 3], [4, 6], [5]]
    assert sorted(lists(D.DataLoader(Stream(9), batch_size=None, num_workers=2))) == list(range(9))


# ---- arguments ----


@pytest.mark.parametrize(("options", "text"), [
    ({"num_workers": -1}, "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."),
    ({"timeout": -1}, "timeout option should be non-negative"),
    ({"prefetch_factor": 2}, "prefetch_factor option could only be specified in multiprocessing."),
    ({"num_workers": 1, "prefetch_factor": -1}, "prefetch_factor option should be non-negative"),
    ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
    ({"shuffle": True, "sampler": [1]}, "sampler option is mutually exclusive with shuffle"),
    ({"batch_sampler": [[1]], "batch_size": 2}, "batch_sampler option is mutually exclusive with batch_size, shuf"),
    ({"batch_size": None, "drop_last": True}, "batch_size=None option disables auto-batching and is mutually excl"),
    ({"batch_size": 0}, "batch_size should be a positive integer value, but got batch_size=0"),
    ({"drop_last": 1}, "drop_last should be a boolean value, but got drop_last=1"),
    ({"multiprocessing_context": "x"}, "multiprocessing_context can only be used with multi-process loading"),
])
def test_bad_arguments(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        D.DataLoader(numbers(), **options)


def test_bad_arguments_with_streams() -> None:
    for options in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}):
        name, given = next(iter(options.items()))
        with pytest.raises(ValueError, match=re.escape(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={given}")):
            D.DataLoader(Stream(3), **options)
    assert len(D.DataLoader(Stream(3, 3), shuffle=False)) == 3


def test_fixed_attributes_and_warnings() -> None:
    loader = D.DataLoader(numbers())
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
        loader.batch_size = 3
    loader.anything = 1
    with pytest.warns(UserWarning, match="'pin_memory' argument is set as true but no accelerator is found"):
        list(D.DataLoader(numbers(), pin_memory=True))
    with pytest.warns(UserWarning, match="This DataLoader will create 10000 worker processes in total. Our suggested"):
        D.DataLoader(numbers(), num_workers=10000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(D.DataLoader(numbers(), num_workers=1, persistent_workers=True, in_order=True))


# ---- collating ----


def plain(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return str(x.dtype), x.tolist()
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(*map(plain, x)) if hasattr(x, "_fields") else type(x)(map(plain, x))
    return x


@pytest.mark.parametrize(("batch", "want"), [
    ([1, 2], ("torch.int64", [1, 2])), ([1.0, 2], ("torch.float64", [1.0, 2.0])),
    ([True, False], ("torch.bool", [True, False])), (["a", "b"], ["a", "b"]), ([b"a"], [b"a"]),
    ([(1, "a"), (2, "b")], [("torch.int64", [1, 2]), ("a", "b")]),
    ([[1], [2]], [("torch.int64", [1, 2])]), ([{"a": 1}, {"a": 2}], {"a": ("torch.int64", [1, 2])}),
    ([Point(1, 2), Point(3, 4)], Point(("torch.int64", [1, 3]), ("torch.int64", [2, 4]))),
    ([np.ones(1), np.zeros(1)], ("torch.float64", [[1.0], [0.0]])),
    ([np.float32(1), np.float32(2)], ("torch.float32", [1.0, 2.0])), ([np.bool_(True)], ("torch.bool", [True])),
    ([collections.OrderedDict(b=1, a=2)], {"b": ("torch.int64", [1]), "a": ("torch.int64", [2])}),
], ids=str)
def test_collate_stacks_inside_containers(batch: Any, want: Any) -> None:
    assert plain(D.default_collate(batch)) == want


def test_collate_tensors_keeps_the_graph() -> None:
    x = torch.ones(2, requires_grad=True)
    out = D.default_collate([x * 2, x * 3])
    assert out.shape == (2, 2) and out.requires_grad
    out.sum().backward()
    assert x.grad.tolist() == [5, 5]


@pytest.mark.parametrize(("batch", "kind", "text"), [
    ([None], TypeError, "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found"),
    ([np.array(["a"])], TypeError, "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or l"),
    ([[1], [1, 2]], RuntimeError, "each element in list of batch should be of equal size"),
], ids=range(3))
def test_what_cannot_be_collated(batch: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        D.default_collate(batch)


def test_convert_makes_tensors_inside_containers() -> None:
    got = D.default_convert({"a": [np.ones(1), "x", 3], "p": Point(np.float32(2), None), "t": (1, np.array(["s"]))})
    assert plain(got["a"]) == [("torch.float64", [1.0]), "x", 3]
    assert type(got["p"]) is Point and got["p"].x.dtype is torch.float32 and isinstance(got["t"], list)


# ---- datasets and samplers ----


def test_datasets_join_split_and_refuse_what_does_not_fit() -> None:
    both = numbers(10) + D.Subset(numbers(10), [1, 2])
    assert isinstance(both, D.ConcatDataset) and len(both) == 12 and both.cumulative_sizes == [10, 12]
    assert [both[i][1].item() for i in (0, 9, 10, 11, -1, -12)] == [0, 9, 1, 2, 2, 0]
    with pytest.raises(ValueError, match="absolute value of index should not exceed dataset length"):
        both[-13]
    with pytest.raises(IndexError):
        both[12]
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        D.TensorDataset(torch.ones(2), torch.ones(3))
    with pytest.raises(AssertionError, match="datasets should not be an empty iterable"):
        D.ConcatDataset([])
    with pytest.raises(AssertionError, match="ConcatDataset does not support IterableDataset"):
        D.ConcatDataset([Stream(1)])
    assert list(Stream(2) + Stream(3)) == [0, 1, 0, 1, 2]
    with pytest.raises(NotImplementedError, match="Subclasses of Dataset should implement __getitem__."):
        D.Dataset()[0]
    named = D.StackDataset(a=Squares(3), b=D.Subset(Squares(9), [4, 5, 6]))
    assert named[1] == {"a": 1, "b": 25} and named.__getitems__([0, 2]) == [{"a": 0, "b": 16}, {"a": 4, "b": 36}]
    assert D.StackDataset(Squares(2), Squares(2))[1] == (1, 1)


def test_a_subset_that_forgets_batches_is_refused() -> None:
    class Half(D.Subset):
        def __getitem__(self, i: Any) -> Any:
            return 1

    with pytest.raises(NotImplementedError, match="Half overrides __getitem__ but not __getitems__"):
        Half(Squares(3), [1])


def test_random_split() -> None:
    parts = D.random_split(numbers(10), [7, 3], generator=torch.Generator().manual_seed(0))
    assert [len(p) for p in parts] == [7, 3] and sorted(parts[0].indices + parts[1].indices) == list(range(10))
    assert [len(p) for p in D.random_split(numbers(11), [0.5, 0.3, 0.2])] == [6, 3, 2]
    with pytest.raises(ValueError, match="Sum of input lengths does not equal the length of the input dataset!"):
        D.random_split(numbers(10), [7, 4])
    with pytest.raises(ValueError, match="Fraction at index 0 is not between 0 and 1"):
        D.random_split(numbers(10), [1.5, -0.5])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0. This might result in an empty dataset."):
        D.random_split(range(1), [0.99, 0.01])


def test_samplers_draw_each_index_as_often_as_they_should() -> None:
    g = torch.Generator().manual_seed(0)
    assert list(D.SequentialSampler("abc")) == [0, 1, 2]
    assert sorted(D.RandomSampler("abcd", generator=g)) == [0, 1, 2, 3]
    twice = list(D.RandomSampler("abcd", num_samples=10, generator=g))
    assert sorted(twice[:4]) == sorted(twice[4:8]) == [0, 1, 2, 3] and len(twice) == 10
    drawn = list(D.RandomSampler("abcd", replacement=True, num_samples=100, generator=g))
    assert len(drawn) == 100 and set(drawn) == {0, 1, 2, 3}
    assert sorted(D.SubsetRandomSampler([7, 9], g)) == [7, 9]
    weighted = D.WeightedRandomSampler([0.0, 1.0, 3.0], 400, generator=g)
    counts = collections.Counter(weighted)
    assert counts[0] == 0 and 60 < counts[1] < 140 and len(weighted) == 400
    assert sorted(D.WeightedRandomSampler([1.0, 1.0], 2, replacement=False)) == [0, 1]
    assert list(D.BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]]
    assert list(D.BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    assert [len(D.BatchSampler(range(5), 2, drop)) for drop in (False, True)] == [3, 2]


@pytest.mark.parametrize(("make", "kind", "text"), [
    (lambda: D.RandomSampler([]), ValueError, "num_samples should be a positive integer value, but got num_samples=0"),
    (lambda: D.RandomSampler([1], replacement=1), TypeError, "replacement should be a boolean value, but got replac"),
    (lambda: D.WeightedRandomSampler([1], 0), ValueError, "num_samples should be a positive integer value, but got"),
    (lambda: D.WeightedRandomSampler([[1]], 1), ValueError, "weights should be a 1d sequence but given weights have"),
    (lambda: D.BatchSampler([1], True, False), ValueError, "batch_size should be a positive integer value, but"),
    (lambda: D.BatchSampler([1], 1, 2), ValueError, "drop_last should be a boolean value, but got drop_last=2"),
], ids=range(6))
def test_bad_samplers(make: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        make()
