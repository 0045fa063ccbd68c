"""Identity nodes around a module that has full backward hooks: they tell the hooks what flows out and in.

    x -> [node: grad_input hooks] -> forward -> [node: grad_output hooks] -> y
"""
from __future__ import annotations

from typing import Any, Final, Optional, final

import numpy

from .._engine.hooks import check_result, lift
from .._engine.modes import grad_on, modes
from .._engine.node import Node, Task, Value
from .._engine.op import alias, edge, number
from .._engine.tensor import CUSTOM, MULTI, TensorBase, public, wants_grad, wrap
from .._engine.warn import warn

np: Final[Any] = numpy

NO_INPUT: Final = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


FIRST: Final[list[int]] = [0]           # the place of a tensor that comes alone; nobody writes into it


@final
class BackwardHookFunctionBackward(Node):
    """Passes gradients on as they are (to the inputs zeros where none came), and lets a module's hooks see them.

    The module's hooks are part of what the node does: hooks of the node itself run before and after.
    """

    def __init__(self, call: Boundary, enters: bool, tensors: list[TensorBase]) -> None:
        self.call: Boundary = call
        self.enters: bool = enters              # around the inputs; else around the outputs
        self.nexts: list[Optional[Node]] = []
        self.nrs: list[int] = []
        self.likes: list[Any] = []              # (shape, dtype) per tensor
        for t in tensors:
            self.nexts.append(edge(t))
            self.nrs.append(t.nr)
            if enters:
                self.likes.append((t.array.shape, t.array.dtype))
        self._outputs = len(tensors)
        number(self)

    def outputs(self, tensors: list[TensorBase]) -> list[TensorBase]:
        """The tensors behind this node: views that may not be edited in place."""
        why = CUSTOM if self._outputs == 1 else MULTI
        found: list[TensorBase] = []
        for i in range(self._outputs):
            t = tensors[i]
            out: TensorBase = public.new(public.tensor)
            out.array = t.array
            alias(out, t, why)
            if self.nexts[i] is not None:
                out.rg = True
                out.fn = self
                out.nr = i
            found.append(out)
        if modes.observer is not None:
            modes.observer.op(self, tensors, found)
        return found

    def backward(self, gs: list[Value], graph: bool) -> list[Value]:
        if not self.enters:
            return fired(self.call, False, gs, graph)
        whole: list[Value] = []
        for i in range(self._outputs):
            g = gs[i]
            if g is None:
                g = np.zeros(self.likes[i][0], self.likes[i][1])
                if graph:
                    g = wrap(g)
            whole.append(g)
        return fired(self.call, True, whole, graph)

    def push(self, task: Task, g: Value, more: Optional[list[Value]], shared: bool) -> None:
        if self._outputs == 1 and not task.graph:
            if g is None and self.enters:
                g = np.zeros(self.likes[0][0], self.likes[0][1])
            g = fired_one(self.call, self.enters, g)
            next = self.nexts[0]
            if next is not None:
                task.deliver(next, self.nrs[0], g, True)
            return
        gs: list[Value] = [g]
        if more is not None:
            gs.extend(more)
        while len(gs) < self._outputs:
            gs.append(None)
        outs = self.backward(gs, task.graph)
        for i in range(self._outputs):
            to = self.nexts[i]
            if to is not None:
                task.deliver(to, self.nrs[i], outs[i], True)

    def edge_count(self) -> int:
        return self._outputs

    def edge_node(self, i: int) -> Optional[Node]:
        return self.nexts[i]

    def edge_nr(self, i: int) -> int:
        return self.nrs[i]


def fired_one(call: Boundary, enters: bool, g: Value) -> Value:
    """fired() for one gradient outside create_graph."""
    shown: Any = lift(g)
    got: Any = call.after((shown,)) if enters else call.before((shown,))
    if got is None:
        return g
    new: Any = got[0]
    if new is shown:
        return g
    if new is None:
        return None
    check_result(call.hook, shown, new)
    return new.array


def fired(call: Boundary, enters: bool, gs: list[Value], graph: bool) -> list[Value]:
    """The gradients as the module's hooks leave them."""
    now: list[Any] = [lift(g) for g in gs]
    got: Any = call.after(tuple(now)) if enters else call.before(tuple(now))
    outs: list[Value] = []
    for i in range(len(now)):
        g = gs[i]
        new: Any = now[i] if got is None else got[i]
        if new is not now[i]:
            if new is not None:
                check_result(call.hook, now[i], new)
            g = new if new is None or graph else new.array
        outs.append(g)
    return outs


