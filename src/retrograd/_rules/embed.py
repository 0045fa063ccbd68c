"""Rows of a table by number, and bags of them."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.nary import Nary
from .._engine.node import Array, Value
from .._engine.op import Unary
from .._kernels import kernel

np: Final[Any] = numpy
quick_rows: Final[Any] = kernel("add_rows")


@final
class EmbeddingBackward0(Unary):
    """Rows of x; row `padding_idx` gets no gradient; by_count: a row's gradient is divided by how often it was read."""

    holds = True
    shows: ClassVar[Any] = {
        "indices": "where", "padding_idx": "padding_shown", "scale_grad_by_freq": "by_count", "sparse": "sparse",
        "weight_sym_argsize_0": "rows"}

    def __init__(self, where: Array, padding_idx: int, by_count: bool, sparse: bool) -> None:
        self.where: Array = where
        self.padding_idx = padding_idx
        self.by_count = by_count
        self.sparse = sparse
        self.rows: int = 0

    @property
    def padding_shown(self) -> Any:
        """PyTorch shows -1 as the unsigned number it is in C++."""
        return self.padding_idx if self.padding_idx >= 0 else (1 << 64) - 1

    def drop(self) -> None:
        self.where = None

    def forward(self, x: Array) -> Array:
        self.rows = x.shape[0]
        return x.take(self.where, 0)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        factor: Array = None
        if self.padding_idx >= 0 or self.by_count:
            factor = np.ones(self.where.shape, linalg.raw(g).dtype)
            if self.by_count:
                factor /= np.bincount(self.where.reshape(-1), None, self.rows)[self.where]
            if self.padding_idx >= 0:
                factor[self.where == self.padding_idx] = 0
            g = g * factor[..., None]
        return RowsBackward0(self.where, self.rows).run(g)


@final
class RowsBackward0(Unary):
    """Zeros with rows of x added at some numbers: the adjoint of Embedding."""

    holds = True

    def __init__(self, where: Array, rows: int) -> None:
        self.where: Array = where
        self.rows = rows

    def drop(self) -> None:
        self.where = None

    def forward(self, x: Array) -> Array:
        where = self.where.reshape(-1)
        return add_rows(where, x.reshape(where.shape[0], x.shape[-1]), self.rows)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return rows_of(g, self.where)


def add_rows(where: Array, x: Array, rows: int) -> Array:
    """out[where[i]] += x[i], by sorting: np.add.at is many times slower."""
    quick = quick_rows(where, x, rows)
    if quick is not None:
        return quick
    out = np.zeros((rows, x.shape[1]), x.dtype)
    if where.size == 0:
        return out
    order = np.argsort(where, kind="stable")
    put = where[order]
    starts = np.concatenate([np.zeros(1, np.intp), np.flatnonzero(np.diff(put)) + 1])
    if x.dtype.itemsize == 2:                   # rounded after each row, as in PyTorch: the first of each number, the second, ...
        counts = np.diff(np.append(starts, where.size))
        for n in range(int(counts.max())):
            rows_at = order[starts[counts > n] + n]
            out[where[rows_at]] = out[where[rows_at]] + x[rows_at]
        return out
    out[put[starts]] = np.add.reduceat(x[order], starts, 0)
    return out


def rows_of(x: Value, where: Array) -> Value:
    return EmbeddingBackward0(where, -1, False, False).run(x)


@final
class EmbeddingBagBackward0(Nary):
    """Sums, means or maxima of bags of rows.

    xs: the table and weights per row (or None).  `where`: rows read (padding left out), `bag`: the bag of each,
    never falling; `sizes`: rows in each bag.
    """

    holds: bool = True
    names: ClassVar[Any] = {"weight": 0, "per_sample_weights": 1}
    shows: ClassVar[Any] = {
        "indices": "where", "offsets": "starts", "mode": "mode", "result1": "bag", "result2": "sizes"}

    def __init__(self, where: Array, bag: Array, sizes: Array, mode: int, factor: Array) -> None:
        super().__init__()
        self.where: Array = where
        self.bag: Array = bag
        self.sizes: Array = sizes
        self.mode = mode                        # 0 sum, 1 mean, 2 max
        self.factor: Array = factor             # of each row's gradient, or None
        self.best: Array = None                 # mode max: which row gave each element; -1 for empty bags

    @property
    def starts(self) -> Any:
        return np.cumsum(self.sizes) - self.sizes

    def drop(self) -> None:
        self.where = None
        self.bag = None
        self.sizes = None
        self.factor = None
        self.best = None

    def forward(self, xs: list[Array]) -> Array:
        table = xs[0]
        rows = table.take(self.where, 0)
        bags = self.sizes.shape[0]
        out = np.zeros((bags, table.shape[1]), table.dtype)
        full = np.flatnonzero(self.sizes)
        starts = (np.cumsum(self.sizes) - self.sizes)[full].astype(np.intp, copy=False)
        if self.mode == 2:
            self.best = np.full(out.shape, -1, np.int64)
            for i in range(full.shape[0]):
                b = int(full[i])
                part = rows[int(starts[i]):int(starts[i]) + int(self.sizes[b])]
                at = part.argmax(0)
                out[b] = np.take_along_axis(part, at[None], 0)[0]
                self.best[b] = self.where[int(starts[i]) + at]
            return out
        if xs[1] is not None:
            rows = rows * xs[1].reshape(-1)[:, None]
        if full.shape[0]:
            wide = rows.astype(np.float32) if rows.dtype.itemsize == 2 else rows
            total = np.add.reduceat(wide, starts, 0)
            if self.mode == 1:
                total /= self.sizes[full][:, None].astype(total.dtype)
            out[full] = total
        return out

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        out: list[Value] = [None, None]
        rows, width = linalg.sizes(xs[0])
        if self.mode == 2:
            if want[0] and not rows:
                out[0] = xs[0] * 0.0            # all bags are empty
            elif want[0]:
                flat = self.best * width + np.arange(width)
                mask = self.best >= 0
                kept = choose.where(mask, g, 0.0)
                at = np.where(mask, flat, 0).reshape(-1)
                spread = RowsBackward0(at, rows * width).run(shape.fold(kept, (at.shape[0], 1)))
                out[0] = shape.reshape(spread, (rows, width))
            return out
        every = rows_of(g, self.bag)
        if want[1]:
            products = every * rows_of(xs[0], self.where)
            out[1] = shape.reshape(
                reduce.sum_dims(products, (1,), False), linalg.sizes(xs[1]))
        if want[0]:
            if self.mode == 1:
                every = every * (1.0 / self.sizes[self.bag])[:, None].astype(linalg.raw(g).dtype)
            if xs[1] is not None:
                every = every * shape.unsqueeze(shape.fold(xs[1], (self.where.shape[0],)), 1)
            if self.factor is not None:
                every = every * self.factor[:, None].astype(linalg.raw(g).dtype)
            out[0] = RowsBackward0(self.where, rows).run(every)
        return out


from . import choose, linalg, reduce, shape  # noqa: E402
