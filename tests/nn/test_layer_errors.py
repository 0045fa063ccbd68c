"""Bad input: layers raise what PyTorch raises, and a note says which layer, what it got and what it takes."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

import retrograd
from retrograd import nn

Shapes = list[Any]      # a tuple is the shape of a float tensor, a list is an integer tensor

CASES: list[tuple[str, Shapes]] = [
    ("nn.Linear(3, 4)", [(2, 4)]),
    ("nn.Linear(3, 4)", [()]),
    ("nn.Linear(3, 4)", [(2, 2, 5)]),
    ("nn.Bilinear(3, 4, 5)", [(2, 3), (2, 5)]),
    ("nn.Bilinear(3, 4, 5)", [(2, 3), (3, 4)]),
    ("nn.Flatten(1, 5)", [(2, 3)]),
    ("nn.Unflatten(1, (2, 2))", [(2, 3)]),
    ("nn.Conv1d(3, 4, 3)", [(2, 4, 5)]),
    ("nn.Conv1d(3, 4, 3)", [(2, 3)]),
    ("nn.Conv1d(3, 4, 3)", [(3, 2)]),
    ("nn.Conv1d(3, 4, 3)", [(2, 3, 2)]),
    ("nn.Conv1d(3, 4, 3)", [(1, 2, 3, 4)]),
    ("nn.Conv2d(3, 4, 3)", [(2, 4, 5, 5)]),
    ("nn.Conv2d(3, 4, 3)", [(5, 5)]),
    ("nn.Conv2d(3, 4, 3)", [(2, 3, 2, 5)]),
    ("nn.Conv2d(4, 4, 3, groups=2)", [(2, 3, 5, 5)]),
    ("nn.ConvTranspose1d(3, 4, 3)", [(2, 4, 5)]),
    ("nn.ConvTranspose2d(3, 4, 3)", [(2, 4, 5, 5)]),
    ("nn.ConvTranspose2d(3, 4, 3)", [(2, 4)]),
    ("nn.MaxPool1d(3)", [(2,)]),
    ("nn.MaxPool2d(3)", [(2, 2)]),
    ("nn.MaxPool2d(3)", [(2, 2, 2, 2)]),
    ("nn.AvgPool1d(3)", [(2,)]),
    ("nn.AvgPool2d(3)", [(2, 2, 2)]),
    ("nn.AdaptiveAvgPool2d(3)", [(2,)]),
    ("nn.AdaptiveMaxPool1d(3)", [(2,)]),
    ("nn.AdaptiveAvgPool1d(2)", [(2,)]),
    ("nn.ReflectionPad1d(3)", [(1, 2, 3)]),
    ("nn.ReflectionPad2d(3)", [(3, 3)]),
    ("nn.ReplicationPad1d(1)", [(3,)]),
    ("nn.CircularPad1d(5)", [(1, 2, 3)]),
    ("nn.ConstantPad2d(1, 0.)", [(3,)]),
    ("nn.ZeroPad2d(1)", [(3,)]),
    ("nn.Upsample(scale_factor=2, mode='bilinear')", [(2, 3, 4)]),
    ("nn.Upsample(scale_factor=2)", [(2, 3)]),
    ("nn.Upsample()", [(2, 3, 4)]),
    ("nn.PixelShuffle(2)", [(1, 3, 2, 2)]),
    ("nn.PixelShuffle(2)", [(3, 2)]),
    ("nn.PixelUnshuffle(2)", [(1, 3, 3, 2)]),
    ("nn.BatchNorm1d(3)", [(2, 4)]),
    ("nn.BatchNorm1d(3)", [(3,)]),
    ("nn.BatchNorm1d(3)", [(1, 3)]),
    ("nn.BatchNorm2d(3)", [(2, 4, 2, 2)]),
    ("nn.BatchNorm2d(3)", [(2, 3)]),
    ("nn.LayerNorm(3)", [(2, 4)]),
    ("nn.LayerNorm((2, 3))", [(3,)]),
    ("nn.GroupNorm(2, 4)", [(2, 3)]),
    ("nn.GroupNorm(2, 4)", [(2,)]),
    ("nn.InstanceNorm1d(3)", [(2, 4, 5)]),
    ("nn.InstanceNorm1d(3)", [(4,)]),
    ("nn.InstanceNorm2d(3, affine=True)", [(2, 4, 5, 5)]),
    ("nn.InstanceNorm2d(3)", [(2, 3, 1, 1)]),
    ("nn.RMSNorm(3)", [(2, 4)]),
    ("nn.Embedding(3, 4)", [[5]]),
    ("nn.Embedding(3, 4)", [[-1]]),
    ("nn.Embedding(3, 4)", [(2,)]),
    ("nn.EmbeddingBag(3, 4)", [[2]]),
    ("nn.EmbeddingBag(3, 4)", [(2, 2)]),
    ("nn.Dropout2d(0.5)", [(2,)]),
    ("nn.Softmax(5)", [(2, 3)]),
    ("nn.GLU()", [(2, 3)]),
    ("nn.PReLU(3)", [(2, 4)]),
    ("nn.Softmax2d()", [(2, 3)]),
    ("nn.RNN(3, 4)", [(5, 2, 4)]),
    ("nn.RNN(3, 4)", [(5,)]),
    ("nn.GRU(3, 4)", [(5,)]),
    ("nn.LSTM(3, 4)", [(1, 1, 3, 1)]),
    ("nn.RNN(3, 4)", [(5, 2, 3), (2, 2, 4)]),
    ("nn.LSTM(3, 4)", [(5, 2, 4)]),
    ("nn.RNNCell(3, 4)", [(2, 4)]),
    ("nn.GRUCell(3, 4)", [(2, 3), (2, 5)]),
    ("nn.LSTMCell(3, 4)", [(1, 2, 3)]),
    ("nn.MultiheadAttention(4, 2)", [(3, 2, 5), (3, 2, 5), (3, 2, 5)]),
    ("nn.MultiheadAttention(4, 2)", [(3, 2, 4), (3, 3, 4), (3, 3, 4)]),
    ("nn.MultiheadAttention(4, 2)", [(3,), (3,), (3,)]),
    ("nn.TransformerEncoderLayer(4, 2, 8)", [(3, 2, 5)]),
    ("nn.Transformer(4, 2, 1, 1, 8)", [(3, 2, 4), (3, 3, 4)]),
    ("nn.Transformer(4, 2, 1, 1, 8)", [(3, 2, 5), (3, 2, 4)]),
    ("nn.MSELoss()", [(2, 3), (4,)]),
    ("nn.MSELoss()", [(2, 3), (4, 3)]),
    ("nn.L1Loss()", [(2, 3), (2,)]),
    ("nn.CrossEntropyLoss()", [(2, 3), [2]]),
    ("nn.CrossEntropyLoss()", [(2, 3), [1, 5]]),
    ("nn.CrossEntropyLoss()", [(2, 3), (2,)]),
    ("nn.NLLLoss()", [(2, 3), [1, 1, 1]]),
    ("nn.NLLLoss()", [(2,), [0, 0]]),
    ("nn.BCELoss()", [(2,), (3,)]),
    ("nn.BCEWithLogitsLoss()", [(2,), (3,)]),
    ("nn.KLDivLoss()", [(2, 3), (4,)]),
    ("nn.SmoothL1Loss()", [(2, 3), (4,)]),
    ("nn.HuberLoss()", [(2, 3), (4,)]),
    ("nn.CosineEmbeddingLoss()", [(2, 3), (2, 3), (3,)]),
    ("nn.MarginRankingLoss()", [(2,), (3,), (2,)]),
    ("nn.TripletMarginLoss()", [(2, 3), (2, 3), (3,)]),
    ("nn.MultiMarginLoss()", [(2, 3), [5, 1]]),
    ("nn.MultiLabelMarginLoss()", [(2, 3), [1, 1]]),
    ("nn.GaussianNLLLoss()", [(2, 3), (2, 3), (3, 2)]),
    ("nn.PoissonNLLLoss()", [(2,), (3,)]),
    ("nn.HingeEmbeddingLoss()", [(2,), (3,)]),
    ("nn.SoftMarginLoss()", [(2,), (3,)]),
    ("nn.MultiLabelSoftMarginLoss()", [(2, 3), (2, 2)]),
    ("nn.Sequential(nn.Linear(2, 3), nn.Linear(4, 5))", [(1, 2)]),
    ("nn.MaxPool2d(0)", [(1, 4, 4)]),
    ("nn.MaxPool2d(2, padding=2)", [(1, 4, 4)]),
    ("nn.AvgPool2d(2, padding=2)", [(1, 4, 4)]),
    ("nn.Fold((4, 4), 2)", [(1, 3, 9)]),
    ("nn.Unfold(5)", [(1, 1, 3, 3)]),
    ("nn.ConvTranspose2d(3, 4, 3, output_padding=2)", [(1, 3, 4, 4)]),
    ("nn.MaxUnpool2d(2)", [(1, 1, 2, 2), (1, 1, 2, 2)]),
    ("nn.LocalResponseNorm(2)", [(2,)]),
    ("nn.CosineSimilarity()", [(2, 3), (2, 4)]),
    ("nn.PairwiseDistance()", [(2, 3), (2, 4)]),
    ("nn.ChannelShuffle(2)", [(1, 3, 2, 2)]),
    ("nn.InstanceNorm1d(3)", [(2, 3, 1)]),
    ("nn.Upsample(scale_factor=2., mode='bicubic')", [(1, 1, 1)]),
    ("nn.Upsample(scale_factor=2., mode='bicubic')", [(1, 1, 1, 1, 1)]),
    ("nn.CrossMapLRN2d(2)", [(2, 3, 4)]),
    ("nn.LocalResponseNorm(-100)", [(2, 3, 4)]),
]
MADE = [
    "nn.Embedding(3, 4, padding_idx=5)",
    "nn.Dropout(1.5)",
    "nn.GRU(3, 4, nonlinearity='relu')",
    "nn.RNN(3, 4, nonlinearity='x')",
    "nn.LSTM(3, 4, proj_size=5)",
    "nn.LSTM(3, 0)",
    "nn.LSTM(3, 4, dropout=2.)",
    "nn.MultiheadAttention(5, 2)",
    "nn.Linear(-1, 2)",
    "nn.Bilinear(-1, 2, 3)",
    "nn.Bilinear(0, 2, 3)",
    "nn.HuberLoss(delta='a')",
    "nn.Linear(2.5, 2)",
    "nn.Conv2d(3, 4, 3, groups=2)",
    "nn.Conv2d(3, 4, 3, stride=2, padding='same')",
    "nn.Conv2d(3, 4, 3, groups=0)",
    "nn.Sequential(1)",
]


def ended(package: Any, code: str, given: Shapes) -> BaseException | None:
    """The exception that making the layer, or calling it with such tensors, ends with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = eval(code, {"nn": package.nn})
            if given:
                module(*(package.tensor(g) if isinstance(g, list) else package.rand(g) * 0.5 for g in given))
        except Exception as error:
            return error
    return None


