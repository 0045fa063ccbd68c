"""What libraries use to write symbolic functions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrograd._missing import late_names

late_names(__name__)


def parse_args(*arg_descriptors: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that tells of the arguments' kinds; an export would read it."""
    def tell(function: Callable[..., Any]) -> Callable[..., Any]:
        function._arg_descriptors = arg_descriptors  # type: ignore[attr-defined]
        return function
    return tell
