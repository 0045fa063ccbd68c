"""State dicts: a module's parameters and persistent buffers by dotted name, out and in, with hooks on both ways."""
from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._engine.modes import grad_on, modes, set_grad
from .._engine.tensor import TensorBase, edits, wants_grad, wrap
from .._engine.warn import warn
from .._tensor.home import ours
from ..utils.hooks import RemovableHandle, register
from .hooks import Bound
from .parameter import Parameter, is_lazy

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"
RETURNED = (
    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if "
    "incompatible_keys need to be modified, it should be done inplace."
)


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict returns."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


_IncompatibleKeys.__module__ = f"{__package__}.modules.module"


class State:
    """The part of Module that is about its state."""

    __dict__: dict[str, Any]
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _state_dict_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]
    _version: int = 1

    def get_extra_state(self) -> Any:
        """What the state dict keeps under `_extra_state`: define it together with set_extra_state."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug.")

    def set_extra_state(self, state: Any) -> None:
        """Restore `state`, what get_extra_state returned."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug.")

    # Out

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """An OrderedDict of name -> tensor: parameters, persistent buffers, extra state, then the children's.

        The tensors share the module's memory; detached, unless keep_vars. `_metadata` holds the modules' versions.
        destination: the dict to fill, instead of a new one; prefix: put before each name.
        https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.state_dict
        """
        if args:
            warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning)
            named = {"destination": destination, "prefix": prefix, "keep_vars": keep_vars}
            named.update(zip(named, args))
            destination, prefix, keep_vars = named.values()
        if destination is None:
            if modes.clerk is not None:
                modes.clerk.saves(self)
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local: dict[str, Any] = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local
        for hook in list(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in list(self._state_dict_hooks.values()):
            result = hook(self, destination, prefix, local)
            if getattr(hook, "_from_public_api", False):
                if result is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif result is not None:
                destination = result
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Write this module's own entries; subclasses may override."""
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, prefix, keep_vars) before state_dict collects this module's entries."""
        return register(self._state_dict_pre_hooks, hook, "state_dict_pre", self)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, state_dict, prefix, local_metadata) after this module's and its children's entries.

        It may edit state_dict in place, and must return None.
        """
        hook._from_public_api = True            # type: ignore[attr-defined]
        return register(self._state_dict_hooks, hook, "state_dict", self)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The same, but at the root the hook may return another dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook")
        return register(self._state_dict_hooks, hook, "state_dict", self)

    # In

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy the values of state_dict into the parameters and buffers of the same names.

        strict  missing or unexpected names are errors, too; shapes must always match
        assign  put the tensors themselves in place of the old ones
        -> (missing_keys, unexpected_keys).  One RuntimeError lists everything that is wrong; the module is then as it
        was before.  https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        clerk = modes.clerk
        told = None if clerk is None else clerk.loads(self, assign)
        before = Snapshot(self, copies=not must_fit(self, state_dict))
        try:
            missing, unexpected, errors = self._load_all(state_dict, strict, assign)
            if strict:
                if unexpected:
                    errors.insert(0, f"Unexpected key(s) in state_dict: {quoted(unexpected)}. ")
                if missing:
                    errors.insert(0, f"Missing key(s) in state_dict: {quoted(missing)}. ")
            if errors:
                raise RuntimeError(
                    "Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(errors)))
        except BaseException:
            before.restore()
            raise
        if clerk is not None:
            clerk.loaded(self, told)
        return _IncompatibleKeys(missing, unexpected)

    def _load_all(self, state_dict: Any, strict: bool, assign: bool) -> tuple[list[str], list[str], list[str]]:
        metadata = getattr(state_dict, "_metadata", None)
        whole: Any = OrderedDict(state_dict)    # hooks may edit it
        if metadata is not None:
            whole._metadata = metadata
        loading = Loading(metadata, assign)
        loading.load(self, whole, "")
        return loading.missing, loading.unexpected, loading.errors

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:
        """Take this module's own entries, not its children's; subclasses may override it, for example to read old formats."""
        for hook in list(self._load_state_dict_pre_hooks.values()):
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = {name: p for name, p in self._parameters.items() if p is not None}
        own.update({name: b for name, b in self._buffers.items()
                    if b is not None and name not in self._non_persistent_buffers_set})
        for name, target in own.items():
            key = prefix + name
            if key in state_dict:
                error = self._take(name, key, target, state_dict[key], local_metadata)
                if error:
                    error_msgs.append(error)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not State.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    head, dot, _ = key[len(prefix):].partition(".")
                    if head not in (self._modules if dot else own):
                        unexpected_keys.append(key)

    def _take(self, name: str, key: str, target: Any, value: Any, local_metadata: Any) -> str | None:
        """Copy or assign one entry -> what was wrong, if anything."""
        if not isinstance(value, TensorBase):
            return (f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                    f"checkpoint but received {type(value)}")
        source: Any = value
        if is_lazy(target) and is_lazy(source):
            return None
        if target.ndim == 0 and source.ndim == 1 and source.shape[0]:   # as PyTorch 0.3 saved scalars
            source = source[0]
        if source.shape != target.shape:
            return (f"size mismatch for {key}: copying a param with shape {source.shape} from checkpoint, the shape in "
                    f"current model is {target.shape}.")
        recording = grad_on()
        try:
            set_grad(False)
            if local_metadata.get("assign_to_params_buffers", False):
                if isinstance(target, Parameter):
                    if isinstance(source, Parameter):
                        source.requires_grad_(target.requires_grad)
                    else:
                        source = Parameter(source, requires_grad=target.requires_grad)
                setattr(self, name, source)
            else:
                if target.is_meta and not source.is_meta:
                    warn(UNREAD.format(key))
                target.copy_(source)
        except Exception as error:
            return (f'While copying the parameter named "{key}", whose dimensions in the model are {target.size()} and '
                    f"whose dimensions in the checkpoint are {source.size()}, an exception occurred : {error.args}.")
        finally:
            set_grad(recording)
        return None

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        before this module takes its entries; the hook may edit state_dict and the lists."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False,
    ) -> RemovableHandle:
        """The same; the hook gets the module only with_module."""
        return register(self._load_state_dict_pre_hooks, Bound(hook, self if with_module else None), "load_pre", self)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, incompatible_keys) after this module and its children took their entries.

        It may edit the two lists of incompatible_keys, and so the verdict; it must return None.
        """
        return register(self._load_state_dict_post_hooks, hook, "load_post", self)


