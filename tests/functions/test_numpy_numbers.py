"""NumPy's numbers, and tensors of one, where functions take Python's: as on PyTorch, on the compiled build too."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import retrograd

CALLS = """
    x.sum(dims)|x.squeeze(dims)|x.std(dims)|torch.var_mean(x, dims)|torch.logsumexp(x, dims)|x.reshape(two, two)
    x.view([two, two])|x.split([one, one])|x.split([one, one], one)|torch.rot90(x, one, (zero, one))|x.repeat(two, one)
    x.expand((two, two))
    torch.fft.fftn(x, dim=dims)|torch.fft.rfft2(x, (two, two))|torch.fft.fftshift(x, dims)|torch.gradient(x, dim=dims)
    torch.nn.functional.softmin(x, one)|torch.nn.functional.avg_pool1d(x, two, one)|x.movedim((zero, one), (one, zero))
    torch.stft(x.reshape(4), two, one, window=torch.ones(2), return_complex=True, center=False)|torch.zeros(two, one)|x.flip(dims)
    torch.segment_reduce(x, "sum", lengths=torch.tensor([1, 1]), axis=zero)
"""
NUMBERS = """
    half ** x|half * x|torch.special.zeta(x + 1.5, half)|torch.nn.LPPool1d(half, int2, int2)(x)|int2 in x.long()|half in x
    torch.cdist(x, x, int2)|torch.cdist(x, x, half)|torch.nn.functional.lp_pool2d(x[None], half, int2)
    torch.nn.functional.unfold(x[None, None], int2)
"""


def calls(text: str) -> list[str]:
    return [call.strip() for call in re.split(r"[|\n]", text) if call.strip()]


def said(torch: Any, call: str, ints: Any) -> str:
    zero, one, two = ints(0), ints(1), ints(2)
    known = {"torch": torch, "x": torch.arange(4.0).reshape(2, 2), "zero": zero, "one": one, "two": two, "dims": (zero, one),
             "half": np.float64(0.5), "int2": np.int64(2)}
    return repr(eval(call, known)).replace("retrograd", "torch")


@pytest.mark.parametrize("call", calls(CALLS))
def test_ints_of_every_kind_are_ints(call: str) -> None:
    wanted = said(retrograd, call, int)
    for ints in (np.int64, np.uint8, retrograd.tensor):
        assert said(retrograd, call, ints) == wanted


@pytest.mark.oracle
@pytest.mark.parametrize("call", calls(NUMBERS))
def test_numpys_numbers_do_what_they_do_on_pytorch(call: str) -> None:
    assert said(retrograd, call, int) == said(pytest.importorskip("torch"), call, int)
