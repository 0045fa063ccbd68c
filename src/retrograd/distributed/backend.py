"""Names of what moves the tensors: MPI, whatever the name."""
from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from .._tensor.dtypes import device as as_device


class Backend(str):
    """A backend's name in lower case, a plain str: Backend("GLOO") is "gloo".  ValueError unless it is given a str."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    FAKE = "fake"

    backend_list: ClassVar = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]
    default_device_backend_map: ClassVar = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}
    backend_capability: ClassVar = {
        GLOO: ["cpu", "cuda"], NCCL: ["cuda"], XCCL: ["xpu"], UCC: ["cpu", "cuda"], MPI: ["cpu", "cuda"],
        FAKE: ["cpu", "cuda", "hpu", "xpu"]}

    def __new__(cls, name: str) -> str:  # type: ignore[misc]
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return name.lower()

    @classmethod
    def register_backend(cls, name: str, func: Any, extended_api: bool = False, devices: Any = None) -> NoReturn:
        """NotImplementedError, whatever name, func, extended_api and devices are: process groups use MPI alone."""
        raise NotImplementedError(f"Backend.register_backend({name!r}): retrograd's process groups use MPI alone")


def get_default_backend_for_device(device: Any) -> str:
    """"gloo" for "cpu", as in PyTorch; ValueError for an unknown kind of device."""
    found = Backend.default_device_backend_map.get(as_device(device).type)
    if found is None:
        raise ValueError(f"Default backend not registered for device : {device}")
    return found
