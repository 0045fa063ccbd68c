"""Run a script written for PyTorch: meanwhile `import torch`, torch.nn, ... give the very modules of retrograd."""

from __future__ import annotations

import builtins
import importlib.util
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, FunctionType, ModuleType, TracebackType
from typing import Any

from .. import _kernels, _missing
from .._functions.public import MADE
from .._missing import Absences, no_module, only_asked

INTERRUPTED = 130
MAINS = {"__main__", "__mp_main__"}     # the second is multiprocessing's name for it, for children
NAMED = (type, FunctionType) if _kernels.Function is None else (type, FunctionType, _kernels.Function)   # they have a __module__
PUBLIC = re.compile(r"retrograd(?!\.(microscope|cli)\b)(\.(_C(\._\w+)?|_ops|fx\._symbolic_trace|[a-z]\w*))*")   # of PyTorch
OURS = re.compile(r"retrograd\.(?!(microscope|cli)\b)")
Undo = Callable[[], None]


class CannotRun(Exception):
    """The script cannot be started; the message is for the user."""


def run_script(path: str, arguments: Sequence[str] = (), *, restore: bool = True, alias: bool = True) -> int:
    """Run the script at `path` as `python path arguments...` would, with torch meaning retrograd -> its exit status.

    alias=False leaves torch as it is.

    path "-" is standard input. CannotRun when there is no such script. restore=False leaves the process as the script
    had it: for a process that ends with the script, whose threads and atexit functions may still import.
    """
    code = read(path)
    undo = [alias_torch(), inherit()] if alias else []
    try:
        if path == "-":
            undo.append(become_main("-", arguments, "", __file__="<stdin>"))
        else:
            full = os.path.join(os.getcwd(), path)
            undo.append(become_main(
                path, arguments, os.path.dirname(os.path.realpath(full)), __file__=full, __cached__=None,
                __loader__=SourceFileLoader("__main__", full)))
        return execute(code, sys.modules["__main__"].__dict__)
    finally:
        if restore:
            for step in reversed(undo):
                step()


def run_code(source: str, arguments: Sequence[str] = (), *, restore: bool = True) -> int:
    """The same for `python -c source arguments...`."""
    undo = [alias_torch(), inherit(), become_main("-c", arguments, "")]
    try:
        try:
            code: CodeType | Exception = compile(source, "<string>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            code = error
        return execute(code, sys.modules["__main__"].__dict__)
    finally:
        if restore:
            for step in reversed(undo):
                step()


def run_module(name: str, arguments: Sequence[str] = (), *, restore: bool = True, alias: bool = True) -> int:
    """The same for `python -m name arguments...`: a module on sys.path, or the __main__ of a package."""
    undo = [*([alias_torch(), inherit()] if alias else []), become_main("-m", arguments, os.getcwd())]
    try:
        try:
            spec, code = find(name)
        except ImportError as error:
            if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
                restore = True                  # nothing of a script ran
                raise CannotRun(f"no module named '{name}'") from None
            return execute(error, {})
        except CannotRun:
            restore = True
            raise
        except Exception as error:              # of a package that is imported on the way
            return execute(error, {})
        main = sys.modules["__main__"].__dict__
        main.update(
            __spec__=spec, __package__=spec.parent, __loader__=spec.loader, __file__=spec.origin,
            __cached__=spec.cached)
        sys.argv[0] = spec.origin or name
        return execute(code, main)
    finally:
        if restore:
            for step in reversed(undo):
                step()


def find(name: str) -> tuple[ModuleSpec, CodeType | Exception]:
    """The spec and the code of the module that `-m name` means."""
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None and not name.endswith(".__main__"):
        inside = importlib.util.find_spec(f"{name}.__main__")
        if inside is None:
            raise CannotRun(f"'{name}' is a package without a __main__; name a module in it")
        spec = inside
    if spec is None:
        raise CannotRun(f"no module named '{name}'")
    loader: Any = spec.loader
    try:
        code = loader.get_code(spec.name)
    except SyntaxError as error:
        return spec, error
    except (AttributeError, ImportError):
        if isinstance(loader, Alias):                   # torch.distributed.run: the code is under our name
            return find(ours_of(name))
        code = None
    if code is None:
        raise CannotRun(f"module '{name}' has no Python code to run")
    return spec, code


@contextmanager
def torch_means_retrograd() -> Iterator[None]:
    """Inside, `import torch` gives retrograd; PyTorch, where it was imported before, is put back afterwards."""
    undo = alias_torch()
    try:
        yield
    finally:
        undo()


def execute(code: CodeType | Exception, namespace: dict[str, Any]) -> int:
    try:
        if isinstance(code, Exception):
            raise code
        exec(code, namespace)
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        print(stop.code, file=sys.stderr)
        return 1
    except BaseException as error:
        without_our_frames(error, set())
        getattr(sys.stderr, "hold", int)()      # of a rank: no lines of others in between
        sys.excepthook(type(error), error, error.__traceback__)
        getattr(sys.stderr, "flush", int)()     # Python's own hook does not, since 3.13
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    return 0


def read(path: str) -> CodeType | Exception:
    """The script's code, or the error (its syntax, null bytes) to raise in its name."""
    full = "<stdin>" if path == "-" else os.path.join(os.getcwd(), path)
    try:
        if path == "-":
            source = sys.stdin.buffer.read()
        else:
            with io.open_code(full) as file:
                source = file.read()
        if b"\0" in source:
            raise CannotRun(f"'{path}' is not a Python script: it contains null bytes")
        return compile(source, full, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return error
    except IsADirectoryError:
        raise CannotRun(f"'{path}' is a directory; name a script in it") from None
    except OSError as error:
        raise CannotRun(f"cannot open '{path}': {error.strerror}") from None


def become_main(path: str, arguments: Sequence[str], folder: str, **attributes: Any) -> Undo:
    """Set what `python path arguments...` sets: __main__, sys.argv, sys.path[0] (folder) and Python's own excepthook."""
    main = ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, **attributes)
    before = sys.modules["__main__"], sys.argv, sys.path[:], sys.excepthook
    for name in MAINS & set(sys.modules):
        sys.modules[name] = main
    sys.argv = [path, *arguments]
    sys.excepthook = sys.__excepthook__
    if not sys.flags.safe_path:
        sys.path[:1] = [folder]

    def undo() -> None:
        before_main, sys.argv, sys.path[:], sys.excepthook = before
        for name in MAINS & set(sys.modules):
            sys.modules[name] = before_main

    return undo


def alias_torch() -> Undo:
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if is_torch(name)}
    finder = Alias()
    sys.meta_path.insert(0, finder)
    MADE.append(finder.call)
    ours = [(name, module) for name, module in sys.modules.items() if is_ours_by_name(name)]
    for name, module in sorted(ours, key=lambda named: named[0] == "retrograd"):    # last: what torch.func has is of torch.func
        finder.rename(name, module)
    if "multiprocessing.spawn" in sys.modules:
        alias_in_children()

    def undo() -> None:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
            MADE.remove(finder.call)
        finder.give_back()
        for name in list(filter(is_torch, sys.modules)):
            del sys.modules[name]
        sys.modules.update(before)

    return undo


