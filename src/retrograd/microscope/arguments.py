"""The types of arguments, checked where users call: a decorator that reads the annotations of what it decorates."""
from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, TypeVar

FilePath = str | os.PathLike[str]               # annotate paths with it
F = TypeVar("F", bound=Callable[..., Any])

# How an annotation begins -> what fits it, in words and as a test.  What is not here and is no class of ours is not checked
KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("an integer", lambda x: hasattr(x, "__index__") and not isinstance(x, bool)),
    "float": ("a number", lambda x: hasattr(x, "__float__") and not isinstance(x, bool) and not getattr(x, "ndim", 0)),
    "bool": ("True or False", lambda x: isinstance(x, int) or hasattr(x, "__bool__")),
    "str": ("a string", lambda x: isinstance(x, str)),
    "None": ("None", lambda x: x is None),
    "FilePath": ("a path", lambda x: isinstance(x, (str, os.PathLike))),
    "Callable": ("a function", callable),
    "Sequence": ("a sequence", lambda x: hasattr(x, "__len__") and hasattr(x, "__getitem__")),
    "Iterable": ("an iterable", lambda x: hasattr(x, "__iter__") or hasattr(x, "__getitem__")),
    "Container": ("a container", lambda x: hasattr(x, "__contains__")),
    "dict": ("a dict", lambda x: hasattr(x, "items")),
}

EXACT = {"int": int, "float": float, "bool": bool, "str": str, "None": type(None)}     # what fits most often


def checked(f: F) -> F:
    """f, which raises TypeError in its own name when an argument is not what its annotation says."""
    kinds = {p.name: plain(str(p.annotation)).split(" | ")
             for p in signature(f).parameters.values()
             if p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) and p.name != "self"}
    places = [p.name for p in signature(f).parameters.values() if p.kind == Parameter.POSITIONAL_OR_KEYWORD]
    exact = {name: {EXACT[kind] for kind in its if kind in EXACT} for name, its in kinds.items()}
    asked = f.__qualname__.split(".")[0] if f.__name__ == "__init__" else f.__name__

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        for name, x in (*zip(places, args), *kwargs.items()):
            if name in kinds and type(x) not in exact[name] and not any(fits(kind, x) for kind in kinds[name]):
                raise TypeError(f"{asked}: {name} must be {' or '.join(map(said, kinds[name]))}, got {type(x).__name__}")
        return f(*args, **kwargs)

    return call                                 # type: ignore[return-value]


def plain(annotation: str) -> str:
    """Without what stands in brackets."""
    shorter = re.sub(r"\[[^\[\]]*\]", "", annotation)
    return shorter if shorter == annotation else plain(shorter)


def fits(kind: str, x: Any) -> bool:
    """Is x of this kind?  True for kinds that cannot be checked."""
    if kind in KINDS:
        return KINDS[kind][1](x)
    ours = ours_named(kind)
    return ours is None or isinstance(x, ours)


def said(kind: str) -> str:
    return KINDS[kind][0] if kind in KINDS else f"a {kind}"


def ours_named(name: str) -> Any:
    """The microscope's public class of a name, or None."""
    package = import_module(__package__)
    return getattr(package, name) if name in package.__all__ else None
