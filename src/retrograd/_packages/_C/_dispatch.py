"""Dispatch keys: names by which libraries register kernels.  No call passes a dispatcher here, so there is nothing to exclude."""
from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from types import TracebackType
from typing import Any

BACKENDS = ("CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA", "PrivateUse1", "PrivateUse2",
            "PrivateUse3", "Meta")
KEYS = [
    "Undefined", *BACKENDS, "Dense", "FPGA", "Vulkan", "Metal", "Quantized", "CustomRNGKeyId", "MkldnnCPU", "Sparse", "SparseCsr",
    "NestedTensor", "BackendSelect", "Python", "Fake", "FuncTorchDynamicLayerBackMode", "Functionalize", "Named", "Conjugate",
    "Negative", "ZeroTensor", "ADInplaceOrView", "AutogradOther", "AutogradFunctionality", "AutogradNestedTensor", "Tracer",
    "AutocastCPU", "AutocastXPU", "AutocastIPU", "AutocastHPU", "AutocastXLA", "AutocastMPS", "AutocastCUDA",
    "AutocastPrivateUse1", "FuncTorchBatched", "FuncTorchBatchedDecomposition", "FuncTorchVmapMode", "Batched", "VmapMode",
    "FuncTorchGradWrapper", "PythonTLSSnapshot", "FuncTorchDynamicLayerFrontMode", "PreDispatch", "PythonDispatcher",
    *(f"{kind}{name}" for kind in ("Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd") for name in BACKENDS),
    "Autograd", "CompositeImplicitAutograd", "CompositeImplicitAutogradNestedTensor", "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
]
make: Any = Enum
DispatchKey: Any = make("DispatchKey", KEYS, module="retrograd._C", start=0)


class DispatchKeySet:
    """A set of keys."""

    __module__ = "retrograd._C"

    def __init__(self, key: Any) -> None:
        if not isinstance(key, DispatchKey):
            raise TypeError(f"DispatchKeySet(): expected a torch._C.DispatchKey, not {type(key).__name__}")
        self.keys = frozenset({key} - {DispatchKey.Undefined})

    @classmethod
    def of(cls, keys: Iterable[Any]) -> DispatchKeySet:
        made = cls(DispatchKey.Undefined)
        made.keys = frozenset(keys)
        return made

    def has(self, key: Any) -> bool:
        return key in self.keys

    def add(self, key: Any) -> DispatchKeySet:
        return self.of(self.keys | {key})

    def remove(self, key: Any) -> DispatchKeySet:
        return self.of(self.keys - {key})

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return self.of(self.keys | other.keys)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return self.of(self.keys & other.keys)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return self.of(self.keys - other.keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self.keys == other.keys

    def __hash__(self) -> int:
        return hash(self.keys)

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(key.name for key in sorted(self.keys, key=lambda key: key.value))})"


class _ExcludeDispatchKeyGuard:
    """`with _ExcludeDispatchKeyGuard(keys)`: kernels at these keys are passed over, as they are everywhere."""

    __module__ = "retrograd._C"

    def __init__(self, keys: DispatchKeySet) -> None:
        self.keys = keys

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        pass
