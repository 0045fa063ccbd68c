"""Tables of vectors looked up by index.

num_embeddings       rows of the table; indices are 0 <= i < num_embeddings, IndexError otherwise
embedding_dim        length of a row
padding_idx          a row that gets no gradient (and starts at 0), and which bags leave out
max_norm             rows that are read and longer than this are shortened to it, in place
norm_type            p of the norm that max_norm limits
scale_grad_by_freq   True: divide the gradient of a row by how often the batch reads it
sparse               accepted; gradients are dense here
include_last_offset  True: the last offset is the number of indices, not the beginning of a bag
embeddings           (num_embeddings, embedding_dim) the rows
offsets              (B,) where in a flat input each bag begins
per_sample_weights   factors of the rows, shaped as the input, for mode 'sum' alone
freeze               True: rows that are not trained
mode                 'sum', 'mean' or 'max' of a bag's rows
"""
from __future__ import annotations

from typing import Any

from ..._functions import empty
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


def row_of(padding_idx: int | None, rows: int, name: str = "Padding_idx") -> int | None:
    """padding_idx counted from 0; AssertionError outside the table."""
    if padding_idx is None:
        return None
    if padding_idx > 0 and padding_idx >= rows:
        raise AssertionError(f"{name} must be within num_embeddings")
    if padding_idx < -rows:
        raise AssertionError(f"{name} must be within num_embeddings")
    return padding_idx + rows if padding_idx < 0 else padding_idx


class _Table(Module):
    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Parameter

    def reset_parameters(self) -> None:
        """Draw the starting values again: standard normal, zeros at padding_idx."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            init.zeros_(self.weight.data[self.padding_idx])

    def _make_weight(self, given: Any, frozen: bool, device: Any, dtype: Any) -> None:
        shape = (self.num_embeddings, self.embedding_dim)
        if given is None:
            self.weight = Parameter(empty(shape, device=device, dtype=dtype), requires_grad=not frozen)
            self.reset_parameters()
            return
        if tuple(given.shape) != shape:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = Parameter(given, requires_grad=not frozen)


class Embedding(_Table):
    """Row input[i] of weight for each index: (...) -> (..., embedding_dim).

    padding_idx is a row that gets no gradient (and starts at 0); max_norm shortens, in place, the rows that are read.
    https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html
    """

    __constants__ = ["num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq",
                     "sparse"]

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Any = None,
        _freeze: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = row_of(padding_idx, num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._make_weight(_weight, _freeze, device, dtype)
        self.sparse = sparse

    def forward(self, input: Any) -> Any:
        own = self._parameters                  # NOTE [Parameters as attributes] in module.py
        weight = own["weight"] if "weight" in own else self.weight
        return F.embedding(input, weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                           self.sparse)

    def _misfit(self, input: Any) -> str | None:
        if not input.numel() or input.is_floating_point():
            return None
        low, high = int(input.min()), int(input.max())
        if low >= 0 and high < self.num_embeddings:
            return None
        return f"got indices from {low} to {high}, expected 0 to {self.num_embeddings - 1}"

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        if self.sparse is not False:
            text += ", sparse=True"
        return text

    @classmethod
    def from_pretrained(
        cls, embeddings: Any, freeze: bool = True, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
    ) -> Any:
        """An Embedding of the given vectors (num_embeddings, embedding_dim), trained only with freeze=False."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, cols = embeddings.shape
        return cls(num_embeddings=rows, embedding_dim=cols, _weight=embeddings, _freeze=freeze, padding_idx=padding_idx,
                   max_norm=max_norm, norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


class EmbeddingBag(_Table):
    """The sum, mean or max (mode) of the rows of each bag, without storing the rows.

    input (N, L): a bag per row; or (indices,) with offsets: where each bag begins.
    https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html
    """

    __constants__ = ["num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq", "mode", "sparse",
                     "include_last_offset", "padding_idx"]

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Any = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = row_of(padding_idx, num_embeddings, "padding_idx")
        self._make_weight(_weight, False, device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx)

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        text += f", mode={self.mode!r}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        return text

    @classmethod
    def from_pretrained(
        cls, embeddings: Any, freeze: bool = True, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Any:
        """An EmbeddingBag of the given vectors, trained only with freeze=False."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, cols = embeddings.shape
        bag = cls(num_embeddings=rows, embedding_dim=cols, _weight=embeddings, max_norm=max_norm, norm_type=norm_type,
                  scale_grad_by_freq=scale_grad_by_freq, mode=mode, sparse=sparse,
                  include_last_offset=include_last_offset, padding_idx=padding_idx)
        bag.weight.requires_grad = not freeze
        return bag
