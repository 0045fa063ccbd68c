"""A level of vmap: the mode that runs inside it, and the tensors that stand for samples there.

NOTE [Batches]
Inside vmap a Batched stands for one sample; its `value` holds all of them, along its first dim.  A call that is given one
goes to the innermost level (`_engine/dispatch.py`), which finds the function's rule in `rules`: the call on whole values,
shapes and dims adjusted.  While a rule runs its level is off, so that its calls go to the level around, if any.  What is
recorded are operations on whole values; a derivative by a sample is the derivative by the value, since samples do not mix:
so transforms inside vmap (`_derivatives.py`) differentiate `lowered` values, in which every level has a dim of its own.
`array` of a Batched has a sample's shape and dtype, and nan for numbers: code below may look at the first, never at the
second.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import ref

import numpy as np

from retrograd._engine.dispatch import engage, parts, takes_part
from retrograd._engine.modes import state
from retrograd._engine.tensor import TensorBase, public
from retrograd._engine.warn import warn
from retrograd._tensor import Tensor, _disabled_torch_function_impl

Rule = Callable[["Level", Any, str, tuple[Any, ...], dict[str, Any]], Any]
LOOP = (
    "There is a performance drop because we have not yet implemented the batching rule for {}. Please file us an issue on "
    "GitHub so that we can prioritize its implementation."
)


class Batched(Tensor):
    """A sample of `value`, at a level of vmap."""

    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]
    value: Any
    level: Level
    entry: tuple[Any, int]                      # what vmap was given for it, where the batch lay along another dim


def plain(x: Any) -> Any:
    """x as a function under a transform sees it: as a Tensor, whose subclass is not asked."""
    kind = type(x)
    return x.as_subclass(Tensor) if takes_part(kind) and kind is not Tensor and not x.is_meta else x


class Escaped:
    """The array of a sample whose vmap is over."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(
            "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
            "https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in "
            "`gen_vmap_plumbing` Please file an issue if it looks like the latter")


class Loop(Exception):
    """A rule does not know what to do: the samples are computed one by one."""


_shapes: dict[Any, Any] = {}
_escaped = Escaped()


