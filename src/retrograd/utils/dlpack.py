"""torch.utils.dlpack: tensors from and for other libraries, sharing memory."""
from __future__ import annotations

from enum import IntEnum
from typing import Any

from .._engine.tensor import TensorBase
from .._functions import from_dlpack as from_dlpack
from .._missing import late_names

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
late_names(__name__)


class DLDeviceType(IntEnum):
    """Kinds of devices in the protocol; ours is the first."""

    kDLCPU, kDLCUDA, kDLCUDAHost, kDLOpenCL, kDLVulkan, kDLMetal, kDLVPI, kDLROCM = 1, 2, 3, 4, 7, 8, 9, 10
    kDLROCMHost, kDLExtDev, kDLCUDAManaged, kDLOneAPI, kDLWebGPU, kDLHexagon, kDLMAIA = 11, 12, 13, 14, 15, 16, 17


def to_dlpack(tensor: Any) -> Any:
    """A DLPack capsule; newer libraries take the tensor itself.  That of a conjugated tensor has a copy of its numbers.

    https://pytorch.org/docs/stable/dlpack.html#torch.utils.dlpack.to_dlpack
    """
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"_to_dlpack(): argument 'data' (position 1) must be Tensor, not {type(tensor).__name__}")
    return tensor.detach().resolve_conj().__dlpack__()  # type: ignore[attr-defined]
