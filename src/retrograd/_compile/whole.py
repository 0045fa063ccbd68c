"""A call of a public function as one entry, whatever ops it is made of: an eager call on the arrays of the plan.

Its part of the graph is made at each replay and handed on to the entry of its backward pass.
"""
from __future__ import annotations

from typing import Any, Final

import numpy as np

from .. import random
from .._engine.backward import run_backward
from .._engine.modes import settle, state
from .._engine.op import edge
from .._engine.tensor import TensorBase, shared_version, sink_of, wants_grad, wrap
from .._rules import create
from .._tensor import dtypes
from .._tensor.size import Size
from .values import Refused, Value

ndarray: Final = np.ndarray
PLAIN: Final = (int, float, bool, str, complex, type(None), type(Ellipsis), slice, Size, dtypes.dtype, dtypes.device,
                dtypes.layout, dtypes.memory_format)
# What tells Python of numbers, or of what is no array; whose results' shapes depend on numbers; what changes other things.
NOT: Final = set("""
    item tolist numpy __array__ __bool__ __int__ __float__ __index__ __complex__ __contains__ __repr__ __str__ __format__
    __iter__ __deepcopy__ __reduce_ex__ __reduce__ __setstate__ __hash__ __dlpack__ is_nonzero equal allclose
    nonzero argwhere masked_select unique unique_consecutive bincount repeat_interleave histc histogram
    register_hook register_post_accumulate_grad_hook retain_grad requires_grad_ detach_ share_memory_ resize_ resize_as_ set_
    apply_ map_ map2_ as_subclass _make_subclass save load from_numpy from_dlpack frombuffer as_tensor asarray
    data_ptr storage untyped_storage register_multi_grad_hook set_default_dtype empty empty_like empty_strided new_empty
    new_tensor swap_tensors compile vmap
""".split())
PLACES: Final = ("torch.", "Tensor.")
ELSEWHERE: Final = ("torch.autograd.", "torch.utils.", "torch.func.", "torch.amp.", "torch.overrides.", "torch._C._set",
             "torch.random.", "torch.nn.init.", "torch.distributed.", "torch.sparse.", "torch.nn.parallel.")


def may_be_whole(name: str, args: Any, kwargs: Any) -> bool:
    """Does this function give nothing but tensors, of shapes that do not depend on numbers?"""
    if not name.startswith(PLACES) or name.startswith(ELSEWHERE):
        return False
    parts = name.split(".")
    short = parts[-1]
    if short in ("__get__", "__set__"):
        return parts[-2] in ("T", "mT", "H", "mH", "real", "imag") and short == "__get__"
    if short == "one_hot":                      # whose number of classes is given
        return (args[1] if len(args) > 1 else (kwargs or {}).get("num_classes", -1)) != -1
    if short in NOT or (short.startswith("_") and not short.startswith("__")):
        return False
    if short == "where" and len(args) == 1:
        return False
    return short not in ("__getitem__", "__setitem__") or not any(
        isinstance(t, TensorBase) and t.array.dtype.kind == "b" for t in leaves(args[1:2]))


# Whose results have the same shape whatever number a tensor holds that they read
SCALED: Final = set("""
    add sub subtract rsub add_ sub_ addcmul addmm baddbmm leaky_relu elu celu hardtanh clamp clamp_min clamp_max softplus
    huber_loss smooth_l1_loss cross_entropy nll_loss full_like scaled_dot_product_attention tril triu roll select
""".split())


def keeps_shape(name: str, args: Any) -> bool:
    """Does the shape of the result not depend on the number that a tensor among the arguments holds?"""
    short = name.rpartition(".")[2]
    if short == "__getitem__":
        index = args[1] if isinstance(args[1], tuple) else (args[1],)
        return not any([isinstance(x, slice) and bool(leaves(x)) for x in index])
    return short in SCALED


