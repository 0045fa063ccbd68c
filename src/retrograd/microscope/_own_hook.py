"""A hook of a capture's on the model, which copies of the model do not have."""
from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Any


class OwnHook(partial[Any]):
    """Calls the hook.  In its place a model copied or pickled meanwhile has one that does nothing, made of what every Python
    has: whoever loads that model may know nothing of us.
    """

    def __deepcopy__(self, memo: Any) -> Any:
        return nullcontext().__exit__           # takes anything and returns None

    def __reduce_ex__(self, protocol: Any) -> Any:
        return getattr, (nullcontext(), "__exit__")
