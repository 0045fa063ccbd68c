"""autograd.Function: an operation with a derivative of the user's own."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._engine import hooks, saved, views
from .._engine.dispatch import PARSED, batched, batching
from .._engine.modes import grad_on, loud, modes, quiet, set_grad, state
from .._engine.node import FREED, Node
from .._engine.op import edge, fit, fork, number, sources
from .._engine.saved import Packed, keep, keep_output, use, use_output
from .._engine.tensor import CUSTOM, MULTI, TensorBase, bump, edits, shared_version, wants_grad, wrap
from .._engine.warn import warn
from .._rules import create, shape
from .._tensor import dtypes
from .._tensor.home import ours
from .._tensor.nodes import SavedTensor, check_callable
from ..utils.hooks import look

__all__ = ["Function", "FunctionCtx", "BackwardCFunction", "FunctionMeta", "once_differentiable",
           "NestedIOFunction", "InplaceFunction"]


class FunctionCtx:
    """What forward leaves for backward.  Any attribute may be set; tensors belong in save_for_backward."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for backward, with a check that nobody edits them in place.  The last call counts."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for jvp, which finds them in ctx.saved_tensors."""
        for t in tensors:
            if not isinstance(t, TensorBase) and t is not None:
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes "
                    "on ctx.")
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs forward edited in place; each must be returned."""
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        warn(
            "mark_shared_storage is deprecated. Tensors with shared storages are automatically tracked. Note that "
            "calls to `set_()` are not tracked", FutureWarning)

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """False: gradients that did not arrive stay None in backward instead of zeros."""
        self.materialize_grads = value


