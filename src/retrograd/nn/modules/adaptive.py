"""Softmax over many classes of very different frequency (Grave et al. 2017)."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .. import functional as F
from ..module import Module
from .container import ModuleList, Sequential
from .linear import Linear

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """The loss of n_classes classes, sorted by falling frequency, without computing the log-probability of each.

    The head has the classes below cutoffs[0] and one output for each cluster between cutoffs; a cluster's classes are in a
    tail, which gets in_features // div_value**(its number) features.  forward(input_ (N, I) or (I,), target_ (N,) or ()) gives
    (the log-probability of each target, the mean of their negatives).  head_bias: whether the head has a bias.
    https://pytorch.org/docs/stable/generated/torch.nn.AdaptiveLogSoftmaxWithLoss.html
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1
                or any(int(c) != c for c in cutoffs)):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value "
                "is between 1 and n_classes-1")
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            inner = int(in_features // div_value ** (i + 1))
            self.tail.append(Sequential(
                Linear(in_features, inner, bias=False, device=device, dtype=dtype),
                Linear(inner, high - low, bias=False, device=device, dtype=dtype)))

    def reset_parameters(self) -> None:
        """New initial values for all weights."""
        self.head.reset_parameters()
        for inward, outward in self.tail:
            inward.reset_parameters()
            outward.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> Any:
        dims = target_.dim()
        if dims > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if dims == 1 and input_.size(0) != target_.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input_.dim() != dims + 1:
            raise RuntimeError(
                f"{dims}D target tensor expects {dims + 1}D input tensors, but found inputs with size {input_.size()}")
        input, target = (input_, target_) if dims else (input_.unsqueeze(0), target_.unsqueeze(0))
        if not ((target >= 0) & (target < self.n_classes)).all():
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. ")
        output = input.new_zeros(target.size(0))
        column = target.clone()                 # of the head: the class, or the cluster's
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            mine = (target >= low) & (target < high)
            rows = mine.nonzero().squeeze(1)
            if rows.numel():
                logs = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
                column.index_fill_(0, rows, self.shortlist_size + i)
                output.index_copy_(0, rows, logs.gather(1, (target[mine] - low).unsqueeze(1)).squeeze(1))
        output += F.log_softmax(self.head(input), dim=1).gather(1, column.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if dims else output.squeeze(0), loss)

    def _get_full_log_prob(self, input: Any, head_output: Any) -> Any:
        out = input.new_empty((head_output.size(0), self.n_classes))
        head = F.log_softmax(head_output, dim=1)
        out[:, :self.shortlist_size] = head[:, :self.shortlist_size]
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            out[:, low:high] = F.log_softmax(self.tail[i](input), dim=1) + cluster
        return out

    def log_prob(self, input: Any) -> Any:
        """(N, n_classes) log-probabilities of all classes, for input (N, in_features)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """(N,) the most probable class of each row of input (N, in_features); clusters are computed for rows that need them."""
        head = self.head(input)
        output = head.argmax(dim=1)
        beyond = output >= self.shortlist_size
        if beyond.any():
            output[beyond] = self._get_full_log_prob(input[beyond], head[beyond]).argmax(dim=1)
        return output
