"""A capture's ear, of both engines: which calls of functions take something that is followed, and which may be forgotten.

It is compiled because it hears every call; those that concern it go to the microscope (microscope/capture/capturing.py).
"""
from __future__ import annotations

from typing import Any, Final, Optional

from mypy_extensions import mypyc_attr

from ..._engine.tensor import TensorBase, wants_grad

GETTER: Final = type(int.real.__get__)
NOTHING: Final[dict[str, Any]] = {}


@mypyc_attr(allow_interpreted_subclasses=True)
class Ear:
    """Hears func(*args, **kwargs), as what listens to an engine (microscope/listen).

    taking    (func, impl, args, kwargs), in place of a call that takes something followed, or of one of `passes`
    says      does a property give a tensor?
    after     (func, args, kwargs, out) -> out, of others while the model runs, unless they are plain: what they give requires
              grad, and they put no sample elsewhere
    """

    def __init__(self, taking: Any, after: Any, passes: Any, says: Any) -> None:
        self.taking: Any = taking
        self.after: Any = after
        self.passes: Any = passes
        self.followed: dict[int, Any] = {}      # by id
        self.running: bool = False              # does the model run?
        self.wary: bool = False                 # ... and were samples put elsewhere?
        self.plain: dict[Any, bool] = {}        # functions that put no sample elsewhere
        self.says: Any = says
        self.silent: dict[Any, bool] = {}       # properties that give no tensor

    def call(self, func: Any, impl: Any, args: tuple[Any, ...], kwargs: Optional[dict[str, Any]]) -> Any:
        if type(func) is GETTER:
            silent = self.silent.get(func)
            if silent is None:
                silent = self.silent[func] = not self.says(func)
            if silent:
                return impl(*args)
        followed = self.followed
        for x in args:
            if id(x) in followed:
                return self.taking(func, impl, args, NOTHING if kwargs is None else kwargs)
            if type(x) is list or type(x) is tuple:
                for y in x:
                    if id(y) in followed:
                        return self.taking(func, impl, args, NOTHING if kwargs is None else kwargs)
        if kwargs is not None:
            for x in kwargs.values():
                if id(x) in followed:
                    return self.taking(func, impl, args, kwargs)
        if func in self.passes:
            return self.taking(func, impl, args, NOTHING if kwargs is None else kwargs)
        out: Any = impl(*args) if kwargs is None else impl(*args, **kwargs)
        if not self.running or (not self.wary and func in self.plain and wants(out)):
            return out
        return self.after(func, args, NOTHING if kwargs is None else kwargs, out)


def wants(out: Any) -> bool:
    if isinstance(out, TensorBase):
        return wants_grad(out)
    return getattr(out, "requires_grad", None) is True