class BackwardCFunction(Node, FunctionCtx):
    """The node of a custom Function; it is the ctx that forward and backward see."""

    _forward_cls: Any = None

    def name(self) -> str:
        return type(self).__name__

    # Defaults lie in the class: making a node is half of what an op costs.
    _nexts: Any = ()
    _nrs: Any = ()
    _likes: Any = ()                            # (shape, dtype) per argument, None for what is no tensor
    _kept: Any = None                           # [(what, edits, version, output number or -1)]
    _freed = False
    _cleared = False
    _made: Any = ()                             # (shape, dtype) per output
    materialize_grads = True

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    def output_likes(self) -> list[Any]:
        return self._made

    def edge_count(self) -> int:
        return len(self._nexts)

    def edge_node(self, i: int) -> Any:
        return self._nexts[i]

    def edge_nr(self, i: int) -> int:
        return self._nrs[i]

    def visit(self, task: Any) -> None:
        for to in self._nexts:
            if to is not None:
                task.see(to)

    def push(self, task: Any, g: Any, more: Any, shared: bool) -> None:
        if more is None and self._outputs == 1:
            outs = self.backward([g], task.graph)
        else:
            gs = [g] if more is None else [g, *more]
            gs.extend([None] * (self._outputs - len(gs)))
            outs = self.backward(gs, task.graph)
        if self._hooks is not None:
            outs = self.late(task, outs)
        for to, nr, out in zip(self._nexts, self._nrs, outs):
            if to is not None:
                task.deliver(to, nr, out, True)

    @property
    def saved_tensors(self) -> Any:
        """What save_for_backward kept, in jvp what save_for_forward did.  RuntimeError once it was freed."""
        if PUSHING and PUSHING[-1] is self:
            return self.saved_for_forward
        if self._cleared:
            raise RuntimeError(ONCE)
        if self._freed:
            raise RuntimeError(FREED)
        found = tuple(self._read(*entry) for entry in self._kept or ())
        if self._forward_cls.clear_saved_tensors_on_access and self._kept is not None:
            self._cleared = True
            self._kept = None
        return found

    @property
    def _raw_saved_tensors(self) -> Any:
        if self._freed:
            raise RuntimeError(FREED)
        return tuple(SavedEntry(self, i) for i in range(len(self._kept or ())))

    @property
    def saved_variables(self) -> Any:
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    def _read(self, kept: Any, edits: int, version: Any, nr: int) -> Any:
        if kept is None:
            return None
        if isinstance(kept, Packed):
            return kept.unpack(self)
        if nr >= 0:
            return use_output(kept, version, edits, self, nr, True)
        return use(kept, edits, self, True)

    def __dir__(self) -> list[str]:
        fields = {n for n in self.__dict__ if n not in FIELDS}
        own = {"_forward_cls", "_raw_saved_tensors", "apply", "saved_tensors", "saved_variables"}
        return sorted(set(super().__dir__()) | fields | own | set(dir(FunctionCtx)))

    def release(self) -> None:
        if self._kept:
            self._kept = None
            self._freed = True

    def backward(self, gs: list[Any], graph: bool) -> list[Any]:
        task = state().task
        if task is not None:
            task.running = self
        lacking = False
        for g in gs:
            lacking = lacking or g is None
        if lacking and self.materialize_grads:
            gs = [np.zeros(*made) if g is None and made is not None else g for g, made in zip(gs, self._made)]
            gs = [wrap(g) if graph and isinstance(g, np.ndarray) else g for g in gs]
        if task is not None:
            loud(task.errors)
        found = self.apply(hooks.lift(gs[0])) if len(gs) == 1 else self.apply(*[hooks.lift(g) for g in gs])
        if task is not None:
            quiet(task.errors)
        if not graph and isinstance(found, TensorBase) and len(self._likes) == 1:
            like = self._likes[0]
            array: Any = found.array
            if like is not None and array.shape == like[0] and array.dtype is like[1]:
                return [array]                              # the usual case of _checked()
        return self._checked(found if isinstance(found, tuple) else (found,), graph)

    def apply(self, *grads: Any) -> Any:
        """Call the user's backward (or vjp)."""
        cls = self._forward_cls
        if PUSHING and PUSHING[-1] is None and cls.jvp is not NO_JVP:
            return self.transposed(grads)
        own, vjp = cls.backward, cls.vjp
        if vjp is NO_RULE:
            return own(self, *grads)
        if own is not NO_RULE:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them.")
        return vjp(self, *grads)

    def transposed(self, grads: tuple[Any, ...]) -> Any:
        """What jvp says of backward: it multiplies tangents with the Jacobian, so its derivative by them multiplies gradients."""
        from . import grad

        tangents: list[Any] = []
        leaves: list[Any] = []                  # per argument; jvp gets copies, which it may edit
        edges = iter(self._nexts)
        for like in self._likes:
            leaf = None if like is None or like[1].kind not in "fcV" else wrap(np.zeros(*like))
            if like is not None and next(edges) is not None and leaf is not None:
                leaf.rg = True
            leaves.append(leaf)
            if leaf is not None and leaf.rg:
                tangents.append(create.clone(leaf))
            else:
                tangents.append(leaf if self.materialize_grads else None)
        PUSHING.append(self)
        try:
            found = self._forward_cls.jvp(self, *tangents)
        finally:
            PUSHING.pop()
        outs = found if isinstance(found, tuple) else (found,)
        if len(outs) != len(self._made):
            raise RuntimeError("Function's jvp returned an invalid number of forward gradients (expected "
                               f"{len(self._made)} but got {len(outs)})")
        for out, made in zip(outs, self._made):
            if isinstance(out, TensorBase) and made is not None and out.array.shape != made[0]:
                raise RuntimeError(
                    "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
                    f"supported. Tensor is of size {list(made[0])} while the given forward gradient is of size "
                    f"{list(out.array.shape)}.")
        pairs = [(out, g) for out, g in zip(outs, grads) if isinstance(out, TensorBase) and wants_grad(out) and g is not None]
        asked = [t for t in leaves if t is not None and t.rg]
        PUSHING.append(pairs)                   # Functions that jvp calls are turned around by their own backward
        try:
            given = iter(grad([out for out, _ in pairs], asked, [g for _, g in pairs], create_graph=True, allow_unused=True)
                         if pairs else [None] * len(asked))
        finally:
            PUSHING.pop()
        return tuple(next(given) if t is not None and t.rg else None for t in leaves)

    def _checked(self, found: tuple[Any, ...], graph: bool) -> list[Any]:
        want = len(self._likes)
        name = type(self).__name__
        if len(found) > want and all(g is None for g in found[want:]):
            found = found[:want]
        if len(found) != want:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {want}, got {len(found)})")
        outs: list[Any] = []
        for i, (g, like) in enumerate(zip(found, self._likes)):
            if like is None:
                if g is not None:
                    raise RuntimeError(
                        f"function {name} returned a gradient different than None at position {i + 1}, but the "
                        "corresponding forward input was not a Variable")
                continue
            if g is not None and not isinstance(g, TensorBase):
                raise RuntimeError(f"expected Variable or None (got {type(g).__name__})")
            if g is None or self._nexts[len(outs)] is None:     # unwanted: hooks see it, nobody checks it
                outs.append(g if g is None or graph else g.array)
                continue
            if g.array.shape != like[0]:
                if not _expandable(like[0], g.array.shape):
                    raise RuntimeError(
                        f"Function {name} returned an invalid gradient at index {len(outs)} - got "
                        f"{list(g.array.shape)} but expected shape compatible with {list(like[0])}")
            kind = g.array.dtype.kind
            if (kind == "c") != (like[1].kind == "c") and kind not in "fV":
                raise RuntimeError(
                    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got "
                    f"false.\nFunction {name} returned a gradient of {dtypes.of(g.array.dtype)} at index {len(outs)} for an "
                    f"input of {dtypes.of(like[1])}: return {'its .real' if kind == 'c' else 'floating-point numbers'}")
            g = fit(g, *like)
            outs.append(g if graph else g.array)
        return outs


