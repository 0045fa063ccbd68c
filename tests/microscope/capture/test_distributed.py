"""Two processes with half a batch each give what one process with all of it gives."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from distributed.ranks import theirs
from one_of_two import batch_of, model_of

from retrograd.microscope import FactorStore, capture

SCRIPT = Path(__file__).with_name("one_of_two.py")


@pytest.mark.oracle
def test_ddp_and_fsdp_give_the_answer_of_one_process(tmp_path: Any) -> None:
    torch = pytest.importorskip("torch")
    if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        pytest.skip("this PyTorch is built without gloo")
    theirs(2, str(SCRIPT), str(tmp_path / "meeting"), str(tmp_path / "store"), timeout=300)
    model, ids = model_of(torch), batch_of(torch)
    with capture(model) as cap:
        model(ids).pow(2).sum().backward()
    alone = cap.grads()
    each = alone.per_sample()
    for how in ("ddp", "fsdp"):
        store = FactorStore(tmp_path / "store" / how, "r", engine="torch")
        assert {name.removeprefix("module.") for name in store.layers} == set(alone.names)
        for record in store.records():
            got = record.term().per_sample()
            want = each[record.layer][torch.tensor(record.samples)]
            assert torch.allclose(got, want, atol=1e-5), (how, record)
        products, where = store.dots(alone)
        order = torch.tensor([s for _, s in where])
        assert sorted(order.tolist()) == list(range(6))
        assert torch.allclose(products, alone.dots()[:, order], rtol=1e-4, atol=1e-5)
