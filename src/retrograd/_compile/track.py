"""A piece of a call as a list of calls of public functions, and the plan that computes what they give."""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .._engine.modes import modes, set_grad, state
from .._engine.op import attach
from .._engine.saved import changed
from .._engine.tensor import TensorBase
from .._tensor import dtypes
from .._tensor.size import Size
from .book import Tensors
from .calls import PURE, brief, called, has_tensor, judge, numbers, reads
from .effects import edits_of
from .graph import checked
from .guards import apart, facts_of
from .hooked import tell
from .plan import Plan
from .promises import GET, SET, Track, fill, moods
from .reach import TENSORS
from .trace import Trace
from .values import Refused, Value
from .variant import sound

SLOT, MEET, CONST, MANY, BELOW = range(5)
PROMISE, KNOWN, SAME, REAL, DONE, SEVERAL = range(6)
PLAIN = (int, float, bool, str, type(None), slice, type(Ellipsis), type, dtypes.dtype, dtypes.device, dtypes.layout,
         dtypes.memory_format)
PASSES = ("Tensor.backward", "torch.autograd.backward")
GRAD = "torch.autograd.grad"
WISH = "Tensor.requires_grad_"                  # of a promise
EDITS = {name for name in PURE if name.endswith("_") and not name.endswith("__")}
FACTS = {f"Tensor.{name}.__get__" for name in "shape ndim dtype device requires_grad is_leaf layout".split()} | {
    f"Tensor.{name}" for name in
    "size dim numel nelement __len__ is_contiguous is_floating_point is_complex stride detach element_size".split()} | {
    f"torch.{name}" for name in "numel is_floating_point is_tensor is_complex _C._set_grad_enabled detach".split()}
# They need no promise, and change nothing that a promise needs: they are called at once.
AT_ONCE = set("""torch.zeros torch.ones torch.full torch.tensor torch.arange torch.linspace torch.eye torch.zeros_like
    torch.ones_like torch.full_like Tensor.new_zeros Tensor.new_ones Tensor.new_full torch.scalar_tensor
    Tensor.grad.__get__ Tensor.grad.__set__ Tensor.detach torch.detach torch.is_grad_enabled torch.get_default_dtype
""".split())
CLASSES = ("nll_loss", "cross_entropy")         # they raise for a class that is not there
ACTIVATIONS = set("relu leaky_relu elu celu silu mish hardsigmoid hardswish".split())    # which may edit in place
FEW, SMALL = 4, 1 << 14 # calls and elements below which comparing and a plan cost more than they spare
KEPT = 1 << 16          # bytes of an argument that a track keeps until the next call


def plannable(name: str, args: Any, kwargs: Any) -> bool:
    """May a track hold a call of this function?"""
    if kwargs and kwargs.get("out") is not None:
        return False
    short = brief(name)
    if short in ("__getitem__", "select", "narrow") and has_tensor(args[1:]):
        return False                            # indices that may be out of range
    if short == "dropout":                      # its draw may not wait
        return False
    if short in ACTIVATIONS and (any(x is True for x in args) or kwargs and kwargs.get("inplace")):
        return False
    if short in CLASSES:
        if len(args) < 2 or not all(isinstance(x, TensorBase) for x in args[:2]) or kwargs and kwargs.get("weight") is not None:
            return False
        kind = dtype_of(args[1])
        if kind is None or kind.kind != "f" and kind != np.int64 or len(args) > 2:
            return False
    return name in FACTS or name in PASSES or name in (GRAD, WISH) or (short in PURE and short not in EDITS)


def dtype_of(t: Any) -> Any:
    array = GET["array"](t)
    return None if array is None else array.dtype


def alone(t: Any) -> bool:
    """Is its memory nobody's but its own?  Else NumPy could change it between a call and its computing, which takes a copy."""
    array = GET["array"](t)
    if sys.getrefcount(array) - 2 > 1 + (GET["sink"](t) is not None):
        return False
    while array.base is not None:
        array = array.base
        if type(array) is not GET["array"](t).__class__ or sys.getrefcount(array) > 3:
            return False
    return True


def copied(array: Any) -> Any:
    """A copy that lies as the array does."""
    room = array.itemsize + sum((n - 1) * step for n, step in zip(array.shape, array.strides)) if array.size else 0
    made: Any = np.ndarray(array.shape, array.dtype, np.empty(room, np.uint8), 0, array.strides)
    np.copyto(made, array)
    return made


def meets(t: Any, facts: Any, copies: dict[int, Any]) -> Any:
    """Is t a tensor as the recorded one?  None: it is, and is not to be kept."""
    if type(t) not in TENSORS or GET["array"](t) is None or facts_of(t)[:-1] != facts:
        return False
    if not alone(t):
        copies[id(t)] = copied(GET["array"](t))
        return None
    return True if GET["rg"](t) or GET["array"](t).nbytes <= KEPT else None


