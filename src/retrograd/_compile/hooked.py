"""Hooks of a recorded call as entries: what the engine tells where it would call them."""
from __future__ import annotations

from typing import Any

from .._engine.hooks import fire_node_hooks, fire_single, fire_tensor_hooks
from .._engine.modes import modes, state
from .._engine.node import NodeHooks
from .._engine.tensor import AccumulateGrad, TensorBase, fire_after
from .._rules.identity import BackwardHookFunctionBackward
from ..optim import optimizer
from .book import Tensors
from .callouts import After, Answer, CallOut, OnLeaf, OnLeafNode, OnModule
from .effects import grad_of
from .passes import Frame, Passes
from .values import Entry, Refused, Value, of_array, root


def tell(recorder: Any) -> None:
    """Who is told what ops alone do not say."""
    modes.recorder = optimizer.recorder = recorder


class Hooked(Passes):
    """Where hooks are called."""

    def __init__(self, tensors: Tensors, heeds: bool) -> None:
        """heeds: may hooks be entries?"""
        super().__init__(tensors)
        self.heeds = heeds
        self.answers: list[Answer] | None = None        # what hooks do, where somebody asks for it
        self.hook_edits: dict[int, int] = {}    # how often they edited a tensor, by its place

    def flush(self) -> None:
        raise NotImplementedError

    def aside(self, f: Any, *args: Any) -> Any:
        """f(*args), which is not recorded."""
        modes.observer = modes.outs = self.it.listener = None
        tell(None)
        try:
            return f(*args)
        finally:
            modes.observer = modes.outs = self.it.listener = self
            tell(self)

    # -- told by the engine

    def mine(self) -> bool:
        return state() is self.it

    def leaf(self, sink: AccumulateGrad, leaf: TensorBase) -> None:
        if not self.off:
            try:
                frame = self.frames[-1]
                frame.settled = True
                self.accumulated(frame)
            except Refused as error:
                self.refuse(error)

        def fire() -> list[Any]:
            fire_after(sink.after, leaf)
            return []

        self.called(After(sink.after, 0), leaf, [], [], fire)

    def tensor(self, own: Any, g: Any, plain: bool, graph: bool, shared: bool) -> tuple[Any, bool]:
        frame = self.frames[-1] if self.frames else None
        if self.off or frame is None or not self.ours(frame, own, graph):
            return self.aside(fire_single, own, g, plain, graph, shared)
        kept: list[bool] = [shared]

        def fire() -> list[Any]:
            got, kept[0] = fire_single(own, g, plain, graph, shared)
            return [got]

        table = merged(own.tensor)
        if not table:
            return g, shared
        got = self.called(OnLeaf(table, False), frame.node, [frame.gs[0]], [g], fire)
        frame.gs[0] = self.known(got[0])
        return got[0], kept[0]

    def several(self, node: Any, gs: list[Any], graph: bool) -> None:
        """In place of fire_tensor_hooks."""
        frame = self.frames[-1] if self.frames else None
        if self.off or frame is None or not self.ours(frame, node._hooks, graph):
            self.aside(fire_tensor_hooks, node, gs, graph)
            return
        table = merged(node._hooks.tensor)
        if not table:
            return

        def fire() -> list[Any]:
            fire_tensor_hooks(node, gs, graph)
            return gs

        got = self.called(OnLeaf(table, True), node, [frame.gs[0]], list(gs), fire)
        frame.gs[0] = self.known(got[0])

    def node(self, table: Any, gs: list[Any], seen: Any, graph: bool) -> list[Any]:
        frame = self.frames[-1] if self.frames else None
        if self.off or frame is None or not self.ours(frame, frame.node._hooks, graph):
            return self.aside(fire_node_hooks, table, gs, seen, graph)
        if seen is not None:
            frame.settled = True
            self.accumulated(frame)
        got = self.called(OnLeafNode(table, seen is not None), frame.node, [frame.gs[0]], gs if seen is None else [],
                          lambda: fire_node_hooks(table, gs, seen, graph))
        if seen is None:
            frame.gs[0] = self.known(got[0])
        return got

    def boundary(self, call: Any, enters: bool, shown: Any) -> Any:
        f = call.after if enters else call.before
        if self.off or not self.frames or (enters and call.seen is None):
            return self.aside(f, shown)
        frame = self.frames[-1]
        if frame.task.graph:
            self.refuse("a hook in a pass that makes a graph")
            return self.aside(f, shown)
        places = range(len(shown))
        given = [frame.gs[i] if i < len(frame.gs) else None for i in places]
        likes = [None if g is not None or t is None else (t.array.shape, t.array.dtype) for g, t in zip(given, shown)]
        result: list[Any] = [None]

        def fire() -> list[Any]:
            result[0] = got = f(shown)
            now = shown if got is None else got
            return [x.array if isinstance(x, TensorBase) else None for x in now]

        got = self.called(OnModule(call, enters, likes), call, given, [None if t is None else t.array for t in shown], fire)
        frame.sent = [self.known(x) for x in got]
        return result[0]

    # -- the entry

    def ours(self, frame: Frame, own: NodeHooks | None, graph: bool) -> bool:
        """May hooks of this node be called by an entry?"""
        node = frame.node
        try:
            if graph:
                raise Refused("a hook in a pass that makes a graph")
            if not isinstance(node, AccumulateGrad):
                raise Refused(f"a hook of {node.name()}")
            if node._hooks is not own or own is None or own.shapes or id(node.variable) not in self.tensors.by_id:
                raise Refused("a hook of a leaf that the function does not reach")
        except Refused as error:
            self.refuse(error)
            return False
        return True

    def known(self, array: Any) -> Value | None:
        return None if array is None or self.off else self.values.get(id(array))

    def of_whom(self, who: Any) -> Any:
        """The entry's argument for whom the hooks are of: a leaf, its node, or what is the same at each call."""
        if isinstance(who, AccumulateGrad):
            who = who.variable
        if not isinstance(who, TensorBase):
            return who
        found = self.tensors.by_id.get(id(who))
        if found is None:
            raise Refused("a hook of a leaf that the function does not reach")
        return Value("tensor", (), None, None, self.place(*found))

    def called(self, out: CallOut, who: Any, given: list[Value | None], shown: list[Any], fire: Any) -> list[Any]:
        """Call the hooks, by fire(), and add the entry; -> the arrays that they leave in place of those shown."""
        if self.off:
            found: list[Any] = self.aside(fire)
            return found
        self.flush()
        passes, registered = modes.passes, modes.registered
        callbacks = len(self.frames[-1].task.callbacks)
        shown = list(shown)
        journal: list[Any] = []
        modes.journal = journal
        try:
            found = list(self.aside(fire))
        finally:
            modes.journal = None
        try:
            if modes.passes != passes:
                raise Refused(f"a hook calls backward: {out.where()}")
            if modes.registered != registered:
                raise Refused(f"a hook registers or removes hooks: {out.where()}")
            if len(self.frames[-1].task.callbacks) != callbacks:
                raise Refused(f"a hook asks to be called at the end of the pass: {out.where()}")
            self.entered(out, self.of_whom(who), given, shown, found, journal)
        except Refused as error:
            self.refuse(error)
        return found

    def entered(self, out: CallOut, who: Any, given: list[Value | None], shown: list[Any], found: list[Any],
                journal: list[Any]) -> None:
        out.whole = [x is not None for x in found]
        made = [of_array(x) for x in found if x is not None]
        out.straight = [x is not None and bool(x.flags.c_contiguous) for x in found]
        entry = Entry(out.what, out, [who, *given], made, "", True, out.where())
        self.add(entry)
        edited = [x for x in journal if isinstance(x, TensorBase)]
        for x, v in zip([x for x in found if x is not None], made):
            if any(root(t.array) is root(x) for t in edited) and any(x is y for y in shown):
                self.renewed(x, v)
        edits: list[tuple[Any, int]] = []
        grads: list[tuple[Any, Any]] = []
        if journal:
            edits, grads = self.changed(out, entry, journal, edited)
        if self.answers is not None:
            self.answers.append(Answer(found, shown, edits, grads))

    def changed(self, out: CallOut, entry: Entry, journal: list[Any], edited: list[TensorBase]) -> Any:
        """The hooks changed tensors that were there before the call, or their .grad."""
        edits: list[tuple[Any, int]] = []
        set_to: list[tuple[int, Any]] = []
        gone: list[int] = []
        for place, (kind, i, t) in enumerate(self.tensors.all()):
            count = sum([1 for x in edited if x.version is t.version])
            if count:
                edits.append((t, count))
                self.hook_edits[place] = self.hook_edits.get(place, 0) + count
                self.renewed(t.array, of_array(t.array, kind, i))
            had, _ = self.settled[place]
            grad: Any = grad_of(t)
            if grad is None:
                if had is not None:
                    gone.append(place)
            elif grad is not had or any(x.version is grad.version for x in edited):
                if grad.rg or grad.fn is not None:
                    raise Refused("a .grad that can be differentiated")
                set_to.append((place, grad))
        for place, grad in set_to:
            array, fresh = grad.array, grad is not self.settled[place][0]
            if fresh and id(root(array)) in self.roots:
                raise Refused(f"a hook makes a .grad of memory that is another tensor's: {out.where()}")
            value = of_array(array)
            value.entry = entry
            entry.outs.append(value)
            if fresh:
                self.know(value)
            else:
                self.renewed(array, value)
            self.settled[place] = (grad, value)
            self.alive.append(grad)
        for place in gone:
            self.settled[place] = (None, None)
        out.grads = len(set_to)
        known = self.tensors.all()
        entry.args.extend([Value("tensor", (), None, None, place) for place in [*[p for p, _ in set_to], *gone]])
        return edits, [(known[place][2], grad_of(known[place][2])) for place in [*[p for p, _ in set_to], *gone]]


def merged(tables: list[tuple[int, dict[int, Any]]]) -> dict[int, Any]:
    return {key: hook for _, table in tables for key, hook in table.items()}


def is_boundary(node: Any) -> bool:
    return isinstance(node, BackwardHookFunctionBackward)