TAKEN = frozenset((
    "backward", "edge_count", "edge_node", "edge_nr", "output_likes", "own_hooks", "push", "reads_field", "release",
    "visit",
))
PLAIN = TAKEN | {"dirty_tensors", "non_differentiable"}         # not set by the usual forward
NOT_GIVEN = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be "
    "passed to ctx.mark_dirty()."
)
FIELDS = (
    "_nexts", "_nrs", "_likes", "_kept", "_freed", "_cleared", "_made",
    *(name for cls in Node.__mro__ for name in getattr(cls, "__annotations__", ())),     # uncompiled, they lie there, too
)
ONCE = (
    "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the autograd.Function. "
    "Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
)


class SavedEntry(SavedTensor):
    """One of ctx._raw_saved_tensors."""

    __slots__ = ()

    @property
    def data(self) -> Any:
        """What lies there: the tensor, or what the pack hook made of it; None once it was freed."""
        if not self._node._kept:
            return None
        kept = self._node._kept[self._field][0]
        return kept.packed if isinstance(kept, Packed) else self._tensor(kept)

    @property
    def unpack_hook(self) -> Any:
        """The hook that unpacks it, or None."""
        kept = self._node._kept[self._field][0] if self._node._kept else None
        return kept.unpack_hook if isinstance(kept, Packed) else None

    def unpack(self) -> Any:
        """The tensor as backward gets it.  RuntimeError once it was freed."""
        if not self._node._kept:
            raise RuntimeError(FREED)
        return self._node._read(*self._node._kept[self._field])

    def register_hooks(self, *hooks: Callable[[Any], Any]) -> None:
        """(pack, unpack): pack the tensor now; unpack it at each use."""
        check_callable(*hooks)
        pack_hook, unpack_hook = hooks
        node = self._node
        if not node._kept:
            raise RuntimeError(saved.REGISTER_FREED)
        kept, edits, version, nr = node._kept[self._field]
        if isinstance(kept, Packed):
            raise RuntimeError(saved.REGISTER_TWICE)
        if kept is None:
            raise RuntimeError(saved.REGISTER_NONE)
        tensor = node._read(kept, edits, version, nr)
        packed = Packed(tensor, pack_hook, unpack_hook, node if nr >= 0 else None)
        node._kept[self._field] = (packed, edits, version, nr)


