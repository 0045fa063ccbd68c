"""What a recorder does to retrograd: it is the engine's observer (NOTE [Observer] in _engine/modes.py)."""
from __future__ import annotations

import functools
import sys
from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from .._engine.journal import UNMEASURED, Thread, now
from .._engine.modes import grad_on, inference_on, modes, state
from .._engine.node import Node
from .._engine.tensor import AccumulateGrad, TensorBase, edits, wants_grad, wrap
from ..dtypes import of as dtype_of
from ._measure import measure, same
from .recorder import Recorder
from .recording import CREATED, GRAD, INFERENCE, INPLACE, POSITION, WANTED, WANTS
from .tap_common import MARK, Tap, once

# Methods after which the graph knows nothing of the tensor: ops without a derivative, that the observer is not told of.
CUTS = (
    "detach", "detach_", "item", "numpy", "tolist", "__array__", "__bool__", "__float__", "__int__", "__index__",
    "argmax", "argmin", "argsort", "nonzero", "isnan", "isinf", "isfinite", "eq", "ne", "lt", "le", "gt", "ge",
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "int", "long", "bool", "multinomial", "bernoulli",
    "logical_and", "logical_or", "logical_not", "signbit", "bincount", "unique", "all", "any", "floor_divide",
    "__floordiv__", "requires_grad_", "allclose", "equal", "count_nonzero", "searchsorted", "isclose")
retrograd = sys.modules[__name__.partition(".")[0]]     # the namespace, which is above us
READS = {"item", "numpy", "tolist", "__array__", "__bool__", "__float__", "__int__", "__index__", "allclose", "equal"}
# Ops and nodes whose result holds the same numbers.
SAME = {"view", "unsafe_view", "reshape_alias", "t", "transpose", "permute", "unsqueeze", "squeeze", "alias", "clone", "detach"}
SAME_NODES = {"ViewBackward0", "UnsafeViewBackward0", "ReshapeAliasBackward0", "TBackward0", "TransposeBackward0",
              "PermuteBackward0", "UnsqueezeBackward0", "SqueezeBackward0", "SqueezeBackward1", "AliasBackward0",
              "CloneBackward0"}
INPUTS, OUTPUTS = POSITION["op"]["inputs"], POSITION["op"]["outputs"]
INDEXED = ("embedding", "embedding_bag", "cross_entropy", "nll_loss", "gather", "index_select", "take_along_dim", "scatter",
           "scatter_add", "where", "masked_fill", "masked_select", "__getitem__", "index_add", "one_hot", "take")
CREATES = ("empty", "empty_like", "tensor", "as_tensor", "from_numpy", "asarray", "full", "ones", "zeros", "arange", "linspace")


