"""backward(): every node after all the nodes that feed it, the newest first."""
from __future__ import annotations

import re
from typing import Any, Final, Optional

from mypy_extensions import i64

from . import anomaly, deep, hooks, promote
from .modes import claiming, hush, loud, modes, outside, quiet, settle, state, unhush
from .node import Node, NodeHooks, Slot, Task, Value, deliver_all, name_of
from .tensor import AccumulateGrad
from .warn import instead

DEEP: Final = 30        # passes inside passes before the next goes to a thread of its own: see deep.py
FLOOR: Final = 4        # entries at the bottom of a stack that never leave: a list that runs empty frees its memory
POLL: Final = 64        # nodes between two looks at pending signals: compiled loops do not look by themselves


def _nothing() -> Any:
    return eval("lambda: None")             # interpreted: the interpreter handles Ctrl-C when it is entered


_poll: Final[Any] = _nothing()


def run_backward(
    roots: list[tuple[Node, int]], seeds: list[Value], retain: bool, graph: bool,
    targets: Optional[list[tuple[Node, int]]], accumulate: bool, stop: bool = False, rows: Any = None,
) -> list[Value]:
    """One pass from `roots`, fed with `seeds`.

    targets None: accumulate into every leaf.  Else only what leads to a target runs; `accumulate` says whether the
    targets' nodes run too (backward(inputs=)) or their gradients are returned (autograd.grad).  stop: what comes behind
    a target is no part of the pass, even if it leads to another one.  rows: the seeds are batches, and this makes gradients
    of them (NOTE [Rows] in autograd/_rows.py); [] and no pass where hooks would see those.
    """
    it = state()
    if it.depth >= DEEP:
        return deep.elsewhere(it, run_backward, (roots, seeds, retain, graph, targets, accumulate, stop, rows))
    task = Task(graph, retain)
    task.rows = rows
    claiming.acquire()
    try:
        stack = task.stack
        floor = [roots[0][0]] * FLOOR
        stack.extend(floor)
        for node, _ in roots:
            task.see(node)
        if stop and targets is not None:
            ends = {node for node, _ in targets}
            while len(stack) > FLOOR:
                node = stack.pop()
                if node not in ends:
                    node.visit(task)
        while len(stack) > FLOOR:
            stack.pop().visit(task)
        stack.clear()
    finally:
        claiming.release()
    if len(roots) == 1:
        task.root = roots[0][0]
    if targets is not None:
        limit(task, roots, targets, accumulate, stop)
        if rows is not None and hooked(task):
            task.done = True
            return []
    recording = it.grad
    packers = list(it.pack_hooks)
    outer: Any = it.task
    it.grad = graph
    it.task = task
    busy = it.busy
    it.busy = True                          # rules are not asked about; hooks are: `loud`
    it.depth += 1
    settle(it)
    task.errors = outside()
    task.plain = not graph and not it.inference
    token = hush()
    try:
        for i in range(len(roots)):
            node, nr = roots[i]
            task.deliver(node, nr, seeds[i], True)
        loop(task)
        captured = task.captured
        if task.callbacks:
            loud(task.errors)
        for callback in task.callbacks:     # may grow while it runs
            callback()
        return captured
    except BaseException:
        abandon(task, roots)
        raise
    finally:
        unhush(token)
        task.done = True
        task.ready = None
        task.heap = []
        task.captured = []
        task.root = None
        task.running = None
        task.needed = None
        task.captures = None
        task.shadows = None
        it.grad = recording
        it.pack_hooks = packers             # a hook may have left some behind
        it.task = outer
        it.busy = busy
        it.depth -= 1
        settle(it)


def queue_callback(callback: Any) -> None:
    """Run `callback` at the end of the pass that is going on."""
    task: Any = state().task
    if task is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    task.callbacks.append(callback)


def loop(task: Task) -> None:
    retain = task.retain
    count: i64 = 0
    node: Optional[Node] = None
    try:
        while True:
            node = task.next()
            if node is None:
                break
            slot = task.slot(node)
            g = slot._got
            more = slot._more
            shared = slot._shared
            slot._got = None
            slot._more = None
            slot._task = None
            if task.observer is not None:
                task.observer.begin(task, node, g, more)
            if node._hooks is None and task.needed is None and not modes.anomaly:
                came = node._came
                if came is not None:
                    came.append((g,))
                    shared = True
                node.push(task, g, more, shared)
            elif not careful(task, node, g, more, shared):
                continue
            if task.observer is not None:
                task.observer.end(task, node)
            if not retain:
                node.release()
            count += 1
            if count & (POLL - 1) == 0:
                _poll()
    except ValueError as error:
        if node is None or not own_code(error):
            raise
        raise instead(RuntimeError(
            f"{in_words(str(error))}\nFunction {name_of(node)} got an invalid gradient. Did the shape of what it made change "
            "without its knowing, in place under no_grad or by .data?")) from None


def in_words(text: str) -> str:
    """NumPy's error about shapes in PyTorch's words."""
    shapes = [tuple([int(n) for n in found.split(",") if n]) for found in re.findall(r"\(([\d,]*)\)", text)]
    if len(shapes) > 1 and "output operand" in text:
        return f"output with shape {list(shapes[0])} doesn't match the broadcast shape {list(shapes[1])}"
    if len(shapes) > 1:
        try:
            promote.check_shapes(shapes[0], shapes[1])
        except RuntimeError as error:
            return str(error)
    return text


def own_code(error: Any) -> bool:
    """Did it come from NumPy, with no hook and no Function of the user's in between?"""
    trace = error.__traceback__
    while trace is not None:
        name: Any = trace.tb_frame.f_globals.get("__name__", "")
        if not str(name).startswith("retrograd."):
            return False
        trace = trace.tb_next
    return True


