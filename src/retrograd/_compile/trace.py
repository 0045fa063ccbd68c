"""One eager call as a list of entries.

The engine tells of every op (`modes.observer`), of every node of a pass, and of every public function (the listener of the
dispatch point).  What none of them tells of cannot be in a plan: an array that no entry made, and that was not there before,
refuses the call.  The call itself is never disturbed: it runs to its end as it would have, whatever is refused.
"""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .. import optim
from .._engine.dispatch import engage
from .._engine.modes import modes, state
from .._engine.node import Node, Task
from .._engine.tensor import AccumulateGrad, TensorBase
from .._rules.loss import NllLossBackward0
from .effects import Again, Laid, Store, grad_of, no_grad, set_grad, store_grad
from .lower import Linear2, Lowering, Settled
from .outputs import Outputs
from .values import Entry, Refused, Value, of_array

ndarray = np.ndarray

# What gives no tensor that an op made, and may be called all the same: facts that guards cover, and gradients.
FACTS = set("""
    Tensor.shape.__get__ Tensor.ndim.__get__ Tensor.dtype.__get__ Tensor.device.__get__ Tensor.requires_grad.__get__
    Tensor.is_leaf.__get__ Tensor.layout.__get__ Tensor.size Tensor.dim Tensor.numel Tensor.nelement Tensor.__len__
    Tensor.is_contiguous Tensor.is_floating_point Tensor.is_complex Tensor.stride torch.numel torch.is_floating_point
    torch.is_tensor torch.is_complex Tensor.grad.__get__ Tensor.grad.__set__ torch._C._set_grad_enabled
    Tensor.backward torch.autograd.backward torch.autograd.grad Tensor.requires_grad_ Tensor.detach torch.detach
    Tensor.zero_grad Tensor.is_same_size Tensor.element_size Tensor.type
""".split())
# New tensors of numbers: the same at each call.
FRESH = set("torch.zeros torch.ones torch.full torch.tensor torch.arange torch.linspace torch.eye torch.zeros_like "
            "torch.ones_like torch.full_like Tensor.new_zeros Tensor.new_ones Tensor.new_full torch.scalar_tensor".split())
# Functions that were looked at: they compute by ops alone, whatever the values.
PURE = set("""
    add sub subtract mul multiply div divide true_divide neg negative reciprocal pow square rsub exp exp2 expm1 log log2
    log10 log1p sqrt rsqrt abs absolute sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid erf relu
    leaky_relu elu celu gelu silu mish softplus logsigmoid hardsigmoid hardswish softmax log_softmax
    matmul mm mv dot bmm linear addmm sum mean mse_loss smooth_l1_loss huber_loss l1_loss binary_cross_entropy_with_logits
    view reshape flatten expand expand_as transpose t permute unsqueeze squeeze select narrow movedim T.__get__ mT.__get__
    nll_loss cross_entropy stack cat concat clone contiguous add_ sub_ mul_ div_ neg_ __getitem__ __rsub__ __rpow__
    __rmatmul__ __rtruediv__ __matmul__ __pow__ __neg__ sgn sign
""".split())
STEPPERS = (optim.SGD, optim.Adam, optim.AdamW)


class Tensors:
    """The tensors that were there before the call."""

    def __init__(self) -> None:
        self.inputs: list[TensorBase] = []
        self.held: list[TensorBase] = []
        self.by_id: dict[int, tuple[str, int]] = {}

    def add(self, t: TensorBase, kind: str) -> int:
        found = self.by_id.get(id(t))
        if found is None:
            many = self.inputs if kind == "input" else self.held
            found = self.by_id[id(t)] = (kind, len(many))
            many.append(t)
        return found[1]

    def get(self, kind: str, index: int) -> TensorBase:
        return (self.inputs if kind == "input" else self.held)[index]

    def all(self) -> list[tuple[str, int, TensorBase]]:
        return [("input", i, t) for i, t in enumerate(self.inputs)] + [("held", i, t) for i, t in enumerate(self.held)]


