"""Sequences of different lengths, padded or packed.  B sequences, T steps of the longest, L all steps together.

sequence, packed_sequences   a PackedSequence
sequences          B tensors (length, ...), equal but for the length
padded_sequences   (T, B, ...), or (B, T, ...) with batch_first
lengths            (B,) how many steps of each are no padding
batch_first        True: padded tensors are (B, T, ...); False: (T, B, ...)
padding_value      what fills the steps behind a sequence's end
padding_side       'right': padding comes after a sequence; 'left': before it
total_length       steps to pad to; ValueError if the longest has more
enforce_sorted     True: RuntimeError unless lengths fall; False: they are sorted, and restored by pad_packed_sequence
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..._engine.tensor import TensorBase
from ..._functions import cat, create, fromdata
from ..._tensor import dtypes

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pad_packed_sequence", "pad_sequence",
    "unpad_sequence", "pack_sequence", "unpack_sequence",
]


class _Fields(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(_Fields):
    """Step 0 of all sequences, then step 1 of those that have one, ...: data (L, ...), batch_sizes (T,).

    sorted_indices, unsorted_indices (B,): how the sequences were sorted by length, and back; None when they came so.
    Make one with pack_padded_sequence or pack_sequence.
    """

    __slots__ = ()

    def __new__(cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None,
                unsorted_indices: Any = None) -> Any:
        if batch_sizes is None:                 # the old form: PackedSequence((data, batch_sizes))
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """A copy with data.to(...), or itself if that changes nothing."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def float(self) -> Any:
        """With data as float32; the others likewise."""
        return self.to(dtype=dtypes.float32)

    def double(self) -> Any:
        """As float64."""
        return self.to(dtype=dtypes.float64)

    def half(self) -> Any:
        """As float16."""
        return self.to(dtype=dtypes.float16)

    def long(self) -> Any:
        """As int64."""
        return self.to(dtype=dtypes.int64)

    def int(self) -> Any:
        """As int32."""
        return self.to(dtype=dtypes.int32)

    def short(self) -> Any:
        """As int16."""
        return self.to(dtype=dtypes.int16)

    def char(self) -> Any:
        """As int8."""
        return self.to(dtype=dtypes.int8)

    def byte(self) -> Any:
        """As uint8."""
        return self.to(dtype=dtypes.uint8)

    def cpu(self, *args: Any, **kwargs: Any) -> Any:
        """to(...) on the CPU: where everything is."""
        return self.to(*args, **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> Any:
        """AssertionError: there is no GPU."""
        return self.to(*args, **{**kwargs, "device": "cuda"})

    def pin_memory(self) -> Any:
        """RuntimeError: there is no accelerator."""
        return type(self)(self.data.pin_memory(), self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    @property
    def is_cuda(self) -> bool:
        """False."""
        return False

    def is_pinned(self) -> bool:
        """False."""
        return False


def invert_permutation(permutation: Any) -> Any:
    """The permutation that undoes this one; None for None."""
    if permutation is None:
        return None
    found = create.empty_like(permutation)
    found[permutation] = create.arange(permutation.numel())
    return found


def pack_padded_sequence(input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> Any:
    """(T, B, ...) (or (B, T, ...) with batch_first) and the B lengths -> PackedSequence.

    enforce_sorted: the lengths must fall (RuntimeError otherwise); False sorts them.
    """
    if not isinstance(lengths, TensorBase):
        lengths = fromdata.as_tensor(lengths, dtype=dtypes.int64)
    lengths = lengths.to(dtypes.int64)
    order = None
    if not enforce_sorted:
        lengths, order = lengths.sort(descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    input = input.transpose(0, 1)               # of fewer dims: IndexError
    if not batch_first:
        input = input.transpose(0, 1)
    if lengths.ndim != 1:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.ndim}D cpu Long tensor")
    sizes = lengths.tolist()
    if input.shape[0] == 0 or input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(sizes) != input.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={input.shape[1]})")
    if sizes[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any(a < b for a, b in zip(sizes, sizes[1:])):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability.")
    if sizes[0] > input.shape[0]:
        raise RuntimeError(f"Expected every length to be at most {input.shape[0]}, but got {sizes[0]}")
    present = [sum(n > step for n in sizes) for step in range(sizes[0])]
    data = cat([input[step, :n] for step, n in enumerate(present)])
    return PackedSequence(data, fromdata.tensor(present, dtype=dtypes.int64), order, None)


def pad_packed_sequence(
    sequence: Any, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None,
) -> tuple[Any, Any]:
    """PackedSequence -> (padded (T, B, ...) or (B, T, ...), lengths (B,)), in the order before packing."""
    present = sequence.batch_sizes.tolist()
    steps = len(present)
    if total_length is not None and total_length < steps:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {steps}")
    most = present[0]
    padded = create.full((total_length or steps, most, *sequence.data.shape[1:]), padding_value, dtype=sequence.data.dtype)
    at = first = 0
    for step in range(1, steps + 1):            # steps of equally many sequences at once
        if step == steps or present[step] != present[first]:
            n = present[first]
            part = sequence.data[at:at + n * (step - first)].view(step - first, n, *sequence.data.shape[1:])
            padded.narrow(0, first, step - first).narrow(1, 0, n).copy_(part)
            at += n * (step - first)
            first = step
    lengths = fromdata.tensor([sum(n > i for n in present) for i in range(most)], dtype=dtypes.int64)
    if batch_first:
        padded = padded.transpose(0, 1)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return padded, lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right",
) -> Any:
    """B tensors (length, ...) -> (T, B, ...) or (B, T, ...), with padding_value after (or before) each."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    if isinstance(sequences, TensorBase):
        sequences = sequences.unbind(0)         # type: ignore[attr-defined]
    sequences = tuple(sequences)
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    for i, s in enumerate(sequences):
        if not isinstance(s, TensorBase):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(s).__name__}")
    if not sequences[0].ndim:
        raise RuntimeError("ArrayRef: invalid slice, N = 1; size = 0")
    most = max(s.size(0) for s in sequences)
    sizes = (len(sequences), most) if batch_first else (most, len(sequences))
    padded = create.full((*sizes, *sequences[0].shape[1:]), padding_value, dtype=sequences[0].dtype)
    for i, s in enumerate(sequences):
        n = s.shape[0]
        start = most - n if padding_side == "left" else 0
        row = padded.select(0 if batch_first else 1, i)
        row.narrow(0, start, n).copy_(s)
    return padded


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The B tensors that pad_sequence padded."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [s[:int(n)] for s, n in zip(padded_sequences.unbind(0), lengths.tolist())]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> Any:
    """B tensors (length, ...) -> PackedSequence."""
    lengths = fromdata.tensor([s.size(0) for s in sequences], dtype=dtypes.int64)
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: Any) -> list[Any]:
    """The B tensors in a PackedSequence."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


