"""Results of several tensors, with names: torch.return_types."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .._engine.op import watch
from .._engine.tensor import TensorBase, wrap

RETURN_TYPES: dict[str, Any] = {}


def named(name: str, *fields: str) -> Any:
    """A tuple class with named fields that prints as PyTorch's; also in RETURN_TYPES."""
    def new(cls: Any, values: Any) -> Any:
        values = tuple(values)
        if len(values) != len(fields):
            raise TypeError(
                f"torch.return_types.{name}() takes a {len(fields)}-sequence ({len(values)}-sequence given)")
        return tuple.__new__(cls, values)

    def show(self: Any) -> str:
        inside = ",\n".join(f"{f}={v!r}" for f, v in zip(fields, self, strict=True))
        return f"torch.return_types.{name}(\n{inside})"

    def reduce_(self: Any) -> Any:
        return type(self), (tuple(self),)

    body: dict[str, Any] = {
        "__new__": new, "__repr__": show, "__reduce__": reduce_, "__slots__": (),
                            "__module__": "torch.return_types", "__match_args__": fields,
                            "n_fields": len(fields), "n_sequence_fields": len(fields), "n_unnamed_fields": 0}
    for i, field in enumerate(fields):
        body[field] = property(operator.itemgetter(i))
    RETURN_TYPES[name] = type(name, (tuple,), body)
    return RETURN_TYPES[name]


Pair: dict[str, Any] = {
    name: named(name, "values", "indices") for name in
    ("max", "min", "median", "nanmedian", "mode", "cummax", "cummin", "sort", "topk", "kthvalue",
     "max_out", "min_out", "median_out", "nanmedian_out", "mode_out", "cummax_out", "cummin_out", "sort_out",
     "topk_out", "kthvalue_out")
}
AMINMAX = named("aminmax", "min", "max")
named("aminmax_out", "min", "max")


def chosen(made: Any) -> TensorBase:
    """The indices that an op found, as a Tensor; backward will refuse if it was edited."""
    made.indices = made.indices.astype(np.int64, copy=False)       # NumPy's own are of 32 bits on such systems
    indices = wrap(made.indices)
    watch(made, indices)
    return indices


def pair(name: str, values: Any, made: Any) -> Any:
    """(values, indices that `made` found) under their PyTorch class."""
    return Pair[name]((values, chosen(made)))
