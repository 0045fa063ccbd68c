"""Views and in-place edits: who may edit what, and how an edit through a view enters the history of its base."""
from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy
from mypy_extensions import i64

from . import names
from .hooks import move_retained
from .mirror import depths
from .modes import grad_on, inference_on, modes, state
from .node import Array, Node, Value, name_of
from .op import Unary, View, Written, attach, edge, number
from .region import Region
from .region import address as address
from .region import overlaps as overlaps
from .saved import freed, op_name, stands
from .tensor import (
    CUSTOM,
    INFERENCE,
    MULTI,
    OK,
    Origin,
    TensorBase,
    born,
    bump,
    edits,
    wants_grad,
)
from .warn import warn

np: Final[Any] = numpy
ndarray: Final[Any] = numpy.ndarray

LEAF: Final = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF: Final = "a view of a leaf Variable that requires grad is being used in an in-place operation."
INFERENCE_EDIT: Final = (
    "Inplace update to inference tensor outside InferenceMode is not allowed."
    "You can make a clone to get a normal tensor before doing inplace update."
    "See https://github.com/pytorch/rfcs/pull/17 for more details."
)
CAPTURED: Final = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation that would "
    "mutate a captured Tensor. This is not supported; please rewrite the function being transformed to explicitly accept "
    "the mutated Tensor(s) as inputs."
)
EXPANDED: Final = (
    "Use of {} on expanded tensors is deprecated. Please clone() the tensor before performing this operation. This also "
    "applies to advanced indexing e.g. tensor[{}"
)
PARTLY: Final = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation.")
OVERLAP: Final = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
    "Please clone() the tensor before performing the operation."
)


class AsStridedOf(View):
    """The elements of a base that a view shows."""

    shows: ClassVar[Any] = {
        "size": "region.view_shape", "stride": "region.strides", "storage_offset": "region.offset"}

    def __init__(self, region: Region) -> None:
        self.region: Region = region
        self.title: str = ""                    # of the view whose place it takes, where PyTorch makes that again
        self.now: Array = None                  # what forward shows: not to be made of the base, it may lie beyond it

    def name(self) -> str:
        return self.title or super().name()

    def forward(self, x: Array) -> Array:
        now = self.now
        self.now = None
        return self.region.of(x) if now is None else now

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return RegionAddBackward0(self.region).run(g)


@final
class AsStridedBackward0(AsStridedOf):
    """as_strided(), and what a view's grad_fn becomes once its base was edited."""


@final
class AsStridedBackward1(AsStridedOf):
    """as_strided_()"""


