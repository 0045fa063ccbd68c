"""torch.cuda, for programs that ask before they use it: there is none."""
from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from retrograd._missing import late_names
from retrograd._tensor import dtypes
from retrograd._tensor.dtypes import check_device

KINDS = ("Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")


class tensortype(type):
    """What torch.cuda.FloatTensor and its like are: no tensor is an instance, and none can be made."""

    is_cuda = True

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled.")

    def __instancecheck__(cls, x: Any) -> bool:
        return False


def typed(kind: str) -> Any:
    """torch.cuda.FloatTensor, ..."""
    dtype = getattr(dtypes, DTYPE.get(kind, kind.lower()))
    return kept(tensortype(f"{kind}Tensor", (), {"__module__": __name__, "dtype": dtype}))


def stored(kind: str) -> Any:
    """torch.cuda.FloatStorage, ..."""
    from retrograd.storage import LEGACY, _LegacyStorage

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        check_device("cuda")

    name = f"{kind}Storage"
    meta: Any = type(_LegacyStorage)
    return kept(meta(
        name, (_LegacyStorage,), {"__module__": __name__, "dtype": LEGACY[name].dtype, "is_cuda": True, "__init__": __init__}))


def kept(cls: type) -> type:
    globals()[cls.__name__] = cls
    return cls


DTYPE = {"Char": "int8", "Byte": "uint8"}
if TYPE_CHECKING:
    from retrograd._small_modules.cuda import amp as amp

late_names(__name__, lazy=("amp",), also={
    **{f"{kind}Tensor": partial(typed, kind) for kind in KINDS},
    **{f"{kind}Storage": partial(stored, kind) for kind in KINDS}})
_initialized = False                            # read by programs that put the generators of GPUs back


def is_available() -> bool:
    """False: tensors live on the CPU."""
    return False


def is_initialized() -> bool:
    """False: there is nothing to initialise."""
    return False


def device_count() -> int:
    """0"""
    return 0


def manual_seed(seed: Any) -> None:
    """Accepted, as PyTorch does on a machine without a GPU; the CPU's numbers come from torch.manual_seed."""


def manual_seed_all(seed: Any) -> None:
    """Accepted, as PyTorch does on a machine without a GPU; the CPU's numbers come from torch.manual_seed."""


def synchronize(device: Any = None) -> None:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def current_device() -> int:
    """AssertionError: there is no GPU."""
    check_device("cuda")
    return 0


def get_device_name(device: Any = None) -> str:
    """AssertionError: there is no GPU."""
    check_device("cuda")
    return ""


def set_device(device: Any) -> None:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def empty_cache() -> None:
    """There is nothing to free."""


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no GPU."""
    return False


def memory_allocated(device: Any = None) -> int:
    """0"""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """0"""
    return 0


def reset_peak_memory_stats(device: Any = None) -> None:
    """There is nothing to reset."""
