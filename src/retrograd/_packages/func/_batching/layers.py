"""Rules of layers: convolutions, pooling, normalization, embedding, losses."""
from __future__ import annotations

from typing import Any

from retrograd import _functions as F
from retrograd._engine.tensor import TensorBase

from .level import Level, Loop, Rule
from .pointwise import widened
from .shapes import argument

BATCH_NORM = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, were not "
    "batched.\nIf you are using a module and do not need eval mode, please set `track_running_stats` to be False.If you are "
    "using a prebuilt module and do not need eval mode, please see the functorch website for resources on how to "
    "patch your module to "
    "work with vmap")


def convolution(spatial: int, transposed: bool) -> Rule:
    """(B, N, C, ...) as (B N, C, ...), or, where each sample has a weight, as (N, B C, ...) in groups."""
    def rule(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        names = ("input", "weight", "bias", "stride", "padding", *(("output_padding", "groups", "dilation") if transposed else (
            "dilation", "groups")))
        given = dict(zip(names, args)) | kwargs
        x, w, b = given.pop("input"), given.pop("weight"), given.pop("bias", None)
        rank = x.array.ndim
        if rank not in (spatial + 1, spatial + 2) or w.array.ndim != spatial + 2:
            raise Loop
        single = rank == spatial + 1
        groups = given.pop("groups", 1)
        B = level.size
        if not level.has(w):
            value = x.value if level.has(x) else level.lift(x)
            flat = value if single else value.flatten(0, 1)
            shared = None if level.has(b) else b
            y = func(flat, w, shared, groups=groups, **given)
            y = y if single else y.unflatten(0, (B, x.array.shape[0]))
        else:
            if not single and x.array.shape[0] == 0 or not B:
                raise Loop
            value = level.lift(x)                           # (B, N, C, ...)
            value = value.unsqueeze(1) if single else value
            value = value.transpose(0, 1).flatten(1, 2)     # (N, B C, ...)
            shared = None
            y = func(value, w.value.flatten(0, 1), None, groups=B * groups, **given)
            y = y.unflatten(1, (B, y.array.shape[1] // B)).transpose(0, 1)
            y = y.squeeze(1) if single else y
        if b is not None and shared is None:
            at = b.value if level.has(b) else b.unsqueeze(0)
            y = y + at[(slice(None), *[None] * (not single), slice(None), *[None] * spatial)]
        return level.of(y)
    return rule


def pooled(spatial: int) -> Rule:
    """Functions of (N, C, ...) or (C, ...) that take each sample of N by itself."""
    def rule(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        x = args[0] if args else kwargs.pop("input")
        if not level.has(x) or level.concerns(args[1:]) or level.concerns(tuple(kwargs.values())):
            raise Loop
        rank = x.array.ndim
        if rank == spatial + 1:
            return level.of(func(x.value, *args[1:], **kwargs))
        if rank != spatial + 2:
            raise Loop
        return level.of(_unfolded(func(x.value.flatten(0, 1), *args[1:], **kwargs), level.size, x.array.shape[0]))
    return rule


def _unfolded(out: Any, *sizes: int) -> Any:
    if isinstance(out, (tuple, list)):
        return type(out)([_unfolded(x, *sizes) for x in out])
    return out.unflatten(0, sizes)


def folded(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Functions that take each sample of the first dim by itself."""
    x = args[0]
    if not level.has(x) or x.array.ndim < 3 or level.concerns(args[1:]) or level.concerns(tuple(kwargs.values())):
        raise Loop
    return level.of(_unfolded(func(x.value.flatten(0, 1), *args[1:], **kwargs), level.size, x.array.shape[0]))


def layer_norm(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    names = ("input", "normalized_shape", "weight", "eps") if name == "rms_norm" else (
        "input", "normalized_shape", "weight", "bias", "eps", "cudnn_enable")
    given = dict(zip(names, args)) | kwargs
    x, shape, w, b = given.pop("input"), given.pop("normalized_shape"), given.pop("weight", None), given.pop("bias", None)
    value = level.lift(x)
    if not level.concerns((w, b)):
        more = {} if name == "rms_norm" else {"bias": b}
        return level.of(func(value, shape, weight=w, **more, **given))
    y = func(value, shape, **given)
    return level.of(_scaled(level, y, w, b, [None] * (x.array.ndim - len(tuple(shape))), []))


def _scaled(level: Level, y: Any, w: Any, b: Any, before: list[None], after: list[None]) -> Any:
    """y * w + b, either of which may be None, with dims of one between the batch and theirs, and after."""
    for factor, p in ((True, w), (False, b)):
        if p is not None:
            p = p.value if level.has(p) else p.unsqueeze(0)
            p = p[(slice(None), *before, *[slice(None)] * (p.array.ndim - 1), *after)]
            y = y * p if factor else y + p
    return y


def group_norm(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = dict(zip(("input", "num_groups", "weight", "bias", "eps"), args)) | kwargs
    x, w, b = given.pop("input"), given.pop("weight", None), given.pop("bias", None)
    value = level.lift(x).flatten(0, 1)
    if not level.concerns((w, b)):
        return level.of(func(value, weight=w, bias=b, **given).unflatten(0, (level.size, x.array.shape[0])))
    y = func(value, **given).unflatten(0, (level.size, x.array.shape[0]))
    return level.of(_scaled(level, y, w, b, [None], [None] * (x.array.ndim - 2)))


def batch_norm(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Channels of samples are channels of their own: (N, B C, ...)."""
    names = ("input", "running_mean", "running_var", "weight", "bias",
             "use_input_stats" if name == "instance_norm" else "training", "momentum", "eps")
    given = dict(zip(names, args)) | kwargs
    x, mean, var = given.pop("input"), given.pop("running_mean", None), given.pop("running_var", None)
    w, b = given.pop("weight", None), given.pop("bias", None)
    training = given.get("use_input_stats", True) if name == "instance_norm" else given.get("training", False)
    B, C = level.size, x.array.shape[1] if x.array.ndim > 1 else 0
    if x.array.ndim < 2 or not B or not C:
        raise Loop
    if training and mean is not None and level.has(x) and not (level.has(mean) and level.has(var)):
        raise RuntimeError(BATCH_NORM)
    value = level.lift(x).transpose(0, 1).flatten(1, 2)
    stats = [None if s is None else level.lift(s).reshape(-1) for s in (mean, var)]
    y = func(value, *stats, **given).unflatten(1, (B, C)).transpose(0, 1)
    for s, flat in zip((mean, var), stats):
        if training and s is not None and flat is not None and level.has(s):
            s.value.copy_(flat.view(s.value.array.shape))
    return level.of(_scaled(level, y, w, b, [None], [None] * (x.array.ndim - 2)))


def embedding(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = dict(zip(("input", "weight", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"), args)) | kwargs
    i, w = given.pop("input"), given.pop("weight")
    if not level.has(w):
        return level.of(func(i.value, w, **given))
    if given.get("padding_idx") is not None or given.get("max_norm") is not None or given.get("scale_grad_by_freq"):
        raise Loop
    rows = w.array.shape[0]
    index = level.lift(i)
    start = F.arange(level.size) * rows
    index = index + start[(slice(None), *[None] * (index.array.ndim - 1))]
    return level.of(func(index, w.value.flatten(0, 1)))


# Losses that go element by element, and where their reduction stands.
ELEMENTWISE = {
    "l1_loss": 4, "mse_loss": 4, "smooth_l1_loss": 4, "huber_loss": 2, "soft_margin_loss": 4, "binary_cross_entropy": 5,
    "binary_cross_entropy_with_logits": 5, "hinge_embedding_loss": 5, "kl_div": 4, "poisson_nll_loss": 7, "gaussian_nll_loss": 5,
}


def elementwise_loss(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    at = ELEMENTWISE[name]
    if func is getattr(F, name, None) or len(args) > 3 or any(kwargs.get(k) is not None for k in ("size_average", "reduce")):
        raise Loop
    reduction = argument(args, kwargs, at, "reduction", "mean")
    x, target = args[0], args[1] if len(args) > 1 else kwargs["target"]
    more = {k: v for k, v in kwargs.items() if k not in ("reduction", "target")}
    rank, shape = x.array.ndim, x.array.shape
    factors = [v for v in (*args[2:], *more.values()) if isinstance(v, TensorBase)]
    if shape != target.array.shape or any(v.array.shape != shape[-v.array.ndim:] or not v.array.ndim for v in factors):
        raise Loop
    rest = [widened(level.lift(v), rank) if isinstance(v, TensorBase) else v for v in args[2:]]
    more = {k: widened(level.lift(v), rank) if isinstance(v, TensorBase) else v for k, v in more.items()}
    values = func(level.lift(x), level.lift(target), *rest, reduction="none", **more)
    if reduction == "none" or not rank:
        return level.of(values)
    if reduction == "batchmean":
        return level.of(values.flatten(1).sum(1) / x.array.shape[0])
    flat = values.flatten(1)
    return level.of(flat.sum(1) if reduction == "sum" else flat.mean(1))


def class_loss(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """cross_entropy, nll_loss: all samples as one batch, and the mean taken of each part of it."""
    if len(args) > 3 or any(kwargs.get(k) is not None for k in ("size_average", "reduce")):
        raise Loop
    given = dict(zip(("input", "target", "weight"), args)) | kwargs
    x, target, weight = given.pop("input"), given.pop("target"), given.pop("weight", None)
    reduction, ignored = given.pop("reduction", "mean"), given.get("ignore_index", -100)
    rank = x.array.ndim
    if level.has(weight) or not rank or target.array.shape == x.array.shape and rank > 1 and target.array.dtype.kind == "f":
        if level.has(weight) or rank == 1:
            raise Loop
    if target.array.dtype.kind == "f" and (rank == 1 or weight is not None):
        raise Loop
    probable = target.array.dtype.kind == "f"
    value, goal = level.lift(x), level.lift(target)
    single = rank == 1
    if not single:
        value, goal = value.flatten(0, 1), goal.flatten(0, 1)
    losses = func(value, goal, weight=weight, reduction="none", **given)
    if not single:
        losses = losses.unflatten(0, (level.size, x.array.shape[0]))
        goal = goal.unflatten(0, (level.size, x.array.shape[0]))
    if reduction == "none":
        return level.of(losses)
    flat = losses.flatten(1) if losses.array.ndim > 1 else losses.unsqueeze(-1)
    total = flat.sum(1)
    if reduction == "sum":
        return level.of(total)
    if probable:
        return level.of(total / flat.array.shape[1])
    labels = goal.flatten(1) if goal.array.ndim > 1 else goal.unsqueeze(-1)
    counted = labels != ignored
    if weight is None:
        return level.of(total / counted.sum(1).to(total.dtype))
    scale = weight[F.where(counted, labels, 0)] * counted
    return level.of(total / scale.sum(1))


RULES: dict[str, Rule] = {f"conv{n}d": convolution(n, False) for n in (1, 2, 3)}
RULES |= {f"conv_transpose{n}d": convolution(n, True) for n in (1, 2, 3)}
for _n in (1, 2, 3):
    for _name in ("max_pool", "avg_pool", "adaptive_avg_pool", "adaptive_max_pool", "lp_pool"):
        RULES[f"{_name}{_n}d"] = RULES[f"{_name}{_n}d_with_indices"] = pooled(_n)
RULES["im2col"] = pooled(2)
RULES |= {name: folded for name in ("interpolate", "channel_shuffle", "local_response_norm")}
RULES |= {"layer_norm": layer_norm, "rms_norm": layer_norm, "group_norm": group_norm, "batch_norm": batch_norm,
          "embedding": embedding}
RULES |= {name: elementwise_loss for name in ELEMENTWISE} | {"cross_entropy": class_loss, "nll_loss": class_loss}
