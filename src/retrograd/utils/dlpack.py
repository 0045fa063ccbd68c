"""torch.utils.dlpack: tensors from and for other libraries, sharing memory."""
from __future__ import annotations

from typing import Any

from .._functions import from_dlpack as from_dlpack
from .._missing import late_names

__all__ = ["from_dlpack", "to_dlpack"]
late_names(__name__)


def to_dlpack(tensor: Any) -> Any:
    """A DLPack capsule; newer libraries take the tensor itself.

    https://pytorch.org/docs/stable/dlpack.html#torch.utils.dlpack.to_dlpack
    """
    return tensor.__dlpack__()