def inherit() -> Undo:
    """Have Pythons of this environment that the program starts with our variables alias torch, too, when they import it."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "children")
    path = os.environ.get("PYTHONPATH", "")
    before = {name: os.environ.get(name) for name in ("PYTHONPATH", "RETROGRAD_RUN")}
    if folder not in path.split(os.pathsep):
        os.environ["PYTHONPATH"] = folder + (os.pathsep + path if path else "")
    os.environ["RETROGRAD_RUN"] = sys.prefix

    def undo() -> None:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value

    return undo


def alias_in_children() -> None:
    """Have processes that multiprocessing spawns alias torch, too, before they import the script."""
    from multiprocessing import spawn

    prepare = spawn.get_preparation_data
    if not isinstance(prepare, Prepared):
        spawn.get_preparation_data = Prepared(prepare)


class Prepared:
    """multiprocessing's get_preparation_data, whose answer aliases torch where it is unpickled."""

    def __init__(self, prepare: Callable[[str], dict[str, Any]]) -> None:
        self.prepare = prepare

    def __call__(self, name: str) -> dict[str, Any]:
        aliased = any(isinstance(finder, Alias) for finder in sys.meta_path)
        return {**({"torch": Aliased()} if aliased else {}), **self.prepare(name)}


class Aliased:
    def __reduce__(self) -> tuple[Any, ...]:
        return alias_torch, ()


def is_torch(name: str) -> bool:
    return name == "torch" or name.startswith("torch.")


