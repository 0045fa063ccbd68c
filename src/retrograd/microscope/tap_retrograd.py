"""What a recorder does to retrograd: it is the engine's observer (NOTE [Observer] in _engine/modes.py)."""
from __future__ import annotations

import functools
import sys
from functools import partial
from typing import Any

import numpy as np

from .._engine.modes import grad_on, modes, state
from .._engine.tensor import TensorBase, edits, wrap
from ..dtypes import of as dtype_of
from ._hooked import Hooked
from ._measure import measure, same
from .record.book import UNMEASURED, Thread, now
from .record.recorder import Recorder
from .record.recording import POSITION
from .record.witness import Witness
from .tap_common import Tap, bounds

# Methods after which the graph knows nothing of the tensor: ops without a derivative, that the observer is not told of.
CUTS = (
    "detach", "detach_", "item", "numpy", "tolist", "__array__", "__bool__", "__float__", "__int__", "__index__",
    "argmax", "argmin", "argsort", "nonzero", "isnan", "isinf", "isfinite", "eq", "ne", "lt", "le", "gt", "ge",
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "int", "long", "bool", "multinomial", "bernoulli",
    "logical_and", "logical_or", "logical_not", "signbit", "bincount", "unique", "all", "any", "floor_divide",
    "__floordiv__", "requires_grad_", "allclose", "equal", "count_nonzero", "searchsorted", "isclose")
