"""Imports point one way: a module imports from its own layer and from those below it."""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import retrograd

ROOT = Path(__file__).resolve().parent.parent / "src" / "retrograd"
LAYERS = [
    ["_missing", "__future__", "futures"],
    ["_engine", "_rules", "_kernels"],
    ["_tensor", "_missing.dtypes", "random", "_functions", "_typing", "linalg", "special", "version", "types", "storage",
     "functional", "fft"],
    ["utils", "autograd", "masked", "signal", "distributed"],
    ["nn"],
    ["optim"],
    ["distributed.optim"],
    ["_compile"],
    ["io", "serialization", "_C", "cpu", "cuda", "amp", "backends", "compiler", "func", "testing", "accelerator",
     "xpu", "mps", "_dynamo", "distributions", "hub", "overrides", "library", "_library", "_ops", "ao",
     "_custom_ops", "_functorch", "_subclasses", "_VF", "_tensor_str", "_utils", "quasirandom", "torch_version",
     "autograd.forward_ad", "autograd.profiler", "autograd.profiler_util", "profiler",
     "multiprocessing"],
    ["fx"],
    ["_decomp"],
    ["onnx", "export", "jit"],
    ["microscope"],
    ["cli", "__main__", "__config__"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
EVERYTHING = "__init__"  # the namespace itself: imports any layer, and only the top layer imports it
FOREIGN = {"numpy", "mypy_extensions"}  # at module level; others inside the functions that need them
# Function-level imports that point upwards: (module, what it imports) and why.
UPWARD = {
    ("_tensor", "compiler"): "torch.compile makes what torch.compiler resets",
    ("_tensor", "autograd"): "Tensor.backward is torch.autograd.backward",
    ("nn", "overrides"): "PyTorch's nn.functional shows has_torch_function, too",
    ("autograd", "overrides"): "so does its autograd",
    ("autograd", "autograd.forward_ad"): "gradcheck checks tangents, too",
    ("autograd", "func"): "and under vmap",
    ("_functions", "nn"): "torch.lstm and its like run the layers of nn",
    ("utils", "nn"): "ModuleTracker hooks modules",
    ("utils", "hub"): "model_zoo.load_url is the older name of load_state_dict_from_url",
    ("_tensor", "utils"): "pickling warns about hooks as torch.utils.hooks does",
}
# The one group of files that import each other: a Tensor is what ops give, and its operators are ops.
ENGINE = ("_engine", "_rules")

FILES = sorted(ROOT.rglob("*.py"))


def dotted(path: Path) -> list[str]:
    """['nn', 'functional'] for nn/functional.py, ['nn', '__init__'] for nn/__init__.py, ['cuda', '__init__'] for torch.cuda"""
    return [part for part in path.relative_to(ROOT).with_suffix("").parts if part != "_packages"]


@functools.cache
def imports(path: Path) -> list[tuple[list[str], bool, int]]:
    """(absolute name in parts, at module level, line) for every import; one under TYPE_CHECKING is no import."""
    package = ["retrograd", *dotted(path)[:-1]]

    def walk(node: ast.AST, top: bool) -> Iterator[tuple[list[str], bool, int]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                for other in child.orelse:
                    yield from walk(other, top)
            elif isinstance(child, ast.Import):
                for alias in child.names:
                    yield alias.name.split("."), top, child.lineno
            elif isinstance(child, ast.ImportFrom):
                base = package[: len(package) + 1 - child.level] if child.level else []
                base = base + (child.module.split(".") if child.module else [])
                for alias in child.names:
                    yield [*base, alias.name], top, child.lineno
            elif not isinstance(child, ast.expr):
                yield from walk(child, top and not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))

    return list(walk(ast.parse(path.read_text(encoding="utf-8")), True))


def room(parts: list[str]) -> str:
    """What LAYERS has of a module: itself, or its room."""
    whole = ".".join(parts[:2])
    return whole if whole in LEVEL else parts[0]


@functools.cache
def graph() -> dict[str, set[str]]:
    """{file: the files that it imports while it is imported}; the package that a file stands in is no import of its."""
    names = {".".join(dotted(path)).removesuffix(".__init__"): path for path in FILES}
    found: dict[str, set[str]] = {}
    for here, path in names.items():
        found[here] = set()
        for name, top, _ in imports(path):
            wanted = [".".join(name[1:]), ".".join(name[1:-1])] if name[0] == "retrograd" else []
            found[here].update([one for one in wanted if one in names and one != here][:1] if top else [])
    return found


@functools.cache
def leads_to(start: str) -> set[str]:
    """The files that start imports, and what those import."""
    seen: set[str] = set()
    todo = [start]
    while todo:
        new = graph()[todo.pop()] - seen
        seen |= new
        todo += new
    return seen


@pytest.mark.parametrize("path", FILES, ids=lambda p: ".".join(dotted(p)))
def test_no_file_imports_itself_by_way_of_others(path: Path) -> None:
    here = ".".join(dotted(path)).removesuffix(".__init__")
    circle = [there for there in leads_to(here) if here in leads_to(there)]
    assert [there for there in circle if not there.startswith(ENGINE)] == []


def test_every_module_has_a_layer() -> None:
    found = {dotted(path)[0] for path in FILES} - {EVERYTHING}
    assert found <= set(LEVEL), "give it a place in LAYERS"


@pytest.mark.parametrize("path", FILES, ids=lambda p: ".".join(dotted(p)))
def test_imports_point_one_way(path: Path) -> None:
    here = room(dotted(path))
    if here == EVERYTHING:
        return
    wrong = []
    for name, top, line in imports(path):
        if name[0] != "retrograd":
            continue
        there = room(name[1:]) if len(name) > 1 else EVERYTHING
        level = LEVEL.get(there, len(LAYERS))  # not a module's name: something of the namespace itself
        if there != here and level > LEVEL[here] and not (LEVEL[here] == len(LAYERS) - 1):
            if top or (here, there) not in UPWARD:
                wrong.append(f"line {line}: {here} imports {'.'.join(name)}")
    assert wrong == []


def test_optional_libraries_are_imported_where_they_are_used() -> None:
    allowed = FOREIGN | set(sys.stdlib_module_names) | {"retrograd"}
    assert [f"{path}, line {line}: {'.'.join(name)}" for path in FILES for name, top, line in imports(path)
            if top and name[0] not in allowed] == []


def test_allowed_upward_imports_still_exist() -> None:
    seen = {
        (room(dotted(path)), room(name[1:]))
        for path in FILES
        for name, _, _ in imports(path)
        if name[0] == "retrograd" and len(name) > 1
    }
    assert set(UPWARD) <= seen


def test_at_the_top_stand_rooms_alone() -> None:
    """PyTorch's other modules are in _packages, where retrograd.__path__ finds them."""
    assert len([path for path in ROOT.iterdir() if path.name != "__pycache__"]) <= 20
    files = {path.name for path in ROOT.iterdir() if path.is_file() and path.suffix in (".py", ".typed")}
    assert files == {"__init__.py", "__main__.py", "py.typed"}
    rooms = {path.parent.name for path in ROOT.glob("*/*.py")}
    assert {room for room in rooms if not (ROOT / room / "__init__.py").exists()} == {"_packages"}


def test_packages_are_found_under_their_own_names() -> None:
    found = {name for _, name, _ in pkgutil.iter_modules(retrograd.__path__)}
    small = {name for _, name, _ in pkgutil.iter_modules([f"{ROOT}/_packages"])}
    assert {"cuda", "version", "_C"} <= small <= found and "_packages" not in found
    for name in small:
        module = importlib.import_module(f"retrograd.{name}")
        assert module.__name__ == f"retrograd.{name}" == module.__spec__.name and getattr(retrograd, name) is module
    assert [name for name in sys.modules if name.startswith("retrograd._packages.")] == []


def test_tests_stand_in_the_room_that_they_are_about() -> None:
    """tests/engine tests _engine.  Tests of the whole stand at the top, with programs and tables in folders of their own."""
    whole = {"conformance", "docstrings", "gpu", "opdb", "opinfo", "random_programs"}
    tests = Path(__file__).parent
    folders = {path.parent.relative_to(tests).as_posix() for path in tests.rglob("test_*.py")} - whole - {"."}
    assert {folder for folder in folders if not any((ROOT / f"{_}{folder}").is_dir() for _ in ("", "_"))} == set()
