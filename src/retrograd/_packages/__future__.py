"""torch.__future__: how modules are converted by to(), float() and their like."""
from __future__ import annotations

_overwrite_module_params_on_conversion = False
_swap_module_params_on_conversion = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """True: conversions put new Parameters into modules; False, the default: they change the data of those that are there."""
    global _overwrite_module_params_on_conversion
    _overwrite_module_params_on_conversion = value


def get_overwrite_module_params_on_conversion() -> bool:
    """What set_overwrite_module_params_on_conversion set."""
    return _overwrite_module_params_on_conversion


def set_swap_module_params_on_conversion(value: bool) -> None:
    """True: conversions swap Parameters with new ones by torch.utils.swap_tensors, so that they may change their class."""
    global _swap_module_params_on_conversion
    _swap_module_params_on_conversion = value


def get_swap_module_params_on_conversion() -> bool:
    """What set_swap_module_params_on_conversion set."""
    return _swap_module_params_on_conversion
