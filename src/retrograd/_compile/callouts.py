"""Hooks as entries: each replay calls them at their points, with real tensors.

Recording is put aside while a hook runs.  Its entry takes the arrays that it was shown and gives those that it left; it stays in
its place, and all that was written before it has been written.
"""
from __future__ import annotations

from typing import Any, Final

import numpy as np

from .. import random
from .._engine.hooks import fire_node_hooks, fire_single, fire_tensor_hooks, own_retain, tie
from .._engine.modes import loud, modes, outside, quiet, settle, state
from .._engine.node import NONE, Node, NodeHooks, Task
from .._engine.op import edge
from .._engine.tensor import AccumulateGrad, TensorBase, bump, fire_after, shared_version, wants_grad, wrap
from .._functions.autocast import As, is_autocast_cpu_enabled
from .._rules.identity import fired, spread
from ..nn.hooks import _global_backward_pre_hooks, after_forward, backward_hooks, before_forward
from ..optim.optimizer import after_step, before_step
from .book import Tensors
from .effects import Outright, Store, edits_of, grad_of, no_grad, set_grad, store_grad
from .past import Shown
from .values import Entry, Value, root
from .whole import Hole, Kept, Part, Whole, holed, leaves, refilled

AFTER: Final = "a post-accumulate hook"
AT_NODE: Final = "a hook of a node"
ON_MODULE: Final = "a backward hook of a module"
ON_STEP: Final = "a step hook"
BEFORE: Final = "a forward pre hook"
AROUND: Final = "a forward hook"


class Left(Exception):
    """A hook did what the plan cannot follow."""

    def __init__(self, what: str, out: CallOut, lost: bool = False) -> None:
        """lost: an eager call could not go on from there"""
        super().__init__(f"{out.what} {what}{out.unlike} the call that was recorded ({out.where()})")
        self.out, self.lost = out, lost


class Answer:
    """What the hooks of one call-out did.

    arrays   what they left; None where nothing is
    same     which of them are the memory that the hooks were shown
    edits    tensors that were there, their content, and how often it was edited
    grads    leaves, what their .grad is, and whether it is another one
    """

    def __init__(self, out: CallOut, arrays: list[Any], same: list[bool], edits: list[tuple[Any, int]],
                 grads: list[tuple[Any, bool]]) -> None:
        self.what, self.whom = out.what, out.whom
        self.arrays = [None if x is None else x.copy("K") for x in arrays]
        self.same = same
        self.edits = [(t, t.array.copy("K"), count) for t, count in edits]
        self.grads = [(t, None if grad_of(t) is None else grad_of(t).array.copy("K"), fresh) for t, fresh in grads]
        self.sent: list[dict[int, Any]] = []    # by pass: what the graph that they made sends to each of its edges
        self.stream: Any = None                 # the random numbers to come, where they drew some
        self.error: Any = None
        self.tree: Any = None                   # what forward hooks gave, and the tensors that they were shown
        self.shown: list[Any] = []
        self.edited: list[int] = []             # which of those they edited
        self.contents: dict[int, Any] = {}      # and to what
        self.called: set[int] = set()           # those of them that are always called, by id

    def again(self) -> None:
        """Do it once more to what was there."""
        for t, content, count in self.edits:
            np.copyto(t.array, content)
            shared_version(t).edits += count
        for t, content, fresh in self.grads:
            had = grad_of(t)
            if content is None:
                no_grad(t, None)
            elif had is not None and not fresh:
                np.copyto(had.array, content)
            else:
                set_grad(t, content.copy("K"))
        if self.stream is not None:
            random.default_generator._back(self.stream)


