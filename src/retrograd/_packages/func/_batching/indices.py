"""Rules of indexing, gathering and scattering."""
from __future__ import annotations

from typing import Any

import numpy as np

from retrograd import _functions as F
from retrograd._engine.tensor import TensorBase

from .level import NO_ROOM, Level, Loop, Rule
from .pointwise import widened
from .shapes import dim_of

MASK = ("vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with a "
        "boolean mask.")

MASKED = (
    "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for each batch this "
    "would return a differently shaped Tensor. Please file an issue at https://github.com/pytorch/pytorch/issues "
    "if you need this "
    "feature.")


def getitem(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, where = args
    items = list(where) if isinstance(where, tuple) else [where]
    special = [w for w in items if isinstance(w, (TensorBase, list)) or hasattr(w, "__array__")]
    if not special:
        return level.of(func(x.value, (slice(None), *items)))
    return _chosen(level, x, items)


def _chosen(level: Level, x: Any, items: list[Any]) -> Any:
    """x[items], some of which are tensors: first the ints, slices and None, then these."""
    if any(not isinstance(w, (TensorBase, int, slice, type(None), type(Ellipsis))) or isinstance(w, bool) for w in items):
        raise Loop
    if any(isinstance(w, TensorBase) and w.array.dtype.kind == "b" for w in items):
        if any(level.has(w) for w in items if isinstance(w, TensorBase) and w.array.dtype.kind == "b"):
            raise RuntimeError(MASK)
        raise Loop
    rank = x.array.ndim
    taken = sum(w is not None and w is not Ellipsis for w in items)
    if Ellipsis not in [w for w in items if not isinstance(w, TensorBase)]:
        items = [*items, Ellipsis]
    full: list[Any] = []
    for w in items:
        if w is Ellipsis:
            full += [slice(None)] * (rank - taken)
        else:
            full.append(w)
    basic = [slice(None) if isinstance(w, TensorBase) else w for w in full]
    value = level.lift(x)[(slice(None), *basic)]
    tensors: list[Any] = [w if isinstance(w, TensorBase) else None for w in full if not (isinstance(w, int))]
    at = [i for i, w in enumerate(tensors) if w is not None]
    most = max(tensors[i].array.ndim for i in at)
    together = at[-1] - at[0] == len(at) - 1
    batch = F.arange(level.size).view(-1, *[1] * most)
    index = [slice(None) if w is None else widened(w.value, most) if level.has(w) else w for w in tensors]
    if at[0] == 0 or not together:
        out = value[(batch, *index)]
        if together or at[0] == 0:
            return level.of(out)
        return level.of(out)
    out = value[(batch, *index)]                            # (B, dims of the index, the others): to their place
    lead = at[0]
    order = [0, *range(1 + most, 1 + most + lead), *range(1, 1 + most), *range(1 + most + lead, out.array.ndim)]
    return level.of(out.permute(order))


def setitem(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, where, value = args
    items = list(where) if isinstance(where, tuple) else [where]
    if not level.has(x):
        raise RuntimeError(NO_ROOM.format("inplace arithmetic"))
    if any(isinstance(w, TensorBase) and w.array.dtype.kind == "b" and level.has(w) for w in items):
        raise RuntimeError(MASK)
    if any(isinstance(w, (TensorBase, list)) or hasattr(w, "__array__") for w in items):
        raise Loop
    place = (slice(None), *items)
    if level.has(value):
        rank = x.value[place].array.ndim - 1
        if value.array.ndim > rank:
            raise Loop
        value = widened(value.value, rank)
    func(x.value, place, value)
    return None


def index_select(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = dict(zip(("input", "dim", "index"), args)) | kwargs
    x, d, index = given["input"], given["dim"], given["index"]
    rank = x.array.ndim
    if not rank or index.array.ndim != 1:
        raise Loop
    at = dim_of(d, rank)
    if not level.has(index):
        return level.of(F.index_select(x.value, at, index))
    value = level.lift(x).movedim(at, 1)
    out = value[F.arange(level.size)[:, None], index.value]
    return level.of(out.movedim(1, at))


def along(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """gather, scatter and their kin: x, dim, tensors of x's rank"""
    names = ("input", "indices", "dim") if name == "take_along_dim" else ("input", "dim", "index", "src", "reduce")
    given = dict(zip(names, args)) | kwargs
    x = given.pop("input")
    rank = x.array.ndim
    if not rank or any(isinstance(v, TensorBase) and v.array.ndim != rank for v in given.values()) or given.get("dim") is None:
        raise Loop
    if name.endswith("_") and not level.has(x):
        raise Loop
    more = {k: level.lift(v) if isinstance(v, TensorBase) else v for k, v in given.items()}
    more["dim"] = dim_of(given["dim"], rank)
    if name.startswith("scatter") and "src" in more and not isinstance(more["src"], TensorBase):
        more["value"] = more.pop("src")
    source = level.lift(x)
    out = func(source, **more)
    return x if name.endswith("_") else level.of(out)


def index_add(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """index_add, index_copy, index_fill with an index that all samples share"""
    given = dict(zip(("input", "dim", "index", "source"), args)) | kwargs
    x, index, source = given.pop("input"), given["index"], given.pop("source", None)
    rank = x.array.ndim
    if not rank or level.has(index) or source is None or isinstance(source, TensorBase) and source.array.ndim != rank and (
            name.startswith("index_fill") is False) or name.startswith("index_fill") and level.has(source) or (
                name.endswith("_") and not level.has(x)) or set(given) - {"dim", "index", "alpha"}:
        raise Loop
    more = {k: v for k, v in given.items() if k == "alpha"}
    other = source if name.startswith("index_fill") else level.lift(source)
    out = func(level.lift(x), dim_of(given["dim"], rank), index, other, **more)
    return x if name.endswith("_") else level.of(out)


def slice_scatter(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """slice_scatter, select_scatter: input, src, dim"""
    x, src = args[:2]
    dim = args[2] if len(args) > 2 else kwargs.get("dim", 0)
    more = {k: v for k, v in kwargs.items() if k != "dim"}
    return level.of(func(level.lift(x), level.lift(src), dim_of(dim, x.array.ndim), *args[3:], **more))


def masked_select(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, mask = args
    if level.has(mask):
        raise RuntimeError(MASKED)
    shape = np.broadcast_shapes(x.array.shape, mask.array.shape)
    return level.of(widened(x.value, len(shape)).expand(level.size, *shape)[:, mask.expand(shape)])


def one_hot(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) + len(kwargs) < 2:
        raise Loop
    return level.of(func(args[0].value, *args[1:], **kwargs))


RULES: dict[str, Rule] = {"__getitem__": getitem, "__setitem__": setitem, "index_select": index_select, "one_hot": one_hot,
                          "masked_select": masked_select}
RULES |= {name: along for name in ("gather", "take_along_dim", "scatter", "scatter_", "scatter_add", "scatter_add_",
                                   "scatter_reduce", "scatter_reduce_")}
RULES |= {name: index_add for name in ("index_add", "index_add_", "index_copy", "index_copy_", "index_fill", "index_fill_")}
RULES |= {name: slice_scatter for name in ("slice_scatter", "select_scatter")}
