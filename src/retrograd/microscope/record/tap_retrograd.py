"""What a recorder does to retrograd: it is the engine's observer (NOTE [Observer] in _engine/modes.py)."""
from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from ..._engine.modes import grad_on, modes, state
from ..._engine.tensor import TensorBase, wrap
from ..._tensor.dtypes import of as dtype_of
from ..._tensor.owner import owner
from .._hooked import Hooked
from .._measure import same
from ..listen.engine import GETTER
from ..listen.sites import caller
from .book import Thread, now
from .recorder import Recorder
from .recording import POSITION
from .tap_common import Tap
from .witness import bounds

# Functions after which the graph knows nothing of the tensor: without a derivative, so that the observer is not told of them.
CUTS = {
    "detach", "detach_", "item", "numpy", "tolist", "__array__", "__bool__", "__float__", "__int__", "__index__",
    "argmax", "argmin", "argsort", "nonzero", "isnan", "isinf", "isfinite", "eq", "ne", "lt", "le", "gt", "ge",
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "int", "long", "bool", "multinomial", "bernoulli",
    "logical_and", "logical_or", "logical_not", "signbit", "bincount", "unique", "all", "any", "floor_divide",
    "__floordiv__", "requires_grad_", "allclose", "equal", "count_nonzero", "searchsorted", "isclose", "one_hot",
    "byte", "char", "short", "new_tensor", "histc", "histogram", "argwhere", "unique_consecutive", "logical_xor", "isin",
    "bucketize", "isposinf", "isneginf", "isreal", "frexp",
    "empty", "empty_like", "tensor", "as_tensor", "from_numpy", "asarray", "full", "ones", "zeros", "arange", "linspace"}
CASTS = {"to", "type", "type_as"}
retrograd = sys.modules[__name__.partition(".")[0]]     # the namespace, which is above us
SHARING = {"detach", "numpy", "__array__", "data"}
READS = {"item", "numpy", "tolist", "__array__", "__bool__", "__float__", "__int__", "__index__", "allclose", "equal"}
INPUTS, OUTPUTS, VALUES = (POSITION["op"][part] for part in ("inputs", "outputs", "values"))
CHOOSING = {"max", "min", "median", "nanmedian", "mode", "kthvalue", "sort", "topk", "cummax", "cummin"}
INDEXED = {"embedding", "embedding_bag", "cross_entropy", "nll_loss", "gather", "index_select", "take_along_dim", "scatter",
           "scatter_add", "where", "masked_fill", "masked_select", "__getitem__", "index_add", "take"}
# Functions of ours whose calls of the above are as if the user's.
ASKED_FOR = {f.__code__ for f in (retrograd.nn.Module.requires_grad_, retrograd.nn.Module._save_to_state_dict,
                                  retrograd.nn.Parameter.__deepcopy__)}


