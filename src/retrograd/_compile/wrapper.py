"""What torch.compile gives: a function that calls another one."""
from __future__ import annotations

import functools
import threading
import types
from typing import Any


class Wrapper:
    """f, and what users ask of a compiled function."""

    def __init__(self, f: Any, limit: int, full: bool) -> None:
        functools.update_wrapper(self, f, updated=())
        self.f = f
        self.limit = limit                      # plans
        self.full = full
        self.local = threading.local()
        self.reasons: list[str] = []            # why calls ran eagerly

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.f(*args, **kwargs)

    @property
    def _torchdynamo_orig_callable(self) -> Any:
        return self.f

    @property
    def name(self) -> str:
        return getattr(self.f, "__name__", type(self.f).__name__)

    def explain(self) -> str:
        """The plans, and why calls ran eagerly."""
        return "\n".join(f"eager: {why}" for why in self.reasons)

    def reset(self) -> None:
        """Forget all plans of this thread, and why there were none."""
        self.local.__dict__.clear()
        self.reasons.clear()

    def __repr__(self) -> str:
        return f"<compiled {self.f!r}>"
