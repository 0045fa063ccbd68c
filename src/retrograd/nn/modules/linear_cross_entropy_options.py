"""How PyTorch saves memory in F.linear_cross_entropy."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._tensor import dtypes

__all__ = ["LinearCrossEntropyOptions"]


@dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How many rows PyTorch computes at a time, and in which precision it sums: checked as in PyTorch, and without effect.

    allow_retain_graph, batch_chunk_size (rows at a time), chunking_method, acc_policy, acc_dtype (of sums)

    https://pytorch.org/docs/stable/generated/torch.nn.LinearCrossEntropyOptions.html
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method not in (None, "auto"):
            name, sep, factor = str(self.chunking_method).partition(":")
            factor = factor if sep else "1"
            if name != "aspect_ratio" or not factor.isdigit() or int(factor) == 0:
                raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        size = self.batch_chunk_size
        if size is not None and (not isinstance(size, int) or size <= 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype not in (None, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64):
            raise ValueError(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, torch.float64}, got "
                f"{self.acc_dtype!r}. Pass acc_dtype=None to let the op pick automatically.")
