"""torch.utils: hooks, checkpoint, data."""
from typing import TYPE_CHECKING

from .._missing import late_names
from . import hooks as hooks

if TYPE_CHECKING:
    from . import _device as _device
    from . import _dtype_abbrs as _dtype_abbrs
    from . import _foreach_utils as _foreach_utils
    from . import _pytree as _pytree
    from . import checkpoint as checkpoint
    from . import data as data
    from . import dlpack as dlpack
    from . import model_zoo as model_zoo

late_names(__name__, lazy=("_device", "_dtype_abbrs", "_foreach_utils", "_pytree", "checkpoint", "data", "dlpack", "model_zoo"))
