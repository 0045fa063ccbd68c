"""What users see of nodes: `_saved_X`, `_raw_saved_X`, and class names without a module, as PyTorch shows them."""
from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from types import ModuleType
from typing import Any, cast

import numpy as np

from .. import _rules
from .._engine.hooks import call
from .._engine.nary import Many, Nary
from .._engine.node import FREED, Node
from .._engine.op import A, B, Binary, Unary, X, Y
from .._engine.promote import number_dtype
from .._engine.saved import REGISTER_FREED, REGISTER_NONE, REGISTER_TWICE, Packed, use, use_output
from .._engine.tensor import TensorBase, wrap
from .._rules.affine import AddmmBackward0
from .._rules.linalg import MmBackward0
from . import dtypes

BASES: Any = (Unary, Binary, Nary, Many)
DRESSED: Any = {base: {name[7:] for name in vars(base) if name.startswith("_saved_")} for base in BASES}
BITS = {"x": X, "a": A, "b": B, "y": Y}


class SavedTensor:
    """One value a node keeps (`node._raw_saved_X`), so that hooks can be put on it alone."""

    __module__ = "retrograd._C._autograd"
    __slots__ = ("_node", "_field")

    def __init__(self, *args: Any) -> None:
        if not args:
            raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
        self._node, self._field = args

    @property
    def data(self) -> Any:
        """What lies there: the tensor, or what the pack hook made of it; None once it was freed."""
        if self._node.freed:
            return None
        value = self._kept()
        return value.packed if isinstance(value, Packed) else self._tensor(value)

    @property
    def unpack_hook(self) -> Any:
        """The hook that unpacks it, or None."""
        value = None if self._node.freed else self._kept()
        return value.unpack_hook if isinstance(value, Packed) else None

    def unpack(self) -> Any:
        """The tensor as the node's rule gets it.  RuntimeError once it was freed."""
        return read(self._node, self._field)

    def _kept(self) -> Any:
        node, field = self._node, self._field
        return node.kept[field] if isinstance(field, int) else getattr(node, field)

    def _tensor(self, value: Any) -> Any:
        return wrap(value) if isinstance(value, np.ndarray) else value

    def register_hooks(self, *hooks: Callable[[Any], Any]) -> None:
        """hooks (pack, unpack): pack now, unpack at each use.  RuntimeError a second time, or after it was freed."""
        check_callable(*hooks)
        pack_hook, unpack_hook = hooks
        node, field = self._node, self._field
        if node.freed:
            raise RuntimeError(REGISTER_FREED)
        value = self._kept()
        if isinstance(value, Packed):
            raise RuntimeError(REGISTER_TWICE)
        if value is None or not isinstance(value, (TensorBase, np.ndarray)):
            raise RuntimeError(REGISTER_NONE)
        own = node if field == "y" else None
        tensor = read(node, field) if own is not None else value
        packed = Packed(cast(TensorBase, tensor), pack_hook, unpack_hook, own)
        if isinstance(field, int):
            node.kept[field] = packed
        else:
            setattr(node, field, packed)


def check_callable(*hooks: Any) -> None:
    """TypeError unless they are two that can be called."""
    if len(hooks) != 2 or not all(map(callable, hooks)):
        got = ", ".join(repr(hook) for hook in hooks)
        raise TypeError("register_hooks(): incompatible function arguments. The following argument types are supported:\n"
                        "    1. (self: torch._C._autograd.SavedTensor, arg0: collections.abc.Callable, "
                        f"arg1: collections.abc.Callable) -> None\n\nInvoked with: {got}")


def read(node: Any, field: Any) -> Any:
    """The kept value as a Tensor or number; None when this node did not keep it."""
    if node.freed:
        raise RuntimeError(FREED)
    if isinstance(node, Nary):
        if isinstance(field, int):
            return use(node.kept[field], node.edits[field], node, True) if node.kept else None
        return use_output(node.y, node.y_version, node.y_edits, node, 0, True)
    if isinstance(node, Many):
        return use(node.x, node.x_edits, node, True) if node.keep & X else None
    if not node.keep & BITS[field]:
        return None
    if field == "y":
        return use_output(node.y, node.y_version, node.y_edits, node, 0, True)
    value = use(getattr(node, field), getattr(node, field + "_edits"), node, True)
    return wrap(np.asarray(value, number_dtype(value))) if isinstance(value, (bool, int, float, complex)) else value