class Turn:
    """One run of a plan, as its call-outs see it."""

    def __init__(self, tensors: Tensors, places: list[int], stores: list[int], adds: list[int]) -> None:
        """places: of leaves whose .grad is set

        stores   of tensors that the plan writes before the last call-out, whatever hooks do;  adds: to whose .grad it adds
        """
        self.places, self.stores, self.adds = places, stores, adds
        self.held, self.count = list(tensors.held), len(tensors.inputs)
        self.errors: Any = None                 # what floating-point errors do outside
        self.task = Task(False, False)          # the pass that hooks are told of
        self.answers: list[Answer] | None = None        # in place of calling hooks
        self.stream: Any = None                 # the random numbers to come
        self.at = 0
        self.final: list[bool] = []             # which entries with effects write what cannot be undone
        self.log: list[Answer] = []             # what hooks did in this run
        self.journal: list[Any] = []
        self.nodes: dict[int, Any] = {}         # of tensors that were shown, by number
        self.registered = -1                    # how many hooks had been when it looked last
        self.boundaries: list[Any] = []
        self.heard: set[int] = set()            # those whose hooks the plan calls

    def begin(self, inputs: list[Any]) -> None:
        self.end()
        self.errors = outside()
        self.at = 0
        self.inputs = inputs
        if modes.registered != self.registered:
            self.registered = modes.registered
            for call in self.boundaries:
                own = vars(call.module)
                call.pre = [*_global_backward_pre_hooks.values(), *own["_backward_pre_hooks"].values()]
                call.full, _ = backward_hooks(own)
        if self.answers is None:
            self.had = [(t, grad_of(t)) for t in map(self.of, self.places)]
            written = [self.of(i) for i in self.stores]
            written += [g for g in [grad_of(self.of(i)) for i in self.adds] if g is not None]
            self.kept = [(t, t.array.copy("K"), edits_of(t)) for t in written]
            self.uses = random.default_generator._uses
            self.stream = random.default_generator._mark()

    def end(self) -> None:
        self.log, self.journal, self.nodes, self.had, self.kept, self.inputs = [], [], {}, [], [], []

    def of(self, place: int) -> Any:
        return self.inputs[place] if place < self.count else self.held[place - self.count]

    def answer(self, out: CallOut) -> Answer:
        """What the hooks did elsewhere."""
        assert self.answers is not None
        self.at += 1
        answer = self.answers[self.at - 1] if self.at <= len(self.answers) else None
        if answer is None or answer.what != out.what or answer.whom != out.whom:
            raise Left("is not called, or others are", out)
        return answer

    def undo(self) -> bool:
        """All is as it was before the run; False where that cannot be."""
        known = [*self.inputs, *self.held, *[g for _, g in self.had if g is not None]]
        memory = {id(root(t.array)) for t in known} - {id(root(t.array)) for t, _, _ in self.kept}
        if any(isinstance(x, TensorBase) and id(root(x.array)) in memory for x in self.journal):
            return False
        if random.default_generator._uses != self.uses:
            random.default_generator._back(self.stream)
        for t, grad in self.had:
            if t.sink is not None:
                t.sink.grad = grad
        for t, content, edits in self.kept:
            np.copyto(t.array, content)
            if t.version is not None:
                t.version.edits = edits
        return True


