"""TensorBase: an array and its place in the graph.  The public Tensor subclasses it."""
from __future__ import annotations

from sys import getrefcount
from typing import Any, ClassVar, Final, Optional

import numpy
from mypy_extensions import i64, mypyc_attr

from .. import _kernels
from .dispatch import FIRST, PARSED, PYTHON, alone, ask, foreign, func_of, operate
from .mirror import Mirror, reflect
from .modes import adding, claiming, loud, modes, quiet, state
from .node import Array, Node, Task, Value, asarray, ndarray
from .warn import instead

takes: Final[Any] = _kernels.takes
LAST: Final = 9223372036854775807           # sequence number of AccumulateGrad: runs as soon as it is ready


class Version:
    """In-place edits made to one piece of memory; shared by a tensor, its views, its detached aliases."""

    edits: i64 = 0
    mirrors: Optional[list[Mirror]] = None      # NOTE [Lazy conjugates] in mirror.py


class Kept:
    """The .grad of a non-leaf that called retain_grad(): the graph writes it without holding the tensor."""

    grad: Any = None
    on: bool = False                        # retain_grad() was called; else .grad was only assigned


class Public:
    """What the interpreted layers supply: the documented Tensor class and the handle class."""

    def __init__(self) -> None:
        self.tensor: Any = TensorBase
        self.new: Any = TensorBase.__new__
        self.register: Any = None
        self.saved: Any = None
        self.no_grad: Any = None                # warns that a non-leaf has no .grad; -> None
        self.check_grad: Any = None             # raises where a value cannot be t.grad


class Origin:
    """Where a view comes from.

    `state` says what in-place edits of it may do: OK, or why not.  `seen` is the version at which the view's grad_fn
    was last right: an edit through the base or another view makes it stale.
    """

    def __init__(self, base: TensorBase, state: i64) -> None:
        self.base: TensorBase = base
        self.state: i64 = state
        self.seen: i64 = 0


OK: Final = 0
NO_GRAD: Final = 1
MULTI: Final = 2
CUSTOM: Final = 3
INFERENCE: Final = 4


