"""torch._dynamo._trace_wrapped_higher_order_op, for programs that index by samples under vmap."""
from __future__ import annotations

from contextlib import AbstractContextManager

from retrograd._missing import late_names

__all__ = ["TransformGetItemToIndex"]
late_names(__name__)


class TransformGetItemToIndex(AbstractContextManager[None]):
    """Within it, x[i] is an index of x, for a sample i of vmap, too: it is so anywhere."""

    def __exit__(self, *error: object) -> None:
        pass