retrograd = sys.modules[__name__.partition(".")[0]]     # the namespace, which is above us
SHARING = {"detach", "numpy", "__array__", "data"}
READS = {"item", "numpy", "tolist", "__array__", "__bool__", "__float__", "__int__", "__index__", "allclose", "equal"}
INPUTS, OUTPUTS = POSITION["op"]["inputs"], POSITION["op"]["outputs"]
INDEXED = ("embedding", "embedding_bag", "cross_entropy", "nll_loss", "gather", "index_select", "take_along_dim", "scatter",
           "scatter_add", "where", "masked_fill", "masked_select", "__getitem__", "index_add", "take")
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
        self.witness = Witness(recorder, self, self.serial, recorder.ops, recorder.nodes)
        self.kept: list[Any] = []
        self.handed_out: set[int] = set()               # memory that others may write into unseen

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
        cls.shapeless = (nn.UninitializedParameter, nn.UninitializedBuffer)
        cls.RemovableHandle = utils.hooks.RemovableHandle
        cls.hooks_home = hooks
        cls.autograd = autograd
        cls.optimizer = optimizer

    def optimizer_home(self) -> Any:
        return self.optimizer

    def install(self) -> None:
        super().install()
        recorder, unwatched = self.recorder, self.hooks_home.unwatched
        recorder.patch(self.hooks_home, "watcher",
                       partial(self.call, unwatched) if recorder.ops else partial(recorder.called, self, unwatched))
        if recorder.ops:
            recorder.swap(self.cuts)
        if recorder.replay:
            from ..autograd import graph
            graph._push_hooks(graph._copied, graph._itself)     # weights may change before the replay
            recorder.later(graph._pop_hooks)
        if recorder.ops or recorder.nodes:
            before = modes.observer
            modes.observer = self.witness
            recorder.later(setattr, modes, "observer", before)
        recorder.later(setattr, modes, "clerk", modes.clerk)
        modes.clerk = self

    def is_ours(self, hook: Any) -> bool:
        return super().is_ours(hook) or type(hook) is self.hooks_home.Bound and type(hook.hook) is Hooked

    def cuts(self, put: Any, seat: Any) -> None:
        """Functions that the engine does not tell of."""
        Tensor = retrograd.Tensor
        space = vars(retrograd)
        for name in CUTS:
            original = getattr(Tensor, name, None)
            if original is not None:
                wrapper = cut(seat, original, name)
                put(Tensor, name, wrapper)
                if space.get(name) is original:
                    put(retrograd, name, wrapper)
        for name in INDEXED:
            for home in (Tensor, retrograd, retrograd.nn.functional):
                original = vars(home).get(name) or (getattr(Tensor, name, None) if home is Tensor else None)
                if original is not None:
                    put(home, name, feeding(seat, original, name))
        functional = retrograd.nn.functional
        put(functional, "one_hot", cut(seat, functional.one_hot, "one_hot"))
        for name in CREATES:
            put(retrograd, name, cut(seat, space[name], name))
        put(Tensor, "data", cut_property(seat, vars(Tensor)["data"], "data"))
        put(Tensor, "retain_grad", retaining(seat, Tensor.retain_grad))
        grad, wanting = vars(Tensor)["grad"], vars(Tensor)["requires_grad"]
        put(Tensor, "grad", property(grad.fget, assigning(seat, grad.fset), assigning(seat, grad.fdel), grad.__doc__))
        put(Tensor, "requires_grad", property(wanting.fget, switching(seat, wanting.fset), wanting.fdel, wanting.__doc__))

    def close(self) -> None:
        super().close()
        if not self.recorder.replay:
            self.kept.clear()

    # -- ops

    def event(self, name: str, tensors: list[Any], outs: list[Any], began: int, frame: Any,
              inner: list[int] | None = None) -> None:
        self.witness.event(name, tensors, outs, began, frame, inner)

    def applies(self, cls: Any, run: Any, args: Any, kwargs: Any) -> Any:
        """A custom Function: its node is the op's."""
        recorder = self.recorder
        if not recorder.on or not recorder.ops or recorder.thread().busy or recorder.thread().passes:
            return run(cls, args, kwargs)
        began = now()
        rows = recorder.rows
        first = len(rows)
        out = run(cls, args, kwargs)
        outs = [o for o in (out if isinstance(out, tuple) else (out,)) if isinstance(o, TensorBase)]
        made: dict[int, None] = {}                      # by ops of its forward: its outputs are new Tensors of these
        for row in rows[first:]:
            if row[0] == "op":
                made.update(dict.fromkeys(row[OUTPUTS]))
                for n in row[INPUTS]:
                    made.pop(n, None)
        self.event(f"{cls.__name__}.apply", [a for a in args if isinstance(a, TensorBase)], outs, began, sys._getframe(1),
                   list(made))
        return out

    # -- nodes

    def adopt(self, fn: Any, op: int) -> int:
        return self.witness.adopt(fn, op)

    def replaced(self, thread: Thread, kind: str, after: tuple[int, ...]) -> None:
        self.witness.replaced(thread, kind, after)

    def handed(self, to: int, value: int, g: Any) -> None:
        """A node hands on a gradient to one that is no leaf's."""
        if self.recorder.splitting is not None:
            self.recorder.splitting.sees(to, value, g)

    def boundary(self, node: Any) -> None:
        """Full backward hooks of a call made before the recording: the call captured the functions."""
        call = getattr(node, "call", None)
        if call is not None:
            self.captured(call.full, "backward", call.module, call.module._backward_hooks)
            self.captured(call.pre, "backward_pre", call.module, call.module._backward_pre_hooks)

    def name_grad(self, grad: Any, tensor: int) -> None:
        number = self.recorder.tensor_number(grad)
        if number is None or number not in self.recorder.rec.tensor_names:
            super().name_grad(grad, tensor)

    def shared(self, g: Any) -> bool:
        return not self.recorder.ops or memory(g) in self.handed_out

    def node_of_hook(self, kind: str, hook: int, thread: Thread, slot: int) -> int:
        return int(thread.open[-1].number) if thread.open else -1

    # -- passes

    def passes(self, run: Any, given_roots: Any, wanted: Any, arguments: Any) -> Any:
        recorder = self.recorder
        if not recorder.on:
            return run(*arguments)
        roots, seeds, retain, create, targets, accumulate = arguments
        thread = recorder.thread()
        thread.busy += 1
        try:
            numbers = tuple([self.adopt(node, -1) for node, _ in roots]) if recorder.ops or recorder.nodes else ()
            tensors = tuple([recorder.tensor(self, t) for t in given_roots if isinstance(t, TensorBase)])
            thread, number = self.begin_pass("backward" if accumulate else "grad", numbers, tensors, retain, create,
                                             None if wanted is None else self.goals(wanted), sys._getframe(1))
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
            return run(roots, seeds, retain, create, targets, accumulate)
        except BaseException as e:
            error = e
            raise
        finally:
            del thread.open[depth:]
            if recorder.splitting is not before:
                self.join(recorder.splitting, number, error)
            self.end_pass(thread, number, error)

    # -- numbers

    def edited(self, t: Any) -> None:
        self.recorder._seen.pop(id(t.array), None)

    version_of = staticmethod(edits)
    dtype_of = staticmethod(dtype_of)

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


