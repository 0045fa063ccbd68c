"""What PyTorch has no hook for, and its function mode does not hear: functions that stand for its own while a recording goes on.

Each tells the tap that has the seat (record/swaps.py), and is what it stands for when nobody has.
"""
from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

ENTRY = "_call_impl"                            # replacing __call__ would update a slot of every subclass


def replacements(torch: Any, seat: Any) -> Iterator[tuple[Any, str, Any]]:
    """(owner, name, what stands there in a recording)"""
    # A handle is made for every hook, and removes it: nothing else tells of either.
    Handle = torch.utils.hooks.RemovableHandle
    yield Handle, "__init__", making(seat, Handle.__init__)
    yield Handle, "remove", removing(seat, Handle.remove)
    Module = torch.nn.Module
    for cls in (torch.optim.Optimizer, Module):
        # The mode hears that gradients are dropped, not by whom, and nothing where ops are not recorded.
        yield cls, "zero_grad", zeroing(seat, cls.zero_grad)
        # Hooks of state dicts exist for single objects only.  What was registered a line before must be known when it fires.
        yield cls, "state_dict", saving(seat, cls.state_dict)
        yield cls, "load_state_dict", loading(seat, cls.load_state_dict)
    # A scaler multiplies by its scale like anybody else.
    for name, what in (("scale", "scaled"), ("unscale_", "unscaled")):
        yield torch.amp.GradScaler, name, scaling(seat, getattr(torch.amp.GradScaler, name), what)
    # Global hooks of modules run when a call has taken its other hooks out of their tables.
    yield Module, ENTRY, calling(seat, getattr(Module, ENTRY))
    # The mode hears neither of passes on other threads, nor of a pass that its arguments forbid.
    Variable = torch.autograd.Variable
    yield Variable, "_execution_engine", Running(seat, Variable._execution_engine)
    for name in ("backward", "grad"):
        yield torch.autograd, name, asking(seat, getattr(torch.autograd, name))


def replacements_for_ops(torch: Any, seat: Any) -> Iterator[tuple[Any, str, Any]]:
    """... in a recording of ops.  A class that is changed costs all below it their caches of attributes."""
    # Copies of modules are registered nowhere.
    yield torch.nn.Module, "__setstate__", restoring(seat, torch.nn.Module.__setstate__)
    # A parameter made of a result has no history; the function that makes it one is C's.
    yield torch.nn.Parameter, "__new__", staticmethod(parting(seat, torch.nn.Parameter.__new__))
    # The mode does not hear of custom Functions.
    Function = torch.autograd.Function
    yield Function, "apply", applying(seat, Function.apply.__func__)


def calling(seat: Any, original: Any) -> Any:
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        now = seat.current
        if now is None or not now.recorder.on:
            return original(self, *args, **kwargs)
        return now.call(original, self, args, kwargs)

    return __call__


def parting(seat: Any, original: Any) -> Any:
    def __new__(cls: Any, data: Any = None, *args: Any, **kwargs: Any) -> Any:
        out = original(cls, data, *args, **kwargs)
        now = seat.current
        if now is not None and now.recorder.on and data is not None and data.requires_grad:
            now.parts("Parameter", data, out, sys._getframe(1))
        return out

    return __new__


class Running:
    """In place of PyTorch's engine."""

    def __init__(self, seat: Any, original: Any) -> None:
        self.seat, self.original = seat, original

    def run_backward(self, outputs: Any, *args: Any, **kwargs: Any) -> Any:
        now = self.seat.current
        if now is None or not now.recorder.on:
            return self.original.run_backward(outputs, *args, **kwargs)
        return now.backward(self.original.run_backward, outputs, args, kwargs, sys._getframe(1))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)


def applying(seat: Any, original: Any) -> Any:
    """original: the function of a classmethod"""
    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        now = seat.current
        if now is None or not now.recorder.on or not now.recorder.ops or cls.__module__.startswith("torch.nn"):
            return original(cls, *args, **kwargs)
        return now.witness.run(f"{cls.__name__}.apply", partial(original, cls), args, kwargs)

    return classmethod(apply)


def making(seat: Any, original: Any) -> Any:
    def __init__(self: Any, hooks_dict: Any, *args: Any, **kwargs: Any) -> None:
        original(self, hooks_dict, *args, **kwargs)
        now = seat.current
        if now is not None and not now.mine and now.recorder.on:
            frame = sys._getframe(1)
            if id(frame.f_code) not in now.own:         # the engine's
                now.has_handle(self, hooks_dict, frame)

    return __init__


def removing(seat: Any, original: Any) -> Any:
    def remove(self: Any) -> None:
        if seat.current is not None:
            seat.current.removed(self)
        original(self)

    return remove


def restoring(seat: Any, original: Any) -> Any:
    """A module is copied, or unpickled."""
    @functools.wraps(original)
    def __setstate__(self: Any, state: Any) -> None:
        original(self, state)
        if seat.current is not None:
            seat.current.restored(self)

    return __setstate__


def zeroing(seat: Any, original: Any) -> Any:
    def zero_grad(self: Any, set_to_none: bool = True) -> Any:
        now = seat.current
        if now is None:
            return original(self, set_to_none)
        now.zeroes(self, set_to_none)
        if not set_to_none:
            return original(self, set_to_none)
        with now.quiet():
            return original(self, set_to_none)

    return zero_grad


def scaling(seat: Any, original: Any, what: str) -> Any:
    """scale() and unscale_() of a GradScaler."""
    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if seat.current is not None and self.is_enabled():
            seat.current.scales(self, what)
        return original(self, *args, **kwargs)

    return method


def saving(seat: Any, original: Any) -> Any:
    """state_dict(): hooks registered since the last event are to be seen by then."""
    @functools.wraps(original)
    def state_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
        if seat.current is not None:
            seat.current.saves(self)
        return original(self, *args, **kwargs)

    return state_dict


def loading(seat: Any, original: Any) -> Any:
    @functools.wraps(original)
    def load_state_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
        now = seat.current
        if now is None:
            return original(self, *args, **kwargs)
        before = now.loads(self, kwargs.get("assign") or len(args) > 2 and args[2])
        out = original(self, *args, **kwargs)
        now.loaded(self, before)
        return out

    return load_state_dict


def asking(seat: Any, original: Any) -> Any:
    """backward() and grad() may refuse before the engine runs, or after: passes, too."""
    @functools.wraps(original)
    def ask(*args: Any, **kwargs: Any) -> Any:
        now = seat.current
        if now is None or not now.recorder.on:
            return original(*args, **kwargs)
        recorder = now.recorder
        before = recorder.pass_count
        try:
            out = original(*args, **kwargs)
            if type(out) is tuple and recorder.pass_count > before:
                with now.quiet():
                    now.returned(out)
            return out
        except BaseException as error:
            try:
                given = inspect.signature(original).bind(*args, **kwargs).arguments
            except TypeError:                           # it was not even called rightly
                raise error from None
            thread = recorder.thread()
            if recorder.on and thread.refused != id(error):     # a function mode calls us twice
                thread.refused = id(error)
                now.refused(original.__name__, given.get("tensors", given.get("outputs")), given.get("inputs"),
                            given.get("retain_graph"), given.get("create_graph"), recorder.pass_count > before, error)
            raise

    return ask
