"""What a public module says about a name it lacks: most such names come from programs written for PyTorch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from types import FrameType
from typing import Any

SHOWN = 3  # near names in a message


def module_getattr(
    module_name: str, lazy: Iterable[str] = (), also: dict[str, Callable[[], Any]] | None = None,
) -> Callable[[str], Any]:
    """The `__getattr__` of a public module.

    lazy    submodules to import when first used
    also    other names that cost an import, and what gives them
    AttributeError, or ImportError inside `from module import name`, with the names that are near.
    """
    submodules = frozenset(lazy)

    def __getattr__(name: str) -> Any:
        if name in submodules:
            return import_module(f"{module_name}.{name}")
        if also is not None and name in also:
            return also[name]()
        if name.startswith("_"):  # probes: __path__, __wrapped__, _ipython_display_
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}")
        ours = describe(module_name, name, submodules)
        if is_import_from(sys._getframe(1)):
            # Python would replace an AttributeError here by an ImportError without our line.
            raise ImportError(f"cannot import name {name!r} from {module_name!r}\n{ours}", name=module_name)
        # name is set so that Python does not set obj and add a "Did you mean" of its own.
        raise AttributeError(f"module {module_name!r} has no attribute {name!r}\n{ours}", name=name)

    return __getattr__


def late_names(module_name: str, lazy: Iterable[str] = (), also: dict[str, Callable[[], Any]] | None = None) -> None:
    """Give a public module its `module_getattr`, and a `__dir__` that lists these names: `late_names(__name__)`.

    Not by an assignment, from which type checkers would take it that every name is there.
    """
    names = vars(sys.modules[module_name])
    late = {*lazy, *(also or ())}
    names["__getattr__"] = module_getattr(module_name, lazy, also)
    names["__dir__"] = lambda: sorted(late.union(names))


def missing(module_name: str, name: str, candidates: Iterable[str]) -> str:
    """One line for a `name` that `module_name` lacks: why, or those of `candidates` that are near."""
    from difflib import get_close_matches

    from .lacks import why

    reason = why(f"{torch_name(module_name)}.{name}") or why(name)
    if reason is not None:
        return f"retrograd has no '{torch_name(module_name)}.{name}': {reason}"
    path = f"{torch_name(module_name)}.{name}"
    folded = {candidate.casefold(): candidate for candidate in candidates}
    near = [folded[match] for match in get_close_matches(name.casefold(), folded, SHOWN)]
    text = f"retrograd has no '{path}'"
    return f"{text}; near names: {', '.join(near)}" if near else text


class Absences:
    """Asked by `import retrograd.x` after all other finders: says why PyTorch's torch.x is not there."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name.startswith("retrograd.") and not only_asked(sys._getframe(2)):
            raise no_module(name)


def explain_imports() -> None:
    """Have failing imports of modules say why."""
    sys.meta_path.append(Absences)


def only_asked(frame: FrameType) -> bool:
    """Does importlib.util.find_spec ask, which `frame` calls?"""
    return frame.f_globals.get("__name__") == "importlib.util"


def no_module(name: str, note: str = "") -> ModuleNotFoundError:
    """The error of importing `name`, retrograd.x.y or torch.x.y."""
    parent, _, last = f"retrograd.{name.partition('.')[2]}".rpartition(".")
    return ModuleNotFoundError(f"No module named '{name}'\n{missing(parent, last, submodules(parent))}{note}", name=name)


def submodules(package: str) -> list[str]:
    from pkgutil import iter_modules

    folders = getattr(sys.modules[package], "__path__", [])
    return [entry.name for entry in iter_modules(folders) if not entry.name.startswith("_")]


def torch_name(module_name: str) -> str:
    """'retrograd.nn' -> 'torch.nn'"""
    return "torch" + module_name.removeprefix("retrograd")


@lru_cache(256)  # `hasattr(torch, name)` may be asked at every step
def describe(module_name: str, name: str, lazy: frozenset[str] = frozenset()) -> str:
    from .lacks import why

    found = elsewhere(name)
    if found and why(f"{torch_name(module_name)}.{name}") is None:
        return f"retrograd has no '{torch_name(module_name)}.{name}'; it has {', '.join(found)}"
    return missing(module_name, name, [*public(sys.modules[module_name]), *lazy])


def elsewhere(name: str) -> list[str]:
    """Where loaded public modules of ours, and nn, do have `name`: the shortest path to each thing of that name."""
    import_module("retrograd.nn")
    modules = [
        path
        for path, module in list(sys.modules.items())
        if path.partition(".")[0] == "retrograd" and "._" not in path and name in vars(module)
    ]
    found: dict[int, str] = {}
    for path in sorted(modules, key=lambda path: (path.count("."), path)):
        found.setdefault(id(vars(sys.modules[path])[name]), f"{torch_name(path)}.{name}")
    return list(found.values())[:SHOWN]


def public(module: Any) -> list[str]:
    return [name for name in vars(module) if not name.startswith("_")]


def is_import_from(frame: FrameType) -> bool:
    """Is `frame` in the middle of `from module import name`?"""
    from opcode import opmap

    code = frame.f_code.co_code
    return 0 <= frame.f_lasti < len(code) and code[frame.f_lasti] == opmap["IMPORT_FROM"]


# PyTorch's names that Tensor lacks.  Why, says lacks.py, which is read when one of them is asked for.
TENSOR = """
    ccol_indices chalf coalesce col_indices const_data_ptr crow_indices dense_dim
    dequantize eig hash_tensor index indices int_repr ipu is_coalesced lstsq module_load mtia
    name q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale
    q_zero_point qscheme reinforce resize resize_as resize_as_sparse_ row_indices slice_inverse smm solve sparse_dim
    sparse_mask sparse_resize_ sparse_resize_and_clear_ sspaddmm symeig to_mkldnn
    to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr
    unsafe_split_with_sizes values xpu
"""


class Absent:
    """A Tensor method that PyTorch has and we lack: asking for it says why.

    Not a `__getattr__`, which would make every other attribute slower.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, cls: type) -> Any:
        from .lacks import why

        raise AttributeError(
            f"'{cls.__name__}' object has no attribute '{self.name}'\n"
            f"retrograd has no 'torch.Tensor.{self.name}': {why(self.name)}", name=self.name)


def mark_absent(cls: type) -> None:
    """Put an Absent where `cls`, the Tensor class, lacks a method of PyTorch's."""
    known = vars(cls)                           # to ask for a late method would import it
    for name in TENSOR.split():
        if name not in known:
            setattr(cls, name, Absent(name))
