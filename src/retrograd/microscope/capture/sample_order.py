"""Of which sample of the model's input is each row?  For models that put their batch in another order, pick or join samples.

What happens between a layer and the model's outputs the graph knows (batch_proof.py).  Before the first layer there is no graph:
every tensor made of the model's input without gradient has an Origin, how it was made, and numbers of samples are sent the same
way when somebody asks.  Both together say of which sample each row of the outputs is, and so each row of every layer.

N batch; ids: in the place of each number the sample it is of, or NOBODY, or MANY, or UNKNOWN.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .batches import along, samples_first
from .layers import Elementwise
from .runs import Run, Use
from .sources import COPIES, MOVES, flat, replaced

NOBODY, MANY, UNKNOWN = -1, -2, -3
HIDDEN = "hidden"                               # the name of the origin of what had a gradient, and is no input
DEEP = 200                                      # functions one after the other

JOINING = frozenset(("cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "row_stack", "column_stack"))
# Functions that move numbers -> which arguments hold them; all others are indices, sizes, masks
VALUES = {
    **dict.fromkeys((
        *MOVES, *COPIES, *JOINING, "gather", "take_along_dim", "flipud", "fliplr", "rot90", "masked_select", "take", "narrow",
        "ravel", "tile", "unfold", "diagonal", "pad", "_pack_padded_sequence"), (0,)),
    **dict.fromkeys(("setitem", "masked_scatter", "masked_scatter_", "index_put", "index_put_", "put", "put_"), (0, 2)),
    **dict.fromkeys(("index_copy", "index_copy_", "scatter", "scatter_"), (0, 3)),
}
NAMED = ("input", "self", "tensors", "source", "src", "value", "values")
CREATING = ("zeros", "ones", "empty", "full", "rand", "randn", "randint")
SORTING = {"sort": 1, "argsort": 1, "topk": 2}  # -> where they are told the dimension
# Functions of all numbers along dimensions -> where they are told which
REDUCING = {
    **dict.fromkeys(("sum", "mean", "prod", "amax", "amin", "max", "min", "any", "all", "std", "var", "logsumexp", "median",
                     "nanmedian", "mode", "nansum", "nanmean", "count_nonzero", "argmax", "argmin"), 1),
    **dict.fromkeys(("norm", "vector_norm", "linalg_vector_norm", "kthvalue", "quantile", "nanquantile"), 2)}
# ... which give as many, or for which the order along a dimension counts -> the usual one
RUNNING = {**dict.fromkeys(("cumsum", "cumprod", "logcumsumexp", "cummax", "cummin", "softmax", "log_softmax"), -1), "msort": 0}
# Functions that add up along a dimension of each of two
PRODUCTS = frozenset(("matmul", "mm", "bmm", "mv", "linear", "cdist", "outer", "einsum"))
# ... of which nothing is known
UNCLEAR = frozenset(("tensordot", "inner", "kron", "dot", "cov", "corrcoef", "block_diag", "unique", "unique_consecutive"))
PAIRED = frozenset((
    "add", "sub", "mul", "div", "pow", "where", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "logical_and",
    "logical_or", "logical_xor", "maximum", "minimum", "masked_fill", "remainder", "fmod", "floor_divide", "rsub",
    "lerp", "addcmul", "copy_"))

# Functions that may put samples elsewhere -> where they are told the dimension, and the usual one; None: all dimensions
BY_NUMBER: dict[str, tuple[int, int | None]] = {
    "index_select": (1, None), "gather": (1, None), "take_along_dim": (2, None), "flip": (1, None), "flipud": (9, 0),
    "fliplr": (9, 1), "rot90": (9, None), "roll": (2, None), "sort": (1, -1), "argsort": (1, -1), "topk": (2, -1),
    "masked_select": (9, None), "take": (9, None), "masked_scatter": (9, None), "masked_scatter_": (9, None),
    "index_put": (9, None), "index_put_": (9, None), "index_add": (1, None), "index_add_": (1, None), "index_copy": (1, None),
    "index_copy_": (1, None), "scatter": (1, None), "scatter_": (1, None), "scatter_add": (1, None), "scatter_add_": (1, None),
    "repeat_interleave": (2, None), "repeat": (9, None), "tile": (9, None), "put": (9, None), "put_": (9, None),
    "unique": (9, None), "unique_consecutive": (9, None), "msort": (9, 0),
}
CUTTING: dict[str, tuple[int, int | None]] = {
    "narrow": (1, None), "select": (1, None), "chunk": (2, 0), "split": (2, 0), "tensor_split": (2, 0), "unbind": (1, 0),
    "cat": (1, 0), "concat": (1, 0), "concatenate": (1, 0), "stack": (1, 0), "vstack": (9, 0), "iter": (9, 0)}
VIEWING = frozenset(("view", "reshape", "unflatten", "view_as", "reshape_as"))
REORDERING = frozenset((*BY_NUMBER, *CUTTING, *VIEWING, "getitem", "setitem", "pad"))
# ... which make each number of several along the last dimensions
WINDOWED = tuple(f"{name}{n}d" for name in ("conv", "conv_transpose", "avg_pool", "lp_pool", "max_pool") for n in (1, 2, 3))


class Origin:
    """How a tensor without gradient was made of the model's inputs; of an input itself, name is "".

    args, kwargs    with Origins in place of the tensors that hold the numbers
    parents         of a function that does not just move numbers
    """

    deep: int
    site: tuple[str, int] | None
    __slots__ = ("args", "deep", "device", "func", "held", "kwargs", "name", "parents", "pick", "run", "shape", "site")

    def __init__(self, run: Run, x: Any, name: str, parents: tuple[Origin, ...] = (), func: Any = None, args: Any = (),
                 kwargs: Any = None, pick: Any = None) -> None:
        self.run = run
        self.shape = tuple(x.shape)
        self.device = x.device
        self.name = name
        self.parents = parents
        self.func = func
        self.args = args
        self.kwargs = kwargs or {}
        self.pick = pick
        self.site = None                        # of the call, on checked steps
        self.deep, self.held = 1, []
        if not (args or kwargs or parents):
            return
        self.held = [(t, t._version) for t in flat((args, self.kwargs)) if hasattr(t, "_version")]      # indices
        self.deep = 1 + max((p.deep for p in (*parents, *origins_in((args, self.kwargs)))), default=0)


def origins_in(value: Any) -> Iterator[Origin]:
    return (x for x in flat(value) if isinstance(x, Origin))


def made(run: Run, T: Any, name: str, func: Any, args: Any, kwargs: Any, out: Any, found: list[Any], origin: Any) -> list[Origin]:
    """The origins of `found`, what func(*args, **kwargs) gave.  origin(x): of a tensor, None of one that is no data."""
    if name in SORTING and isinstance(args[0], T.Tensor) and (first := origin(args[0])) is not None:
        at = SORTING[name]
        dim = kwargs.get("dim", args[at] if len(args) > at else -1)
        indices = found[-1].detach()
        return [Origin(run, y, "gather", (), T.gather, (first, dim, indices)) for y in found]
    if name in PRODUCTS and "out" not in kwargs:
        given, named = replaced((args, kwargs), lambda t: valued(t, origin))
        return [Origin(run, y, name, (), func, given, named) for y in found]
    if name in VALUES and "out" not in kwargs and "reduce" not in kwargs:
        # the first argument of an edit is what it was, as far as numbers of samples go
        values = VALUES[name]
        given = tuple(replaced(x, lambda t: valued(t, origin)) if i in values else held(x) for i, x in enumerate(args))
        named = {k: replaced(x, lambda t: valued(t, origin)) if k in NAMED else held(x) for k, x in kwargs.items()}
        return [Origin(run, y, name, (), func, given, named, i if len(found) > 1 or isinstance(out, (tuple, list)) else None)
                for i, y in enumerate(found)]
    if name.removeprefix("new_").removesuffix("_like") in CREATING:
        return [Origin(run, y, "cat", (), T.clone, (Nobody(y),)) for y in found]
    parents = tuple(o for x in flat((args, kwargs)) if hasattr(x, "detach") and (o := origin(x)) is not None)
    return [Origin(run, y, name, parents, T, (dim_of(name, args, kwargs),)) for y in found]


def dim_of(name: str, args: Any, kwargs: Any) -> Any:
    """Along which dimensions a function of all numbers there goes; None: all."""
    at = REDUCING.get(name, 1)
    dim = kwargs.get("dim", args[at] if len(args) > at else RUNNING.get(name, -1 if name in ("kthvalue", "mode") else None))
    return None if isinstance(dim, bool) or hasattr(dim, "detach") else dim


def valued(x: Any, origin: Any) -> Any:
    """In an argument that holds numbers: the origin of a tensor of data, the shape of another."""
    if not hasattr(x, "detach"):
        return NOBODY if isinstance(x, (int, float)) else x
    return origin(x) or Nobody(x)


class Nobody:
    """In place of a tensor that is of no sample."""

    def __init__(self, x: Any) -> None:
        self.shape = tuple(x.shape)


def held(x: Any) -> Any:
    """An argument that is no number of a sample, apart from the graph."""
    return replaced(x, lambda t: t.detach() if hasattr(t, "detach") else t)


def ids_of(T: Any, origin: Origin, batch_dim: int, device: Any, known: dict[int, Any]) -> Any:
    """(*shape)"""
    if id(origin) not in known:
        try:
            found = sent(T, origin, batch_dim, device, known)
            if tuple(found.shape) != origin.shape:
                found = None
        except Exception:                       # a function of another form than we know: then nothing is known
            found = None
        known[id(origin)] = T.full(origin.shape, UNKNOWN, device=device, dtype=T.int64) if found is None else found
    return known[id(origin)]


def sent(T: Any, origin: Origin, batch_dim: int, device: Any, known: dict[int, Any]) -> Any:
    """... the way that the numbers of the tensor went; None when that is not known."""
    name, shape = origin.name, origin.shape
    if name == HIDDEN or origin.deep > DEEP or any(t._version != version for t, version in origin.held):
        return None
    if not name:
        N = origin.run.size
        if len(shape) <= batch_dim or shape[batch_dim] != N:
            return T.full(shape, NOBODY, device=device, dtype=T.int64)
        return T.arange(N, device=device).reshape([N if d == batch_dim else 1 for d in range(len(shape))]).expand(shape)

    def of(x: Any) -> Any:
        if isinstance(x, Origin):
            return ids_of(T, x, batch_dim, device, known)
        return T.full(x.shape, NOBODY, device=device, dtype=T.int64) if isinstance(x, Nobody) else x
    if name in VALUES:
        args, kwargs = replaced((origin.args, origin.kwargs), of)
        if name in COPIES:
            return args[0]
        if name == "setitem":
            args = (args[0].clone(), *args[1:])
            args[0][args[1]] = args[2]
            return args[0]
        if name.endswith("_"):
            args = (args[0].clone(), *args[1:])
        if name == "pad" and (args[2] if len(args) > 2 else kwargs.get("mode", "constant")) == "constant":
            args, kwargs = args[:2], {**{k: v for k, v in kwargs.items() if k in ("input", "pad")}, "value": NOBODY}
        out = origin.func(*args, **kwargs)
        return out if origin.pick is None else list(out)[origin.pick]
    if name in PRODUCTS:
        return product(T, name, *replaced((origin.args, origin.kwargs), of))
    parents = [of(parent) for parent in origin.parents]
    if name in UNCLEAR:
        return None
    if len(parents) == 1 and name in REDUCING:
        return together(T, parents[0], *origin.args).reshape(shape)
    if len(parents) == 1 and name in RUNNING:
        one = together(T, parents[0], *origin.args)
        return parents[0] if bool((one != MANY).all()) else one.expand(shape)
    found = []
    for x in parents:
        x = spread(x, shape, name in PAIRED)
        if x is None:
            return T.full(shape, MANY, device=device, dtype=T.int64) if name in WINDOWED else None
        found.append(x)
    return merged(T, T.full(shape, NOBODY, device=device, dtype=T.int64), *found)


def merged(T: Any, whole: Any, *others: Any) -> Any:
    """Of what is made of numbers of several."""
    for x in others:
        clash = T.where((whole == UNKNOWN) | (x == UNKNOWN), UNKNOWN, MANY)
        whole = T.where((whole == x) | (x == NOBODY), whole, T.where(whole == NOBODY, x, clash))
    return whole


def together(T: Any, x: Any, dim: Any) -> Any:
    """Of what is made of all numbers along a dimension, which is kept."""
    dims = tuple(range(x.ndim)) if dim is None else dim
    top = int(x.max()) + 1
    least = T.amin(T.where(x == NOBODY, top, x), dims, True)
    most = T.amax(x, dims, True)
    return T.where(least == top, NOBODY, T.where((least == most) | (least < NOBODY), least, MANY))


def product(T: Any, name: str, args: Any, kwargs: Any) -> Any:
    """Of a product of two; None of one with other arguments than we know."""
    if name == "einsum":
        return summed(T, args[0].replace(" ", ""), list(flat(args[1:])))
    a, b = (*args, *kwargs.values())[:2]
    if name == "outer":
        return merged(T, *T.broadcast_tensors(a.unsqueeze(1), b.unsqueeze(0)))
    if name in ("linear", "cdist"):
        b = b.transpose(-1, -2)
    if a.ndim < 2:
        return None
    left, right = together(T, a, -1), together(T, b, -2 if b.ndim > 1 else -1)
    return merged(T, *T.broadcast_tensors(left if b.ndim > 1 else left.squeeze(-1), right))


def summed(T: Any, equation: str, operands: list[Any]) -> Any:
    """Of an einsum."""
    given, arrow, out = equation.partition("->")
    if not arrow or "." in equation:
        return None
    found = []
    for letters, x in zip(given.split(","), operands):
        for d, letter in enumerate(letters):
            if letter not in out:
                x = together(T, x, d)
        kept = [d for _, d in sorted((out.index(letter), d) for d, letter in enumerate(letters) if letter in out)]
        x = x.permute(*kept, *[d for d in range(x.ndim) if d not in kept])
        sizes = iter(x.shape)
        found.append(x.reshape([next(sizes) if letter in letters else 1 for letter in out]))
    return merged(T, *T.broadcast_tensors(*found)) if found else None


def spread(x: Any, shape: tuple[int, ...], paired: bool) -> Any:
    """ids in the shape of a result: as broadcast, or along the one dimension that tells samples apart."""
    if x.numel() and bool((x == x.reshape(-1)[0]).all()) and int(x.reshape(-1)[0]) < 0:
        return x.new_full(shape, int(x.reshape(-1)[0]))
    if tuple(x.shape) == shape:
        return x
    if paired or x.ndim == len(shape) and all(n in (1, m) for n, m in zip(x.shape, shape)):
        return x.expand(shape)
    telling = [d for d in range(x.ndim) if not bool((x == x.narrow(d, 0, 1)).all())]
    if len(telling) != 1 or len(shape) <= telling[0] or shape[telling[0]] != x.shape[telling[0]]:
        return None
    (dim,) = telling
    for other in range(x.ndim):
        x = x if other == dim else x.narrow(other, 0, 1)
    return x.reshape([-1 if d == dim else 1 for d in range(len(shape))]).expand(shape)


def reorders(name: str, args: Any, kwargs: Any, out: Any, batch_dim: int, N: int) -> bool:
    """May this call, of one of REORDERING, put samples elsewhere?"""
    x = args[0] if args else kwargs.get("input", kwargs.get("tensors"))
    if isinstance(x, (list, tuple)):
        x = next((y for y in x if hasattr(y, "ndim")), None)
    if x is None or not hasattr(x, "ndim") or not x.ndim:
        return False
    shape, near = x.shape, {0, 1, batch_dim}
    if name in VIEWING:                         # a batch in several parts, which may be exchanged then
        return shape[0] == N and bool(out.ndim) and 1 < out.shape[0] and out.shape[0] % N != 0
    if name == "pad":
        sizes = args[1] if len(args) > 1 else kwargs["pad"]
        return any(n != 0 and x.ndim - 1 - i // 2 in (0, batch_dim) for i, n in enumerate(sizes))
    if name in ("getitem", "setitem"):
        return indexed(args[1], shape, batch_dim, N)
    if name in ("repeat", "tile"):
        sizes = list(flat(args[1:] or tuple(kwargs.values())))
        ahead = len(sizes) - x.ndim
        return ahead >= 0 and sizes[ahead + min(batch_dim, x.ndim - 1)] != 1
    if name in CUTTING:
        at, usual = CUTTING[name]
        near = {0, batch_dim}
    else:
        at, usual = BY_NUMBER[name]
    dims = kwargs.get("dim", kwargs.get("dims", args[at] if len(args) > at else usual))
    if name == "flip" and "dims" not in kwargs:
        dims = args[1:]
    if dims is None or not all(isinstance(d, int) for d in flat(dims)):
        return True
    sizes_at = {d % x.ndim for d in flat(dims)} & near if name != "stack" else {d % (x.ndim + 1) for d in flat(dims)} & near
    return name in ("cat", "concat", "concatenate", "stack") and bool(sizes_at) or any(
        d < x.ndim and shape[d] % N == 0 for d in sizes_at)


def indexed(at: Any, shape: Any, batch_dim: int, N: int) -> bool:
    """Does an index pick along a dimension that may be the batch?"""
    d = 0
    parts = at if isinstance(at, tuple) else (at,)
    for i, part in enumerate(parts):
        if part is None:
            continue
        if part is Ellipsis:
            d = len(shape) - sum(p is not None for p in parts[i + 1:])
            continue
        if d >= len(shape):
            break
        cut = isinstance(part, (int, slice))
        if not cut and d <= max(batch_dim, 1):
            return True
        if cut and d in (0, batch_dim) and shape[d] % N == 0 and (
                isinstance(part, int) or part.indices(shape[d]) != (0, shape[d], 1)):
            return True
        d += max(1, getattr(part, "ndim", 1)) if "bool" in str(getattr(part, "dtype", "")) else 1
    return False


class Combined(Exception):
    """A row is made of several samples."""


def at_first(origin: Origin, known: dict[int, Any]) -> str:
    """By which function, as far as its line is known."""
    while True:
        below = [o for o in (*origin.parents, *origins_in((origin.args, origin.kwargs))) if bool((known[id(o)] == MANY).any())]
        if not below:
            break
        origin = below[0]
    return f"by {origin.name}" + (f" at {origin.site[0]}:{origin.site[1]}" if origin.site else "")


def rows_of(T: Any, use: Use, batch_dim: int) -> list[int] | None:
    """Of which samples the rows of a use's data without gradient are; None when that is not known.  Combined of several."""
    N, known = use.run.size or 1, {}        # type: ignore[var-annotated]
    found = [NOBODY] * N
    for origin in use.origins:
        try:
            rows = grouped(use, ids_of(T, origin, batch_dim, origin.device, known))
        except RuntimeError:
            rows = None
        if rows is None or bool((rows == UNKNOWN).any()):
            return None
        most = together(T, rows, 1).squeeze(1)
        if bool((most == MANY).any()):
            raise Combined(f"samples are combined {at_first(origin, known)}")
        for r, n in enumerate(most.tolist()):
            if NOBODY not in (n, found[r]) and n != found[r]:
                return None
            found[r] = max(n, found[r])
    return found


