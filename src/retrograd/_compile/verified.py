"""What torch.compile gives where Python runs."""
from __future__ import annotations

from typing import Any

from .stance import stance
from .wrapper import Wrapper


class Verified(Wrapper):
    """f, whose operations are compared with a plan."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if stance.on and not stance.eager():
            stance.records(self.f)
        return self.f(*args, **kwargs)