def careful(task: Task, node: Node, g: Value, more: Optional[list[Value]], shared: bool) -> bool:
    """Run one node that has hooks, may be captured, or is watched; -> did it run?"""
    if not modes.anomaly:
        return run_node(task, node, g, more, shared)
    try:
        return run_node(task, node, g, more, shared)
    except Exception:
        anomaly.report(node)
        raise


def run_node(task: Task, node: Node, g: Value, more: Optional[list[Value]], shared: bool) -> bool:
    graph = task.graph
    task.running = node
    own = node._hooks
    if own is not None and own.shapes:
        g = hooks.of_shape(own, 0, g)
        if more is not None:
            more = [hooks.of_shape(own, i + 1, x) for i, x in enumerate(more)]
    if own is not None and node._outputs == 1 and task.needed is None and not modes.anomaly:
        loud(task.errors)
        g, shared = hooks.fire_single(own, g, task.plain, graph, shared)
        quiet(task.errors)
        if not own.pre and not own.post and node._came is None:
            node.push(task, g, None, shared)
            return True
        return run_hooked(task, node, own, [g], graph, shared or len(own.pre) > 0)
    gs: list[Value] = [g]
    if more is not None:
        gs.extend(more)
    while len(gs) < node._outputs:
        gs.append(None)
    if task.needed is not None:
        runs = task.needed[node]
        if not runs:
            loud(task.errors)
            hooks.fire_tensor_hooks(node, gs, graph)
            quiet(task.errors)
        if task.captures is not None:
            for nr, at in task.captures.get(node, []):
                task.captured[at] = gs[nr]
        if not runs:
            return False
    if own is not None:
        loud(task.errors)
        hooks.fire_tensor_hooks(node, gs, graph)
        quiet(task.errors)
    return run_hooked(task, node, node._hooks, gs, graph, True)


def run_hooked(task: Task, node: Node, own: Optional[NodeHooks], gs: list[Value], graph: bool, shared: bool) -> bool:
    """Run a node after its tensor hooks; `shared`: may somebody else see its gradient?  NOTE [Who owns .grad]"""
    if own is not None and own.pre:
        loud(task.errors)
        gs = hooks.fire_node_hooks(own.pre, gs, None, graph)
        quiet(task.errors)
    if node._came is not None:
        node._came.append((gs[0],))
        shared = True
    if modes.anomaly or (own is not None and len(own.post) > 0):
        if isinstance(node, AccumulateGrad):
            node.accumulate(gs[0], graph, shared, task)
            outs: list[Value] = []
        else:
            outs = node.backward(gs, graph)
        if task.needed is not None:                 # hooks see no gradient that nobody asked for
            for i in range(len(outs)):
                if not task.wants(node.edge_node(i)):
                    outs[i] = None
        own = node._hooks
        if own is not None and own.post:
            loud(task.errors)
            outs = hooks.fire_node_hooks(own.post, outs, gs, graph)
            quiet(task.errors)
        if modes.anomaly:
            anomaly.check(node, outs)
        deliver_all(task, node, outs)
    elif task.rows is not None:
        want = [task.wants(node.edge_node(i)) for i in range(node.edge_count())]
        deliver_all(task, node, task.rows.gradients(node, gs, want, graph))
    else:
        node.push(task, gs[0], gs[1:], True)
    return True


def hooked(task: Task) -> bool:
    """Has a node of the pass hooks, or somebody who waits for its gradient?"""
    if task.needed is not None:
        for node in task.needed:
            if node._hooks is not None or node._came is not None:
                return True
    return False


def limit(task: Task, roots: list[tuple[Node, int]], targets: list[tuple[Node, int]], accumulate: bool, stop: bool) -> None:
    """Find the nodes that lead to a target."""
    needed: dict[Node, bool] = {}
    if not accumulate:
        task.captures = {}
        task.captured = [None for _ in targets]
    for i in range(len(targets)):
        node, nr = targets[i]
        needed[node] = accumulate
        if task.captures is not None:
            task.captures.setdefault(node, []).append((nr, i))
    leads: dict[Node, bool] = {}
    if stop:
        for node, _ in targets:
            leads[node] = False
    stack: list[Node] = [node for node, _ in roots]
    while stack:                            # depth first; a node is decided when all its children are
        node = stack[-1]
        if node in leads:
            stack.pop()
            continue
        ready = True
        found = False
        for i in range(node.edge_count()):
            to = node.edge_node(i)
            if to is None:
                continue
            if to not in leads:
                stack.append(to)
                ready = False
            elif leads[to] or to in needed:
                found = True
        if ready:
            stack.pop()
            leads[node] = found
            if found:
                needed[node] = True
    for node, _ in targets:
        if node not in leads:
            needed.pop(node, None)              # no gradient gets there
    if len(roots) == 1 and roots[0][0] not in needed:
        needed[roots[0][0]] = False             # it does not run, but its tensor's hooks do
    task.needed = needed


def abandon(task: Task, roots: list[tuple[Node, int]]) -> None:
    """After an exception: no node may hold on to this pass's gradients."""
    stack: list[Node] = [node for node, _ in roots]
    seen: set[Node] = set(stack)
    while stack:
        node = stack.pop()
        if node._task is task:
            clear: Slot = node
            clear._got = None
            clear._more = None
            clear._task = None
        for i in range(node.edge_count()):
            to = node.edge_node(i)
            if to is not None and to not in seen:
                seen.add(to)
                stack.append(to)
