"""Old names that still work: each says once what took its place, in PyTorch's words."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

import retrograd
from retrograd._engine.warn import said

CALLS = """
    torch.cholesky(a)|torch.qr(a)|torch.lu(a)|a.lu(get_infos=True)|torch.lu_solve(v, *torch.linalg.lu_factor(a))
    torch.triangular_solve(v, a)|torch.chain_matmul(a, a)|torch.cross(x, x)|a.index_reduce(0, i, a, "prod")
    torch.set_default_tensor_type(torch.FloatTensor)|torch.FloatStorage(3)|torch.nn.Hardtanh(min_value=-2.0, max_value=3)
"""


def warned(torch: Any, call: str) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        eval(call, {"torch": torch, "a": torch.eye(2), "v": torch.ones(2, 1), "x": torch.ones(2, 3), "i": torch.tensor([0, 1])})
    return [re.sub(r" \(Triggered internally.*", "", f"{w.category.__name__}: {w.message}") for w in caught]


@pytest.mark.oracle
@pytest.mark.parametrize("call", [call.strip() for call in re.split(r"[|\n]", CALLS) if call.strip()])
def test_it_is_named_with_what_took_its_place(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(said, "texts", set())
    monkeypatch.setattr(torch.storage, "_always_warn_typed_storage_removal", True)
    torch.set_warn_always(True)                 # or only the first test of the process hears it
    try:
        wanted = warned(torch, call)
    finally:
        torch.set_warn_always(False)
    assert warned(retrograd, call) == wanted != []
    assert warned(retrograd, call) == ([] if "Hardtanh" not in call else wanted)
