"""Modules that hold others, or parameters, in order or by name."""
from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from ..._engine.tensor import TensorBase
from ..._engine.warn import warn
from ..module import Module, indented, text_of
from ..parameter import Parameter

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def position(idx: Any, length: int) -> int:
    """A possibly negative index, counted from 0; IndexError out of range."""
    at = operator.index(idx)
    if not -length <= at < length:
        raise IndexError(f"index {at} is out of range")
    return at % length


def renumber(module: Any) -> None:
    """After a removal: the names are 0, 1, 2, ... again."""
    module._modules = {str(i): child for i, child in enumerate(module._modules.values())}


class _Ordered(Module):
    """What Sequential and ModuleList share."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module: Any) -> Any:
        """Add a module at the end; -> itself."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: Any) -> Any:
        """Take the module at index `key` out and return it."""
        module = self[key]
        del self[key]
        return module

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return self._some(idx)
        return next(islice(self._modules.values(), position(idx, len(self)), None))

    def __setitem__(self, idx: Any, module: Any) -> None:
        key = next(islice(self._modules, position(idx, len(self)), None))
        setattr(self, key, module)

    def __delitem__(self, idx: Any) -> None:
        names = list(self._modules)
        for name in names[idx] if isinstance(idx, slice) else [names[position(idx, len(names))]]:
            delattr(self, name)
        renumber(self)

    def _some(self, idx: slice) -> Any:
        raise NotImplementedError


class Sequential(_Ordered):
    """Modules applied one after the other: Sequential(a, b, ...) or Sequential(OrderedDict of name -> module).

    https://pytorch.org/docs/stable/generated/torch.nn.Sequential.html
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for key, module in args[0].items():
                self.add_module(key, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def _some(self, idx: slice) -> Any:
        return self.__class__(OrderedDict(list(self._modules.items())[idx]))

    def insert(self, index: int, module: Any) -> Any:
        """Put a module before the one at `index`; -> itself."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        children = list(self._modules.values())
        children.insert(index, module)
        self._modules = {str(i): child for i, child in enumerate(children)}
        return self

    def extend(self, sequential: Iterable[Any]) -> Any:
        """Add the modules of `sequential` at the end; -> itself."""
        for module in sequential:
            self.append(module)
        return self

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Any:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(list(other))

    def _times(self, n: Any, sign: str) -> list[Any]:
        if not isinstance(n, int):
            raise TypeError(f"unsupported operand type(s) for {sign}: {type(self)} and {type(n)}")
        if n <= 0:
            raise ValueError(f"Non-positive multiplication factor {n} for {type(self)}")
        return list(self) * n

    def __mul__(self, other: Any) -> Any:
        return Sequential(*self._times(other, "*"))

    def __rmul__(self, other: Any) -> Any:
        return self.__mul__(other)

    def __imul__(self, other: Any) -> Any:
        return self.extend(self._times(other, "*")[len(self):])