def grouped(use: Use, ids: Any) -> Any:
    """ids (N, everything else), as the use's numbers are taken to be; None when nothing is claimed."""
    kind, N = use.kind, use.run.size
    if bool((ids == NOBODY).all()):
        return ids.new_full((N, 1), NOBODY)
    if kind.kind == "again" or isinstance(kind, Elementwise):
        axis = kind.axes(use)[0]
        if axis is None or N is None:
            return None
        if ids.ndim == len(use.shapes[0]) and axis != "rows" and ids.shape[axis] in (1, use.shapes[0][axis]):
            sizes = [use.shapes[0][d] if d == axis else n for d, n in enumerate(ids.shape)]
            return along(ids.expand(sizes), axis, N).reshape(N, -1)
        return along(ids.expand(use.shapes[0]), axis, N).reshape(N, -1)
    if kind.kind in ("conv", "norm") and not (kind.kind == "norm" and use.meta[0] == "last"):
        return None if use.grouped(ids.shape[0]) is None else ids.reshape(N, -1)
    if kind.kind == "embedding":
        ids = ids.unsqueeze(-1)
    rows = samples_first(use, ids, use.meta[1] if kind.kind == "norm" else 1)
    return None if rows is None else rows.reshape(N, -1)


def put_in_order(cap: Any, run: Run, inputs: list[tuple[list[int] | None, list[int]]]) -> None:
    """find_order(), or refuse."""
    try:
        find_order(cap, run, inputs)
    except Combined as why:
        refuse(run, str(why))


