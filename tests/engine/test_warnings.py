"""Warnings point at the line that calls, however many frames of ours lie between."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
import retrograd.nn.functional as F

CALLS = """
    F.softmax(x) | F.log_softmax(x) | F.softmin(x) | torch.nn.Softmax()(x) | F.upsample(image, 4) | F.upsample_nearest(image, 4)
    F.affine_grid(x[None, :, :].expand(1, 2, 3), (1, 1, 2, 2)) | F.dropout2d(x) | F.dropout2d(image[0]) | F.dropout3d(x)
    F.mse_loss(x, x[0]) | F.mse_loss(x, x, reduce=False) | F.l1_loss(x, x[0]) | F.l1_loss(x, x, size_average=False)
    F.smooth_l1_loss(x, x[0]) | F.huber_loss(x, x[0]) | F.kl_div(x, x) | F.mse_loss(x, x, reduction="elementwise_mean")
    F.gumbel_softmax(x, eps=1.0) | torch.nn.MSELoss(reduce=False) | torch.nn.MSELoss()(x, x[0])
    torch.tensor(x) | x.new_tensor(x) | torch.asarray(w) | torch.range(0, 2) | torch.where(x.to(torch.uint8), x, x)
    x[torch.zeros(2, dtype=torch.uint8)] | torch.std(x[0, 0]) | x[0, 0].var() | torch.cov(x[:, :1]) | x[0].T | x[0, 0].T
    x[0, 0].mT | x[0, 0].mH | x[0, 0].H | x[0, 0].adjoint() | x.scatter(0, torch.zeros(1, 3, dtype=torch.long), x, reduce="add")
    torch.exp(x, out=torch.ones(5)) | torch.sum(x, 0, out=torch.ones(5)) | torch.arange(3, out=torch.ones(5)) | (w * 2).grad
    torch.nn.L1Loss(size_average=False) | x.volatile | torch.nn._reduction.get_enum("elementwise_mean")
    nn.init.uniform(x) | nn.init.kaiming_uniform_(torch.ones(0, 2)) | nn.init.trunc_normal_(x, mean=9) | nn.GRU(1, 1, dropout=.5)
    nn.utils.weight_norm(nn.Linear(1, 1)) | nn.utils.clip_grad_norm([w], 1.0) | nn.utils.clip_grad_norm_((p for p in ()), 1.0)
    nn.InstanceNorm1d(5)(image[0]) | torch.optim.SGD([w, w], lr=0.1) | scheduler.step() | scheduler.step(3)
    torch.distributions.Normal(0.0, 1.0).sample_n(2) | torch.autograd.backward(w.sum(), grad_variables=torch.tensor(1.0))
    nn.TransformerEncoder(nn.TransformerEncoderLayer(2, 1, 2, norm_first=True), 1)
"""


@pytest.mark.parametrize("call", [call.strip() for line in CALLS.strip().splitlines() for call in line.split(" | ")])
def test_a_warning_points_at_the_line_that_calls(call: str) -> None:
    x, image, w = torch.ones(2, 3), torch.ones(1, 2, 2, 2), torch.ones(2, requires_grad=True)
    code = compile("\n" * 6 + call, "a program of the user's", "exec")
    scheduler = torch.optim.lr_scheduler.StepLR(torch.optim.SGD([w], lr=0.1), 1)
    names = {"torch": torch, "nn": torch.nn, "F": F, "x": x, "image": image, "w": w, "scheduler": scheduler}
    torch.set_warn_always(True)                 # other tests may have met those that come once per process
    try:
        with pytest.warns(Warning) as caught:
            exec(code, {**names, "__name__": "program"})
    finally:
        torch.set_warn_always(False)
    assert {(each.filename, each.lineno) for each in caught} == {("a program of the user's", 7)}


@pytest.mark.parametrize("run", [
    lambda: torch.ones(3) ** object(), lambda: torch.ones(3)["a":], lambda: torch.linalg.inv(torch.zeros(2, 2)),
    lambda: torch.ones(3)[torch.tensor([0, 1]), torch.tensor([0, 1, 2])]])
def test_an_error_in_pytorchs_words_does_not_show_the_one_in_pythons(run: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, IndexError, RuntimeError)) as caught:
        run()
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
