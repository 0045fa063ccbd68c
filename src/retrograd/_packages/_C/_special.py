"""torch.special under the names that generated code has for its functions: special_X."""
from __future__ import annotations

from typing import Any

from retrograd import special
from retrograd._missing import late_names


def _of(name: str) -> Any:
    return lambda: getattr(special, name)


late_names(__name__, also={f"special_{name}": _of(name) for name in special.__all__})