def _expandable(small: Any, big: Any) -> bool:
    n = len(big) - len(small)
    return n >= 0 and all(a in (1, b) for a, b in zip(small, big[n:]))


NEEDS_SETUP = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the "
    "setup_context staticmethod. For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
)
AS_IS = (
    "An input that has been returned as-is as output is being saved for backward. This is not supported if you override "
    "setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or setup ctx inside the "
    "forward function itself."
)
NO_RULE: Any = None                 # Function.backward, setup_context and jvp: not overridden
NO_SETUP: Any = None
NO_JVP: Any = None
FORWARD: list[Any] = []             # levels of forward mode going on, innermost last: NOTE [Dual tensors] in forward_ad.py
PUSHING: list[Any] = []             # None while tangents are computed, a node while its jvp runs


class FunctionMeta(type):
    """Gives every Function the node class that bears its name."""

    def __init__(cls, name: str, bases: Any, attrs: Any) -> None:
        named = {"_forward_cls": cls, "__module__": BackwardCFunction.__module__}
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), named)
        super().__init__(name, bases, attrs)


class Function(metaclass=FunctionMeta):
    """Base class of operations with a derivative of your own.

    Write static methods forward(ctx, *args) and backward(ctx, *grad_outputs) [or forward(*args) with
    setup_context(ctx, inputs, output)], and call `apply`.  backward returns one gradient per argument of forward, None
    for those that need none.  https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function
    """

    generate_vmap_rule = False
    clear_saved_tensors_on_access = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.", DeprecationWarning)

    saved_tensors: Any = ()             # of an instance, which is nothing's node
    next_functions: Any = ()
    needs_input_grad: Any = None

    @property
    def saved_variables(self) -> Any:
        """(), with a warning."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return ()

    @property
    def metadata(self) -> dict[str, Any]:
        """{}"""
        return {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)")

    if TYPE_CHECKING:                               # each subclass has parameters of its own
        forward: Callable[..., Any]
        backward: Callable[..., Any]
        vjp: Callable[..., Any]
    else:
        @staticmethod
        def forward(*args: Any, **kwargs: Any) -> Any:
            """The operation; runs with grad mode off."""
            raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            """One gradient per argument of forward, given grad_outputs, one per output; ctx is what forward filled."""
            raise NotImplementedError(
                "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
                "backward mode AD.")

        vjp = backward

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Fill ctx after a forward that takes none, from its inputs (a tuple) and its output."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The forward-mode rule: tangents of the outputs, given ctx and grad_inputs, those of the arguments."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with "
                                  "forward mode AD.")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """The rule for whole batches: -> (output, out_dims); vmap calls it in the place of forward.  With generate_vmap_rule
        it calls forward for each sample instead.

        info (batch_size, randomness); in_dims: per argument, the dim of its batch, or None
        """
        raise NotImplementedError("to use autograd.Function with vmap, you must either override the vmap staticmethod or set "
                                  "generate_vmap_rule=True.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and put it into the graph."""
        if modes.dispatching and batching(it := state(), PARSED):
            return batched(it, cls.apply, args, kwargs)
        look(args)
        return _run(cls, args, kwargs) if modes.clerk is None else modes.clerk.applies(cls, _run, args, kwargs)


