"""The recorded graph: Node, and Task, one pass over it.

An edge is (node, number): which output of that node the gradient belongs to.
"""
from __future__ import annotations

from typing import Any, Final, Optional

import numpy
from mypy_extensions import i64, mypyc_attr

from .. import _kernels
from .modes import loud, modes, quiet

Array = Any                 # numpy.ndarray
Value = Any                 # an Array, or a Tensor under create_graph: rules are written for both
Shape = tuple[int, ...]

ndarray: Final[Any] = numpy.ndarray
asarray: Final[Any] = numpy.asarray
add_up: Final[Any] = _kernels.add_up
track: Final[Any] = _kernels.track

FREED: Final = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
    "saved tensors after calling backward."
)


@mypyc_attr(allow_interpreted_subclasses=True)
class Slot:
    """What one pass knows of one node: how many gradients are still to come, and their sum so far."""

    _task: Optional[Task] = None
    _pending: i64 = 0
    _got: Value = None                          # gradient of output 0
    _more: Optional[list[Value]] = None         # gradients of outputs 1, 2, ...
    _shared: bool = False                       # may somebody else see `got`?  NOTE [Who owns .grad]


def name_of(node: Node) -> str:
    """node.name(), whatever a custom Function stored as ctx.name."""
    found: Any = type(node)
    text: str = found.name(node)
    return text


NONE: Final[dict[int, Any]] = {}            # stands for a table without entries; never written


class NodeHooks:
    """Hooks of one node, in the order in which they fire."""

    def __init__(self) -> None:
        self.tensor: list[tuple[int, dict[int, Any]]] = []      # (output number, hooks of that output's tensor)
        self.retain: dict[int, Any] = NONE                      # output number -> the Kept that takes the gradient
        self.shapes: dict[int, Any] = NONE                      # output number -> its shape before .data gave another
        self.pre: dict[int, Any] = NONE
        self.post: dict[int, Any] = NONE

    def any(self) -> bool:
        """Is there one?"""
        for _, table in self.tensor:
            if table:
                return True
        return len(self.retain) + len(self.shapes) + len(self.pre) + len(self.post) > 0


