"""Backward passes as entries: what the engine tells of each node that runs."""
from __future__ import annotations

from typing import Any, Final

import numpy as np

from .._engine.nary import Many, Nary
from .._engine.node import Node, NodeHooks, Task
from .._engine.op import Binary, Unary
from .._engine.tensor import AccumulateGrad, TensorBase
from .book import Book, Tensors
from .effects import Laid
from .lower import EACH, Linear2
from .values import Entry, Refused, Value, of_array
from .whole import Region, WholeGrads

LIVE: Final = 0
USED: Final = 1
LEFT: Final = 2


def used_up(fn: Node) -> int:
    """Was the graph behind fn used?  LIVE where a backward pass from it may still come to its end; LEFT where some was not."""
    todo, seen, used, gone, left = [fn], {id(fn)}, False, False, False
    while todo:
        node = todo.pop()
        if isinstance(node, (Unary, Binary)):
            free, nothing = node.freed, node.keep == 0 and not node.holds
        elif isinstance(node, Many):
            free, nothing = node.freed, node.keep == 0
        elif isinstance(node, Nary):
            free, nothing = node.freed, node.reads == 0
        elif isinstance(node, AccumulateGrad):
            continue
        else:
            free, nothing = bool(getattr(node, "freed", False)), False
        if free:
            used, gone = True, gone or not nothing
        elif not nothing:
            left = True
        for i in range(node.edge_count()):
            to = node.edge_node(i)
            if to is not None and id(to) not in seen:
                seen.add(id(to))
                todo.append(to)
    return LIVE if not used or left and not gone else LEFT if left else USED


def keeps(node: Any) -> Any:
    return node.keep


def is_part(value: Value) -> bool:
    return value.entry is not None and isinstance(value.entry.fn, WholeGrads)


class Frame:
    """A node of a pass while it runs."""

    def __init__(self, task: Any, node: Any, gs: list[Value | None]) -> None:
        self.task, self.node, self.gs = task, node, gs
        self.edges: list[tuple[Node, int, Any]] = []
        self.had: Any = None
        self.settled = False                    # of a leaf: was it noted what it accumulated?
        self.sent: list[Value | None] | None = None     # what hooks of a module left
        self.region: Region | None = None       # which is still to be entered


