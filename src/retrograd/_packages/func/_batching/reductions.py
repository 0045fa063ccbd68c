"""Rules of functions that go along dims: reductions, scans, sorting."""
from __future__ import annotations

from typing import Any

from retrograd import _functions as F

from .level import Level, Loop, Rule
from .shapes import argument, by_dims, dims_of

# The place of the dim argument, for functions that without one take all elements.
ALL = {1: "sum nansum mean nanmean prod all any amax amin argmax argmin count_nonzero std var std_mean var_mean median nanmedian "
          "max min logsumexp special_logsumexp",
       2: "norm linalg_vector_norm quantile nanquantile"}
ONE = {1: "cumsum cumsum_ cumprod cumprod_ cummax cummin logcumsumexp softmax log_softmax softmin special_softmax "
          "special_log_softmax",
       2: "kthvalue"}
LAST = {1: "sort argsort mode glu", 2: "topk"}
PAIRS = {"max": "amax", "min": "amin"}


def reduction(at: int) -> Rule:
    def rule(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        x = args[0] if args else kwargs.pop("input")
        if name in PAIRS and (level.concerns(args[1:]) or hasattr(argument(args, kwargs, 1, "other", None), "array")):
            from .pointwise import pointwise
            return pointwise(level, func, name, args, kwargs)
        if not level.has(x) or "out" in kwargs or level.concerns(args[1:]):
            raise Loop
        if kwargs and level.concerns(tuple(kwargs.values())):
            raise Loop
        rank, value = x.array.ndim, x.value
        dim = argument(args, kwargs, at, "dim axis", None)
        if isinstance(dim, bool) or name in ("norm", "linalg_vector_norm") and not all(
                p is None or isinstance(p, (int, float)) or p == "fro" for p in (argument(args, kwargs, 1, "p ord", None),)):
            raise Loop
        given = list(args[1:at]) if args else []
        keep = argument(args, kwargs, at + (2 if name in ("std", "var", "std_mean", "var_mean") and len(args) > 2 and isinstance(
            args[2], bool) and len(args) > 3 else 1), "keepdim keepdims", False)
        more = {k: v for k, v in kwargs.items() if k not in ("dim", "axis", "keepdim", "keepdims", "input")}
        if name in ("std", "var", "std_mean", "var_mean") and len(args) > 2:
            more["correction"] = int(args[2])
            keep = argument(args, kwargs, 3, "keepdim", False)
        if dim is None or (isinstance(dim, (tuple, list)) and not dim):
            flat = value.flatten(1) if rank > 1 else value if rank else value.unsqueeze(-1)
            if name in PAIRS:
                func = getattr(F, PAIRS[name])
            if name in ("std", "var", "std_mean", "var_mean") and "unbiased" in more:
                more["correction"] = int(more.pop("unbiased"))
            out = func(flat, *given, dim=1, **more)
            if name in ("median", "nanmedian"):
                out = out[0]
            if keep:
                out = _kept(out, rank)
            return level.of(out)
        dims = dims_of(dim, rank)
        if not rank:
            value, keep = value.unsqueeze(-1), False
        if keep:
            more["keepdim"] = True
        return level.of(func(value, *given, dim=dims, **more))
    return rule


def _kept(out: Any, rank: int) -> Any:
    """Results of whole samples, with dims of one where the samples had theirs."""
    if isinstance(out, (tuple, list)):
        return type(out)([_kept(x, rank) for x in out])
    return out.view(out.array.shape + (1,) * rank)


def softmax(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """softmax, whose dim may be left out in F."""
    return _ONE(level, func, name, args, kwargs)


def normalized(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """F.normalize(x, p, dim=1)"""
    return _NORMALIZE(level, func, name, args, kwargs)


_ONE = by_dims(1, "dim", None)
_NORMALIZE = by_dims(2, "dim", 1)
RULES: dict[str, Rule] = {name: reduction(at) for at, names in ALL.items() for name in names.split()}
RULES |= {name: by_dims(at, "dim", None) for at, names in ONE.items() for name in names.split()}
RULES |= {name: by_dims(at, "dim", -1) for at, names in LAST.items() for name in names.split()}
RULES |= {"linalg_matrix_norm": by_dims(2, "dim", (-2, -1)), "normalize": _NORMALIZE}
RULES |= {"aminmax": by_dims(1, "dim", None), "kthvalue": by_dims(2, "dim", -1),
          "msort": lambda level, func, name, args, kwargs: level.of(
              args[0].value.sort(1 if args[0].array.ndim else 0)[0])}
