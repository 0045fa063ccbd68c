"""Optimizer: parameter groups, state, hooks and state dicts.  What a step computes is in the file of each algorithm.

A step works on arrays, outside any graph, and counts its in-place edits of a parameter as PyTorch's would.
NOTE [Options without effect]: foreach and fused choose between kernels of equal results in PyTorch; there is one kernel
here and they are accepted with PyTorch's checks.  capturable is for CUDA graphs: step() refuses it on the CPU, as in
PyTorch.  With differentiable=True the step is made of recorded operations (_formulas), of the same bits.
"""
from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from itertools import chain
from typing import Any

import numpy as np

from .._engine import names
from .._engine.modes import hush, modes, unhush
from .._engine.promote import check_broadcast
from .._engine.tensor import TensorBase, bump, wrap
from .._engine.views import check_repeated, repeats
from .._engine.warn import warn
from .._functions.complexes import view_as_complex, view_as_real
from .._tensor.dtypes import float32
from .._tensor.printing import typename
from ..autograd.clearing import clear_grad
from ..autograd.grad_mode import enable_grad, no_grad
from ..utils import _foreach_utils
from ..utils._foreach_utils import Indices, TensorListList  # noqa: F401  torch.optim.optimizer has them
from ..utils.hooks import RemovableHandle, register
from ._formulas import formula_of, sgd, step_of
from ._writing import (  # noqa: F401  torch.optim.optimizer has them
    DeviceDict,
    DeviceDtypeDict,
    ParamsT,
    _capturable_doc,
    _default_to_fused_or_foreach,
    _device_dtype_check_for_fused,
    _differentiable_doc,
    _disable_dynamo_if_unsupported,
    _foreach_doc,
    _fused_doc,
    _get_capturable_supported_devices,
    _get_scalar_dtype,
    _get_value,
    _maximize_doc,
    _params_doc,
    _stack_if_compiling,
    _to_scalar,
    _use_grad_for_differentiable,
    _view_as_real,
    as_pairs,
)

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

Options = dict[str, Any]

DUPLICATES = (
    "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
    "github.com/pytorch/pytorch/issues/40967 for more information")
CAPTURABLE = (
    "If capturable=True, params and state_steps must be on supported devices: "
    "['cuda', 'xpu', 'hpu', 'privateuseone', 'xla'].\nretrograd computes on the CPU: leave capturable=False.")
_TABLES = (
    "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks")

# Names here, as a step reads them in a tenth of the time that attributes of modes take.
recorder: Any = None                            # NOTE [Recorder] in _engine/modes.py
imaginary = modes.imaginary


def meet_complex() -> None:
    global imaginary
    imaginary = True


modes.at_first_complex.append(meet_complex)

_global_optimizer_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, Any] = OrderedDict()