class CallOut:
    """Calls hooks: (whom they are of, arrays that they are shown, tensors whose .grad they change) -> arrays."""

    what = "a hook"
    unlike = ", as it did not in"
    passing = True                              # are they called in a backward pass?
    grad = False                                # the grad mode

    def __init__(self, table: Any, count: int) -> None:
        """count: of the arrays shown that hooks may replace"""
        self.turn: Turn | None = None
        self.hooks = list(table.values())
        self.whom: Any = None                   # the hooks are of
        self.count = count
        self.whole: list[bool] = []             # which of the arrays left are there, and whether they lie in C order
        self.straight: list[bool] = []
        self.consts: list[int] = []             # of the arrays shown that are the plan's own
        self.laid: list[bool] = []              # which of these .grad lie in C order
        self.grads = 0                          # of so many tensors .grad is another one after it,
        self.shown = count                      # which come behind so many arrays; of those behind them it is None
        self.later: set[int] = set()            # nodes of leaves whose .grad the plan sets or reads later
        self.needs: set[int] = set()            # versions of tensors that a backward pass reads later as they were before
        self.spares: set[int] = set()           # those that the recorded call edited all the same
        self.dirty = False                      # was something written before it that cannot be undone?
        self.autocast: Any = As() if is_autocast_cpu_enabled() else None

    def where(self) -> str:
        """The hook, and its line."""
        hook: Any = self.hooks[0] if self.hooks else None
        code = getattr(getattr(hook, "__func__", hook), "__code__", None)
        name = getattr(hook, "__qualname__", type(hook).__name__)
        return name if code is None else f"{name}, {code.co_filename.rpartition('/')[2]}:{code.co_firstlineno}"

    def fire(self, of: Any, given: list[Any]) -> list[Any] | None:
        """Call the hooks: -> what they leave; None where there are none any more."""
        raise NotImplementedError

    def __call__(self, of: Any, *args: Any) -> Any:
        turn = self.turn
        assert turn is not None
        given = list(args[:self.shown])
        for i in self.consts:
            given[i] = given[i].copy("K")
        tensors = args[self.shown:]
        if turn.answers is not None:
            return self.answered(turn.answer(self), given, tensors)
        it = state()
        grad, task, busy = it.grad, it.task, it.busy
        it.grad, it.task = self.grad, turn.task
        settle(it)
        passes, registered, uses = modes.passes, modes.registered, random.default_generator._uses
        journal: list[Any] = []
        modes.journal = journal
        failed: Any = None
        found: list[Any] | None = []
        loud(turn.errors)
        try:
            if self.autocast is None:
                found = self.fire(of, given)
            else:
                with self.autocast:
                    found = self.fire(of, given)
        except Exception as error:
            failed = error
            if isinstance(error, Left):
                raise
        finally:
            quiet(turn.errors)
            modes.journal = None
            it.grad, it.task, it.busy = grad, task, busy
            settle(it)
        if found is None:
            return self.left(given[:self.count], given, tensors)
        self.note(turn, given, found, journal, uses, failed)
        if modes.passes != passes:
            raise Left("calls backward", self, failed is not None)      # perhaps its graph was not there
        if failed is not None:
            self.failed(failed)
        if modes.registered != registered:
            self.registered(turn, modes.registered - registered)
        if turn.task.callbacks:
            turn.task.callbacks = []
            raise Left("asks to be called at the end of the pass", self)
        if journal:
            for x in journal:
                if isinstance(x, TensorBase) and id(x.version) in self.needs:
                    raise Left("edits a tensor that the backward pass needs", self)
                if isinstance(x, AccumulateGrad) and id(x) in self.later and all([t.sink is not x for t in tensors]):
                    raise Left("sets a .grad that the call goes on with", self)
        return self.left(found, given, tensors)

    def failed(self, error: Exception) -> None:
        raise Left("raises", self) from error

    def registered(self, turn: Turn, count: int) -> None:
        raise Left("registers or removes a hook", self)

    def note(self, turn: Turn, given: list[Any], found: list[Any], journal: list[Any], uses: int, error: Any) -> None:
        """What the hooks did, for an eager call in place of the rest of the plan."""
        shown = given[:len(found)]
        same = [x is y for x, y in zip(found, shown)]
        edits: list[tuple[Any, int]] = []
        grads: list[tuple[Any, bool]] = []
        if journal:
            turn.journal.extend(journal)
            sinks = {id(x) for x in journal}
            versions = {id(x.version) for x in journal if isinstance(x, TensorBase)}
            for t in [*turn.inputs, *turn.held]:
                g = grad_of(t)
                if id(t.sink) in sinks or (g is not None and g.version is not None and id(g.version) in versions):
                    grads.append((t, id(t.sink) in sinks))
            same = [x and not edited(y, journal) for x, y in zip(same, shown)]
        answer = Answer(self, [None if alike else x for x, alike in zip(found, same)], same, edits, grads)
        answer.error = error
        if random.default_generator._uses != uses:
            answer.stream = random.default_generator._mark()
        turn.log.append(answer)

    def left(self, found: list[Any], given: list[Any], tensors: Any) -> Any:
        """What the entry gives."""
        for i in range(self.count):
            x = found[i]
            if (x is not None) != self.whole[i]:
                raise Left("gives None where it gave a gradient, or the other way round", self)
            if self.straight[i] and not x.flags.c_contiguous:
                raise Left("gives what lies otherwise in memory", self)
        return self.results([x for x in found if x is not None], tensors)

    def results(self, found: list[Any], tensors: Any) -> Any:
        for i, t in enumerate(tensors):
            g = grad_of(t)
            if (g is not None) != (i < self.grads):
                raise Left("sets a .grad that it did not set, or the other way round", self)
            if g is not None:
                if self.laid[i] and not g.array.flags.c_contiguous:
                    raise Left("sets a .grad that lies otherwise in memory", self)
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
        answer.again()
        return self.left(found, given, tensors)


