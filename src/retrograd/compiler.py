"""torch.compiler: there is no compiler, so functions stay what they are."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._missing import late_names
from ._settings import compile

__all__ = ["allow_in_graph", "compile", "disable", "is_compiling", "is_dynamo_compiling", "reset", "set_stance"]
late_names(__name__)


def is_compiling() -> bool:
    """False."""
    return False


def is_dynamo_compiling() -> bool:
    """False."""
    return False


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """fn itself."""
    return (lambda f: f) if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """fn itself."""
    return fn


def reset() -> None:
    """Nothing was cached."""


def set_stance(stance: str = "default", **kwargs: Any) -> None:
    """Accepted: every stance runs functions as they are."""