class _RequiredParameter:
    """The default of an option that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(optimizer, args, kwargs) before each step of every optimizer; it may return new (args, kwargs)."""
    return register(_global_optimizer_pre_hooks, hook, "step_pre", None)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(optimizer, args, kwargs) after each step of every optimizer."""
    return register(_global_optimizer_post_hooks, hook, "step_post", None)


def _register(
    table: OrderedDict[int, Any], hook: Callable[..., Any], kind: str, owner: Any, prepend: bool = False,
) -> RemovableHandle:
    handle = register(table, hook, kind, owner)
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


def pre_hooks(optimizer: Any) -> Iterator[Any]:
    """Those before a step; one that a hook registers on the optimizer meanwhile is among them, as in PyTorch."""
    for table in (_global_optimizer_pre_hooks, optimizer._optimizer_step_pre_hooks):
        yield from list(table.values())


def post_hooks(optimizer: Any) -> Iterator[Any]:
    for table in (optimizer._optimizer_step_post_hooks, _global_optimizer_post_hooks):
        yield from list(table.values())


def told(func: Any, result: Any, args: Any, kwargs: Any) -> Any:
    """The arguments of a step after a pre-hook that gave `result`."""
    if result is None:
        return args, kwargs
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{func} must return None or a tuple of (new_args, new_kwargs), but got {result}.")
    return result


def before_step(optimizer: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """The arguments of a step after its pre-hooks."""
    for hook in pre_hooks(optimizer):
        args, kwargs = told(func, hook(optimizer, args, kwargs), args, kwargs)
    return args, kwargs


def after_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    """Call the hooks after a step."""
    for hook in post_hooks(optimizer):
        hook(optimizer, args, kwargs)


class Optimizer:
    """Base of all optimizers.

    params    leaf tensors, (name, tensor) pairs, or dicts with "params" and options of their own, in a fixed order
    defaults  options of groups that do not give them

    `param_groups` is a list of dicts, `state` a dict from parameter to dict.  A subclass defines `step`;
    ours define `_update(group, params)`, which `_step` calls.
    https://pytorch.org/docs/stable/optim.html#torch.optim.Optimizer
    """

    _optimizer_step_pre_hooks: OrderedDict[int, Any]
    _optimizer_step_post_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Any]
    _capturable = CAPTURABLE
    _capturable_foreach = CAPTURABLE.replace(", 'xla'", "")

    def __init__(self, params: Any, defaults: Options) -> None:
        self.defaults = defaults
        for name in _TABLES:
            setattr(self, name, OrderedDict())
        self._patch_step_function()
        if isinstance(params, TensorBase):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + typename(params))
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[Options] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: Options) -> None:
        """Add the tensors of a dict param_group, with its options; options that it lacks come from `defaults`.

        TypeError for a set or for what is no Tensor; ValueError for non-leafs and for tensors of another group.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead.")
        given = [given] if isinstance(given, TensorBase) else list(given)
        names = [x[0] for x in given if isinstance(x, tuple)]
        params = param_group["params"] = [x[1] if isinstance(x, tuple) else x for x in given]
        if names:
            if len(names) != len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = names
        for p in params:
            if not isinstance(p, TensorBase):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(p)}")
            leaf: Any = p
            if not self.defaults.get("differentiable", None) and not (leaf.is_leaf or leaf.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            if value is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, value)
        mine = set(params)
        if len(mine) != len(params):
            warn(DUPLICATES)
        if self.param_groups:
            first, now = "param_names" in self.param_groups[0], "param_names" in param_group
            if first != now:
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group {'with' if now else 'without'} names to the optimizer")
        if not mine.isdisjoint(chain.from_iterable(group["params"] for group in self.param_groups)):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a .grad.

        closure  computes the loss anew and calls backward(); its result is returned
        """
        raise NotImplementedError

    def _run_step(self, closure: Callable[[], Any] | None = None) -> Any:
        """_step, hidden from recorders."""
        return self._step(closure, False)

    def _step(self, closure: Callable[[], Any] | None, told: bool = True) -> Any:
        if told and recorder is not None:
            return recorder.step(self, closure)
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if self.defaults.get("differentiable"):
            with enable_grad():
                for group in self.param_groups:
                    self._record(group, [p for p in group["params"] if p.grad is not None])
            return loss
        token = hush()
        try:
            for group in self.param_groups:
                live = [p for p in group["params"] if p.grad is not None]
                if live:
                    if group.get("capturable"):
                        raise AssertionError(self._capturable_foreach if group["foreach"] else self._capturable)
                    if imaginary:
                        self._check_complex(group, live)
                    try:
                        if imaginary:
                            with as_pairs(self.state, live) as stand_ins:
                                self._update(group, stand_ins)
                        else:
                            self._update(group, live)
                    except (ValueError, TypeError) as e:
                        raise self._unfit(live) or e from None
        finally:
            unhush(token)
        return loss

    def _check_complex(self, group: Options, params: list[Any]) -> None:
        """An error for complex parameters that the step does not take."""
        if group.get("fused"):
            for p in params:
                _device_dtype_check_for_fused(p)

    def _record(self, group: Options, params: list[Any]) -> None:
        """The step in the graph: it edits each parameter by one recorded operation, and replaces its state."""
        formula = formula_of(type(self))
        if formula is None:
            raise NotImplementedError(f"the step of {type(self).__name__} has no formula that autograd follows")
        for p in params:
            state = self.state[p]
            step = state.get("step", scalar(0.0, group.get("fused")))
            paired = p.is_complex()
            old, g, kept = p.clone(), p.grad, {**state, "step": step}
            if paired:
                old, g = view_as_real(old), view_as_real(g)
                kept = {k: view_as_real(v) if v is not None and v.is_complex() else v for k, v in kept.items()}
            now, after = step_of(formula, old, g, kept, group, float(step) + 1)
            if paired:
                now = view_as_complex(now)
                after = {k: view_as_complex(v) if v.dim() else v for k, v in after.items()}
            p.copy_(now)
            if formula is not sgd:
                with no_grad():
                    state["step"] = step.add_(1)
            state.update(after)

    def _unfit(self, params: list[Any]) -> Exception | None:
        """What PyTorch says of parameters that NumPy could not change: of integers, or with the state of another size."""
        for p in params:
            if p.array.dtype.kind not in "fcV":
                return RuntimeError(
                    f"result type Float can't be cast to the desired output type {names.SCALAR[p.array.dtype.name]}")
            for value in self.state.get(p, {}).values():
                if isinstance(value, TensorBase) and value.array.ndim and value.array.shape != p.array.shape:
                    try:
                        check_broadcast(value.array, p.array)
                    except RuntimeError as e:
                        return e
        return None

    def _update(self, group: Options, params: list[Any]) -> None:
        """One step for the parameters of `group` that have a gradient."""
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set all gradients to None; with set_to_none=False, fill them with zeros in place."""
        if modes.clerk is not None:
            modes.clerk.zeroes(self, set_to_none)
        for group in self.param_groups:
            for p in group["params"]:
                clear_grad(p, set_to_none)

    # Hooks.  Tables are copied before they are run, so that a hook may remove itself.

    @staticmethod
    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        """`func`, a step method, with the step hooks around it."""
        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            self = args[0]
            if self._optimizer_step_pre_hooks or _global_optimizer_pre_hooks:
                if modes.outs is not None and modes.outs.mine():
                    args, kwargs = modes.outs.before_step(self, func, args, kwargs)
                else:                           # in this frame: who listens to the step knows it by that
                    for hook in pre_hooks(self):
                        args, kwargs = told(func, hook(self, args, kwargs), args, kwargs)
            out = func(*args, **kwargs)
            if self._optimizer_step_post_hooks or _global_optimizer_post_hooks:
                if modes.outs is not None and modes.outs.mine():
                    modes.outs.after_step(self, args, kwargs)
                else:
                    for hook in post_hooks(self):
                        hook(self, args, kwargs)
            return out
        return wrapper

    @staticmethod
    def _group_tensors_by_device_and_dtype(tensorlistlist: list[list[Any]], with_indices: bool = False) -> Any:
        return _foreach_utils._group_tensors_by_device_and_dtype(tensorlistlist, with_indices)

    def _accelerator_graph_capture_health_check(self) -> None:
        """Does nothing: no graphs are captured. Steps written like PyTorch's call it first."""

    _cuda_graph_capture_health_check = _accelerator_graph_capture_health_check

    def _patch_step_function(self) -> None:
        cls: Any = type(self)
        if not getattr(cls.step, "hooked", None):
            cls.step = self.profile_hook_step(cls.step)
            cls.step.hooked = True

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) before each step; it may return new (args, kwargs).

        args[0] is the optimizer.  RuntimeError when the hook returns anything else.
        """
        return register(self._optimizer_step_pre_hooks, hook, "step_pre", self)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) after each step."""
        return register(self._optimizer_step_post_hooks, hook, "step_post", self)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer) before state_dict(); prepend: before the other hooks."""
        return _register(self._optimizer_state_dict_pre_hooks, hook, "optimizer_state_dict_pre", self, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer, state_dict) at the end of state_dict(); what it returns, if not None, is the result.

        prepend: before the other hooks.
        """
        return _register(self._optimizer_state_dict_post_hooks, hook, "optimizer_state_dict", self, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer, state_dict) before loading; what it returns, if not None, is loaded instead.

        prepend: before the other hooks.
        """
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, "optimizer_load_pre", self, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer) after loading; prepend: before the other hooks."""
        return _register(self._optimizer_load_state_dict_post_hooks, hook, "optimizer_load_post", self, prepend)

    # State dicts

    def state_dict(self) -> Options:
        """{"state": {number: ...}, "param_groups": [...]}, parameters replaced by their numbers.

        The tensors are the optimizer's own, not copies.
        """
        if modes.clerk is not None:
            modes.clerk.saves(self)
        for hook in list(self._optimizer_state_dict_pre_hooks.values()):
            hook(self)
        number: dict[int, int] = {}
        groups = []
        count = 0
        for group in self.param_groups:
            for i, p in enumerate(group["params"], count):
                number.setdefault(id(p), i)
            count += len(group["params"])
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [number[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {number[id(k)] if isinstance(k, TensorBase) else k: v for k, v in self.state.items()}
        out: Options = {"state": state, "param_groups": groups}
        for hook in list(self._optimizer_state_dict_post_hooks.values()):
            result = hook(self, out)
            if result is not None:
                out = result
        return out

    def load_state_dict(self, state_dict: Options) -> None:
        """Load options and state from the state_dict of an optimizer whose groups have the same sizes.

        State tensors are cast to their parameter's dtype; one that needs no cast is shared with state_dict, as in
        PyTorch.  ValueError when the groups do not match; the optimizer is then unchanged.
        """
        if modes.clerk is not None:
            modes.clerk.loads(self, False)
        state_dict = state_dict.copy()
        for hook in list(self._optimizer_load_state_dict_pre_hooks.values()):
            result = hook(self, state_dict)
            if result is not None:
                state_dict = result
        mine = self.param_groups
        theirs = deepcopy(state_dict["param_groups"])
        if len(mine) != len(theirs):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(mine, theirs)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        owner = {n: p for a, b in zip(mine, theirs) for n, p in zip(b["params"], a["params"])}
        exact = {n for b in theirs for n in b["params"] if b.get("capturable") or b.get("fused")}
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in owner:
                state[owner[key]] = _cast(owner[key], value, key in exact, None)
            else:
                state[key] = value
        for a, b in zip(mine, theirs):
            b["params"] = a["params"]
            if "param_names" in a:
                b.setdefault("param_names", a["param_names"])
        self.__setstate__({"state": state, "param_groups": theirs})
        for hook in list(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)

    _later: Options = {}            # options that state dicts of old versions lack, with the values they had then

    def __getstate__(self) -> Options:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: Options) -> None:
        self.__dict__.update(state)
        for name in _TABLES:
            self.__dict__.setdefault(name, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)
        for group in self.param_groups:
            for name, value in self._later.items():
                group.setdefault(name, value)
            if self._later:
                for p in group["params"]:
                    had: Any = self.state.get(p)
                    for name in ("step", "mu_product", "eta", "mu") if had else ():
                        if name in had and not isinstance(had[name], TensorBase):
                            had[name] = scalar(float(had[name]), group.get("fused"))

    def __repr__(self) -> str:
        parts = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            parts += ["", f"Parameter Group {i}"] if i else [f"Parameter Group {i}"]
            parts += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join(parts) + "\n)"


def _cast(p: Any, value: Any, exact: bool, key: Any) -> Any:
    """The state `value` of parameter p, tensors in p's dtype; "step" keeps its own."""
    if isinstance(value, TensorBase):
        tensor: Any = value
        if key == "step":
            return tensor.to(float32) if exact else tensor
        return tensor.to(p.dtype) if p.is_floating_point() else tensor
    if isinstance(value, dict):
        return {k: _cast(p, v, exact, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        kind: Any = type(value)
        return kind(_cast(p, v, exact, None) for v in value)
    return value


# What the algorithms share


def value(x: Any) -> Any:
    """A hyperparameter as a number: one-element tensors are read."""
    if not isinstance(x, TensorBase):
        return x
    if x.array.size != 1:
        raise RuntimeError(f"a Tensor with {x.array.size} elements cannot be converted to Scalar")
    return x.array.item()


def number(x: Any) -> Any:
    """value(x), of a tensor in the digits of its dtype: what is computed with it is rounded as PyTorch's tensors are."""
    return x.array.dtype.type(value(x)) if isinstance(x, TensorBase) else x


def scalar(x: float, fused: Any = None) -> Any:
    """A 0-dim tensor for a count or a product kept in the state: float32, float64 where that is the default, unless fused."""
    return wrap(np.array(x, _get_scalar_dtype(fused).numpy))


def zeros(p: Any) -> Any:
    """A tensor of zeros like p."""
    return wrap(np.zeros_like(p.array, subok=False))


def count(state: Options) -> float:
    """Add one to state["step"]; -> the new number."""
    step = state["step"]
    step.array += 1
    bump(step)
    return float(step.array)


def descent(p: Any, maximize: bool, weight_decay: float) -> Any:
    """The array to go down along: the gradient or its negative, plus weight_decay * p.  Not to be written to."""
    g = p.grad.array
    if repeats(p.array):
        check_repeated(None)
    if g.shape != p.array.shape:                # p.data was replaced by something else
        check_broadcast(p.array, g)
        both = list(np.broadcast_shapes(p.array.shape, g.shape))
        if both != list(p.array.shape):
            raise RuntimeError(f"output with shape {list(p.array.shape)} doesn't match the broadcast shape {both}")
    if maximize:
        g = np.negative(g)
    if weight_decay != 0:
        whole = np.asarray(g + p.array * weight_decay)
        g = whole.astype(g.dtype, copy=False) if g.dtype == p.array.dtype else whole     # NumPy widens bfloat16
    return g


def average(mean: Any, g: Any, weight: float, t: Any) -> None:
    """Move the tensor `mean` towards g by `weight` of the distance; t is scratch."""
    m = mean.array
    if m.dtype.itemsize == 2 or m.dtype != g.dtype:
        return lerp(mean, g, weight)
    np.subtract(g, m, out=t)
    t *= weight
    m += t
    bump(mean)


def average_squares(mean: Any, g: Any, beta: float, t: Any) -> None:
    """mean = beta * mean + (1 - beta) * g * g; t is scratch."""
    v = mean.array
    v *= beta
    if v.dtype.itemsize == 2:
        v[...] = v + np.square(g, dtype=np.float32) * (1 - beta)
        return bump(mean)
    np.multiply(g, 1 - beta, out=t)
    t *= g
    v += t
    bump(mean)


def lerp(mean: Any, g: Any, weight: float) -> None:
    """mean.lerp_(g, weight): `average` for weights of any size, with g itself at weight 1."""
    if mean.array.dtype != g.dtype:
        kinds = [names.SCALAR[a.dtype.name].lower() for a in (mean.array, g)]
        raise RuntimeError(f"expected dtype {kinds[0]} for `end` but got dtype {kinds[1]}")
    mean.array[...] = mixed(mean.array, g, weight)
    bump(mean)


def mixed(a: Any, b: Any, weight: float) -> Any:
    """The array on the way from a to b, from the end that is nearer, as torch.lerp."""
    step = np.subtract(b, a, dtype=wide(a))
    out = a + weight * step if weight < 0.5 else b - step * (1 - weight)
    return np.asarray(out).astype(a.dtype, copy=False)


def wide(a: Any) -> Any:
    """The dtype in which PyTorch computes with array a inside one operation."""
    return np.float32 if a.dtype.itemsize == 2 else a.dtype


def subtract(p: Any, a: Any, size: float) -> None:
    """p -= size * a.  `a` is overwritten."""
    a *= size
    array = p.array
    np.subtract(array, a, out=array)
    bump(p)


def subtract_quotient(p: Any, a: Any, b: Any, size: float) -> None:
    """p -= size * (a / b).  `b` is overwritten."""
    if b.dtype.itemsize == 2:
        p.array[...] = p.array - np.divide(a, b, dtype=np.float32) * size
        return bump(p)
    np.divide(a, b, out=b)
    subtract(p, b, size)


def check_one(lr: Any) -> None:
    if isinstance(lr, TensorBase) and lr.array.size != 1:
        raise ValueError("Tensor lr must be 1-element")


def check_lr(lr: Any) -> None:
    check_one(lr)
    if not 0.0 <= lr:
        raise ValueError(f"Invalid learning rate: {lr}")


def check_not_negative(**options: Any) -> None:
    """ValueError for a negative option; the keyword is its name in the message, with _ for blanks."""
    for name, x in options.items():
        if not 0.0 <= x:
            raise ValueError(f"Invalid {name} value: {x}")


def check_range(name: str, sign: str, limit: float, x: Any) -> None:
    """ValueError for an option that is not `sign` (">=" or "<=") than limit, in the words of the newer optimizers."""
    if not (float(limit) <= x if sign == ">=" else float(limit) >= x):
        raise ValueError(f"{name} should be {sign} {limit} but is: {x}")


def check_betas(betas: Any) -> None:
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


def check_first_fused(optimizer: Any, params: list[Any]) -> None:
    """PyTorch's SGD and Adagrad check the first parameter of their first step alone; their kernels refuse others."""
    if getattr(optimizer, "_need_device_dtype_check_for_fused", True):
        _device_dtype_check_for_fused(params[0])
        optimizer._need_device_dtype_check_for_fused = False


def check_modes(differentiable: bool = False, fused: Any = None, foreach: Any = None) -> None:
    """What the options without effect may not be."""
    if fused:
        if differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
