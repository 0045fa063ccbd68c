"""What a `with` changes for the running thread.

Compiled, entering and leaving are one step each: between the end of a block and the mode as it was before there is no moment
at which Ctrl-C could arrive.  The public contexts inherit from these.
"""
from __future__ import annotations

from typing import Any, Optional

from mypy_extensions import i64, mypyc_attr

from .dispatch import FACTORY, ask, clear_way, parts
from .modes import grad_on, modes, set_anomaly, set_grad, settle, state


def switch(on: bool) -> None:
    """set_grad, which function modes see as torch._C._set_grad_enabled."""
    if modes.dispatching:
        ask(parts.set_grad, set_grad, FACTORY, (on,), None)
    else:
        set_grad(on)


@mypyc_attr(allow_interpreted_subclasses=True)
class Grad:
    """Grad mode is `mode`."""

    mode: bool = False
    prev: bool = True

    def __enter__(self) -> Any:
        self.prev = grad_on()
        switch(self.mode)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> Any:
        switch(self.prev)


@mypyc_attr(allow_interpreted_subclasses=True)
class GradFrom(Grad):
    """The same where the mode was set before the block began."""

    def __enter__(self) -> Any:
        switch(self.mode)


@mypyc_attr(allow_interpreted_subclasses=True)
class Inference:
    """Inference mode is `mode`, and grad mode is not."""

    mode: bool = True
    grad: bool = True
    inference: bool = False

    def __enter__(self) -> Any:
        it = state()
        self.grad = it.grad
        self.inference = it.inference
        it.grad = not self.mode
        it.inference = self.mode
        if self.mode and it.tangent is None:
            it.lenient = False                  # what is made from here on may not be kept: it has no derivative
        settle(it)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> Any:
        it = state()
        it.grad = self.grad
        it.inference = self.inference
        settle(it)


@mypyc_attr(allow_interpreted_subclasses=True)
class Recording:
    """Operations are recorded, in inference mode too; nodes may keep tensors that were made in it."""

    prev: Any = None

    def __enter__(self) -> Any:
        it = state()
        self.prev = it.grad, it.inference, it.lenient
        it.grad = True
        it.inference = False
        it.lenient = True
        settle(it)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> Any:
        it = state()
        it.grad, it.inference, it.lenient = self.prev
        settle(it)


@mypyc_attr(allow_interpreted_subclasses=True)
class Transformed:
    """A function runs that torch.func transforms: use `number` of a transform.  What it makes is marked; the rest is captured."""

    number: i64 = 0
    prev: i64 = 0

    def __enter__(self) -> Any:
        it = state()
        self.prev = it.transform
        it.transform = self.number
        settle(it)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> Any:
        it = state()
        it.transform = self.prev
        settle(it)


@mypyc_attr(allow_interpreted_subclasses=True)
class SavedHooks:
    """What nodes save passes through pack_hook and unpack_hook."""

    pack_hook: Any = None
    unpack_hook: Any = None

    def __enter__(self) -> Any:
        push_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, kind: Any = None, value: Any = None, trace: Any = None) -> Any:
        pop_hooks()


def push_hooks(pack_hook: Any, unpack_hook: Any) -> None:
    it = state()
    if it.pack_disabled is not None:
        raise RuntimeError(it.pack_disabled)
    clear_way(it)
    it.pack_hooks.append((pack_hook, unpack_hook))
    settle(it)


def pop_hooks() -> None:
    it = state()
    if not it.pack_hooks:
        raise RuntimeError("no saved_tensors_hooks are in force here: it was left more often than entered")
    it.pack_hooks.pop()
    settle(it)


@mypyc_attr(allow_interpreted_subclasses=True)
class NoSavedHooks:
    """Putting hooks on what nodes save raises RuntimeError(message)."""

    message: Optional[str] = None
    before: Optional[str] = None

    def __enter__(self) -> Any:
        it = state()
        if it.pack_hooks:
            raise RuntimeError(self.message)
        self.before = it.pack_disabled
        it.pack_disabled = self.message
        settle(it)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> Any:
        it = state()
        it.pack_disabled = self.before
        settle(it)


@mypyc_attr(allow_interpreted_subclasses=True)
class AnomalyFrom:
    """Anomaly mode until the end, whatever set it before."""

    anomaly: bool = False
    nan: bool = True

    def note(self) -> None:
        """Remember how it was."""
        self.anomaly = modes.anomaly
        self.nan = modes.check_nan

    def __enter__(self) -> Any:
        pass

    def __exit__(self, kind: Any, value: Any, trace: Any) -> Any:
        set_anomaly(self.anomaly, self.nan)


@mypyc_attr(allow_interpreted_subclasses=True)
class Anomaly(AnomalyFrom):
    """Anomaly mode."""

    check_nan: bool = True

    def __enter__(self) -> Any:
        self.note()
        set_anomaly(True, self.check_nan)


@mypyc_attr(allow_interpreted_subclasses=True)
class Top:
    """`value` is the last element of `stack`."""

    stack: Any = None
    value: Any = None

    def __enter__(self) -> Any:
        self.stack.append(self.value)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> Any:
        self.stack.pop()
