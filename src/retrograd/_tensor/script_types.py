"""TorchScript's types as values, which programs name in annotations and compare: IntType.get(), ListType(IntType.get())."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

Text = str                                      # a method of these types has its name
SINGLE = {
    "AnyType": "Any", "BoolType": "bool", "ComplexType": "complex", "DeviceObjType": "Device", "FloatType": "float",
    "IntType": "int", "NoneType": "NoneType", "NumberType": "number", "PyObjectType": "PyObject",
    "StreamObjType": "Stream", "StringType": "str", "SymBoolType": "bool", "SymIntType": "int", "TensorType": "Tensor"}
GRAPHS = {"NumberType": "Scalar", "SymBoolType": "SymBool", "SymIntType": "SymInt"}
__all__ = ["DictType", "ListType", "OptionalType", "TupleType", "Type", *SINGLE]


class Type:
    """A type of TorchScript's."""

    __module__ = "retrograd"
    __hash__ = None  # type: ignore[assignment]
    annotation_str: Text

    def __init__(self) -> NoReturn:
        raise TypeError(f"torch._C.{type(self).__name__}: No constructor defined!")

    def kind(self) -> Text:
        """The name of its class."""
        return type(self).__name__

    def __repr__(self) -> Text:
        return self.annotation_str

    def str(self) -> Text:
        """How TorchScript's graphs name it."""
        return GRAPHS.get(self.kind(), self.annotation_str)

    def containedTypes(self) -> list[Type]:
        """The types that it is made of."""
        return []

    def isSubtypeOf(self, other: Type) -> bool:
        """Is every value of this type one of other?"""
        kind, own = other.kind(), self.kind()
        return kind == "AnyType" or self == other or (
            kind == "NumberType" and own in ("IntType", "FloatType", "ComplexType")) or (
            kind == "OptionalType" and (own == "NoneType" or self.isSubtypeOf(other.containedTypes()[0])))

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Type) and (self.kind(), self.annotation_str) == (other.kind(), other.annotation_str)


class _Made(Type):
    """A type made of others.  form: how graphs name it, with these in the place of {}."""

    form: Text

    def __init__(self, *parts: Any) -> None:
        self._parts = list(parts)
        self.annotation_str = f"{self.kind().removesuffix('Type')}[{', '.join(map(repr, parts)) or '()'}]"

    def str(self) -> Text:
        return self.form.format(", ".join(part.str() for part in self._parts))

    def containedTypes(self) -> list[Type]:
        return list(self._parts)


class _OfOne(_Made):
    def __init__(self, a: Type) -> None:
        super().__init__(a)

    def getElementType(self) -> Type:
        """That of the elements."""
        return self.containedTypes()[0]


class ListType(_OfOne):
    """List[a]"""

    __module__ = "retrograd"
    form = "{}[]"


class OptionalType(_OfOne):
    """Optional[a]"""

    __module__ = "retrograd"
    form = "{}?"


class DictType(_Made):
    """Dict[key, value]"""

    __module__ = "retrograd"
    form = "Dict({})"

    def __init__(self, key: Type, value: Type) -> None:
        super().__init__(key, value)

    def getKeyType(self) -> Type:
        """That of the keys."""
        return self.containedTypes()[0]

    def getValueType(self) -> Type:
        """That of the values."""
        return self.containedTypes()[1]


class TupleType(_Made):
    """Tuple[types]"""

    __module__ = "retrograd"
    form = "({})"

    def __init__(self, types: Sequence[Type]) -> None:
        super().__init__(*types)

    def elements(self) -> list[Type]:
        """Those of the elements."""
        return self.containedTypes()


def _single(name: str, text: str) -> Any:
    made: Any = type(name, (Type,), {
        "__module__": "retrograd", "__doc__": f"The type {text}: {name}.get().", "annotation_str": text})
    only = object.__new__(made)
    made.get = staticmethod(lambda: only)
    return made


for _name, _text in SINGLE.items():
    globals()[_name] = _single(_name, _text)