class RetrogradTap(Tap):
    """Records retrograd."""

    name = "retrograd"
    version = retrograd.version.retrograd
    space = None
    autograd: Any
    optimizer: Any

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        if not RetrogradTap.space:
            RetrogradTap.find()
        self.kept: list[Any] = []

    @classmethod
    def find(cls) -> None:
        """Where the package has what we need, which is above us: said once in a process."""
        from .. import autograd, nn, optim, utils
        from ..nn import hooks
        from ..optim import optimizer
        cls.space = retrograd
        cls.Tensor = TensorBase
        cls.Module = nn.Module
        cls.Optimizer = optim.Optimizer
        cls.RemovableHandle = utils.hooks.RemovableHandle
        cls.hooks_home = hooks
        cls.autograd = autograd
        cls.optimizer = optimizer

    def optimizer_home(self) -> Any:
        return self.optimizer

    def patch_modules(self) -> None:
        self.recorder.patch(self.hooks_home, "watcher", partial(self.call, self.hooks_home.unwatched))

    def install(self) -> None:
        super().install()
        recorder = self.recorder
        autograd = self.autograd
        tap = self
        recorder.patch(autograd, "run_backward", once(running, RetrogradTap, autograd.run_backward))
        self.patch_passes(autograd)
        if recorder.ops:
            self.patch_cuts()
            from ..autograd import function
            apply = function.Function.apply.__func__  # type: ignore[attr-defined]

            def recorded_apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
                if not recorder.on or recorder.thread().busy or recorder.thread().passes:
                    return apply(cls, *args, **kwargs)
                return tap.custom(partial(apply, cls), cls.__name__, args, kwargs)

            recorder.patch(function.Function, "apply", classmethod(recorded_apply))
        recorder.patch(Node, "register_hook", once(registering_post, RetrogradTap, Node.register_hook))
        recorder.patch(Node, "register_prehook", once(registering_pre, RetrogradTap, Node.register_prehook))
        if recorder.replay:
            from ..autograd import graph
            graph._push_hooks(graph._copied, graph._itself)     # weights may change before the replay
            recorder.later(graph._pop_hooks)
        if recorder.ops or recorder.nodes:
            before = modes.observer
            modes.observer = self
            recorder.later(setattr, modes, "observer", before)

    def registering(self, original: Any, kind: str, node: Any, hook: Any) -> Any:
        number = self.adopt(node, -1)
        self.on_node = kind, self.recorder.rec.node_rows[number][0], number
        try:
            return original(node, hook)
        finally:
            self.on_node = None

    def patch_cuts(self) -> None:
        patch = self.recorder.patch
        Tensor = retrograd.Tensor
        space = vars(retrograd)
        for name in CUTS:
            original = getattr(Tensor, name, None)
            if original is not None:
                wrapper = wrapped(cut, original, name)
                patch(Tensor, name, wrapper)
                if space.get(name) is original:
                    patch(retrograd, name, wrapper)
        for name in INDEXED:
            for home in (Tensor, retrograd, retrograd.nn.functional):
                original = vars(home).get(name) or (getattr(Tensor, name, None) if home is Tensor else None)
                if original is not None:
                    patch(home, name, wrapped(feeding, original, name))
        for name in CREATES:
            patch(retrograd, name, wrapped(cut, space[name], name))
        patch(Tensor, "data", wrapped(cut_property, vars(Tensor)["data"], "data"))

    def close(self) -> None:
        super().close()
        if not self.recorder.replay:
            self.kept.clear()

    # -- ops: called by the engine

    def op(self, node: Any, inputs: Any, out: Any) -> None:
        recorder = self.recorder
        if not recorder.on or not recorder.ops:
            return
        thread = recorder.thread()
        if thread.busy or thread.passes or thread.stepping:
            return
        if recorder.full:
            recorder.reserve("op")
            return
        tensors = [t for t in inputs if isinstance(t, TensorBase)]
        if thread.extra:
            tensors.extend([t for t in thread.extra if not any(t is known for known in tensors)])
        outs = [o for o in out if isinstance(o, TensorBase)] if isinstance(out, list) else [out]
        kind = type(node).__name__
        self.event(_names.get(kind) or op_name(kind), tensors, outs, thread.last, sys._getframe(1))

    def event(self, name: str, tensors: list[Any], outs: list[Any], began: int, frame: Any,
              inner: list[int] | None = None) -> None:
        recorder = self.recorder
        rec = recorder.rec
        thread = recorder.thread()
        thread.busy += 1
        try:
            if recorder.pending:
                recorder.sweep_pending()
            flags = GRAD if grad_on() else 0
            if inference_on():
                flags |= INFERENCE
            inputs = []
            for t in tensors:
                inputs.append(recorder.tensor(self, t))
                if wants_grad(t):
                    flags |= WANTED
            inputs.extend(inner or ())
            site = recorder.sites.here(frame)
            for n in inputs:
                if n in recorder.owners:
                    recorder.used_outside(thread, n, site, frame)
            module, call = thread.modules[-1][:2] if thread.modules else (-1, 0)
            slot = recorder.reserve("op")
            if slot < 0:
                return
            if not tensors:
                flags |= CREATED
            outputs, values = [], []
            for t in outs:
                same = False
                for i in tensors:
                    if t is i:
                        same = True
                number = recorder.tensor_number(t) if same else None
                flags |= INPLACE if same and name not in ("requires_grad_", "detach_") else 0
                if number is None or (flags & INPLACE and number not in rec.tensor_names):
                    number = recorder.new_tensor(self, t, slot, -1 if number is None else number)
                outputs.append(number)
                if wants_grad(t):
                    flags |= WANTS
                    fn = t.grad_fn
                    if fn is not None:
                        rec.tensor_edges[number] = (self.adopt(fn, slot), int(t.output_nr))
                values.append(self.value_out(t, tensors, name))
                if recorder.values and number in rec.tensor_names and rec.tensor_names[number]["role"] == "grad":
                    recorder.keep(self, values[-1], t)
            recorder.blame(self, tensors, values)
            ended = now()
            recorder.rows[slot] = ("op", began - recorder.start, ended - began, thread.number, name, module, call,
                                   site, tuple(inputs), tuple(outputs), tuple(values), flags, None)
        finally:
            thread.busy -= 1
            thread.last = now()

    def value_out(self, t: Any, tensors: list[Any], name: str) -> int:
        """The value of what an op made; the same numbers as its input's, where the op only looks at it otherwise."""
        recorder = self.recorder
        if name in SAME and tensors and recorder.norms:
            first = tensors[0]
            known = recorder._seen.get(id(first))
            if known is not None and known[0]() is first and known[1] == edits(first) and first.array.size == t.array.size:
                n = recorder.new_value(self, t, recorder.row_of(known[2]))
                recorder._seen[id(t)] = (ref(t), edits(t), n)
                return n
        return recorder.value(self, t)

    def custom(self, apply: Any, name: str, args: Any, kwargs: Any) -> Any:
        """A custom Function: its node is the op's."""
        began = now()
        rows = self.recorder.rows
        first = len(rows)
        out = apply(*args, **kwargs)
        outs = [o for o in (out if isinstance(out, tuple) else (out,)) if isinstance(o, TensorBase)]
        made: dict[int, None] = {}                      # by ops of its forward: its outputs are new Tensors of these
        for row in rows[first:]:
            if row is not None and row[0] == "op":
                made.update(dict.fromkeys(row[OUTPUTS]))
                for n in row[INPUTS]:
                    made.pop(n, None)
        self.event(f"{name}.apply", [a for a in args if isinstance(a, TensorBase)], outs, began, sys._getframe(2),
                   list(made))
        return out

    # -- nodes

    def adopt(self, fn: Any, op: int) -> int:
        """Number a node and all before it that are new: `op` made them."""
        recorder = self.recorder
        rec = recorder.rec
        known = fn.metadata.get(MARK)
        if known is not None and known[0] == self.serial:
            return int(known[1])
        first = self.new_node(fn)
        todo = [(fn, first)]
        while todo:
            node, number = todo.pop()
            edges: list[Any] = []
            for nxt, nr in node.next_functions:
                if nxt is None:
                    edges.append(None)
                    continue
                known = nxt.metadata.get(MARK)
                if known is not None and known[0] == self.serial:
                    to = known[1]
                else:
                    to = self.new_node(nxt)
                    todo.append((nxt, to))
                edges.append((to, nr))
            name, made, tensor = node.name(), op, -1
            if isinstance(node, AccumulateGrad):
                name, made = "AccumulateGrad", -1
                tensor = recorder.tensor(self, node.variable)
            seq = int(node._sequence_nr())
            rec.node_rows[number] = (name, made, seq if seq < 1 << 63 else -1, tuple(edges), tensor)
        return first

    def new_node(self, node: Any) -> int:
        rec = self.recorder.rec
        with self.recorder.lock:
            n = len(rec.node_rows)
            rec.node_rows.append(("?", -1, -1, (), -1))
        node.metadata[MARK] = self.serial, n
        return n

    def begin(self, task: Any, node: Any, g: Any, more: Any) -> None:
        """The engine is about to run a node."""
        recorder = self.recorder
        if not recorder.on:
            return
        thread = recorder.thread()
        thread.busy += 1
        try:
            if recorder.pending:
                recorder.sweep_pending()
            number = self.number_in(node.metadata)
            if number is None:
                number = self.adopt(node, -1)
            self.sweep_node(node, number)
            inputs = [self.value_of(v) for v in ([g] if more is None else [g, *more])]
            while len(inputs) < node._outputs:
                inputs.append(-1)
            had = -1
            if isinstance(node, AccumulateGrad):
                if node.grad is not None:
                    had = recorder.value(self, node.grad)
                    if recorder.values == "parameters":
                        recorder.keep(self, had, node.grad)
                if recorder.values == "parameters" and g is not None:
                    recorder.keep(self, inputs[0], g)
            kind = "accumulate" if isinstance(node, AccumulateGrad) else "node"
            slot = -1
            if recorder.nodes:
                slot = recorder.reserve(kind)
            same = type(node).__name__ in SAME_NODES and len(inputs) == 1
            thread.open.append([number, inputs, [], slot, now(), had, same])
        finally:
            thread.busy -= 1

    def edge(self, task: Any, to: Any, nr: int, g: Any) -> None:
        """The node that runs hands on a gradient."""
        recorder = self.recorder
        if not recorder.on:
            return
        thread = recorder.thread()
        if not thread.open:
            return
        thread.busy += 1
        running = thread.open[-1]
        n = self.value_of(g, running[1][0] if running[6] else -1)
        number = self.adopt(to, -1)
        if recorder.values == "parameters":
            if isinstance(to, AccumulateGrad):
                recorder.keep(self, n, g)
            elif recorder.splitting is not None:
                recorder.splitting.sees(number, n, g)
        thread.busy -= 1
        running[2].append((number, nr, n))

    def end(self, task: Any, node: Any) -> None:
        recorder = self.recorder
        if not recorder.on:
            return
        thread = recorder.thread()
        if not thread.open:
            return
        number, inputs, handed, slot, began, had, _ = thread.open.pop()
        if slot < 0:
            return
        took = now() - began
        thread.busy += 1
        try:
            where = thread.passes[-1] if thread.passes else -1
            rec = recorder.rec
            name, _, _, edges, tensor = rec.node_rows[number]
            if isinstance(node, AccumulateGrad):
                after = -1
                grad = node.grad
                if grad is not None:
                    if had < 0 and not node.after and inputs[0] >= 0 and id(grad) not in recorder._seen \
                            and rec.value_likes[inputs[0]] == recorder.like(self, grad):
                        after = inputs[0]               # taken over or copied as it came
                        recorder._seen[id(grad)] = (ref(grad), edits(grad), after)
                    else:
                        after = recorder.value(self, grad)
                    self.name_grad(grad, tensor)
                    if recorder.values == "parameters":
                        recorder.keep(self, after, grad)
                recorder.rows[slot] = ("accumulate", began - recorder.start, took, thread.number, where, number, tensor,
                                       inputs[0], had, after)
                return
            outputs = [-1] * len(edges)
            at = 0
            for to, nr, n in handed:
                for i in range(at, len(edges)):
                    if edges[i] is not None and edges[i] == (to, nr):
                        outputs[i], at = n, i + 1
                        break
            recorder.rows[slot] = ("node", began - recorder.start, took, thread.number, where, number, tuple(inputs),
                                   tuple(outputs))
        finally:
            thread.busy -= 1
            thread.last = now()

    def replaced(self, thread: Thread, kind: str, after: tuple[int, ...]) -> None:
        if thread.open:
            inputs = thread.open[-1][1]
            if kind == "node_pre":
                inputs[:len(after)] = after
            elif len(inputs) == 1 and after:
                inputs[0] = after[0]

    def sweep_node(self, node: Any, number: int) -> None:
        """Put ourselves around the hooks of a node that is about to run."""
        recorder = self.recorder
        own = node._hooks
        if own is not None:
            name = recorder.rec.node_rows[number][0]
            for _, table in own.tensor:
                if table:
                    recorder.sweep(self, table, "tensor", self.on_tensor(number), recorder.rec.node_rows[number][4])
            if own.pre:
                recorder.sweep(self, own.pre, "node_pre", name, number)
            if own.post:
                recorder.sweep(self, own.post, "node_post", name, number)
        after = getattr(node, "after", None)
        if after:
            recorder.sweep(self, after, "post_accumulate", self.on_tensor(number), recorder.rec.node_rows[number][4])
        call = getattr(node, "call", None)
        if call is not None and type(node).__name__ == "BackwardHookFunctionBackward":
            self.wrap_boundary(call)

    def on_tensor(self, number: int) -> str:
        rec = self.recorder.rec
        name, op, _, _, tensor = rec.node_rows[number]
        if tensor >= 0:
            return rec.name_of_tensor(tensor)
        return f"the output of {name}"

    def wrap_boundary(self, call: Any) -> None:
        """Full backward hooks of a call made before the recording: the call captured the functions."""
        self.captured(call.full, "backward", call.module, call.module._backward_hooks)
        self.captured(call.pre, "backward_pre", call.module, call.module._backward_pre_hooks)

    def name_grad(self, grad: Any, tensor: int) -> None:
        recorder = self.recorder
        if recorder.tensor_number(grad) is None:
            name = recorder.rec.tensor_names.get(tensor, {}).get("name")
            recorder.name_tensor(self, grad, f"{name}.grad" if name else "a .grad", "grad", of=tensor)

    def node_of_hook(self, kind: str, hook: int, thread: Thread, slot: int) -> int:
        return int(thread.open[-1][0]) if thread.open else -1

    def registration_on_node(self, frame: Any, table: Any) -> tuple[str, str, int]:
        """Node.register_hook is compiled: the caller of the handle is the user's line."""
        return "node", "a node", -1

    # -- passes

    def backward(self, original: Any, args: Any, frame: Any) -> Any:
        roots, seeds, retain, create, targets, accumulate = args
        recorder = self.recorder
        thread = recorder.thread()
        thread.busy += 1
        try:
            numbers = tuple([self.adopt(node, -1) for node, _ in roots]) if recorder.ops or recorder.nodes else ()
            found = frame.f_locals.get("roots", ())
            tensors = tuple([recorder.tensor(self, t) for t in found if isinstance(t, TensorBase)])
            wanted = frame.f_locals.get("wanted") if targets is not None else None
            goals = None if wanted is None else tuple(
                [recorder.tensor(self, t) if isinstance(t, TensorBase) else -1 for t in wanted])
            thread, number = self.begin_pass("backward" if accumulate else "grad", numbers, tensors, retain, create,
                                             goals, frame)
            before = recorder.splitting
            self.split([node for node, _ in roots])
        finally:
            thread.busy -= 1
        if recorder.splitting is not before:
            retain = True
        if recorder.replay:
            retain = True
            self.kept.append((number, roots, [np.array(s) if isinstance(s, np.ndarray) else s for s in seeds], targets,
                              accumulate))
        error = None
        depth = len(thread.open)
        try:
            return original(roots, seeds, retain, create, targets, accumulate)
        except BaseException as e:
            error = e
            raise
        finally:
            del thread.open[depth:]
            if recorder.splitting is not before:
                self.join(recorder.splitting, number, error)
            self.end_pass(thread, number, error)

    # -- numbers

    def value_of(self, g: Any, same: int = -1) -> int:
        """The value of a gradient as the engine passes it: an array, or a Tensor under create_graph.

        same   a value that holds the same numbers, if its size is g's
        """
        if g is None:
            return -1
        recorder = self.recorder
        if isinstance(g, TensorBase):
            return recorder.value(self, g)
        key = id(g)
        known = recorder._seen.get(key)
        if known is not None and known[1] == -2 and known[0]() is g:
            return known[2]
        rec = recorder.rec
        place = g.shape, g.dtype
        like = recorder._likes.get(place)
        if like is None:
            like = recorder.new_like(place, g.shape, dtype_of(g.dtype), "cpu")
        if not recorder.norms:
            row: Any = UNMEASURED
        elif same >= 0 and rec.stats[7 * same] == g.size:
            row = recorder.row_of(same)
        else:
            row = self.numbers(g)
        with recorder.lock:
            n = len(rec.value_likes)
            rec.value_likes.append(like)
            rec.stats.extend(row)
        recorder._seen[key] = (ref(g), -2, n)
        if recorder.values == "all":
            recorder.keep(self, n, g)
        return n

    def edited(self, t: Any) -> None:
        self.recorder._seen.pop(id(t.array), None)

    version_of = staticmethod(edits)

    def key_of(self, t: Any) -> Any:
        x = t.array
        return x.shape, x.dtype

    def measure(self, t: Any) -> Any:
        x = t.array
        return measure(x) if x.dtype.kind in "fV" else UNMEASURED

    def numbers(self, x: Any) -> Any:
        return measure(x) if x.dtype.kind in "fV" else UNMEASURED

    def equal(self, a: Any, b: Any) -> bool:
        x, y = a.array, b.array
        return x.shape == y.shape and x.dtype == y.dtype and same(x, y)

    def array_of(self, t: Any) -> Any:
        x = t.array if isinstance(t, TensorBase) else t
        return x if x.dtype.kind in "fiub" else x.astype(np.float32)

    def without_grad(self) -> Any:
        return retrograd.no_grad()

    def copy_of(self, g: Any) -> Any:
        return wrap(array_of(g).copy())

    def bytes_of(self, g: Any) -> int:
        return int(array_of(g).nbytes)

    def grad_enabled(self) -> bool:
        return bool(grad_on())

    def inference_enabled(self) -> bool:
        return bool(state().inference)

    def grad_of(self, p: Any) -> Any:
        return p.grad if p.is_leaf else None


