"""How torch.fx names things: values of a graph, and functions and types in generated code, there as PyTorch's."""
from __future__ import annotations

import builtins
import inspect
import keyword
import math
import re
import sys
import types
from importlib import import_module
from typing import Any

from retrograd._tensor import Tensor
from retrograd._tensor.dtypes import device
from retrograd.fx import _pytree as fx_pytree
from retrograd.utils import _pytree

# What is a function of C in PyTorch says so in generated code.
OF_NN = frozenset("""avg_pool2d avg_pool3d elu_ gelu hardtanh_ leaky_relu_ linear log_sigmoid one_hot
    scaled_dot_product_attention softplus softshrink""".split())


def torch() -> Any:
    """The namespace itself."""
    return import_module("retrograd")


# name in generated code: (what a file has to import for it, the object)
BUILTINS: dict[str, tuple[str, Any]] = {
    "inf": ("from math import inf", math.inf),
    "nan": ("from math import nan", math.nan),
    "NoneType": ("NoneType = type(None)", type(None)),
    "torch": ("import retrograd as torch", sys.modules["retrograd"]),
    "device": ("from retrograd import device", device),
    "fx_pytree": ("import retrograd.fx._pytree as fx_pytree", fx_pytree),
    "pytree": ("import retrograd.utils._pytree as pytree", _pytree),
}
ILLEGAL: dict[str, Any] = {**{word: object() for word in keyword.kwlist}, **vars(builtins),
                           **{name: made for name, (_, made) in BUILTINS.items()}}
NAME = re.compile(r"^([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?$")


def snake_case(text: str) -> str:
    """addBmm -> add_bmm"""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", text).lower()


class Namespace:
    """Names that are unique and hide no builtin; an object has one name."""

    def __init__(self) -> None:
        self._obj_to_name: dict[Any, str] = {}
        self._used_names: set[str] = set()
        self._base_count: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """`candidate`, or that with a number; of an object known already, its name."""
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        match = NAME.match(candidate)
        if match is None:
            candidate = re.sub("[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
            candidate = f"_{candidate}" if candidate[0].isdigit() else candidate
            match = NAME.match(candidate)
        assert match is not None
        base, number = match.group(1, 2)
        count = int(number or 0)
        if number is None or candidate in self._used_names:
            count = self._base_count.get(base, 0)
            if ILLEGAL.get(candidate, obj) is not obj:
                count += 1
                candidate = f"{base}_{count}"
        while candidate in self._used_names:
            count += 1
            candidate = f"{base}_{count}"
        self._used_names.add(candidate)
        self._base_count[base] = count
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """obj has this name from now on, and had none."""
        assert self._obj_to_name.setdefault(obj, name) is name, "obj is already associated"

    def _rename_object(self, obj: Any, name: str) -> None:
        assert obj in self._obj_to_name, f"Object {obj} is not in _obj_to_name"
        self._obj_to_name[obj] = name
        self._used_names.add(name)


def ours(module: Any) -> bool:
    """Is it the name of a module of ours?  `retrograd run` makes torch.X of it."""
    return isinstance(module, str) and module.partition(".")[0] in ("retrograd", "torch")


def is_from_torch(obj: Any) -> bool:
    """Does generated code reach it as torch.X?"""
    return ours(getattr(obj, "__module__", None)) and hasattr(obj, "__name__")


def type_name(obj: Any) -> str:
    """How a type stands in generated code: int, torch.Tensor, package.Type, List[int]"""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        return obj.__qualname__ if obj.__module__ == "builtins" else f"{public_module(obj.__module__)}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    return repr(obj).replace("retrograd.", "torch.")


def public_module(module: str) -> str:
    return "torch" + module[len("retrograd"):] if module.partition(".")[0] == "retrograd" else module


def qualified_name(func: Any) -> str:
    """The name by which generated code calls a function: getattr, torch.add, torch.nn.functional.relu, module.name"""
    name: str = func.__name__
    if getattr(builtins, name, None) is func:
        return name
    if getattr(func, "__qualname__", "") == f"Tensor.{name}" and getattr(Tensor, name, None) is func:
        return f"torch.Tensor.{name}"
    if name == "<lambda>":
        try:
            name = inspect.getsource(func).split("=")[0].strip()
        except Exception as e:
            raise RuntimeError("Unable to represent lambda") from e
    module = getattr(func, "__module__", None)
    if module is None:
        raise RuntimeError(f"cannot find module for {func}")
    if ours(module):
        place = public_module(module)
        if place == "torch.nn.functional" and name in OF_NN:
            place = "torch._C._nn"
        elif place in ("torch.linalg", "torch.special") and name.startswith(place[6:] + "_"):
            place = f"torch._C._{place[6:]}"
        return f"{place}.{name}".replace("torch._ops", "torch.ops")
    return f"{module}.{name}"
