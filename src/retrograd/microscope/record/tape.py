"""What record(replay=True) keeps so that a step can be run again: the outermost calls of modules and functions, in order.

It hears what the witness hears (microscope/listen).  A call is on the tape if gradients may flow through it, or if it takes what
such a call gave; everything else is a constant, and copied.  What a module does inside its call is not on the tape: replayed, the
module is called again.
"""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..listen.engine import GETTER
from ..training.randomness import state_of

SHOWS = {"__repr__", "__format__", "__str__", "__hash__", "__dir__", "__deepcopy__", "__reduce_ex__", "retain_grad", "grad"}
TABLES = ("_parameters", "_buffers", "_modules", "training")


class Call:
    """A call on the tape: of `module`, or of the function `func`."""

    def __init__(self, name: str, func: Any, module: Any, args: Any, kwargs: Any, at: int) -> None:
        self.name, self.func, self.module, self.args, self.kwargs = name, func, module, args, kwargs
        self.at = at                            # the event it begins with
        self.end = -1                           # the event after its last
        self.out: Any = None
        self.made: list[Any] = []               # tensors in what it gave
        self.given: list[tuple[Any, Any]] = []  # (tensor, copy) of those that no call on the tape gave
        self.weights: list[tuple[Any, Any]] = []        # (parameter or buffer, copy) of a module
        self.modes: list[tuple[Any, bool]] = []         # (module, training)
        self.attributes: list[tuple[Any, dict[str, Any]]] = []
        self.random: Any = None
        self.autocast: Any = None
        self.grad = True


class Tape:
    """The ear of one engine in a recording with replay=True: the witness's, and a record of the outermost calls."""

    def __init__(self, tap: Any) -> None:
        self.tap = tap
        self.recorder = tap.recorder
        self.engine = tap.engine
        self.torch = tap.space
        self.calls: list[Call] = []
        self.passes: dict[int, tuple[list[Any], list[Any]]] = {}        # number -> roots, seeds
        self.made: dict[int, Any] = {}          # id -> tensor, of what calls on the tape gave
        self.copies: dict[tuple[int, int], tuple[Any, Any]] = {}
        self.inside = False

    def call(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        """As an ear (microscope/listen) is called."""
        recorder, witness = self.recorder, self.tap.witness
        thread = recorder.thread()
        if self.inside or thread.busy or thread.passes or thread.stepping or thread.modules or not recorder.on \
                or func in self.engine.passes:
            return witness.call(func, impl, args, kwargs)
        call = Call(self.engine.plain_name(func), func, None, args, kwargs or {}, len(recorder.rows))
        if call.name in SHOWS or type(func) is GETTER and func.__name__ == "__get__" and not self.engine.says(func):
            return witness.call(func, impl, args, kwargs)
        with aside(self.tap, thread):
            begun = self.begin(call)
        call.out = witness.call(func, impl, args, kwargs)
        with aside(self.tap, thread):
            if begun or any(t.requires_grad for t in self.tensors((call.out, args, kwargs))):
                self.put(call)
        return call.out

    def module(self, original: Any, module: Any, args: Any, kwargs: Any) -> Any:
        """An outermost call of a module: original(module, *args, **kwargs)."""
        recorder = self.recorder
        thread = recorder.thread()
        if self.inside or thread.passes or thread.stepping or thread.busy:
            return original(module, *args, **kwargs)
        call = Call("", None, module, args, kwargs, len(recorder.rows) - 1)
        with aside(self.tap, thread):
            self.begin(call)
            for m in module.modules():
                call.weights += [(t, self.copy(t)) for t in (*m._parameters.values(), *m._buffers.values()) if t is not None]
                call.modes.append((m, m.training))
                call.attributes.append((m, attributes(m)))
        self.inside = True
        try:
            call.out = original(module, *args, **kwargs)
        finally:
            self.inside = False
        with aside(self.tap, thread):
            self.put(call)
        return call.out

    def begin(self, call: Call) -> bool:
        """Keep what the call depends on; -> do gradients flow into it?"""
        torch = self.torch
        flows = False
        for t in self.tensors((call.args, call.kwargs)):
            known = id(t) in self.made
            flows |= known or t.requires_grad
            if not known:
                call.given.append((t, self.copy(t)))
        call.random, call.grad = state_of(torch), self.tap.grad_enabled()
        kind = next((t.device.type for t, _ in call.given), "cpu")
        call.autocast = kind, torch.get_autocast_dtype(kind), torch.is_autocast_enabled(kind)
        return flows

    def put(self, call: Call) -> None:
        call.end = len(self.recorder.rows)
        call.made = list(self.tensors(call.out))
        if call.out is None and call.name == "__setitem__":
            call.made = [call.args[0]]
        self.made.update((id(t), t) for t in call.made if not (t.is_leaf and t.requires_grad))
        self.calls.append(call)

    def copy(self, t: Any) -> Any:
        """t's numbers as they are."""
        key = id(t), edition(t)
        found = self.copies.get(key)
        if found is None:
            found = self.copies[key] = t, t if type(t) in self.tap.shapeless else t.detach().clone()
        return found[1]

    def tensors(self, x: Any) -> Iterator[Any]:
        return tensors_of(x, self.tap.Tensor)

    def begins(self, number: int, roots: Any, seeds: Any) -> None:
        """A backward pass begins."""
        self.passes[number] = [t for t in roots if isinstance(t, self.tap.Tensor)], list(seeds or ())


class Patch:
    """A forward hook of a replay, which replaces an output."""

    def __init__(self, call: int | None, path: str, new: Any) -> None:
        self.call, self.path, self.new, self.count = call, path, new, 0

    def __call__(self, module: Any, args: Any, out: Any) -> Any:
        self.count += 1
        if self.call is not None and self.call != self.count:
            return None
        if callable(self.new) and not hasattr(self.new, "shape"):
            return self.new(out)
        if not hasattr(out, "shape"):
            raise ValueError(f"replay: {self.path} gives a {type(out).__name__}, not a tensor; give a function that takes it and "
                             "returns its replacement")
        if np.shape(self.new) != tuple(out.shape):
            raise ValueError(f"replay: the output of {self.path} has shape {tuple(out.shape)}, its replacement "
                             f"{np.shape(self.new)}")
        return self.new.to(out.dtype) if hasattr(self.new, "to") else out.new_tensor(self.new)


@contextmanager
def aside(tap: Any, thread: Any) -> Iterator[None]:
    """What is done here is the microscope's, and no event."""
    thread.busy += 1
    try:
        with tap.quiet():
            yield
    finally:
        thread.busy -= 1


def edition(t: Any) -> int:
    try:
        return int(t._version)
    except RuntimeError:                        # inference tensors have none
        return -1


def attributes(module: Any) -> dict[str, Any]:
    """What a module's own code may have put into it."""
    return {k: v for k, v in vars(module).items() if k not in TABLES and not k.endswith(("_hooks", "_kwargs", "_called"))}


def tensors_of(x: Any, kind: Any) -> Iterator[Any]:
    """The tensors in an argument or a result, in order; also in objects that hold some."""
    if isinstance(x, kind):
        yield x
    elif isinstance(x, dict):
        for y in x.values():
            yield from tensors_of(y, kind)
    elif isinstance(x, (tuple, list)):
        for y in x:
            yield from tensors_of(y, kind)
    elif hasattr(x, "__dict__") and not callable(x):
        for y in vars(x).values():
            if isinstance(y, kind):
                yield y