def first_line(error: BaseException | None) -> str:
    return "" if error is None else f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"


@pytest.mark.oracle
@pytest.mark.parametrize(("code", "given"), CASES, ids=[f"{code[3:]}-{given}" for code, given in CASES])
def test_a_layer_raises_what_pytorch_raises(code: str, given: Shapes) -> None:
    torch = pytest.importorskip("torch")
    assert first_line(ended(retrograd, code, given)) == first_line(ended(torch, code, given))


@pytest.mark.oracle
@pytest.mark.parametrize("code", MADE)
def test_a_constructor_refuses_what_pytorchs_refuses(code: str) -> None:
    torch = pytest.importorskip("torch")
    assert first_line(ended(retrograd, code, [])) == first_line(ended(torch, code, []))


@pytest.mark.oracle
@pytest.mark.parametrize(("code", "given"), [
    ("nn.Transformer(4, 2, -100, 1)", [(3, 2, 4), (2, 2, 4)]),
    ("nn.AdaptiveAvgPool2d(1)", [(2,)]),
    ("nn.AdaptiveAvgPool3d(1)", [(2, 2)]),
])
def test_a_layer_that_cannot_work_says_so_when_called(code: str, given: Shapes) -> None:
    torch = pytest.importorskip("torch")
    assert first_line(ended(retrograd, code, given)) == first_line(ended(torch, code, given)) != ""


