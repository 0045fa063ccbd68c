"""Hooks as entries: each replay calls them at their points, with real tensors.

Recording is put aside while a hook runs.  Its entry takes the arrays that it was shown and gives those that it left; it stays in
its place, and all that was written before it has been written.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.hooks import fire_node_hooks, fire_single, fire_tensor_hooks
from .._engine.modes import loud, modes, outside, quiet, settle, state
from .._engine.node import Task
from .._engine.tensor import AccumulateGrad, fire_after
from .._rules.identity import fired
from .effects import grad_of, set_grad, store_grad
from .values import Entry, Value


class Left(Exception):
    """A hook did what the plan cannot follow."""

    def __init__(self, what: str, out: CallOut) -> None:
        super().__init__(what)
        self.what, self.out = what, out


class Answer:
    """What the hooks of one call-out did: arrays that they left, None for those that they left as they were; what they edited."""

    def __init__(self, arrays: list[Any], shown: list[Any], edits: list[tuple[Any, int]], grads: list[tuple[Any, Any]]) -> None:
        self.arrays = [None if x is None else x.copy("K") for x in arrays]
        self.same = [x is y for x, y in zip(arrays, shown)]
        self.edits = [(t, t.array.copy("K"), count) for t, count in edits]
        self.grads = [(t, None if g is None else g.array.copy("K")) for t, g in grads]


class Turn:
    """One run of a plan, as its call-outs see it."""

    def __init__(self) -> None:
        self.errors: Any = None                 # what floating-point errors do outside
        self.task = Task(False, False)          # the pass that hooks are told of
        self.answers: list[Answer] | None = None        # in place of calling hooks
        self.at = 0

    def begin(self) -> None:
        self.errors = outside()
        self.at = 0

    def answer(self) -> Answer:
        assert self.answers is not None
        self.at += 1
        return self.answers[self.at - 1]


class CallOut:
    """Calls hooks: (whom they are of, arrays that they are shown, tensors whose .grad they change) -> arrays."""

    what = "a hook"

    def __init__(self, table: Any, count: int) -> None:
        """count: of the arrays shown that hooks may replace"""
        self.turn: Turn | None = None
        self.hooks = list(table.values())
        self.count = count
        self.whole: list[bool] = []             # which of the arrays left are there, and whether they lie in C order
        self.straight: list[bool] = []
        self.grads = 0                          # of so many tensors .grad is another one after it,
        self.shown = count                      # which come behind so many arrays; of those behind them it is None
        self.later: set[int] = set()            # nodes of leaves whose .grad the plan sets or reads later

    def where(self) -> str:
        """The hook, and its line."""
        hook: Any = self.hooks[0] if self.hooks else None
        code = getattr(getattr(hook, "__func__", hook), "__code__", None)
        name = getattr(hook, "__qualname__", type(hook).__name__)
        return name if code is None else f"{name}, {code.co_filename.rpartition('/')[2]}:{code.co_firstlineno}"

    def fire(self, of: Any, given: list[Any]) -> list[Any]:
        """Call the hooks."""
        raise NotImplementedError

    def __call__(self, of: Any, *args: Any) -> Any:
        turn = self.turn
        assert turn is not None
        given = list(args[:self.shown])
        tensors = args[self.shown:]
        if turn.answers is not None:
            return self.answered(turn.answer(), given, tensors)
        it = state()
        grad, task = it.grad, it.task
        it.grad, it.task = False, turn.task
        settle(it)
        passes, registered = modes.passes, modes.registered
        journal: list[Any] = []
        modes.journal = journal
        loud(turn.errors)
        try:
            found = self.fire(of, given)
        finally:
            quiet(turn.errors)
            modes.journal = None
            it.grad, it.task = grad, task
            settle(it)
        if modes.passes != passes:
            raise Left("calls backward", self)
        if modes.registered != registered:
            raise Left("registers or removes a hook", self)
        if turn.task.callbacks:
            turn.task.callbacks = []
            raise Left("asks to be called at the end of the pass", self)
        if journal and self.later:
            for x in journal:
                if isinstance(x, AccumulateGrad) and id(x) in self.later:
                    raise Left("sets a .grad that the call goes on with", self)
        return self.left(found, tensors)

    def left(self, found: list[Any], tensors: Any) -> Any:
        """What the entry gives."""
        for i in range(self.count):
            x = found[i]
            if (x is not None) != self.whole[i]:
                raise Left("gives None where it gave a gradient, or the other way round", self)
            if self.straight[i] and not x.flags.c_contiguous:
                raise Left("gives what lies otherwise in memory", self)
        found = [x for x in found if x is not None]
        for i, t in enumerate(tensors):
            g = grad_of(t)
            if (g is not None) != (i < self.grads):
                raise Left("sets a .grad that it did not set, or the other way round", self)
            if g is not None:
                found.append(g.array)
        return found[0] if len(found) == 1 else tuple(found)

    def answered(self, answer: Answer, given: list[Any], tensors: Any) -> Any:
        """Do what the hooks did elsewhere."""
        if len(answer.same) != self.count:
            raise Left("is another one", self)
        found: list[Any] = []
        for i, (x, same) in enumerate(zip(answer.arrays, answer.same)):
            if same and x is not None:
                np.copyto(given[i], x)
                found.append(given[i])
            else:
                found.append(None if x is None else x.copy("K"))
        for t, content, count in answer.edits:
            np.copyto(t.array, content)
            t.version.edits += count
        for t, content in answer.grads:
            if content is None:
                t.sink.grad = None
            elif grad_of(t) is not None and grad_of(t).array.shape == content.shape:
                np.copyto(grad_of(t).array, content)
            else:
                set_grad(t, content.copy("K"))
        return self.left(found, tensors)


class After(CallOut):
    what = "a post-accumulate hook"

    def fire(self, of: Any, given: list[Any]) -> list[Any]:
        table = of.sink.after
        if table:
            fire_after(table, of)
        return []


class OnLeaf(CallOut):
    what = "a hook of a leaf"

    def __init__(self, table: Any, limited: bool) -> None:
        """limited: is it a pass to some leaves, or for their gradients alone?"""
        super().__init__(table, 1)
        self.limited = limited

    def fire(self, of: Any, given: list[Any]) -> list[Any]:
        own = of.sink._hooks
        if own is None:
            return given
        if self.limited:
            fire_tensor_hooks(of.sink, given, False)
            return given
        g, shared = fire_single(own, given[0], True, False, False)
        return [g.copy("K") if shared and g is not None else g]     # .grad becomes what no hook kept


class OnLeafNode(CallOut):
    what = "a hook of a leaf's node"

    def __init__(self, table: Any, post: bool) -> None:
        super().__init__(table, 0 if post else 1)
        self.post, self.shown = post, 1

    def fire(self, of: Any, given: list[Any]) -> list[Any]:
        own = of.sink._hooks
        if own is None:
            return given[:self.count]
        if self.post:
            return fire_node_hooks(own.post, [], given, False)
        return [None if x is None else x.copy("K") for x in fire_node_hooks(own.pre, given, None, False)]


class OnModule(CallOut):
    what = "a backward hook of a module"

    def __init__(self, call: Any, enters: bool, likes: list[Any]) -> None:
        """likes: (shape, dtype) where the hooks see zeros in place of a gradient that did not come; else None"""
        super().__init__(dict(enumerate([*call.pre, *call.full])), len(likes))
        self.enters, self.likes = enters, likes

    def fire(self, of: Any, given: list[Any]) -> list[Any]:
        for i, like in enumerate(self.likes):
            if like is not None:
                given[i] = np.zeros(like[0], like[1])
        return fired(of, self.enters, given, False)


def turn_of(entries: list[Entry], trace: Any) -> Turn | None:
    """Make the call-outs among the entries those of one plan, whose turn it is; None where there are none."""
    if not any([isinstance(e.fn, CallOut) for e in entries]):
        return None
    turn = Turn()
    known = trace.tensors.all()
    later: set[int] = set()
    for entry in reversed(entries):
        if isinstance(entry.fn, CallOut):
            entry.fn.turn, entry.fn.later = turn, set(later)
        elif entry.fn is set_grad or entry.fn is store_grad:
            later.add(id(known[entry.args[0].index][2].sink))
        for x in entry.args:
            if isinstance(x, Value) and x.kind == "grad":
                later.add(id(known[x.index][2].sink))
    return turn
