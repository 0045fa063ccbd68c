"""torch._tensor_str: how tensors print, for subclasses that have a repr of their own."""
from __future__ import annotations

from typing import Any

from retrograd._missing import late_names
from retrograd._tensor.printing import PRINT_OPTS as PRINT_OPTS
from retrograd._tensor.printing import _contents
from retrograd._tensor.printing import _joined as _add_suffixes  # noqa: F401
from retrograd._tensor.printing import _str as _str
from retrograd._tensor.printing import get_printoptions as get_printoptions
from retrograd._tensor.printing import printoptions as printoptions
from retrograd._tensor.printing import set_printoptions as set_printoptions

late_names(__name__)
_str_intern = _str


def _tensor_str(self: Any, indent: int) -> str:
    """The elements alone; `indent`: in which column they begin."""
    return _contents(self.detach().array, indent) if self.numel() else "[]"
