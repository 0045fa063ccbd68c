"""Modules called with other parameters: torch.func.functional_call, stack_module_state."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

from ..._engine.tensor import TensorBase
from ..._functions import stack
from ..module import Module
from ..modules.batchnorm import _BatchNorm

__all__ = ["functional_call", "functionalize", "replace_all_batch_norm_modules_", "stack_module_state"]

_NOTHING: Any = object()


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:
    """module(*args, **kwargs), with the tensors of parameter_and_buffer_dicts (one or several) for its parameters and buffers.

    Names are those of named_parameters.  tie_weights: a tensor that stands under several names is replaced under all of them;
    strict: every parameter and buffer must be given.  A buffer that the call sets is found in the dict afterwards.
    https://pytorch.org/docs/stable/generated/torch.func.functional_call.html
    """
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        if not isinstance(given, Sequence):
            raise ValueError(
                f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(given)}")
        if not all(isinstance(d, dict) for d in given):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        repeated = [name for name, count in Counter(name for d in given for name in d).items() if count > 1]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        given = {name: value for d in given for name, value in d.items()}
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _replaced(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(parameters, buffers) of `models`, of one class, stacked along a new first dim: an ensemble for vmap.

    https://pytorch.org/docs/stable/generated/torch.func.stack_module_state.html
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    out = []
    for listed in ([dict(m.named_parameters()) for m in models], [dict(m.named_buffers()) for m in models]):
        out.append({name: _stacked([tensors[name] for tensors in listed], name) for name in listed[0]})
    return out[0], out[1]


def _stacked(tensors: list[Any], name: str) -> Any:
    wants = {t.requires_grad for t in tensors}
    if len(wants) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    return stack(tensors).detach().requires_grad_(wants.pop())


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """func itself: functionalized functions (whatever they remove) compute the same, and nothing here needs them.

    https://pytorch.org/docs/stable/generated/torch.func.functionalize.html
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are: "
            "'mutations' and 'mutations_and_views'")

    @wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)
    return wrapped


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Remove the running statistics of all batch norms in root, in place; -> root.

    https://pytorch.org/docs/stable/generated/torch.func.replace_all_batch_norm_modules_.html
    """
    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


@contextmanager
def _replaced(module: Any, given: dict[str, Any], tie: bool, strict: bool) -> Iterator[None]:
    """Exchange the module's tensors in the block; afterwards `given` holds what the call made of them."""
    named = {**dict(module.named_parameters(remove_duplicate=False)), **dict(module.named_buffers(remove_duplicate=False))}
    values = _tied(named, given) if tie else dict(given)
    if strict:
        unknown, missing = [n for n in values if n not in named], [n for n in named if n not in values]
        wrong = [f"{what} key(s): {', '.join(map(repr, names))}." for what, names in (
            ("Unexpected", unknown), ("Missing", missing)) if names]
        if wrong:
            raise RuntimeError("Error(s) in reparametrizing for {}:\n\t{}".format(module._get_name(), "\n\t".join(wrong)))
    before: list[tuple[Any, str, str, Any]] = []
    try:
        for path, value in values.items():
            owner, _, name = path.rpartition(".")
            part = _part(module, owner)
            before.append((part, name, path, _swap(part, name, value)))
        yield
    finally:
        for part, name, path, old in reversed(before):
            now = _swap(part, name, old)
            if path in given:
                given[path] = now


def _tied(named: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """given, with a value for every name of a tensor that has one for some name."""
    groups: dict[int, list[str]] = {}
    for name, tensor in named.items():
        groups.setdefault(id(tensor), []).append(name)
    out = dict(given)
    for names in groups.values():
        values = {id(given[n]): given[n] for n in names if n in given}
        if len(names) > 1 and len(values) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider using "
                "tie_weights=False")
        for value in values.values():
            out |= dict.fromkeys(names, value)
    return out


def _part(module: Any, path: str) -> Any:
    for name in path.split(".") if path else ():
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        module = getattr(module, name)
        if not isinstance(module, Module):
            raise TypeError(f"submodule `{path}`: {module} is not an instance of torch.nn.Module")
    return module


def _swap(module: Any, name: str, value: Any) -> Any:
    """Replace the module's tensor by value (_NOTHING: by nothing), and return what was there."""
    if value is not _NOTHING and value is not None and not isinstance(value, TensorBase):
        raise TypeError(f"{value} is not an instance of torch.Tensor")
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')
    for table in (module._parameters, module._buffers):
        if name in table:
            old = table[name]
            if value is _NOTHING:
                del table[name]
            else:
                table[name] = value
            return old
    old = getattr(module, name, _NOTHING)
    if old is not _NOTHING and old is not None and not isinstance(old, TensorBase):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    if value is not _NOTHING:
        setattr(module, name, value)
    elif old is not _NOTHING:
        delattr(module, name)
    return old