def shown(node: Any, field: str) -> Any:
    """A value that is no kept tensor: dims, sizes, masks, indices."""
    if getattr(node, "freed", False) and getattr(node, "holds", False):
        raise RuntimeError(FREED)
    value = attrgetter(field)(node)
    return wrap(value) if isinstance(value, np.ndarray) else value


@cache
def _saved(name: str) -> property:
    def get(self: Any) -> Any:
        shows, field = self.shows.get(name), self.names.get(name)
        if shows is None and field is not None and (isinstance(field, int) or field in BITS):
            if self.reads_field(field):
                return read(self, field)
        elif shows is not None or field is not None:
            return shown(self, shows or field)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '_saved_{name}'")
    return property(get)


@cache
def _raw_saved(name: str) -> property:
    def get(self: Any) -> Any:
        field = self.names.get(name)
        if field is not None and (isinstance(field, int) or field in BITS) and self.reads_field(field):
            return SavedTensor(self, field)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '_raw_saved_{name}'")
    return property(get)


def dress(cls: Any) -> None:
    """Give its base the `_saved_X` attributes of an op class: to set them on each class takes longer than all the rest."""
    base = next(base for base in BASES if issubclass(cls, base))
    dressed = DRESSED[base]
    for name in (*cls.names, *cls.shows):
        if name not in dressed:
            dressed.add(name)
            setattr(base, "_saved_" + name, _saved(name))
            setattr(base, "_raw_saved_" + name, _raw_saved(name))


class _InputMetadata:
    """What a node knows of the gradient of one output: that it is like the output."""

    __module__ = "retrograd._C._autograd"

    is_nested_tensor = is_cpp_nested_tensor = False

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = list(shape)
        self.dtype = dtypes.of(dtype)
        self.device = dtypes.device("cpu")


def _input_metadata(self: Any) -> tuple[Any, ...]:
    """One per output; RuntimeError when nobody has asked a tensor for this node yet."""
    return tuple(_InputMetadata(*like or ((), np.dtype(np.float32))) for like in self.output_likes())


def _call(self: Any, *args: Any) -> Any:
    return call(self, args)


def dress_all() -> None:
    """... and every op class the name PyTorch shows."""
    pending = [Node]
    while pending:
        cls = pending.pop()
        pending.extend(cls.__subclasses__())
        if cls in BASES:
            continue
        if issubclass(cls, BASES) and not cls.__subclasses__():
            dress(cls)
        if cls is not Node and not cls.__module__.endswith("autograd.function"):
            cls.__module__ = "builtins"
            if cls.__name__.endswith("_"):                  # NotImplemented_: the bare name is Python's own
                cls.__name__ = cls.__name__.rstrip("_")
    _rules.__class__ = _Rules


class _Rules(ModuleType):
    """The package whose modules hold op classes: those that are imported later are dressed, too."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, ModuleType):
            dress_module(value)


def dress_module(module: Any) -> None:
    for cls in list(vars(module).values()):
        if isinstance(cls, type) and issubclass(cls, BASES) and cls.__module__ == module.__name__:
            if not cls.__subclasses__():
                dress(cls)
            cls.__module__ = "builtins"
            cls.__name__ = cls.__name__.rstrip("_")


def _measure(field: Any, what: Callable[[Any], Any]) -> property:
    def get(self: Any) -> Any:
        kept = read(self, field)
        return None if kept is None else what(kept)
    return property(get)


for made in (MmBackward0, AddmmBackward0):
    for name, field in made.names.items():
        setattr(made, f"_saved_{name}_sym_sizes", _measure(field, lambda t: tuple(t.shape)))
        setattr(made, f"_saved_{name}_sym_strides", _measure(field, lambda t: t.stride()))
Node.__doc__ = "One recorded op of the graph: its edges lead to the ops that made its inputs."   # mypyc drops docstrings
Node.__call__ = _call  # type: ignore[method-assign]  # a __call__ in the compiled class would break its layout
Node._input_metadata = property(_input_metadata)  # type: ignore[attr-defined]
