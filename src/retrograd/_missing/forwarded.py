"""Modules of PyTorch's whose names we have elsewhere."""
from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from . import late_names


def forwarded(module: str, home: str, names: str) -> None:
    """Give `module` these names of `home`, each when it is asked for."""
    late_names(module, also={name: partial(found, home, name) for name in names.split()})


def found(home: str, name: str) -> Any:
    return getattr(import_module(home), name)