def _run(cls: Any, args: Any, kwargs: Any) -> Any:
    separate = cls.setup_context is not NO_SETUP
    if separate:
        args, kwargs = bound(cls.forward, args, kwargs)
    if kwargs:
        args = _positional(cls.forward, args, kwargs)
    if FORWARD and cls.jvp is NO_JVP and (separate or not state().lenient):
        if not ours(cls.__module__) and any(map(tangent, args)):
            cls.jvp(None)                       # refuses
    node = cls._backward_cls()
    node.needs_input_grad, nexts, nrs = sources(args)       # before forward, which may edit them
    record = nexts is not None
    if record:
        node._nexts, node._nrs = nexts, nrs
    recording = grad_on()
    hidden = state().tangent if FORWARD else None
    try:
        set_grad(False)                         # inside: Ctrl-C may come when it returns
        if hidden is not None:
            state().tangent = None
        if separate:
            output = cls.forward(*args)
            cls.setup_context(node, args, output)
        else:
            if not modes.usual and state().lenient and not ours(cls.__module__):
                raise RuntimeError(NEEDS_SETUP)
            output = cls.forward(node, *args)
    finally:
        set_grad(recording)
        if hidden is not None:
            state().tangent = hidden
    outputs = _finish(node, args, output, record)
    if record and not recording:
        for out in outputs if isinstance(outputs, tuple) else (outputs,):
            if isinstance(out, TensorBase) and out.fn is node:
                fork(out, None, 0, node, out.nr)
    return outputs


NO_RULE, NO_SETUP, NO_JVP = Function.backward, Function.setup_context, Function.jvp


def tangent(x: Any) -> bool:
    """Has x a tangent at a level of forward mode that is going on?"""
    return isinstance(x, TensorBase) and any(level.has(x) for level in FORWARD)


def bound(forward: Any, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with the defaults filled in."""
    try:
        signature = inspect.signature(forward)
    except (TypeError, ValueError):
        return tuple(args), kwargs
    found = signature.bind(*args, **kwargs)
    found.apply_defaults()
    return found.args, found.kwargs


def _positional(forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Keyword arguments of forward(ctx, ...) in their places: each must have one, without gaps."""
    code = forward.__code__
    names = code.co_varnames[1:code.co_argcount]
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    found = list(args)
    for i in range(len(args), max(names.index(name) for name in kwargs) + 1):
        if names[i] not in kwargs:
            raise TypeError(f"forward() missing required argument: '{names[i]}' (position {i})")
        found.append(kwargs[names[i]])
    return tuple(found)


def _finish(node: Any, args: tuple[Any, ...], output: Any, record: bool) -> Any:
    """Outputs of forward -> outputs of apply, with history when `record`."""
    fields = node.__dict__
    if record and isinstance(output, TensorBase) and output.origin is None and PLAIN.isdisjoint(fields):
        given_back = False
        for a in args:
            given_back = given_back or output is a
        if not given_back and output.array.dtype.kind in "fcV":
            return _fresh(node, args, output)
    single = not isinstance(output, tuple)
    outputs = (output,) if single else output
    dirty = _identities(node, "dirty_tensors")
    frozen = _identities(node, "non_differentiable")
    given = {id(a): a for a in args if isinstance(a, TensorBase)}
    _check_saved(node, outputs, record, given.keys() - dirty - frozen)
    _check_dirty(node, args, outputs)
    taken = TAKEN.intersection(node.__dict__)
    if taken:
        raise AttributeError(
            f"ctx.{min(taken)}: attributes of ctx may not be called {', '.join(sorted(TAKEN))}; these are methods of the "
            "node that ctx is. Choose another name.")
    node._made = []
    if record:
        node._likes = [(a.array.shape, a.array.dtype) if isinstance(a, TensorBase) else None for a in args]
        if dirty and any(isinstance(t, TensorBase) and t.origin is not None for t in node.dirty_tensors):
            modes.light = False                 # a view that it edits and saves leads back to it: the collector must see that
        number(node)
        node._outputs = max(len(outputs), 1)
    made: dict[int, Any] = {}
    found = []
    tensors = sum(isinstance(o, TensorBase) for o in outputs)
    silent = frozen if not node.__dict__.get("_materialize_non_diff_grads", True) else ()
    for nr, out in enumerate(outputs):
        like = isinstance(out, TensorBase) and id(out) not in silent
        node._made.append((out.array.shape, out.array.dtype) if like else None)
        if not isinstance(out, TensorBase):
            if single and out is not None and not isinstance(out, (int, float, str, list, dict)):
                raise TypeError(f"{type(node).__name__}.forward: expected to get Tensor or tuple of Tensors, but got "
                                f"{type(out).__name__}")
            found.append(out)
            continue
        as_is = id(out) in given and id(out) not in dirty
        if as_is or id(out) not in made:
            new = _output(node, out, nr, id(out) in dirty, id(out) in frozen, given, record, tensors)
            if not as_is:
                made[id(out)] = new
        else:
            new = made[id(out)]
            if new.fn is node:
                new.nr = nr                     # returned twice: the last place gets the gradient
        found.append(new)
    if record:
        _save(node, made)
    for name in ("to_save", "dirty_tensors", "non_differentiable"):
        node.__dict__.pop(name, None)
    return found[0] if single else tuple(found)


def _fresh(node: Any, args: tuple[Any, ...], out: Any) -> Any:
    """_finish() for one new tensor, the usual case."""
    node._likes = [(a.array.shape, a.array.dtype) if isinstance(a, TensorBase) else None for a in args]
    node._made = [(out.array.shape, out.array.dtype)]
    number(node)
    out.rg = True
    out.fn = node
    out.nr = 0
    fields = node.__dict__
    if "to_save" in fields:
        _check_types(fields["to_save"])
        _save(node, {id(out): out})
        del fields["to_save"]
    return out


def _check_saved(node: Any, outputs: tuple[Any, ...], record: bool, given: set[int]) -> None:
    """An error for what cannot be saved: no tensors and, in setup_context, inputs that are returned."""
    saved = node.__dict__.get("to_save", ())
    if record:
        _check_types(saved)
    if node._forward_cls.setup_context is not NO_SETUP and grad_on():
        kept = {id(t) for t in (*saved, *(node.__dict__.get("saved_for_forward") or ()))}
        if any(id(out) in kept and id(out) in given for out in outputs):
            raise RuntimeError(AS_IS)


def _check_types(saved: tuple[Any, ...]) -> None:
    for i, t in enumerate(saved):
        if t is not None and not isinstance(t, TensorBase):
            raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}")


