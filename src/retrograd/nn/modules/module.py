"""torch.nn.modules.module: where programs find the hooks that apply to every module."""
# ruff: noqa: I001  one import a line would be seventy lines
import sys as _sys
import types as _types
from typing import Any as _Any

from .. import hooks as _hooks
from ..hooks import (
    _global_backward_hooks as _global_backward_hooks,
    _global_backward_pre_hooks as _global_backward_pre_hooks,
    _global_buffer_registration_hooks as _global_buffer_registration_hooks,
    _global_forward_hooks as _global_forward_hooks,
    _global_forward_hooks_always_called as _global_forward_hooks_always_called,
    _global_forward_hooks_with_kwargs as _global_forward_hooks_with_kwargs,
    _global_forward_pre_hooks as _global_forward_pre_hooks,
    _global_module_registration_hooks as _global_module_registration_hooks,
    _global_parameter_registration_hooks as _global_parameter_registration_hooks,
    register_module_backward_hook as register_module_backward_hook,
    register_module_buffer_registration_hook as register_module_buffer_registration_hook,
    register_module_forward_hook as register_module_forward_hook,
    register_module_forward_pre_hook as register_module_forward_pre_hook,
    register_module_full_backward_hook as register_module_full_backward_hook,
    register_module_full_backward_pre_hook as register_module_full_backward_pre_hook,
    register_module_module_registration_hook as register_module_module_registration_hook,
    register_module_parameter_registration_hook as register_module_parameter_registration_hook,
)
from ..module import Module as Module
from ..state import _EXTRA_STATE_KEY_SUFFIX as _EXTRA_STATE_KEY_SUFFIX
from ..state import _IncompatibleKeys as _IncompatibleKeys

_global_is_full_backward_hook: bool | None = None   # of which kind the global backward hooks are; programs reset it


class _Home(_types.ModuleType):
    """This module: a table that a program puts in place of one of these is the one that counts."""

    def __setattr__(self, name: str, value: _Any) -> None:
        super().__setattr__(name, value)
        if name.startswith("_global_") and hasattr(_hooks, name):
            setattr(_hooks, name, value)


_sys.modules[__name__].__class__ = _Home