@mypyc_attr(allow_interpreted_subclasses=True)
class Node(Slot):
    """One recorded op.  Subclasses hold their edges and saved values in fields of their own."""

    _seq: i64 = 0
    _hooks: Optional[NodeHooks] = None
    _facts: Any = None                          # the metadata dict, made when asked for
    _outputs: int = 1
    _came: Optional[list[Any]] = None           # takes (gradient of output 0,) after the prehooks: microscope/capture/pending.py
    _watched: Any = None                        # [(index or mask tensor, its version when kept)]
    _like: Any = None                           # (shape, dtype) of the output, once its tensor was asked for grad_fn

    def name(self) -> str:
        return type(self).__name__

    # -- for the pass

    def edge_count(self) -> int:
        return 0

    def edge_node(self, i: int) -> Optional[Node]:
        return None

    def edge_nr(self, i: int) -> int:
        return 0

    def visit(self, task: Task) -> None:
        """Announce every edge to the pass, so that it knows how many gradients each node awaits."""
        for i in range(self.edge_count()):
            to = self.edge_node(i)
            if to is not None:
                task.see(to)

    def backward(self, gs: list[Value], graph: bool) -> list[Value]:
        """Gradients for the edges, given those of the outputs; Tensors when `graph`, arrays otherwise."""
        raise NotImplementedError

    def push(self, task: Task, g: Value, more: Optional[list[Value]], shared: bool) -> None:
        """Run and deliver.  Subclasses shorten this."""
        gs: list[Value] = [g]
        if more is not None:
            gs.extend(more)
        while len(gs) < self._outputs:
            gs.append(None)
        outs = self.backward(gs, task.graph)
        if self._hooks is not None:
            outs = self.late(task, outs)
        deliver_all(task, self, outs)

    def late(self, task: Task, outs: list[Value]) -> list[Value]:
        """Posthooks that were registered while the node ran: they see its result, but not what it was given."""
        own = self._hooks
        if own is None or not own.post:
            return outs
        from . import hooks
        loud(task.errors)
        outs = hooks.fire_node_hooks(own.post, outs, [], task.graph)
        quiet(task.errors)
        return outs

    def release(self) -> None:
        """Drop saved values once used (retain_graph=False)."""

    # -- what users see

    @property
    def next_functions(self) -> Any:
        return tuple([(self.edge_node(i), self.edge_nr(i)) for i in range(self.edge_count())])

    @property
    def metadata(self) -> Any:
        if self._facts is None:
            self._facts = {}
        return self._facts

    @property
    def requires_grad(self) -> bool:
        return True

    def _sequence_nr(self) -> int:
        return self._seq

    def _set_sequence_nr(self, nr: int) -> None:
        self._seq = nr

    def output_likes(self) -> list[Any]:
        """(shape, dtype) of every output; None for one that is no tensor."""
        if self._like is None:
            raise RuntimeError(
                f"the output's shape of this {self.name()} is not known: a node keeps it once somebody read grad_fn of "
                "the tensor that it made")
        return [self._like]

    @property
    def _register_hook_dict(self) -> Any:
        return None if self._hooks is None else self._hooks.post

    def register_hook(self, hook: Any) -> Any:
        from . import hooks
        return hooks.register_post(self, hook)

    def register_prehook(self, hook: Any) -> Any:
        from . import hooks
        return hooks.register_pre(self, hook)

    def __dir__(self) -> list[str]:
        own: list[str] = []
        cls: Any = type(self)
        names: Any = getattr(cls, "names", {})
        shows: Any = getattr(cls, "shows", {})
        for n in dir(cls):
            if n.startswith("_saved_") or n.startswith("_raw_saved_"):
                name = n.partition("saved_")[2]
                field: Any = names.get(name)
                tensor = isinstance(field, int) or field in ("x", "a", "b", "y")
                if name in shows and n.startswith("_saved_") or n in vars(cls) or (
                        field is not None and (tensor or n.startswith("_saved_")) and self.reads_field(field)):
                    own.append(n)
        return sorted(own + PUBLIC)

    def overlapped(self) -> Optional[str]:
        """In place: may two elements of the tensor lie in one place?  None: no; else the function that a warning names, or "".
        """
        return None

    def reads_field(self, field: Any) -> bool:
        """Does a rule read the kept value in `field` (x, a, b, y, or the number of an input)?"""
        return True

    def own_hooks(self) -> NodeHooks:
        if self._hooks is None:
            modes.light = False
            self._hooks = NodeHooks()
        return self._hooks


PUBLIC: Final = [
    "__call__", "__class__", "__dir__", "__doc__", "__eq__", "__hash__", "__repr__", "__str__", "_input_metadata",
    "_register_hook_dict", "_sequence_nr", "_set_sequence_nr", "metadata", "name", "next_functions", "register_hook",
    "register_prehook", "requires_grad",
]