@final
class RegionAddBackward0(Unary):
    """Zeros of the base's shape with the view's elements added in: the adjoint of AsStrided."""

    conjugates = False

    def __init__(self, region: Region) -> None:
        self.region: Region = region

    def forward(self, x: Array) -> Array:
        return self.region.sum(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return AsStridedBackward0(self.region).run(g)


@final
class AsStridedScatterBackward0(Written):
    """`a` with the elements that a view shows replaced by `b`, of any dtype."""

    names: ClassVar[Any] = {}
    shows: ClassVar[Any] = {
        "size": "region.view_shape", "stride": "region.strides", "storage_offset": "region.offset"}

    def __init__(self, region: Region) -> None:
        self.region: Region = region

    def forward(self, a: Array, b: Array) -> Array:
        whole, part = self.region.lay(a)
        part[...] = self.region.turned(b)
        return whole

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return AsStridedScatterBackward0(self.region).run(g, self.region.blank(dtype_of(g)))

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return AsStridedBackward0(self.region).run(g)


def dtype_of(x: Value) -> Any:
    return x.array.dtype if isinstance(x, TensorBase) else x.dtype


def region_of(base: TensorBase, view: TensorBase) -> Region:
    mirrors = None if view.version is None else view.version.mirrors
    if mirrors is None:
        return Region(base.array, view.array, gap(base.array, view.array))
    base_shift, base_conj, base_neg = depths(mirrors, base.array)
    shift, conj, neg = depths(mirrors, view.array)
    return Region(base.array, view.array, shift - base_shift, conj != base_conj, neg != base_neg)


def gap(base: Array, view: Array) -> int:
    """Bytes from the memory of a view to that of its base, which `.data =` may have given other memory: else 0."""
    if base is view.base or not view.size:
        return 0
    mine, its = bottom(base), bottom(view)
    if mine is its or np.may_share_memory(mine, its):
        return 0
    return address(mine) - address(its)


def bottom(x: Array) -> Array:
    """The array that owns the memory of `x`."""
    below: Any = x.base
    while below is not None:
        if isinstance(below, ndarray):
            x = below
        below = getattr(below, "base", None)    # NumPy's as_strided puts an object of its own between
    return x


@final
class CopySlices(Node):
    """An op that edited a view, seen from the view's base.

    The gradient of the base goes on unchanged outside the view; inside, it goes through the op.
    """

    def __init__(self, base: TensorBase, view: TensorBase, inner: Node) -> None:
        self.region: Region = region_of(base, view)
        self.inner: Node = inner
        self.base_next: Optional[Node] = edge(base)
        self.base_nr: i64 = base.nr
        self.count: int = inner.edge_count()
        self.freed: bool = False

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def backward(self, gs: list[Value], graph: bool) -> list[Value]:
        g = gs[0]
        if g is None:
            return [None for _ in range(self.count)]
        if self.freed:
            raise freed()
        if not self.inner.reads_field("y"):
            return self.split(g, graph)
        # The op's output is the view: what its rule makes of it leads through the base, not past it.
        view = AsStridedBackward0(self.region)
        view.next = self
        if graph:
            number(view)
        stands[self.inner] = view
        try:
            return self.split(g, graph)
        finally:
            stands.pop(self.inner, None)

    def split(self, g: Value, graph: bool) -> list[Value]:
        outs: list[Value]
        if graph:
            outs = self.inner.backward([AsStridedBackward0(self.region).run(g)], True)
            part = outs[0]
            if part is None:
                part = self.region.blank(dtype_of(g))
            outs[0] = None if self.base_next is None else AsStridedScatterBackward0(self.region).run(g, part)
            return outs
        whole, inside = self.region.lay(g)
        outs = self.inner.backward([self.region.turned(inside.copy())], False)
        inside[...] = 0 if outs[0] is None else self.region.turned(outs[0])
        outs[0] = None if self.base_next is None else whole
        return outs

    def edge_count(self) -> int:
        return self.count

    def edge_node(self, i: int) -> Optional[Node]:
        return self.base_next if i == 0 else self.inner.edge_node(i)

    def edge_nr(self, i: int) -> int:
        return self.base_nr if i == 0 else self.inner.edge_nr(i)

    def release(self) -> None:
        self.inner.release()
        self.freed = True


# Views that strides do not tell: PyTorch makes them again.
REPLAYED: Final = ("ConjBackward0", "NegViewBackward0", "ViewAsRealBackward0", "ViewAsComplexBackward0")


def grad_fn(t: TensorBase) -> Any:
    """The node that made it; None for leaves."""
    if t.origin is not None:
        refresh(t)
    fn = t.fn
    if fn is not None and fn._like is None:
        fn._like = t.array.shape, t.array.dtype
    return fn


def refresh(t: TensorBase) -> None:
    """Renew a view's grad_fn if the base or another view was edited since (grad_fn() of PyTorch)."""
    origin = t.origin
    if origin is None:
        return
    base = origin.base
    now = edits(t)
    if origin.seen == now or (t.fn is None and not wants_grad(base)):
        return
    explain(t, origin, True)
    made = AsStridedBackward0(region_of(base, t))
    made.next = edge(base)
    made.next_nr = base.nr
    was = t.fn
    if modes.imaginary:
        name = "ConjBackward0" if was is None and made.region.conj else "" if was is None else name_of(was)
        made.title = name if name in REPLAYED else ""
    number(made)
    t.rg = t.rg or made.next is not None
    t.fn = made
    t.nr = 0
    origin.seen = now
    move_retained(t, was)


def explain(t: TensorBase, origin: Origin, indirect: bool) -> None:
    """RuntimeError when t is a view of a kind whose history an in-place edit would break."""
    if origin.state == OK:
        return
    edited = "its base or another view of its base has been" if indirect else "is being"
    if origin.state == MULTI or origin.state == CUSTOM:
        if t.fn is None:
            head = f"A view was created in no_grad mode and {edited} modified inplace with grad mode enabled."
        else:
            head = f"Output {t.nr} of {op_name(t.fn)} is a view and {edited} modified inplace."
        if origin.state == MULTI:
            raise RuntimeError(
                head + " This view is the output of a function that returns multiple views. Such functions do not "
                "allow the output views to be modified inplace. You should replace the inplace operation by an "
                "out-of-place one.")
        raise RuntimeError(
            head + " This view was created inside a custom Function (or because an input was returned as-is) and the "
            "autograd logic to handle view+inplace would override the custom backward associated with the custom "
            "Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the "
            "output of the custom Function.")
    mode = "inference mode" if origin.state == INFERENCE else "no_grad mode"
    if t.fn is not None:
        head = f"Output {t.nr} of {op_name(t.fn)} is a view of a view which was created in {mode} and {edited}"
    else:
        head = f"A view was created in {mode} and {edited}"
    if origin.state == INFERENCE:
        head += " modified inplace in normal mode."
    else:
        head += " modified inplace with grad mode enabled."
    block = "inference_mode" if origin.state == INFERENCE else "no_grad"
    raise RuntimeError(
        f"{head} Given that this use case is ambiguous and error-prone, it "
        "is forbidden. You can clarify your code by moving both the view and the inplace either both inside the "
        f"{block} block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be "
        "tracked).")


def guard(t: TensorBase, record: bool, out: bool = False) -> None:
    """May t be edited in place?  `record`: the edit will be part of a graph; `out`: it is out= of a function."""
    guard_memory(t, out)
    if not grad_on() or not (record or wants_grad(t)):
        return
    origin = t.origin
    if origin is not None:
        explain(t, origin, False)
        if wants_grad(t) and origin.base.fn is None:
            raise RuntimeError(VIEW_OF_LEAF)
    if t.fn is None and wants_grad(t):
        raise RuntimeError(LEAF)


def guard_memory(t: TensorBase, out: bool = False) -> None:
    """May t's memory be written to, by what is never part of a graph?"""
    if not modes.usual:
        guard_captured(t, out)
        before: Any = state().mutation
        if before is not None:
            before(t)
    if t.inference and not inference_on():
        raise RuntimeError(INFERENCE_EDIT)


def guard_captured(t: TensorBase, out: bool = False) -> None:
    """RuntimeError when t was made outside the function of torch.func that runs."""
    it = state()
    if it.transform > 0 and not out and born(t) < it.transform:
        raise RuntimeError(CAPTURED)


def apart(a: TensorBase, b: TensorBase) -> None:
    """RuntimeError when b, which an edit of a reads, shows some of a's memory in another way.

    As in PyTorch, only where both are dense: no gaps between their elements, none shown twice.  Of float32 and float16 it has
    a copy that does not look.
    """
    x: Array = a.array
    y: Array = b.array
    if not x.size or not y.size or not dense(x) or not dense(y) or (
            x.dtype is not y.dtype and x.dtype.kind == y.dtype.kind == "f" and x.itemsize + y.itemsize == 6):
        return
    gap = address(y) - address(x)
    if -y.nbytes < gap < x.nbytes and (gap != 0 or x.nbytes != y.nbytes or steps(x) != steps(y)):
        raise RuntimeError(PARTLY)


def separate(a: TensorBase, b: TensorBase) -> None:
    """RuntimeError when b, which an edit of a reads elsewhere than it writes, is a or shows some of its memory: see `apart`."""
    x: Array = a.array
    y: Array = b.array
    if a is b or (x.size and y.size and dense(x) and dense(y) and -y.nbytes < address(y) - address(x) < x.nbytes):
        raise RuntimeError(PARTLY)


def steps(x: Array) -> list[int]:
    """Strides as PyTorch has them, in elements: NumPy gives new dims of one element none."""
    found: list[int] = [s // x.itemsize for s in x.strides]
    step: int = 1
    for i in range(len(found) - 1, -1, -1):
        if found[i] == 0 and x.shape[i] == 1:
            found[i] = step
        step = found[i] * x.shape[i]
    return found


def dense(x: Array) -> bool:
    """Do the elements fill their memory, in some order of dims?"""
    if x.flags.c_contiguous:
        return True
    step: int = x.itemsize
    for s, n in sorted([(s, n) for s, n in zip(x.strides, x.shape) if n > 1]):
        if s != step:
            return False
        step *= n
    return True


def store(t: TensorBase, y: Array, casts: bool, node: Optional[Node] = None) -> None:
    """Write y, which `node` made, into t's memory and count the edit.

    Unless `casts`, y may not be of a higher kind than t.
    """
    x: Array = t.array
    repeated = repeats(x)
    function = check_repeated(node) if repeated else ""
    if y.shape != x.shape:
        raise RuntimeError(
            f"output with shape {list(x.shape)} doesn't match the broadcast shape {list(y.shape)}")
    if not casts and y.dtype is not x.dtype:
        check_cast(y.dtype, x.dtype)
    if repeated:
        store_repeated(x, y, function)
    else:
        np.copyto(x, y, casting="unsafe")
    bump(t)


def repeats(x: Array) -> bool:
    """Does x show an element several times?"""
    return x.size > 1 and 0 in x.strides and overlaps(x.shape, x.strides)


def check_repeated(node: Optional[Node]) -> str:
    """node.overlapped(); RuntimeError where `node` may not write to memory that is shown several times."""
    function = None if node is None else node.overlapped()
    if function is None:
        raise RuntimeError(OVERLAP)
    return function


def store_repeated(x: Array, y: Array, function: str) -> None:
    """y into memory that x shows several times: where it would be one thing and another, what is new stays."""
    if function:
        example = "indices] = tensor" if function == "index_put_" else "mask] = scalar"
        warn(EXPANDED.format(function, example))
    np.copyto(x, y, casting="unsafe", where=(y != x) & ((x == x) | (y == y)))


RANK: Final = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}


def check_cast(have: Any, want: Any) -> None:
    """An in-place result may not fall to a lower kind: float to int, int to bool."""
    if RANK[have.kind] > RANK[want.kind]:
        raise RuntimeError(
            f"result type {names.SCALAR[have.name]} can't be cast to the desired output type {names.SCALAR[want.name]}")


def reshape(t: TensorBase, node: Node) -> None:
    """Make `node`, which changed t's shape and no number, the history of t.  The base of t keeps its own; hooks stay."""
    was = t.fn
    table = t.listeners
    attach(t, node)
    if t.origin is not None:
        t.origin.seen = edits(t)
    move_retained(t, was)
    t.listeners = table


def rebase(t: TensorBase, node: Node, nr: i64 = 0) -> None:
    """Make output `nr` of `node` the history of t after an in-place edit."""
    was = t.fn
    origin = t.origin
    if origin is None:
        attach(t, node, nr)
        move_retained(t, was)
        return
    base = origin.base
    base_was = base.fn
    number(node)
    copy = CopySlices(base, t, node)
    attach(base, copy)
    move_retained(base, base_was)
    t.rg = True
    refresh(t)
    move_retained(t, was)
