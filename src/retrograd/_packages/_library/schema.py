"""What an operator takes and returns: as text, read off a Python function, and asked of arguments."""
from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any

from retrograd._tensor import Tensor
from retrograd._tensor.dtypes import device, dtype

ARGUMENT = re.compile(r"(?P<kind>\w+!?(?:\([^)]*\))?(?:\?|\[\d*\])*)\s+(?P<name>\w+)(?:\s*=\s*(?P<default>.+))?$", re.S)
PLAIN: dict[Any, str] = {Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", dtype: "ScalarType",
                         device: "Device", typing.Union[int, float, bool]: "Scalar"}
LISTS = {"Tensor", "SymInt", "float", "bool", "Scalar"}
TYPES = {"Tensor": Tensor, "int": int, "SymInt": int, "float": (float, int, Tensor), "bool": bool, "str": str,
         "Device": (device, str), "Scalar": (int, float, bool, complex), "ScalarType": dtype}
KINDS = frozenset("""Tensor Generator ScalarType Layout MemoryFormat Storage QScheme Quantizer ConstQuantizerPtr Device
    DeviceIndex Stream Scalar str float complex int SymInt SymBool bool None NoneType Any AnyClassType AnyEnumType
    Capsule""".split())
GENERIC = frozenset("RRef Future Await Dict".split())          # of other types, in brackets
EMPTY = inspect.Parameter.empty


class Argument:
    """One argument of an operator."""

    def __init__(self, name: str, kind: str, default: Any = EMPTY, kwarg_only: bool = False) -> None:
        self.name, self.kwarg_only = name, kwarg_only
        self.alias = re.search(r"\((.*?)\)", kind)
        self.type = re.sub(r"\(.*?\)", "", kind)
        self.text = kind
        self.given_default = default

    def has_default_value(self) -> bool:
        """May it be left out?"""
        return self.given_default is not EMPTY

    @property
    def default_value(self) -> Any:
        """What it is where it is left out."""
        return None if self.given_default is EMPTY else self.given_default

    @property
    def is_write(self) -> bool:
        """Does the operator change it?"""
        return self.alias is not None and "!" in self.alias[1]

    def __str__(self) -> str:
        return f"{self.text} {self.name}" + ("" if self.given_default is EMPTY else f"={written(self.given_default)}")