@mypyc_attr(allow_interpreted_subclasses=True)
class TensorBase:
    __array_priority__: ClassVar[int] = 1000    # ndarray * Tensor defers to Tensor
    __hash__: ClassVar[Any] = object.__hash__

    array: Any = None
    rg: bool = False                            # a leaf that wants a gradient, or a result that carries one
    fn: Optional[Node] = None                   # stale for some views: read it through grad_fn or `edge`
    nr: i64 = 0
    version: Optional[Version] = None           # None: never edited and shared with nobody
    sink: Optional[AccumulateGrad] = None
    kept: Optional[Kept] = None
    origin: Optional[Origin] = None
    listeners: Any = None                       # dict of tensor hooks, shared with the node
    inference: bool = False
    cut: i64 = 0                                # sequence number at which detach_() was called

    @property
    def shape(self) -> Any:
        return self.array.shape

    @property
    def ndim(self) -> Any:
        return self.array.ndim

    def __add__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.add(self, other)
            if y is not NotImplemented:
                return y
        return operate("add", arith.add, PARSED, self, other)

    def __radd__(self, other: Any) -> Any:
        if not isinstance(self, TensorBase):
            raise unbound("__radd__", self)
        if not modes.dispatching:
            y: Any = arith.add(self, other)
            if y is not NotImplemented:
                return y
        return operate("add", arith.add, PARSED, self, other)

    def __iadd__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.add_(self, other)
            if y is not NotImplemented:
                return y
        return operate("add_", arith.add_, PARSED, self, other)

    def __sub__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.sub(self, other)
            if y is not NotImplemented:
                return y
        return operate("sub", arith.sub, PARSED, self, other)

    def __rsub__(self, other: Any) -> Any:
        if not isinstance(self, TensorBase):
            return NotImplemented
        if not modes.dispatching:
            y: Any = arith.rsub(self, other)
            if y is not NotImplemented:
                return y
        return operate("__rsub__", arith.rsub, PYTHON, self, other)

    def __isub__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.sub_(self, other)
            if y is not NotImplemented:
                return y
        return operate("sub_", arith.sub_, PARSED, self, other)

    def __mul__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.mul(self, other)
            if y is not NotImplemented:
                return y
        return operate("mul", arith.mul, PARSED, self, other)

    def __rmul__(self, other: Any) -> Any:
        if not isinstance(self, TensorBase):
            raise unbound("__rmul__", self)
        if not modes.dispatching:
            y: Any = arith.mul(self, other)
            if y is not NotImplemented:
                return y
        return operate("mul", arith.mul, PARSED, self, other)

    def __imul__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.mul_(self, other)
            if y is not NotImplemented:
                return y
        return operate("mul_", arith.mul_, PARSED, self, other)

    def __truediv__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.div(self, other)
            if y is not NotImplemented:
                return y
        return operate("div", arith.div, PARSED, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.mul(arith.reciprocal(self), other)
            if y is not NotImplemented:
                return y
        return operate("__rtruediv__", over, PYTHON, self, other)

    def __itruediv__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.div_(self, other)
            if y is not NotImplemented:
                return y
        return operate("div_", arith.div_, PARSED, self, other)

    def __neg__(self) -> Any:
        if modes.dispatching:
            return alone("neg", arith.neg, self)
        return arith.neg(self)

    def __pow__(self, other: Any, modulo: Any = None) -> Any:
        if modulo is not None:
            return NotImplemented
        if not modes.dispatching:
            y: Any = arith.pow(self, other)
            if y is not NotImplemented:
                return y
        return operate("__pow__", arith.pow, PYTHON, self, other)

    def __rpow__(self, other: Any) -> Any:
        if not isinstance(self, TensorBase) and not isinstance(other, TensorBase):
            return NotImplemented
        if not modes.dispatching:
            y: Any = arith.pow(other, self)
            if y is not NotImplemented:
                return y
        return operate("__rpow__", powered, PYTHON, self, other)

    def __ipow__(self, other: Any) -> Any:  # type: ignore[misc]  # always without a modulus
        if not modes.dispatching:
            y: Any = arith.pow_(self, other)
            if y is not NotImplemented:
                return y
        return operate("__ipow__", arith.pow_, PYTHON, self, other)

    def __matmul__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = linalg.matmul(self, other)
            if y is not NotImplemented:
                return y
        return operate("matmul", linalg.matmul, PARSED, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = linalg.matmul(other, self)
            if y is not NotImplemented:
                return y
        return operate("__rmatmul__", multiplied, PYTHON, self, other)

    def __imatmul__(self, other: Any) -> Any:
        return NotImplemented

    def __getitem__(self, where: Any) -> Any:
        if not modes.dispatching:
            try:
                return index.getitem(self, where)
            except IndexError:
                if not foreign(where):
                    raise
        return ask(func_of("__getitem__"), index.getitem, PARSED, (self, where), None)

    def __setitem__(self, where: Any, value: Any) -> None:
        if not modes.dispatching:
            try:
                index.setitem(self, where, value)
                return
            except (IndexError, TypeError):
                if not foreign(where) and not foreign(value):
                    raise
        ask(func_of("__setitem__"), index.setitem, PARSED, (self, where, value), None)

    def __mod__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.remainder(self, other)
            if y is not NotImplemented:
                return y
        return operate("remainder", arith.remainder, PARSED, self, other)

    def __rmod__(self, other: Any) -> Any:
        if not isinstance(self, TensorBase) and not isinstance(other, TensorBase):
            return NotImplemented
        if not modes.dispatching:
            y: Any = arith.remainder(other, self)
            if y is not NotImplemented:
                return y
        return operate("__rmod__", remains, PYTHON, self, other)

    def __imod__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.remainder_(self, other)
            if y is not NotImplemented:
                return y
        return operate("remainder_", arith.remainder_, PARSED, self, other)

    def __floordiv__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.floor_divide(self, other)
            if y is not NotImplemented:
                return y
        return operate("__floordiv__", arith.floor_divide, PYTHON, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.floor_divide(other, self)
            if y is not NotImplemented:
                return y
        return operate("__rfloordiv__", floored, PYTHON, self, other)

    def __ifloordiv__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = arith.floor_divide_(self, other)
            if y is not NotImplemented:
                return y
        return operate("floor_divide_", arith.floor_divide_, PARSED, self, other)

    def __and__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = compare.bit_and(self, other)
            if y is not NotImplemented:
                return y
        return operate("__and__", compare.bit_and, PARSED, self, other)

    def __rand__(self, other: Any) -> Any:
        if not isinstance(self, TensorBase):
            raise unbound("__rand__", self)
        if not modes.dispatching:
            y: Any = compare.bit_and(self, other)
            if y is not NotImplemented:
                return y
        return operate("bitwise_and", compare.bit_and, PARSED, self, other)

    def __or__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = compare.bit_or(self, other)
            if y is not NotImplemented:
                return y
        return operate("__or__", compare.bit_or, PARSED, self, other)

    def __ror__(self, other: Any) -> Any:
        if not isinstance(self, TensorBase):
            raise unbound("__ror__", self)
        if not modes.dispatching:
            y: Any = compare.bit_or(self, other)
            if y is not NotImplemented:
                return y
        return operate("bitwise_or", compare.bit_or, PARSED, self, other)

    def __xor__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = compare.bit_xor(self, other)
            if y is not NotImplemented:
                return y
        return operate("__xor__", compare.bit_xor, PARSED, self, other)

    def __rxor__(self, other: Any) -> Any:
        if not isinstance(self, TensorBase):
            raise unbound("__rxor__", self)
        if not modes.dispatching:
            y: Any = compare.bit_xor(self, other)
            if y is not NotImplemented:
                return y
        return operate("bitwise_xor", compare.bit_xor, PARSED, self, other)

    def __iand__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = overwrite(self, compare.bit_and(self, other))
            if y is not NotImplemented:
                return y
        return operate("__iand__", and_, PARSED, self, other)

    def __ior__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = overwrite(self, compare.bit_or(self, other))
            if y is not NotImplemented:
                return y
        return operate("__ior__", or_, PARSED, self, other)

    def __ixor__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = overwrite(self, compare.bit_xor(self, other))
            if y is not NotImplemented:
                return y
        return operate("__ixor__", xor_, PARSED, self, other)

    def __invert__(self) -> Any:
        if modes.dispatching:
            return alone("__invert__", compare.invert, self)
        return compare.invert(self)

    def __lt__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = compare.lt(self, other)
            if y is not NotImplemented:
                return y
        return operate("lt", compare.lt, PARSED, self, other)

    def __le__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = compare.le(self, other)
            if y is not NotImplemented:
                return y
        return operate("le", compare.le, PARSED, self, other)

    def __gt__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = compare.gt(self, other)
            if y is not NotImplemented:
                return y
        return operate("gt", compare.gt, PARSED, self, other)

    def __ge__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = compare.ge(self, other)
            if y is not NotImplemented:
                return y
        return operate("ge", compare.ge, PARSED, self, other)

    def __eq__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = compare.eq(self, other)
            if y is not NotImplemented:
                return y
        return operate("__eq__", compare.eq, FIRST, self, other)

    def __ne__(self, other: Any) -> Any:
        if not modes.dispatching:
            y: Any = compare.ne(self, other)
            if y is not NotImplemented:
                return y
        return operate("ne", compare.ne, PARSED, self, other)


def unbound(method: str, got: Any) -> TypeError:
    """A method called on the class, with something else than a tensor."""
    return TypeError(f"descriptor '{method}' for 'torch._C.TensorBase' objects doesn't apply to a {type(got).__name__!r} object")


def over(t: Any, other: Any) -> Any:
    return arith.mul(arith.reciprocal(t), other)


def powered(t: Any, other: Any) -> Any:
    return arith.pow(other, t)


def multiplied(t: Any, other: Any) -> Any:
    return linalg.matmul(other, t)


def remains(t: Any, other: Any) -> Any:
    return arith.remainder(other, t)


def floored(t: Any, other: Any) -> Any:
    return arith.floor_divide(other, t)


def and_(t: Any, other: Any) -> Any:
    return overwrite(t, compare.bit_and(t, other))


def or_(t: Any, other: Any) -> Any:
    return overwrite(t, compare.bit_or(t, other))


def xor_(t: Any, other: Any) -> Any:
    return overwrite(t, compare.bit_xor(t, other))


def overwrite(t: TensorBase, y: Any) -> Any:
    return NotImplemented if y is NotImplemented else index.copy_(t, y)


public: Final = Public()


def wrap(array: Array) -> TensorBase:
    """A Tensor around `array`, which it does not copy; NumPy scalars become 0-d arrays."""
    out: TensorBase = public.new(public.tensor)
    out.array = array if type(array) is ndarray else asarray(array)
    if modes.marking > 0:
        mark(out)
    return out


def mark(out: Any) -> None:
    """Note on a new tensor in which mode, or in which function that torch.func transforms, it was made."""
    it = state()
    out.inference = it.inference
    if it.transform > 0:
        out._of_transform = it.transform


def born(t: Any) -> int:
    """The use of torch.func in whose function t, or what it is a view of, was made; 0: outside of all."""
    base: Any = t if t.origin is None else t.origin.base
    return max(getattr(t, "_of_transform", 0), getattr(base, "_of_transform", 0))


def follow(out: Any, x: Any) -> None:
    """out, new, shows the memory of x, if that is a tensor: it is of the mode and the function in which x was made."""
    if isinstance(x, TensorBase):
        out.inference = x.inference
        if modes.marking > 0:
            out._of_transform = born(x)
    elif modes.marking > 0:
        mark(out)


def bump(t: TensorBase) -> None:
    """Count one in-place edit of t's memory."""
    if t.version is None:
        t.version = Version()
    version = t.version
    version.edits += 1
    if modes.journal is not None:
        modes.journal.append(t)
    if version.mirrors is not None:
        reflect(version.mirrors, t.array)


def edits(t: TensorBase) -> int:
    return 0 if t.version is None else t.version.edits


def shared_version(t: TensorBase) -> Version:
    if t.version is None:
        t.version = Version()
    return t.version


def wants_grad(t: TensorBase) -> bool:
    """requires_grad: a view wants a gradient as soon as its base does."""
    return t.rg or (t.origin is not None and wants_grad(t.origin.base))


class AccumulateGrad(Node):
    """A leaf's end of the graph.  It owns the leaf's .grad and post-accumulate hooks.

    It does not hold the leaf, so leaf and sink are no cycle and die by reference count; the leaf's memory is enough to
    rebuild an equal leaf for `variable` when the user's object is gone.
    """

    def __init__(self, leaf: TensorBase) -> None:
        self._seq = LAST
        self.grad: Any = None
        self.any_dtype: bool = False            # grad_dtype = None: keep whatever dtype arrives
        self.dtype: Any = None                  # grad_dtype when it is not the leaf's own
        self.after: Any = None                  # dict of post-accumulate hooks
        self.array: Array = leaf.array
        self.version: Optional[Version] = leaf.version
        self.frozen: bool = not leaf.rg
        self.leaf: Any = None                   # weak reference to the user's object

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def _sequence_nr(self) -> int:
        return 18446744073709551615

    def output_likes(self) -> list[Any]:
        return [(self.array.shape, self.array.dtype)]

    def __dir__(self) -> list[str]:
        return sorted(super().__dir__() + ["variable"])

    @property
    def variable(self) -> Any:
        found: Any = None if self.leaf is None else self.leaf()
        if found is None:
            again = wrap(self.array)
            again.version = self.version
            again.sink = self
            again.rg = not self.frozen
            again.listeners = self._hooks.tensor[0][1] if self._hooks is not None and self._hooks.tensor else None
            self.leaf = weak(again)
            return again
        return found

    def backward(self, gs: list[Value], graph: bool) -> list[Value]:
        self.accumulate(gs[0], graph, True, state().task)
        return []

    def push(self, task: Task, g: Value, more: Optional[list[Value]], shared: bool) -> None:
        self.accumulate(g, task.graph, shared, task)
        if self._hooks is not None:
            self.late(task, [])

    def accumulate(self, g: Value, graph: bool, shared: bool, task: Optional[Task]) -> None:
        """Add g to .grad, then run the post-accumulate hooks.  NOTE [Who owns .grad]

        PyTorch adds in place when .grad exists, out of place under create_graph, and takes the first gradient over
        without a copy when nobody else can see it.  Here somebody else can when the gradient is a view, came from
        the caller, passed a hook, or passed a rule unchanged (`shared`).
        """
        if g is not None and not self.frozen:
            if modes.journal is not None:
                modes.journal.append(self)
            adding.acquire()
            try:
                had: Any = self.grad
                if had is None:
                    self.grad = self.first(g, graph, shared)
                elif graph:
                    self.grad = had + g
                else:
                    arith.accumulate(had, g.array if isinstance(g, TensorBase) else g)
            finally:
                adding.release()
        elif self.frozen and self.variable is not None and self.variable.fn is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        if self.after is not None:
            leaf = self.variable
            if task is not None:
                loud(task.errors)
            if modes.outs is not None and modes.outs.mine():
                modes.outs.leaf(self, leaf)
            else:
                fire_after(self.after, leaf)
            if task is not None:
                quiet(task.errors)

    def first(self, g: Value, graph: bool, shared: bool) -> Any:
        if graph:
            if g.rg:
                return create.copied(g)
            return wrap(numpy.array(g.array, order="C"))
        array: Any = g.array if isinstance(g, TensorBase) else g
        own = self.array
        if not shared and takes is not None and self.dtype is None and takes(array, own):
            taken: TensorBase = public.new(public.tensor)
            taken.array = array
            if modes.marking > 0:
                taken.inference = state().inference
            return taken
        want: Any = own.dtype if self.dtype is None else self.dtype
        if array.dtype is not want and not self.any_dtype:      # a rule may leave bfloat16 for float32
            array = cast.cast(array, want)
            shared = False
        edited = False
        if shared or (array.strides != own.strides and array.shape == own.shape) or (
                array.base is not None and not sole_view(array)):
            fresh = numpy.empty_like(own, dtype=array.dtype) if dense(own) else numpy.empty(array.shape, array.dtype)
            try:
                numpy.copyto(fresh, array)
            except ValueError:                                  # .data got another shape since
                raise instead(RuntimeError(
                    f"output with shape {list(own.shape)} doesn't match the broadcast shape {list(array.shape)}")) from None
            array = fresh
            edited = True
        out = wrap(array)
        if edited:
            bump(out)                           # PyTorch fills it by copy_, which counts
        return out


def sole_view(array: Array) -> bool:
    """Is `array` a view of all of an array that nothing else refers to?  (The transpose of a fresh product is.)"""
    if type(array.base) is not ndarray or getrefcount(array.base) > 2:      # of `array` and of this call
        return False
    return array.base.base is None and array.base.size == array.size


def fire_after(table: Any, leaf: Any) -> None:
    """Call the post-accumulate hooks of a leaf.  As in PyTorch, a tensor that one returns goes to the next, then it raises."""
    shown = leaf
    changed = False
    for hook in list(dict.values(table)):
        got = hook(shown)
        if got is not None and got is not shown:
            if not isinstance(got, TensorBase):
                raise TypeError(f"expected Variable, but hook returned '{type_name(got)}'")
            shown = got
            changed = True
    if changed:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def type_name(x: Any) -> str:
    """As C sees it: with the module for classes of extension modules."""
    cls = type(x)
    if cls.__flags__ & 512 or cls.__module__ == "builtins":     # 512: made by a class statement
        return str(cls.__name__)
    return f"{cls.__module__}.{cls.__name__}"


def dense(x: Array) -> bool:
    """Do x's elements fill one block of memory without gaps or overlaps?"""
    flags = x.flags
    if flags.c_contiguous or flags.f_contiguous:
        return True
    want = x.itemsize
    pairs = sorted([(s, n) for s, n in zip(x.strides, x.shape) if n != 1])
    for s, n in pairs:
        if s != want:
            return False
        want = s * n
    return True


def sink_of(t: TensorBase) -> AccumulateGrad:
    """The leaf's AccumulateGrad, made when first needed."""
    sink = t.sink
    if sink is None:
        claiming.acquire()
        try:
            sink = t.sink
            if sink is None:
                if t.version is None:
                    t.version = Version()
                sink = AccumulateGrad(t)
                sink.leaf = weak(t)
                if t.kept is not None:          # .grad of before detach_()
                    sink.grad = t.kept.grad
                t.sink = sink
        finally:
            claiming.release()
    return sink


def read_grad(t: TensorBase) -> Any:
    """t.grad"""
    if t.fn is not None:
        if t.kept is None:
            return public.no_grad()
        return t.kept.grad
    if t.sink is not None:
        return t.sink.grad
    return None if t.kept is None else t.kept.grad


def write_grad(t: TensorBase, value: Any) -> None:
    """t.grad = value"""
    if value is not None:
        public.check_grad(t, value)
    if t.fn is not None:
        if t.kept is None:
            t.kept = Kept()
        t.kept.grad = value
    elif value is not None or t.sink is not None or t.kept is not None:
        sink = sink_of(t)
        sink.grad = value
        if modes.journal is not None:
            modes.journal.append(sink)


def weak(t: Any) -> Any:
    """A weak reference, or None for the bare base class, which allows none (tests of the engine alone)."""
    try:
        return _ref(t)
    except TypeError:
        return None


def _load() -> Any:
    import weakref
    return weakref.ref


_ref: Final[Any] = _load()

from .._rules import arith, cast, compare, create, index, linalg  # noqa: E402  ops build tensors, tensors call ops
