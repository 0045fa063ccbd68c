"""The graph of a compiled call whose results can still be differentiated: one node, whose backward pass is a plan as well.

A pass through the recorded call's own graph is recorded right after it, with ones for the gradients of the results.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._engine.node import Node, Task, deliver_all
from .._engine.op import edge, number
from .._engine.saved import changed, freed
from .._engine.tensor import AccumulateGrad, TensorBase, Version, shared_version, wants_grad, wrap
from .._rules.identity import BackwardHookFunctionBackward
from .._rules.loss import NllLossBackward0
from ..autograd.function import BackwardCFunction
from .arguments import is_data
from .code import Program
from .lower import GradOf, NllAgain, NllOf
from .passes import LIVE
from .steps import Steps
from .values import Entry, Refused, Value, of_array, root
from .whole import WholeGrads, apart

if TYPE_CHECKING:
    from .trace import Trace

DOUBLE = "torch.compile with aot_autograd does not currently support double backward"


def tensors_in(x: Any) -> list[TensorBase]:
    if isinstance(x, TensorBase):
        return [x]
    if type(x) is list or isinstance(x, tuple):
        return [t for y in x for t in tensors_in(y)]
    sort: Any = type(x)
    many = x.values() if isinstance(x, dict) else vars(x).values() if is_data(sort) else ()
    return [t for y in many for t in tensors_in(y)]


def live(trace: Trace, result: Any) -> list[TensorBase]:
    """The results whose graph was not used up."""
    found: list[TensorBase] = []
    for t in tensors_in(result):
        if t.fn is not None and id(t) not in trace.tensors.by_id and all(t is not x for x in found) and trace.use(t.fn) == LIVE:
            found.append(t)
    return found


def quiet(roots: list[Any], seen: set[int]) -> None:
    """Refused where a pass from the roots to nodes in `seen` would call functions of the user's: this pass is not theirs."""
    todo = list(roots)
    while todo:
        node = todo.pop()
        if isinstance(node, (BackwardCFunction, BackwardHookFunctionBackward)) or (
                node._hooks is not None and not isinstance(node, AccumulateGrad)):
            raise Refused(f"the backward pass through {node.name()} calls Python")
        for i in range(node.edge_count()):
            to = node.edge_node(i)
            if to is not None and id(to) not in seen:
                seen.add(id(to))
                todo.append(to)


