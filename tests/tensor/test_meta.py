"""device="meta": models without memory, shapes through functions and graphs, what cannot be read."""
from __future__ import annotations

import copy
import pickle
import sys
import threading
from typing import Any

import numpy as np
import pytest
from both_engines import both

FACTORIES = """
    arange(5)|bartlett_window(5)|empty(2, 3)|empty_strided((2, 3), (1, 2))|eye(3)|full((2,), 1.0)|linspace(0, 1, 5)
    ones(2)|rand(2)|randint(5, (2,))|randn(2, dtype=torch.float64)|randperm(4)|scalar_tensor(1.0)|tensor([1, 2])
    tril_indices(3, 3)|zeros(2)|as_tensor([True])|zeros_like(x)|full_like(x, 1.0)|randn_like(x)
"""
FUNCTIONS = """
    x + 1|x @ x.t()|x.sum()|x == x|x.max(1).values|x.topk(2).indices|x.sort().values|x.argmax()|torch.cat([x, x])
    x[:, 1:]|x[0]|x.view(3, 2)|x.t()|torch.einsum("ij,kj->ik", x, x)|torch.where(x > 0, x, 0.0)|F.softmax(x, 1)
    F.dropout(x)|x.long()|x.double()|torch.linalg.svd(x).S|x[torch.tensor([0, 1])]|x.clone()|x.detach()|x.new_zeros(3)
    x.fill_(1)|x.normal_()|x.copy_(torch.ones(2, 3))|F.cross_entropy(x, torch.zeros(2, dtype=torch.long, device="meta"))
    x + torch.tensor(1.0)|x.permute(1, 0).contiguous()
    F.conv2d(torch.empty(1, 3, 8, 8, device="meta"), torch.empty(4, 3, 3, 3, device="meta"))|x.to(torch.float16)
"""


def calls(text: str) -> list[str]:
    return [call for line in text.strip().splitlines() for call in line.strip().split("|")]


def facts(t: Any) -> Any:
    return t.device.type, tuple(t.shape), str(t.dtype), t.stride()


@both
def test_factories_and_functions_give_shapes_and_dtypes(torch: Any) -> None:
    names, start = {"torch": torch, "F": torch.nn.functional, "x": torch.ones(2, 3)}, torch.get_rng_state()
    for call in calls(FACTORIES):
        for device in ("'meta'", "torch.device('meta')"):
            eval(f"torch.{call[:-1]}, device='cpu')", names)
            made = eval(f"torch.{call[:-1]}, device={device})", names)
            assert facts(made) == ("meta", *facts(eval(f"torch.{call}", names))[1:]) and made.is_meta and not made.is_cpu, call
    real = [facts(eval(call.replace(', device="meta"', ""), names)) for call in calls(FUNCTIONS)]
    torch.set_rng_state(start)
    names["x"] = torch.empty(2, 3, device="meta")
    assert [facts(eval(call, names)) for call in calls(FUNCTIONS)] == [("meta", *fact[1:]) for fact in real]
    assert torch.equal(torch.get_rng_state(), start)            # nothing is drawn


@pytest.mark.skipif(sys.maxsize < 2**32, reason="arrays are smaller where addresses have 32 bits")
@both
def test_models_without_memory_are_made_and_filled(torch: Any) -> None:
    nn = torch.nn
    big = nn.Sequential(*[nn.Linear(100_000, 100_000, device="meta") for _ in range(50)])       # 2 TB
    assert sum(p.numel() for p in big.parameters()) == 50 * (10**10 + 10**5)
    weight = big[0].weight
    assert isinstance(weight, nn.Parameter) and weight.requires_grad and weight.is_leaf and weight.device.type == "meta"
    assert repr(weight) == "Parameter containing:\ntensor(..., device='meta', size=(100000, 100000), requires_grad=True)"
    assert copy.deepcopy(big[0]).weight.is_meta
    assert pickle.loads(pickle.dumps(nn.Linear(2, 3, device="meta"))).weight.is_meta
    with torch.device("meta"):
        model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)
        recurrent = nn.LSTM(3, 4)
        assert torch.get_default_device().type == "meta" and torch.zeros(1, device="cpu").device.type == "cpu"
    assert {p.device.type for part in (model, recurrent) for p in part.parameters()} == {"meta"}
    assert model(torch.empty(5, 2, 8, device="meta")).shape == (5, 2, 8)
    assert recurrent(torch.empty(5, 2, 3, device="meta"))[0].shape == (5, 2, 4)
    source = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2).eval()
    model.load_state_dict(source.state_dict(), assign=True)
    x = torch.ones(3, 2, 8)
    assert torch.equal(model.eval()(x), source(x)) and all(p.requires_grad for p in model.parameters())
    layer = nn.Sequential(nn.Linear(2, 3, device="meta"), nn.BatchNorm1d(3, device="meta"))
    with pytest.raises(NotImplementedError, match="Please use torch.nn.Module.to_empty"):
        layer.to("cpu")
    with pytest.warns(UserWarning, match="which is a no-op"):
        layer[0].load_state_dict(nn.Linear(2, 3).state_dict())
    layer.to_empty(device="cpu")
    layer[0].reset_parameters()
    layer[1].reset_parameters()
    assert layer(torch.ones(4, 2)).isfinite().all() and isinstance(layer[0].weight, nn.Parameter)
    moved = nn.Linear(2, 2).to(device="meta", dtype=torch.float64)
    assert moved.weight.is_meta and moved.weight.dtype == torch.float64


