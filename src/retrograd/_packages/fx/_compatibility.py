"""Which of torch.fx's names PyTorch promises to keep: a decorator, for programs that use it."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

_BACK_COMPAT_OBJECTS: dict[Any, None] = {}
_MARKED_WITH_COMPATIBILITY: dict[Any, None] = {}


def compatibility(is_backward_compatible: bool) -> Callable[[Any], Any]:
    """The function or class itself, noted in a table."""
    def note(fn: Any) -> Any:
        (_BACK_COMPAT_OBJECTS if is_backward_compatible else _MARKED_WITH_COMPATIBILITY).setdefault(fn)
        return fn
    return note
