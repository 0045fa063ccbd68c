"""Hooks of a recorded call as entries: what the engine tells where it would call them."""
from __future__ import annotations

import types
from functools import partial
from typing import Any

from .. import random
from .._engine.hooks import fire_node_hooks, fire_single, fire_tensor_hooks
from .._engine.modes import modes, state
from .._engine.node import Node, NodeHooks
from .._engine.op import edge
from .._engine.tensor import AccumulateGrad, TensorBase, fire_after, wants_grad
from .._rules.identity import BackwardHookFunctionBackward
from ..nn.hooks import _global_forward_pre_hooks, after_forward, before_forward, forward_hooks
from ..optim import optimizer
from .book import Tensors
from .callouts import (
    After,
    Answer,
    AtNode,
    CallOut,
    New,
    OnForward,
    OnLeaf,
    OnModule,
    OnNode,
    OnStep,
    Waiting,
    edited,
    hooks_on,
    waits,
)
from .effects import grad_of
from .passes import Frame, Passes
from .past import Shown, pasts
from .reach import NUMBERS, TENSORS, Reach
from .values import Entry, Refused, Value, of_array, root
from .whole import PLAIN, Before, Hole, Region, leaves


def tell(recorder: Any) -> None:
    """Who is told what ops alone do not say."""
    modes.recorder = optimizer.recorder = recorder