UNREAD = (
    "for {}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, which is a no-op. "
    "(Did you mean to pass `assign=True` to assign items in the state dictionary to their corresponding key in the module "
    "instead of copying them in place?)")


def quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)


class Loading:
    """One load_state_dict: what it comes across."""

    def __init__(self, metadata: Any, assign: bool) -> None:
        self.metadata = metadata
        self.assign = assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []

    def load(self, module: Any, entries: Any, prefix: str) -> None:
        """The entries of a module and of its children."""
        local = {} if self.metadata is None else self.metadata.get(prefix[:-1], {})
        if self.assign:                         # in a copy: PyTorch's own dict would then assign for ever
            local = {**local, "assign_to_params_buffers": True}
        module._load_from_state_dict(entries, prefix, local, True, self.missing, self.unexpected, self.errors)
        for name, child in module._modules.items():
            if child is not None:
                path = f"{prefix}{name}."
                self.load(child, {k: v for k, v in entries.items() if k.startswith(path)}, path)
        found = _IncompatibleKeys(self.missing, self.unexpected)
        for hook in list(module._load_state_dict_post_hooks.values()):
            if hook(module, found) is not None:
                raise AssertionError(RETURNED)


class Snapshot:
    """A module's tensors and their values, to put back after a load that failed."""

    def __init__(self, module: Any, copies: bool) -> None:
        self.tables: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self.values: dict[int, tuple[Any, Any, Any, int, bool]] = {}
        self.lazy: list[tuple[Any, Any, Any]] = []
        for each in module.modules() if copies else ():
            for table in (each._parameters, each._buffers):
                self.tables.append((table, dict(table)))
                for t in table.values():
                    if is_lazy(t):
                        self.lazy.append((t, type(t), t.array))
                    elif t is not None and id(t) not in self.values:
                        self.values[id(t)] = (t, t.array, np.array(t.array, order="K"), edits(t), wants_grad(t))

    def restore(self) -> None:
        for table, entries in self.tables:
            table.clear()
            table.update(entries)
        for t, kind, absent in self.lazy:
            t.__class__, t.array = kind, absent
        for t, array, values, count, wants in self.values.values():
            if t.array is not array:
                t.data = wrap(array)
            np.copyto(array, values)
            if t.version is not None:
                t.version.edits = count
            if wants is not wants_grad(t):
                t.requires_grad_(wants)


def must_fit(module: Any, state_dict: Any) -> bool:
    """Can loading state_dict not fail?  Then nothing need be copied beforehand: every name and shape is right, and no
    code of the user's runs meanwhile."""
    wanted = 0
    for path, each in module.named_modules(remove_duplicate=False):
        if not ours(type(each)._load_from_state_dict.__module__):
            return False
        if each._load_state_dict_pre_hooks or each._load_state_dict_post_hooks:
            return False
        if type(each).set_extra_state is not State.set_extra_state:
            return False
        for table, skipped in ((each._parameters, ()), (each._buffers, each._non_persistent_buffers_set)):
            for name, t in table.items():
                if t is None or name in skipped:
                    continue
                wanted += 1
                found = state_dict.get(f"{path}.{name}" if path else name)
                if not isinstance(found, TensorBase) or is_lazy(found) or found.array.shape != t.array.shape:
                    return False
    return wanted == len(state_dict)