class After(CallOut):
    what = AFTER

    def fire(self, of: Any, given: list[Any]) -> list[Any] | None:
        table = of.sink.after
        if not table:
            return None
        fire_after(table, of)
        return []


class OnLeaf(CallOut):
    what = "a hook of a leaf"

    def __init__(self, table: Any, limited: bool) -> None:
        """limited: is it a pass to some leaves, or for their gradients alone?"""
        super().__init__(table, 1)
        self.limited = limited

    def fire(self, of: Any, given: list[Any]) -> list[Any] | None:
        own = of.sink._hooks
        if own is None or not any(table for _, table in own.tensor):
            return None
        if self.limited:
            gs = list(given)
            fire_tensor_hooks(of.sink, gs, False)
            return gs
        g, shared = fire_single(own, given[0], True, False, False)
        return [g.copy("K") if shared and g is not None else g]     # .grad becomes what no hook kept


class AtNode(CallOut):
    """Calls hooks of a node: (the leaf, or the number of the node, gradients that they may replace, and that they see)."""

    what = AT_NODE

    def __init__(self, table: Any, count: int, post: bool) -> None:
        super().__init__(table, count)
        self.post, self.shown = post, count + post

    def fire(self, of: Any, given: list[Any]) -> list[Any] | None:
        assert self.turn is not None
        own = hooks_of(self.turn, of)
        if own is None or not (own.post if self.post else own.pre):
            return None
        if self.post:
            return fire_node_hooks(own.post, given[:self.count], given[self.count:], False)
        found = fire_node_hooks(own.pre, given, None, False)
        return found if type(of) is int else [None if x is None else x.copy("K") for x in found]


class OnModule(CallOut):
    what = ON_MODULE

    def __init__(self, call: Any, enters: bool, likes: list[Any]) -> None:
        """likes: (shape, dtype) where the hooks see zeros in place of a gradient that did not come; else None"""
        super().__init__(dict(enumerate([*call.pre, *call.full])), len(likes))
        self.enters, self.likes = enters, likes

    def fire(self, of: Any, given: list[Any]) -> list[Any] | None:
        for i, like in enumerate(self.likes):
            if like is not None:
                given[i] = np.zeros(like[0], like[1])
        return fired(of, self.enters, given, False)


def waits(call: Any, enters: bool, shown: Any) -> bool:
    """Does the pass come to the end of a module whose hooks all wait for the gradients of its inputs?"""
    return not enters and not call.pre and call.entered and all([t is not None for t in shown])


class Waiting:
    """Where `waits`: (call, gradients that its hooks will be shown)."""

    def __init__(self, likes: list[Any], consts: list[int]) -> None:
        """likes: as of OnModule;  consts: which gradients are the plan's own"""
        self.likes, self.consts = likes, consts

    def __call__(self, call: Any, *arrays: Any) -> None:
        given = list(arrays)
        for i, like in enumerate(self.likes):
            if like is not None:
                given[i] = np.zeros(like[0], like[1])
        for i in self.consts:
            given[i] = given[i].copy("K")
        call.before(tuple([wrap(x) for x in given]))


class OnStep(CallOut):
    """Calls hooks around an optimizer's step, whose arguments they leave as they are."""

    what = ON_STEP
    passing = False

    def __init__(self, hooks: Any, func: Any, before: bool, grad: bool, args: Any, kwargs: Any) -> None:
        super().__init__(hooks, 0)
        self.func, self.before, self.grad = func, before, grad
        self.args, self.kwargs = args, kwargs

    def fire(self, of: Any, given: list[Any]) -> list[Any] | None:
        if not self.before:
            after_step(of, self.args, self.kwargs)
            return []
        args, kwargs = before_step(of, self.func, self.args, self.kwargs)
        if args != self.args or kwargs != self.kwargs:
            raise Left("gives other arguments", self, True)
        return []


