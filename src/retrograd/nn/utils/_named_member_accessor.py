"""torch.nn.utils._named_member_accessor: a module's parameter, buffer or tensor replaced by another."""
from __future__ import annotations

from typing import Any

from ..._engine.tensor import TensorBase
from ..._missing import late_names
from ..module import Module

late_names(__name__)
_MISSING = object()


def check(module: Any, name: str, tensor: Any) -> None:
    if not isinstance(module, Module):
        raise TypeError(f"{module} is not an instance of torch.nn.Module")
    if not isinstance(tensor, TensorBase) and tensor is not None:
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')


def set_tensor(module: Any, name: str, tensor: Any) -> None:
    """Put a tensor, or None, under a name; a parameter stays a parameter, a buffer a buffer."""
    check(module, name, tensor)
    for table in (module._parameters, module._buffers):
        if name in table:
            table[name] = tensor
            return
    setattr(module, name, tensor)


def swap_tensor(module: Any, name: str, tensor: Any, allow_missing: bool = False) -> Any:
    """As set_tensor; -> what was there.  AttributeError if nothing was, unless allow_missing."""
    check(module, name, tensor)
    was = getattr(module, name, _MISSING)
    if was is _MISSING and not allow_missing:
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    if was is not _MISSING and was is not None and not isinstance(was, TensorBase):
        raise TypeError(f"attribute `{name}`: {was} is not an instance of torch.Tensor")
    set_tensor(module, name, tensor)
    return was
