"""torch.autograd.forward_ad: dual tensors, which carry a tangent.  https://pytorch.org/docs/stable/autograd.html#forward-mode-ad

NOTE [Dual tensors]
A dual tensor is an intermediate result of the graph, over a leaf that nobody knows, and unpack_dual differentiates what was
computed since, as torch.func.jvp does.  So views, in-place edits and derivatives of tangents need nothing of their own.  What a
program could see of that graph (requires_grad, grad_fn) is hidden from it by a function mode, as long as the level lasts; at its
end the graph goes.
"""
from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from .._engine.dispatch import clear_way
from .._engine.modes import grad_on, state
from .._engine.tensor import TensorBase, wants_grad
from .._functions.function_modes import TorchFunctionMode, _pop_mode, _push_mode
from .._tensor import Tensor
from ..func._batching.level import aside, lowered, raised
from ..func._derivatives import _free, _Level, _Pushed, _Recording, forked
from ..utils._pytree import tree_leaves, tree_map
from . import backward as _backward
from . import grad as _grad
from .function import FORWARD, tangent
from .grad_mode import _Mode

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

NESTED = "Nested forward mode AD is not supported at the moment"
_current_level = -1


class UnpackedDualTensor(NamedTuple):
    """What unpack_dual gives: primal, the values, and the tangent or None."""

    primal: Any
    tangent: Any


def enter_dual_level() -> int:
    """Begin a level, in which tensors can be dual -> its number, 0.  RuntimeError inside another one."""
    global _current_level
    if FORWARD:
        raise RuntimeError(NESTED)
    clear_way(state())
    level = _Dual()
    FORWARD.append(level)
    state().tangent = tangent
    _push_mode(level)
    _current_level += 1
    return _current_level


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level: its tensors lose their tangents."""
    global _current_level
    if level is not None and level != _current_level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    if _current_level < 0:
        raise RuntimeError("Dual level must be a positive number.")
    _current_level -= 1
    ended = FORWARD.pop()
    state().tangent = None
    _pop_mode()
    ended.end()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """An alias of tensor that carries the tangent, in a level."""
    if (_current_level if level is None else level) < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    for what, t in (("primal", tensor), ("tangent", tangent)):
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {t.dtype}")
    return _level(level, "_make_dual").dual(tensor, tangent)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The values and the tangent of a tensor; None for one that depends on no dual tensor, and outside levels.

    level: 0, the only one; None: the current one.
    """
    if (_current_level if level is None else level) < 0:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type(tensor).__name__}")
    return UnpackedDualTensor(*_level(level, "_fw_primal").unpack(tensor))


def _level(number: int | None, name: str) -> Any:
    if number not in (None, _current_level):
        raise RuntimeError(f"Invalid level given to {name}")
    return FORWARD[-1]


class dual_level(_Mode):
    """A context, or decorator, that is a level."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *error: object) -> None:
        exit_dual_level()


_enabled = True


def _is_fwd_grad_enabled() -> bool:
    """Do tangents go on?"""
    return _enabled


class _set_fwd_grad_enabled(_Mode):
    """From here on, or within `with`, tangents go on, or not."""

    def __init__(self, mode: bool) -> None:
        global _enabled
        self.mode, self.prev, _enabled = mode, _enabled, mode

    def clone(self) -> Any:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        global _enabled
        _enabled = self.prev


class _Dual(TorchFunctionMode, _Level):
    """A level: see NOTE [Dual tensors]."""

    hidden = True                                       # no part of the stack of modes that programs see

    def __init__(self) -> None:
        with _Recording():
            _Level.__init__(self)
        self.outputs: list[Any] = []                    # weak references to what may depend on a dual tensor
        self.inputs: list[Any] = []
        self.tangents: list[Any] = []
        self.duals: list[Any] = []                      # (weak reference to a dual tensor, its first node)

    def dual(self, x: Any, tangent: Any) -> Any:
        if self.has(x):
            raise RuntimeError("Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 "
                               "is not supported.")
        if self.has(tangent):
            raise RuntimeError("Setting a forward grad that itself has a forward gradient at the same level0 is not supported.")
        if x.shape != tangent.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
                f"supported. Tensor is of size {list(x.shape)} while the given forward gradient is of size "
                f"{list(tangent.shape)}.")
        with _Recording(), aside():
            alias = self.alias(x)
            out = self.noted(_free(alias))
        self.inputs.append(alias)
        self.tangents.append(lowered(tangent, self.levels))
        self.start(alias)
        self.duals.append((weakref.ref(out), out.fn))
        return raised(out, self.levels)

    def unpack(self, y: Any) -> tuple[Any, Any]:
        if not self.has(y):
            return y, None
        with aside():
            y = lowered(y, self.levels)
            primal = self.cut(y)
            for (made, node), tangent in zip(self.duals, self.tangents):
                if made() is y and node is y.fn:
                    return primal, raised(tangent, self.levels)
            call: Any = _Outputs(self, [y], self.outside(y))
            return primal, self.cut(_Pushed(call)(self.tangents, True)[0])

    def cut(self, y: Any) -> Any:
        """y without a tangent."""
        return raised(forked(y, False) if grad_on() and self.outside(y) else y.detach(), self.levels)

    def has(self, y: Any) -> bool:
        """Has y a tangent?"""
        return isinstance(y, TensorBase) and super().has(lowered(y, self.levels))

    def noted(self, y: Any) -> Any:
        self.outputs.append(weakref.ref(y))
        return y

    def end(self) -> None:
        """No tensor of this level has a graph of it any more."""
        for reference in self.outputs:
            y = reference()
            if y is not None and wants_grad(y) and not self.outside(y):
                y.fn, y.rg, y.origin = None, False, None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, TensorBase) and wants_grad(x)]
        if not given:
            return func(*args, **kwargs)
        if func in SHOWING or not _enabled:
            args, kwargs = tree_map(self.shown if _enabled else self.still, (args, kwargs))
            return func(*args, **kwargs)
        if func == REPR:
            return self.text(*args, **kwargs)
        if func is _grad and any(self.has(x) for x in given):
            kwargs["create_graph"] = True                       # tangents of gradients
        out = func(*args, **kwargs)
        for y in tree_leaves(out):
            if isinstance(y, TensorBase) and wants_grad(y):
                self.noted(y)
        return out

    def shown(self, x: Any) -> Any:
        """x as a program sees it that knows of no tangents."""
        return x.detach() if self.has(x) and not self.outside(lowered(x, self.levels)) else x

    def still(self, x: Any) -> Any:
        return self.cut(lowered(x, self.levels)) if self.has(x) else x

    def text(self, y: Any, **how: Any) -> str:
        primal, tangent = self.unpack(y)
        if tangent is None:
            return repr(y)
        from .._tensor.printing import _str

        outside = self.outside(y)
        return _str(y if outside else primal, extra=f"tangent={tangent!r}", **how)


class _Outputs:
    """What _Pushed needs to know of a call."""

    def __init__(self, level: _Dual, outputs: list[Any], tracked: bool) -> None:
        self.level, self.outputs, self.inputs, self.tracked = level, outputs, level.inputs, tracked


REPR: Any = Tensor.__repr__
# What tells of the graph, or refuses tensors that have one.
SHOWING: set[Any] = {_backward, Tensor.backward, Tensor.numpy, Tensor.__array__, Tensor.__deepcopy__} | {
    vars(Tensor)[name].__get__ for name in ("requires_grad", "is_leaf", "grad_fn")}
