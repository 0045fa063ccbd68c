"""What a node keeps for its rule: a tensor with the version it had, or what a pack hook made of it."""
from __future__ import annotations

from typing import Any, Final, Optional

import numpy
from mypy_extensions import i64

from . import names
from .modes import loud, modes, outside, quiet, settle, state
from .node import FREED, Node, Value, name_of
from .promote import check_broadcast
from .tensor import AccumulateGrad, TensorBase, public, shared_version, sink_of, wrap

INFERENCE_SAVED: Final = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in "
    "autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
)
DETACHED: Final = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
    "This is not supported, please use out-of-place `.detach()` instead"
)
HINT: Final = (
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
ANOMALY_HINT: Final = (
    "Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable in "
    "question was changed in there or anywhere later. Good luck!"
)
PACK_EDITS: Final = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
    "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to "
    "perform in-place operations on the input to a pack hook."
)
REGISTER_FREED: Final = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are "
    "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved variables after calling backward."
)
REGISTER_TWICE: Final = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
    "allowed at a time."
)
REGISTER_NONE: Final = "Calling register_hooks on a saved tensor with value None is forbidden"


class Packed:
    """A saved tensor in the custody of saved_tensors_hooks; versions are not checked, as in PyTorch."""

    def __init__(self, t: TensorBase, pack: Any, unpack: Any, output_of: Optional[Node]) -> None:
        it = state()
        recording = it.grad
        it.grad = False
        settle(it)
        before = shared_version(t)
        edits = before.edits
        busy = it.busy
        it.busy = False                         # the hook is the user's code: its calls are asked about
        try:
            self.packed: Any = pack(t)
        finally:
            it.busy = busy
            it.grad = recording
            settle(it)
        if before.edits != edits:
            raise RuntimeError(PACK_EDITS)
        self.unpack_hook: Any = unpack
        self.rg: bool = t.rg
        self.own: bool = output_of is not None
        self.fn: Optional[Node] = None if self.own else t.fn
        self.sink: Optional[AccumulateGrad] = sink_of(t) if t.rg and t.fn is None and not self.own else None
        self.nr: i64 = t.nr
        self.shape: Any = t.array.shape
        self.dtype: Any = t.array.dtype

    def use(self, node: Node, graph: bool) -> Value:
        """What the rule gets: unpacked, in the dtype that was packed."""
        t = self.unpack(node)
        if t.array.shape != self.shape:
            check_broadcast(numpy.empty(self.shape, bool), t.array)
            if numpy.broadcast_shapes(self.shape, t.array.shape) != self.shape:
                raise RuntimeError(
                    f"unpack_hook returned a tensor of shape {list(t.array.shape)}; packed was one of shape "
                    f"{list(self.shape)}")
        if t.array.dtype is not self.dtype:
            from .._rules import cast
            return cast.cast(t if graph else t.array, self.dtype)
        return t if graph else t.array

    def unpack(self, node: Node) -> TensorBase:
        it = state()
        recording = it.grad
        it.grad = False
        settle(it)
        task: Any = it.task
        before = outside()
        silent = task is not None and before is not task.errors
        if silent:
            loud(task.errors)
        busy = it.busy
        it.busy = False
        try:
            found: Any = self.unpack_hook(self.packed)
        finally:
            if silent:
                quiet(task.errors)
            it.busy = busy
            it.grad = recording
            settle(it)
        if not isinstance(found, TensorBase):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(found).__name__}")
        if not self.rg:
            return found
        out = bare(found)
        out.rg = self.rg
        out.fn = node if self.own else self.fn
        out.sink = self.sink
        out.nr = self.nr
        return out


def bare(t: TensorBase) -> TensorBase:
    """An alias of t outside the graph that shares its version."""
    out: TensorBase = public.new(public.tensor)
    out.array = t.array
    out.version = t.version
    out.inference = t.inference
    return out


def keep(t: TensorBase) -> Value:
    """t as a node keeps it."""
    if t.inference and not state().lenient:
        raise RuntimeError(INFERENCE_SAVED)
    if not modes.usual:
        hooks = active_hooks()
        if hooks is not None:
            return Packed(t, hooks[0], hooks[1], None)
    return t


def keep_output(out: TensorBase, node: Node) -> Value:
    """The array of `node`'s own output: keeping the tensor would be a cycle."""
    if not modes.usual:
        hooks = active_hooks()
        if hooks is not None:
            return Packed(out, hooks[0], hooks[1], node)
    return out.array


def active_hooks() -> Optional[tuple[Any, Any]]:
    it = state()
    return it.pack_hooks[-1] if it.pack_hooks else None


def use(kept: Value, edits: i64, node: Node, graph: bool) -> Value:
    """A kept input as its rule gets it: array, or Tensor under create_graph."""
    if isinstance(kept, TensorBase):
        version = kept.version
        if (version is not None and version.edits != edits) or kept.cut > node._seq:
            raise edited(kept, edits, node)
        return kept if graph else kept.array
    if isinstance(kept, Packed):
        return kept.use(node, graph)
    return kept


stands: Final[dict[Node, Node]] = {}    # op that edited a view, while it runs backward -> the view's grad_fn


def use_output(kept: Value, version: Any, edits: i64, node: Node, nr: i64, graph: bool) -> Value:
    """A kept output as the rule gets it; under create_graph a Tensor again, so that the rule can be differentiated."""
    if isinstance(kept, Packed):
        return kept.use(node, graph)
    view = stands.get(node) if stands else None
    if version.edits != edits:
        raise changed(kept, node if view is None else view, nr, version.edits, edits)
    if not graph:
        return kept
    out = wrap(kept)
    out.rg = True
    out.fn = node if view is None else view
    out.nr = nr
    out.version = version
    return out


def op_name(node: Node) -> str:
    """MulBackward0 -> Mul, MaxBackward1 -> Max1, as PyTorch 2.13 names ops in errors."""
    name = name_of(node)
    head = name.rstrip("0123456789")
    if "::" in name or not head.endswith("Backward"):
        return name
    number = name[len(head):]
    return head[: -len("Backward")] + ("" if number == "0" else number)


def edited(t: TensorBase, edits: i64, node: Node) -> RuntimeError:
    if t.cut > node._seq:
        return RuntimeError(DETACHED)
    from .views import refresh
    refresh(t)
    now = 0 if t.version is None else t.version.edits
    return changed(t.array, t.fn, t.nr, now, edits)


def changed(array: Any, fn: Optional[Node], nr: i64, now: i64, edits: i64) -> RuntimeError:
    made = f", which is output {nr} of {op_name(fn)}," if fn is not None else ""
    kind = names.SHOWN[array.dtype.name]
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{kind} {list(array.shape)}]{made} is at version {now}; expected version {edits} instead. "
        + (ANOMALY_HINT if modes.anomaly else HINT))


def freed() -> RuntimeError:
    return RuntimeError(FREED)
