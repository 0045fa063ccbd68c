"""Tables of vectors: F.embedding, F.embedding_bag."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import names, promote
from .._engine.op import watch
from .._engine.tensor import TensorBase, bump
from .._rules import embed, indexed, shape
from .arguments import flag, sized, tensor
from .forms import FUNCTIONS
from .parsing import fitted
from .pointwise import not_implemented


def numbers(at: Any, function: str, name: str = "indices") -> Any:
    """The array of an index tensor, which must be of int64 or int32."""
    number = 2 if function == "embedding_renorm_" else 1
    if at.dtype not in (np.int64, np.int32):
        raise RuntimeError(
            f"Expected tensor for argument #{number} '{name}' to have one of the following scalar types: Long, Int; but got "
            f"{names.SHOWN[at.dtype.name]} instead (while checking arguments for {function})")
    return at


def in_range(at: Any, rows: int) -> None:
    if at.size and (at.min() < 0 or at.max() >= rows):
        if not rows:
            raise RuntimeError("index_select(): self indexing axis dim should be positive")
        raise IndexError("index out of range in self")


def padding_of(padding_idx: Any, rows: int) -> int:
    """-1 for none; AssertionError out of range."""
    if padding_idx is None:
        return -1
    assert -rows <= padding_idx < rows, "Padding_idx must be within num_embeddings"
    return int(padding_idx + rows if padding_idx < 0 else padding_idx)


def embedding(
    input: Any, weight: Any, padding_idx: Any = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:
    """Rows of `weight` (rows, width) by number: input (*) of integers -> (*, width).

    Row padding_idx gets no gradient; rows whose norm exceeds max_norm are first scaled down in place.
    sparse changes PyTorch's memory layout; gradients are dense here.  torch.embedding(weight, indices) is understood, too.
    """
    if isinstance(input, TensorBase) and isinstance(weight, TensorBase) and input.array.dtype.kind in "fV" \
            and weight.array.dtype.kind in "iu":
        input, weight = weight, input
        padding_idx = None if padding_idx in (None, -1) else padding_idx
        scale_grad_by_freq, max_norm = bool(max_norm), None
    w = tensor(weight, "embedding", "weight", 1)
    where = tensor(input, "embedding", "indices", 2)
    rows = sized(w, 0) if w.ndim or padding_idx is not None else 0
    flag(scale_grad_by_freq, "embedding", "scale_grad_by_freq", 4)
    flag(sparse, "embedding", "sparse", 5)
    pad = padding_of(padding_idx, rows)
    if max_norm is not None:
        embedding_renorm_(w, where, max_norm, norm_type)
    if w.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    at = numbers(where.array, "embedding")
    in_range(at, rows)
    op = embed.EmbeddingBackward0(at, pad, bool(scale_grad_by_freq), bool(sparse))
    watch(op, where)
    return op.run(w)


def embedding_renorm_(input: Any, indices: Any, max_norm: float, norm_type: float) -> Any:
    """Scale the rows that indices name and that are longer than max_norm, in place and outside the graph."""
    if type(max_norm) is not float or type(norm_type) is not float:
        (_, _, max_norm, norm_type), _ = fitted("embedding_renorm_", FUNCTIONS["embedding_renorm_"],
                                                (input, indices, max_norm, norm_type), {})
    if input.ndim != 2:
        raise RuntimeError(f"Expected 2-dimensional tensor, but got {input.ndim}-dimensional tensor for argument #1 'self' "
                           "(while checking arguments for embedding_renorm_)")
    at = np.unique(numbers(indices.array, "embedding_renorm_"))
    rows = len(input.array)
    for i in at[(at < -rows) | (at >= rows)]:
        raise IndexError(f"select(): index {i} out of range for tensor of size {list(input.shape)} at dimension 0")
    if input.array.dtype.kind not in "fV" and at.size:
        raise RuntimeError("norm(): input dtype should be either floating point or complex")
    part = input.array[at]
    length = np.linalg.norm(part.astype(np.float64), float(norm_type), 1)
    over = length > max_norm
    scale = np.where(over, max_norm / (length + 1e-7), 1.0)
    input.array[at] = (part * scale[:, None]).astype(part.dtype)
    bump(input)
    return input


MODES = {"sum": 0, "mean": 1, "max": 2}


def embedding_bag(
    input: Any, weight: Any, offsets: Any = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Any = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Any:
    """Sum, mean or maximum of the rows of each bag: input (bags, n), or flat (N,) with offsets (bags,) where bags
    begin."""
    if isinstance(weight, TensorBase) and weight.array.dtype.kind in "iu" and isinstance(input, TensorBase) \
            and input.array.dtype.kind in "fV":
        input, weight = weight, input
    w = tensor(weight, "embedding_bag", "weight", 1)
    x = tensor(input, "embedding_bag", "indices", 2)
    if w.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {w.ndim}")
    weights = per_sample_weights
    if weights is not None and tuple(x.array.shape) != tuple(weights.array.shape):
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({weights.shape}) is not None, then it must have the same shape "
            "as the "
            f"input ({x.shape})")
    if x.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                "sequences. "
                f"However, found offsets of type {type(offsets)}")
        n, width = x.array.shape
        if not width and x.array.dtype.kind == "b":
            raise not_implemented("arange_cpu", x.array.dtype)
        if not width:
            raise RuntimeError("step must be nonzero")
        if x.array.dtype.kind == "b":
            raise not_implemented("arange_cpu", x.array.dtype)
        starts = np.arange(n, dtype=x.array.dtype) * width
        include_last_offset = False
    elif x.ndim == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.ndim != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        starts = offsets.array
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {x.ndim}")
    if mode not in MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    flag(scale_grad_by_freq, "embedding_bag", "scale_grad_by_freq", 4)
    flag(sparse, "embedding_bag", "sparse", 6)
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if max_norm is not None:
        embedding_renorm_(w, x, max_norm, norm_type)
    if weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub.")
    rows = w.array.shape[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError(f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but got "
                           f"{padding_idx}")
    kind = x.array.dtype if starts.dtype == x.array.dtype else promote.result_dtype([x.array, starts])
    at = numbers(x.array.astype(kind, copy=False), "embedding_bag").reshape(-1)
    starts = starts.astype(kind, copy=False)
    check_table(w.array)
    sizes = bag_sizes(starts, at.size, include_last_offset)
    if weights is not None and weights.array.dtype != w.array.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {names.SHOWN[w.array.dtype.name]} does not equal "
            f"{names.SHOWN[weights.array.dtype.name]} (while checking arguments for embedding_bag)")
    fast = mode != "max" and padding_idx is None and w.array.dtype.itemsize < 8        # a kernel of its own in PyTorch
    if include_last_offset and not fast and sizes.size:
        sizes[-1] += at.size - int(starts[-1])                  # where the last bag takes what lies behind it
    outside = (at < 0) | (at >= rows)
    if outside.any():
        first = int(np.flatnonzero(outside)[0])
        if fast:
            raise RuntimeError(
                f"Index {first} of input takes value {int(at[first])} which is not in the valid range [0, {rows})")
        raise RuntimeError(
            f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {int(at[first])}")
    total = at.size
    if include_last_offset:
        at = at[:int(sizes.sum())]
    bag = np.repeat(np.arange(len(sizes)), sizes.astype(np.intp, copy=False))
    kept = weights if weights is None or weights.ndim == 1 else shape.fold(weights, (total,))
    if padding_idx is not None:
        good = at != (padding_idx + rows if padding_idx < 0 else padding_idx)
        at, bag = at[good], bag[good]
        sizes = np.bincount(bag, minlength=len(sizes))
        if kept is not None:
            kept = indexed.index(kept, (np.flatnonzero(good),))
    factor = 1.0 / np.bincount(at, minlength=rows)[at] if scale_grad_by_freq else None
    op = embed.EmbeddingBagBackward0(at, bag, sizes, MODES[mode], factor)
    watch(op, shape.flat(x) if x.array.ndim > 1 else x)
    if offsets is not None:
        watch(op, offsets)
    return op.run([w, kept])


def check_table(table: Any) -> None:
    """RuntimeError for a table that is not of floats."""
    if table.dtype.kind not in "fV":
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, "
            f"Double; but got {names.SHOWN[table.dtype.name]} instead (while checking arguments for embedding_bag)")


def bag_sizes(starts: Any, total: int, closed: bool) -> Any:
    """How many of `total` numbers are in each bag; closed: the last start is where the last bag ends."""
    if closed and not starts.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if starts.size and int(starts[0]) != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
            "However, got "
            f"{int(starts[0])}\n[ torch.LongTensor{{}} ]")
    if starts.size and int(starts[-1]) > total:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {total} but got offsets[-1] of {int(starts[-1])}")
    ends = starts[1:] if closed else np.concatenate((starts[1:], (total,)))[:starts.size]
    sizes = ends - starts[:ends.size]
    if sizes.size and sizes.min() < 0:
        raise RuntimeError(
            "Your input appears to be incorrect: the last offset value should be the size of the indices tensor, but it "
            "seems not to be the case." if closed else "Expected i < index_size to be true, but got false.")
    return sizes
