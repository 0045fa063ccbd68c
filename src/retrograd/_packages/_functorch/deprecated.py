"""torch._functorch.deprecated: functions of torch.func under functorch's names, with a FutureWarning."""
from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

from retrograd import func
from retrograd._engine.warn import warn
from retrograd._missing import late_names

late_names(__name__)


def deprecated(name: str) -> Callable[..., Any]:
    f = getattr(func, name)
    new = "torch.vmap" if name == "vmap" else f"torch.func.{name}"

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        warn(f"We've integrated functorch into PyTorch. As the final step of the integration, `functorch.{name}` is deprecated "
             f"as of PyTorch 2.0 and will be deleted in a future version of PyTorch >= 2.3. Please use `{new}` instead; see the "
             "PyTorch 2.0 release notes and/or the `torch.func` migration guide for more details "
             "https://pytorch.org/docs/main/func.migrating.html", FutureWarning)
        return f(*args, **kwargs)

    return called


for _name in ("functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp", "vmap"):
    globals()[_name] = deprecated(_name)
_modules: Any = import_module("retrograd._functorch.make_functional")
for _name in ("combine_state_for_ensemble", "make_functional", "make_functional_with_buffers"):
    globals()[_name] = getattr(_modules, _name)
