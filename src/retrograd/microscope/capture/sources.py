"""From a tensor made of parameters only back to the parameters: leaves, views of them, expressions.

    Leaf    a parameter itself
    Made    what a function made of sources and constants.  When the function only picks and moves elements (`chunk`,
            `t`, `expand`, a lookup of constant rows), where each element came from is found by running the function on
            element numbers; else the gradient is pulled back by running it again under autograd.

K in shapes: any number of gradients pulled back at once, such as the samples of a batch.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..errors import CaptureError
from .arguments import embedding_arguments

MOVES = frozenset((
    "t", "T", "mT", "H", "mH", "transpose", "permute", "view", "reshape", "view_as", "reshape_as", "flatten",
    "unflatten", "chunk", "split", "unbind", "select", "getitem", "narrow", "unsqueeze", "squeeze", "expand",
    "expand_as", "broadcast_to", "repeat", "swapaxes", "swapdims", "movedim", "moveaxis", "index_select", "flip",
    "adjoint", "tensor_split", "roll", "repeat_interleave",
))
TURNS = frozenset(("H", "mH", "adjoint"))       # these conjugate complex numbers, too
COPIES = frozenset((
    "contiguous", "clone", "to", "float", "double", "half", "bfloat16", "type", "type_as", "alias", "cuda", "cpu",
    "requires_grad_", "detach",
))
ROWS = frozenset(("embedding",))


class Source:
    """A tensor whose gradient can be given to parameters."""

    tensor: Any                                 # held, so that its id stays its own
    shape: tuple[int, ...]

    def leaves(self) -> Iterator[Leaf]:
        """The parameters below, each as often as it is used."""
        raise NotImplementedError


class Leaf(Source):
    """Parameter number `number` of the captured model."""

    def __init__(self, tensor: Any, number: int) -> None:
        self.tensor = tensor
        self.shape = tuple(tensor.shape)
        self.number = number

    def leaves(self) -> Iterator[Leaf]:
        yield self


class Made(Source):
    """Output `pick` of func(*args, **kwargs), whose tracked arguments are in `parents` (by id)."""

    def __init__(self, tensor: Any, name: str, func: Any, args: Any, kwargs: Any, pick: int,
                 parents: dict[int, Source]) -> None:
        self.tensor = tensor
        self.shape = tuple(tensor.shape)
        self.name = name
        self.func = func
        self.args = args
        self.kwargs = kwargs
        self.pick = pick
        self.parents = parents
        self.versions: list[int] = [parent.tensor._version for parent in parents.values()]
        self.numbers: Any = None

    def leaves(self) -> Iterator[Leaf]:
        for parent in self.parents.values():
            yield from parent.leaves()

    @property
    def moves(self) -> bool:
        """Does it only pick and move elements of one parent?"""
        if self.name in TURNS and self.tensor.is_complex():
            return False
        return len(self.parents) == 1 and (self.name in MOVES or self.name in COPIES or self.name in ROWS)


def instead(old: int, new: Any) -> Callable[[Any], Any]:
    """For replaced(): `new` in place of what has the id `old`."""
    return lambda x: new if id(x) == old else x


def replaced(value: Any, swap: Callable[[Any], Any]) -> Any:
    """Arguments with swap(x) for every x, two lists deep."""
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(replaced(v, swap) for v in value)
    if type(value) is dict:
        return {k: replaced(v, swap) for k, v in value.items()}
    return swap(value)


def flat(value: Any) -> Iterator[Any]:
    """All values in nested lists, tuples and dicts."""
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from flat(v)
    elif isinstance(value, dict):
        for v in value.values():
            yield from flat(v)
    else:
        yield value


def base(source: Source) -> tuple[Source, list[Made]]:
    """The leaf or expression that a chain of moves begins with, and the chain, outermost first."""
    chain: list[Made] = []
    while isinstance(source, Made) and source.moves:
        chain.append(source)
        source = next(iter(source.parents.values()))
    return source, chain


def uncopied(source: Source) -> Source:
    """What it is a copy of, in another dtype perhaps: an element's gradient is that of the element."""
    while isinstance(source, Made) and source.name in COPIES and len(source.parents) == 1:
        source = next(iter(source.parents.values()))
    return source