class New:
    """The place of a tensor that hooks made, among what they give."""

    __slots__ = ("at", "dtype", "rg", "shape")

    def __init__(self, at: int, t: TensorBase) -> None:
        self.at, self.shape, self.dtype, self.rg = at, t.array.shape, t.array.dtype, wants_grad(t)


class OnForward(CallOut):
    """Calls forward hooks, or those before: (module, arrays or tensors that they are shown, leaves of the graph that they
    make) -> that part of the graph if there is one, arrays of new tensors, arrays that they edited."""

    what = AROUND
    passing = False

    def __init__(self, module: Any, before: bool, hooks: Any, tensors: list[TensorBase], tree: Any, grad: bool) -> None:
        super().__init__(hooks, 0)
        self.module, self.before, self.grad = module, before, grad
        self.what = BEFORE if before else AROUND
        self.at = {id(t): i for i, t in enumerate(tensors)}
        self.tree = holed(tree, self.at)
        self.spec: Any = None                   # what they give
        self.news: list[New] = []
        self.edited: list[int] = []             # which of the tensors shown they edit
        self.part = False                       # do they make a part of the graph?
        self.nodes: list[Any] = []              # of tensors shown: (number, maker) of the node, None without one
        self.there: list[bool] = []             # are they those that were there before the call?
        self.tensors: list[Any] = []            # shown in this run, what came of it, and what was edited
        self.got: Any = None
        self.journal: list[Any] = []
        self.called: set[int] = set()           # hooks that are always called
        self.had = 0                            # hooks on them before

    def show(self, turn: Turn, given: list[Any]) -> list[Any]:
        tensors: list[Any] = []
        for x, node, there in zip(given, self.nodes, self.there):
            if there:
                tensors.append(x)
                continue
            t = wrap(x)
            if node is not None:
                known = turn.nodes.get(node[0])
                if known is None:
                    known = turn.nodes[node[0]] = node[1]()
                t.rg, t.fn = True, known
            tensors.append(t)
        return tensors

    def fire(self, of: Any, given: list[Any]) -> list[Any] | None:
        assert self.turn is not None
        tensors = self.show(self.turn, given)
        self.tensors, self.got = tensors, None
        self.had = hooks_on(tensors, self.there)
        self.called = set()
        self.got = called_on(self.module, refilled(self.tree, tensors), self.before, self.called)
        return []

    def note(self, turn: Turn, given: list[Any], found: list[Any], journal: list[Any], uses: int, error: Any) -> None:
        super().note(turn, given, [], journal, uses, error)
        answer = turn.log[-1]
        answer.tree, answer.shown, answer.called = self.got, self.tensors, self.called
        answer.contents = {i: t.array.copy("K") for i, t in enumerate(self.tensors) if journal and edited(t.array, journal)}
        self.journal = journal

    def left(self, found: list[Any], given: list[Any], tensors: Any) -> Any:
        shown, got, journal = self.tensors, self.got, self.journal
        self.tensors, self.got, self.journal = [], None, []
        news: list[Any] = []
        turn = self.turn
        assert turn is not None
        if not fits(self.spec, got, shown, news):
            raise Left("gives something else", self)
        for i, t in enumerate(shown):
            if journal and i not in self.edited and not self.there[i] and edited(t.array, journal):
                raise Left("edits what it is shown", self)
            if not self.there[i] and t.kept is not None and (self.nodes[i] is None or self.nodes[i][0] not in turn.heard):
                raise Left("asks for the gradient of what it is shown", self)
        made: list[Any] = []
        if self.part:
            part = Part([], [])
            part.edges = [(edge(t), t.nr) if wants_grad(t) else None for t in shown]
            part.roots = [(t.fn, t.nr) if t.fn is not None else None for t in news]
            made.append(part)
        made += [t.array for t in news]
        made += [shown[i].array for i in self.edited]
        return self.results(made, tensors)


    def registered(self, turn: Turn, count: int) -> None:
        """Hooks on what they are shown are called, where the plan comes to it."""
        if hooks_on(self.tensors, self.there) - self.had != count or any(
                not there and t.fn is not None and t.fn._hooks is not None and node[0] not in turn.heard
                for t, node, there in zip(self.tensors, self.nodes, self.there)):
            super().registered(turn, count)

    def answered(self, answer: Answer, given: list[Any], tensors: Any) -> Any:
        news: list[Any] = []
        if self.edited != answer.edited or not fits(self.spec, answer.tree, answer.shown, news):
            raise Left("gives something else", self)
        answer.again()
        made: list[Any] = [answer] if self.part else []
        arrays: list[Any] = answer.arrays
        made += [x.copy("K") for x in arrays[:len(news)]]
        for i, x in zip(self.edited, arrays[len(news):]):
            np.copyto(given[i], x)
            made.append(given[i])
        return self.results(made, tensors)


