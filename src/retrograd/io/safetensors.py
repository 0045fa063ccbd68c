"""Files of named tensors in the safetensors format, through the package safetensors: pip install retrograd[safetensors]

The functions are those of `safetensors.torch`.  https://huggingface.co/docs/safetensors
"""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from .._engine.tensor import TensorBase, wrap
from .._tensor import dtypes
from .beside import write_beside
from .storage import Block

__all__ = ["load", "load_file", "save", "save_file"]

NAMES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
    "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool", "C64": "complex64"}
SHARED = (
    "Some tensors share memory, this will lead to duplicate memory on disk and potential differences when loading them "
    "again: {}. The safetensors format has no way to say so: save clones, or use torch.save.")


def _package() -> Any:
    try:
        import safetensors
    except ImportError:
        raise ImportError(
            "safetensors files need the package safetensors: pip install retrograd[safetensors]") from None
    return safetensors


def save(tensors: dict[str, Any], metadata: dict[str, str] | None = None) -> bytes:
    """The bytes of a file with these tensors.  RuntimeError when some share memory, which the format cannot say."""
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    seen: dict[Any, list[str]] = {}
    table = {}
    for name, t in tensors.items():
        if not isinstance(t, TensorBase):
            raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(t)}")
        if t.array.size:
            seen.setdefault(Block(t.array).key, []).append(name)
        table[name] = np.ascontiguousarray(t.array).reshape(t.array.shape)
    shared = [names for names in seen.values() if len(names) > 1 and _overlap([tensors[n].array for n in names])]
    if shared:
        raise RuntimeError(SHARED.format(shared))
    _package()
    from safetensors.numpy import save as save_arrays
    data: bytes = save_arrays(table, metadata=metadata)
    return data


def _overlap(arrays: list[Any]) -> bool:
    return any(np.may_share_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def save_file(tensors: dict[str, Any], filename: Any, metadata: dict[str, str] | None = None) -> None:
    """Write them to a file, which is replaced when everything is written."""
    data = save(tensors, metadata)
    write_beside(os.fsdecode(filename), lambda file: file.write(data))


def load(data: bytes) -> dict[str, Any]:
    """The tensors in the bytes of a file."""
    out = {}
    for name, found in _package().deserialize(data):
        d = NAMES.get(found["dtype"])
        if d is None:
            raise ValueError(f"{name!r} has the dtype {found['dtype']}, which retrograd has not")
        flat = np.frombuffer(bytearray(found["data"]), dtypes.named(d).numpy)
        out[name] = wrap(flat.reshape(found["shape"]))
    return out


def load_file(filename: Any, device: Any = "cpu") -> dict[str, Any]:
    """The tensors in a file."""
    dtypes.check_device(device)
    with open(filename, "rb") as file:
        return load(file.read())