class Hooked(Passes):
    """Where hooks are called."""

    def __init__(self, tensors: Tensors, reach: Reach | None) -> None:
        """reach: what is the same at each call, where hooks may be entries"""
        super().__init__(tensors)
        self.heeds, self.reach = reach is not None, reach
        self.rules: set[Entry] = set()          # of backward passes
        self.answers: list[Answer] | None = None        # what hooks do, where somebody asks for it
        self.hook_edits: dict[int, int] = {}    # how often they edited a tensor, by its place
        self.numbers: dict[tuple[int, int], int] = {}   # of nodes of tensors that forward hooks were shown
        self.listening: set[int] = set()        # nodes of tensors that the function itself has hooks registered on
        self.cells: list[tuple[Any, Any]] = []  # what such hooks close over
        self.registered = modes.registered      # how many hooks there may be
        self.drew = False                       # did the hooks called last draw random numbers?

    def add(self, entry: Entry) -> None:
        if self.it.task is not None:
            self.rules.add(entry)
        super().add(entry)

    def flush(self) -> None:
        raise NotImplementedError

    def unrecorded(self, f: Any, *args: Any) -> Any:
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
            return self.unrecorded(fire_single, own, g, plain, graph, shared)
        kept: list[bool] = [shared]

        def fire() -> list[Any]:
            got, kept[0] = fire_single(own, g, plain, graph, shared)
            return [got]

        table = merged(own.tensor)
        if not table and not own.retain:
            return g, shared
        node = frame.node
        out: CallOut = OnLeaf(table, False) if isinstance(node, AccumulateGrad) else OnNode(table, self.static(node, own))
        got = self.called(out, node, [frame.gs[0]], [g], fire)
        frame.gs[0] = self.known(got[0])
        return got[0], kept[0]

    def several(self, node: Any, gs: list[Any], graph: bool) -> None:
        """In place of fire_tensor_hooks."""
        frame = self.frames[-1] if self.frames else None
        if self.off or frame is None or not self.ours(frame, node._hooks, graph):
            self.unrecorded(fire_tensor_hooks, node, gs, graph)
            return
        table = merged(node._hooks.tensor)
        if not table:
            return

        def fire() -> list[Any]:
            fire_tensor_hooks(node, gs, graph)
            return gs

        out: CallOut = OnLeaf(table, True) if isinstance(node, AccumulateGrad) else OnNode(table, self.static(node, node._hooks))
        got = self.called(out, node, [frame.gs[0]], list(gs), fire)
        frame.gs[0] = self.known(got[0])

    def node(self, table: Any, gs: list[Any], seen: Any, graph: bool) -> list[Any]:
        frame = self.frames[-1] if self.frames else None
        if self.off or frame is None or not self.ours(frame, frame.node._hooks, graph):
            return self.unrecorded(fire_node_hooks, table, gs, seen, graph)
        given = [frame.gs[0]]
        try:
            if seen is not None and isinstance(frame.node, AccumulateGrad):
                frame.settled = True
                self.accumulated(frame)
            elif seen is not None:
                if id(frame.node) in self.regions:
                    raise Refused(f"a hook of {frame.node.name()}")
                ends = [(frame.node.edge_node(i), frame.node.edge_nr(i), x) for i, x in enumerate(gs)]
                made = iter(self.ruled(frame, [end for end in ends if end[0] is not None and end[2] is not None]))
                given = [next(made) if to is not None and x is not None else None for to, _, x in ends] + given
        except Refused as error:
            self.refuse(error)
        got = self.called(AtNode(table, len(gs), seen is not None), frame.node, given, gs,
                          lambda: fire_node_hooks(table, gs, seen, graph))
        if seen is None:
            frame.gs[0] = self.known(got[0])
        else:
            frame.sent = [self.known(x) for x in got]
        return got

    def before_step(self, opt: Any, func: Any, args: Any, kwargs: Any) -> Any:
        hooks = list(optimizer.pre_hooks(opt))
        result: list[Any] = [(args, kwargs)]

        def fire() -> list[Any]:
            result[0] = optimizer.before_step(opt, func, args, kwargs)
            return []

        self.called(OnStep(dict(enumerate(hooks)), func, True, self.it.grad, args, kwargs), opt, [], [], fire)
        if result[0] != (args, kwargs) and not self.off:
            self.refuse("a hook gives step() other arguments")
        return result[0]

    def after_step(self, opt: Any, args: Any, kwargs: Any) -> None:
        hooks = list(optimizer.post_hooks(opt))

        def fire() -> list[Any]:
            optimizer.after_step(opt, args, kwargs)
            return []

        self.called(OnStep(dict(enumerate(hooks)), None, False, self.it.grad, args, kwargs), opt, [], [], fire)

    def before(self, module: Any, args: Any, kwargs: Any) -> Any:
        hooks = [*_global_forward_pre_hooks.values(), *module._forward_pre_hooks.values()]
        return self.around(module, hooks, (args, kwargs), True, lambda: before_forward(module, args, kwargs))

    def after(self, module: Any, args: Any, kwargs: Any, result: Any, called: set[int]) -> Any:
        hooks = [hook for _, hook, _, _ in forward_hooks(module.__dict__)]
        return self.around(module, hooks, (args, kwargs, result), False,
                           lambda: after_forward(module, args, kwargs, result, called))

    def around(self, module: Any, hooks: list[Any], tree: Any, before: bool, fire: Any) -> Any:
        """Forward hooks, which are shown the tensors in the tree."""
        if self.off:
            return self.unrecorded(fire)
        try:
            if self.inside is not None:
                raise Refused("forward hooks inside a public function")
            tensors = list({id(t): t for t in leaves(tree)}.values())
            out = OnForward(module, before, dict(enumerate(hooks)), tensors, tree, self.it.grad)
            given = [self.shown_as(out, t) for t in tensors]
            known = Before(tensors, None)
        except Refused as error:
            self.refuse(error)
            return self.unrecorded(fire)
        self.flush()
        heard = hooks_on(tensors, out.there)
        got, journal, registered = self.watched(out, fire)
        if self.off:
            return got
        try:
            self.registered += registered
            if registered != hooks_on(tensors, out.there) - heard or (
                    registered and any(id(t.fn) in self.listening for t in tensors)):
                raise Refused(f"a hook registers or removes hooks: {out.where()}")
            self.made_by_hooks(out, module, tensors, given, known, got, journal)
        except Refused as error:
            self.refuse(error)
        return got

    def shown_as(self, out: OnForward, t: TensorBase) -> Value:
        """The entry's argument for a tensor that hooks are shown."""
        at = self.tensors.by_id.get(id(t))
        out.there.append(at is not None)
        out.nodes.append(None)
        if at is not None:
            return Value("tensor", (), None, None, self.place(at[0], at[1]))
        if wants_grad(t):
            node = edge(t)
            if node is None or isinstance(node, AccumulateGrad):
                raise Refused("a hook is shown a leaf that was made in the call")
            kind: Any = type(node)
            key = (id(node), t.nr)
            if key not in self.numbers:
                self.numbers[key] = len(self.numbers)
            out.nodes[-1] = (self.numbers[key], partial(pasts(kind.__name__, kind.__module__, Shown), node))
        value = self.of(t.array)
        if value.kind == "const":
            out.consts.append(len(out.nodes) - 1)
        return value

    def made_by_hooks(self, out: OnForward, module: Any, tensors: list[TensorBase], given: list[Value], before: Before, got: Any,
                      journal: list[Any]) -> None:
        news: list[TensorBase] = []
        out.spec = self.spec(got, out, tensors, given, news)
        ends = self.ends(before, news)
        for t in ends:
            tensors.append(t)
            given.append(self.shown_as(out, t))
        if ends:
            before = Before(tensors, None)
        out.shown = len(tensors)
        out.edited = [i for i, t in enumerate(tensors) if not out.there[i] and edited(t.array, journal)]
        grows = [t for t in news if t.fn is not None and all(t.fn is not fn for fn, _ in before.edges)]
        out.part = bool(grows)
        part = Value("made", (), None)
        values = [of_array(t.array) for t in news]
        again = [of_array(tensors[i].array) for i in out.edited]
        self.alive.extend([got, *news])
        entry = Entry(out.what, out, [module, *given], [*([part] if grows else []), *values, *again], "", True, out.where())
        self.add(entry)
        for i, v in zip(out.edited, again):
            self.renewed(tensors[i].array, v)
        answer = self.changed(out, entry, journal, [t.array for t in news] + [tensors[i].array for i in out.edited], [])
        if answer is not None:
            answer.tree, answer.shown, answer.edited = got, tensors, out.edited
        if grows:
            region = Region(out.what, before, [self.of(t.array) for t in tensors], news, part)
            region.answer = answer
            self.nodes.extend(region.nodes.values())
            for at in region.nodes:
                self.regions[at] = region

    def spec(self, x: Any, out: OnForward, tensors: list[TensorBase], given: list[Value], news: list[TensorBase]) -> Any:
        """What hooks gave, with places for tensors."""
        if isinstance(x, TensorBase):
            for i, t in enumerate(tensors):
                if t is x:
                    return Hole(i)
            if id(x) in self.tensors.by_id:
                tensors.append(x)
                given.append(self.shown_as(out, x))
                return Hole(len(tensors) - 1)
            for i, t in enumerate(news):
                if t is x:
                    return New(i, x)
            if type(x) not in TENSORS or (x.rg and x.fn is None):
                raise Refused(f"a hook gives a leaf, or no plain tensor: {out.where()}")
            news.append(x)
            return New(len(news) - 1, x)
        if type(x) in (tuple, list):
            return type(x)([self.spec(y, out, tensors, given, news) for y in x])
        if type(x) is dict:
            return {key: self.spec(y, out, tensors, given, news) for key, y in x.items()}
        if not isinstance(x, PLAIN):
            raise Refused(f"a hook gives a {type(x).__name__}: {out.where()}")
        return x

    def ends(self, before: Before, news: list[TensorBase]) -> list[TensorBase]:
        """The leaves, beside what the hooks were shown, that the part of the graph that they made leads to."""
        seen = {id(before.edge(i)[0]) for i, fact in enumerate(before.facts) if fact[1]}
        todo = [t.fn for t in news if t.fn is not None and id(t.fn) not in seen]
        found: list[TensorBase] = []
        while todo:
            node = todo.pop()
            for i in range(node.edge_count()):
                to = node.edge_node(i)
                if to is None or id(to) in seen:
                    continue
                seen.add(id(to))
                if isinstance(to, AccumulateGrad):
                    if id(to.variable) not in self.tensors.by_id:
                        raise Refused("a hook makes a graph to a leaf that the function does not reach")
                    found.append(to.variable)
                elif id(to) in self.made or id(to) in self.regions:
                    raise Refused("a hook makes a graph to a tensor that it is not shown")
                else:
                    todo.append(to)
        return found

    def boundary(self, call: Any, enters: bool, shown: Any) -> Any:
        f = call.after if enters else call.before
        if self.off or not self.frames or (enters and call.seen is None):
            return self.unrecorded(f, shown)
        frame = self.frames[-1]
        if frame.task.graph:
            self.refuse("a hook in a pass that makes a graph")
            return self.unrecorded(f, shown)
        places = range(len(shown))
        given = [frame.gs[i] if i < len(frame.gs) else None for i in places]
        likes = [None if g is not None or t is None else (t.array.shape, t.array.dtype) for g, t in zip(given, shown)]
        if waits(call, enters, shown):
            consts = [i for i, g in enumerate(given) if g is not None and g.kind == "const"]
            self.add(Entry("a module's end", Waiting(likes, consts), [call, *given], [], "", True, self.line_of(frame.task)))
            frame.sent = given
            return self.unrecorded(f, shown)
        result: list[Any] = [None]

        def fire() -> list[Any]:
            result[0] = got = f(shown)
            now = shown if got is None else got
            return [x.array if isinstance(x, TensorBase) else None for x in now]

        got = self.called(OnModule(call, enters, likes), call, given, [None if t is None else t.array for t in shown], fire)
        frame.sent = [self.known(x) for x in got]
        return result[0]

    # -- hooks that the function registers

    def listens(self, t: TensorBase, hook: Any) -> None:
        """The function registers a hook on t."""
        node = t.fn
        if node is None or t.origin is not None or id(t) in self.tensors.by_id:
            raise Refused("a hook that the call registers on a tensor that stays, or is a view")
        if not self.steady(hook):
            raise Refused("a hook that is another one at each call")
        if t.listeners and id(node) not in self.listening:
            raise Refused("hooks of the function and of hooks on one tensor")
        self.numbers.setdefault((id(node), t.nr), len(self.numbers))
        self.listening.add(id(node))
        self.registered += 1

    def static(self, node: Node, own: NodeHooks) -> NodeHooks | None:
        """The hooks of a node, where the function registers them."""
        if id(node) not in self.listening:
            return None
        found = NodeHooks()
        found.tensor = [(nr, dict(table)) for nr, table in own.tensor]
        return found

    def steady(self, x: Any) -> bool:
        """Is it the same at each call?"""
        assert self.reach is not None
        if isinstance(x, NUMBERS) or id(x) in self.reach.seen:
            return True
        if isinstance(x, types.FunctionType):
            known = {id(holder) for kind, holder, _, _ in self.reach.guards if kind == "cell"}
            for cell in x.__closure__ or ():
                if id(cell) not in known:
                    if not self.steady(cell.cell_contents):
                        return False
                    self.cells.append((cell, cell.cell_contents))
            return all(map(self.steady, [*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]))
        if isinstance(x, types.MethodType):
            return self.steady(x.__self__) and self.steady(x.__func__)
        if isinstance(x, partial):
            return all(map(self.steady, [x.func, *x.args, *x.keywords.values()]))
        return isinstance(x, types.BuiltinFunctionType) and (self.steady(x.__self__) or isinstance(x.__self__, types.ModuleType))

    def settled_hooks(self) -> None:
        """Refused where the call registers or removes others."""
        if modes.registered != self.registered:
            raise Refused("the call registers or removes hooks")
        if any(cell.cell_contents is not x for cell, x in self.cells):
            raise Refused("a hook that the call registers refers to what changes")

    # -- the entry

    def hears(self, node: Node, hooks: NodeHooks) -> bool:
        return self.heeds and ((id(node), 0) in self.numbers or not hooks.any())

    def ours(self, frame: Frame, own: NodeHooks | None, graph: bool) -> bool:
        """May hooks of this node be called by an entry?"""
        node = frame.node
        try:
            if graph:
                raise Refused("a hook in a pass that makes a graph")
            if not isinstance(node, AccumulateGrad):
                if own is None or own.shapes or len(frame.gs) != 1 or (id(node), 0) not in self.numbers:
                    raise Refused(f"a hook of {node.name()}")
                return True
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
        elif isinstance(who, Node) and not is_boundary(who):
            return self.numbers[id(who), 0]
        if not isinstance(who, TensorBase):
            return who
        found = self.tensors.by_id.get(id(who))
        if found is None:
            raise Refused("a hook of a leaf that the function does not reach")
        return Value("tensor", (), None, None, self.place(found[0], found[1]))

    def called(self, out: CallOut, who: Any, given: list[Value | None], shown: list[Any], fire: Any) -> list[Any]:
        """Call the hooks, by fire(), and add the entry; -> the arrays that they leave in place of those shown."""
        if self.off:
            found: list[Any] = self.unrecorded(fire)
            return found
        self.flush()
        shown = list(shown)
        got, journal, registered = self.watched(out, fire)
        found = list(got)
        if self.off:
            return found
        try:
            if registered:
                raise Refused(f"a hook registers or removes hooks: {out.where()}")
            self.entered(out, self.of_whom(who), given, shown, found, journal)
        except Refused as error:
            self.refuse(error)
        return found

    def watched(self, out: CallOut, fire: Any) -> tuple[Any, list[Any], int]:
        """fire(): what it gives, what it edits, how many hooks it registers or removes."""
        passes, registered, uses = modes.passes, modes.registered, random.default_generator._uses
        task = self.frames[-1].task if out.passing else None
        callbacks = 0 if task is None else len(task.callbacks)
        journal: list[Any] = []
        modes.journal = journal
        try:
            got = self.unrecorded(fire)
        except Exception as error:              # the function may catch it: the plan would not know
            self.refuse(f"a hook raises {type(error).__name__}: {out.where()}")
            raise
        finally:
            modes.journal = None
        self.drew = random.default_generator._uses != uses
        try:
            if modes.passes != passes:
                raise Refused(f"a hook calls backward: {out.where()}")
            if task is not None and len(task.callbacks) != callbacks:
                raise Refused(f"a hook asks to be called at the end of the pass: {out.where()}")
        except Refused as error:
            self.refuse(error)
        return got, journal, modes.registered - registered

    def entered(self, out: CallOut, who: Any, given: list[Value | None], shown: list[Any], found: list[Any],
                journal: list[Any]) -> None:
        out.whole = [x is not None for x in found]
        made = [of_array(x) for x in found if x is not None]
        out.straight = [x is not None and bool(x.flags.c_contiguous) for x in found]
        out.consts = [i for i, v in enumerate(given) if v is not None and v.kind == "const"]
        entry = Entry(out.what, out, [who, *given], made, "", True, out.where())
        self.add(entry)
        for x, v in zip([x for x in found if x is not None], made):
            if journal and edited(x, journal) and any(x is y for y in shown):
                self.renewed(x, v)
        self.changed(out, entry, journal, found, [x is y for x, y in zip(found, shown)])

    def changed(self, out: CallOut, entry: Entry, journal: list[Any], arrays: list[Any], same: list[bool]) -> Answer | None:
        """What the hooks did to tensors that were there before the call, and to their .grad; -> all that they did."""
        who = entry.args[0]
        out.whom = who.index if isinstance(who, Value) else who if type(who) is int else id(getattr(who, "module", who))
        edits: list[tuple[Any, int]] = []
        grads: list[tuple[Any, bool]] = []
        if journal or isinstance(out, After):
            own = who.index if isinstance(out, After) else -1       # its .grad is looked at anew, whatever the hooks do
            edits, grads = self.disturbed(out, entry, [x for x in journal if isinstance(x, TensorBase)], own)
        if self.answers is None:
            return None
        answer = Answer(out, arrays, same, edits, grads)
        if self.drew:
            answer.stream = random.default_generator._mark()
        self.answers.append(answer)
        return answer

    def disturbed(self, out: CallOut, entry: Entry, edited: list[TensorBase], own: int) -> tuple[
            list[tuple[Any, int]], list[tuple[Any, bool]]]:
        """Note which tensors that were there before the call the hooks edited, and whose .grad they set."""
        edits: list[tuple[Any, int]] = []
        set_to: list[tuple[int, Any]] = []
        gone: list[int] = []
        memory = {id(root(x.array)) for x in edited}
        for place, (kind, i, t) in enumerate(self.tensors.all()):
            count = sum([1 for x in edited if x.version is t.version])      # .data has a version of its own
            if count or id(root(t.array)) in memory:
                edits.append((t, count))
                out.spares.add(id(t.version))
                self.hook_edits[place] = self.hook_edits.get(place, 0) + count
                self.renewed(t.array, of_array(t.array, kind, i))
            had, _ = self.settled[place]
            grad: Any = grad_of(t)
            if grad is None:
                if had is not None:
                    gone.append(place)
            elif grad is not had or place == own or any(x.version is grad.version for x in edited):
                if grad.rg or grad.fn is not None:
                    raise Refused("a .grad that can be differentiated")
                set_to.append((place, grad))
        known = self.tensors.all()
        grads: list[tuple[Any, bool]] = []
        for place, grad in set_to:
            array, fresh = grad.array, grad is not self.settled[place][0]
            grads.append((known[place][2], fresh))
            if fresh and id(root(array)) in self.roots:
                raise Refused(f"a hook makes a .grad of memory that is another tensor's: {out.where()}")
            value = of_array(array)
            value.entry = entry
            entry.outs.append(value)
            out.laid.append(value.straight)
            if any(x.version is grad.version for x in edited) and not fresh:
                self.renewed(array, value)
            else:
                self.know(value)
            self.settled[place] = (grad, value)
            self.alive.append(grad)
        for place in gone:
            self.settled[place] = (None, None)
        out.grads = len(set_to)
        entry.args.extend([Value("tensor", (), None, None, place) for place in [*[p for p, _ in set_to], *gone]])
        return edits, [*grads, *[(known[place][2], True) for place in gone]]


def merged(tables: list[tuple[int, dict[int, Any]]]) -> dict[int, Any]:
    return {key: hook for _, table in tables for key, hook in table.items()}


def is_boundary(node: Any) -> bool:
    return isinstance(node, BackwardHookFunctionBackward)
