"""torch._functorch.vmap: parts of vmap.  What a library puts in their place is not asked: trees are taken apart by pytree."""
from __future__ import annotations

from typing import Any

from retrograd._C._functorch import _add_batch_dim as _add_batch_dim
from retrograd._C._functorch import _remove_batch_dim as _remove_batch_dim
from retrograd._C._functorch import is_batchedtensor as is_batchedtensor
from retrograd._missing import late_names
from retrograd._tensor import Tensor
from retrograd.func import vmap as vmap
from retrograd.func._maps import name_of as _get_name
from retrograd.func._trees import spread as _broadcast_to_and_flatten
from retrograd.utils._pytree import tree_flatten as tree_flatten
from retrograd.utils._pytree import tree_unflatten as tree_unflatten

late_names(__name__)
__all__ = ["_broadcast_to_and_flatten", "_get_name", "vmap"]


def _maybe_remove_batch_dim(name: str, batched_output: Any, vmap_level: int, batch_size: int, out_dim: int | None) -> Any:
    """All samples of a result, along a dim; where out_dim is None the result, which must not differ by samples."""
    if out_dim is None:
        if is_batchedtensor(batched_output):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return batched_output
    if not isinstance(batched_output, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(batched_output)}. Did you mean to set "
            "out_dims= to None for output?")
    return _remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)