class OnNode(CallOut):
    """Calls hooks of a tensor that the call made: (the number of its node, gradient)."""

    what = "a hook of a tensor"

    def __init__(self, table: Any, own: NodeHooks | None) -> None:
        """own: those that the function registers at each call; None: those that forward hooks did"""
        super().__init__(table, 1)
        self.own = own

    def fire(self, of: Any, given: list[Any]) -> list[Any] | None:
        assert self.turn is not None
        own = self.own or hooks_of(self.turn, of)
        if own is None or not (own.retain or any(table for _, table in own.tensor)):
            return None
        return [fire_single(own, given[0], True, False, True)[0]]


def hooks_of(turn: Turn, of: Any) -> NodeHooks | None:
    """Of a leaf's node, or of the node of a tensor that forward hooks were shown."""
    node: Node | None = turn.nodes.get(of) if type(of) is int else of.sink
    return None if node is None else node._hooks


def hooks_on(tensors: list[Any], there: list[bool]) -> int:
    """How many hooks tensors, but for those that were there before the call, and their nodes have."""
    nodes = {id(t.fn): t.fn for t, before in zip(tensors, there) if not before and t.fn is not None}
    return sum([len(table) for node in nodes.values() if node._hooks is not None
                for table in (node._hooks.pre, node._hooks.post, *[x for _, x in node._hooks.tensor])])


def called_on(module: Any, tree: Any, before: bool, called: set[int]) -> Any:
    if before:
        return before_forward(module, tree[0], tree[1])
    return after_forward(module, tree[0], tree[1], tree[2], called)


def fits(spec: Any, got: Any, shown: list[Any], news: list[Any]) -> bool:
    """Is it what hooks gave?  news: gets the tensors that they made"""
    if type(spec) is Hole:
        return got is shown[spec.at]
    if type(spec) is New:
        if not isinstance(got, TensorBase) or any(got is t for t in shown) or wants_grad(got) != spec.rg:
            return False
        if got.array.shape != spec.shape or got.array.dtype != spec.dtype or spec.at > len(news):
            return False
        if spec.at == len(news):
            news.append(got)
        return got is news[spec.at]
    if isinstance(got, TensorBase) or type(got) is not type(spec):
        return False
    if type(spec) in (tuple, list):
        return len(spec) == len(got) and all([fits(x, y, shown, news) for x, y in zip(spec, got)])
    if type(spec) is dict:
        return list(spec) == list(got) and all([fits(x, y, shown, news) for x, y in zip(spec.values(), got.values())])
    return bool(got is spec or got == spec)


def edited(array: Any, journal: list[Any]) -> bool:
    """Was memory of that array edited?"""
    own = root(array)
    return any([isinstance(x, TensorBase) and root(x.array) is own for x in journal])