class Task:
    """One backward pass.

    NOTE [Where a pass keeps its state]
    A node is its own Slot, so the usual pass allocates nothing per node.  When two passes meet on a node (a hook that
    calls backward, two threads on one graph), the later one gets a shadow Slot from a dictionary instead.
    """

    def __init__(self, graph: bool, retain: bool) -> None:
        self.graph: bool = graph
        self.retain: bool = retain
        self.errors: Any = None                                 # what `modes.outside` said when the pass began
        self.plain: bool = False                                # gradients are arrays, to be shown as ordinary tensors
        self.done: bool = False
        self.stack: list[Node] = []
        self.ready: Optional[Node] = None                       # the only node that is ready; where there are more ...
        self.heap: list[Node] = []                              # ... they all lie here.  NOTE [Order of execution]
        self.shadows: Optional[dict[Node, Slot]] = None
        self.needed: Optional[dict[Node, bool]] = None          # only these run; None: all
        self.rows: Any = None                                   # NOTE [Rows] in autograd/_rows.py
        self.captures: Optional[dict[Node, list[tuple[int, int]]]] = None   # node -> (output number, result number)
        self.captured: list[Value] = []
        self.callbacks: list[Any] = []
        self.root: Optional[Node] = None                        # the root, where there is only one
        self.running: Optional[Node] = None                     # the node with hooks that runs
        self.observer: Any = modes.observer                     # NOTE [Observer] in modes.py
        self.number: i64 = modes.passes
        modes.passes += 1

    def see(self, node: Node) -> None:
        """Count one more gradient that `node` will receive."""
        owner = node._task
        if owner is self:
            node._pending += 1
            return
        shadow = None if self.shadows is None else self.shadows.get(node)
        if shadow is not None:
            shadow._pending += 1
            return
        if owner is None or owner.done:
            node._task = self
            node._pending = 1
            node._got = None
            node._more = None
            self.stack.append(node)
            if self.graph and track is not None:
                track(node)
            return
        if self.shadows is None:
            self.shadows = {}
        shadow = Slot()
        shadow._pending = 1
        self.shadows[node] = shadow
        self.stack.append(node)

    def knows(self, node: Node) -> bool:
        """Has `node` still to run?"""
        return node._task is self or (self.shadows is not None and node in self.shadows)

    def wants(self, node: Optional[Node]) -> bool:
        """Is a gradient for `node` of any use?"""
        if node is None:
            return False
        return self.needed is None or node in self.needed

    def slot(self, node: Node) -> Slot:
        if node._task is self or self.shadows is None:
            return node
        return self.shadows[node]

    def deliver(self, node: Node, nr: i64, g: Value, shared: bool) -> None:
        """Add a gradient to output `nr` of `node`; the node becomes ready with the last one."""
        slot = self.slot(node)
        if g is not None:
            if not self.graph and type(g) is not ndarray:
                g = asarray(g)                  # 0-d results are NumPy scalars: hooks must be able to edit in place
            if self.observer is not None:
                self.observer.edge(self, node, nr, g)
            if nr == 0:
                had = slot._got
                if had is None:
                    slot._got = g
                    slot._shared = shared
                else:
                    # an observer knows arrays by who they are: theirs do not change
                    slot._got = add(had, g, not slot._shared and self.observer is None)
                    slot._shared = False
            else:
                more = slot._more
                if more is None:
                    more = slot._more = []
                while len(more) < nr:
                    more.append(None)
                had = more[nr - 1]
                more[nr - 1] = g if had is None else add(had, g, False)
        slot._pending -= 1
        if slot._pending == 0:
            needed = self.needed
            if needed is None or node in needed:
                self.line_up(node)

    def line_up(self, node: Node) -> None:
        """`node` may run."""
        first = self.ready
        if first is None and len(self.heap) == 0:
            self.ready = node                   # a list of one element would be made and freed at every turn
            return
        if first is not None:
            self.ready = None
            push_heap(self.heap, first)
        push_heap(self.heap, node)

    def next(self) -> Optional[Node]:
        """The node to run now; None when there is none left."""
        node = self.ready
        if node is not None:
            self.ready = None
            return node
        return pop_heap(self.heap) if self.heap else None


def add(a: Value, b: Value, mine: bool) -> Value:
    """a + b, for arrays or Tensors; in a's memory if it is the pass's own (`mine`) and nobody else refers to it."""
    if add_up is not None:
        quick = add_up(a, b, mine)
        if quick is not None:
            return quick
    got = a + b
    if type(got) is ndarray or not isinstance(got, numpy.generic):
        return got
    return asarray(got)


def deliver_all(task: Task, node: Node, outs: list[Value]) -> None:
    for i in range(len(outs)):
        to = node.edge_node(i)
        if to is not None:
            task.deliver(to, node.edge_nr(i), outs[i], True)


# NOTE [Order of execution]
# PyTorch pops the highest sequence number from a std::priority_queue.  Equal numbers occur among leaves only; which of
# them comes first depends on how libstdc++ sifts its heap, so we sift the same way.

def push_heap(heap: list[Node], node: Node) -> None:
    heap.append(node)
    i = len(heap) - 1
    seq = node._seq
    while i > 0:
        up = (i - 1) >> 1
        above = heap[up]
        if above._seq >= seq:
            break
        heap[i] = above
        i = up
    heap[i] = node


def pop_heap(heap: list[Node]) -> Node:
    last = heap.pop()
    n = len(heap)
    if n == 0:
        return last
    top = heap[0]
    i = 0
    child = 0
    while child < (n - 1) >> 1:                 # sift the hole down to the bottom ...
        child = 2 * child + 2
        if heap[child]._seq < heap[child - 1]._seq:
            child -= 1
        heap[i] = heap[child]
        i = child
    if n & 1 == 0 and child == (n - 2) >> 1:
        child = 2 * child + 1
        heap[i] = heap[child]
        i = child
    seq = last._seq
    while i > 0:                                # ... then the last element up from there
        up = (i - 1) >> 1
        if heap[up]._seq >= seq:
            break
        heap[i] = heap[up]
        i = up
    heap[i] = last
    return top

