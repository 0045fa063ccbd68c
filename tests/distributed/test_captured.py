"""Per-sample quantities and curvature of a batch that ranks share: of our engine over MPI, and of PyTorch's over gloo."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from retrograd.microscope import CaptureError, capture

from .ranks import needs_mpi, ours, theirs


@needs_mpi
@pytest.mark.once
@pytest.mark.parametrize("start", [ours, pytest.param(theirs, marks=pytest.mark.oracle)], ids=["ours", "pytorch"])
def test_shares_of_a_batch_give_what_one_process_gives_and_kfac_takes_one_all_reduce(start: Any) -> None:
    start(2, "captured.py")


def test_without_ranks_there_is_nothing_across() -> None:
    model = torch.nn.Linear(2, 1)
    with capture(model) as cap:
        model(torch.ones(3, 2)).sum().backward()
    with pytest.raises(CaptureError, match="call torch.distributed.init_process_group first"):
        cap.grads().across()
