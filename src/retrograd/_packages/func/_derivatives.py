"""Derivatives of functions: torch.func.grad, vjp, jvp, jacrev, jacfwd, hessian, linearize.

NOTE [Levels]
A transform differentiates at aliases of its inputs, and what it returns belongs to the caller's graph only as far as it depends
on tensors of the caller's that require grad: on the inputs, or on others that the function reads.  So each looks whether the
graph of a result leads to leaves other than the aliases it made; if not, the result is detached.  Transforms of transforms need
nothing more, since the outer one's aliases are the caller's tensors of the inner one.  Inside vmap the aliases and the results
are whole values, in which each level of vmap has a dim (NOTE [Batches]); only the function and the caller see samples.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from itertools import count
from math import prod
from typing import Any

import numpy as np

from retrograd._engine.dispatch import clear_way
from retrograd._engine.modes import inference_on, state
from retrograd._engine.op import attach, edge, fork
from retrograd._engine.scopes import Recording, Transformed
from retrograd._engine.tensor import TensorBase, born, shared_version, sink_of, wants_grad, wrap
from retrograd._functions import cat, ones_like, zeros_like
from retrograd._rules.shape import AliasBackward0
from retrograd._tensor import dtypes
from retrograd.autograd import grad as _grad
from retrograd.autograd.function import FORWARD, PUSHING, Function, tangent
from retrograd.autograd.grad_mode import is_grad_enabled
from retrograd.random import refused
from retrograd.utils._pytree import tree_flatten as flatten
from retrograd.utils._pytree import tree_map as mapped
from retrograd.utils._pytree import tree_unflatten as unflatten
from retrograd.utils.hooks import look

from ._batching.draws import REFUSED
from ._batching.level import Level, aside, levels, lowered, plain, raised
from ._maps import check_randomness
from ._trees import stars

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]

VJP = "vjp(f, *primals)"
JVP = "jvp(f, primals, tangents)"
AUX = "output of function f should be a tuple: (output, aux) if has_aux is True"


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of func, whose result has one element, for its argument `argnums` (or several).

    The argument may be a container of tensors; the gradient has its form.  has_aux: func returns (result, aux), and the
    function (gradient, aux).
    https://pytorch.org/docs/stable/generated/torch.func.grad.html
    """
    @wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = _grad_and_value(func, argnums, has_aux, args, kwargs)
        return (found, value[1]) if has_aux else found
    return gradient


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """grad(func, argnums), but the function returns (gradient, value); with has_aux (gradient, (value, aux)).

    https://pytorch.org/docs/stable/generated/torch.func.grad_and_value.html
    """
    @wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        return _grad_and_value(func, argnums, has_aux, args, kwargs)
    return both


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """(func(*primals), a function that multiplies cotangents, structured like the output, by the Jacobian), and aux if has_aux.

    https://pytorch.org/docs/stable/generated/torch.func.vjp.html
    """
    call = _Call(func, primals, None, has_aux, VJP)
    smooth(call.outputs)

    def product(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        vectors, spec = flatten(cotangents)
        beyond = call.level.beyond(vectors)
        if spec != call.out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {stars(spec)}, primal output: {stars(call.out_spec)}")
        on = is_grad_enabled() if create_graph is None else create_graph
        with _Recording(), aside():
            vectors = call.level.all_lowered(vectors, beyond)
            again = on and (call.tracked or any(isinstance(v, TensorBase) and wants_grad(v) for v in vectors))
            again = again or any(map(tangent, [*call.outputs, *vectors]))
            found = _pulled(call.outputs, call.inputs, vectors, again, retain_graph, bool(beyond))
            # a tuple of one for one primal, as in PyTorch
            return unflatten([call.level.settled(g, beyond, on) for g in found], call.in_spec)

    return (call.value, product, call.aux) if has_aux else (call.value, product)


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """(func(*primals), the Jacobian times tangents), and aux if has_aux; by differentiating a vjp for its cotangents.

    primals and tangents are tuples of one form.  strict: RuntimeError where an output does not depend on them.
    https://pytorch.org/docs/stable/generated/torch.func.jvp.html
    """
    _check_tangents(primals, tangents)
    if FORWARD and hasattr(FORWARD[-1], "dual"):
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    call = _Call(func, primals, None, has_aux, JVP)
    with aside():
        found = _Pushed(call)(call.level.all_lowered(flatten(tangents)[0]), False, strict)
        out = unflatten(call.level.all_raised(found), call.out_spec)
    return (call.value, out, call.aux) if has_aux else (call.value, out)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """(func(*primals), a function that multiplies the Jacobian at primals by tangents).

    https://pytorch.org/docs/stable/generated/torch.func.linearize.html
    """
    call = _Call(func, primals, None, False, JVP)
    with aside():
        pushed = _Pushed(call)
    like = flatten(primals)[0]

    def push(*tangents: Any) -> Any:
        vectors, spec = flatten(tangents)
        beyond = call.level.beyond(vectors)
        if spec != call.in_spec:
            raise RuntimeError(f"Expected the tangents {spec} to have the same argspec as the primals {call.in_spec}")
        for i, (v, x) in enumerate(zip(vectors, like)):
            for what in ("shape", "dtype"):
                if getattr(v, what) != getattr(x, what):
                    raise RuntimeError(
                        f"tangent:{i} with {what} {getattr(v, what)} in flattened pytree doesn't match the {what} "
                        f"{getattr(x, what)} of the corresponding primal.")
        with aside():
            found = pushed(call.level.all_lowered(vectors, beyond), True, tie=False, batched=bool(beyond))
            return unflatten(call.level.all_raised(found, beyond), call.out_spec)

    return call.value, push


def jacrev(
    func: Callable[..., Any], argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of func with respect to argument `argnums` (or several): output.shape + input.shape.

    For containers of tensors: the output's form, in it the argument's.  chunk_size: so many rows in a backward pass.
    has_aux: func returns (output, aux), and the function (Jacobian, aux).
    https://pytorch.org/docs/stable/generated/torch.func.jacrev.html
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @wraps(func)
    def jacobian(*args: Any) -> Any:
        refuse_complex("jacrev", args, "inputs")
        call = _Call(func, args, argnums, has_aux, VJP)
        smooth(call.outputs)
        refuse_complex("jacrev", call.outputs, "outputs")
        with aside():
            return _jacobian(call, argnums, has_aux, chunk_size)
    return jacobian


def jacfwd(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error") -> Callable[..., Any]:
    """As jacrev (also argnums, has_aux), but column by column: each column is a jvp.

    randomness  "error": RuntimeError when func draws random numbers; "same" or "different": it may
    https://pytorch.org/docs/stable/generated/torch.func.jacfwd.html
    """
    @wraps(func)
    def jacobian(*args: Any) -> Any:
        refuse_complex("jacfwd", args, "inputs")
        return by_columns(func, args, argnums, has_aux, randomness)
    return jacobian


def by_columns(func: Callable[..., Any], args: tuple[Any, ...], argnums: Any, has_aux: bool, randomness: str,
               real: bool = True) -> Any:
    """jacfwd's result; real: RuntimeError for complex outputs."""
    check_randomness(randomness)
    with refused(REFUSED) if randomness == "error" else nullcontext():
        call = _Call(func, args, argnums, has_aux, JVP)
    if real:
        refuse_complex("jacfwd", call.outputs, "outputs")
    with aside():
        try:
            pushed, columns = _Pushed(call), []
            for k, x in enumerate(call.inputs):
                units = call.level.units(x, 0, prod(call.level.rest(x)))
                tangents = [other.new_zeros((len(units), *other.shape)) for other in call.inputs]
                tangents[k] = units
                columns.append(pushed(tangents, True, batched=True))
        except (RuntimeError, NotImplementedError):     # a rule that cannot be differentiated
            return _jacobian(call, argnums, has_aux)
        return _of_columns(call, columns, argnums, has_aux)


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """A function that returns the second derivatives of func in its argument argnums: jacfwd(jacrev(func)).

    https://pytorch.org/docs/stable/generated/torch.func.hessian.html
    """
    return jacfwd(jacrev(func, argnums), argnums)


def smooth(outputs: list[Any]) -> None:
    for y in outputs:
        if y.array.dtype.kind not in "fcV":
            raise RuntimeError(
                f"vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype {y.dtype}")


def refuse_complex(name: str, values: Any, role: str) -> None:
    for i, x in enumerate(flatten(values)[0]):
        if isinstance(x, TensorBase) and x.array.dtype.kind == "c":
            raise RuntimeError(f"{name}: Expected all {role} to be real but received complex tensor at flattened input idx: {i}")


def check_real(what: str, values: list[Any]) -> None:
    """ValueError for integers and bools."""
    for x in values:
        if isinstance(x, TensorBase) and x.array.dtype.kind not in "fcV":
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {dtypes.of(x.array.dtype)}")


class _Recording(Recording):
    """As enable_grad, and outside inference mode: derivatives are wanted whatever mode the caller is in, as in PyTorch.

    A tensor made in inference mode is a constant here, so nodes may keep it.
    """


_numbers = count(1)
NONE: list[Level] = []


class _Level:
    """One use of a transform; see NOTE [Levels]."""

    def __init__(self) -> None:
        clear_way(state())
        self.outer = is_grad_enabled()
        self.forward = not inference_on()                           # tangents go on, under no_grad too
        self.levels = levels()
        self.lead = tuple(level.size for level in self.levels)      # their dims in whole values
        self.number = next(_numbers)                                # those of uses inside this one are higher
        self.starts: set[int] = set()                               # nodes of the aliases

    def lowered(self, x: Any) -> Any:
        """A result of the function as a whole value."""
        if not isinstance(x, TensorBase):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
        return lowered(x, self.levels)

    def all_lowered(self, values: list[Any], beyond: list[Level] = NONE) -> list[Any]:
        """Whole values; the samples of levels beyond as rows, in front."""
        return [self.in_rows(lowered(v, self.levels + beyond), len(beyond)) if isinstance(v, TensorBase) else v for v in values]

    def in_rows(self, v: Any, beyond: int) -> Any:
        return v.movedim(self.places(beyond), tuple(range(beyond))).flatten(0, beyond - 1) if beyond else v

    def all_raised(self, values: list[Any], beyond: list[Level] = NONE) -> list[Any]:
        if beyond:
            sizes, front = [level.size for level in beyond], tuple(range(len(beyond)))
            values = [v.unflatten(0, sizes).movedim(front, self.places(len(beyond))) for v in values]
        return [raised(v, self.levels + beyond) for v in values]

    def places(self, beyond: int) -> tuple[int, ...]:
        """The dims of so many levels after its own."""
        return tuple(range(len(self.lead), len(self.lead) + beyond))

    def beyond(self, values: list[Any]) -> list[Level]:
        """The levels of vmap that began after this and have samples among the values."""
        found: list[Level] = []
        inner = values
        for level in reversed(levels()):
            if level not in self.levels and level.concerns(inner):
                found.insert(0, level)
                inner = [level.plain(v) for v in inner]
        return found

    def rest(self, x: Any) -> Any:
        """The shape that the function sees of a whole value."""
        return x.shape[len(self.lead):]

    def units(self, x: Any, start: int, count: int) -> Any:
        """For these elements of a sample of x a row each: 1 there and 0 elsewhere."""
        rows = np.arange(count)
        units = np.zeros((count, prod(self.lead), prod(self.rest(x))), x.array.dtype)
        units[rows, :, rows + start] = 1
        return wrap(units.reshape(count, *x.shape))

    def alias(self, x: Any) -> Any:
        """x, to be differentiated at: a whole value."""
        if not isinstance(x, TensorBase):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        look((x,))
        tensor: Any = lowered(plain(x), self.levels)
        if self.outer and wants_grad(tensor) and (not FORWARD or self.outside(tensor)):
            made = tensor.view_as(tensor)
        elif self.forward and tangent(tensor):
            made = tensor.detach()
            made._leaf = self.leaf(tensor)
            fork(made, edge(made._leaf), 0, edge(tensor), tensor.nr)
        else:
            return self.leaf(tensor)
        made._of_transform = self.number
        return made

    def leaf(self, x: Any) -> Any:
        """A leaf that nobody outside knows, of x's memory."""
        made: Any = wrap(x.array) if x.inference else x.detach()
        if made.array.dtype.kind not in "fcV":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        made._set_requires_grad(True)
        made._of_transform = self.number
        return made

    def running(self) -> Transformed:
        """Context: the function runs."""
        scope = Transformed()
        scope.number = self.number
        return scope

    def start(self, x: Any) -> None:
        """x is an alias."""
        self.starts.add(id(edge(x)))

    def outside(self, y: Any) -> bool:
        """Does y depend on a tensor of the caller's that requires grad?"""
        return self.outer and leads(
            y, False, lambda node: hasattr(node, "variable") and getattr(node.variable, "_of_transform", 0) < self.number)

    def has(self, y: Any) -> bool:
        """Does y depend on an alias?"""
        return leads(y, True, lambda node: id(node) in self.starts)

    def linked(self, y: Any) -> bool:
        """Has y derivatives of the caller's?"""
        return self.outside(y) or (self.forward and tangent(y))

    def own(self, y: Any, on: bool = True) -> Any:
        """A whole value with the derivatives that it has outside; not on: under no_grad there."""
        if not wants_grad(y) or (on and self.outside(y)):
            return y
        return forked(y) if self.forward and tangent(y) else y.detach()

    def settled(self, y: Any, beyond: list[Level] = NONE, on: bool = True) -> Any:
        """A whole value as the caller gets it."""
        return self.all_raised([self.own(y, on)], beyond)[0]

    def settle(self, y: Any) -> Any:
        """A result of the function as the caller gets it."""
        return self.settled(self.lowered(y))


def leads(y: Any, forward: bool, there: Callable[[Any], bool]) -> bool:
    """Does y's history, that for tangents or that for gradients, lead there?"""
    first = edge(y) if isinstance(y, TensorBase) and wants_grad(y) else None
    todo, seen = [] if first is None else [first], {id(first)}
    with _pushing(forward):
        while todo:
            node: Any = todo.pop()
            if there(node):
                return True
            for below, _ in node.next_functions:
                if below is not None and id(below) not in seen:
                    seen.add(id(below))
                    todo.append(below)
    return False


@contextmanager
def _pushing(on: bool = True) -> Iterator[None]:
    """Passes compute tangents: see NOTE [Forks]."""
    it = state()
    was, it.pushing = it.pushing, on
    try:
        yield
    finally:
        it.pushing = was


@contextmanager
def going_on(level: Any) -> Iterator[None]:
    """A level of forward mode, innermost."""
    it = state()
    was, it.tangent = it.tangent, tangent
    FORWARD.append(level)
    try:
        yield
    finally:
        FORWARD.remove(level)
        it.tangent = was


def forked(x: Any, forward: bool = True) -> Any:
    """x for derivatives of one kind: its tangents or its gradients."""
    out: Any = x.detach()
    fork(out, *((None, 0, edge(x), x.nr) if forward else (edge(x), x.nr, None, 0)))
    return out


def _free(x: Any) -> Any:
    """x as an intermediate result, which func may edit in place; so PyTorch lets it do in forward mode."""
    out: Any = wrap(x.array)
    out._of_transform = born(x)
    out.version = shared_version(x)
    op = AliasBackward0()
    op.link(x)
    attach(out, op)
    return out


class _Call:
    """func called at aliases of its arguments `argnums` (None: of all), and its results in flat form."""

    def __init__(self, func: Any, args: tuple[Any, ...], argnums: Any, has_aux: bool, name: str) -> None:
        self.level = _Level()
        with _Recording():
            chosen = range(len(args)) if argnums is None else _places(argnums, len(args))
            values, self.in_spec = flatten(tuple(args[i] for i in chosen))
            with aside():
                if name == JVP:
                    check_real("primal", values)
                self.inputs = [self.level.alias(x) for x in values]
                given = [_free(x) for x in self.inputs] if name == JVP else self.inputs
                aliases = dict(zip(chosen, unflatten(self.level.all_raised(given), self.in_spec)))
            if name == JVP:
                for x in self.inputs:
                    self.level.start(x)
            with going_on(self.level) if name == JVP else nullcontext(), self.level.running():
                found = func(*[aliases.get(i, x) for i, x in enumerate(args)])
            self.aux: Any = None
            if has_aux:
                if not (isinstance(found, tuple) and len(found) == 2):
                    raise RuntimeError(f"{name}: {AUX}")
                found, aux = found
                with aside():
                    self.aux = mapped(self.level.settle, aux)
            self.outputs, self.out_spec = flatten(found)
            if not self.outputs or (len(self.outputs) == 1 and self.outputs[0] is None):
                raise RuntimeError(
                    f"{name}: Expected f to be a function that has non-empty output (got output = {self.outputs})")
            for y in self.outputs:
                if not isinstance(y, TensorBase):
                    raise RuntimeError(f"{name}: expected f(*primals) to return only tensors, got unsupported type {type(y)}")
            with aside():
                self.outputs = self.level.all_lowered(self.outputs)
                self.tracked = any(self.level.linked(y) for y in self.outputs)
                self.value = unflatten([self.level.settled(y) for y in self.outputs], self.out_spec)


class _Pushed:
    """The Jacobian times vectors: the derivative of a vjp, which is linear in its cotangents, with respect to them."""

    def __init__(self, call: _Call) -> None:
        self.call = call
        self.anchors: dict[int, list[Any]] = {}
        with _Recording():
            self.at = [i for i, y in enumerate(call.outputs) if wants_grad(y)]
            self.cotangents = [call.level.leaf(zeros_like(call.outputs[i])) for i in self.at]
            self.back: Any = ()
            if self.at:
                PUSHING.append(None)
                try:
                    with _pushing():
                        self.back = _grad([call.outputs[i] for i in self.at], call.inputs, self.cotangents, create_graph=True,
                                          allow_unused=True)
                finally:
                    PUSHING.pop()

    def __call__(
        self, tangents: list[Any], retain: bool, strict: bool = False, tie: bool = True, batched: bool = False,
    ) -> list[Any]:
        call = self.call
        again = call.tracked or any(wants_grad(v) for v in tangents)
        none = batched and not len(tangents[0])         # columns of an input without elements
        pairs = [] if none else [(b, v.to(b.dtype)) for b, v in zip(self.back, tangents) if b is not None and wants_grad(b)]
        with _Recording(), _pushing():
            found: Any = _grad(
                [b for b, _ in pairs], self.cotangents, [v for _, v in pairs], create_graph=again,
                retain_graph=retain or again, allow_unused=True, is_grads_batched=batched) if pairs else [None] * len(self.at)
        by_output = dict(zip(self.at, found))
        out = []
        for i, y in enumerate(call.outputs):
            g = by_output.get(i)
            if g is None and strict:
                raise RuntimeError(
                    f"{JVP[:-1]}, strict=True): The output of f is independent of the inputs. This is not allowed with "
                    "strict=True.")
            with _Recording():                              # no tensor of inference mode
                shape = (len(tangents[0]), *y.shape) if batched else y.shape
                pushed = y.new_zeros(shape) if g is None else call.level.own(g)
                out.append(self.tied(i, pushed) if g is not None and tie and not wants_grad(pushed) else pushed)
        return out

    def tied(self, i: int, g: Any) -> Any:
        """g, which does not depend on what output i's products depend on: part of that graph with derivatives of zero."""
        if i not in self.anchors:
            self.anchors[i] = _anchors(self.call, self.call.outputs[i])
        return _Tied.apply(g, *self.anchors[i]) if self.anchors[i] else g


# PyTorch's rules of forward mode for these read their operands, so what they give belongs to the graph of both, even where one
# is constant; of the second kind, all operands but the first.
PRODUCTS = {f"{name}Backward0" for name in (
    "Mul", "Div", "Mm", "Mv", "Dot", "Vdot", "Bmm", "Convolution", "LinalgCross", "Linear", "Relu", "LeakyRelu", "Hardtanh",
    "Threshold")}
SUMMED_PRODUCTS = {f"{name}Backward0" for name in ("Addmm", "Addmv", "Addr", "Addbmm", "Baddbmm", "Addcmul", "Addcdiv")}


class _Tied(Function):
    """The first of the tensors, with derivatives of zero for the others."""

    @staticmethod
    def forward(ctx: Any, g: Any, *anchors: Any) -> Any:
        ctx.zeros = [(x.shape, x.dtype) for x in anchors]
        return g.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g, *[g.new_zeros(shape, dtype=dtype) for shape, dtype in ctx.zeros]


def _anchors(call: _Call, y: Any) -> list[Any]:
    """The caller's tensors that require grad below y's products, where one of those has an operand that depends on the inputs."""
    if not call.level.outside(y) or y.grad_fn is None:
        return []
    starts = {id(x.grad_fn if x.grad_fn is not None else sink_of(x)) for x in call.inputs}
    known: dict[int, tuple[bool, bool]] = {}        # does a node depend on the inputs, on tensors of the caller's?
    leaves: dict[int, Any] = {}
    todo, found = [y.grad_fn], False
    while todo:
        node = todo[-1]
        below = [n for n, _ in node.next_functions]
        new = [n for n in below if n is not None and id(n) not in known]
        if new and id(node) not in known:
            todo += new
            continue
        todo.pop()
        if hasattr(node, "variable") and getattr(node.variable, "_of_transform", 0) < call.level.number:
            leaves[id(node)] = node.variable
        operands = below[1:] if node.name() in SUMMED_PRODUCTS else below if node.name() in PRODUCTS else []
        flags = [known[id(n)] for n in operands if n is not None]
        found = found or (any(a for a, _ in flags) and any(b for _, b in flags))
        flags = [known[id(n)] for n in below if n is not None]
        known[id(node)] = (id(node) in starts or any(a for a, _ in flags),
                           id(node) in leaves or any(b for _, b in flags))
    return [*leaves.values(), *(x for x in call.inputs if x.grad_fn is not None)] if found else []


def _pulled(outputs: Any, inputs: Any, vectors: Any, again: bool, retain: bool, batched: bool = False) -> list[Any]:
    """The vectors, one for each output, or rows of them, times the Jacobian."""
    pairs = [(y, v) for y, v in zip(outputs, vectors) if wants_grad(y)]
    found: Any = _grad(
        [y for y, _ in pairs], inputs, [v for _, v in pairs], create_graph=again, retain_graph=retain or again,
        allow_unused=True, is_grads_batched=batched) if pairs else [None] * len(inputs)
    rows = (len(vectors[0]),) if batched else ()
    return [x.new_zeros(rows + x.shape) if g is None else g for g, x in zip(found, inputs)]


def _grad_and_value(func: Any, argnums: Any, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = "grad_and_value(f)(*args)"
    level = _Level()
    with _Recording():
        several = isinstance(argnums, tuple)
        chosen = _places(argnums, len(args))
        values, spec = flatten(tuple(args[i] for i in chosen) if several else args[chosen[0]])
        with aside():
            inputs = [level.alias(x) for x in values]
            made = unflatten(level.all_raised(inputs), spec)
        aliases = dict(zip(chosen, made if several else (made,)))
        with level.running():
            output = func(*[aliases.get(i, x) for i, x in enumerate(args)], **kwargs)
        aux: Any = None
        if has_aux:
            if not (isinstance(output, tuple) and len(output) == 2):
                raise RuntimeError(f"{name}: {AUX}")
            output, aux = output
        if not isinstance(output, TensorBase):
            raise RuntimeError(f"{name}: Expected f(*args) to return a Tensor, got {type(output)}")
        if output.ndim != 0:
            raise RuntimeError(
                f"{name}: Expected f(*args) to return a scalar Tensor, got tensor with {output.ndim} dims. Maybe you wanted to "
                "use the vjp or jacrev APIs instead?")
        with aside():
            value: Any = level.lowered(output)
            tracked = level.linked(value)
            found = _pulled([value], inputs, [ones_like(value) if level.lead else None], tracked, False)
            out = unflatten([level.settled(g) for g in found] if tracked else level.all_raised(found), spec)
            value = level.settled(value)
            return out, (value, mapped(level.settle, aux)) if has_aux else value


def _jacobian(call: _Call, argnums: Any, has_aux: bool, most: int | None = None) -> Any:
    """For each output the tree of its derivatives, in the tree of outputs."""
    level, table = call.level, []
    for y in call.outputs:
        with _Recording():
            rows = _rows(call, y, most) if wants_grad(y) and y.array.size else []
            parts = []
            for k, x in enumerate(call.inputs):
                found = [block[k] for block in rows]
                shape = y.shape + level.rest(x)
                part = x.new_zeros(shape) if not found else found[0] if len(found) == 1 else cat(found)
                parts.append(part.movedim(0, len(level.lead)).reshape(shape) if found else part)
        tree = unflatten([level.settled(part) for part in parts], call.in_spec)
        table.append(tree if isinstance(argnums, tuple) else tree[0])
    out = unflatten(table, call.out_spec)
    return (out, call.aux) if has_aux else out


def _rows(call: _Call, y: Any, most: int | None) -> list[list[Any]]:
    """The Jacobian of y, a row for each element of a sample, in blocks of at most `most`: for each input [rows, *its shape]."""
    size = prod(call.level.rest(y))
    most = min(size if most is None else most, max(1, UNITS // y.array.size))
    return [_pulled([y], call.inputs, [call.level.units(y, start, min(most, size - start))], call.tracked, True, True)
            for start in range(0, size, most)]


UNITS = 1 << 20                                                 # elements of the vectors of a block


def _of_columns(call: _Call, columns: list[list[Any]], argnums: Any, has_aux: bool) -> Any:
    """_jacobian's result, of the derivatives of all outputs along the elements of each input, in rows."""
    table = []
    with _Recording():
        for k, y in enumerate(call.outputs):
            parts = [column[k].movedim(0, -1).reshape(y.shape + call.level.rest(x)) for x, column in zip(call.inputs, columns)]
            tree = unflatten([call.level.settled(part) for part in parts], call.in_spec)
            table.append(tree if isinstance(argnums, tuple) else tree[0])
    out = unflatten(table, call.out_spec)
    return (out, call.aux) if has_aux else out


def _places(argnums: Any, count: int) -> list[int]:
    """Which arguments, from 0."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    out = []
    for n in argnums if isinstance(argnums, tuple) else (argnums,):
        if not isinstance(n, int):
            raise RuntimeError(f"argnum must be int, got: {type(n)}")
        if not -count <= n < count:
            raise RuntimeError(f"Got argnum={n}, but only {count} positional inputs")
        out.append(n % count)
    if not out:
        raise RuntimeError("argnums must be non-empty")
    if len(set(out)) != len(out):
        raise RuntimeError(f"argnums elements must be unique, got {tuple(out)}")
    return out


def _check_tangents(primals: Any, tangents: Any) -> None:
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    flat, spec = flatten(primals)
    vectors, other = flatten(tangents)
    if spec != other:
        raise RuntimeError(
            f"{JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 "
            f"tensors, tangents also must be. Got primals with structure {spec} and tangents with structure {other}")
    for which, found in (("primals", flat), ("tangents", vectors)):
        if not found:
            raise RuntimeError(f"{JVP}: Expected {which} to contain at least one Tensor.")
        for x in found:
            if not isinstance(x, TensorBase):
                raise RuntimeError(f"{JVP}: Expected {which} to only contain Tensors, got {type(x)}")
        check_real(which[:-1], found)
    for x, v in zip(flat, vectors):
        if x.shape != v.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
                f"supported. Tensor is of size {list(x.shape)} while the given forward gradient is of size {list(v.shape)}.")