class Rerun:
    """Hooks of an eager call in place of a run that was left: those that were called are not called again."""

    def __init__(self, log: list[Answer]) -> None:
        self.log, self.at = log, 0
        self.it = state()

    def mine(self) -> bool:
        return state() is self.it

    def next(self, what: str) -> Answer | None:
        """What the hooks did; None where they are to be called."""
        if self.at == len(self.log):
            modes.outs = None
            return None
        answer = self.log[self.at]
        self.at += 1
        if answer.what != what:
            raise RuntimeError(f"torch.compile: the plan called {answer.what} where an eager call has {what}")
        answer.again()
        if answer.error is not None:
            raise answer.error
        return answer

    def taken(self, what: str, gs: list[Any]) -> bool:
        """gs become what the hooks left; False where they are to be called."""
        answer = self.next(what)
        if answer is None:
            return False
        for i, (x, same) in enumerate(zip(answer.arrays, answer.same)):
            if not same:
                gs[i] = x
        return True

    def leaf(self, sink: Any, leaf: Any) -> None:
        if sink.after and not self.taken(AFTER, []):
            fire_after(sink.after, leaf)

    def tensor(self, own: Any, g: Any, plain: bool, graph: bool, shared: bool) -> tuple[Any, bool]:
        if not own.retain and not any(table for _, table in own.tensor):
            return g, shared
        gs = [g]
        if self.taken(self.of(own), gs):
            return gs[0], True
        return fire_single(own, g, plain, graph, shared)

    def of(self, own: Any) -> str:
        """Which hooks these are: the log says it, for nothing else is called here."""
        return self.log[self.at].what if self.at < len(self.log) else ""

    def several(self, node: Any, gs: list[Any], graph: bool) -> None:
        if any(table for _, table in node._hooks.tensor) and not self.taken(self.of(node), gs):
            fire_tensor_hooks(node, gs, graph)

    def node(self, table: Any, gs: list[Any], seen: Any, graph: bool) -> list[Any]:
        gs = list(gs)
        return gs if self.taken(AT_NODE, gs) else fire_node_hooks(table, gs, seen, graph)

    def boundary(self, call: Any, enters: bool, shown: Any) -> Any:
        f = call.after if enters else call.before
        if enters and call.seen is None:
            return None
        if waits(call, enters, shown):
            modes.outs = None
            try:
                return f(shown)
            finally:
                modes.outs = self
        gs: list[Any] = [None] * len(shown)
        if not self.taken(ON_MODULE, gs):
            return f(shown)
        answer = self.log[self.at - 1]
        now = tuple([t if same else None if x is None else wrap(x) for t, x, same in zip(shown, gs, answer.same)])
        call.seen = None if enters or not call.entered else spread(now, call.outputs, call.n_outputs)
        return None if all(answer.same) else now

    def before_step(self, optimizer: Any, func: Any, args: Any, kwargs: Any) -> Any:
        return (args, kwargs) if self.taken(ON_STEP, []) else before_step(optimizer, func, args, kwargs)

    def after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self.taken(ON_STEP, []):
            after_step(optimizer, args, kwargs)

    def before(self, module: Any, args: Any, kwargs: Any) -> Any:
        answer = self.next(BEFORE)
        return before_forward(module, args, kwargs) if answer is None else moved(answer, (args, kwargs))

    def after(self, module: Any, args: Any, kwargs: Any, result: Any, called: set[int]) -> Any:
        if self.at < len(self.log):
            called.update(self.log[self.at].called)
        answer = self.next(AROUND)
        if answer is None:
            return after_forward(module, args, kwargs, result, called)
        return moved(answer, (args, kwargs, result))


def moved(answer: Answer, tree: Any) -> Any:
    """What forward hooks gave, of the tensors in the tree, in place of those that they were shown."""
    tensors = list({id(t): t for t in leaves(tree)}.values())
    for i, (was, t) in enumerate(zip(answer.shown, tensors)):
        if was is t:
            continue
        to = edge(t)
        if isinstance(was.fn, Shown):
            was.fn.to = (to, t.nr)
        content = answer.contents.get(i)
        if content is not None:
            np.copyto(t.array, content)
        for _ in range(0 if was.version is None else was.version.edits):
            bump(t)
        if was.fn is not None and was.fn._hooks is not None and to is not None and was.fn is not to:
            handed_on(was.fn._hooks, to, t)
        if was.kept is not None and to is not None:
            t.kept = was.kept
            own_retain(to)[t.nr] = was.kept
    return refilled(holed(answer.tree, {id(was): i for i, was in enumerate(answer.shown)}, True), tensors)