class ModuleList(_Ordered):
    """A list that registers its modules; it has no forward.

    https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html
    """

    def __init__(self, modules: Iterable[Any] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    def _some(self, idx: slice) -> Any:
        return self.__class__(list(self._modules.values())[idx])

    def insert(self, index: int, module: Any) -> None:
        """Put a module before the one at `index`."""
        children = list(self._modules.values())
        children.insert(index, module)
        for i, child in enumerate(children):
            self.add_module(str(i), child)

    def extend(self, modules: Iterable[Any]) -> Any:
        """Add modules at the end; -> itself.  TypeError if they are not iterable."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def __iadd__(self, modules: Iterable[Any]) -> Any:
        return self.extend(modules)

    def __add__(self, other: Iterable[Any]) -> Any:
        return ModuleList(chain(self, other))

    def __repr__(self) -> str:
        """Equal neighbors share a line: (0-2): 3 x Linear(...)"""
        runs: list[list[Any]] = []
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        children = []
        for first, last, text in runs:
            where = f"({first}): " if first == last else f"({first}-{last}): {last - first + 1} x "
            children.append(where + indented(text))
        return text_of(self._get_name(), [], children)


class ModuleDict(Module):
    """A dict that registers its modules, in insertion order.

    https://pytorch.org/docs/stable/generated/torch.nn.ModuleDict.html
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove everything."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove the module called `key` and return it; KeyError if there is none."""
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """(name, module) pairs."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add the modules of a mapping, or of (name, module) pairs."""
        for key, module in pairs(modules, "ModuleDict"):
            self[key] = module


def pairs(given: Any, name: str) -> Iterator[tuple[Any, Any]]:
    """(key, value) of a mapping or of an iterable of pairs; TypeError, ValueError for anything else."""
    if not isinstance(given, Iterable):
        said = "ParametersDict" if name == "ParameterDict" else name    # PyTorch's slip
        raise TypeError(f"{said}.update should be called with an iterable of key/value pairs, but got "
                        f"{type(given).__name__}")
    if isinstance(given, (Mapping, ModuleDict, ParameterDict)):
        yield from given.items()
        return
    for i, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{name} update sequence element #{i} should be Iterable; is{type(pair).__name__}")
        found = list(pair)
        if len(found) != 2:
            raise ValueError(f"{name} update sequence element #{i} has length {len(found)}; 2 is required")
        yield found[0], found[1]


def described(value: Any, kind: str) -> str:
    """Describe a tensor by its dtype or type (kind) and its size, anything else by its class."""
    if not isinstance(value, TensorBase):
        return f"Object of type: {type(value).__name__}"
    name = "Parameter" if isinstance(value, Parameter) else "Tensor"
    tensor: Any = value
    what = tensor.type() if kind == "type" else tensor.dtype
    return f"{name} containing: [{what} of size {'x'.join(map(str, tensor.size()))}]"


class ParameterList(Module):
    """A list that registers its Parameters; other tensors become Parameters, other values stay as they are.

    https://pytorch.org/docs/stable/generated/torch.nn.ParameterList.html
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return self.__class__(getattr(self, str(i)) for i in range(*idx.indices(len(self))))
        return getattr(self, str(position(idx, len(self))))

    def __setitem__(self, idx: Any, param: Any) -> None:
        if isinstance(param, TensorBase) and not isinstance(param, Parameter):
            param = Parameter(param)
        setattr(self, str(position(idx, len(self))), param)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[i] for i in range(len(self)))

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> Any:
        """Add `value` at the end; -> itself."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Any:
        """Add `values` at the end; -> itself.  TypeError if they are a tensor or not iterable."""
        if not isinstance(values, Iterable) or isinstance(values, TensorBase):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Any:
        return self.extend(values)

    def extra_repr(self) -> str:
        return "\n".join(f"  ({i}): {described(value, 'dtype')}" for i, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict that registers its Parameters; other tensors become Parameters, other values stay as they are.

    parameters: a mapping, or (name, value) pairs.

    https://pytorch.org/docs/stable/generated/torch.nn.ParameterDict.html
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _named(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                f"'{type(key).__name__}'). Open an issue on github if you need non-string keys.")
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._named(key))

    def __setitem__(self, key: str, value: Any) -> None:
        name = self._named(key)
        self._keys[name] = None
        if isinstance(value, TensorBase) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, name, value)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._named(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> Any:
        """Another ParameterDict with the same entries."""
        return ParameterDict(OrderedDict((k, self[k]) for k in self._keys))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The entry under `key`, made from default if missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove the entry under `key` and return it; KeyError if there is none."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the last entry and return (key, value)."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The entry under `key`, or default."""
        return self[key] if key in self else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> Any:
        """A new ParameterDict with `default` under each of `keys`."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """(name, value) pairs."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add the values of `parameters`, a mapping (sorted by name unless it is ordered) or (name, value) pairs."""
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            parameters = OrderedDict(sorted(parameters.items()))
        for key, value in pairs(parameters, "ParameterDict"):
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(f"  ({key}): {described(value, 'type')}" for key, value in self.items())

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: Any) -> Any:
        found = self.copy()
        found.update(other)
        return found

    def __ror__(self, other: Any) -> Any:
        found = other.copy()
        found.update(self)
        return found

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self


class Container(Module):
    """A Module of these.  Deprecated: use Module."""

    def __init__(self, **kwargs: Any) -> None:
        warn("`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. Subclass that instead.",
             FutureWarning)
        super().__init__()
        for key, value in kwargs.items():
            self.add_module(key, value)
