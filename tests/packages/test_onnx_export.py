"""torch.onnx.export: what onnxruntime computes with the file is what the module computes."""
from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as runtime
import pytest

import retrograd as torch

nn, F = torch.nn, torch.nn.functional


def exported(module: Any, *inputs: Any, **options: Any) -> Any:
    file = io.BytesIO()
    assert torch.onnx.export(module, inputs, file, **options).model_proto.SerializeToString() == file.getvalue()
    return runtime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])


def check(module: Any, *inputs: Any) -> None:
    session = exported(module, *inputs)
    found = session.run(None, {i.name: x.numpy() for i, x in zip(session.get_inputs(), inputs)})
    was = module.training
    expected = module.eval()(*inputs)
    module.train(was)
    for a, b in zip(found, expected if isinstance(expected, tuple) else (expected,), strict=True):
        np.testing.assert_allclose(a, b.detach().numpy(), rtol=1e-4, atol=1e-5)
        assert a.dtype == b.detach().numpy().dtype


IMAGES = (2, 4, 8, 8)
LAYERS = [
    (nn.Linear(4, 3), (2, 4)), (nn.Linear(4, 3, bias=False), (2, 5, 4)), (nn.Conv1d(4, 6, 3, 2, 1, groups=2), (2, 4, 9)),
    (nn.Conv2d(4, 6, (3, 5), padding="same"), IMAGES), (nn.Conv2d(4, 6, 3, dilation=2, padding=(1, 2), bias=False), IMAGES),
    (nn.Conv3d(2, 3, 2), (1, 2, 4, 4, 4)), (nn.ConvTranspose2d(4, 6, 3, 2, 1, output_padding=1), IMAGES),
    (nn.BatchNorm1d(4), (3, 4)), (nn.BatchNorm2d(4, affine=False), IMAGES), (nn.LayerNorm((8, 8)), IMAGES),
    (nn.LayerNorm(4, elementwise_affine=False), (2, 4)), (nn.GroupNorm(2, 4), IMAGES), (nn.MaxPool2d(3, 2, 1), IMAGES),
    (nn.MaxPool1d(2), (2, 4, 8)), (nn.AvgPool2d(2, padding=1, count_include_pad=False), IMAGES),
    (nn.AvgPool2d(3, 1, 1), IMAGES), (nn.AdaptiveAvgPool2d(1), IMAGES), (nn.AdaptiveAvgPool2d((2, None)), IMAGES),
    (nn.PReLU(4), IMAGES), (nn.Flatten(), IMAGES), (nn.Flatten(0, 1), IMAGES), (nn.Dropout(0.5), (2, 4)),
    *((layer, (3, 5)) for layer in (
        nn.ReLU(), nn.Sigmoid(), nn.Tanh(), nn.SiLU(), nn.Mish(), nn.Hardswish(), nn.Hardsigmoid(), nn.SELU(), nn.Softsign(),
        nn.ReLU6(), nn.GELU(), nn.GELU("tanh"), nn.ELU(0.7), nn.LeakyReLU(0.2), nn.Hardtanh(-0.3, 0.4), nn.Softplus(),
        nn.Softmax(-1), nn.LogSoftmax(0), nn.Identity())),
]


@pytest.mark.parametrize(("layer", "shape"), LAYERS, ids=lambda x: str(x)[:40])
def test_layers_compute_the_same(layer: Any, shape: tuple[int, ...]) -> None:
    if hasattr(layer, "running_mean"):
        layer(torch.randn(shape) * 2 + 1)
    check(layer, torch.randn(shape))




def edited(y: Any) -> Any:
    y += 1
    return F.relu(y, inplace=True) * 3