class Piece:
    """A track with its plan."""

    def __init__(self, calls: list[Any], slots: int, plan: Plan, outside: list[int], given: list[tuple[int, Any]],
                 grads: list[tuple[int, Any]]) -> None:
        self.calls, self.plan = calls, plan
        self.track, self.slots = Track(tuple(calls), slots), slots
        self.outside = outside                  # slots of the plan's inputs
        self.given = given                      # slots of promises that are kept, and what each is
        self.keeps = {k for k, _ in given}
        self.grads = grads                      # slots of leaves, and what .grad was before the pass
        self.next: list[Piece | Plain] = []
        self.used = 0
        self.default = dtypes.get_default_dtype()
        nodes = sorted((past, k) for k, (_, _, past) in given if type(past) is int)
        self.roots = [k for _, k in nodes]   # slots of what can be differentiated, in the order of the node's outputs
        shown = [] if plan.graph is None else plan.graph.shown
        self.shown = [(at, k) for k, (i, _, _) in given for at, j in shown if i == j]

    def fits(self, held: list[Any], alive: list[int]) -> bool:
        """Can the plan compute what is wanted?"""
        if not self.keeps.issuperset(alive) or self.default is not dtypes.get_default_dtype():
            return False
        grads = []
        for k, was in self.grads:
            sink = GET["sink"](held[k])
            grad = None if sink is None else sink.grad
            if (grad is None) != (was is None) or (grad is not None and facts_of(held[k])[-1] != was):
                return False
            if grad is not None:
                grads.append(grad.array)
        return not grads or apart([*grads, *[GET["array"](held[k]) for k in self.outside]])

    def compute(self, held: list[Any], copies: dict[int, Any]) -> None:
        """Run the plan, and keep the promises; copies: what inputs held when they were met, by their identity."""
        inputs = [held[k] for k in self.outside]
        graph = self.plan.graph
        redo = None if graph is None else Redo(self, inputs)
        arrays = self.plan.arrays(inputs, {i: copies[id(t)] for i, t in enumerate(inputs) if id(t) in copies} if copies else None)
        node = None if graph is None else graph.node(arrays, inputs, [], redo)
        for k, (at, rg, past) in self.given:
            SET["array"](held[k], arrays[at])
            if type(past) is int:
                SET["rg"](held[k], True)
                SET["fn"](held[k], node)
                SET["nr"](held[k], past)
            elif past is not None:
                attach(held[k], past())
            elif rg:
                SET["rg"](held[k], True)
        if node is not None:
            node.checks.extend([checked(at, held[k]) for at, k in self.shown])
        self.used += 1

    def repeat(self, held: list[Any], count: int, make: Any) -> None:
        """make(func, impl, args, kwargs, slots of promises) for the first calls; `held` is looked at as they are made."""
        for func, impl, pattern, names, result, _ in self.calls[:count]:
            given = [rebuilt(x, held) for x in pattern]
            kwargs = dict(zip(names, given[len(given) - len(names):])) if names else None
            args = tuple(given[:len(given) - len(names)] if names else given)
            make(func, impl, args, kwargs, slots_of(result))


class Plain:
    """A few calls on small arrays, which are made as they come."""

    used = 0

    def __init__(self, calls: list[Any]) -> None:
        self.calls = calls
        self.track = Track(tuple([(func, impl, None, None, (REAL,), mood) for func, impl, _, _, _, mood in calls]), 0)
        self.next: list[Any] = []


class Redo:
    """The calls of a piece, made eagerly once more: where gradients are to be differentiated."""

    def __init__(self, piece: Piece, inputs: list[Any]) -> None:
        self.piece, self.inputs = piece, inputs
        self.edits = [edits_of(t) for t in inputs]

    def __call__(self) -> list[Any]:
        """What can be differentiated."""
        piece = self.piece
        held: list[Any] = [None] * piece.slots
        for k, t, edits in zip(piece.outside, self.inputs, self.edits):
            if edits_of(t) != edits:
                raise changed(t.array, t.fn, t.nr, edits_of(t), edits)
            held[k] = t

        def make(func: Any, impl: Any, args: Any, kwargs: Any, slots: Any) -> None:
            made = impl(*args) if kwargs is None else impl(*args, **kwargs)
            for k, x in zip(slots, made if type(made) is tuple else (made,)):
                if k >= 0:
                    held[k] = x

        it = state()
        listener, grad = it.listener, it.grad
        it.listener = None
        set_grad(bool(piece.calls[0][5][0]))
        try:
            piece.repeat(held, len(piece.calls), make)
        finally:
            it.listener = listener
            set_grad(grad)
        return [held[k] for k in piece.roots]


