"""torch.backends: flags that programs set at their start.  They are kept and change nothing: one backend computes, NumPy.

`is_available()` of every backend but the CPU's is False.
"""
from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.machinery import ModuleSpec
from typing import Any

from retrograd._functions.attention import KERNELS
from retrograd._missing import late_names

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
late_names(__name__)


class Backend(types.ModuleType):
    """A backend's flags; setting one that PyTorch does not have is an AttributeError."""

    def __init__(self, name: str, doc: str, **flags: Any) -> None:
        super().__init__(f"{__name__}.{name}", doc)
        vars(self).update(flags, __spec__=ModuleSpec(self.__name__, None, origin=__file__), __file__=__file__, __path__=[])
        sys.modules[self.__name__] = self

    def __setattr__(self, key: str, value: Any) -> None:
        if key not in vars(self) and not key.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {key!r}: its flags are " + ", ".join(
                k for k in vars(self) if not k.startswith("_")))
        super().__setattr__(key, value)


def absent() -> bool:
    """False: NumPy computes."""
    return False


def present() -> bool:
    """True: NumPy computes."""
    return True


def no_version() -> None:
    """None: there is no such library here."""


@contextmanager
def held(backend: Backend, wanted: dict[str, Any]) -> Iterator[None]:
    """A backend's flags for the length of a with block."""
    before = {k: vars(backend)[k] for k in wanted}
    vars(backend).update(wanted)
    try:
        yield
    finally:
        vars(backend).update(before)


@contextmanager
def __allow_nonbracketed_mutation() -> Iterator[None]:
    """Context in which flags may be assigned, as they always may here: PyTorch's name, which libraries use."""
    yield


def cudnn_flags(
    enabled: bool = False, benchmark: bool = False, benchmark_limit: int = 10, deterministic: bool = False,
    allow_tf32: bool = True, fp32_precision: str = "none", depthwise_kernel: str = "auto",
) -> AbstractContextManager[None]:
    """cudnn's flags for the length of a with block."""
    return held(cudnn, locals())


def mkldnn_flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, fp32_precision: str = "none",
) -> AbstractContextManager[None]:
    """mkldnn's flags for the length of a with block."""
    return held(mkldnn, locals())


def allowed(kernel: str) -> Callable[[], bool]:
    """The function that says whether programs allow a kernel of attention."""
    def enabled() -> bool:
        return KERNELS[kernel]
    return enabled


def allow(kernel: str) -> Callable[[bool], None]:
    """The function by which programs allow a kernel of attention, or do not."""
    def enable(enabled: bool) -> None:
        KERNELS[kernel] = bool(enabled)
    return enable


cudnn = Backend("cudnn", "NVIDIA's library for networks: not here.", enabled=True, benchmark=False, benchmark_limit=None,
                deterministic=False, allow_tf32=True, fp32_precision="none", depthwise_kernel="auto", is_available=absent,
                version=no_version, flags=cudnn_flags)
cuda = Backend("cuda", "NVIDIA's GPUs: not here.", is_built=absent, matmul=types.SimpleNamespace(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True),
    preferred_linalg_library=no_version, **{f"{kernel}_sdp_enabled": allowed(kernel) for kernel in KERNELS},
    **{f"enable_{kernel}_sdp": allow(kernel) for kernel in KERNELS})
mps = Backend("mps", "Apple's GPUs: not here.", is_available=absent, is_built=absent)
mkl = Backend("mkl", "Intel's library: what NumPy was built with is its own affair.", is_available=absent)
mkldnn = Backend("mkldnn", "Intel's library for networks: not here.", is_available=absent, enabled=True, deterministic=False,
                 allow_tf32=None, fp32_precision="none", flags=mkldnn_flags)
openmp = Backend("openmp", "Threads of C programs: not used.", is_available=absent)
opt_einsum = Backend("opt_einsum", "torch.einsum contracts from left to right.", is_available=absent, enabled=False,
                     strategy=None)
mha = Backend("mha", "The fast path of attention.", get_fastpath_enabled=present, set_fastpath_enabled=lambda value: None)
cpu = Backend("cpu", "NumPy.", get_cpu_capability=lambda: "NUMPY")
