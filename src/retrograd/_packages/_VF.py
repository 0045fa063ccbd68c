"""torch._VF: torch's functions under the name that layers of PyTorch's call them by."""
from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(import_module("retrograd"), name)