def element_numbers(T: Any, source: Source) -> tuple[Source, Any]:
    """(base, for each element of source its flat position in the base; -1 where no gradient flows)"""
    bottom, chain = base(source)
    if isinstance(source, Made) and source.numbers is not None:
        return bottom, source.numbers
    count = 1
    for n in bottom.shape:
        count *= n
    at = T.arange(count, device=bottom.tensor.device).reshape(tuple(bottom.shape))
    for made in reversed(chain):
        if made.name in COPIES:
            continue
        if made.name in ROWS:
            ids, _, padding, _ = embedding_arguments(made.func, made.args, made.kwargs)
            at = at[ids]
            if padding is not None:
                at = T.where((ids == padding).unsqueeze(-1), T.full_like(at, -1), at)
            continue
        parent = next(iter(made.parents))
        swap = instead(parent, at)
        out = made.func(*replaced(made.args, swap), **replaced(made.kwargs, swap))
        at = out[made.pick] if isinstance(out, (tuple, list)) else out
    if isinstance(source, Made):
        source.numbers = at
    return bottom, at


def pull(T: Any, source: Source, g: Any) -> dict[int, Any]:
    """g (K, *source.shape), gradients of source -> {parameter: (K, *its shape)}"""
    if isinstance(source, Leaf):
        return {source.number: g}
    bottom, at = element_numbers(T, source)
    K = g.shape[0]
    if source is not bottom:
        g = scattered(T, bottom.shape, at.reshape(1, -1).expand(K, -1), g.reshape(K, -1))
    return below(T, bottom, g)


def pull_aligned(T: Any, source: Source, g: Any, axis: int, N: int) -> dict[int, Any]:
    """g (*source.shape), of which sample n has the part n of N along `axis` -> {parameter: (N, *its shape)}"""
    bottom, at = element_numbers(T, source)
    rows = g.movedim(axis, 0).reshape(N, -1)
    where = at.movedim(axis, 0).reshape(N, -1)
    return below(T, bottom, scattered(T, bottom.shape, where, rows))


def scattered(T: Any, shape: tuple[int, ...], at: Any, g: Any) -> Any:
    """(K, *shape) with g (K, E) added at the flat positions `at` (K, E); -1 is nowhere."""
    count = 1
    for n in shape:
        count *= n
    K = g.shape[0]
    out = T.zeros(K, count + 1, dtype=g.dtype, device=g.device)
    at = T.where(at < 0, T.full_like(at, count), at)
    out = out.scatter_add(1, at, g)
    return out[:, :count].reshape(K, *shape)


def below(T: Any, bottom: Source, g: Any) -> dict[int, Any]:
    """pull() from a leaf or an expression."""
    if isinstance(bottom, Leaf):
        return {bottom.number: g}
    leaves: dict[int, Any] = {}
    with T.enable_grad():
        value = rebuilt(bottom, leaves)
        numbers = list(leaves)
        found: list[list[Any]] = []
        for k in range(g.shape[0]):
            got = T.autograd.grad(value, [leaves[n] for n in numbers], g[k].to(value.dtype), retain_graph=True,
                                  allow_unused=True)
            found.append([T.zeros_like(leaves[n]) if x is None else x.detach() for n, x in zip(numbers, got)])
    return {n: T.stack([row[i].detach() for row in found]) for i, n in enumerate(numbers)}


def rebuilt(source: Source, leaves: dict[int, Any]) -> Any:
    """The source's value, computed again from fresh copies of its parameters, which are put into `leaves`."""
    if isinstance(source, Leaf):
        if source.number not in leaves:
            leaves[source.number] = source.tensor.detach().clone().requires_grad_()
        return leaves[source.number]
    assert isinstance(source, Made)
    if any(parent.tensor._version != version for parent, version in zip(source.parents.values(), source.versions)):
        raise CaptureError(f"a parameter below {source.name} was changed after the call; ask before optimizer.step()")
    made = {i: rebuilt(parent, leaves) for i, parent in source.parents.items()}
    args = replaced(source.args, lambda x: made.get(id(x), x))
    kwargs = replaced(source.kwargs, lambda x: made.get(id(x), x))
    out = source.func(*args, **kwargs)
    return out[source.pick] if isinstance(out, (tuple, list)) else out
