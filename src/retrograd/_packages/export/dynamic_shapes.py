"""Which sizes of the inputs an exported program leaves open."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from retrograd._missing import late_names
from retrograd._tensor import Tensor
from retrograd.fx._program import bound
from retrograd.utils._pytree import tree_leaves, tree_map

__all__ = ["Dim", "ShapesCollection", "dims"]
late_names(__name__)
LINEAR = "(Only increasing linear operations with integer coefficients are supported.)"


class Hint:
    """Dim.AUTO, Dim.DYNAMIC or Dim.STATIC."""

    def __init__(self, word: str, low: int | None = None, high: int | None = None) -> None:
        self.word, self.min, self.max = word, low, high

    def __call__(self, min: int | None = None, max: int | None = None) -> Hint:
        return Hint(self.word, min, max)

    def stepped(self, size: int, step: int) -> int:
        """Another size, `step` further on as far as the bounds allow."""
        return within(size + step, self.min, self.max)

    def __repr__(self) -> str:
        return f"Dim.{self.word}"


class Dim:
    """A size that differs between calls; the same for all dims that bear it.  2 * batch + 1 is a size that depends on it.

    https://pytorch.org/docs/stable/user_guide/torch_compiler/export.html
    """

    AUTO, DYNAMIC, STATIC = Hint("AUTO"), Hint("DYNAMIC"), Hint("STATIC")

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        if not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")
        self.__name__, self.min, self.max = name, min or 0, max
        if max is not None and max <= self.min:
            raise AssertionError(f"Cannot create Dim with inconsistent min={self.min}, max={max}")
        self.root, self.times, self.plus = self, 1, 0

    def __add__(self, other: Any) -> Dim:
        if type(other) is not int:
            raise NotImplementedError(f"Attempted to add {other!r} to {self.__name__}, where an integer was expected. {LINEAR}")
        return _DerivedDim(self.root, self.times, self.plus + other)

    def __sub__(self, other: Any) -> Dim:
        if type(other) is not int:
            raise NotImplementedError(
                f"Attempted to subtract {other!r} from {self.__name__}, where an integer was expected. {LINEAR}")
        return self + -other

    def __rsub__(self, other: Any) -> Dim:
        raise NotImplementedError(f"Attempted to negate {self.__name__}. {LINEAR}")

    def __mul__(self, other: Any) -> Dim:
        if type(other) is not int or other <= 0:
            raise NotImplementedError(
                f"Attempted to multiply {other!r} with {self.__name__}, where a positive integer was expected. {LINEAR}")
        return _DerivedDim(self.root, self.times * other, self.plus * other)

    __radd__, __rmul__ = __add__, __mul__

    def stepped(self, size: int, step: int) -> int:
        """Another size, for a root that is `step` further on as far as the bounds allow."""
        return self.times * within((size - self.plus) // self.times + step, self.root.min, self.root.max) + self.plus

    def __repr__(self) -> str:
        return f"Dim('{self.__name__}', min={self.min}" + (")" if self.max is None else f", max={self.max})")


class _DerivedDim(Dim):
    """times * root + plus"""

    def __init__(self, root: Dim, times: int, plus: int) -> None:
        name = f"{times}*{root.__name__}" if times != 1 else root.__name__
        self.__name__ = name + (f" + {plus}" if plus > 0 else f" - {-plus}" if plus else "")
        self.root, self.times, self.plus = root, times, plus
        self.min = times * root.min + plus
        self.max = None if root.max is None else times * root.max + plus
        if self.min < 0:
            raise AssertionError(
                f"Expected derived min value of {self.__name__} to be >= 0. Please specify an appropriate min value for "
                f"{root.__name__} (currently {root.min}).")

    def __repr__(self) -> str:
        return self.__name__


def within(size: int, low: int | None, high: int | None) -> int:
    """size, moved between the bounds; 0 and 1 are no examples of sizes."""
    size = max(size, low or 0, 2)
    return size if high is None else min(size, high)


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """A Dim for each name."""
    return tuple(Dim(name, min=min, max=max) for name in names)


class _Infinity(float):
    """int_oo: no bound."""

    def __repr__(self) -> str:
        return "int_oo"


@dataclass(frozen=True)
class ValueRanges:
    """The sizes from lower to upper."""

    lower: Any
    upper: Any

    def __repr__(self) -> str:
        return f"VR[{self.lower}, {self.upper}]"


def range_of(low: int, high: int | None, hinted: bool) -> ValueRanges:
    """Those between bounds; of a size that only a Hint leaves open from 2 on, as in PyTorch."""
    return ValueRanges(max(low, 2) if hinted else low, _Infinity("inf") if high is None else high)


class ShapesCollection:
    """dynamic_shapes by tensor: shapes[x] = {0: Dim("batch")} for an x among the arguments, however deep.

    https://pytorch.org/docs/stable/export.html#torch.export.ShapesCollection
    """

    def __init__(self) -> None:
        self._shapes: dict[int, tuple[Tensor, Any]] = {}

    def __setitem__(self, t: Any, shape: Any) -> None:
        if not isinstance(t, Tensor):
            raise AssertionError(f"Cannot assign shape to non-tensor or non-_IntWrapper type {type(t)}")
        had = self._shapes.setdefault(id(t), (t, shape))[1]
        if had != shape:
            raise AssertionError(f"Shapes assigned to input do not match: expected {had}, got {shape}")

    def __getitem__(self, t: Any) -> Any:
        return self._shapes.setdefault(id(t), (t, {}))[1]

    def __len__(self) -> int:
        return len(self._shapes)

    def dynamic_shapes(self, m: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        """What export takes: the shapes in the form of the arguments.  ValueError where one is not among them."""
        arguments = bound(getattr(m, "forward", m), args, kwargs or {})
        found = {id(x) for x in tree_leaves(arguments)}
        if any(key not in found for key in self._shapes):
            raise ValueError(
                "Some tensors that were assigned shapes were not found in args. Maybe such tensors were copied when passing them "
                "as args? Maybe such tensors are contained in classes that were not registered with pytree?")
        return tree_map(lambda x: self[x] if id(x) in self._shapes else None, arguments)


def open_dims(arguments: dict[str, Any], shapes: Any) -> list[dict[int, Any]]:
    """For each leaf of the arguments, in order, {dim: its Dim or Hint}."""
    if not isinstance(shapes, (dict, list, tuple, type(None))):
        raise TypeError(f"torch.export: dynamic_shapes is a dict, list or tuple of the arguments' sizes, not {shapes!r}")
    shapes = shapes or None
    if shapes is not None and len(shapes) != len(arguments):
        raise ValueError(f"torch.export: dynamic_shapes has {len(shapes)} entries, but the arguments are {', '.join(arguments)}")
    given = shapes if isinstance(shapes, dict) or shapes is None else dict(zip(arguments, shapes))
    unknown = set(given or ()) - set(arguments)
    if unknown:
        raise ValueError(
            f"torch.export: dynamic_shapes names {', '.join(sorted(unknown))}, but the arguments are {', '.join(arguments)}")
    found: list[dict[int, Any]] = []
    for name, value in arguments.items():
        collect(value, (given or {}).get(name), f"torch.export: dynamic_shapes[{name!r}]", found)
    return found


def collect(value: Any, spec: Any, where: str, found: list[dict[int, Any]]) -> None:
    if isinstance(value, Tensor):
        if not isinstance(spec, (dict, list, tuple, type(None))) or (isinstance(spec, (list, tuple)) and len(spec) != value.ndim):
            raise ValueError(f"{where}: expected a dict, or as many entries as the tensor has dims ({value.ndim}), not {spec!r}")
        dims_of = dict(enumerate(spec)) if isinstance(spec, (list, tuple)) else dict(spec or {})
        if any(not isinstance(dim, int) or not -value.ndim <= dim < value.ndim for dim in dims_of):
            raise ValueError(f"{where}: the tensor has {value.ndim} dims, not those of {sorted(dims_of)}")
        dims_of = {dim % value.ndim: what for dim, what in dims_of.items()}
        for dim, what in dims_of.items():
            if not isinstance(what, (Dim, Hint, int)) and what is not None:
                raise ValueError(f"{where}: expected a Dim, an int or None for dim {dim}, not {what!r}")
            if isinstance(what, int) and what != value.shape[dim]:
                raise ValueError(f"{where}: dim {dim} is to be {what}, but is {value.shape[dim]}")
        found.append({dim: what for dim, what in dims_of.items()
                      if isinstance(what, Dim) or (isinstance(what, Hint) and what.word == "DYNAMIC")
                      or (isinstance(what, Hint) and what.word == "AUTO" and value.shape[dim] > 1)})
    elif isinstance(value, (dict, list, tuple)) and spec is not None and (
            not isinstance(spec, dict if isinstance(value, dict) else (list, tuple)) or len(spec) != len(value)):
        raise ValueError(f"{where}: expected an entry for each of {len(value)}, not {spec!r}")
    elif isinstance(value, dict):
        for key, x in value.items():
            collect(x, None if spec is None else spec.get(key), f"{where}[{key!r}]", found)
    elif isinstance(value, (list, tuple)):
        for i, x in enumerate(value):
            collect(x, None if spec is None else spec[i], f"{where}[{i}]", found)
    elif spec is not None and not (isinstance(spec, Hint) and spec.word == "STATIC"):
        raise ValueError(f"{where}: the argument is {value!r}, which has no sizes")
    else:
        found.append({})
