"""How samples become a batch: tensors are stacked, numbers become tensors, containers are gone through."""
from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ..._engine.tensor import TensorBase
from ..._functions.fromdata import as_tensor, tensor
from ..._functions.join import stack
from ..._tensor import Tensor
from ..._tensor.dtypes import float64

__all__ = ["collate", "default_collate", "default_convert"]

np_str_obj_array_pattern = re.compile("[SaUO]")          # PyTorch's names, which libraries import
default_collate_err_msg_format = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def default_convert(data: Any) -> Any:
    """data, one sample, as a DataLoader without batches gives it: NumPy arrays become tensors, also inside containers."""
    if isinstance(data, TensorBase) or isinstance(data, (str, bytes)):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "SUO" else as_tensor(data)
    if isinstance(data, Mapping):
        return _mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        parts = [default_convert(x) for x in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    if isinstance(data, Sequence):
        return _sequence(data, [default_convert(x) for x in data])
    return data


def default_collate(batch: Any) -> Any:
    """A list of samples as one batch: (sample, sample) of tensors (3,) -> a tensor (2, 3).

    Tensors are stacked; NumPy arrays and numbers become tensors (floats float64); strings stay in a list; in dicts,
    tuples and lists each place is collated.  TypeError for other classes, RuntimeError for lengths that differ.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """default_collate with functions of one's own: {class: function(batch, collate_fn_map=...)}."""
    first = batch[0]
    cls = type(first)
    for known in (() if collate_fn_map is None else collate_fn_map):
        if known is cls:
            return collate_fn_map[known](batch, collate_fn_map=collate_fn_map)
    for known in (() if collate_fn_map is None else collate_fn_map):
        if isinstance(first, known):
            return collate_fn_map[known](batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return _mapping(first, {key: collate([x[key] for x in batch], collate_fn_map=collate_fn_map) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return cls(*(collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(x) != len(first) for x in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch)]
        return columns if isinstance(first, tuple) else _sequence(first, columns)
    raise TypeError(default_collate_err_msg_format.format(cls))


def _mapping(like: Any, new: dict[Any, Any]) -> Any:
    """`new` in a mapping of the class of `like`; a dict when that cannot be made."""
    try:
        if isinstance(like, MutableMapping):
            out: Any = copy.copy(like)
            out.update(new)
            return out
        return type(like)(new)
    except TypeError:
        return new


def _sequence(like: Any, new: list[Any]) -> Any:
    try:
        if isinstance(like, MutableSequence):
            out: Any = copy.copy(like)
            for i, x in enumerate(new):
                out[i] = x
            return out
        return type(like)(new)
    except TypeError:
        return new


def collate_tensor_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Tensors, stacked."""
    return stack(list(batch), 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Arrays as tensors, stacked.  TypeError for those of strings and objects."""
    if np_str_obj_array_pattern.search(batch[0].dtype.str) is not None:
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([as_tensor(x) for x in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """NumPy's numbers as a tensor."""
    return as_tensor(np.asarray(batch))


def collate_float_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Floats as a float64 tensor."""
    return tensor(list(batch), dtype=float64)


def collate_int_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Ints as a tensor."""
    return tensor(list(batch))


def collate_str_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """The batch itself."""
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    Tensor: collate_tensor_fn, np.ndarray: collate_numpy_array_fn, (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn, int: collate_int_fn, str: collate_str_fn, bytes: collate_str_fn}