def _identities(node: Any, name: str) -> set[int]:
    return {id(t) for t in node.__dict__.get(name, ())}


def _check_dirty(node: Any, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    returned = {id(o) for o in outputs}
    given = {id(a) for a in args}
    for t in node.__dict__.get("dirty_tensors", ()):
        if id(t) not in returned:
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
                "are modified inplace must all be outputs of the Function.")
        if id(t) not in given:
            if t.origin is not None:
                raise RuntimeError(NOT_GIVEN)
            if t.array.dtype.kind in "fcV":
                warn(NOT_GIVEN)


def _output(
    node: Any, out: Any, nr: int, dirty: bool, frozen: bool, given: Any, record: bool, tensors: int,
) -> Any:
    is_input = id(out) in given
    if dirty:
        if record and out.origin is not None:
            views.explain(out, out.origin, False)
        bump(out)
        if not record or out.array.dtype.kind not in "fcV":
            return out
        if frozen:
            return create.detached(out) if wants_grad(out) else out
        if out.fn is None and out.rg and is_input:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        if out.origin is not None and wants_grad(out) and out.origin.base.fn is None:
            raise RuntimeError(views.VIEW_OF_LEAF)
        if out.origin is not None and tensors > 1:
            raise RuntimeError(
                "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
                "return more than one Tensor. This is not supported by the current autograd engine. You should either "
                "make sure the input is not a view (using .clone() for example) or make your Function only return one "
                "Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single "
                "Tensor and a second one that does the other operations). You can ask on the forum "
                "https://discuss.pytorch.org/ if you need help to do this change.")
        seq = node._seq
        views.rebase(out, node, nr)
        if out.origin is None:
            node._seq = seq
        return out
    differentiable = not frozen and out.array.dtype.kind in "fcV"
    if not record or not differentiable:
        if frozen and not is_input:
            out.rg = False
            out.fn = None
        if is_input:
            if wants_grad(out):
                return create.detached(out)
            out = shape.alias(out)
        if not record and out.origin is not None:
            out.origin.state = CUSTOM
        return out
    if is_input:
        try:
            set_grad(False)
            out = shape.alias(out)
        finally:
            set_grad(True)
    if out.origin is not None:
        out.origin.state = CUSTOM if tensors == 1 else MULTI
        out.origin.seen = edits(out)
    out.rg = True
    out.fn = node
    out.nr = nr
    return out