class Alias(MetaPathFinder, Loader):
    """Finds torch.x.y as retrograd.x.y; `import` of what retrograd lacks says so.  Classes say that they are of torch."""

    def __init__(self) -> None:
        self.renamed: list[tuple[Any, str, str]] = []
        self.paths: list[ModuleType] = []

    def rename(self, name: str, module: ModuleType) -> None:
        """Have what the module defines say torch for retrograd, but for what is no part of PyTorch; and torch itself."""
        # Known before it is imported: an import would set the parent's attribute, which may be a function of the same name.
        sys.modules["torch" + name.removeprefix("retrograd")] = module
        if "._" not in name and not hasattr(module, "__path__"):
            module.__path__ = []                # so that the import of a module within it, which it is in PyTorch, asks find_spec
            self.paths.append(module)
        package = PUBLIC.fullmatch(name) and getattr(module.__spec__, "submodule_search_locations", None) is not None
        for key, value in list(vars(module).items()):
            if isinstance(value, NAMED):
                self.call(value, "__module__", name if package and key == getattr(value, "__qualname__", "") else None)
        if name == "retrograd":
            self.call(module, "__name__")

    def call(self, value: Any, attribute: str, package: str | None = None) -> None:
        """`package`: the public one that has it under its own name, whatever private module it was written in."""
        ours = getattr(value, attribute, None)
        if not isinstance(ours, str):
            return
        home = ours if PUBLIC.fullmatch(ours) else package if OURS.match(ours) else None
        if home is not None:
            self.renamed.append((value, attribute, ours))
            setattr(value, attribute, "torch" + home.removeprefix("retrograd"))

    def give_back(self) -> None:
        for value, attribute, ours in self.renamed:
            setattr(value, attribute, ours)
        self.renamed.clear()
        for module in self.paths:
            del module.__path__
        self.paths.clear()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if is_ours_by_name(name):
            others = (other.find_spec(name, path, target) for other in sys.meta_path
                      if other is not Absences and not isinstance(other, Alias))
            spec = next(filter(None, others), None)
            if spec is not None and spec.loader is not None:
                spec.loader = Renaming(spec.loader, self)
            return spec
        if not is_torch(name):
            if name.startswith("multiprocessing.popen_"):       # which start the processes that are no forks
                alias_in_children()
            if name == "functorch.dim":
                raise ModuleNotFoundError(f"No module named '{name}'\nits dims live in PyTorch's dispatcher", name=name)
            return None
        ours = importlib.util.find_spec(ours_of(name))
        if ours is not None:
            spec = ModuleSpec(name, self, origin=ours.origin)
            spec.submodule_search_locations = ours.submodule_search_locations
            return spec
        if only_asked(sys._getframe(2)):
            return None
        raise no_module(name, " (in this run, torch means retrograd)")

    def find_distributions(self, context: Any = None) -> list[Any]:
        """What importlib.metadata, which has been imported if it asks, finds of a package called torch."""
        if getattr(context, "name", None) not in (None, "torch"):
            return []
        from importlib import metadata

        class Installed(metadata.Distribution):
            def read_text(self, filename: str) -> str | None:
                from ..version import __version__
                return f"Metadata-Version: 2.1\nName: torch\nVersion: {__version__}\n" if filename == "METADATA" else None

            def locate_file(self, path: Any) -> Any:
                return os.path.join(os.path.dirname(_missing.__file__), os.pardir, path)

        return [Installed()]

    def create_module(self, spec: ModuleSpec) -> None:
        """None: a stand-in is made, as the real module would have its __spec__ overwritten."""

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(ours_of(module.__name__))


class Renaming(Loader):
    """The loader of a module of ours, whose classes and functions are renamed when it was run."""

    def __init__(self, loader: Any, finder: Alias) -> None:
        self.loader, self.finder = loader, finder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        found: ModuleType | None = self.loader.create_module(spec)
        return found

    def get_code(self, name: str) -> CodeType | None:
        found: CodeType | None = self.loader.get_code(name)
        return found

    def exec_module(self, module: ModuleType) -> None:
        spec: Any = module.__spec__
        spec.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.finder.rename(spec.name, module)


def is_ours_by_name(name: str) -> bool:
    return name == "retrograd" or name.startswith("retrograd.")


def ours_of(name: str) -> str:
    """'torch.nn' -> 'retrograd.nn'"""
    return "retrograd" + name.removeprefix("torch")


def without_our_frames(error: BaseException, seen: set[int]) -> None:
    """Drop the frames of this file and of `_missing` from the tracebacks of `error` and of those it came from."""
    if id(error) in seen:
        return
    seen.add(id(error))
    error.__traceback__ = trimmed(error.__traceback__)
    for other in (error.__cause__, error.__context__):
        if other is not None:
            without_our_frames(other, seen)


def trimmed(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and is_ours(traceback):
        traceback = traceback.tb_next
    link = traceback
    while link is not None:
        while link.tb_next is not None and is_ours(link.tb_next):
            link.tb_next = link.tb_next.tb_next
        link = link.tb_next
    return traceback


def is_ours(traceback: TracebackType) -> bool:
    return traceback.tb_frame.f_code.co_filename in (__file__, _missing.__file__)