@both
def test_graphs_are_recorded_and_passes_give_shapes(torch: Any) -> None:
    layer = torch.nn.Linear(3, 4, device="meta")
    out = layer(torch.empty(2, 3, device="meta"))
    assert out.grad_fn.name() == "AddmmBackward0" and repr(out) == (
        "tensor(..., device='meta', size=(2, 4), grad_fn=<AddmmBackward0>)")
    out.mul(2).relu_().sum().backward()
    assert layer.weight.grad.is_meta and layer.weight.grad.shape == (4, 3)
    torch.optim.SGD(layer.parameters(), lr=0.1).step()
    assert layer.weight.is_meta


@both
def test_what_has_no_data_says_so(torch: Any) -> None:
    x, ones = torch.empty(2, 3, device="meta"), torch.ones(2, 3)
    for call, kind, text in (
            (lambda: x.sum().item(), RuntimeError, "Tensor.item() cannot be called on meta tensors"),
            (lambda: bool(x[0, 0] > 0), RuntimeError, "Tensor.item() cannot be called on meta tensors"),
            (lambda: x.tolist(), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
            (lambda: x.cpu(), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
            (lambda: x.to("cpu"), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
            (lambda: ones.copy_(x), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
            (lambda: x.numpy(), TypeError, "can't convert meta device type tensor to numpy"),
            (lambda: x.nonzero(), NotImplementedError, "The register_meta function for torch.nonzero()"),
            (lambda: x[x > 0], NotImplementedError, "The register_meta function for torch.nonzero()"),
            (lambda: torch.equal(x, x), NotImplementedError, "aten::equal: attempted to run this operator with Meta tensors"),
            (lambda: x + ones, RuntimeError, "Tensor on device cpu is not on the expected device meta!"),
            (lambda: torch.nn.Linear(3, 4, device="meta")(ones), RuntimeError, "Tensor on device meta is not on the expected")):
        with pytest.raises(kind) as caught:
            call()
        assert str(caught.value).startswith(text)


@both
def test_a_device_is_chosen_for_one_thread(torch: Any) -> None:
    seen: list[str] = []

    def work() -> None:
        seen.append(torch.zeros(1).device.type)
        with torch.device("meta"):
            torch.set_default_device(None)
            seen.append(torch.zeros(1).device.type)

    torch.set_default_device("meta")
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert (seen, torch.zeros(1).device.type) == (["cpu", "meta"], "meta")
    finally:
        torch.set_default_device(None)


@both
def test_the_default_device_can_be_meta(torch: Any) -> None:
    torch.set_default_device("meta")
    try:
        assert torch.zeros(2).is_meta and torch.nn.Linear(2, 2).weight.is_meta and torch.get_default_device().type == "meta"
        with torch.device("cpu"):
            assert torch.ones(1).tolist() == [1.0]
    finally:
        torch.set_default_device(None)
    assert torch.zeros(2).tolist() == [0.0, 0.0] and torch.get_default_device() == torch.device("cpu")
    x = torch.ones(2, device="meta")
    assert x.data_ptr() == 0 and torch.zeros_like(x, device="cpu").sum() == 0
    assert np.asarray(torch.ones(2)).tolist() == [1.0, 1.0]


@both
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("how", [{}, {"num_layers": 2}, {"bidirectional": True}, {"batch_first": True}])
def test_recurrent_layers_run_without_data(torch: Any, kind: str, how: dict[str, Any]) -> None:
    output, last = getattr(torch.nn, kind)(3, 4, device="meta", **how)(torch.empty(5, 2, 3, device="meta"))
    assert all(t.is_meta for t in (output, *(last if kind == "LSTM" else [last])))
    assert output.shape == (5, 2, 8 if how.get("bidirectional") else 4)
    cell = getattr(torch.nn, f"{kind}Cell")(3, 4, device="meta")(torch.empty(2, 3, device="meta"))
    assert all(t.is_meta for t in (cell if kind == "LSTM" else [cell]))


@both
def test_what_reads_values_is_refused(torch: Any) -> None:
    x = torch.empty((), device="meta")
    with pytest.raises(RuntimeError, match="cannot be called on meta tensors"):
        1 in x  # noqa: B015
    with pytest.raises(TypeError, match=r"unsupported format string passed to Tensor.__format__"):
        f"{x:.2f}"
