"""nn.Module: a tree of parameters, buffers and submodules.  Calls and hooks: hooks.py; state dicts: state.py.

target             a dotted path from this module, such as 'encoder.0.weight'
recurse            False: leave out what belongs to submodules
prefix             put before each name, with a dot between
remove_duplicate   False: list what several modules share under each of its names
memo               a set of modules to leave out; those found are added to it
"""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, TypeVar

from .. import __future__ as conversions
from .._engine.modes import modes
from .._engine.tensor import TensorBase
from .._engine.warn import warn
from .._functions.create import empty_like
from .._tensor import Tensor, dtypes
from .._tensor.conversion import conversion
from .._tensor.printing import typename
from .._tensor.settings import compile
from ..autograd.clearing import clear_grad
from ..autograd.grad_mode import no_grad
from ..utils import swap_tensors
from . import hooks
from .hooks import Calls
from .parameter import Parameter
from .state import State

Self = TypeVar("Self", bound="Module")

TABLES = ("_parameters", "_buffers", "_modules")


COMPLEX = (
    "Complex modules are a new feature under active development whose design may change, and some modules might not work as "
    "expected when using complex tensors as parameters or buffers. Please file an issue at https://github.com/pytorch/pytorch/"
    "issues/new?template=bug-report.yml if a complex module does not work as expected.")


