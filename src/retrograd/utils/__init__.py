"""torch.utils: hooks, checkpoint, data."""
import weakref
from typing import TYPE_CHECKING, Any

from .._missing import late_names
from . import hooks as hooks

if TYPE_CHECKING:
    from . import _device as _device
    from . import _dtype_abbrs as _dtype_abbrs
    from . import _foreach_utils as _foreach_utils
    from . import _pytree as _pytree
    from . import benchmark as benchmark
    from . import checkpoint as checkpoint
    from . import collect_env as collect_env
    from . import cpp_extension as cpp_extension
    from . import data as data
    from . import dlpack as dlpack
    from . import flop_counter as flop_counter
    from . import model_zoo as model_zoo
    from . import module_tracker as module_tracker
    from . import weak as weak

late_names(__name__, lazy=(
    "_device", "_dtype_abbrs", "_foreach_utils", "_pytree", "benchmark", "checkpoint", "collect_env", "cpp_extension", "data",
    "dlpack", "flop_counter", "model_zoo", "module_tracker", "weak"))


def set_module(obj: Any, mod: str) -> None:
    """Say that obj is of the module `mod`."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


POISONED = (
    "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen when you try to run backward on a "
    "tensor that was swapped. For a module m with `torch.__future__.set_swap_module_params_on_conversion(True)` you should not "
    "change the device or dtype of the module (e.g. `m.cpu()` or `m.half()`) between running forward and backward. To resolve "
    "this, please only change the device/dtype before running forward (or after both forward and backward).")
FIELDS = "array rg fn nr version kept origin listeners inference cut".split()


def _poison(*grads: Any) -> Any:
    raise RuntimeError(POISONED)


def swap_tensors(t1: Any, t2: Any) -> None:
    """Each becomes what the other is: class, attributes, memory, place in the graph.  A graph that leads to one of them as a leaf
    cannot run backward any more.
    """
    for name, t in (("t1", t1), ("t2", t2)):
        own = None if t.sink is None else t.sink.leaf
        if any(reference is not own for reference in weakref.getweakrefs(t)):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    gradients = [None if t.sink is None else t.grad for t in (t1, t2)]
    for t in (t1, t2):
        if t.sink is not None:
            t.sink.register_prehook(_poison)
            t.sink = None
    for field in ("__class__", "__dict__", *(() if "array" in vars(t1) else FIELDS)):        # uncompiled they lie in __dict__
        one, other = getattr(t1, field), getattr(t2, field)
        setattr(t1, field, other)
        setattr(t2, field, one)
    for t, gradient in zip((t2, t1), gradients):
        if gradient is not None:
            t.grad = gradient