def _stand_in(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of this shape and dtype that holds nothing."""
    found = _shapes.get((shape, dtype))
    if found is None:
        if len(_shapes) > 1000:
            _shapes.clear()
        nothing = np.zeros((), dtype) if dtype.kind in "bui" else np.full((), np.nan, dtype)
        found = _shapes[shape, dtype] = np.broadcast_to(nothing, shape)
    return found


class Level:
    """One call of a function under vmap."""

    def __init__(self, size: int, randomness: str, rules: dict[str, Rule]) -> None:
        self.size = size
        self.randomness = randomness
        self.rules = rules
        self.depth = 1
        self.transform = 0                      # the use of another transform around it: its number
        self.samples: list[Any] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.call(func, args, kwargs or {})

    def call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call inside."""
        name = _names.get(func)
        if name is None:
            name = name_of(func)
            if name != "apply":                             # of a class of the user's
                _names[func] = name
        rule = self.rules.get("operator" if hasattr(func, "_qualified_op_name") else name)
        if not self.concerns(args) and not (kwargs and self.concerns(tuple(kwargs.values()))):
            if rule is None or not getattr(rule, "draws", False):
                return func(*args, **kwargs) if kwargs else func(*args)
        elif rule is None:
            return looped(self, func, name, args, kwargs)
        try:
            return rule(self, func, name, args, kwargs)
        except Loop:
            return looped(self, func, name, args, kwargs)

    def concerns(self, args: Any) -> bool:
        """Is there a sample of this level among them?"""
        for x in args:
            kind = type(x)
            if kind is Batched:
                if x.level is self:
                    return True
            elif kind is tuple or kind is list:
                if self.concerns(x):
                    return True
        return False

    def has(self, x: Any) -> bool:
        return type(x) is Batched and x.level is self

    def of(self, value: Any) -> Any:
        """The sample of `value`; of several, for each."""
        if isinstance(value, TensorBase):
            made: Any = public.new(Batched)
            array = value.array
            made.array = _stand_in(array.shape[1:], array.dtype)
            made.value = value
            made.level = self
            self.samples.append(ref(made))
            return made
        if isinstance(value, (tuple, list)):
            return type(value)([self.of(v) for v in value])
        return value

    def sample(self, value: Any, dim: int) -> Any:
        """The sample of a value whose batch lies along a dim."""
        if not dim or dim == -value.array.ndim:
            return self.of(value)
        made = self.of(value.movedim(dim, 0))
        made.entry = (value, dim % value.array.ndim)
        return made

    def lift(self, x: Any) -> Any:
        """x's value; of a tensor that is the same for all samples, as often as there are samples."""
        if type(x) is Batched and x.level is self:
            return x.value
        return x.unsqueeze(0).expand(self.size, *x.array.shape)

    def given(self, x: Any) -> tuple[Any, Any]:
        """x's value and its batch dim as vmap was given them; of lists of tensors, lists."""
        if type(x) is Batched and x.level is self:
            entry: tuple[Any, Any] = getattr(x, "entry", (x.value, 0))
            return entry
        if isinstance(x, (tuple, list)) and self.concerns(x):
            pairs = [self.given(v) for v in x]
            return type(x)([v for v, _ in pairs]), type(x)([d for _, d in pairs])
        return x, None

    def plain(self, x: Any) -> Any:
        """x, of a Batched of this level its value."""
        return x.value if type(x) is Batched and x.level is self else x

    def renewed(self, x: Any, value: Any = None) -> Any:
        """x, whose value was edited in place or replaced."""
        if value is not None:
            x.value = value
        array = x.value.array
        x.array = _stand_in(array.shape[1:], array.dtype)
        return x


parts.level = Level
_names: dict[Any, str] = {}


def name_of(func: Any) -> str:
    """What rules are found by: the name that the function bears, of linalg's with its package, of a property T.__get__"""
    name: str = getattr(func, "__name__", "?")
    if name == "unfold" and "Tensor" not in func.__qualname__:
        return "im2col"
    owner = getattr(func, "__self__", None)
    return f"{owner.fget.__name__}.{name}" if owner is not None and hasattr(owner, "fget") else name


@contextmanager
def inside(level: Level) -> Iterator[None]:
    """What is called here is called for samples of the level."""
    it = state()
    level.transform = it.transform
    level.depth = 1 + sum(type(m) is Level for m in it.functions)
    busy, it.busy = it.busy, False
    it.functions.append(level)
    engage(it)
    try:
        yield
    finally:
        it.functions.remove(level)
        it.busy = busy
        engage(it)
        for made in level.samples:
            left = made()
            if left is not None:
                left.array = _escaped


def levels() -> list[Level]:
    """Those that are going on, outermost first."""
    return [m for m in state().functions if type(m) is Level]


@contextmanager
def aside() -> Iterator[None]:
    """What is called here concerns whole values only: no level is asked."""
    it = state()
    if not it.functions:
        yield
        return
    was = it.functions
    it.functions = [m for m in was if type(m) is not Level]
    engage(it)
    try:
        yield
    finally:
        it.functions = was
        engage(it)


def lowered(x: Any, among: list[Level]) -> Any:
    """A tensor of [sizes of the levels, x's shape]: x for all samples of all of them."""
    if not among:
        return x
    had: list[bool] = []
    for level in reversed(among):
        had.append(type(x) is Batched and x.level is level)
        if had[-1]:
            x = x.value
    for i, (level, present) in enumerate(zip(among, reversed(had))):
        if not present:
            array = x.array
            x = x.unsqueeze(i).expand(*array.shape[:i], level.size, *array.shape[i:])
    return x


def raised(x: Any, among: list[Level]) -> Any:
    """The sample of each level of a tensor that `lowered` made."""
    for level in among:
        x = level.of(x)
    return x


def looped(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], told: bool = True) -> Any:
    """The call for one sample after the other."""
    if told:
        warn(LOOP.format(name if "::" in name else f"aten::{name}"))
    with _without(level):
        return _looped(level, func, name, args, kwargs)


@contextmanager
def _without(level: Level) -> Iterator[None]:
    """The level is off here, if it is on."""
    it = state()
    was = it.functions
    it.functions = [m for m in was if m is not level]
    try:
        yield
    finally:
        it.functions = was


def _looped(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    first = args[0] if args else None
    in_place = name.endswith("_") and not name.endswith("__")
    if in_place and not level.has(first):
        raise RuntimeError(NO_ROOM.format(f"aten::{name}").replace("which has", "that has"))
    results = []
    for i in range(max(level.size, 1)):
        results.append(func(*sample_of(level, args, i), **sample_of(level, kwargs, i)))
    if in_place:
        return level.renewed(first)
    return joined(level, results)


NO_ROOM = (
    "vmap: {0}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more elements "
    "than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a vmap. Please try to use "
    "out-of-place operators instead of {0}. If said operator is being called inside the PyTorch framework, please file a bug "
    "report instead."
)


def sample_of(level: Level, x: Any, i: int) -> Any:
    """Sample i of what is, or holds, samples of the level; of an empty batch one of zeros."""
    if type(x) is Batched:
        if x.level is not level:
            return x
        return x.value.select(0, i) if level.size else x.value.new_zeros(x.array.shape)
    if isinstance(x, dict):
        return {k: sample_of(level, v, i) for k, v in x.items()}
    if isinstance(x, (tuple, list)):
        got = [sample_of(level, v, i) for v in x]
        return got if type(x) is list else tuple(got) if type(x) is tuple else type(x)(got)
    return x


def joined(level: Level, results: list[Any]) -> Any:
    """The samples' results as one."""
    from retrograd._functions import stack

    first = results[0]
    if isinstance(first, TensorBase):
        whole = stack(results)
        return level.of(whole if level.size else whole.narrow(0, 0, 0))
    if isinstance(first, (tuple, list)):
        return type(first)([joined(level, list(column)) for column in zip(*results)])
    if isinstance(first, dict):
        return {k: joined(level, [r[k] for r in results]) for k in first}
    return first