class FunctionSchema:
    """name.overload(arguments) -> returns"""

    def __init__(self, text: str) -> None:
        left = text.partition("(")
        depth, end = 0, -1
        for i, c in enumerate(text):
            depth += (c == "(") - (c == ")")
            if c == ")" and depth == 0:
                end = i
                break
        if end < 0 or not left[1]:
            raise RuntimeError(f"expected ) but found 'eof' here:\n{text}")
        self.name, _, self.overload_name = left[0].strip().partition(".")
        for part in (self.name.rpartition("::")[2], self.overload_name or "default"):
            if not part.isidentifier():
                raise RuntimeError(f"expected ident but found '{part or '('}' here:\n{text}")
        after = text[end + 1:].strip()
        if not after.startswith("->"):
            raise RuntimeError(f"expected -> but found '{after[:1] or 'eof'}' here:\n{text}")
        self.arguments: list[Argument] = []
        named, fresh = False, count()
        for part in split(text[len(left[0]) + 1:end]):
            if part in ("*", "..."):
                named = named or part == "*"
                continue
            found = ARGUMENT.match(part)
            if found is None:
                raise RuntimeError(f"expected ident but found '{part}' here:\n{text}")
            default = EMPTY if found["default"] is None else value_of(found["default"].strip())
            kind = found["kind"]
            if kind.endswith("!"):              # changed, and no part of another argument
                kind = f"{kind[:-1]}(${next(fresh)}! -> )"
            known(kind, text)
            self.arguments.append(Argument(found["name"], kind, default, named))
            self.check_default(self.arguments[-1], text)
        self.returned = after[2:].strip()
        self.returns = split(self.returned[1:-1]) if self.returned.startswith("(") else [self.returned]
        if not self.returned:
            raise RuntimeError(f"expected ident but found 'eof' here:\n{text}")
        for part in self.returns:
            known(part.partition(" ")[0], text)

    def check_default(self, a: Argument, text: str) -> None:
        if not a.has_default_value():
            if not a.kwarg_only and any(b.has_default_value() for b in self.arguments if not b.kwarg_only):
                raise RuntimeError(f"Non-default positional argument follows default argument. Parameter {a.name} in {text}")
        elif a.type == "Tensor" and a.default_value is not None:
            raise RuntimeError(f"expected None but found '{a.default_value}' here:\n{text}")
        elif a.type in ("int", "float", "SymInt") and isinstance(a.default_value, str):
            raise RuntimeError(f"invalid numeric default value:\n{text}")

    @property
    def is_mutable(self) -> bool:
        """Does it change one of its arguments?"""
        return any(a.is_write for a in self.arguments)

    def __str__(self) -> str:
        parts = []
        for i, a in enumerate(self.arguments):
            if a.kwarg_only and (i == 0 or not self.arguments[i - 1].kwarg_only):
                parts.append("*")
            parts.append(str(a))
        name = f"{self.name}.{self.overload_name}" if self.overload_name else self.name
        return f"{name}({', '.join(parts)}) -> {self.returned}"

    __repr__ = __str__

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments by place and by name, as given, each checked.  RuntimeError where they do not fit."""
        places = [a for a in self.arguments if not a.kwarg_only]
        if len(args) > len(places):
            raise RuntimeError(f"{self.name}() expected at most {len(places)} argument(s) but received "
                               f"{len(args) + len(kwargs)} argument(s). Declaration: {self}")
        given = list(args)
        rest = dict(kwargs)
        for i, a in enumerate(self.arguments):
            if i < len(args) and not a.kwarg_only:
                given[i] = self.checked(a, args[i], i)
            elif a.name in rest:
                rest[a.name] = self.checked(a, rest[a.name], i)
            elif not a.has_default_value():
                raise RuntimeError(f"{self.name}() is missing value for argument '{a.name}'. Declaration: {self}")
        unknown = next((name for name in rest if name not in {a.name for a in self.arguments}), None)
        if unknown is not None:
            raise RuntimeError(f"Unknown keyword argument '{unknown}' for operator '{self.name}'. Schema: {self}")
        by_name = {a.name for a in self.arguments if a.kwarg_only}
        for a in places[len(given):]:           # given by name, or by default where one further on is
            if a.name not in rest:
                if not any(b.name in rest for b in places[len(given):]):
                    break
                given.append(a.default_value)
            else:
                given.append(rest.pop(a.name))
        return given, {k: v for k, v in rest.items() if k in by_name}

    def filled(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """bind's result with all defaults."""
        places = [a for a in self.arguments if not a.kwarg_only]
        names = {a.name: kwargs.get(a.name, a.default_value) for a in self.arguments if a.kwarg_only}
        return (*args, *(a.default_value for a in places[len(args):])), names

    def checked(self, a: Argument, value: Any, place: int) -> Any:
        if fits(a.type, value):
            return float(value) if a.type == "float" and not isinstance(value, float) else value
        details = (f"Unable to cast {value} to Tensor" if a.type == "Tensor" else
                   f"Unable to cast Python instance of type {type(value)} to C++ type '?' (#define "
                   "PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)")
        raise RuntimeError(
            f"{self.name}() Expected a value of type '{spoken(a.type)}' for argument '{a.name}' but instead found type "
            f"'{type(value).__name__}'.\nPosition: {place}\nValue: {value!r}\nDeclaration: {self}\nCast error details: {details}")


def known(kind: str, text: str) -> None:
    """RuntimeError for a type that no operator of the schema `text` can have."""
    outer, bracket, inside = kind.rstrip("?[]0123456789").partition("(")
    if outer in GENERIC and bracket:
        for part in split(inside.removesuffix(")")):
            known(part, text)
    elif outer not in KINDS:
        raise RuntimeError(
            "\nunknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; for a full "
            "list, please see https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func :\n"
            f"{text}\n{' ' * text.find(outer)}{'~' * len(outer)} <--- HERE\n")


def fits(kind: str, value: Any) -> bool:
    if kind.endswith("?"):
        return value is None or fits(kind[:-1], value)
    if kind.endswith("]"):
        inner = kind[:kind.rindex("[")]
        return (isinstance(value, (list, tuple)) and all(fits(inner, x) for x in value)) or (
            kind[-2] != "[" and fits(inner, value))
    if kind in ("int", "SymInt", "float") and isinstance(value, bool):
        return kind == "float"
    if kind == "float" and isinstance(value, Tensor):
        return bool(value.numel() == 1)
    return isinstance(value, TYPES.get(kind, object))  # type: ignore[arg-type]


def spoken(kind: str) -> str:
    """int[]? -> Optional[List[int]]"""
    if kind.endswith("?"):
        return f"Optional[{spoken(kind[:-1])}]"
    if kind.endswith("]"):
        return f"List[{spoken(kind[:kind.rindex('[')])}]"
    return {"SymInt": "int", "Scalar": "number", "ScalarType": "int"}.get(kind, kind)


