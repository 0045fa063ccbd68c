"""torch.serialization: save, load, and what load may build.  https://pytorch.org/docs/stable/notes/serialization.html"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from retrograd._missing import late_names
from retrograd._tensor import dtypes
from retrograd.io.pth import add_safe_globals, clear_safe_globals, get_safe_globals, load, safe_globals, save

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]
MAP_LOCATION: TypeAlias = Callable[[Any, str], Any] | dtypes.device | str | dict[str, str] | None
DEFAULT_PROTOCOL = 2
late_names(__name__)
for _name in __all__:
    globals()[_name].__module__ = __name__      # as PyTorch has them