def array_of(g: Any) -> Any:
    """The array of a gradient as the engine passes it."""
    return g.array if isinstance(g, TensorBase) else g


def running(tap: Any, original: Any) -> Any:
    def run_backward(*args: Any) -> Any:
        now = tap.current
        if now is None or not now.recorder.on:
            return original(*args)
        return now.backward(original, args, sys._getframe(1))

    return run_backward


def registering_pre(tap: Any, original: Any) -> Any:
    """Node.register_prehook, telling the registration which node it was."""
    def register(self: Any, hook: Any) -> Any:
        now = tap.current
        if now is None or not now.recorder.on:
            return original(self, hook)
        return now.registering(original, "node_pre", self, hook)

    return register


def registering_post(tap: Any, original: Any) -> Any:
    def register(self: Any, hook: Any) -> Any:
        now = tap.current
        if now is None or not now.recorder.on:
            return original(self, hook)
        return now.registering(original, "node_post", self, hook)

    return register


def wrapped(make: Any, original: Any, name: str) -> Any:
    """What stands for a function while a recording goes on, made once."""
    key = make, original, name
    found = _wrappers.get(key)
    if found is None:
        found = _wrappers[key] = make(original, name)
    return found


_wrappers: dict[Any, Any] = {}


def feeding(original: Any, name: str) -> Any:
    """A function that takes indices or masks, which its op does not show: they are inputs, too."""
    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        tap = RetrogradTap.current
        if tap is None or not tap.recorder.on:
            return original(*args, **kwargs)
        thread = tap.recorder.thread()
        before = thread.extra
        flat = [b for a in (*args, *kwargs.values()) for b in (a if isinstance(a, (tuple, list)) else (a,))]
        thread.extra = [a for a in flat if isinstance(a, TensorBase) and a.array.dtype.kind in "biu"]
        try:
            return original(*args, **kwargs)
        finally:
            thread.extra = before

    return function