def root(array: Any) -> Any:
    """The array whose memory it is."""
    while type(array.base) is ndarray:
        array = array.base
    return array


class Frame:
    """A node of a pass while it runs."""

    def __init__(self, task: Any, node: Any, gs: list[Value | None]) -> None:
        self.task, self.node, self.gs = task, node, gs
        self.edges: list[tuple[Any, int, Any]] = []
        self.had: Any = None


class Trace:
    """Set it up, call the function within `with`, then `finish`."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors
        self.entries: list[Entry] = []
        self.values: dict[int, Value] = {}
        self.alive: list[Any] = []              # arrays and tensors whose addresses stand for them
        self.made: dict[int, Any] = {}          # node -> (inputs, output)
        self.roots: dict[int, list[Value]] = {}
        self.sums: dict[tuple[int, int, int], Value] = {}
        self.frames: list[Frame] = []
        self.reason = ""
        self.lower = Lowering(self.add)
        self.it = state()
        self.file = __file__.rpartition("/")[0].rpartition("/")[0]
        self.edited: dict[tuple[str, int], int] = {}     # tensors whose memory entries write, and how often
        # The .grad that the plan has set so far, and its content
        self.settled: dict[tuple[str, int], tuple[Any, Value | None]] = {}
        self.steps: list[Any] = []
        self.nodes: list[Any] = []
        self.linears: set[int] = set()          # nodes of F.linear, which a kernel computed
        for kind, i, t in tensors.all():
            self.know(Value(kind, t.array.shape, t.array.dtype, t.array, i))
            grad = grad_of(t)
            value = None
            if grad is not None:
                value = Value("grad", grad.array.shape, grad.array.dtype, grad.array, self.place(kind, i))
                self.know(value)
                self.alive.append(grad)
            self.settled[kind, i] = (grad, value)

    def place(self, kind: str, i: int) -> int:
        return i if kind == "input" else len(self.tensors.inputs) + i

    def __enter__(self) -> Trace:
        modes.observer = self
        modes.recorder = self
        self.it.listener = self
        engage(self.it)
        return self

    def __exit__(self, *_: Any) -> None:
        modes.observer = None
        modes.recorder = None
        self.it.listener = None
        engage(self.it)

    # -- what is known

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        for out in entry.outs:
            if out.array is not None:
                self.know(out)

    def know(self, value: Value) -> None:
        """The array of `value` stands for it from now on."""
        array = value.array
        self.values[id(array)] = value
        self.alive.append(array)
        self.roots.setdefault(id(root(array)), []).append(value)

    def of(self, array: Any) -> Value:
        found = self.values.get(id(array))
        if found is None:
            raise Refused("a tensor that was not made by an op of the call, and was not there before it")
        if found.stale:
            raise Refused("a view is read after its memory was edited")
        return found

    def of_input(self, x: Any) -> Any:
        """An op's input as an argument of an entry."""
        if isinstance(x, TensorBase):
            return self.of(x.array)
        if isinstance(x, ndarray):
            return self.of(x)
        return x

    def refuse(self, why: object) -> None:
        if not self.reason:
            line = self.line()
            self.reason = f"{why} ({line})" if line else str(why)
            self.values.clear()

    def line(self) -> str:
        """Where the user's code is."""
        frame: Any = sys._getframe(1)
        while frame is not None:
            name = frame.f_code.co_filename
            if not name.startswith(self.file) and "retrograd" not in str(frame.f_globals.get("__name__", "")):
                return f"{name.rpartition('/')[2]}:{frame.f_lineno}"
            frame = frame.f_back
        return ""

    @property
    def off(self) -> bool:
        return bool(self.reason) or state() is not self.it

    # -- told by the dispatch point

    def call(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        out = impl(*args) if kwargs is None else impl(*args, **kwargs)
        if not self.reason:
            try:
                self.judge(called(func), impl, args, kwargs, out)
            except Refused as error:
                self.refuse(error)
        return out

    def judge(self, name: str, impl: Any, args: Any, kwargs: Any, out: Any) -> None:
        short = name.rpartition("Tensor.")[2] if "Tensor." in name else name.rpartition(".")[2]
        if kwargs and kwargs.get("out") is not None:
            raise Refused(f"{name} with out=")
        if name in FRESH:
            if not name.endswith("_like") and has_tensor(args[1:] if "new_" in name else args):
                raise Refused(f"{name} of a tensor")
            self.alive.append(out)
            if any(isinstance(x, (ndarray, np.generic)) for x in args):
                self.add(Entry(name, Again(impl, args, kwargs, out.array), [], [of_array(out.array)], "", False, self.line()))
            else:
                value = Value("const", out.array.shape, out.array.dtype, out.array.copy())
                self.know(value)
                self.values[id(out.array)] = value
                self.alive.append(out.array)
            return
        if name not in FACTS and short not in PURE:
            raise Refused(f"{name} is not replayed yet")
        for t in [out] if isinstance(out, TensorBase) else out if isinstance(out, (tuple, list)) else []:
            if isinstance(t, TensorBase):
                self.alive.append(t)
                if id(t.array) not in self.values:
                    raise Refused(f"{name} gives what no op made")

    # -- told by ops

    def op(self, node: Any, inputs: Any, out: Any) -> None:
        if self.off:
            return
        try:
            self.nodes.append(node)
            if not isinstance(out, TensorBase):
                raise Refused(f"{type(node).__name__} has several outputs")
            given = [self.of_input(x) for x in inputs]
            if any(x is out for x in inputs):
                self.in_place(node, given, out)
                return
            self.alive.append(out)
            if type(node) is NllLossBackward0 and node.weight is None and node.target.ndim == 1:
                given.append(self.of(node.target))
            value = of_array(out.array)
            self.lower.forward(node, given, value, self.line())
            self.made[id(node)] = (given, value)
        except Refused as error:
            self.refuse(error)

    def linear(self, node: Any, b: TensorBase, x: TensorBase, w: TensorBase, out: TensorBase) -> None:
        """F.linear by one kernel; node None where no graph is recorded."""
        if self.off:
            return
        try:
            given = [self.of(t.array) for t in (b, x, w)]
            self.alive.append(out)
            value = of_array(out.array)
            self.lower.linear(given[0], given[1], given[2], value, self.line())
            if node is not None:
                self.nodes.append(node)
                self.linears.add(id(node))
                self.made[id(node)] = (given, value)
        except Refused as error:
            self.refuse(error)

    def in_place(self, node: Any, given: list[Any], out: TensorBase) -> None:
        """An op wrote its result into its first input."""
        if out.rg or out.fn is not None:
            if self.it.grad:
                raise Refused("an edit in place of a tensor that requires grad")
        old = given[0]
        value = Value("made", old.shape, old.dtype, out.array)
        self.lower.forward(node, given, value, self.line())
        if not self.entries[-1].op:
            raise Refused(f"{type(node).__name__.removesuffix('Backward0')} in place is not replayed yet")
        self.overwritten(out.array, value)

    def overwritten(self, array: Any, value: Value) -> None:
        """`array`, of a tensor edited in place, is `value` from now on."""
        for other in self.roots.get(id(root(array)), []):
            if other.array is not array:
                other.stale = True
            elif other is not value:
                other.past = True
        for kind, i, t in self.tensors.all():
            if t.array is array:
                self.edited[kind, i] = self.edited.get((kind, i), 0) + 1
        self.values[id(array)] = value

    # -- told by passes

    def begin(self, task: Task, node: Node, g: Any, more: Any) -> None:
        if self.off:
            return
        try:
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
                        self.know(known)
                    self.values[id(array)] = known
                    self.alive.append(array)
                gs.append(self.of(array))
            if self.frames and self.frames[-1].task is task:
                self.frames.pop()                           # its gradient was asked for: it did not run
            frame = Frame(task, node, gs)
            self.frames.append(frame)
            if isinstance(node, AccumulateGrad):
                frame.had = node.grad
                if node.after or node._hooks is not None:
                    raise Refused("a hook of a leaf")
            elif node._hooks is not None:
                raise Refused(f"a hook of {node.name()}")
        except Refused as error:
            self.refuse(error)

    def edge(self, task: Task, to: Node, nr: int, g: Any) -> None:
        if self.off:
            return
        try:
            frame = self.frames[-1] if self.frames else None
            if task.graph:
                seed = g.array if isinstance(g, TensorBase) else g
                if (frame is None or frame.task is not task) and id(seed) not in self.values and seed.size == 1:
                    self.know(Value("const", seed.shape, seed.dtype, seed))
            elif frame is not None and frame.task is task:
                frame.edges.append((to, nr, g))
            else:                                           # a seed
                if id(g) not in self.values:
                    if g.size != 1:
                        raise Refused("a gradient that was not made by an op of the call")
                    self.know(Value("const", g.shape, g.dtype, g))
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
            self.add(Entry("sum of gradients", Settled(np.add), [had, g], [total]))
        self.sums[key] = total

    def end(self, task: Task, node: Node) -> None:
        if self.off:
            return
        try:
            frame = self.frames.pop()
            if isinstance(node, AccumulateGrad):
                self.accumulated(frame)
            elif not task.graph:
                self.ran(frame)
        except Refused as error:
            self.refuse(error)

    def ran(self, frame: Frame) -> None:
        node: Any = frame.node
        g = frame.gs[0]
        if not frame.edges:
            return
        if g is None or len(frame.gs) > 1:
            raise Refused(f"{node.name()} has several outputs")
        todo = list(frame.edges)
        wanted: list[int] = []
        for i in range(node.edge_count()):
            to = node.edge_node(i)
            if to is not None and todo and todo[0][0] is to and todo[0][1] == node.edge_nr(i):
                wanted.append(i)
                todo.pop(0)
        if todo:
            raise Refused(f"{node.name()} hands gradients on in an order of its own")
        fresh: list[int] = []
        sent: list[Value | None] = []
        for i, (_, _, array) in zip(wanted, frame.edges):
            known = self.values.get(id(array))
            sent.append(known)
            if known is None:
                fresh.append(i)
        arrays = {i: array for i, (_, _, array) in zip(wanted, frame.edges) if i in fresh}
        if fresh:
            made = self.made.get(id(node))
            if made is None and (type(node).__name__ not in ("TBackward0",) or node.keep):
                raise Refused("a backward pass goes into a graph that was made before the call")
            where = self.line()
            if id(node) in self.linears:
                by = self.lower.linear_rules(g, made, arrays, node.like, where)
                values = [by[i] for i in fresh]
            else:
                values = self.lower.rules(node, g, made or ([None], None), fresh, [arrays[i] for i in fresh], where)
            found = iter(values)
            sent = [next(found) if known is None else known for known in sent]
        for (to, nr, _), value in zip(frame.edges, sent):
            assert value is not None
            self.arrive(frame.task, to, nr, value)

    def accumulated(self, frame: Frame) -> None:
        node: Any = frame.node
        g = frame.gs[0]
        grad = node.grad
        if g is None or grad is None:
            return
        array = grad.array
        if frame.had is grad:                               # added in place
            old = self.of(array)
            total = Value("made", old.shape, old.dtype)
            total.straight, total.array = old.straight, array
            if g.dtype is not old.dtype or g.shape != old.shape or not old.straight or frame.task.graph:
                raise Refused("a gradient is added to one that lies otherwise")
            if g.straight or g.full is not None:
                self.lower.each("add", [old, g], total, "sum of gradients")
            else:
                self.add(Entry("sum of gradients", Settled(np.add), [old, g], [total]))
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

    # -- told by optimizers

    def step(self, optimizer: Any, closure: Any) -> Any:
        """In place of optimizer._step(closure)."""
        if self.off:
            return optimizer._run_step(closure)
        try:
            if closure is not None:
                raise Refused("a closure given to step()")
            if type(optimizer) not in STEPPERS:
                raise Refused(f"{type(optimizer).__name__}.step() is not replayed yet")
            self.flush()
            params = [p for group in optimizer.param_groups for p in group["params"]]
            for p in params:
                if id(p) not in self.tensors.by_id:
                    raise Refused("an optimizer of tensors that the function does not reach")
            self.entries.append(Entry("step", optimizer._run_step, [None], [], "", True, self.line()))
            self.steps.append(optimizer)
        except Refused as error:
            self.refuse(error)
            return optimizer._run_step(closure)
        got = optimizer._run_step(None)
        for p in params:
            kind, i = self.tensors.by_id[id(p)]
            self.overwritten(p.array, Value(kind, p.array.shape, p.array.dtype, p.array, i))
            self.edited.pop((kind, i), None)
        return got

    # -- the end

    def finish(self, result: Any) -> Outputs:
        """Call it after the function returned `result`, outside `with`; Refused where the call cannot be replayed."""
        if self.reason:
            raise Refused(self.reason)
        self.flush()
        outputs = Outputs(self, result)
        roots = [id(root(t.array)) for _, _, t in self.tensors.all()]
        for value in self.escaping(outputs):
            roots.append(id(root(value.array)))
        if len(set(roots)) < len(roots):
            raise Refused("results or gradients that share memory with each other or with what was there before")
        return outputs

    def edits(self, kind: str, i: int) -> int:
        """How many edits of that tensor the entries make."""
        at = self.place(kind, i)
        return sum(e.fn.count for e in self.entries if isinstance(e.fn, Store) and e.args[0].index == at)

    def stepped(self, t: TensorBase) -> bool:
        """Is it in an optimizer that makes a step?"""
        return any(t is p for opt in self.steps for group in opt.param_groups for p in group["params"])

    def escaping(self, outputs: Outputs) -> list[Value]:
        """What users get hold of."""
        grads = [e.args[1] for e in self.entries if e.fn is set_grad]
        found: list[Value] = []
        for value in [*grads, *outputs.values]:
            if value.array is None:
                raise Refused("a gradient that is a sum nobody saw")
            if all(value is not other for other in found):
                found.append(value)
        return found

    # -- effects

    def flush(self) -> None:
        """Entries that give memory its new content and tensors their .grad, as they are now."""
        for kind, i, t in self.tensors.all():
            count = self.edited.pop((kind, i), 0)
            if count:
                self.effect("store", Store(count), (kind, i), self.of(t.array))
                self.values[id(t.array)] = Value(kind, t.array.shape, t.array.dtype, t.array, i)
        for kind, i, t in self.tensors.all():
            grad = grad_of(t)
            had, content = self.settled[kind, i]
            if grad is None:
                if had is not None:
                    self.effect("grad", no_grad, (kind, i), None)
                self.settled[kind, i] = (None, None)
                continue
            if grad.rg or grad.fn is not None:
                raise Refused("a .grad that can be differentiated")
            value = self.of(grad.array)
            if grad is not had:
                self.effect("grad", set_grad, (kind, i), value)
            elif value is not content:
                self.effect("grad", store_grad, (kind, i), value)
            self.settled[kind, i] = (grad, value)

    def effect(self, name: str, fn: Any, of: tuple[str, int], value: Value | None) -> None:
        self.entries.append(Entry(name, fn, [Value("tensor", (), None, None, self.place(*of)), value], [], "", True))


def called(func: Any) -> str:
    """Tensor.add, Tensor.grad.__get__, torch.nn.functional.linear"""
    owner: Any = getattr(func, "__self__", None)
    name = getattr(func, "__name__", "a function")
    if hasattr(owner, "fget"):
        return f"Tensor.{owner.fget.__name__}.{name}"
    if getattr(func, "__qualname__", "").startswith("Tensor"):
        return f"Tensor.{name}"
    return f"torch{str(getattr(func, '__module__', '')).removeprefix('retrograd')}.{name}"


def has_tensor(x: Any) -> bool:
    return isinstance(x, TensorBase) or (isinstance(x, (list, tuple)) and any(map(has_tensor, x)))