def find_order(cap: Any, run: Run, inputs: list[tuple[list[int] | None, list[int]]]) -> None:
    """Find of which sample each row of the outputs is, and tell the uses where each sample has its rows.

    inputs  of each of the model's inputs with gradient: (where its rows are in the outputs, of which samples they are); None
            of rows that are not apart there
    """
    T, N = cap.engine.torch, run.size or 1
    evidence = [entry for entry in inputs if entry[0] is not None]
    if run.by and len(evidence) < len(inputs):
        return refuse(run, f"samples are combined, or repeated{after(run)}")
    if len(evidence) < len(inputs) and all(use.proven for use in run.uses):
        return refuse(run, "samples are combined, or repeated, before they reach a layer")
    for use in run.uses:
        if use.rows is not None:
            known: dict[int, Any] = {}
            for origin in use.origins:
                ids = ids_of(T, origin, cap.batch_dim, origin.device, known)
                ids = ids.reshape(-1) if use.kind.kind == "embedding" else ids.reshape(len(use.rows), -1).amax(1)
                if len(ids) == len(use.rows) and not bool((ids < NOBODY).any()):
                    evidence.append((use.rows, ids.tolist()))
        elif use.origins and use.proven:
            rows = rows_of(T, use, cap.batch_dim)
            if rows is not None:
                evidence.append((use.back, rows))
            elif run.by:
                return refuse(run, f"it is unknown which samples the rows of {use.name} belong to after {run.by}")
    order, nobodys, lost = [NOBODY] * N, set(), set()
    for back, rows in evidence:
        for r, n in enumerate(rows):
            k = r if back is None else back[r]
            if NOBODY in (n, k):
                if n != k and rows.count(NOBODY) < N:
                    nobodys.add(k)
                    lost.add(n)
                continue
            if order[k] not in (n, NOBODY):
                return refuse(run, f"samples in different orders are combined{after(run)}")
            order[k] = n
    for origin in run.joined:
        rows = joined(T, origin, cap.batch_dim, N)
        if not told(rows, order):
            return refuse(run, f"samples in different orders are combined{after(run)}")
    missing = set(range(N)).difference(order)
    if order.count(NOBODY) == N and run.by:
        return refuse(run, f"it is unknown which samples the outputs belong to{after(run)}")
    if order.count(NOBODY) == N or all(n in (k, NOBODY) for k, n in enumerate(order)) and not run.by:
        order = list(range(N))
    elif len(missing) == 1 == order.count(NOBODY) and order.index(NOBODY) not in nobodys and not missing & lost:
        order[order.index(NOBODY)] = missing.pop()
    elif missing:
        return refuse(run, f"samples are repeated or left out{after(run)}" if NOBODY not in order or nobodys else
                      f"it is unknown which samples some outputs belong to{after(run)}")
    if any(use.proven and cut(use.back) for use in run.uses):
        return refuse(run, f"samples are left out{after(run)}")
    at = sorted(range(N), key=order.__getitem__)    # where each sample is in the outputs
    run.turn = None if at == sorted(at) else at
    for i, use in enumerate(run.uses):
        if not use.proven:
            if use.apart and (run.turn or run.by and i >= run.since):
                use.apart, use.why = False, f"its samples could not be found{after(run)}"
            continue
        rows = list(range(N)) if use.back is None else whole(use.back)
        place = sorted(range(N), key=rows.__getitem__)          # of each row of the outputs
        turn = [place[k] for k in at]
        use.turn = None if turn == sorted(turn) else turn