def cut(original: Any, name: str) -> Any:
    """A function after which the graph knows nothing of the tensor."""
    def method(*args: Any, **kwargs: Any) -> Any:
        tap = RetrogradTap.current
        if tap is None or not tap.recorder.on:
            return original(*args, **kwargs)
        thread = tap.recorder.thread()
        if thread.busy or thread.passes or thread.stepping or not tap.recorder.sites.user_frame_is_near(sys._getframe(1)):
            return original(*args, **kwargs)
        thread.busy += 1
        began = now()
        try:
            out = original(*args, **kwargs)
        finally:
            thread.busy -= 1
        outs = [out] if isinstance(out, TensorBase) else []
        tensors = [a for a in args if isinstance(a, TensorBase)]
        if outs or name in READS:
            tap.event(name, tensors, outs, began, sys._getframe(1))
        return out

    method.__name__ = name
    method.__doc__ = original.__doc__
    return method


def cut_property(original: Any, name: str) -> Any:
    return property(cut(original.fget, name), original.fset, original.fdel, original.__doc__)


def op_name(node: str) -> str:
    """'MulBackward0' -> 'mul', 'LogSoftmaxBackward0' -> 'log_softmax'"""
    found = _names.get(node)
    if found is None:
        base = node.rstrip("0123456789").removesuffix("Backward")
        found = "".join(f"_{c.lower()}" if c.isupper() and i and not base[i - 1].isupper() else c.lower()
                        for i, c in enumerate(base))
        _names[node] = found
    return found


_names: dict[str, str] = {}
