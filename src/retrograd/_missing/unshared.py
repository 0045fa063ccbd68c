"""Names that programs import, and the error of whoever uses them: most spread a model over processes."""
from __future__ import annotations

from functools import partial
from typing import Any, NoReturn

from . import late_names, torch_name

WHY = "a tensor belongs to one process: models are not sharded, and functions cannot be called in other processes"


def unshared(module: str, classes: str, functions: str, why: str = WHY) -> None:
    """Give `module` these names, each made when it is asked for."""
    late_names(module, also={
        **{name: partial(named_class, module, name, why) for name in classes.split()},
        **{name: partial(named_function, module, name, why) for name in functions.split()}})


def kept(module: str, name: str, made: Any) -> Any:
    import sys

    made.__module__, made.__qualname__ = module, name
    return vars(sys.modules[module]).setdefault(name, made)


def named_class(module: str, name: str, why: str) -> Any:
    """A class of which nothing is an instance, since none can be made."""
    return kept(module, name, type(name, (), {"__init__": refusing(module, name, why)}))


def named_function(module: str, name: str, why: str) -> Any:
    function = refusing(module, name, why)
    function.__name__ = name
    return kept(module, name, function)


def refusing(module: str, name: str, why: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"retrograd has no '{torch_name(module)}.{name}': {why}")

    return refuse