@pytest.mark.parametrize(("code", "given"), CASES, ids=[f"{code[3:]}-{given}" for code, given in CASES])
def test_a_note_names_the_layer_its_input_and_what_it_takes(code: str, given: Shapes) -> None:
    error = ended(retrograd, code, given)
    if error is None:                           # broadcasting, say: PyTorch lets it pass, too
        return
    (note,) = error.__notes__
    kind = code[3:].partition("(")[0] if "Sequential" not in code else "Linear"
    told = r"got (an input|inputs|query, key and value|indices) .*, expected .+"
    if kind == "TransformerEncoderLayer":
        kind = "MultiheadAttention"
    assert re.match(rf"In layer ([\w.]+, )?{kind}\(.*\): {told}", note), note


@pytest.mark.parametrize(("code", "dtypes", "told"), [
    ("nn.Linear(3, 4)", ["float64"],
     "got an input of shape (2, 3) and dtype torch.float64, expected torch.float32, the dtype of its parameters"),
    ("nn.GRUCell(3, 3).double()", ["float64", "float32"],
     "got inputs of shapes (2, 3) and (2, 3) and dtypes torch.float64 and torch.float32, expected torch.float64, the dtype "
     "of its parameters"),
    ("nn.LayerNorm(3)", ["float64"],
     "got an input of shape (2, 3) and dtype torch.float64, expected torch.float32, the dtype of its parameters"),
    ("nn.Embedding(3, 4)", ["float32"],
     "got an input of shape (2, 3) and dtype torch.float32, expected integer indices below 3"),
    ("nn.BCELoss()", ["float32", "int64"],
     "got inputs of shapes (2, 3) and (2, 3) and dtypes torch.float32 and torch.int64, expected input and target of one "
     "shape")])
