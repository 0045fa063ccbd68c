"""torch.utils.dlpack: tensors from and for other libraries, sharing memory."""
from __future__ import annotations

from typing import Any

from .._engine.tensor import TensorBase
from .._functions import from_dlpack as from_dlpack
from .._missing import late_names

__all__ = ["from_dlpack", "to_dlpack"]
late_names(__name__)


def to_dlpack(tensor: Any) -> Any:
    """A DLPack capsule; newer libraries take the tensor itself.  That of a conjugated tensor has a copy of its numbers.

    https://pytorch.org/docs/stable/dlpack.html#torch.utils.dlpack.to_dlpack
    """
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"_to_dlpack(): argument 'data' (position 1) must be Tensor, not {type(tensor).__name__}")
    return tensor.detach().resolve_conj().__dlpack__()  # type: ignore[attr-defined]
