"""torch._dynamo.config: settings of PyTorch's compiler that programs set.  They are kept and change nothing."""
from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any

suppress_errors = False
verbose = False
disable = False
cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = accumulated_recompile_limit = 256
assume_static_by_default = True
automatic_dynamic_shapes = True
dynamic_shapes = True
capture_scalar_outputs = False
capture_dynamic_output_shape_ops = False
capture_func_transforms = True
compiled_autograd = False
optimize_ddp: Any = True
inline_inbuilt_nn_modules = True
guard_nn_modules = True
allow_unspec_int_on_nn_module = False
force_parameter_static_shapes = True
error_on_recompile = False
fail_on_recompile_limit_hit = False
skip_nnmodule_hook_guards = True
log_level: Any = None
specialize_int = False
specialize_float = False
traceable_tensor_subclasses: set[Any] = set()


class Config(types.ModuleType):
    """The module, which knows its settings."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dict__:
            raise AttributeError(f"torch._dynamo.config.{name} does not exist")
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"torch._dynamo.config.{name} does not exist")

    @contextlib.contextmanager
    def patch(self, name: Any = None, value: Any = None, **changes: Any) -> Iterator[None]:
        """With other settings: patch("name", value), patch(name=value) or patch({name: value})."""
        new = {**({name: value} if isinstance(name, str) else name or {}), **changes}
        old = {key: getattr(self, key) for key in new}
        try:
            for key, x in new.items():
                setattr(self, key, x)
            yield
        finally:
            for key, x in old.items():
                setattr(self, key, x)


sys.modules[__name__].__class__ = Config