def handed_on(hooks: NodeHooks, to: Node, t: Any) -> None:
    """The hooks of a node that was shown become those of the node of t."""
    for _, table in hooks.tensor:
        tie(to, t.nr, table)
        t.listeners = table if t.listeners is None else t.listeners
    own = to.own_hooks()
    own.pre, own.post = hooks.pre or own.pre, hooks.post or own.post
    hooks.tensor, hooks.pre, hooks.post = [], NONE, NONE


def final(entry: Entry) -> bool:
    """Does it write what cannot be undone?"""
    undone = (CallOut, Kept, Outright, Store, Waiting, Whole)
    if isinstance(entry.fn, Outright) and getattr(entry.fn.f, "__self__", None) is not None:
        return True                             # which changes its object, too
    return not isinstance(entry.fn, undone) and entry.fn not in (set_grad, no_grad, store_grad)


def needed(entries: list[Entry], held: list[tuple[Any, Any]], rules: set[Entry]) -> None:
    """Tell call-outs which tensors backward passes read after them that were read in the forward pass before them."""
    version = {id(array): id(v) for array, v in held}
    read: dict[int, int] = {}                   # where the forward pass read a tensor last
    outs: list[tuple[int, CallOut]] = []
    for at, entry in enumerate(entries):
        if isinstance(entry.fn, CallOut):
            outs.append((at, entry.fn))
            continue
        for x in entry.args:
            v = version.get(id(root(x.array)), 0) if isinstance(x, Value) and x.array is not None else 0
            if v == 0:
                continue
            if entry not in rules:
                read[v] = at
                continue
            for when, out in outs:
                if when > read.get(v, -1) and v not in out.spares:
                    out.needs.add(v)


def turn_of(entries: list[Entry], tensors: Tensors, early: list[int], rules: set[Entry]) -> Turn | None:
    """Make the call-outs among the entries those of one plan, whose turn it is; None where there are none."""
    if not any([isinstance(e.fn, CallOut) for e in entries]):
        return None
    fixed = [e for e in entries if e.fixed]
    last = max(i for i, e in enumerate(fixed) if isinstance(e.fn, CallOut))
    sets = {e.args[0].index for e in fixed if e.fn is set_grad or e.fn is no_grad}
    stores = {e.args[0].index for e in fixed[:last] if isinstance(e.fn, Store)}
    adds: set[int] = set()
    fresh: set[int] = set()
    for e in fixed[:last]:
        if e.fn is set_grad:
            fresh.add(e.args[0].index)
        elif e.fn is store_grad and e.args[0].index not in fresh:
            adds.add(e.args[0].index)
        elif isinstance(e.fn, Outright):
            places = [len(tensors.inputs) + tensors.by_id[id(t)][1] for t in e.fn.tensors]
            adds.update([i for i in places if i not in fresh])
    turn = Turn(tensors, sorted(sets.union(early)), sorted(stores), sorted(adds))
    turn.final = [final(e) for e in fixed]
    dirty = False
    for entry, writes in zip(fixed, turn.final):
        dirty = dirty or writes
        if isinstance(entry.fn, CallOut):
            entry.fn.turn, entry.fn.dirty = turn, dirty
            if isinstance(entry.fn, (OnNode, AtNode)) and type(entry.args[0]) is int:
                turn.heard.add(entry.args[0])
            if isinstance(entry.fn, OnModule):
                turn.boundaries.append(entry.args[0])
    needed(entries, [(root(t.array), shared_version(t)) for t in tensors.held], rules)
    later: set[int] = set()
    for entry in reversed(entries):
        if isinstance(entry.fn, CallOut):
            entry.fn.later = set(later)
        places = [x.index for x in entry.args if isinstance(x, Value) and x.kind == "grad"]
        if entry.fn is set_grad or entry.fn is store_grad:
            places.append(entry.args[0].index)
        later.update([id(turn.of(i).sink) for i in places if i >= turn.count])
    return turn