def leaves(x: Any) -> list[Any]:
    """The tensors in an argument or a result; Refused where there is something that may change."""
    if isinstance(x, TensorBase):
        return [x]
    if isinstance(x, (tuple, list)) and not isinstance(x, Size):
        return [t for y in x for t in leaves(y)]
    if type(x) is dict:
        return [t for y in x.values() for t in leaves(y)]
    if isinstance(x, slice):
        return leaves([x.start, x.stop, x.step])
    if not isinstance(x, PLAIN):
        raise Refused(f"a {type(x).__name__} is given to it")
    return []


def made_by(name: str, out: Any) -> list[Any]:
    """The tensors of a result that has nothing else to tell."""
    if isinstance(out, TensorBase):
        return [out]
    if isinstance(out, (tuple, list)) and not isinstance(out, Size):
        return [t for y in out for t in made_by(name, y)]
    if out is not None:
        raise Refused(f"{name} gives Python a {type(out).__name__}")
    return []


class Hole:
    """The place of tensor number `at` among arguments."""

    __slots__ = ("at",)

    def __init__(self, at: int) -> None:
        self.at = at


def holed(x: Any, at: dict[int, int], some: bool = False) -> Any:
    """some: other tensors stay"""
    if isinstance(x, TensorBase):
        return x if some and id(x) not in at else Hole(at[id(x)])
    if isinstance(x, (tuple, list)) and not isinstance(x, Size):
        return (list if type(x) is list else tuple)([holed(y, at, some) for y in x])
    if type(x) is dict:
        return {key: holed(y, at, some) for key, y in x.items()}
    if isinstance(x, slice):
        return slice(holed(x.start, at, some), holed(x.stop, at, some), holed(x.step, at, some))
    return x


def refilled(x: Any, tensors: list[Any]) -> Any:
    if type(x) is Hole:
        return tensors[x.at]
    if type(x) in (tuple, list):
        return type(x)([refilled(y, tensors) for y in x])
    if type(x) is dict:
        return {key: refilled(y, tensors) for key, y in x.items()}
    if type(x) is slice:
        return slice(refilled(x.start, tensors), refilled(x.stop, tensors), refilled(x.step, tensors))
    return x


class Before:
    """What a call might change, as it was before it."""

    def __init__(self, args: Any, kwargs: Any) -> None:
        self.uses = random.default_generator._uses
        self.odd: Refused | None = None
        self.tensors: list[TensorBase] = []
        try:
            self.tensors = list({id(t): t for t in leaves([args, kwargs])}.values())
        except Refused as error:
            self.odd = error
        self.facts = [(t.array, wants_grad(t), 0 if t.version is None else t.version.edits) for t in self.tensors]
        self.edges = [(t.fn, t.nr) for t in self.tensors]

    def wrote(self) -> dict[int, int]:
        """Which tensors were edited or got another shape, and how often; Refused where more changed."""
        if self.odd is not None:
            raise self.odd
        found = {}
        for i, (t, (array, rg, edits)) in enumerate(zip(self.tensors, self.facts)):
            count = (0 if t.version is None else t.version.edits) - edits
            if count:
                found[i] = count
            if t.rg and not rg or (rg and count and t.origin is not None):
                raise Refused("an in-place edit of a view that requires grad, or of a tensor without grad by one with grad")
            if t.array is not array and not (count and rg):
                raise Refused("a tensor gets other memory")
        return found

    def edge(self, i: int) -> Any:
        """Where its gradient went before the call."""
        fn, nr = self.edges[i]
        t = self.tensors[i]
        return (fn, nr) if fn is not None and t.origin is None else (edge(t), t.nr)


