"""What entries call that write tensors, or read arrays of the user's."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import TensorBase, bump, sink_of, wrap


def grad_of(t: TensorBase) -> Any:
    """The .grad of a leaf."""
    return t.sink.grad if t.sink is not None and t.fn is None else None


def edits_of(t: TensorBase) -> int:
    """How often its memory was edited."""
    return 0 if t.version is None else int(t.version.edits)


class Store:
    """The tensor's memory gets new content, by `count` edits."""

    __slots__ = ("count",)

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(self, t: TensorBase, x: Any) -> None:
        np.copyto(t.array, x)
        for _ in range(self.count):
            bump(t)


def store_grad(t: TensorBase, x: Any) -> None:
    """Its .grad gets new content."""
    grad = grad_of(t)
    np.copyto(grad.array, x)
    bump(grad)


def set_grad(t: TensorBase, x: Any) -> None:
    """A new .grad of this content, which is nobody else's."""
    sink_of(t).grad = wrap(x)


def no_grad(t: TensorBase, _: Any) -> None:
    """.grad is None."""
    sink = t.sink
    if sink is not None:
        sink.grad = None


class Outright:
    """f writes the gradients of tensors: -> its result, and they."""

    __slots__ = ("f", "rest", "tensors")

    def __init__(self, f: Any, tensors: list[TensorBase], rest: Any) -> None:
        self.f, self.tensors, self.rest = f, tensors, rest

    def arrays(self) -> list[Any]:
        return [None if g is None else g.array for g in map(grad_of, self.tensors)]

    def __call__(self, _: Any) -> Any:
        got = self.f(self.tensors, *self.rest)
        return (None if got is None else got.array, *self.arrays())


class Live:
    """f(x, ...), which changes x and numbers of Python's; tensors among the arguments come as arrays."""

    __slots__ = ("args", "f", "kwargs", "x")

    def __init__(self, f: Any, x: Any, args: Any, kwargs: Any) -> None:
        self.f, self.x = f, x
        self.args = [Live if isinstance(y, TensorBase) else y for y in args]        # Live: the place of an array
        self.kwargs = {k: Live if isinstance(y, TensorBase) else y for k, y in kwargs.items()}

    def __call__(self, *arrays: Any) -> None:
        given = iter(arrays)
        args = [wrap(next(given)) if y is Live else y for y in self.args]
        self.f(self.x, *args, **{k: wrap(next(given)) if y is Live else y for k, y in self.kwargs.items()})


class Number:
    """A number that x has now, as an array."""

    __slots__ = ("name", "x")

    def __init__(self, x: Any, name: str) -> None:
        self.x, self.name = x, name

    def __call__(self) -> Any:
        return np.array(getattr(self.x, self.name), np.float32)


class Laid:
    """A copy that lies as .grad does."""

    __slots__ = ("order",)

    def __init__(self, like: Any) -> None:
        self.order = sorted(range(like.ndim), key=lambda d: -like.strides[d])

    def __call__(self, x: Any) -> Any:
        back = sorted(range(x.ndim), key=self.order.__getitem__)
        return np.array(x.transpose(self.order), order="C").transpose(back)


class Again:
    """A new tensor of what an array of the user's holds now."""

    __slots__ = ("args", "impl", "kwargs", "like")

    def __init__(self, impl: Any, args: Any, kwargs: Any, like: Any) -> None:
        self.impl, self.args, self.kwargs, self.like = impl, args, kwargs or {}, (like.shape, like.dtype)

    def __call__(self) -> Any:
        array = self.impl(*self.args, **self.kwargs).array
        if (array.shape, array.dtype) != self.like:
            raise RuntimeError("torch.compile: an array that the function reads changed its shape or dtype")
        return array