class Boundary:
    """One call of a module with full backward hooks.

    full (module, grad_input, grad_output) and pre (module, grad_output) are the hooks registered when it was called.
    """

    def __init__(self, module: Any, full: list[Any], pre: list[Any]) -> None:
        modes.light = False                     # NOTE [Nodes and the cyclic garbage collector] in _engine/op.py
        self.module: Any = module
        self.full: list[Any] = full
        self.pre: list[Any] = pre
        self.inputs: list[int] = []             # which arguments are tensors
        self.outputs: list[int] = []
        self.n_inputs: int = 0
        self.n_outputs: int = 0
        self.entered: bool = False              # some input requires grad
        self.seen: Any = None                   # grad_output, on its way between the two nodes

    def enter(self, args: Any) -> Any:
        """The arguments as forward gets them."""
        self.n_inputs = len(args)
        if self.n_inputs == 1 and isinstance(args[0], TensorBase):
            only: TensorBase = args[0]
            if not wants_grad(only) or not grad_on():
                return args
            self.entered = True
            self.inputs = FIRST
            return (BackwardHookFunctionBackward(self, True, [only]).outputs([only])[0],)
        tensors, places = tensors_of(args)
        if not tensors or not grad_on():
            return args
        self.entered = True
        self.inputs = places
        outs = BackwardHookFunctionBackward(self, True, tensors).outputs(tensors)
        if len(outs) == self.n_inputs:
            return tuple(outs)
        return replaced(args, outs, places)

    def leave(self, out: Any) -> Any:
        """The module's result as its caller gets it."""
        if isinstance(out, TensorBase):
            self.n_outputs = 1
            if not wants_grad(out) or not grad_on():
                return out
            self.outputs = FIRST
            return BackwardHookFunctionBackward(self, False, [out]).outputs([out])[0]
        single = not isinstance(out, tuple)
        results: Any = (out,) if single else out
        self.n_outputs = len(results)
        tensors, places = tensors_of(results)
        if not tensors or not grad_on():
            return out
        self.outputs = places
        outs = BackwardHookFunctionBackward(self, False, tensors).outputs(tensors)
        if single:
            return outs[0]
        return replaced(results, outs, places)

    def after(self, gi: Any) -> Any:
        """The gradients of the inputs are complete."""
        if modes.outs is not None and modes.outs.mine():
            return modes.outs.boundary(self, True, gi)
        seen: Any = self.seen
        if seen is None:                        # a gradient that did not come through the module's output
            return None
        now: Any = spread(gi, self.inputs, self.n_inputs)
        for hook in self.full:
            got: Any = hook(self.module, now, seen)
            if got is None:
                continue
            if len(got) != len(now):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(got)}, but expected {len(now)}")
            now = got
        self.seen = None
        return None if now is gi else tuple([now[i] for i in self.inputs])

    def before(self, go: Any) -> Any:
        """The gradients of the outputs are there."""
        if modes.outs is not None and modes.outs.mine():
            return modes.outs.boundary(self, False, go)
        seen: Any = spread(go, self.outputs, self.n_outputs)
        for hook in self.pre:
            got: Any = hook(self.module, seen)
            if got is None:
                continue
            if len(got) != len(seen):
                raise RuntimeError(
                    f"Backward pre hook returned an invalid number of grad_output, got {len(got)}, but expected "
                    f"{len(seen)}")
            seen = got
        if self.entered:
            self.seen = seen
        else:
            self.without_inputs(seen)
        return None if seen is go else tuple([seen[i] for i in self.outputs])

    def hook(self) -> None:
        """What error texts name: a module's hooks are `hook` to them."""

    def without_inputs(self, seen: Any) -> None:
        """No input requires grad: the hooks fire now, and can change nothing."""
        warn(NO_INPUT)
        nothing: Any = tuple([None for _ in range(self.n_inputs)])
        for hook in self.full:
            got: Any = hook(self.module, nothing, seen)
            if got is None:
                continue
            fine = isinstance(got, tuple)
            if fine:
                for g in got:
                    fine = fine and g is None
            if not fine:
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients.")


def tensors_of(values: Any) -> tuple[list[TensorBase], list[int]]:
    """The tensors among values and their places; none when no gradient reaches any."""
    tensors: list[TensorBase] = []
    places: list[int] = []
    some = False
    for i in range(len(values)):
        value: Any = values[i]
        if isinstance(value, TensorBase):
            tensors.append(value)
            places.append(i)
            some = some or wants_grad(value)
    return (tensors, places) if some else ([], [])


def replaced(values: Any, outs: list[TensorBase], places: list[int]) -> Any:
    """A tuple (or named tuple) like values with the tensors at `places` replaced."""
    found: list[Any] = list(values)
    for i in range(len(places)):
        found[places[i]] = outs[i]
    cls: Any = type(values)
    return tuple(found) if cls is tuple else cls(*found)


def spread(gs: Any, places: list[int], n: int) -> Any:
    """One gradient per argument: None for those that are no tensors."""
    if len(places) == n:
        return gs
    found: list[Any] = [None for _ in range(n)]
    for i in range(len(places)):
        found[places[i]] = gs[i]
    return tuple(found)