class Graph:
    """What the backward pass from the results does.

    outs     the results
    seeds    the values of their gradients
    leaves   which tensors, that were there before, get a gradient; grads: its value
    """

    def __init__(self, trace: Trace, outs: list[TensorBase]) -> None:
        self.outs = outs
        self.mark = len(trace.entries)          # entries before it are the call's
        self.seeds: list[Value] = []
        roots, ones = [], []
        for t in outs:
            if t.listeners or t.kept is not None or t.inference:
                raise Refused("a result with hooks")
            one = np.ones(t.array.shape, t.array.dtype)
            self.seeds.append(of_array(one, "seed"))
            trace.know(self.seeds[-1])
            roots.append(edge(t))
            ones.append(one)
        wanting = [(kind, i, t) for kind, i, t in trace.tensors.all() if wants_grad(t)]
        quiet(roots, {id(edge(t)) for _, _, t in wanting})
        trace.begun.clear()
        try:
            got = apart([(n, t.nr) for n, t in zip(roots, outs)], ones, False, [(edge(t), t.nr) for _, _, t in wanting])
        except RuntimeError as error:
            raise Refused(f"a result cannot be differentiated: {error}") from None
        if trace.reason:
            return
        self.leaves: list[tuple[str, int]] = []
        self.grads: list[Value] = []
        when = {at: n for n, at in reversed(list(enumerate(trace.begun)))}
        for (kind, i, _), array in sorted(zip(wanting, got), key=lambda pair: when.get(id(edge(pair[0][2])), 0)):
            if array is not None:
                self.leaves.append((kind, i))
                turned = trace.turned(trace.of(array), array)
                if turned is not None:
                    trace.entries.append(turned)
                self.grads.append(trace.of(array) if turned is None else turned.outs[0])

    def settle(self, trace: Trace) -> None:
        """Part the entries: what the backward pass needs of the call is saved by it."""
        forward, backward = trace.entries[:self.mark], [again(e) for e in trace.entries[self.mark:]]
        made = {id(v) for e in backward for v in e.outs} | {id(v) for v in self.seeds}
        self.saved: list[Value] = []
        self.stand: dict[int, Value] = {}       # the value of the call -> that of the backward pass
        for at, v in enumerate(self.seeds):
            self.stand[id(v)] = Value("seed", v.shape, v.dtype, v.array, at, v.straight)
        needed = {id(v) for v in self.grads}
        self.entries: list[Entry] = []
        for entry in reversed(backward):
            if any(id(v) in needed for v in entry.outs):
                self.entries.append(entry)
                needed.update(id(x) for x in entry.args if isinstance(x, Value))
        self.entries.reverse()
        for entry in self.entries:
            entry.args = [self.saves(x, made) if isinstance(x, Value) else x for x in entry.args]
            for v in entry.outs:
                v.full = None if v.full is None else self.saves(v.full, made)
        self.grads = [self.saves(v, made) for v in self.grads]
        self.kept = [v for v in self.saved if v.kind == "made"]
        known = [id(root(v.array)) for v in (*self.seeds, *self.saved) if v.array is not None]
        roots = [id(root(v.array)) for v in self.grads]
        self.lone = [roots.count(id(root(v.array))) == 1 and id(root(v.array)) not in known and lone(v) for v in self.grads]
        memory = {id(root(t.array)): (kind, i) for kind, i, t in trace.tensors.all()}
        self.viewed = [(at, *memory[id(root(v.array))]) for at, v in enumerate(self.saved)
                       if v.kind == "made" and v.array is not None and id(root(v.array)) in memory]
        # Parts look at the memory of what they took and gave: what users get is a copy
        self.inner = {id(root(x.array)) for v in self.kept if v.dtype is None and v.entry
                      for x in (*v.entry.args, *v.entry.outs) if isinstance(x, Value) and x.array is not None}
        trace.entries = forward

    def saves(self, v: Value, made: set[int]) -> Value:
        found = self.stand.get(id(v))
        if found is not None or v.kind == "const" or (id(v) in made and v.kind == "made"):
            return found or v
        if v.kind not in ("made", "input", "held"):
            raise Refused("the gradient of a result depends on a .grad")
        if v.kind == "made" and v.dtype is not None and v.array is None:
            raise Refused("the gradient of a result depends on something that was not recorded")
        if v.past and v.kind != "made":
            raise Refused("the gradient of a result depends on a tensor that the call edits")
        new = self.stand[id(v)] = Value("saved", v.shape, v.dtype, v.array, len(self.saved), v.straight)
        self.saved.append(v)
        if v.full is not None:
            new.full = self.saves(v.full, made)
        return new

    def ready(self, results: list[Value]) -> None:
        """Once the call's own plan is made.  results: the values that it gives before those of `kept`."""
        self.places: list[tuple[str, int]] = []         # where the call has what it saves
        count = len(results)
        for v in self.saved:
            self.places.append((v.kind, v.index if v.kind != "made" else count))
            count += v.kind == "made"
        self.shown = [(at, i) for i, v in enumerate(results) for at, x in enumerate(self.saved)
                      if x.kind == "made" and x.array is not None and root(x.array) is root(v.array)]
        self.plans: dict[tuple[bool, ...], tuple[Steps, list[int], list[bool], set[int]]] = {}
        self.edges: list[tuple[Any, int]] | None = None         # where gradients go, where that is the same for all calls
        self.sinks: list[tuple[TensorBase, Any]] = []
        self.likes = [(t.array.shape, t.array.dtype) for t in self.outs]
        self.outs = []

    def node(self, arrays: list[Any], inputs: list[Any], held: list[Any], redo: Any = None) -> CompiledFunctionBackward:
        """The node of a call that gave these arrays; redo: makes the call again, with the graph of eager calls."""
        edges = self.edges
        if edges is None or not all([t.sink is s for t, s in self.sinks]):
            tensors = [(inputs if kind == "input" else held)[i] for kind, i in self.leaves]
            edges = [(edge(t), t.nr) for t in tensors]
            if all(kind == "held" for kind, _ in self.leaves):
                self.edges, self.sinks = edges, [(t, t.sink) for t in tensors]
        kept: list[Any] = []
        checks = []
        for at, (kind, i) in enumerate(self.places):
            if kind == "made":
                kept.append(arrays[i])
            else:
                t = (inputs if kind == "input" else held)[i]
                kept.append(t)                  # not its array: what somebody else holds is copied where Python runs
                checks.append(checked(at, t))
        checks.extend([checked(at, (inputs if kind == "input" else held)[i]) for at, kind, i in self.viewed])
        return CompiledFunctionBackward(self, kept, checks, edges, redo)

    def plan(self, given: tuple[bool, ...]) -> tuple[Steps, list[int], list[bool], set[int]]:
        """The plan where only these results have gradients; which of `grads` it gives, which of `saved` it needs."""
        found = self.plans.get(given)
        if found is None:
            entries, gone, same = self.without(given)
            grads = [same.get(id(v), v) for v in self.grads]
            there = [i for i, v in enumerate(grads) if id(v) not in gone]
            alone = [x and all(given) for x in self.lone]
            steps = Steps(entries, [grads[i] for i in there], {})
            needs = {v.index for v in steps.takes if v.kind == "saved"}
            found = self.plans[given] = (steps, there, alone, needs)
        return found

    def without(self, given: tuple[bool, ...]) -> tuple[list[Entry], set[int], dict[int, Value]]:
        """The entries that run where some results have no gradient: an op none of whose gradients came does not."""
        gone = {id(self.stand[id(v)]) for v, there in zip(self.seeds, given) if not there}
        same: dict[int, Value] = {}
        entries: list[Entry] = []
        if not gone:
            return self.entries, gone, same

        def stand(out: Value, had: Value) -> None:
            if out.straight and not had.straight:
                entries.append(Entry("sum of gradients", np.ascontiguousarray, [had], []))
                entries[-1].outs = [out]
            else:
                same[id(out)] = had

        for entry in self.entries:
            args = [same.get(id(x), x) if isinstance(x, Value) else x for x in entry.args]
            whole = args
            if entry.op and Program is not None:    # in C it takes what a view repeats, which may be such a sum
                args = [same.get(id(x.full), x.full) if isinstance(x, Value) and x.full is not None else x for x in args]
            lost = [isinstance(x, Value) and id(x) in gone for x in args]
            if any(lost) and isinstance(entry.fn, WholeGrads) and not all(lost[1:]):
                args = [None if gone_ else x for x, gone_ in zip(args, lost)]
                kept = entry.fn.kept(args)
                gone.update(id(v) for v, had in zip(entry.outs, kept) if had is None)
                if True not in kept:            # the call itself gives nothing
                    for v, had in zip(entry.outs, kept):
                        if had is not None:
                            stand(v, had)
                    continue
            elif any(lost) and entry.name == "sum of gradients" and not all(lost):
                (left,) = [x for x, gone_ in zip(whole, lost) if not gone_]     # all of it, not what it repeats
                stand(entry.outs[0], left)
                continue
            elif any(lost):
                gone.update(id(v) for v in entry.outs)
                continue
            new = Entry(entry.name, entry.fn, args, [], entry.op, entry.fixed, entry.where)
            new.outs = entry.outs
            entries.append(new)
        return entries, gone, same


