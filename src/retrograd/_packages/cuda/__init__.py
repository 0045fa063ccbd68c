"""torch.cuda, for programs that ask before they use it: there is none.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrograd._missing import late_names
from retrograd._tensor.dtypes import check_device
from retrograd.cuda import _types

if TYPE_CHECKING:
    from retrograd._packages.cuda import amp as amp

_initialized = False                            # read by programs that put the generators of GPUs back
default_generators: tuple[Any, ...] = ()
has_half = True                                 # so says PyTorch without CUDA, too

late_names(__name__, lazy=("amp", "nvtx"), also=_types.LATE)


def is_available() -> bool:
    """False: tensors live on the CPU."""
    return False


def is_initialized() -> bool:
    """False: there is nothing to initialize."""
    return False


def init() -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def ipc_collect() -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def current_blas_handle() -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def get_sync_debug_mode() -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def initial_seed() -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def set_sync_debug_mode(debug_mode: Any) -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def can_device_access_peer(device: Any, peer_device: Any) -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def current_stream(device: Any = None) -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def default_stream(device: Any = None) -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def get_device_properties(device: Any = None) -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def get_device_capability(device: Any = None) -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def mem_get_info(device: Any = None) -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def get_rng_state(device: Any = "cuda") -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def get_rng_state_all() -> list[Any]:
    """[]: of no generator."""
    return []


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Accepted, as PyTorch does on a machine without such a device."""


def set_rng_state_all(new_states: Any) -> None:
    """Accepted, as PyTorch does on a machine without such a device."""


def seed() -> None:
    """Accepted, as PyTorch does on a machine without such a device."""


def seed_all() -> None:
    """Accepted, as PyTorch does on a machine without such a device."""


def set_stream(stream: Any) -> None:
    """There is no stream but None."""


def is_current_stream_capturing() -> Any:
    """RuntimeError: there is no GPU."""
    raise RuntimeError("Tried to instantiate dummy base class _cuda_isCurrentStreamCapturing")


def graph_pool_handle() -> Any:
    """RuntimeError: there is no GPU."""
    raise RuntimeError("Tried to instantiate dummy base class _graph_pool_handle")


def get_arch_list() -> list[Any]:
    """[]: for no architecture."""
    return []


def is_tf32_supported() -> bool:
    """False: there is no GPU."""
    return False


def set_per_process_memory_fraction(fraction: Any, device: Any = None) -> Any:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def memory_stats(device: Any = None) -> dict[Any, Any]:
    """{}: of no memory."""
    return {}


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no GPU."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: Any) -> None:
    """Accepted, as PyTorch does on a machine without such a device."""


def manual_seed_all(seed: Any) -> None:
    """Accepted, as PyTorch does on a machine without such a device."""


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


def memory_allocated(device: Any = None) -> int:
    """0."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """0."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """0."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """0."""
    return 0


def empty_cache() -> None:
    """There is nothing to free."""


def reset_peak_memory_stats(device: Any = None) -> None:
    """There is nothing to reset."""