class Whole:
    """impl(...) on arrays, or on tensors that users hold.

    -> the part of the graph, arrays of results, arrays of the arguments that it wrote
    """

    def __init__(self, name: str, impl: Any, args: Any, kwargs: Any, tensors: list[TensorBase], grad: bool,
                 wants: list[bool]) -> None:
        at = {id(t): i for i, t in enumerate(tensors)}
        self.name, self.impl, self.grad = name, impl, grad
        self.args, self.kwargs = holed(args, at), None if kwargs is None else holed(kwargs, at)
        self.wants = wants
        self.plain = not self.kwargs and all(type(x) is Hole or not leaves(y) for x, y in zip(self.args, args))
        self.holes = [(i, x.at) for i, x in enumerate(self.args) if type(x) is Hole]
        self.wrote: list[int] = []              # arguments
        self.results: list[tuple[int, Any, Any]] = []   # which of the tensors in the result, shape, dtype

    def __call__(self, *arrays: Any) -> Any:
        it = state()
        had = it.grad
        if had != self.grad:
            it.grad = self.grad
            settle(it)
        try:
            begins, tensors = [], []
            for i, array in enumerate(arrays):
                t = own(array) if isinstance(array, TensorBase) else wrap(
                    array.copy("K") if i in self.wrote and not self.wants[i] else array)
                t.rg = self.wants[i]
                begins.append(t)
                tensors.append(create.clone(t) if i in self.wrote and self.wants[i] else t)
            args: Any
            if self.plain:
                args = list(self.args)
                for i, at in self.holes:
                    args[i] = tensors[at]
                out = self.impl(*args)
            else:
                args = refilled(self.args, tensors)
                out = self.impl(*args) if self.kwargs is None else self.impl(*args, **refilled(self.kwargs, tensors))
        finally:
            if had != self.grad:
                it.grad = had
                settle(it)
        found = [out] if isinstance(out, TensorBase) else made_by(self.name, out)
        results = []
        for at, shape, dtype in self.results:
            array = found[at].array
            if array.shape != shape or array.dtype != dtype:
                raise RuntimeError(f"torch.compile: {self.name} gives a result of another shape or dtype than it did")
            results.append(array)
        return (Part(begins, found), *results, *[tensors[i].array for i in self.wrote])


def dropped(name: str, args: Any, kwargs: Any) -> Any:
    """With what probability such a call drops elements; None where it is another function."""
    return (args[1] if len(args) > 1 else (kwargs or {}).get("p", 0.5)) if name == "torch.nn.functional.dropout" else None


class Kept:
    """1 / (1 - p) for what dropout keeps, else 0."""

    def __init__(self, p: float) -> None:
        self.p = p

    def __call__(self, x: Any) -> Any:
        return random.over(x, lambda shape: random.mask(1 - self.p, shape, x.dtype))


def own(t: TensorBase) -> TensorBase:
    """A tensor that is no part of the user's graph, and sees edits of t."""
    out = wrap(t.array)
    out.version = shared_version(t)
    return out


NOTHING: Final = np.empty(0)


def apart(roots: list[Any], seeds: list[Any], graph: bool, targets: list[Any]) -> list[Any]:
    """The gradients that arrive at the targets; hooks on them fire in the user's passes, not in this one."""
    hooks = [(n, n._hooks) for n, _ in targets]
    try:
        for n, _ in hooks:
            n._hooks = None
        return run_backward(roots, seeds, True, graph, targets, False, True)
    finally:
        for n, had in hooks:
            n._hooks = had


class Part:
    """What a call recorded: where its graph begins and ends."""

    __slots__ = ("edges", "roots")

    def __init__(self, tensors: list[Any], outs: list[Any]) -> None:
        self.edges: list[Any] = [(sink_of(t), 0) if t.rg and t.fn is None else None for t in tensors]
        for end in self.edges:
            if end is not None:
                end[0].array = NOTHING          # what no node saves is needed no longer
        self.roots: list[Any] = [(t.fn, t.nr) if t.fn is not None else None for t in outs]