def again(entry: Entry) -> Entry:
    """The entry, for any state of the nodes that the call left."""
    made, fn, args = entry.after, entry.fn, list(entry.args)
    if isinstance(fn, GradOf) and isinstance(fn.node, NllLossBackward0) and made is not None and made.entry is not None:
        assert isinstance(made.entry.fn, NllOf)
        fn, args = NllAgain(fn.node), [*args, *made.entry.args]
    new = Entry(entry.name, fn, args, [], entry.op, entry.fixed, entry.where)
    new.outs = entry.outs
    return new


def lone(v: Value) -> bool:
    """Is its array new at each replay, and nobody else's, if no other result nor what is saved shares its memory?"""
    return (v.kind == "made" and v.entry is not None and not isinstance(v.entry.fn, WholeGrads) and v.straight
            and bool(v.array.flags.writeable))


class CompiledFunctionBackward(Node):
    """A call that was replayed."""

    __module__ = "retrograd.autograd.function"

    def __init__(self, graph: Graph, arrays: list[Any], checks: list[tuple[int, Version, int, Any, Any, int]],
                 edges: list[tuple[Any, int]], redo: Any) -> None:
        self.graph, self.edges, self.redo = graph, edges, redo
        self.arrays: list[Any] | None = arrays
        self.checks = checks                    # (which is saved, version, edits, array, node, number): of what users can edit
        self._outputs = len(graph.likes)
        self.rest: dict[int, list[Any]] = {}    # pass -> what it has still to hand on
        number(self)

    def edge_count(self) -> int:
        return len(self.edges)

    def edge_node(self, i: int) -> Node | None:
        found: Node | None = self.edges[i][0]
        return found

    def edge_nr(self, i: int) -> int:
        return self.edges[i][1]

    def output_likes(self) -> list[Any]:
        return self.graph.likes

    def backward(self, gs: list[Any], graph: bool, last: bool = False) -> list[Any]:
        """last: the node is not used again."""
        outs: list[Any] = [None] * len(self.edges)
        given = tuple([g is not None for g in gs])
        if not any(given):
            return outs
        if self.arrays is None:
            raise freed()
        if graph and self.redo is not None:
            return self.again(gs)
        steps, there, _, needs = self.graph.plan(given)
        self.unedited(needs)
        arrays = [None if g is None else np.asarray(g.array if graph else g, order="C") for g in gs]
        kept = self.arrays
        if last:                                # the plan alone holds them
            self.release()
        filled = [(kept if v.kind == "saved" else arrays)[v.index] for v in steps.takes]
        filled = [x.array if isinstance(x, TensorBase) else x for x in filled]
        del kept, arrays
        for i, x in zip(there, steps.run(filled)):
            outs[i] = Twice(self).of(x) if graph else x
        return outs

    def unedited(self, needs: set[int]) -> None:
        for at, version, edits, array, fn, nr in self.checks:
            if version.edits != edits and at in needs:
                raise changed(array, fn, nr, version.edits, edits)

    def again(self, gs: list[Any]) -> list[Any]:
        """What can be differentiated once more comes from the graph of eager calls."""
        if self._hooks is not None:             # second derivatives would go through the results without them
            raise RuntimeError(DOUBLE + " through results with hooks")
        made = [(edge(t), t.nr, g) for t, g in zip(self.redo(), gs) if g is not None]
        return apart([(n, nr) for n, nr, _ in made], [g for _, _, g in made], True, self.edges)

    def push(self, task: Task, g: Any, more: list[Any] | None, shared: bool) -> None:
        rest = self.rest.pop(task.number, None)
        if rest is None:
            gs = [g, *(more or ())]
            gs.extend([None] * (self._outputs - len(gs)))
            outs = self.backward(gs, task.graph, not task.retain)
            if self._hooks is not None:
                deliver_all(task, self, self.late(task, outs))
                return
            lone = self.graph.plan(tuple([g is not None for g in gs]))[2]
            rest = [(to, nr, x, not alone) for (to, nr), x, alone in zip(self.edges, outs, lone)]
            if task.needed is not None or task.observer is not None or not any(map(heard, self.edges)):
                for to, nr, x, alike in rest:
                    task.deliver(to, nr, x, alike)
                return
            rest.reverse()
        to, nr, x, alike = rest.pop()           # hooks of leaves fire in the order of eager passes
        task.deliver(to, nr, x, alike)
        if rest:
            self.rest[task.number] = rest
            task.line_up(self)

    def release(self) -> None:
        self.arrays = self.redo = None
        self.checks = []


class Twice(Node):
    """Where a second derivative would go on."""

    def __init__(self, node: CompiledFunctionBackward) -> None:
        self.node = node

    def of(self, array: Any) -> Any:
        out = wrap(array)
        number(self)
        out.rg, out.fn = True, self
        return out

    def name(self) -> str:
        return "CompiledFunctionBackwardBackward"

    def edge_count(self) -> int:
        return self.node.edge_count()

    def edge_node(self, i: int) -> Node | None:
        return self.node.edge_node(i)

    def edge_nr(self, i: int) -> int:
        return self.node.edge_nr(i)

    def backward(self, gs: list[Any], graph: bool) -> list[Any]:
        raise RuntimeError(DOUBLE)


def heard(to: tuple[Any, int]) -> bool:
    """Does a hook see when a leaf gets its gradient?"""
    return isinstance(to[0], AccumulateGrad) and (to[0]._hooks is not None or bool(to[0].after))


def checked(at: int, t: TensorBase) -> tuple[int, Version, int, Any, Any, int]:
    version = shared_version(t)
    return at, version, version.edits, t.array, t.fn, t.nr
