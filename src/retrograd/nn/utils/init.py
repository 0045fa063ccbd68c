"""Modules whose parameters are about to be overwritten (torch.nn.utils.init)."""
from __future__ import annotations

import inspect
from typing import Any

from ..module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """module_cls(*args, **kwargs), for callers that fill in the parameters, which hold whatever was in memory.

    https://pytorch.org/docs/stable/generated/torch.nn.utils.skip_init.html
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    where = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=where)
