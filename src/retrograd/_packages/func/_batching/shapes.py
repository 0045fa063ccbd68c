"""Rules of views and of functions that move elements about: dims are counted behind the batch."""
from __future__ import annotations

from typing import Any

from retrograd import _functions as F
from retrograd._tensor import Tensor

from .level import Batched, Level, Loop, Rule
from .pointwise import widened


def dim_of(d: Any, rank: int) -> int:
    """The value's dim for a sample's; of a sample of no dims there is one to count."""
    rank = max(rank, 1)
    if type(d) is not int or not -rank <= d < rank:
        raise Loop                                          # which says what is wrong with it
    return d % rank + 1


def dims_of(dims: Any, rank: int) -> Any:
    return [dim_of(d, rank) for d in dims] if isinstance(dims, (tuple, list)) else dim_of(dims, rank)


def listed(args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> list[Any]:
    """Sizes or dims that come as one list or one by one."""
    if name in kwargs:
        return list(kwargs[name])
    return list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)


def argument(args: tuple[Any, ...], kwargs: dict[str, Any], at: int, names: str, default: Any) -> Any:
    """The argument at a place, or under one of the names."""
    if len(args) > at:
        return args[at]
    for name in names.split():
        if name in kwargs:
            return kwargs[name]
    return default


def viewed(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """view, reshape"""
    x = args[0]
    sizes = listed(args[1:], kwargs, "size" if "view" in name else "shape")
    if sizes and not isinstance(sizes[0], int) or "dtype" in kwargs:
        raise Loop
    return level.of(func(x.value, (level.size, *sizes)))


def viewed_as(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """view_as, reshape_as, expand_as"""
    x, other = args
    plain, shape = name.removesuffix("_as"), other.array.shape
    method = getattr(Tensor, plain)
    return RULES[plain](level, method, plain, (x, *shape), {}) if level.has(x) else method(x, shape)


def expanded(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    sizes = listed(args[1:], {k: v for k, v in kwargs.items() if k == "size"}, "size")
    return level.of(func(widened(args[0].value, len(sizes)), (level.size, *sizes)))


def repeated(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """repeat, tile"""
    counts = listed(args[1:], kwargs, "dims" if name == "tile" else "repeats")
    value = widened(args[0].value, len(counts))
    missing = value.array.ndim - 1 - len(counts)
    if missing and name == "repeat":
        raise Loop
    return level.of(func(value, (1, *[1] * missing, *counts)))


def permuted(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    dims = listed(args[1:], kwargs, "dims")
    rank = args[0].array.ndim
    if len(dims) != rank:
        raise Loop
    return level.of(func(args[0].value, (0, *dims_of(dims, rank))))


def turned(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """t, T, mT, H, mH, adjoint: of a matrix"""
    x, in_place = args[0], name == "t_"
    rank = x.array.ndim
    if rank > 2 and name in ("T.__get__", "numpy_T.__get__"):
        return level.of(x.value.permute(0, *range(rank, 0, -1)))
    if rank > 2 and name in ("mT.__get__", "mH.__get__", "adjoint"):
        return level.of(x.value.mT if name == "mT.__get__" else x.value.mH)
    if rank > 2 or (rank < 2 and name in ("mT.__get__", "mH.__get__", "adjoint")) or name == "t_copy" or (
            rank == 1 and name in ("H.__get__",)):
        raise Loop
    if in_place:
        if rank == 2:
            x.value.transpose_(1, 2)
        return level.renewed(x)
    y = x.value.transpose(1, 2) if rank == 2 else x.value.view_as(x.value)
    return level.of(y.conj() if name in ("H.__get__", "mH.__get__", "adjoint") else y)


def strided(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """as_strided: offsets and strides are those of the sample's own memory"""
    given = dict(zip(("input", "size", "stride", "storage_offset"), args)) | kwargs
    value = given["input"].value
    offset = given.get("storage_offset") or 0
    return level.of(func(value, (level.size, *given["size"]), (value.stride()[0], *given["stride"]),
                         value.storage_offset() + offset))


def resized(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x = args[0]
    sizes = args[1].array.shape if name == "resize_as_" else listed(args[1:], {}, "size")
    if not level.has(x):
        return func(*args, **kwargs)
    x.value.resize_((level.size, *sizes))
    return level.renewed(x)


def by_dims(at: int, names: str, default: Any, count: int = 1) -> Rule:
    """Functions that take a dim, or several, at a place or by name; count: so many dims in a row."""
    def rule(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        x: Any = args[0] if args else kwargs.get("input")
        if not level.has(x) or level.concerns(args[1:]) or (kwargs and level.concerns(tuple(kwargs.values()))):
            raise Loop
        rank = x.array.ndim
        given, more = list(args), dict(kwargs)
        for k in range(count):
            word = names.split()[k] if count > 1 else names
            usual = default[k] if count > 1 else default
            d = argument(args, kwargs, at + k, word, usual)
            if d is None or (isinstance(d, (tuple, list)) and not d):
                raise Loop
            moved = dims_of(d, rank)
            if len(args) > at + k:
                given[at + k] = moved
            else:
                for w in word.split():
                    more.pop(w, None)
                more[word.split()[0]] = moved
        value = x.value
        if not rank:
            value = value.unsqueeze(-1)
        given[0:1] = [value]
        more.pop("input", None)
        out = level.of(func(*given, **more))
        if rank:
            return level.renewed(x) if name.endswith("_") else out
        return _without_dim(level, out)
    return rule


def _without_dim(level: Level, out: Any) -> Any:
    """Results for samples that have no dim, where one was lent to them."""
    if type(out) is Batched:
        return level.of(out.value.squeeze(-1)) if out.array.ndim else out
    return type(out)([_without_dim(level, x) for x in out])


def unsqueezed(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x = args[0]
    d = argument(args, kwargs, 1, "dim", None)
    out = func(x.value, dim_of(d, x.array.ndim + 1))
    return level.renewed(x) if name.endswith("_") else level.of(out)


def squeezed(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x = args[0]
    shape = x.array.shape
    d = argument(args, kwargs, 1, "dim", None)
    dims = [i for i, n in enumerate(shape) if n == 1] if d is None else list(d) if isinstance(d, (tuple, list)) else [d]
    out = func(x.value, tuple(dims_of(dims, len(shape)))) if shape else x.value.view_as(x.value)
    return level.renewed(x) if name.endswith("_") else level.of(out)


def flattened(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x = args[0]
    rank = x.array.ndim
    if rank == 0:
        return level.of(x.value.unsqueeze(-1))
    start, end = argument(args, kwargs, 1, "start_dim", 0), argument(args, kwargs, 2, "end_dim", -1)
    return level.of(x.value.flatten(dim_of(start, rank), dim_of(end, rank)))


def trailing(least: int) -> Rule:
    """Functions of the last dims that take batches as they are: of samples with so many dims at least."""
    def rule(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        x = args[0]
        if not level.has(x) or x.array.ndim < least or level.concerns(args[1:]) or level.concerns(tuple(kwargs.values())):
            raise Loop
        out = func(x.value, *args[1:], **kwargs)
        return level.renewed(x) if name.endswith("_") else level.of(out)
    return rule


def several(least: int) -> Rule:
    """As trailing, for functions of several tensors that broadcast their batches."""
    def rule(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tensors = [x for x in (*args, *kwargs.values()) if hasattr(x, "array")]
        rank = max(x.array.ndim for x in tensors)
        if min(x.array.ndim for x in tensors) < least:
            raise Loop
        return level.of(func(*[widened(level.lift(x), rank) if hasattr(x, "array") else x for x in args], **{
            k: widened(level.lift(x), rank) if hasattr(x, "array") else x for k, x in kwargs.items()}))
    return rule


def stacked(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """stack, cat"""
    tensors = args[0] if args else kwargs["tensors"]
    d = argument(args, kwargs, 1, "dim axis", 0)
    rank = max(x.array.ndim for x in tensors)
    if any(x.array.ndim != rank for x in tensors) or "out" in kwargs or (rank == 0 and name != "stack"):
        raise Loop
    at = dim_of(d, rank + 1 if name == "stack" else rank)
    return level.of(func([level.lift(x) for x in tensors], at))


def unflattened(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x = args[0]
    if len(args) > 3:
        raise Loop
    return level.of(func(x.value, dim_of(argument(args, kwargs, 1, "dim", None), x.array.ndim),
                         argument(args, kwargs, 2, "sizes", None)))


def diagonal(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """diagonal, diag_embed: the first two dims, or the last"""
    x = args[0]
    usual = (-2, -1) if name in ("diag_embed", "linalg_diagonal") else (0, 1)
    rank = x.array.ndim + (name == "diag_embed")
    offset = argument(args, kwargs, 1, "offset", 0)
    one, two = (argument(args, kwargs, 2 + k, f"dim{k + 1}", usual[k]) for k in range(2))
    return level.of(func(x.value, offset=offset, dim1=dim_of(one, rank), dim2=dim_of(two, rank)))


def diag(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, offset = args[0], argument(args, kwargs, 1, "diagonal", 0)
    if x.array.ndim == 2:
        return level.of(x.value.diagonal(offset, 1, 2))
    if x.array.ndim != 1:
        raise Loop
    return level.of(F.diag_embed(x.value, offset))


def trace(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if args[0].array.ndim != 2:
        raise Loop
    return level.of(args[0].value.diagonal(0, 1, 2).sum(-1))


def broadcast(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """broadcast_tensors"""
    tensors = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
    rank = max(x.array.ndim for x in tensors)
    return level.of(func(*[widened(level.lift(x), rank) for x in tensors]))


def padded(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    mode = argument(args, kwargs, 2, "mode", "constant")
    if mode == "constant" or name == "constant_pad_nd":
        return level.of(func(args[0].value, *args[1:], **kwargs))
    pads = len(argument(args, kwargs, 1, "pad", ())) // 2
    x = args[0]
    if x.array.ndim == pads + 1:
        return level.of(func(x.value, *args[1:], **kwargs))
    if x.array.ndim != pads + 2:
        raise Loop
    return level.of(func(x.value.flatten(0, 1), *args[1:], **kwargs).unflatten(0, (level.size, x.array.shape[0])))


def rolled(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, shifts, dims = args[0], argument(args, kwargs, 1, "shifts", None), argument(args, kwargs, 2, "dims", None)
    if dims is None or dims == ():
        return level.of(func(x.value.flatten(1) if x.array.ndim else x.value[:, None], shifts, 1).view(x.value.array.shape))
    return level.of(func(x.value, shifts, dims_of(dims, x.array.ndim)))


def flipped(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x = args[0]
    return level.of(func(x.value, dims_of(listed(args[1:], kwargs, "dims"), x.array.ndim)))


def cross(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """linalg.cross, linalg.vecdot, cosine_similarity: two tensors that broadcast, and a dim"""
    a, b = args[:2]
    rank = max(a.array.ndim, b.array.ndim)
    d = argument(args, kwargs, 2, "dim", 1 if name == "cosine_similarity" else -1)
    more = {k: v for k, v in kwargs.items() if k != "dim"}
    if not rank:
        raise Loop
    return level.of(func(*[widened(level.lift(x), rank) for x in (a, b)], dim=dim_of(d, rank), **more))


RULES: dict[str, Rule] = {
    "view": viewed, "reshape": viewed, "view_copy": viewed, "view_as": viewed_as, "reshape_as": viewed_as, "expand_as": viewed_as,
    "expand": expanded, "broadcast_to": expanded, "expand_copy": expanded, "repeat": repeated, "tile": repeated,
    "permute": permuted, "permute_copy": permuted, "unsqueeze": unsqueezed, "unsqueeze_": unsqueezed,
    "unsqueeze_copy": unsqueezed, "squeeze": squeezed, "squeeze_": squeezed, "squeeze_copy": squeezed, "flatten": flattened,
    "ravel": flattened, "unflatten": unflattened, "stack": stacked, "cat": stacked, "concat": stacked, "concatenate": stacked,
    "diagonal": diagonal, "diagonal_copy": diagonal, "linalg_diagonal": diagonal, "diag_embed": diagonal, "diag": diag,
    "trace": trace, "broadcast_tensors": broadcast, "resize_": resized, "resize_as_": resized,
    "as_strided": strided, "as_strided_copy": strided,
    "pad": padded, "constant_pad_nd": padded, "roll": rolled, "flip": flipped,
    "linalg_cross": cross, "linalg_vecdot": cross, "cosine_similarity": cross,
}
RULES |= {name: turned for name in ("t", "t_", "T.__get__", "mT.__get__", "H.__get__", "mH.__get__", "adjoint")}
RULES |= {name: by_dims(1, "dim0 dim1", (None, None), 2) for name in (
    "transpose", "transpose_", "transpose_copy", "swapaxes", "swapaxes_", "swapdims", "swapdims_")}
RULES |= {name: by_dims(1, "source destination", (None, None), 2) for name in ("movedim", "moveaxis")}
RULES |= {name: by_dims(1, "dim", 0) for name in ("unbind", "unbind_copy", "select", "select_copy", "narrow", "narrow_copy")}
RULES |= {name: by_dims(2, "dim", 0) for name in ("chunk", "split", "split_copy", "tensor_split", "split_with_sizes",
                                                  "split_with_sizes_copy", "unsafe_chunk", "unsafe_split")}
RULES |= {"unfold": by_dims(1, "dimension", None), "rot90": by_dims(2, "dims", (0, 1)), "diff": by_dims(2, "dim", -1),
          "slice_copy": by_dims(1, "dim", 0)}
RULES |= {name: trailing(2) for name in ("tril", "triu", "tril_", "triu_")}
RULES |= {name: trailing(3) for name in ("pixel_shuffle", "pixel_unshuffle")}