def split(text: str) -> list[str]:
    """The parts between commas that stand in no bracket and no string."""
    found, depth, quoted = [""], 0, False
    for c in text:
        quoted ^= c == '"'
        depth += (c in "([") - (c in ")]") if not quoted else 0
        if c == "," and depth == 0 and not quoted:
            found.append("")
        else:
            found[-1] += c
    if len(found) > 1 and not all(part.strip() for part in found):
        raise RuntimeError(f"expected ident but found ',' here:\n{text}")
    return [part.strip() for part in found if part.strip()]


def value_of(text: str) -> Any:
    """A default, as schemas write it."""
    if text in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[text]
    if text.startswith("["):
        return [value_of(part) for part in split(text[1:-1])]
    if text[0] in "\"'":
        return text[1:-1]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def written(value: Any) -> str:
    """A default, as schemas write it."""
    if isinstance(value, float):
        text = f"{value:.17g}"
        return text if any(c in text for c in ".en") else f"{text}."
    if isinstance(value, (str, device)):
        return f'"{value}"'
    if isinstance(value, dtype):
        return str(value).rpartition(".")[2]
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(written, value))}]"
    return str(value)


def kind_of(annotation: Any) -> str | None:
    """'Tensor?' of Optional[Tensor]; None for a type that no operator takes."""
    found = PLAIN.get(annotation)
    if found is not None:
        return found
    inside, origin = typing.get_args(annotation), typing.get_origin(annotation)
    if origin in (list, Sequence):
        kind = kind_of(inside[0])
        return f"{kind}[]" if kind is not None and kind.rstrip("?") in LISTS else None
    if type(None) in inside:
        kind = kind_of(typing.Union[tuple(x for x in inside if x is not type(None))])
        return None if kind is None or kind.endswith("?") else f"{kind}?"
    return None


def infer_schema(prototype_function: Callable[..., Any], /, *, mutates_args: str | Iterable[str],
                 op_name: str | None = None) -> str:
    """The schema of a function with annotations: "(Tensor x, float scale=2.) -> Tensor"

    mutates_args    names of the arguments that it changes, or "unknown"
    https://pytorch.org/docs/stable/library.html#torch.library.infer_schema
    """
    signature = inspect.signature(prototype_function)
    try:
        hints = typing.get_type_hints(prototype_function)
    except Exception:
        hints = {}
    unknown = {f"retrograd.{name}" for name in ("Tensor", "dtype", "device")}

    def bad(what: str) -> ValueError:
        shown = str(signature)
        for name in unknown:
            shown = shown.replace(name, "torch" + name[len("retrograd"):])
        return ValueError(f"infer_schema(func): {what} Got func with signature {shown})")

    parts = []
    seen: set[str] = set()
    named = False
    for i, (name, p) in enumerate(signature.parameters.items()):
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            raise bad("We do not support positional-only args, varargs, or varkwargs.")
        if p.kind is p.KEYWORD_ONLY and not named:
            named = True
            parts.append("*")
        if p.annotation is p.empty:
            raise bad(f"Parameter {name} must have a type annotation.")
        annotation = hints.get(name, p.annotation)
        if p.default is None and p.annotation in PLAIN:         # get_type_hints of Python 3.10 made it Optional
            annotation = p.annotation
        kind = kind_of(annotation)
        if kind is None:
            raise bad(f"Parameter {name} has unsupported type {annotation}. The valid types are: {[*PLAIN]}.")
        seen.add(name)
        if (name in mutates_args if mutates_args != "unknown" else kind.startswith("Tensor")):
            if not kind.startswith("Tensor"):
                raise bad(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
            kind = f"Tensor(a{i}!)" + kind[len("Tensor"):]
        default = "" if p.default is p.empty else f"={written(p.default)}"
        parts.append(f"{kind} {name}{default}")
    if mutates_args != "unknown":
        extra = set(mutates_args) - seen
        if extra:
            raise bad(f"{extra} in mutates_args were not found in the custom op's signature. mutates_args should contain the "
                      "names of all args that the custom op mutates, or just the string 'unknown' if you don't know.")
    if signature.return_annotation is signature.empty:
        raise bad("No return type annotation was provided. Please add one.")
    returned = hints.get("return", signature.return_annotation)
    text = f"({', '.join(parts)}) -> {returns_of(returned, bad)}"
    return text if op_name is None else op_name + text


def returns_of(annotation: Any, bad: Callable[[str], ValueError]) -> str:
    if annotation in (None, type(None)):
        return "()"
    if typing.get_origin(annotation) is tuple:
        return "(" + ", ".join(returns_of(x, bad) for x in typing.get_args(annotation)) + ")"
    kind = kind_of(annotation)
    if kind not in ("Tensor", "Tensor[]", "SymInt", "float", "bool", "Scalar"):
        raise bad(f"Return has unsupported type {annotation}. The valid types are: {[*PLAIN]}.")
    return kind