class Module(Calls, State):
    """Base class of all layers and models.

    Assign parameters, buffers and other modules as attributes in __init__ (after super().__init__()), and define
    forward.  Call the module, not forward: hooks run then.
    https://pytorch.org/docs/stable/generated/torch.nn.Module.html
    """

    dump_patches = False
    training: bool
    call_super_init = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            name = type(self).__name__
            if kwargs:
                raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
            if args:
                raise TypeError(f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_non_persistent_buffers_set"] = set()
        own["_backward_pre_hooks"] = OrderedDict()
        own["_backward_hooks"] = OrderedDict()
        own["_is_full_backward_hook"] = None
        own["_forward_hooks"] = OrderedDict()
        own["_forward_hooks_with_kwargs"] = OrderedDict()
        own["_forward_hooks_always_called"] = OrderedDict()
        own["_forward_pre_hooks"] = OrderedDict()
        own["_forward_pre_hooks_with_kwargs"] = OrderedDict()
        own["_state_dict_hooks"] = OrderedDict()
        own["_state_dict_pre_hooks"] = OrderedDict()
        own["_load_state_dict_pre_hooks"] = OrderedDict()
        own["_load_state_dict_post_hooks"] = OrderedDict()
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # Attributes
    #
    # NOTE [Parameters as attributes]
    # `self.weight` is found by __getattr__ after the usual lookup failed: 0.5 us.  Layers whose forward costs little
    # more read self._parameters instead, and fall back where a parametrization put a property in the parameter's place.

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for table in TABLES:
            if table in own and name in own[table]:
                return own[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        params = own.get("_parameters")
        if name == "training" and "training" in own:    # what train() sets in every module of a tree
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter):
            if params is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, ("_buffers", "_modules"))
            self.register_parameter(name, value)
        elif params is not None and name in params:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            if "_modules" not in own:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, ("_parameters", "_buffers"))
            own["_modules"][name] = hooks.registered(hooks._global_module_registration_hooks, self, name, value)
        elif params is not None and name in own["_modules"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)")
            own["_modules"][name] = hooks.registered(hooks._global_module_registration_hooks, self, name, value)
        elif isinstance(value, TensorBase) and getattr(value, "_is_buffer", False):
            if params is None:
                raise AttributeError("cannot assign buffer before Module.__init__() call")
            if name in own["_buffers"]:
                self._set_buffer(name, value)
            else:
                self._forget(name, ("_parameters", "_modules"))
                self.register_buffer(name, value, value.persistent)     # type: ignore[attr-defined]
        elif params is not None and name in own["_buffers"]:
            if value is not None and not isinstance(value, TensorBase):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None "
                    "expected)")
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_buffer(self, name: str, value: Any) -> None:
        self._buffers[name] = hooks.registered(hooks._global_buffer_registration_hooks, self, name, value)

    def _forget(self, name: str, tables: tuple[str, ...]) -> None:
        """Before `name` becomes something else."""
        own = self.__dict__
        own.pop(name, None)
        for table in tables:
            own[table].pop(name, None)
        own["_non_persistent_buffers_set"].discard(name)

    def __delattr__(self, name: str) -> None:
        own = self.__dict__
        for table in TABLES:
            if name in own.get(table, ()):
                del own[table][name]
                own["_non_persistent_buffers_set"].discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        own = [name for table in TABLES for name in self.__dict__[table]]
        names = [*dir(type(self)), *self.__dict__, *own]
        return sorted(name for name in names if not name[0].isdigit())

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in NEWER:                      # models pickled before there were these
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)
        if modes.clerk is not None:
            modes.clerk.restored(self)

    def register_parameter(self, name: str, param: Any) -> None:
        """Add `param`, a Parameter (or None, a place for one), under `name`."""
        self._check_name("parameter", name, "_parameters")
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None "
                    "required)")
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                    f"explicitly. To express '{name}' as a function of another Tensor, compute the value in the "
                    "forward() method.")
            param = hooks.registered(hooks._global_parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Add a tensor under `name`: not a parameter, but it moves with the module and, if persistent, is saved with it."""
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, TensorBase):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._set_buffer(name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add `module` (or None) under `name`.  KeyError for a name that is taken or has a dot."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._modules[name] = hooks.registered(hooks._global_module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """add_module(name, module)"""
        self.add_module(name, module)

    def _check_name(self, kind: str, name: Any, table: str) -> None:
        if table not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if kind == "module":                    # PyTorch asks in this order, and words it so
            if hasattr(self, name) and name not in self._modules:
                raise KeyError(f"attribute '{name}' already exists")
            if "." in name:
                raise KeyError(f'module name can\'t contain ".", got: {name}')
            if name == "":
                raise KeyError('module name can\'t be empty string ""')
            return
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in self.__dict__[table] and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    # Lookup by dotted name

    def get_submodule(self, target: str) -> Module:
        """The submodule at a dotted path such as 'encoder.0'; the module itself for ''.  AttributeError if there is none."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        found: Module = module
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put `module` at `target`, a dotted path; strict=True only replaces an existing one."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path.  AttributeError when there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        param = getattr(module, name)
        if not isinstance(param, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return param

    def get_buffer(self, target: str) -> Any:
        """The buffer at a dotted path.  AttributeError when there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        buffer = getattr(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

    # Traversal: own entries first, then the children's in the order in which they were assigned; each object once

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Module]]:
        """(dotted path, module) for the module itself and everything below it."""
        if memo is None:
            memo = set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """The module itself and everything below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """(name, module) of the direct submodules."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The direct submodules."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, get_members_fn: Callable[[Module], Any], prefix: str = "", recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = (self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse
                   else [(prefix, self)])
        for path, module in modules:
            for name, value in get_members_fn(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Parameter]]:
        """(dotted name, parameter); a shared parameter once, under its first name."""
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, as an optimizer takes them."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Tensor]]:
        """(dotted name, buffer)."""
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # Changes to the whole tree

    def apply(self: Self, fn: Callable[[Module], Any]) -> Self:
        """Call fn(module) for everything below, then for the module itself; -> itself."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self: Self, mode: bool = True) -> Self:
        """Training mode (dropout drops, batch norm uses the batch) for the module and everything below it; -> itself."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: Self) -> Self:
        """train(False)"""
        return self.train(False)

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Set requires_grad of all parameters; -> itself."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to zero with set_to_none=False."""
        if modes.clerk is not None:
            modes.clerk.zeroes(self, set_to_none)
        for param in self.parameters():
            clear_grad(param, set_to_none)

    def _apply(self: Self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        """Replace the data of each parameter, gradient and buffer by what fn returns for it; Parameters stay the same objects."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is None:
                continue
            grad = param.grad
            if conversions.get_overwrite_module_params_on_conversion():
                self._parameters[name] = fresh = Parameter(fn(param.data), param.requires_grad)
                fresh.grad = None if grad is None else fn(grad.data).requires_grad_(grad.requires_grad)
                continue
            with no_grad():
                data = fn(param)                # itself: PyTorch counts an edit in place
                found = None if grad is None else fn(grad)
            if conversions.get_swap_module_params_on_conversion():
                param.grad = None
                swap_tensors(param, Parameter(data, param.requires_grad))
                param.grad = found
                continue
            if data.is_meta is not param.is_meta:
                self._parameters[name] = fresh = Parameter(data, param.requires_grad)
                fresh.grad = found
                continue
            if data is param and param.is_meta:
                continue
            param.grad = None
            param.data = data
            if grad is not None:
                grad.data = found
                param.grad = grad
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """to(dtype) and to(tensor) cast floating-point parameters and buffers in place; to('cpu') changes nothing; -> itself."""
        if "copy" in kwargs:
            raise RuntimeError(".to() does not accept copy argument")
        try:
            dtype, _ = conversion(args, kwargs)
        except dtypes.OnMeta:
            return self._apply(lambda t: t.to(*args, **kwargs) if t.is_floating_point() or t.is_complex() else t.to("meta"))
        for t in chain(self.parameters(), self.buffers()) if "memory_format" in kwargs else ():
            if t.dim() in (4, 5):
                dtypes.check_format(kwargs["memory_format"], t.dim())
        if dtype is None:
            return self.cpu() if args or kwargs.get("device") is not None else self
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
        if dtype.is_complex:
            warn(COMPLEX)
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() or t.is_complex() else t)

    def _cast(self: Self, dtype: Any) -> Self:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self: Self) -> Self:
        """Floating parameters and buffers as float32; -> itself."""
        return self._cast(dtypes.float32)

    def double(self: Self) -> Self:
        """... as float64."""
        return self._cast(dtypes.float64)

    def half(self: Self) -> Self:
        """... as float16."""
        return self._cast(dtypes.float16)

    def bfloat16(self: Self) -> Self:
        """... as bfloat16."""
        return self._cast(dtypes.bfloat16)

    def type(self: Self, dst_type: Any) -> Self:
        """Every parameter and buffer as dst_type."""
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self: Self) -> Self:
        """Nothing to do: everything is on the CPU.  NotImplementedError for what is on "meta"."""
        for t in (*self.parameters(), *self.buffers()):
            if t.is_meta:
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
                    "torch.nn.Module.to() when moving module from meta to a different device.")
        return self

    def cuda(self: Self, device: Any = None) -> Self:
        """AssertionError, unless it has no tensors: there is no GPU here."""
        return self._apply(lambda t: t.to("cuda"))

    def xpu(self: Self, device: Any = None) -> Self:
        """AssertionError, unless it has no tensors."""
        return self._apply(lambda t: t.to("xpu"))

    def mtia(self: Self, device: Any = None) -> Self:
        """AssertionError, unless it has no tensors."""
        return self._apply(lambda t: t.to("mtia"))

    def ipu(self: Self, device: Any = None) -> Self:
        """RuntimeError, unless it has no tensors."""
        return self._apply(lambda t: t.to("ipu"))

    def to_empty(self: Self, *, device: Any, recurse: bool = True) -> Self:
        """Give every parameter and buffer uninitialized memory on `device`."""
        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def share_memory(self: Self) -> Self:
        """Move parameters and buffers to memory that other processes see: Tensor.share_memory_."""
        return self._apply(lambda t: t.share_memory_())

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """From now on, calls of the module go through torch.compile with these arguments."""
        Calls.__call__ = hooks.call_compiled    # type: ignore[method-assign]   # until then no call asks
        self._compiled_call_impl = compile(self._call_impl, *args, **kwargs)

    # As text

    def _get_name(self) -> str:
        return self.__class__.__name__

    def extra_repr(self) -> str:
        """What repr shows besides the submodules: subclasses define it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        inside = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        return text_of(self._get_name(), lines, inside)


NEWER = (
    "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called", "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks", "_backward_pre_hooks",
)


def text_of(name: str, extra: list[str], children: list[str]) -> str:
    """Name(extra), on one line if it is short."""
    if not children and len(extra) == 1:
        return f"{name}({extra[0]})"
    lines = [*extra, *children]
    return f"{name}(\n  " + "\n  ".join(lines) + "\n)" if lines else f"{name}()"


def indented(text: str) -> str:
    """All lines but the first, two spaces further in."""
    return text.replace("\n", "\n  ")


Module.__module__ = f"{__package__}.modules.module"
for _part in (Calls, State):
    for _name, _method in vars(_part).items():
        if hasattr(_method, "__code__"):
            _method.__qualname__ = f"Module.{_name}"    # error texts name it so
