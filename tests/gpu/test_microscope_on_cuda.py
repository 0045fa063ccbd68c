"""The microscope on CUDA: cases of the table against a batch-of-one loop, autocast and float16 with a scaler."""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from retrograd import microscope
from retrograd.microscope import capture

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.oracle, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "microscope" / "capture"))
CASES = (
    "linear_2d", "linear_3d", "linear_4d", "relu_in_place_3d", "layer_called_twice", "tied_embedding_and_head",
    "embedding_with_padding", "conv1d", "conv2d_groups_stride_dilation", "layer_norm", "group_norm", "rms_norm",
    "batch_norm_in_eval", "prelu", "bare_scale_and_shift", "functional_use_of_a_layers_weight", "attention",
    "encoder_layer", "lstm", "gru_tokens_first", "checkpointed", "checkpointed_reentrant",
)


def moved(x: Any) -> Any:
    return x.cuda() if isinstance(x, torch.Tensor) else x


@pytest.mark.parametrize("name", CASES)
def test_captured_factors_give_the_gradients_on_cuda(name: str) -> None:
    from cases import CASES as table
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    case = table[name](torch)
    model, inputs = case.model.cuda(), tuple(moved(x) for x in case.inputs)
    N = inputs[0].shape[case.batch_dim]

    def loss(out: Any) -> Any:
        out = case.out(out)
        return (out.sin() * out + out.pow(2)).sum()
    with capture(model, batch_dim=case.batch_dim) as cap:
        loss(model(*inputs)).backward()
    assert cap.coverage().complete and max(cap.check().values()) < 1e-3
    each = cap.grads().per_sample()
    for n in range(N):
        model.zero_grad(set_to_none=True)
        loss(model(*(x.narrow(case.batch_dim, n, 1) for x in inputs))).backward()
        for key, p in model.named_parameters():
            if p.grad is not None:
                assert each[key].is_cuda
                assert float((each[key][n] - p.grad).norm()) <= 2e-3 * max(float(p.grad.norm()), 1e-2)
    dense = torch.cat([g.reshape(N, -1) for g in each.values()], 1)
    assert torch.allclose(cap.grads().norms(), dense.norm(dim=1), rtol=1e-3)
    assert torch.allclose(cap.grads().dots(), dense @ dense.T, rtol=1e-2, atol=1e-3 * float((dense @ dense.T).abs().max()))
    assert all(g.is_cuda for g in cap.grads().clip(0.1).values())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_with_a_scaler(dtype: Any) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.LayerNorm(32), torch.nn.GELU(), torch.nn.Linear(32, 8)).cuda()
    scaler = torch.amp.GradScaler("cuda", init_scale=256.0)
    with capture(model) as cap, torch.autocast("cuda", dtype):
        scaler.scale(model(torch.randn(16, 5, 64, device="cuda")).float().pow(2).mean()).backward()
    assert cap.coverage().complete and max(cap.check().values()) < 3e-2
    assert cap.grads(scale="sum").norms().is_cuda


def test_kfac_projection_segments_and_store(tmp_path: Any) -> None:
    from retrograd.microscope import FactorStore
    model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)).cuda()
    with capture(model) as cap:
        model(torch.randn(1, 9, 6, device="cuda")).pow(2).sum().backward()
    g = cap.grads()
    assert all(t.is_cuda for t in g.kfac(damping=0.1).corrected(g).apply(g.weight_grad()).values())
    assert g.project(8)["0.weight"].is_cuda and g.segments([0, 4, 9]).norms().shape == (2,)
    with FactorStore(tmp_path) as store:
        store.append(g, 0)
    a, _ = g.factors("0.weight")
    assert torch.equal(FactorStore(tmp_path, "r", engine="torch").read("0.weight", 0)["a"], a[0].cpu())


def test_memory_counts_on_the_device_and_asks_its_allocator() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).cuda()
    with microscope.memory(model) as mem:
        model(torch.randn(128, 64, device="cuda")).sum().backward()
    assert {group.name: group.bytes for group in mem.by("module")}["1"] == 128 * 256 * 4
    assert mem.allocated["cuda:0"] >= mem.peak and "allocated on cuda:0" in str(mem)