def slots_of(result: Any) -> Any:
    """Of the promises that a call gives; -1 for None."""
    return (result[1],) if result[0] == PROMISE else result[1] if result[0] == SEVERAL else ()


def rebuilt(pattern: Any, held: list[Any]) -> Any:
    if pattern[0] == CONST:
        return pattern[1]
    if pattern[0] == BELOW:
        return rebuilt(pattern[1], held)
    if pattern[0] == MANY:
        return pattern[1]([rebuilt(x, held) for x in pattern[2]])
    return held[pattern[1]]


def nested(outs: list[TensorBase]) -> None:
    """Refused where one of them is part of another's graph: all have the same node, so hooks of it would not see that."""
    fns = {id(t.fn) for t in outs}
    todo: list[Any] = [t.fn for t in outs]
    seen = set(fns)
    while todo:
        node = todo.pop()
        for i in range(node.edge_count()):
            to = node.edge_node(i)
            if id(to) in fns:
                raise Refused("a result is part of another one's graph")
            if to is not None and id(to) not in seen:
                seen.add(id(to))
                todo.append(to)


class Recording:
    """Calls as they are made, to become a Piece."""

    def __init__(self, it: Any, spare: bool) -> None:
        """spare: are few calls left as they are?"""
        self.it, self.spare = it, spare
        self.trace = Trace(Tensors())
        self.calls: list[Any] = []
        self.slots: list[Any] = []
        self.by_id: dict[int, int] = {}
        self.outside: list[int] = []
        self.before: list[tuple[Any, ...]] = []
        self.edits: list[int] = []
        self.promised: dict[int, Any] = {}     # slot -> the tensor that the promise stands for
        self.grads: list[tuple[int, Any]] = []
        self.wished: list[Any] = []             # what promises stood for that are leaves now: its identity stays theirs
        self.blame = ""                         # the function that no plan can hold

    def call(self, func: Any, impl: Any, args: Any, kwargs: Any, into: Any = None) -> Any:
        """Make the call; `into`: the promises that get its results."""
        trace = self.trace
        name = called(func)
        mood = moods(self.it)
        pattern: Any = None
        try:
            if self.it.pack_hooks or self.it.pack_disabled is not None:
                raise Refused("hooks of saved tensors")
            if not trace.reason:
                named = tuple(kwargs) if kwargs else None
                pattern = [self.pattern(x) for x in (*args, *(kwargs.values() if kwargs else ()))]
                if name.rpartition(".")[2] in CLASSES and dtype_of(args[1]).kind != "f":
                    shape = GET["array"](args[0]).shape
                    ignored = kwargs.get("ignore_index", -100) if kwargs else -100
                    pattern[1] = (BELOW, pattern[1], shape[1 if len(shape) > 1 else 0], ignored)
        except Refused as error:
            trace.refuse(error)
        if name in PASSES:
            self.grads = [(k, facts_of(self.slots[k])[-1]) for k in self.outside if GET["rg"](self.slots[k])]
        args = tuple([self.own(x) for x in args])
        kwargs = None if kwargs is None else {key: self.own(x) for key, x in kwargs.items()}
        given, mark = numbers(trace, name, args, kwargs), len(trace.entries)
        had = modes.observer
        modes.observer = trace
        tell(trace)
        try:
            out = impl(*args) if kwargs is None else impl(*args, **kwargs)
        finally:
            modes.observer = had
            tell(None)
        made = out
        result: Any = (KNOWN, out)
        try:
            if not trace.reason:
                judge(trace, name, impl, args, kwargs, out)
                if given and name not in PASSES and reads(trace, given, mark):
                    raise Refused(f"{name} reads the number that a tensor holds")
            if name in PASSES:
                result = (DONE,)
            elif name.endswith("_set_grad_enabled"):
                result = (REAL,)
            elif isinstance(out, TensorBase):
                if id(out) in self.by_id:
                    result = (SAME, self.by_id[id(out)])
                    made = self.slots[result[1]]
                    if result[1] in self.promised:
                        fill(made, out)
                        if name == WISH:        # what is computed from here on leads to the user's leaf
                            self.promised[result[1]] = made
                            self.wished.append(out)
                else:
                    made = self.promise(out, into[0] if into else None)
                    result = (PROMISE, self.by_id[id(made)])
            elif type(out) is tuple and all(x is None or isinstance(x, TensorBase) for x in out):
                if any(id(x) in self.by_id for x in out if x is not None):
                    raise Refused(f"{name} gives a tensor again")
                made = tuple([None if x is None else self.promise(x, into[i] if into else None) for i, x in enumerate(out)])
                result = (SEVERAL, tuple([-1 if x is None else self.by_id[id(x)] for x in made]))
            elif type(out) not in PLAIN and type(out) not in (tuple, Size):
                raise Refused(f"{name} gives a {type(out).__name__}")
        except Refused as error:
            trace.refuse(error)
        if trace.reason and not self.blame:
            self.blame = name
        if pattern is not None:
            self.calls.append((func, impl, tuple(pattern), named, result, mood))
        return made

    def promise(self, out: Any, into: Any) -> Any:
        made = TensorBase.__new__(type(out)) if into is None else into
        fill(made, out)
        k = self.slot(made)
        self.promised[k] = out
        self.by_id[id(out)] = k
        return made

    def own(self, x: Any) -> Any:
        """A promise as the tensor that only the recorded graph has: who holds the promise is a user."""
        if isinstance(x, TensorBase):
            return self.promised.get(self.by_id.get(id(x), -1), x)
        return type(x)([self.own(y) for y in x]) if type(x) in (tuple, list) else x

    def slot(self, t: Any) -> int:
        self.slots.append(t)
        self.by_id[id(t)] = len(self.slots) - 1
        return len(self.slots) - 1

    def pattern(self, x: Any) -> Any:
        kind = type(x)
        if isinstance(x, TensorBase):
            if id(x) in self.by_id:
                return (SLOT, self.by_id[id(x)])
            return self.meet(x)
        if kind in PLAIN:
            return (CONST, x)
        if kind in (tuple, list, Size):
            return (MANY, kind, tuple([self.pattern(y) for y in x]))
        raise Refused(f"an argument of type {kind.__name__}")

    def meet(self, t: Any) -> Any:
        if type(t) not in TENSORS:
            raise Refused(f"a tensor of type {type(t).__name__}")
        facts = sound(t, "a tensor", True)[:-1]
        if min(t.array.strides, default=0) < 0:
            raise Refused("an array that lies backwards")
        if id(t.array) in self.trace.values:
            raise Refused("two tensors have the same memory")
        i = self.trace.tensors.add(t, "input")
        self.trace.meet("input", i, t)
        k = self.slot(t)
        self.outside.append(k)
        self.before.append(facts)
        self.edits.append(edits_of(t))
        return (MEET, k, self.before[-1])

    def small(self) -> bool:
        """Are they few calls, on small arrays, without a pass?"""
        return len(self.calls) < FEW and not any(called(c[0]) in PASSES or called(c[0]) == GRAD for c in self.calls) and sum(
            v.size for e in self.trace.entries for v in e.outs) < SMALL

    def piece(self) -> Piece | Plain:
        """What was recorded; Refused where it cannot be replayed."""
        trace, slots = self.trace, self.slots
        if trace.reason:
            raise Refused(trace.reason)
        if self.spare and self.small():
            return Plain(self.calls)
        kept = [k for k, t in self.promised.items() if sys.getrefcount(slots[k]) > 2 + 2 * (t is slots[k])]
        made = tuple([slots[k] for k in kept])
        had = modes.observer                    # somebody may be about to listen
        modes.observer = trace
        tell(trace)
        try:
            trace.differentiate(made)
        finally:
            modes.observer = had
            tell(None)
        if trace.graph is not None:
            if self.wished:
                self.blame = WISH
                raise Refused("a graph that leads to a result of which requires_grad_() was called")
            nested(trace.graph.outs)
        outputs = trace.finish(made)
        made_edits = trace.edits()
        for k, was, edits in zip(self.outside, self.before, self.edits):
            t = slots[k]
            if facts_of(t)[:-1] != was or edits_of(t) != edits + made_edits.get(trace.tensors.by_id[id(t)][1], 0):
                raise Refused("a tensor is changed by something that is not replayed")
        given = []
        for k, (kind, what) in zip(kept, outputs.tree[1]):
            if kind != "made":
                raise Refused("a result is another tensor's memory")
            given.append((k, what))
        plan = Plan(trace, outputs)
        plan.tensors.let_go()
        count = len(slots)
        slots.clear()
        return Piece(self.calls, count, plan, self.outside, given, self.grads)

    def forget(self) -> None:
        """Let go of arrays now: values and entries are cycles, which would stay until the collector comes."""
        trace = self.trace
        if self.slots:                          # no plan: edits of views reach their bases, and the other way round
            for k, t in self.promised.items():
                SET["version"](self.slots[k], t.version)
                base = self.by_id.get(id(t.origin.base)) if t.origin is not None else None
                if base in self.promised:
                    t.origin.base = self.slots[base]
        for value in [*trace.values.values(), *[v for e in trace.entries for v in (*e.args, *e.outs) if isinstance(v, Value)]]:
            if value.kind != "const":
                value.array = None
        trace.graph = None
        trace.forget()