def feeding(seat: Any, original: Any, name: str) -> Any:
    """A function that takes indices or masks, which its op does not show: they are inputs, too."""
    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        tap = seat.current
        if tap is None or not tap.recorder.on:
            return original(*args, **kwargs)
        thread = tap.recorder.thread()
        before = thread.extra
        flat = [b for a in (*args, *kwargs.values()) for b in (a if isinstance(a, (tuple, list)) else (a,))]
        if name == "__getitem__":
            flat += bounds(args[1])
        thread.extra = [a for a in flat if isinstance(a, TensorBase) and a.array.dtype.kind in "biu"]
        try:
            return original(*args, **kwargs)
        finally:
            thread.extra = before

    return function


def memory(t: Any) -> int:
    """The id of the array that owns what t is in."""
    x = t.array
    while isinstance(x.base, np.ndarray):
        x = x.base
    return id(x)


def cut(seat: Any, original: Any, name: str) -> Any:
    """A function after which the graph knows nothing of the tensor."""
    def method(*args: Any, **kwargs: Any) -> Any:
        tap = seat.current
        if tap is None or not tap.recorder.on:
            return original(*args, **kwargs)
        thread = tap.recorder.thread()
        frame = sys._getframe(1)
        if thread.busy or thread.passes or thread.stepping or not (
                name == "requires_grad_" == frame.f_code.co_name or tap.recorder.sites.user_frame_is_near(frame)):
            return original(*args, **kwargs)
        thread.busy += 1
        began = now()
        try:
            out = original(*args, **kwargs)
        finally:
            thread.busy -= 1
        outs = [out] if isinstance(out, TensorBase) else []
        tensors = [a for a in args if isinstance(a, TensorBase)]
        if name in SHARING:
            tap.handed_out.update(map(memory, tensors))
        if outs or name in READS:
            tap.event(name, tensors, outs, began, sys._getframe(1))
        return out

    method.__name__ = name
    method.__doc__ = original.__doc__
    return method


def retaining(seat: Any, original: Any) -> Any:
    def retain_grad(self: Any) -> None:
        tap = seat.current
        if tap is None or not tap.recorder.on:
            return original(self)
        return tap.retains(original, self)

    return retain_grad


def assigning(seat: Any, original: Any) -> Any:
    """t.grad = ..., or del t.grad."""
    def assign(self: Any, *value: Any) -> None:
        original(self, *value)
        tap = seat.current
        if tap is not None and tap.recorder.on:
            tap.assigns(self, sys._getframe(1))

    return assign


def switching(seat: Any, original: Any) -> Any:
    """t.requires_grad = ..., which is an event requires_grad_."""
    def switch(self: Any, on: bool) -> Any:
        original(self, on)
        return self

    return cut(seat, switch, "requires_grad_")


def cut_property(seat: Any, original: Any, name: str) -> Any:
    return property(cut(seat, original.fget, name), original.fset, original.fdel, original.__doc__)


