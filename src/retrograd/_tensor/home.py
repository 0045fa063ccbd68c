"""Which classes and functions are retrograd's, by the module that they name."""
from __future__ import annotations

import sys
from typing import Any


def ours(module: Any) -> bool:
    """Is a module of that name retrograd's?  Under `retrograd run` its classes and functions name torch's modules."""
    head = module.partition(".")[0] if isinstance(module, str) else ""
    return head == "retrograd" or head == "torch" and sys.modules.get("torch") is sys.modules["retrograd"]
