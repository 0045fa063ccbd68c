"""torch.utils: hooks, checkpoint, data."""
from .._missing import module_getattr
from . import hooks as hooks

__getattr__ = module_getattr(__name__, lazy=("_foreach_utils", "_pytree", "checkpoint", "data", "dlpack", "model_zoo"))