class RetrogradTap(Tap):
    """Records retrograd."""

    name = "retrograd"
    version = retrograd.version.retrograd
    space = None
    autograd: Any
    of_reducer: Any                             # the class of DistributedDataParallel's own hooks
    listening: Any                              # who hears what ranks exchange

    def __init__(self, recorder: Recorder) -> None:
        if not RetrogradTap.space:
            RetrogradTap.find()
        super().__init__(recorder)
        self.kept: list[Any] = []
        self.handed_out: set[int] = set()               # memory that others may write into unseen

    @classmethod
    def find(cls) -> None:
        """Where the package has what we need, which is above us: said once in a process."""
        from ... import autograd, nn, optim, utils
        from ...distributed.work import listening
        from ...nn import hooks
        from ...nn.parallel.reducer import Ready
        cls.space = retrograd
        cls.Tensor = TensorBase
        cls.Module = nn.Module
        cls.Optimizer = optim.Optimizer
        cls.shapeless = frozenset((nn.UninitializedParameter, nn.UninitializedBuffer))
        cls.RemovableHandle = utils.hooks.RemovableHandle
        cls.hooks_home = hooks
        cls.autograd = autograd
        cls.of_reducer = Ready
        cls.listening = listening

    def install(self) -> None:
        super().install()
        recorder, hooks = self.recorder, self.hooks_home
        recorder.later(setattr, hooks, "watcher", hooks.watcher)
        hooks.watcher = partial(self.call, hooks.unwatched) if recorder.ops else partial(recorder.called, self, hooks.unwatched)
        if recorder.replay:
            from ...autograd import graph
            graph._push_hooks(self.copied, graph._itself)   # weights may change before the replay
            recorder.later(graph._pop_hooks)
        if recorder.ops or recorder.nodes:
            before = modes.observer
            modes.observer = self.witness
            recorder.later(setattr, modes, "observer", before)
        recorder.later(setattr, modes, "clerk", modes.clerk)
        modes.clerk = self

    def copied(self, t: Any) -> Any:
        """In the place of what a node saves; the copying is ours, and no event."""
        thread = self.recorder.thread()
        thread.busy += 1
        try:
            return sys.modules[f"{retrograd.__name__}.autograd.graph"]._copied(t)
        finally:
            thread.busy -= 1

    def is_ours(self, hook: Any) -> bool:
        return super().is_ours(hook) or type(hook) is self.hooks_home.Bound and type(hook.hook) is Hooked or (
            type(hook) is self.of_reducer)

    def hear_exchanges(self) -> None:
        self.recorder.later(setattr, self.listening, "ear", self.listening.ear)
        self.listening.ear = self.exchanges

    def kind_of(self, func: Any) -> Any:
        """What to do at a call of a function that the witness hears for the first time: None, or call(impl, args, kwargs)."""
        name = self.engine.plain_name(func)
        if type(func) is GETTER:
            what = func.__name__
            if what == "__get__":
                return partial(self.cut, name) if name == "data" else None
            if name == "grad":
                return self.assigned
            return self.switched if name == "requires_grad" else None
        if name == "retain_grad":
            return self.retaining
        if name in INDEXED:
            return partial(self.feeds, name)
        if name in CHOOSING:
            return self.chooses
        if name in CASTS:
            return partial(self.casts, name)
        return partial(self.cut, name) if name in CUTS else None

    def feeds(self, name: str, impl: Any, args: Any, kwargs: Any) -> Any:
        """A function that takes indices or masks, which its op does not show: they are inputs, too, of the op that keeps them."""
        thread = self.recorder.thread()
        before, viewing = thread.extra, thread.viewing
        flat = [b for a in (*args, *kwargs.values()) for b in (a if isinstance(a, (tuple, list)) else (a,))]
        if name == "__getitem__":
            flat += bounds(args[1])
        thread.extra = [a for a in flat if isinstance(a, TensorBase) and a.array.dtype.kind in "biu"]
        thread.viewing = name == "__getitem__"
        try:
            return impl(*args, **kwargs)
        finally:
            thread.extra, thread.viewing = before, viewing

    def chooses(self, impl: Any, args: Any, kwargs: Any) -> Any:
        """A function that gives values and indices, which its op does not show: they are an output, too."""
        recorder = self.recorder
        slot = len(recorder.rows)
        out = impl(*args, **kwargs)
        row = recorder.rows[-1]
        if len(recorder.rows) == slot + 1 and row[0] == "op" and len(row[OUTPUTS]) == 1 and type(out).__name__ in CHOOSING:
            row = list(row)
            row[OUTPUTS] += (recorder.new_tensor(self, out[1], slot, -1),)
            row[VALUES] += (recorder.value(self, out[1]),)
            recorder.rows[slot] = tuple(row)
        return out

    def cut(self, name: str, impl: Any, args: Any, kwargs: Any) -> Any:
        """A function after which the graph knows nothing of the tensor."""
        thread = self.recorder.thread()
        frame = caller()
        if thread.busy or thread.passes or thread.stepping or not (
                frame is not None and frame.f_code in ASKED_FOR or self.recorder.sites.user_frame_is_near(frame)):
            return impl(*args, **kwargs)
        thread.busy += 1
        began = now()
        try:
            out = impl(*args, **kwargs)
        finally:
            thread.busy -= 1
        outs = [out] if isinstance(out, TensorBase) else []
        tensors = [a for a in args if isinstance(a, TensorBase)]
        if name in SHARING:
            self.handed_out.update(map(memory, tensors))
        if outs or name in READS:
            self.witness.event(name, tensors, outs, began, frame)
        return out

    def casts(self, name: str, impl: Any, args: Any, kwargs: Any) -> Any:
        """An op, but to integers, of which the graph knows nothing."""
        kinds = [a.array.dtype.kind if isinstance(a, TensorBase) else a.numpy.kind
                 for a in (*args[1:], *kwargs.values()) if isinstance(a, (TensorBase, retrograd.dtype))]
        return self.cut(name, impl, args, kwargs) if "b" in kinds or "i" in kinds or "u" in kinds else impl(*args, **kwargs)

    def switched(self, impl: Any, args: Any, kwargs: Any) -> Any:
        """t.requires_grad = ..., which is an event requires_grad_."""
        def switch(t: Any, on: bool) -> Any:
            impl(t, on)
            return t

        self.cut("requires_grad_", switch, args, kwargs)

    def assigned(self, impl: Any, args: Any, kwargs: Any) -> None:
        """t.grad = ..., or del t.grad."""
        impl(*args)
        self.assigns(args[0], caller())

    def retaining(self, impl: Any, args: Any, kwargs: Any) -> None:
        self.retains(impl, args[0], caller())

    def close(self) -> None:
        if not self.recorder.replay:
            self.kept.clear()

    # -- ops

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
        self.witness.event(f"{cls.__name__}.apply", [a for a in args if isinstance(a, TensorBase)], outs, began, sys._getframe(1),
                   list(made))
        return out

    # -- nodes

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
            if recorder.asked == "paths":
                self.split([node for node, _ in roots])
        finally:
            thread.busy -= 1
        if recorder.splitting is not before:
            retain = True
        if recorder.replay:
            retain = True
            assert self.tape is not None
            self.tape.begins(number, given_roots, seeds)
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

    dtype_of = staticmethod(dtype_of)

    def equal(self, a: Any, b: Any) -> bool:
        x, y = numbers(a), numbers(b)
        return x.shape == y.shape and x.dtype == y.dtype and same(x, y)

    def array_of(self, t: Any) -> Any:
        x = t.array if isinstance(t, TensorBase) else t
        return x if x.dtype.kind in "fciub" else x.astype(np.float32)

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


def array_of(g: Any) -> Any:
    """The array of a gradient as the engine passes it."""
    return g.array if isinstance(g, TensorBase) else g


def memory(t: Any) -> int:
    """The id of the array that owns what t is in."""
    return id(owner(t.array))


def numbers(t: Any) -> Any:
    """Its array; of a sample inside vmap that of the whole batch, where its numbers are."""
    level: Any = sys.modules.get("retrograd.func._batching.level")
    while level is not None and type(t) is level.Batched:
        t = t.value
    return t.array