class Passes(Book):
    """What passes tell."""

    heeds = False                               # may hooks be entries?

    def __init__(self, tensors: Tensors) -> None:
        super().__init__(tensors)
        self.sums: dict[tuple[int, int, int], Value] = {}
        self.frames: list[Frame] = []
        self.begun: list[int] = []              # nodes, as they ran
        self.lines: dict[int, str] = {}         # pass -> the user's line
        self.regions: dict[int, Region] = {}    # node -> the call that is one entry
        self.uses: dict[int, int] = {}          # node -> used_up

    def forget(self) -> None:
        super().forget()
        self.sums.clear()
        self.frames.clear()
        self.regions.clear()

    def hears(self, node: Node, hooks: NodeHooks) -> bool:
        """May hooks of a node that the call made be entries?"""
        return False

    def use(self, fn: Node) -> int:
        """used_up, once the call's own passes are over."""
        found = self.uses.get(id(fn))
        if found is None:
            found = self.uses[id(fn)] = used_up(fn)
        return found

    def begin(self, task: Task, node: Node, g: Any, more: Any) -> None:
        if self.off:
            return
        self.begun.append(id(node))
        try:
            if self.cut and any([node is x for x in self.nodes[:self.cut]]):
                raise Refused("a backward pass into what was computed before an edit through .data")
            region = None if task.graph else self.regions.get(id(node))
            later = region is not None and node._hooks is not None     # its hooks come first
            if region is not None and not later:
                self.enter(task, region)
            gs: list[Value | None] = []
            for nr, got in enumerate([g] if more is None else [g, *more]):
                if got is None:
                    gs.append(None)
                    continue
                array = got.array if isinstance(got, TensorBase) else got
                known = self.sums.pop((task.number, id(node), nr), None)
                if known is not None and not task.graph:
                    if known.array is None:
                        known.array = array
                        known.straight = array.flags.c_contiguous if is_part(known) else known.straight
                        self.know(known)
                    self.values[id(array)] = known
                    self.alive.append(array)
                if region is None or later:
                    gs.append(self.of(array))
            if self.frames and self.frames[-1].task is task:
                self.frames.pop()                           # its gradient was asked for: it did not run
            frame = Frame(task, node, gs)
            if later:
                frame.region = region
            self.frames.append(frame)
            if isinstance(node, AccumulateGrad):
                frame.had = node.grad
                if node._hooks is not None and not self.heeds:
                    raise Refused("a hook of a leaf")
            elif node._hooks is not None and not self.hears(node, node._hooks):
                raise Refused(f"a hook of {node.name()}")
        except Refused as error:
            self.refuse(error)

    def line_of(self, task: Task) -> str:
        """The line that began the pass."""
        found = self.lines.get(task.number)
        if found is None:
            found = self.lines[task.number] = self.line()
        return found

    def edge(self, task: Task, to: Node, nr: int, g: Any) -> None:
        if self.off:
            return
        try:
            frame = self.frames[-1] if self.frames else None
            if task.graph:
                seed = g.array if isinstance(g, TensorBase) else g
                if (frame is None or frame.task is not task) and id(seed) not in self.values and seed.size == 1:
                    self.know(of_array(seed, "const"))
            elif frame is not None and frame.task is task:
                if frame.region is not None:
                    self.entered_late(frame, frame.region)
                frame.edges.append((to, nr, g))
            else:                                           # a seed
                if id(g) not in self.values:
                    if g.size != 1:
                        raise Refused("a gradient that was not made by an op of the call")
                    self.know(of_array(g, "const"))
                self.arrive(task, to, nr, self.of(g))
        except Refused as error:
            self.refuse(error)

    def arrive(self, task: Any, to: Any, nr: int, g: Value) -> None:
        """Add to what the node was sent before, as Task.deliver does."""
        key = (task.number, id(to), nr)
        had = self.sums.get(key)
        if had is None:
            self.sums[key] = g
            return
        total = Value("made", g.shape, g.dtype)
        if g.dtype is not had.dtype or g.shape != had.shape:
            raise Refused("gradients of different types meet")
        total.straight = had.straight or g.straight
        if all(v.straight or v.full is not None for v in (had, g)) and g.dtype.kind == "f" and g.dtype.itemsize > 2 and (
                total.straight):
            self.lower.each("add", [had, g], total, "sum of gradients")
        else:
            self.add(Entry("sum of gradients", EACH["add"], [had, g], [total]))
        self.sums[key] = total

    def end(self, task: Task, node: Node) -> None:
        if self.off:
            return
        try:
            frame = self.frames.pop()
            if isinstance(node, AccumulateGrad):
                if not frame.settled:
                    self.accumulated(frame)
            elif frame.sent is not None:
                self.passed(frame, frame.sent)
            elif not task.graph:
                self.ran(frame)
        except Refused as error:
            self.refuse(error)

    def enter(self, task: Task, region: Region) -> None:
        """The entry of the whole backward pass of a call, at the first of its nodes: the others run right after it."""
        if region.task == task.number:
            return
        region.task = task.number
        region.sent = {}
        if region.answer is not None:
            region.answer.sent.append({})
        outs: dict[tuple[int, int], int] = {}
        for i, made in enumerate(region.roots):
            if made is not None and (task.number, id(made[0]), made[1]) in self.sums:
                outs.setdefault((id(made[0]), made[1]), i)
        to: dict[tuple[int, int], int] = {}
        for i, edge in enumerate(region.edges):
            if edge is not None and task.wants(edge[0]):
                to.setdefault((id(edge[0]), edge[1]), i)
        begun = {key: i for key, i in to.items() if (task.number, *key) in self.sums}
        if region.answer is not None:           # what was sent before is part of the sum
            for key, i in begun.items():
                had = self.sums[(task.number, *key)].array
                if had is None:
                    raise Refused("a gradient that is a sum not recorded")
                region.answer.sent[-1][i] = had.copy("K")
        values = [Value("made", region.values[i].shape, region.values[i].dtype) for i in to.values()]
        gs = [self.sums[(task.number, *key)] for key in (*outs, *begun)]
        rules = region.rules
        rule = None if rules is None or begun or any(key not in rules for key in to) else [rules[key] for key in to]
        ways = [region.reaches(i) for i in outs.values()] if len(outs) > 1 else [set(to.values())]
        fn = WholeGrads(list(outs.values()), list(to.values()), list(begun.values()), rule, ways, region.passes)
        region.passes += 1
        self.add(Entry(f"{region.name} backward", fn, [region.part, *gs], values, "", False, self.line_of(task)))
        for key, value in zip(to, values):
            region.sent[(task.number, *key)] = value

    def entered_late(self, frame: Frame, region: Region) -> None:
        """After the hooks of its first node."""
        frame.region = None
        for nr, g in enumerate(frame.gs):
            if g is not None:
                self.sums[(frame.task.number, id(frame.node), nr)] = g
        self.enter(frame.task, region)
        for nr in range(len(frame.gs)):
            self.sums.pop((frame.task.number, id(frame.node), nr), None)

    def left(self, frame: Frame, region: Region) -> None:
        """A node of the call ran: what it sent out of it is what the entry gives."""
        for to, nr, array in frame.edges:
            key = (frame.task.number, id(to), nr)
            if id(to) in region.nodes:
                continue
            if key in region.sent:
                value = self.sums[key] = region.sent.pop(key)
                value.straight = bool(array.flags.c_contiguous)
            if region.answer is not None:
                at = next(i for i, e in enumerate(region.edges) if e is not None and e[0] is to and e[1] == nr)
                sent: dict[int, Any] = region.answer.sent[-1]
                sent[at] = np.asarray(sent[at] + array) if at in sent else array.copy("K")

    def ran(self, frame: Frame) -> None:
        if self.regions and id(frame.node) in self.regions:
            self.left(frame, self.regions[id(frame.node)])
            return
        for (to, nr, _), value in zip(frame.edges, self.ruled(frame, frame.edges)):
            self.arrive(frame.task, to, nr, value)

    def ruled(self, frame: Frame, edges: list[tuple[Node, int, Any]]) -> list[Value]:
        """What the node's rules gave for these edges."""
        node: Node = frame.node
        g = frame.gs[0]
        if not edges:
            return []
        if g is None or len(frame.gs) > 1:
            raise Refused(f"{node.name()} has several outputs")
        fresh: list[int] = []                   # which gradients of the node are made here
        arrays: list[Any] = []
        sent: list[Value | None] = []
        for i in range(node.edge_count()):
            if len(sent) == len(edges):
                break
            to, nr, array = edges[len(sent)]
            if node.edge_node(i) is to and node.edge_nr(i) == nr:
                known = self.values.get(id(array))
                sent.append(known)
                if known is None:
                    fresh.append(i)
                    arrays.append(array)
        if len(sent) < len(edges):
            raise Refused(f"{node.name()} passes gradients on in its own order")
        values: list[Value] = []
        if fresh:
            made = self.made.get(id(node))
            if made is None and (type(node).__name__ != "TBackward0" or keeps(node)):
                raise Refused("a backward pass continues into a graph from before the call")
            where = self.line_of(frame.task)
            if id(node) in self.linears:
                values = self.lower.linear_rules(g, made, fresh, arrays, node, where)
            else:
                values = self.lower.rules(node, g, made or ([None], None), fresh, arrays, where)
        fill = iter(values)
        return [next(fill) if value is None else value for value in sent]

    def passed(self, frame: Frame, sent: list[Value | None]) -> None:
        """A node around a module ran, and its hooks left these."""
        edges = iter(frame.edges)
        for i, value in enumerate(sent):
            if value is not None and frame.node.edge_node(i) is not None:
                to, nr, _ = next(edges)
                self.arrive(frame.task, to, nr, value)

    def accumulated(self, frame: Frame) -> None:
        node: Any = frame.node
        g = frame.gs[0]
        grad = node.grad
        if node.after and not self.heeds:
            raise Refused("a hook of a leaf")
        if g is None or grad is None:
            return
        array = grad.array
        if frame.had is grad:                               # added in place
            old = self.of(array)
            total = Value("made", old.shape, old.dtype)
            total.straight, total.array = old.straight, array
            if g.dtype is not old.dtype or g.shape != old.shape or not old.straight or frame.task.graph:
                raise Refused("a gradient is added to one with another memory layout")
            if g.straight or g.full is not None:
                self.lower.each("add", [old, g], total, "sum of gradients")
            else:
                self.add(Entry("sum of gradients", EACH["add"], [old, g], [total]))
            self.overwritten(array, total)
        elif id(array) not in self.values:                  # copied
            if array.dtype is not g.dtype or array.shape != g.shape:
                raise Refused("a gradient changes its type")
            self.add(self.turned(g, array) or Entry("gradient", Laid(array), [g], [of_array(array)]))
        self.alive.append(grad)

    def turned(self, g: Value, array: Any) -> Entry | None:
        """The gradient of the weight of F.linear, as one step."""
        entry = g.entry
        if entry is None or entry.name != "TBackward0" or not isinstance(entry.args[0], Value):
            return None
        before = entry.args[0].entry
        if before is None or not isinstance(before.fn, Linear2) or not array.flags.c_contiguous:
            return None
        return Entry("linear", Linear2(before.fn.like, True), before.args, [of_array(array)], "", False, before.where)