def _save(node: Any, made: dict[int, Any]) -> None:
    kept: list[Any] = []
    for t in node.__dict__.get("to_save", ()):
        if t is None:
            kept.append((None, 0, None, -1))
            continue
        out = made.get(id(t), t)
        if out.fn is node:
            kept.append((keep_output(out, node), edits(out), shared_version(out), out.nr))
        else:
            kept.append((keep(t), edits(t), None, -1))
    node._kept = kept


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a backward that cannot itself be differentiated: doing so raises instead of being silently wrong."""
    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        recording = grad_on()
        try:
            set_grad(False)
            outputs = fn(ctx, *args)
        finally:
            set_grad(recording)
        if not recording or not any(isinstance(a, TensorBase) and wants_grad(a) for a in args):
            return outputs
        found = outputs if isinstance(outputs, tuple) else (outputs,)
        leaves = [wrap(o.array) if isinstance(o, TensorBase) else None for o in found]
        for leaf in leaves:
            if leaf is not None:
                leaf.rg = True
        # as in PyTorch, the graph ends here, at leaves that nobody knows
        fresh = Error.after(leaves, found, "trying to differentiate twice a function that was marked with @once_differentiable")
        return fresh if isinstance(outputs, tuple) else fresh[0]
    return wrapper


class Error(Node):
    """Raises when run (prints as <Error>)."""

    def __init__(self, outputs: int, message: str) -> None:
        self._message = message
        self._nexts: list[Any] = []
        self._nrs: list[int] = []
        self._outputs = outputs

    def name(self) -> str:
        return "torch::autograd::Error"

    @classmethod
    def after(cls, inputs: Any, outputs: Any, message: str) -> tuple[Any, ...]:
        """Aliases of the outputs whose history is such a node, over that of the inputs."""
        error = cls(len(outputs), message)
        for a in inputs:
            error._nexts.append(edge(a) if isinstance(a, TensorBase) else None)
            error._nrs.append(a.nr if isinstance(a, TensorBase) else 0)
        number(error)
        return tuple(error.give(o, i) for i, o in enumerate(outputs))

    def give(self, t: Any, nr: int) -> Any:
        """An alias of t with this history."""
        if not isinstance(t, TensorBase):
            return t
        out = wrap(t.array)
        out.rg = True
        out.fn = self
        out.nr = nr
        return out

    def edge_count(self) -> int:
        return len(self._nexts)

    def edge_node(self, i: int) -> Any:
        return self._nexts[i]

    def edge_nr(self, i: int) -> int:
        return self._nrs[i]

    def backward(self, gs: list[Any], graph: bool) -> list[Any]:
        raise RuntimeError(self._message)


class InplaceFunction(Function):
    """Function; for old programs that derive from it."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """Refused: write a Function whose forward takes and returns tensors."""

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("NestedIOFunction is not supported: pass the tensors as separate arguments")


SavedEntry.__name__ = SavedEntry.__qualname__ = "SavedTensor"        # PyTorch has one class for both
SavedEntry.__module__ = SavedTensor.__module__
