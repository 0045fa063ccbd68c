"""torch.linalg under the names that generated code has for its functions: linalg_X."""
from __future__ import annotations

from typing import Any

from retrograd import linalg
from retrograd._missing import late_names


def _of(name: str) -> Any:
    return lambda: getattr(linalg, name)


late_names(__name__, also={f"linalg_{name}": _of(name) for name in linalg.__all__})