class Region:
    """The nodes that one call made, as a pass meets them."""

    def __init__(self, name: str, before: Before, arrays: list[Value], outs: list[TensorBase], part: Value) -> None:
        self.name, self.part, self.values = name, part, arrays
        self.edges = [before.edge(i) if fact[1] else None for i, fact in enumerate(before.facts)]
        self.roots = [(t.fn, t.nr) if t.fn is not None else None for t in outs]
        stop = {id(e[0]) for e in self.edges if e is not None}
        todo = [r[0] for r in self.roots if r is not None and id(r[0]) not in stop]
        self.nodes = {id(n): n for n in todo}
        while todo:
            node = todo.pop()
            for i in range(node.edge_count()):
                to = node.edge_node(i)
                if to is not None and id(to) not in self.nodes and id(to) not in stop:
                    if not to.edge_count():
                        raise Refused(f"{name} needs a gradient for a tensor that it does not get")
                    self.nodes[id(to)] = to
                    todo.append(to)
        self.rules: dict[tuple[int, int], int] | None = None    # where it is one node: edges as targets -> their number
        if len(self.nodes) == 1:
            (node,) = self.nodes.values()
            ends = [(i, node.edge_node(i)) for i in range(node.edge_count())]
            targets = [(id(to), node.edge_nr(i)) for i, to in ends if to is not None]
            if len(set(targets)) == len(targets):
                self.rules = {(id(to), node.edge_nr(i)): i for i, to in ends if to is not None}
        self.task = -1                          # the pass that met it last
        self.passes = 0                         # that met it
        self.answer: Any = None                 # gets what is sent on, where somebody asks for it
        self.sent: dict[tuple[int, int, int], Value] = {}       # what that will send on

    def reaches(self, i: int) -> set[int]:
        """The arguments that get a gradient from result i."""
        todo: list[Any] = [self.roots[i]]
        met: set[Any] = set(todo)
        while todo:
            node = todo.pop()[0]
            for k in range(node.edge_count() if id(node) in self.nodes else 0):
                to = node.edge_node(k), node.edge_nr(k)
                if to[0] is not None and to not in met:
                    met.add(to)
                    todo.append(to)
        return {i for i, edge in enumerate(self.edges) if edge in met}


class WholeGrads:
    """The backward pass of a Whole.

    outs   which results have gradients
    to     which arguments get one
    begun  which of them had one
    rule   where a single node does it: which of its edges go to them
    ways   for each of outs, the arguments that it leads to
    number which pass through the Whole it is
    """

    def __init__(self, outs: list[int], to: list[int], begun: list[int], rule: list[int] | None, ways: list[set[int]],
                 number: int) -> None:
        self.outs, self.to, self.begun, self.rule, self.ways, self.number = outs, to, begun, rule, ways, number

    def kept(self, args: list[Any]) -> list[Any]:
        """For each argument, where some of `args` are None: True if the call gives its gradient, else what it had before."""
        had = dict(zip(self.begun, args[1 + len(self.outs):]))
        met = {i for way, g in zip(self.ways, args[1:]) if g is not None for i in way}
        return [True if i in met else had.get(i) for i in self.to]

    def __call__(self, part: Any, *gs: Any) -> Any:
        found: list[Any]
        if not isinstance(part, Part):          # what hooks did elsewhere
            found = [part.sent[self.number].get(i) for i in self.to]
            return found[0] if len(found) == 1 else tuple(found)
        if self.rule is not None:
            node, _ = part.roots[self.outs[0]]
            given: list[Any] = [None] * node._outputs
            for i, g in zip(self.outs, gs):
                given[part.roots[i][1]] = g
            made = node.backward(given, False)
            found = [made[i] if type(made[i]) is ndarray else np.asarray(made[i]) for i in self.rule]
        else:
            roots: list[Any] = []
            seeds: list[Any] = []
            for end, g in zip([*[part.roots[i] for i in self.outs], *[part.edges[i] for i in self.begun]], gs):
                if g is not None:
                    roots.append(end)
                    seeds.append(g)
            found = apart(roots, seeds, False, [part.edges[i] for i in self.to])
        return found[0] if len(found) == 1 else tuple(found)
