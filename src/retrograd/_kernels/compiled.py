"""Modules that mypyc compiled: one shared library holds them all, and hands them out here.

mypyc makes a small library besides for each module, which only calls into the common one; opening 80 of them costs more than
what they hold, so setup.py leaves them out.
"""
from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

LIBRARY = "retrograd__mypyc"


class Finder:
    """An entry of sys.meta_path, and the loader of what it finds."""

    def __init__(self, library: ModuleType, make: Any) -> None:
        self.library = library
        self.make = make                        # _fast.instantiate
        if not any(name.startswith("init_retrograd") for name in vars(library)):
            raise ImportError(f"{library.__file__} holds no module of retrograd: reinstall retrograd")

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.startswith("retrograd.") and hasattr(self.library, self.maker(name)):
            return ModuleSpec(name, self, origin=self.library.__file__)  # type: ignore[arg-type]  # a Loader by its methods
        return None

    @staticmethod
    def maker(name: str) -> str:
        return "init_" + name.replace(".", "___")

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.make(getattr(self.library, self.maker(spec.name)))

    def exec_module(self, module: ModuleType) -> None:
        """mypyc's function has already run it."""


try:
    from ._fast import instantiate

    library = importlib.import_module(LIBRARY)
except ModuleNotFoundError:                     # the pure build; without _fast, the library is another install's
    pass
else:
    sys.meta_path.insert(0, Finder(library, instantiate))