def test_a_note_names_dtypes_that_do_not_fit(code: str, dtypes: list[str], told: str) -> None:
    layer = eval(code, {"nn": nn})
    with pytest.raises(RuntimeError) as e:
        layer(*(retrograd.zeros(2, 3, dtype=getattr(retrograd, dtype)) for dtype in dtypes))
    (note,) = e.value.__notes__
    assert note.endswith(f"): {told}"), note


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float64", "float16", "int64"])
@pytest.mark.parametrize("code", [
    "nn.Linear(3, 4)", "nn.Conv1d(3, 4, 2)", "nn.Conv1d(3, 4, 2, bias=False)", "nn.Conv2d(3, 4, 2)",
    "nn.ConvTranspose1d(3, 4, 2)", "nn.ConvTranspose2d(3, 4, 2, bias=False)"])
def test_other_dtypes_raise_what_pytorch_raises(code: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    shape = (2, 3, 5, 5) if "2d" in code else (2, 3, 5) if "1d" in code else (2, 3)
    told = []
    for package in (retrograd, torch):
        layer = eval(code, {"nn": package.nn})
        with pytest.raises(RuntimeError) as e:
            layer(package.zeros(shape, dtype=getattr(package, dtype)))
        told.append(first_line(e.value))
    if "MKLDNN" in told[1]:                     # where the processor computes in half precision, PyTorch asks another library
        told[1] = "RuntimeError: expected scalar type Half but found Float"
    assert told[0] == told[1]


def test_paths_lead_through_layers_of_layers() -> None:
    model = nn.ModuleDict({"net": nn.Sequential(nn.TransformerEncoderLayer(4, 2, 8))})
    with pytest.raises(AssertionError, match="was expecting embedding dimension of 4, but got 5") as e:
        model["net"](retrograd.rand(3, 2, 5))
    assert e.value.__notes__[0].startswith("In layer 0.self_attn, MultiheadAttention(")


def test_what_a_hook_raises_is_not_the_layers() -> None:
    layer = nn.ReLU()

    def refuse(*args: Any) -> None:
        raise ValueError("not today")

    layer.register_forward_hook(refuse)
    with pytest.raises(ValueError, match="not today") as e:
        nn.Sequential(layer)(retrograd.rand(2))
    assert not hasattr(e.value, "__notes__")


def test_an_error_about_the_graph_names_no_shapes() -> None:
    with retrograd.inference_mode():
        x = retrograd.ones(2, 1, 4, 4)
    with pytest.raises(RuntimeError, match=r"Inference tensors cannot be saved for backward\.") as e:
        nn.Sequential(nn.Conv2d(1, 2, 3))(x)
    assert not hasattr(e.value, "__notes__")
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation") as e:
        nn.ReLU(inplace=True)(retrograd.ones(2, requires_grad=True))
    assert not hasattr(e.value, "__notes__")
