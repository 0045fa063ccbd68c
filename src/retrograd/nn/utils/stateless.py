"""Modules called with other parameters: the old place of torch.func.functional_call (torch.nn.utils.stateless)."""
from __future__ import annotations

from typing import Any

from ..._engine.warn import warn
from ._functional_call import functional_call as call

__all__ = ["functional_call"]


def functional_call(
    module: Any, parameters_and_buffers: dict[str, Any], args: Any = None, kwargs: dict[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:
    """Deprecated: use torch.func.functional_call."""
    warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future version of "
        "PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.", FutureWarning)
    return call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