CALLS = {
    "arithmetic": lambda x: (x + 1) * 2 - x / 3 + 2 - (-x) ** 2 + (1 - x) + 1 / (x * x + 1),
    "functions": lambda x: torch.exp(x).log() + x.abs().sqrt() + x.sin() * x.cos() + torch.erf(x) + x.clamp(-0.5, 0.5),
    "extremes": lambda x: torch.maximum(x, x * 2) + torch.minimum(x, x + 1) + x.clamp(min=0) + x.clamp(max=0.2),
    "shapes": lambda x: x.view(x.size(0), -1).reshape(2, 3, -1).permute(1, 0, 2).transpose(0, 1).unsqueeze(1).squeeze(1),
    "sizes": lambda x: x.reshape(x.shape[0], x.shape[1] * x.shape[2] // 2, 2) * x.shape[2],
    "reductions": lambda x: x.sum(1, keepdim=True) + x.mean((0, 2), keepdim=True) + x.amax(-1, keepdim=True) - x.mean(),
    "parts": lambda x: torch.cat([x[:, 1:], x[:, :1]], 1) + torch.stack([x[0], x[-1]])[:, :, ::1],
    "pieces": lambda x: (x.split([1, 3], 2)[0] + x.chunk(2, 2)[1].sum(2, keepdim=True), x[:, :, 0]),
    "products": lambda x: torch.matmul(x, x.transpose(1, 2)) @ torch.bmm(x, x.mT) + F.linear(x, x[0]),
    "attention": lambda x: F.scaled_dot_product_attention(x, x * 2, x + 1),
    "edits": lambda x: edited(x * 2),
    "activations": lambda x: F.softmax(F.relu(x), dim=1) + F.gelu(x) + F.silu(x) + x.sigmoid() + x.tanh() + x.log_softmax(-1),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_compute_the_same(name: str) -> None:
    class Called(nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return CALLS[name](x)
    check(Called(), torch.randn(2, 3, 4))


class Residual(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.conv, self.norm, self.head = nn.Conv2d(8, 8, 3, padding=1), nn.GroupNorm(4, 8), nn.Linear(8, 5)

    def forward(self, image: Any, scale: Any) -> Any:
        x = self.stem(image)
        x = F.max_pool2d(F.relu(x + self.norm(self.conv(x))), 2) * scale
        x = F.adaptive_avg_pool2d(x, 1)
        return self.head(x.view(x.size(0), -1)), x


def test_a_network_of_several_inputs_and_outputs() -> None:
    net = Residual().train()
    check(net, torch.randn(2, 3, 8, 8), torch.ones(1))
    assert net.training


def test_a_batch_may_have_another_size() -> None:
    net = Residual()
    axes = {"image": {0: "batch"}, "classes": {0: "batch"}}
    session = exported(net, torch.randn(2, 3, 8, 8), torch.ones(1), output_names=["classes", "features"], dynamic_axes=axes)
    assert [i.shape for i in session.get_inputs()] == [["batch", 3, 8, 8], [1]]
    x = torch.randn(7, 3, 8, 8)
    classes, features = session.run(["classes", "features"], {"image": x.numpy(), "scale": np.ones(1, np.float32)})
    expected = net.eval()(x, torch.ones(1))
    np.testing.assert_allclose(classes, expected[0].detach().numpy(), rtol=1e-4, atol=1e-5)
    assert features.shape == (7, 8, 1, 1)


def test_embeddings_and_names() -> None:
    model = nn.Sequential(nn.Embedding(10, 4), nn.Flatten(), nn.Linear(12, 2))
    session = exported(model, torch.tensor([[1, 2, 9]]), input_names=["tokens"], output_names=["logits"])
    [found] = session.run(["logits"], {"tokens": np.array([[1, 2, 9]])})
    np.testing.assert_allclose(found, model(torch.tensor([[1, 2, 9]])).detach().numpy(), rtol=1e-5)


@pytest.mark.parametrize(("module", "told"), [
    (nn.LSTM(4, 4), r"LSTM \(at call_module 0\)"),
    (nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Softmin(1)), r"Softmin \(at call_module 2\)"),
    (nn.BatchNorm1d(4, track_running_stats=False), "statistics of the batch"),
])
def test_what_is_not_exported_is_named(module: Any, told: str) -> None:
    with pytest.raises(NotImplementedError, match=told):
        torch.onnx.export(module, torch.randn(3, 4))


def test_functions_options_and_axes_that_are_not_exported_are_named() -> None:
    class Sorted(nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x.cumsum(0)

    class Edited(nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return (x * 2).relu_()

    class Twice(nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            y = x * 2
            z = y.view(4, 3)
            z += 1
            return z.exp().sum() + (y if self.training else z).sum() + y.sum()

    x = torch.randn(3, 4)
    with pytest.raises(RuntimeError, match="does not compute what the module does: write edits in place"):
        torch.onnx.export(Twice(), x)
    with pytest.raises(NotImplementedError, match="no ONNX operator here for cumsum .at call_method cumsum."):
        torch.onnx.export(Sorted(), x)
    with pytest.raises(NotImplementedError, match=r"relu_\(\), which edits a tensor in place: call relu\(\)"):
        torch.onnx.export(Edited(), x)
    with pytest.raises(NotImplementedError, match="retrograd writes opset 18"):
        torch.onnx.export(nn.ReLU(), x, opset_version=9)
    with pytest.raises(NotImplementedError, match="retrograd has no custom_opsets"):
        torch.onnx.export(nn.ReLU(), x, custom_opsets={"a": 1})
    with pytest.raises(NotImplementedError, match="dim 0 alone"):
        torch.onnx.export(nn.ReLU(), x, input_names=["x"], dynamic_axes={"x": {1: "width"}})
    with pytest.raises(ValueError, match="dynamic_axes names 'y'"):
        torch.onnx.export(nn.ReLU(), x, dynamic_axes={"y": {0: "n"}})


def test_a_file_is_replaced_by_a_whole_model_or_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(b"before")
    with pytest.raises(TypeError, match="expected a module of retrograd's, got function"):
        torch.onnx.export(lambda x: x, torch.ones(2), path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("the disk is gone")))
        with pytest.raises(OSError, match="the disk is gone"):
            torch.onnx.export(nn.Linear(3, 2), torch.ones(2, 3), path)
    assert path.read_bytes() == b"before" and list(tmp_path.iterdir()) == [path]
    torch.onnx.export(nn.Linear(3, 2), torch.ones(2, 3), path)
    assert runtime.InferenceSession(path.read_bytes()).get_inputs()[0].shape == [2, 3]