def cut(back: list[int] | None) -> bool:
    """Are there rows without gradient, so that where those go which are elsewhere might be nobody's place?"""
    return back is not None and NOBODY in back and any(k not in (r, NOBODY) for r, k in enumerate(back))


def whole(back: list[int]) -> list[int]:
    """With the rows that no gradient came to at the places that are left."""
    left = iter(sorted(set(range(len(back))).difference(back)))
    return [next(left) if k == NOBODY else k for k in back]


def joined(T: Any, origin: Origin, batch_dim: int, N: int) -> list[int] | None:
    """The samples along the one dimension of a tensor that has them."""
    ids = ids_of(T, origin, batch_dim, origin.device, {})
    if bool((ids == NOBODY).all()):
        return [NOBODY] * N
    if ids.ndim <= batch_dim or ids.shape[batch_dim] % N:
        return None
    rows = ids.movedim(batch_dim, 0).reshape(N, -1)
    same = bool((rows == rows[:, :1]).all()) and not bool((rows < NOBODY).any())
    found: list[int] | None = rows[:, 0].tolist() if same else None
    return found


def unasked(cap: Any, run: Run) -> None:
    """No backward pass could tell where the samples are: only what has the model's input as its data is known after a move."""
    T, N = cap.engine.torch, run.size or 1
    try:
        first = {id(use): rows_of(T, use, cap.batch_dim) for use in run.uses if use.origins}
    except Combined as why:
        return refuse(run, str(why))
    if not run.by:
        return
    orders = [*first.values(), *(joined(T, origin, cap.batch_dim, N) for origin in run.joined)]
    if not all(told(rows, orders[0]) for rows in orders):
        return refuse(run, f"samples in different orders may be combined{after(run)}")
    for use in run.uses[run.since:]:
        rows = None if use.live else first.get(id(use))
        if rows is not None and sorted(rows) == list(range(N)):
            turn = sorted(range(N), key=rows.__getitem__)
            use.turn = None if turn == sorted(turn) else turn
        else:
            return refuse(run, f"its samples could not be found{after(run)}")


def told(rows: list[int] | None, other: list[int] | None) -> bool:
    """Is it known that both are of the same samples, as far as they are of any?"""
    return rows is not None and other is not None and all(n == m or NOBODY in (n, m) for n, m in zip(rows, other))


def after(run: Run) -> str:
    return f" (after {run.by})" if run.by else ""


def refuse(run: Run, why: str) -> None:
    for use in run.uses:
        use.apart, use.mixes, use.why, use.turn = False, True, why, None
