"""Arguments of PyTorch's functions, by position or by name, in one order."""
from __future__ import annotations

from typing import Any


def bind(names: tuple[str, ...], args: Any, kwargs: Any) -> list[Any]:
    """Arguments in the order of `names`, None where not given."""
    found = list(args) + [None] * (len(names) - len(args))
    for i, name in enumerate(names):
        if name in kwargs:
            found[i] = kwargs[name]
    return found


def embedding_arguments(func: Any, args: Any, kwargs: Any) -> tuple[Any, Any, Any, bool]:
    """(ids, weight, padding_idx, scale_grad_by_freq) of F.embedding and of torch.embedding, whose order differs."""
    first = args[0] if args else None
    if first is not None and first.is_floating_point():
        weight, ids, padding, scale, _ = bind(
            ("weight", "indices", "padding_idx", "scale_grad_by_freq", "sparse"), args, kwargs)
        padding = None if padding in (None, -1) else padding
    else:
        ids, weight, padding, _, _, scale, _ = bind(
            ("input", "weight", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"), args, kwargs)
    if padding is not None and padding < 0:
        padding += weight.shape[0]
    return ids, weight, padding, bool(scale)
