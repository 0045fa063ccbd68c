"""Buckets: gradients that travel as one message, and how parameters are divided among them."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ..._engine.tensor import TensorBase, wrap

Array = Any


class GradBucket:
    """The gradients that a communication hook is given: buffer(), index(), gradients(), parameters(), is_last(), set_buffer()."""

    def __init__(self, bucket: Bucket, index: int, count: int) -> None:
        self._bucket, self._index, self._count = bucket, index, count
        self._buffer = wrap(bucket.flat)

    def index(self) -> int:
        """Buckets are numbered in the order in which they are sent."""
        return self._index

    def buffer(self) -> Any:
        """All its gradients, one after the other, as one dimension."""
        return self._buffer

    def set_buffer(self, buffer: Any) -> None:
        """Replace the buffer by another tensor."""
        self._buffer = buffer

    def gradients(self) -> list[Any]:
        """The gradients: views of the buffer."""
        flat, ends = self._buffer, self._bucket.ends
        return [flat[end - view.size:end].reshape(view.shape) for view, end in zip(self._bucket.views, ends, strict=True)]

    def parameters(self) -> list[Any]:
        """The parameters that these gradients belong to."""
        return list(self._bucket.params)

    def is_last(self) -> bool:
        """Is it the last bucket of the pass?"""
        return self._index == self._count - 1


class Bucket:
    """Memory for the gradients of some parameters, and the message that is under way with them."""

    def __init__(self, indices: list[int], params: Sequence[Any]) -> None:
        self.indices = indices
        self.params = [params[i] for i in indices]
        arrays = [param.array for param in self.params]
        self.flat: Array = np.zeros(sum(a.size for a in arrays), arrays[0].dtype)
        self.ends = list(accumulate(a.size for a in arrays))
        self.views: list[Array] = [self.flat[end - a.size:end].reshape(a.shape) for a, end in zip(arrays, self.ends, strict=True)]
        self.pending = len(indices)
        self.work: Any = None                   # Work of the sum, or the hook's Future

    def __len__(self) -> int:
        return len(self.indices)

    def take(self, got: Any) -> None:
        """What a hook's Future holds takes the gradients' place.  RuntimeError for anything but a tensor as large."""
        got = got[0] if isinstance(got, (list, tuple)) and got else got
        if not isinstance(got, TensorBase) or got.array.size != self.flat.size:
            what = f"a tensor of shape {list(got.shape)}" if isinstance(got, TensorBase) else f"{got!r}"
            raise RuntimeError(f"The Future of a communication hook must hold a tensor of {self.flat.size} elements, as the "
                               f"bucket's buffer() has, got {what}")
        if got.array is not self.flat:
            np.copyto(self.flat, got.array.reshape(-1), casting="unsafe")


def by_size(tensors: Sequence[Any], limits: Sequence[int], order: Sequence[int] | None = None) -> list[list[int]]:
    """Divide tensors into lists of indices: one dtype each, closed once they have as many bytes as the limit.

    limits  of the first bucket of a dtype, of its second, ...; the last one goes on
    order   of the indices; else buckets are sorted by their first tensor
    """
    made: list[list[int]] = []
    open_: dict[Any, tuple[list[int], int]] = {}
    used: dict[Any, int] = {}
    for at, tensor in enumerate(tensors):
        kind = tensor.dtype
        indices, size = open_.get(kind, ([], 0))
        indices.append(at if order is None else order[at])
        size += tensor.array.nbytes
        if size >= limits[min(used.get(kind, 0), len(limits) - 1)]:
            made.append(indices)
            used[kind] = used.get(kind, 0) + 1
            open_.pop(kind, None)
        else:
            open_[kind] = indices, size
    made += [indices for indices, _ in open_.values()]
    return made if order is not None else sorted(made, key=min)
