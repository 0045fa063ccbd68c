"""torch.utils.weak: references that do not keep tensors, and dictionaries by identity, since tensors compare elementwise."""
from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, MutableMapping
from copy import deepcopy
from typing import Any

from .._engine.tensor import TensorBase
from .._missing import late_names

__all__ = ["TensorWeakRef", "WeakIdRef", "WeakIdKeyDictionary", "WeakTensorKeyDictionary"]
late_names(__name__)


class WeakIdRef(weakref.ref):  # type: ignore[type-arg]
    """A weak reference that is equal to others of the same object, whatever its == says; once it is gone, to itself alone."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Callable[[Any], None] | None = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, theirs = self(), other() if isinstance(other, weakref.ref) else None
        return self is other if mine is None or theirs is None else mine is theirs


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary whose keys are compared by identity, and are gone when nobody else holds them."""

    def __init__(self, dict: Any = None, ref_type: Any = WeakIdRef) -> None:
        self.ref_type = ref_type
        self.data: Any = {}
        if dict is not None:
            self.update(dict)

    def _ref(self, key: Any) -> Any:
        own = weakref.ref(self)

        def gone(reference: Any) -> None:
            it = own()
            if it is not None:
                it.data.pop(reference, None)
        return self.ref_type(key, gone)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self._ref(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:                       # nothing refers weakly to it
            return False

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        for reference in list(self.data):
            key = reference()
            if key is not None:
                yield key

    def keyrefs(self) -> list[Any]:
        """The references; some may lead to nothing by the time they are used."""
        return list(self.data)

    def copy(self) -> WeakIdKeyDictionary:
        """Another of the same keys and values."""
        return type(self)(self, self.ref_type)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary:
        return type(self)({}, self.ref_type)._filled((key, deepcopy(value, memo)) for key, value in self.items())

    def _filled(self, items: Any) -> WeakIdKeyDictionary:
        for key, value in items:
            self[key] = value
        return self

    def __or__(self, other: Any) -> Any:
        return self.copy()._filled(other.items()) if isinstance(other, MutableMapping) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return type(self)({}, self.ref_type)._filled([*other.items(), *self.items()]) if isinstance(
            other, MutableMapping) else NotImplemented

    def __ior__(self, other: Any) -> WeakIdKeyDictionary:
        return self._filled(other.items())

    def __eq__(self, other: object) -> bool:
        return {id(k): v for k, v in self.items()} == {id(k): v for k, v in other.items()} if isinstance(
            other, MutableMapping) else NotImplemented

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference of a tensor; calling it gives the tensor or None."""

    def __init__(self, tensor: Any) -> None:
        if not isinstance(tensor, TensorBase):
            raise AssertionError(f"expected torch.Tensor, got {type(tensor)}")
        self.ref: Any = weakref.ref(tensor)

    def __call__(self) -> Any:
        return self.ref()
