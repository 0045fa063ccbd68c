"""The losses that stand in torch beside torch.nn.functional: their `reduction` is a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch

A, B, C = [[0.1, 0.2], [0.3, 0.4]], [[0.3, 0.2], [0.1, 0.5]], [[0.9, 0.2], [0.7, 0.4]]
RAW: dict[str, Any] = {                                         # positional arguments up to `reduction`
    "binary_cross_entropy_with_logits": ((A, B), (None, None)), "cosine_embedding_loss": ((A, B, [1.0, -1.0]), (0.5,)),
    "hinge_embedding_loss": ((A, [[1.0, -1.0], [-1.0, 1.0]]), (0.5,)), "kl_div": ((A, B), ()),
    "margin_ranking_loss": ((A, B, [[1.0, -1.0], [-1.0, 1.0]]), (0.5,)),
    "poisson_nll_loss": ((A, B), (False, True, 1e-8)), "triplet_margin_loss": ((A, B, C), (0.0, 2.0, 1e-6, True))}


@pytest.mark.oracle
@pytest.mark.parametrize("name", RAW)
def test_losses_of_torch_take_numbers_as_reduction(name: str) -> None:
    import torch as theirs

    tensors, more = RAW[name]
    calls = [(more, {"reduction": r}) for r in (-1, 0, 1, 2, 3)] + [((*more, r), {}) for r in (0, 1, 2)]
    if name != "poisson_nll_loss":
        calls += [(more, {}), ((), {})]
    for args, kwargs in calls:
        got, want = (getattr(e, name)(*map(e.tensor, tensors), *args, **kwargs) for e in (torch, theirs))
        np.testing.assert_allclose(got.numpy(), want.numpy(), 1e-5, 1e-6)


@pytest.mark.oracle
def test_ctc_loss_of_torch_is_not_reduced() -> None:
    import torch as theirs

    x = np.log(np.full((5, 2, 3), 1 / 3, np.float32))
    got, want = (e.ctc_loss(e.tensor(x), e.tensor([[1, 2], [1, 1]]), [5, 5], [2, 2]) for e in (torch, theirs))
    np.testing.assert_allclose(got.numpy(), want.numpy(), 1e-5)
