"""Every layer beside PyTorch's: same repr, state dict, outputs, gradients, buffers, and the same start."""

from __future__ import annotations

import importlib
import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from random_programs.program import difference

import retrograd

pytestmark = pytest.mark.oracle

# What a layer is given: a shape for a float tensor that wants a gradient, or one of these.
Shape = tuple[int, ...]


class Ints:
    """Whole numbers below n."""

    def __init__(self, n: int, *shape: int) -> None:
        self.n, self.shape = n, shape

    def make(self, rng: Any) -> Any:
        return rng.integers(0, self.n, self.shape)


class Signs(Ints):
    """1. and -1."""

    def __init__(self, *shape: int) -> None:
        super().__init__(2, *shape)

    def make(self, rng: Any) -> Any:
        return super().make(rng) * 2.0 - 1


class Unit(Ints):
    """Between 0.05 and 0.95; with grad=True it wants a gradient."""

    def __init__(self, *shape: int, grad: bool = False) -> None:
        super().__init__(1, *shape)
        self.grad = grad

    def make(self, rng: Any) -> Any:
        return rng.uniform(0.05, 0.95, self.shape)


class Mask(Ints):
    """bool; the first of each row is False."""

    def __init__(self, *shape: int) -> None:
        super().__init__(2, *shape)

    def make(self, rng: Any) -> Any:
        found = super().make(rng) == 1
        found[..., 0] = False
        return found


class Given(Ints):
    def __init__(self, value: Any) -> None:
        self.value = np.array(value)

    def make(self, rng: Any) -> Any:
        return self.value


CASES: list[tuple[str, list[Any]]] = [
    ("nn.Identity(54, unused=1)", [(2, 3)]),
    ("nn.Linear(3, 4)", [(3,)]),
    ("nn.Linear(3, 4)", [(2, 3)]),
    ("nn.Linear(3, 4, bias=False)", [(2, 5, 3)]),
    ("nn.Linear(3, 0)", [(2, 3)]),
    ("nn.Bilinear(2, 3, 4)", [(5, 2), (5, 3)]),
    ("nn.Bilinear(2, 3, 4, bias=False)", [(5, 2), (5, 3)]),
    ("nn.Flatten()", [(2, 3, 4)]),
    ("nn.Flatten(0, 1)", [(2, 3, 4)]),
    ("nn.Unflatten(1, (2, -1))", [(2, 6, 3)]),
    ("nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))", [(2, 3)]),
    # activations
    *[(f"nn.{name}", [(2, 3, 4)]) for name in (
        "ReLU()", "ReLU(True)", "ReLU6()", "Sigmoid()", "Tanh()", "ELU()", "ELU(0.5)", "SELU()", "CELU(1.3)", "GELU()",
        "GELU('tanh')", "SiLU()", "Mish()", "Softplus()", "Softplus(2.0, 1.0)", "Softsign()", "Softshrink(0.2)",
        "Hardshrink(0.3)", "Hardtanh(-0.5, 0.7)", "Hardswish()", "Hardsigmoid()", "LeakyReLU(0.2)", "LogSigmoid()",
        "Tanhshrink()", "Threshold(0.1, 20.0)", "Softmax(1)", "LogSoftmax(-1)", "Softmin(dim=0)", "Softmax2d()",
        "PReLU()", "PReLU(3)", "GLU()", "RReLU(0.2, 0.2)", "RReLU()")],
    # convolutions
    ("nn.Conv1d(4, 6, 3)", [(2, 4, 9)]),
    ("nn.Conv1d(4, 6, 3, padding='same', dilation=2, groups=2, bias=False)", [(2, 4, 9)]),
    ("nn.Conv1d(2, 3, 3, padding=2, padding_mode='circular')", [(2, 2, 9)]),
    ("nn.Conv2d(4, 6, 3, padding=1)", [(2, 4, 7, 6)]),
    ("nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2)", [(2, 4, 7, 6)]),
    ("nn.Conv2d(2, 3, 3, padding='valid')", [(2, 7, 6)]),
    ("nn.Conv2d(2, 3, 3, padding=1, padding_mode='reflect')", [(1, 2, 7, 6)]),
    ("nn.Conv2d(2, 3, 3, padding='same', padding_mode='replicate')", [(1, 2, 7, 6)]),
    ("nn.Conv3d(2, 3, 2)", [(1, 2, 4, 5, 3)]),
    ("nn.ConvTranspose1d(4, 6, 3, stride=2, output_padding=1)", [(2, 4, 5)]),
    ("nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, groups=2)", [(2, 4, 4, 3)]),
    ("nn.ConvTranspose2d(4, 2, (3, 2), dilation=2, bias=False)", [(4, 4, 3)]),
    ("nn.ConvTranspose3d(2, 3, 2)", [(1, 2, 2, 3, 2)]),
    # pooling
    ("nn.MaxPool1d(2)", [(2, 3, 8)]),
    ("nn.MaxPool2d(3, 2, padding=1)", [(2, 3, 8, 7)]),
    ("nn.MaxPool2d(2, dilation=2, ceil_mode=True)", [(3, 8, 7)]),
    ("nn.MaxPool2d(2, return_indices=True)", [(2, 3, 4, 4)]),
    ("nn.MaxPool3d(2)", [(1, 2, 4, 4, 4)]),
    ("nn.AvgPool1d(3, 2)", [(2, 3, 8)]),
    ("nn.AvgPool2d(3, 2, 1, count_include_pad=False)", [(2, 3, 8, 7)]),
    ("nn.AvgPool2d(2, divisor_override=3, ceil_mode=True)", [(2, 3, 5, 5)]),
    ("nn.AvgPool3d(2)", [(1, 2, 4, 4, 4)]),
    ("nn.LPPool1d(2, 3)", [(2, 3, 8)]),
    ("nn.LPPool2d(2, 3, stride=2)", [(2, 3, 8, 7)]),
    ("nn.AdaptiveAvgPool1d(3)", [(2, 3, 8)]),
    ("nn.AdaptiveAvgPool2d((3, None))", [(2, 3, 8, 7)]),
    ("nn.AdaptiveAvgPool2d(1)", [(2, 3, 8, 7)]),
    ("nn.AdaptiveMaxPool1d(3)", [(2, 3, 8)]),
    ("nn.AdaptiveMaxPool2d((3, 2))", [(2, 3, 8, 7)]),
    ("nn.MaxUnpool2d(2)", [(1, 1, 2, 2), Given([[[[0, 3], [9, 15]]]])]),
    ("nn.FractionalMaxPool2d(2, (3, 4), _random_samples=torch.linspace(0.1, 0.9, 12).view(2, 3, 2).double())", [(2, 3, 8, 7)]),
    ("nn.FractionalMaxPool2d((3, 2), output_ratio=0.5, return_indices=True, _random_samples=torch.full((1, 3, 2), 0.3).double())",
     [(3, 8, 7)]),
    ("nn.FractionalMaxPool3d(2, output_ratio=(0.4, 0.5, 0.6), _random_samples=torch.full((1, 2, 3), 0.7).double())",
     [(1, 2, 5, 6, 7)]),
    # space
    ("nn.ConstantPad1d(2, 1.5)", [(2, 3, 4)]),
    ("nn.ConstantPad2d((1, 2, 0, 1), 1.5)", [(2, 3, 4, 5)]),
    ("nn.ConstantPad3d(1, 0.5)", [(1, 2, 3, 4, 5)]),
    ("nn.ZeroPad1d(1)", [(2, 3, 4)]),
    ("nn.ZeroPad2d((1, 2, -1, 1))", [(2, 3, 4, 5)]),
    ("nn.ReflectionPad1d((1, 2))", [(2, 3, 4)]),
    ("nn.ReflectionPad2d(2)", [(2, 3, 4, 5)]),
    ("nn.ReplicationPad1d(2)", [(2, 3, 4)]),
    ("nn.ReplicationPad2d((1, 0, 2, 1))", [(2, 3, 4, 5)]),
    ("nn.CircularPad2d((1, 0, 2, 1))", [(2, 3, 4, 5)]),
    ("nn.Upsample(scale_factor=2)", [(1, 2, 3, 4)]),
    ("nn.Upsample(size=(5, 7), mode='bilinear')", [(1, 2, 3, 4)]),
    ("nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True)", [(1, 2, 3, 4)]),
    ("nn.UpsamplingNearest2d(scale_factor=2)", [(1, 2, 3, 4)]),
    ("nn.UpsamplingBilinear2d(size=(6, 6))", [(1, 2, 3, 4)]),
    ("nn.PixelShuffle(2)", [(1, 8, 2, 3)]),
    ("nn.PixelUnshuffle(2)", [(1, 2, 4, 6)]),
    ("nn.ChannelShuffle(2)", [(1, 6, 2, 2)]),
    ("nn.Fold((4, 5), 2)", [(1, 8, 12)]),
    ("nn.Unfold((2, 3), padding=1, stride=2)", [(1, 2, 5, 6)]),
    # normalisation
    ("nn.BatchNorm1d(3)", [(5, 3)]),
    ("nn.BatchNorm1d(3, momentum=None)", [(5, 3, 4)]),
    ("nn.BatchNorm2d(3, eps=1e-3, momentum=0.3)", [(5, 3, 4, 2)]),
    ("nn.BatchNorm2d(3, affine=False)", [(5, 3, 4, 2)]),
    ("nn.BatchNorm2d(3, track_running_stats=False)", [(5, 3, 4, 2)]),
    ("nn.BatchNorm2d(3, bias=False)", [(5, 3, 4, 2)]),
    ("nn.BatchNorm3d(2)", [(3, 2, 2, 2, 2)]),
    ("nn.LayerNorm(4)", [(2, 3, 4)]),
    ("nn.LayerNorm((3, 4), eps=1e-3, bias=False)", [(2, 3, 4)]),
    ("nn.LayerNorm(4, elementwise_affine=False)", [(2, 3, 4)]),
    ("nn.GroupNorm(2, 4)", [(2, 4, 3)]),
    ("nn.GroupNorm(2, 4, affine=False)", [(2, 4, 3, 2)]),
    ("nn.InstanceNorm1d(3)", [(2, 3, 4)]),
    ("nn.InstanceNorm2d(3, affine=True, track_running_stats=True)", [(2, 3, 4, 4)]),
    ("nn.InstanceNorm2d(3, affine=True)", [(3, 4, 4)]),
    ("nn.RMSNorm(4)", [(2, 3, 4)]),
    ("nn.RMSNorm((3, 4), eps=1e-3, elementwise_affine=False)", [(2, 3, 4)]),
    ("nn.LocalResponseNorm(2)", [(2, 4, 3, 3)]),
    # tables
    ("nn.Embedding(7, 3)", [Ints(7, 2, 4)]),
    ("nn.Embedding(7, 3, padding_idx=-2)", [Ints(7, 2, 9)]),
    ("nn.Embedding(7, 3, max_norm=0.5, scale_grad_by_freq=True)", [Ints(7, 9)]),
    ("nn.EmbeddingBag(7, 3)", [Ints(7, 2, 4)]),
    ("nn.EmbeddingBag(7, 3, mode='sum')", [Ints(7, 6), Given([0, 2, 2])]),
    ("nn.EmbeddingBag(7, 3, mode='max')", [Ints(7, 6), Given([0, 2])]),
    # dropout that drops nothing
    ("nn.Dropout(0.0)", [(2, 3)]),
    ("nn.Dropout2d(0.0)", [(2, 3, 2, 2)]),
    ("nn.AlphaDropout(0.0)", [(2, 3)]),
    # distances and losses
    ("nn.CosineSimilarity(dim=1)", [(2, 3), (2, 3)]),
    ("nn.PairwiseDistance(p=1.0, keepdim=True)", [(2, 3), (2, 3)]),
    *[(f"nn.{name}(reduction='{how}')", [(4, 3), (4, 3)]) for how in ("mean", "sum", "none")
      for name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss")],
    ("nn.SmoothL1Loss(beta=0.3)", [(4, 3), (4, 3)]),
    ("nn.HuberLoss(delta=0.3)", [(4, 3), (4, 3)]),
    ("nn.AdaptiveLogSoftmaxWithLoss(16, 12, [4, 7])", [(9, 16), Ints(12, 9)]),
    ("nn.AdaptiveLogSoftmaxWithLoss(16, 7, (2, 3, 5), div_value=2.0, head_bias=True)", [(16,), Ints(7)]),
    ("nn.LinearCrossEntropyLoss(3, 5, bias=True, label_smoothing=0.1)", [(4, 3), Ints(5, 4)]),
    ("nn.LinearCrossEntropyLoss(3, 5, out_features=(2,), reduction='none', ignore_index=1)", [(4, 3), Ints(5, 4, 2)]),
    ("nn.CrossEntropyLoss()", [(4, 3), Ints(3, 4)]),
    ("nn.CrossEntropyLoss(weight=torch.tensor([0.2, 1.0, 3.0]).double(), label_smoothing=0.1)", [(4, 3), Ints(3, 4)]),
    ("nn.CrossEntropyLoss(ignore_index=1, reduction='sum')", [(4, 3, 5), Ints(3, 4, 5)]),
    ("nn.CrossEntropyLoss()", [(4, 3), Unit(4, 3)]),
    ("nn.NLLLoss()", [(4, 3), Ints(3, 4)]),
    ("nn.KLDivLoss(reduction='batchmean')", [(4, 3), Unit(4, 3)]),
    ("nn.KLDivLoss(reduction='sum', log_target=True)", [(4, 3), (4, 3)]),
    ("nn.BCELoss()", [Unit(4, 3, grad=True), Unit(4, 3)]),
    ("nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2.0, 3.0]).double())", [(4, 3), Unit(4, 3)]),
    ("nn.PoissonNLLLoss(full=True)", [(4, 3), Ints(5, 4, 3)]),
    ("nn.GaussianNLLLoss()", [(4, 3), (4, 3), Unit(4, 3, grad=True)]),
    ("nn.HingeEmbeddingLoss()", [(4, 3), Signs(4, 3)]),
    ("nn.SoftMarginLoss()", [(4, 3), Signs(4, 3)]),
    ("nn.CosineEmbeddingLoss(0.2)", [(4, 3), (4, 3), Signs(4)]),
    ("nn.MarginRankingLoss(0.1)", [(4,), (4,), Signs(4)]),
    ("nn.MultiMarginLoss(p=2)", [(4, 3), Ints(3, 4)]),
    ("nn.MultiLabelMarginLoss()", [(1, 4), Given([[3, 0, -1, 1]])]),
    ("nn.MultiLabelSoftMarginLoss()", [(4, 3), Given(np.eye(4, 3))]),
    ("nn.TripletMarginLoss(p=2, swap=True)", [(4, 3), (4, 3), (4, 3)]),
    ("nn.TripletMarginWithDistanceLoss()", [(4, 3), (4, 3), (4, 3)]),
    # recurrent
    ("nn.RNN(3, 4)", [(5, 2, 3)]),
    ("nn.RNN(3, 4, 2, 'relu', bidirectional=True)", [(5, 2, 3), (4, 2, 4)]),
    ("nn.GRU(3, 4, num_layers=2, batch_first=True)", [(2, 5, 3)]),
    ("nn.GRU(3, 4, bias=False, bidirectional=True)", [(5, 2, 3)]),
    ("nn.GRU(3, 4)", [(5, 3), (1, 4)]),
    ("nn.LSTM(3, 4)", [(5, 2, 3)]),
    ("nn.LSTM(3, 4, 2, bidirectional=True, batch_first=True)", [(2, 5, 3)]),
    ("nn.LSTM(3, 5, proj_size=2, bias=False)", [(4, 2, 3)]),
    ("nn.LSTM(3, 4)", [(5, 3)]),
    ("nn.RNNCell(3, 4, nonlinearity='relu')", [(2, 3), (2, 4)]),
    ("nn.GRUCell(3, 4)", [(2, 3), (2, 4)]),
    ("nn.GRUCell(3, 4, bias=False)", [(3,)]),
    ("nn.LSTMCell(3, 4)", [(2, 3)]),
    # attention
    ("nn.MultiheadAttention(6, 2)", [(4, 2, 6), (5, 2, 6), (5, 2, 6)]),
    ("nn.MultiheadAttention(6, 3, batch_first=True, bias=False)", [(2, 4, 6), (2, 5, 6), (2, 5, 6), Mask(2, 5)]),
    ("nn.MultiheadAttention(6, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True)",
     [(4, 2, 6), (5, 2, 3), (5, 2, 5)]),
    ("nn.MultiheadAttention(6, 2)", [(4, 6), (5, 6), (5, 6)]),
    ("nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0)", [(4, 2, 6)]),
    ("nn.TransformerEncoderLayer(6, 2, 8, 0.0, 'gelu', batch_first=True, norm_first=True, bias=False)", [(2, 4, 6)]),
    ("nn.TransformerDecoderLayer(6, 2, 8, dropout=0.0)", [(3, 2, 6), (4, 2, 6)]),
    ("nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0), 2, nn.LayerNorm(6))",
     [(4, 2, 6), Given(np.triu(np.full((4, 4), -np.inf), 1))]),
    ("nn.TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 8, dropout=0.0), 2)", [(3, 2, 6), (4, 2, 6)]),
    ("nn.Transformer(6, 2, 1, 1, 8, dropout=0.0)", [(4, 2, 6), (3, 2, 6)]),
]
IDS = [f"{i}-{code[3:60]}" for i, (code, _) in enumerate(CASES)]


@pytest.fixture(scope="module")
def torch() -> Any:
    found = pytest.importorskip("torch")
    found.manual_seed(0)
    return found


def build(code: str, package: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")         # nested tensors
        return eval(code, {"nn": package.nn, "torch": package})


def numbers(t: Any) -> Any:
    return t.detach().numpy().copy()


def adopt(ours: Any, theirs: Any) -> None:
    """Load PyTorch's state dict."""
    given = {name: retrograd.tensor(numbers(t)) for name, t in theirs.state_dict().items()}
    assert str(ours.load_state_dict(given)) == "<All keys matched successfully>"


def arguments(given: list[Any], package: Any) -> list[Any]:
    rng = np.random.default_rng(7)
    made = []
    for each in given:
        if isinstance(each, Ints):
            t = package.tensor(each.make(rng))
            if isinstance(each, Unit) and each.grad:
                t.requires_grad_()
        else:
            t = package.tensor(rng.standard_normal(each), requires_grad=True)
        made.append(t)
    return made


def flat(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [t for r in result for t in flat(r)]
    return [] if result is None else [result]


def close(a: Any, b: Any, what: str) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9, err_msg=what)


def run(module: Any, given: list[Any], package: Any) -> tuple[list[Any], list[Any]]:
    """Outputs, and gradients of the inputs."""
    inputs = arguments(given, package)
    called = [t * 1 if t.requires_grad else t for t in inputs]      # a leaf may not be edited in place
    outputs = flat(module(*called))
    rng = np.random.default_rng(11)
    wanted = [o for o in outputs if o.requires_grad]
    if wanted:
        weights = [package.tensor(rng.standard_normal(tuple(o.shape))) for o in wanted]
        sum(((o * w).sum() for o, w in zip(wanted, weights)), package.tensor(0.0)).backward()
    return [numbers(o) for o in outputs], [None if t.grad is None else numbers(t.grad) for t in inputs]


# RReLU draws in training: test_random_layers_have_the_same_mean_and_spread.
MODES = [pytest.param(code, given, training, id=f"{'train' if training else 'eval'}-{name}")
         for (code, given), name in zip(CASES, IDS, strict=True) for training in (True, False)
         if not (training and "RReLU()" in code)]


@pytest.mark.parametrize(("code", "given", "training"), MODES)
def test_gives_what_pytorch_gives(torch: Any, code: str, given: list[Any], training: bool) -> None:
    theirs = build(code, torch).double().train(training)
    ours = build(code, retrograd).double().train(training)
    assert repr(ours) == repr(theirs)
    assert type(ours).__module__.partition(".")[2] == type(theirs).__module__.partition(".")[2]
    assert [n for n, _ in ours.named_modules()] == [n for n, _ in theirs.named_modules()]
    adopt(ours, theirs)
    (out, into), (out_, into_) = run(ours, given, retrograd), run(theirs, given, torch)
    assert len(out) == len(out_)
    for a, b in zip(out, out_, strict=True):
        assert a.dtype == b.dtype
        close(a, b, "output")
    for a, b in zip(into, into_, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            close(a, b, "input gradient")
    for (name, p), (_, q) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        assert (p.grad is None) == (q.grad is None), name
        if p.grad is not None:
            close(numbers(p.grad), numbers(q.grad), name)
    for (name, p), (_, q) in zip(ours.state_dict().items(), theirs.state_dict().items(), strict=True):
        close(numbers(p), numbers(q), name)


@pytest.mark.parametrize("code", sorted({code for code, _ in CASES}))
def test_state_dict_and_start_are_pytorchs(torch: Any, code: str) -> None:
    theirs, ours = build(code, torch).state_dict(), build(code, retrograd).state_dict()
    assert list(ours) == list(theirs)
    assert {k: dict(v) for k, v in ours._metadata.items()} == {k: dict(v) for k, v in theirs._metadata.items()}
    for name in theirs:
        a, b = numbers(ours[name]), numbers(theirs[name])
        assert a.shape == b.shape and a.dtype == b.dtype, name
        if b.size and np.ptp(b) == 0:
            assert (a == b).all(), name         # constants


STARTS = [
    "nn.Linear(40, 50)", "nn.Bilinear(10, 20, 30)", "nn.Conv1d(8, 40, 5)", "nn.Conv2d(8, 40, 3, groups=2)",
    "nn.ConvTranspose2d(8, 40, 3)", "nn.Embedding(80, 30)", "nn.EmbeddingBag(80, 30)", "nn.RNN(30, 40)",
    "nn.LSTM(30, 40, 2, proj_size=20)", "nn.GRUCell(30, 40)", "nn.MultiheadAttention(40, 2)",
    "nn.MultiheadAttention(40, 2, kdim=30, vdim=20, add_bias_kv=True)", "nn.TransformerEncoderLayer(40, 2, 64)",
    "nn.Transformer(32, 2, 1, 1, 64)",
]


@pytest.mark.parametrize("code", STARTS)
def test_starting_values_are_drawn_from_the_same_distribution(torch: Any, code: str) -> None:
    theirs, ours = build(code, torch).state_dict(), build(code, retrograd).state_dict()
    for name in theirs:
        a, b = numbers(ours[name]).ravel(), numbers(theirs[name]).ravel()
        if a.size < 400:
            most, most_ = abs(a).max(), abs(b).max()
            assert a.size < 50 or (most <= 1.5 * most_ + 1e-6 and most_ <= 1.5 * most + 1e-6)
            continue
        n = a.size
        spread = b.std()
        assert abs(a.mean() - b.mean()) < 6 * spread / n**0.5, name
        assert abs(a.std() / b.std() - 1) < 6 / n**0.5, name
        both = np.sort(np.concatenate([a, b]))
        gap = np.searchsorted(np.sort(a), both, "right") - np.searchsorted(np.sort(b), both, "right")
        assert abs(gap).max() / n < 2.8 * (2 / n) ** 0.5, name      # Kolmogorov-Smirnov: by chance once in 3 million


@pytest.mark.parametrize("code", ["nn.Dropout(0.3)", "nn.Dropout2d(0.3)", "nn.AlphaDropout(0.3)", "nn.RReLU()"])
def test_random_layers_have_the_same_mean_and_spread(torch: Any, code: str) -> None:
    x = np.random.default_rng(3).standard_normal((40, 50, 4, 3))
    a = numbers(build(code, retrograd)(retrograd.tensor(x)))
    b = numbers(build(code, torch)(torch.tensor(x)))
    assert abs(a.mean() - b.mean()) < 0.05 and abs(a.std() - b.std()) < 0.05
    assert abs((a == 0).mean() - (b == 0).mean()) < 0.03


@pytest.mark.parametrize("weights", [True, False])
def test_attention_drops_weights_in_training(weights: bool) -> None:
    """Over many equal samples the mean of what dropout leaves is what there is without it."""
    retrograd.manual_seed(0)
    layer = retrograd.nn.MultiheadAttention(4, 2, dropout=0.4, batch_first=True).double()
    x = retrograd.randn(1, 3, 4, dtype=retrograd.float64).expand(4000, 3, 4)
    dropped, _ = layer(x, x, x, need_weights=weights)
    kept, _ = layer.eval()(x[:1], x[:1], x[:1], need_weights=weights)
    spread = dropped.std(0) / 4000**0.5
    assert spread.min() > 0 and ((dropped.mean(0) - kept[0]).abs() < 5 * spread).all()


@pytest.mark.parametrize("code", ["nn.TransformerEncoderLayer(4, 2, 8)", "nn.Transformer(4, 2, 1, 1, 8)",
                                  "nn.LSTM(4, 4, 2, dropout=0.5)"])
def test_layers_with_dropout_train(code: str) -> None:
    layer = build(code, retrograd)
    x = retrograd.randn(3, 2, 4, requires_grad=True)
    out = layer(x, x) if code.startswith("nn.Transformer(") else layer(x)
    (out[0] if isinstance(out, tuple) else out).square().sum().backward()
    assert all(p.grad is not None and bool(p.grad.isfinite().all()) for p in [x, *layer.parameters()])


def test_packed_sequences(torch: Any) -> None:
    code = "nn.LSTM(3, 4, 2, bidirectional=True)"
    theirs, ours = build(code, torch).double(), build(code, retrograd).double()
    adopt(ours, theirs)
    found = []
    for module, package in ((ours, retrograd), (theirs, torch)):
        rnn = package.nn.utils.rnn
        rng = np.random.default_rng(1)
        parts = [package.tensor(rng.standard_normal((n, 3)), requires_grad=True) for n in (2, 5, 1, 4)]
        packed = rnn.pack_sequence(parts, enforce_sorted=False)
        output, (h, c) = module(packed)
        padded, lengths = rnn.pad_packed_sequence(output, batch_first=True, padding_value=9.0)
        (padded.sum() + (h * c).sum()).backward()
        seen = (packed.data, packed.batch_sizes, packed.sorted_indices, padded, lengths, h, c)
        grads = [p.grad for p in [*parts, *module.parameters()]]
        found.append([numbers(t) for t in (*seen, *grads)])
    for a, b in zip(*found, strict=True):
        close(a, b, "packed")


def test_packed_sequences_are_cast(torch: Any) -> None:
    def casts(package: Any) -> list[Any]:
        packed = package.nn.utils.rnn.pack_sequence([package.tensor([1.5, 2.0]), package.tensor([3.0])])
        found = [getattr(packed, name)() for name in ("double", "half", "long", "int", "short", "char", "byte")]
        dtypes = [str(p.data.dtype).rpartition(".")[2] for p in found]
        return [dtypes, [p.data.tolist() for p in found], packed.float() is packed, packed.cpu() is packed,
                packed.to("cpu", package.float64).batch_sizes.tolist()]

    assert casts(retrograd) == casts(torch)


@pytest.mark.parametrize("kind", ["GRU", "RNN"])
def test_packed_sequences_with_a_state(torch: Any, kind: str) -> None:
    code = f"nn.{kind}(3, 4, bidirectional=True)"
    theirs, ours = build(code, torch).double(), build(code, retrograd).double()
    adopt(ours, theirs)
    found = []
    for module, package in ((ours, retrograd), (theirs, torch)):
        rng = np.random.default_rng(1)
        x = package.tensor(rng.standard_normal((5, 3, 3)))
        h0 = package.tensor(rng.standard_normal((2, 3, 4)), requires_grad=True)
        packed = package.nn.utils.rnn.pack_padded_sequence(x, [5, 3, 3])
        output, h = module(packed, h0)
        (output.data.sum() + h.sum()).backward()
        found.append([numbers(t) for t in (output.data, h, h0.grad)])
    for a, b in zip(*found, strict=True):
        close(a, b, kind)


def test_attention_masks(torch: Any) -> None:
    code = "nn.MultiheadAttention(6, 2)"
    theirs, ours = build(code, torch).double(), build(code, retrograd).double()
    adopt(ours, theirs)
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((4, 3, 6)), rng.standard_normal((5, 3, 6))
    hidden = rng.random((6, 4, 5)) < 0.4
    hidden[..., 0] = False
    for kwargs in ({}, {"average_attn_weights": False}, {"need_weights": False}, {"attn_mask": hidden},
                   {"attn_mask": hidden[0]}, {"attn_mask": hidden * -2.0, "need_weights": False},
                   {"key_padding_mask": hidden[0, :3], "attn_mask": hidden[0]}):
        found = []
        for module, package in ((ours, retrograd), (theirs, torch)):
            own = {k: package.tensor(v) if isinstance(v, np.ndarray) else v for k, v in kwargs.items()}
            if own.get("key_padding_mask") is not None and own["attn_mask"].dtype != own["key_padding_mask"].dtype:
                continue
            memory = package.tensor(y)
            found.append([numbers(t) for t in flat(module(package.tensor(x), memory, memory, **own))])
        for a, b in zip(*found, strict=True):
            close(a, b, str(list(kwargs)))


def test_transformer_masks(torch: Any) -> None:
    code = "nn.Transformer(6, 2, 2, 2, 8, dropout=0.0, batch_first=True)"
    theirs, ours = build(code, torch).double(), build(code, retrograd).double()
    adopt(ours, theirs)
    found = []
    for module, package in ((ours, retrograd), (theirs, torch)):
        rng = np.random.default_rng(4)
        src, tgt = package.tensor(rng.standard_normal((3, 5, 6))), package.tensor(rng.standard_normal((3, 4, 6)))
        hidden = package.zeros(3, 5, dtype=package.float64)
        hidden[1, 3:] = float("-inf")
        mask = module.generate_square_subsequent_mask(4, dtype=package.float64)
        out = module(src, tgt, tgt_mask=mask, src_key_padding_mask=hidden, memory_key_padding_mask=hidden)
        out.sum().backward()
        found.append([numbers(out), numbers(mask), *(numbers(p.grad) for p in module.parameters())])
    for a, b in zip(*found, strict=True):
        close(a, b, "transformer")


def test_conv_transpose_output_size(torch: Any) -> None:
    code = "nn.ConvTranspose2d(2, 3, 3, stride=2)"
    theirs, ours = build(code, torch), build(code, retrograd)
    adopt(ours, theirs)
    x = np.ones((1, 2, 3, 3), np.float32)
    a = ours(retrograd.tensor(x), output_size=[8, 7])
    b = theirs(torch.tensor(x), output_size=[8, 7])
    np.testing.assert_allclose(numbers(a), numbers(b), rtol=1e-5, atol=1e-6)
    for package, module in ((retrograd, ours), (torch, theirs)):
        with pytest.raises(ValueError, match="requested an output size of"):
            module(package.tensor(x), output_size=[9, 9])


def test_float32_stays_float32(torch: Any) -> None:
    for code, given in CASES:
        if "double()" in code or any(isinstance(g, Given) for g in given):
            continue
        module = build(code, retrograd).eval()
        inputs = [t.float() if t.is_floating_point() else t for t in arguments(given, retrograd)]
        for out in flat(module(*inputs)):
            assert out.dtype in (retrograd.float32, retrograd.int64), code


# ---- nn.utils

NORMED = [
    ("P.weight_norm(nn.Linear(3, 4))", (2, 3)),
    ("P.weight_norm(nn.Linear(3, 4), dim=None)", (2, 3)),
    ("P.weight_norm(nn.Conv2d(2, 3, 2), 'weight', 1)", (1, 2, 4, 4)),
    ("P.spectral_norm(nn.Linear(3, 4))", (2, 3)),
    ("P.spectral_norm(nn.ConvTranspose2d(2, 3, 2), n_power_iterations=3)", (1, 2, 3, 3)),
]
OLD_NORMED = [
    ("U.weight_norm(nn.Linear(3, 4))", "U.remove_weight_norm", (2, 3)),
    ("U.weight_norm(nn.Conv1d(2, 3, 2), dim=None)", "U.remove_weight_norm", (1, 2, 4)),
    ("U.spectral_norm(nn.Linear(3, 4))", "U.remove_spectral_norm", (2, 3)),
    ("U.spectral_norm(nn.ConvTranspose2d(2, 3, 2), n_power_iterations=3)", "U.remove_spectral_norm", (1, 2, 3, 3)),
]


@pytest.mark.parametrize(("code", "shape"), NORMED, ids=[code for code, _ in NORMED])
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_parametrizations(torch: Any, code: str, shape: Shape, training: bool) -> None:
    found = []
    modules = []
    for package in (torch, retrograd):
        scope = {"nn": package.nn, "P": importlib.import_module(f"{package.__name__}.nn.utils.parametrizations")}
        modules.append(eval(code, scope).double().train(training))
    theirs, ours = modules
    assert repr(ours) == repr(theirs)
    adopt(ours, theirs)
    for module, package in ((theirs, torch), (ours, retrograd)):
        x = package.tensor(np.random.default_rng(1).standard_normal(shape))
        for _ in range(2):
            y = module(x)
        y.sum().backward()
        found.append([numbers(y), *(numbers(p.grad) for p in module.parameters()),
                      *(numbers(b) for b in module.buffers())])
    for a, b in zip(*found, strict=True):
        close(a, b, code)
    for package, module in ((torch, theirs), (retrograd, ours)):
        remove = importlib.import_module(f"{package.__name__}.nn.utils.parametrize").remove_parametrizations
        before = numbers(module.weight)
        assert repr(remove(module, "weight")).startswith(("Linear", "ConvTranspose2d", "Conv2d"))
        if not training:
            close(numbers(module.weight), before, "removed")
    assert list(ours.state_dict()) == list(theirs.state_dict())


def test_spectral_norm_finds_v_of_files_that_hold_the_divided_weight(torch: Any) -> None:
    found = []
    start = torch.nn.utils.spectral_norm(torch.nn.Linear(3, 4).double())
    old = {"weight_orig": start.weight_orig.detach(), "bias": start.bias.detach(), "weight_u": start.weight_u,
           "weight": start.weight_orig.detach() / 2.5}
    for package in (torch, retrograd):
        module = package.nn.utils.spectral_norm(package.nn.Linear(3, 4).double())
        state = {k: package.tensor(v.numpy()) for k, v in old.items()}
        assert not any(module.load_state_dict(state, strict=True))
        found.append([numbers(module.weight_v), numbers(module.eval()(package.ones(1, 3, dtype=package.float64)))])
        for left in ("weight", "weight_u"):
            with pytest.raises(RuntimeError) as error:
                module.load_state_dict({k: package.tensor(v.numpy()) for k, v in old.items() if k != left})
            found[-1].append(str(error.value))
    (v, y, *texts), (our_v, our_y, *our_texts) = found
    close(our_v, v, "v")
    close(our_y, y, "y")
    assert our_texts == texts


@pytest.mark.parametrize(("code", "remove", "shape"), OLD_NORMED, ids=[code for code, _, _ in OLD_NORMED])
@pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm` is deprecated")
def test_normalisation_by_hooks(torch: Any, code: str, remove: str, shape: Shape) -> None:
    modules, found = [], []
    for package in (torch, retrograd):
        modules.append(eval(code, {"nn": package.nn, "U": package.nn.utils}).double())
    theirs, ours = modules
    assert repr(ours) == repr(theirs)
    assert {k: dict(v) for k, v in ours.state_dict()._metadata.items()} == dict(theirs.state_dict()._metadata)
    adopt(ours, theirs)
    for module, package in ((theirs, torch), (ours, retrograd)):
        x = package.tensor(np.random.default_rng(1).standard_normal(shape))
        y = module.train()(x) + module.eval()(x)
        y.sum().backward()
        state = [numbers(t) for t in module.state_dict().values()]
        found.append([numbers(y), *(numbers(p.grad) for p in module.parameters()), *state])
        eval(remove, {"U": package.nn.utils})(module)
        found[-1].append(numbers(module(x)))
    for a, b in zip(*found, strict=True):
        close(a, b, code)
    assert list(ours.state_dict()) == list(theirs.state_dict())


@pytest.mark.parametrize("dim", [0, 1, None])
@pytest.mark.parametrize("home", ["parametrizations.weight_norm", "weight_norm"])
@pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm` is deprecated")
def test_second_derivatives_of_weight_norm_are_those_of_its_formula(home: str, dim: int | None) -> None:
    """Finite differences confirm them; PyTorch's they contradict."""
    layer = eval(home, vars(retrograd.nn.utils))(retrograd.nn.Linear(4, 3, bias=False).double(), dim=dim)
    names, start = zip(*layer.named_parameters(), strict=True)
    x = retrograd.arange(8.0, dtype=retrograd.float64).reshape(2, 4) / 5

    def run(*values: Any) -> Any:
        return retrograd.func.functional_call(layer, dict(zip(names, values, strict=True)), (x,))

    assert retrograd.autograd.gradgradcheck(run, [p.detach().clone().requires_grad_() for p in start])


@pytest.mark.parametrize("kind", [1.0, 2.0, 3.0, float("inf")])
def test_gradient_clipping(torch: Any, kind: float) -> None:
    found = []
    for package in (torch, retrograd):
        rng = np.random.default_rng(5)
        params = [package.nn.Parameter(package.tensor(rng.standard_normal(n))) for n in (3, 4, 1)]
        params[2].requires_grad_(False)
        sum((p * p * 3).sum() for p in params[:2]).backward()
        utils = package.nn.utils
        norms = [utils.clip_grad_norm_(params, limit, kind) for limit in (1e6, 2.5)]
        vector = utils.parameters_to_vector(params)
        utils.vector_to_parameters(vector.detach() * 2, params)
        grads = [numbers(p.grad) for p in params[:2]]
        utils.clip_grad_value_(params, 0.3)
        found.append([*map(numbers, norms), *grads, *(numbers(p.grad) for p in params[:2]), *map(numbers, params)])
    for a, b in zip(*found, strict=True):
        close(a, b, str(kind))


# Programs, run statement by statement on both.
PROGRAMS: dict[str, list[str]] = {
    "a window that lies outside altogether has the lowest number": [
        "x = torch.ones(1, 1, requires_grad=True)", "nn.MaxPool1d(2, None, 1, 2)(x)",
        "F.max_pool2d(torch.ones(1, 1, 1).unsqueeze(0), 2, None, 1, 2, return_indices=True)",
        "F.max_pool3d(torch.ones(1, 1, 1, 1, dtype=torch.int64), 2, None, 1, 2)"],
    "a dilated window may begin before the input": [
        "x = torch.arange(20.).reshape(1, 1, 20).requires_grad_()", "y = F.max_pool1d(x, 3, 1, 1, 9)", "y.sum().backward()"],
    "of overlapping windows the last one stays": [
        "x = torch.tensor([[[1., 2., 3., 4.]]], requires_grad=True)", "i = torch.tensor([[[0, 1, 1, 1]]])",
        "y = F.max_unpool1d(x, i, 2)", "(y * y).sum().backward()", "F.max_unpool2d(x.unsqueeze(0), i.unsqueeze(0), (1, 2))"],
    "indices outside an unpooled tensor, and inputs of nothing": [
        "F.max_unpool1d(torch.ones(1, 1, 2), torch.tensor([[[0, 9]]]), 2)",
        "F.max_unpool3d(torch.ones(2), torch.ones(2).long(), 1)",
        "F.max_unpool2d(torch.ones(1, 1, 1, 1), torch.zeros(1, 1, 1, 1).long(), 1, 3, 1)",
        "F.max_unpool2d(torch.ones(1, 0, 1, 1), torch.zeros(1, 0, 1, 1).long(), 1)"],
    "adaptive pools of nothing": [
        f"F.adaptive_{kind}_pool{d}d(torch.ones({n}, 0, {'3, ' * d}), {size})"
        for kind in ("max", "avg") for d in (1, 2, 3) for n in (0, 2) for size in (1, 2)],
    "a table's bags": [
        "m = nn.EmbeddingBag(3, 2, mode='sum', include_last_offset=True, padding_idx=0)",
        "m(torch.tensor([0, 1, 2, 1]), torch.tensor([0, 2, 3]))", "m(torch.tensor([[0, 1], [2, 1]])).sum().backward()",
        "m(torch.tensor([0, 1]), torch.tensor([], dtype=torch.int64))",
        "m(torch.tensor([0, 1]).short(), torch.tensor([0, 2]))", "m(torch.tensor([[0, 1]]).bool())",
        "m(torch.tensor([[0, 1]]), None, torch.ones(1, 2).double())", "F.embedding_bag(torch.tensor([[0]]), torch.tensor([[1]]))",
        "F.embedding_bag(torch.zeros(2, 0).long(), torch.ones(1, 2))", "nn.EmbeddingBag(3, 2, padding_idx=5)"],
    "tables of nothing": [
        "m = nn.Embedding(3, 0)", "m(torch.tensor([1, 2])).sum().backward()", "n = nn.Embedding(3, 2)",
        "n(torch.zeros(0).long()).sum().backward()", "F.embedding(torch.tensor([0]), torch.ones(0, 2))"],
    "a scale that keeps the size": [
        *(f"F.interpolate(torch.arange(7.0 ** {d}).reshape(1, 1, {'7, ' * d}), scale_factor=1.1, mode={mode!r})"
          for d, modes in ((1, ("nearest", "linear")), (2, ("nearest", "bilinear", "bicubic")), (3, ("nearest", "trilinear")))
          for mode in modes),
        "F.interpolate(torch.arange(49.).reshape(1, 1, 7, 7), scale_factor=(1.1, 1.5), mode='bilinear', antialias=True)",
        "F.interpolate(torch.ones(1, 0, 3), 2)"],
    "a transposed convolution with more output than windows reach": [
        "torch.manual_seed(0)", "m = nn.ConvTranspose1d(2, 2, 2, output_padding=2, dilation=3, stride=2).double()",
        "x = torch.randn(2, 2, 3).double().requires_grad_()", "m(x).square().sum().backward()"],
    "transposed convolutions of nothing, or to nothing": [
        "nn.ConvTranspose1d(1, 1, 1, padding=1)(torch.ones(1, 1, 2))", "nn.ConvTranspose2d(1, 0, 1)(torch.ones(1, 1, 2, 3))",
        "nn.ConvTranspose1d(1, 1, 2)(torch.ones(1, 1, 0))", "nn.Conv1d(1, 1, 2, padding=2)(torch.ones(1, 1, 0))",
        "F.conv_transpose1d(torch.ones(1, 1, 2), torch.ones(1, 1, 2), torch.ones(1).double())",
        "F.conv1d(torch.ones(0, 1, 2), torch.ones(1, 1, 2).double())"],
    "sizes that no memory holds": [
        "F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 2), stride=10 ** 30)",
        "F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 2), stride=2 ** 62)",
        "F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 2), padding=2 ** 62)",
        "F.conv_transpose2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2), stride=2 ** 62)",
        "F.interpolate(torch.ones(1, 1, 3), 2 ** 62)", "F.interpolate(torch.ones(1, 1, 3), scale_factor=1e30)",
        "F.interpolate(torch.ones(1, 1, 3), scale_factor=math.nan)", "F.adaptive_max_pool2d(torch.ones(1, 3, 3), 2 ** 61)",
        "F.adaptive_avg_pool2d(torch.ones(1, 3, 3), 10 ** 30)", "F.adaptive_avg_pool2d(torch.ones(1, 3, 3), 2.5)"],
    "norms without eps, and of several dtypes": [
        "x = torch.arange(12.).reshape(2, 2, 3)", "nn.InstanceNorm1d(2, eps=0)(x)", "nn.BatchNorm1d(2, eps=0)(x)",
        "F.batch_norm(x, torch.ones(2), torch.ones(2), eps=-1)", "F.batch_norm(torch.tensor(1.), None, None, training=True)",
        "F.layer_norm(x.long(), (3,), torch.ones(3))", "F.group_norm(x, 1, torch.ones(2).double())",
        "F.batch_norm(x, torch.ones(1, 2), torch.ones(2))"],
    "losses of no classes": [
        "F.cross_entropy(torch.ones(2, 0), torch.ones(2, 0))", "F.cross_entropy(torch.ones(2, 0), torch.tensor([0, 0]))",
        "F.multilabel_soft_margin_loss(torch.tensor(1.), torch.tensor(1.))",
        *(f"F.cross_entropy(torch.ones({shape}), torch.zeros({target}).long(), ignore_index=0, label_smoothing={amount})"
          for shape, target in ((0, ()), ((2, 0), 2), ((2, 0, 3), (2, 3)), ((2, 0, 1, 3), (2, 1, 3))) for amount in (0, 0.5))],
    "padding by more than there is": [
        "F.pad(torch.ones(1, 1, 1, 1), (1, 1, 1, 1), mode='reflect')",
        "F.pad(torch.ones(1, 1, 1, 3), (1, 1, 1, 1), mode='reflect')"],
    "recurrent layers of no steps and of other dtypes": [
        *(f"nn.{kind}(1, 1)(torch.ones(0, 1, 1))" for kind in ("RNN", "LSTM", "GRU")), "nn.GRU(1, 1)(torch.ones(2, 1, 1).long())",
        "nn.LSTM(1, 1)(torch.ones(2, 1, 1), 3)", "nn.LSTM(1, 1)(torch.ones(2, 1, 1), torch.ones(1, 1, 1))",
        "nn.LSTMCell(1, 1)(torch.ones(2, 1), torch.ones(2, 1))"],
    "packed sequences": [
        "P = nn.utils.rnn", "P.pack_padded_sequence(torch.ones(2), [1])", "P.pack_padded_sequence(torch.ones(2, 2), 3)",
        "P.pad_sequence([torch.tensor(1.)])", "P.pack_sequence([torch.tensor(1.)])", "P.pad_sequence([1])",
        "P.pad_sequence([torch.ones(2), torch.ones(2, 2)])", "P.pad_sequence([torch.ones(2).long(), torch.ones(3)])",
        "x = torch.arange(3.).requires_grad_()", "y = P.pad_sequence([x, torch.ones(4)], True, -1., 'left')",
        "y.sum().backward()",
        "y = P.pad_packed_sequence(P.pack_sequence([x * 2, torch.ones(3), torch.ones(4)], False), True, -1., 6)",
        "y[0].square().sum().backward()"],
    "grids and products of no dims": [
        "F.grid_sample(torch.ones(1, 1, 2, 2), torch.zeros(1, 2, 2))",
        "F.grid_sample(torch.ones(1, 1, 2, 2).long(), torch.zeros(1, 1, 1, 2).long())",
        "F.bilinear(torch.ones(2), torch.ones(2), torch.ones(1, 2))", "g = torch.zeros(1, 1, 1, 2, requires_grad=True)",
        "F.grid_sample(torch.ones(1, 1, 2, 2), g, 'nearest').sum().backward()"],
    "attention with a mask that broadcasts, and a causal one besides": [
        "torch.manual_seed(0)", "q, k, v = torch.randn(3, 2, 2, 3, 2, dtype=torch.float64).requires_grad_()",
        "m = torch.tensor([[True, False, True]])", "y = F.scaled_dot_product_attention(q, k, v, m)",
        "y.square().sum().backward()",
        "n = torch.tensor([[False, True, True], [True, True, True], [False, False, True]])",
        "z = F.scaled_dot_product_attention(q, k, v, n, is_causal=True)", "z.square().sum().backward()",
        "F.scaled_dot_product_attention(q, k, v, m[0])", "F.scaled_dot_product_attention(q[0], k[0], v[0], m, is_causal=True)",
        "F.scaled_dot_product_attention(q.transpose(2, 3), k.transpose(2, 3), v.transpose(2, 3))",
        "a = nn.MultiheadAttention(2, 1).double()", "a(q[0], k[0], v[0], attn_mask=torch.zeros(2, 2))"],
    "norms of other dtypes than their statistics": [
        "x = torch.arange(12.).reshape(2, 2, 3).double()", "nn.InstanceNorm1d(2, track_running_stats=True)(x)",
        "nn.BatchNorm1d(2)(x)", "nn.BatchNorm1d(2, affine=False)(x[:0])"],
    "pools by kernels of no size, or larger than the input": [
        "nn.AvgPool2d(-1)(torch.ones(1, 1, 2, 2))", "nn.AvgPool3d((3, 3, 1), ceil_mode=True)(torch.ones(2, 5, 1, 3))",
        "nn.LPPool1d(1, (3,))(torch.ones(1, 4))", "F.unfold(torch.ones(1, 0, 6), 9, padding=-1)", "nn.Conv2d(2, 1, (0, 1))",
        "F.max_pool2d(torch.ones(1, 2, 2), 1, (1, 2, 3))"],
    "lazy parameters": [
        "m = nn.LazyLinear(2)", "m.weight.data.normal_(0, 0.01)", "m.weight.size()", "m.weight.materialize(10)", "m.weight.shape",
        "m.weight.data.zero_()"],
    "pruned numbers": [
        "from importlib import import_module", "prune = import_module(torch.__name__ + '.nn.utils.prune')",
        "[prune._compute_nparams_toprune(n, 5) for n in (0.5, 3)]", "prune._validate_pruning_amount(9, 5)"],
    "dropout of features that there are none of": [
        *(f"nn.FeatureAlphaDropout({p})(torch.ones({n}))" for p in (0.0, 0.5, 1.0) for n in (3, 0)),
        "torch.feature_dropout(torch.ones(3), 1.0, True)", "F.dropout2d(torch.ones(0), 0.5)"],
    "dropout by what is no number, and of what is no tensor": [
        *(f"F.{name}(torch.ones(2, 2, 2, 2), {args})" for name in (
            "dropout", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
          for args in ("'a'", "None", "[1]", "torch.tensor([0.5, 0.5])", "0.5, 'a'")),
        "F.dropout([1.0], 0.5)", "F.dropout1d([1.0])", "F.dropout2d('a')"],
    "gumbel_softmax": [
        *(f"F.gumbel_softmax({args})" for args in (
            "torch.ones(2), 'a'", "torch.ones(2), None", "torch.ones(2).long()", "[1]", "torch.ones(2), dim=None",
            "torch.ones(0), hard=True", "torch.tensor(1.0), hard=True", "torch.ones(2), hard=True, dim=4")),
        "x = torch.ones(2, 3, requires_grad=True)", "torch.manual_seed(0)", "y = F.gumbel_softmax(x, 0.5, True, dim=0)",
        "(y * y).sum().backward()"],
    "sizes that are tensors": [
        *(f"F.interpolate(torch.ones(1, 1, 3), {size})" for size in (
            "[torch.tensor(2)]", "torch.tensor(2)", "[torch.tensor([2])]", "[torch.tensor([2, 3])]", "torch.tensor([2, 3])",
            "torch.tensor(2.0)", "[torch.tensor(2)], mode='linear'", "[torch.tensor(2)], mode='area'", "[True]", "True",
            "2, mode='linear', align_corners=1", "2, mode='linear', align_corners='a'", "scale_factor=['a']"))],
    "losses of other dtypes and sizes": [
        *(f"F.gaussian_nll_loss(torch.ones(2, 3), torch.zeros(2, 3), torch.ones({size}))"
          for size in ((1, 3), (2, 1), (1, 1), (2, 0), (1, 0), 3, 2)), "F.gaussian_nll_loss(torch.ones(2), torch.ones(2), 'a')",
        "F.gaussian_nll_loss(torch.tensor([1, 2]), torch.tensor([1, 3]), 1.5)",
        *(f"F.cross_entropy(torch.ones(2, 3), {t}, label_smoothing={amount})"
          for t in ("torch.tensor([0, 1])", "torch.ones(2, 3)") for amount in (-0.1, "math.nan", 1.1, 1)),
        "F.multilabel_margin_loss(torch.tensor(1.), torch.tensor(True))",
        "F.multilabel_margin_loss(torch.ones(2, 3), torch.ones(2, 3).int() * 9)"],
    "attention of integers, and a mask of another dtype": [
        *(f"F.scaled_dot_product_attention(*[torch.ones({size}, dtype={dtype})] * 3, scale=2.0)"
          for size in ((1, 2, 3), (1, 1, 2, 3)) for dtype in ("torch.int64", "torch.bool")),
        "F.scaled_dot_product_attention(*[torch.ones(1, 2, 3).half()] * 3, torch.ones(2, 2))"],
    "several sizes where one is wanted, and one where there are several": [
        "nn.AvgPool1d(3, (1, 2, 3))(torch.ones(3, 2, 7))", "nn.LPPool1d(2.5, (3, 1))(torch.ones(3, 2, 7))",
        "nn.LPPool1d(2.5, 3, (3, -1, 9))(torch.ones(3, 2, 7))", "nn.LPPool2d(2.5, (3,))(torch.ones(3, 2, 7))",
        "nn.LPPool2d(2.5, (3, 1, 1))(torch.ones(3, 2, 7, 7))", "nn.AvgPool3d(3, (1, 2))(torch.ones(3, 2, 7, 7, 7))",
        *(f"nn.MaxUnpool{d}d({kernel})(torch.ones(1, 1, {'2, ' * d}), torch.zeros(1, 1, {'2, ' * d}).long())"
          for d in (1, 2, 3) for kernel in ("(1,)", "(1, 2)", "(1, 1, 1)", "2, (1, 2, 3)", "'a'", "None", "1.5", "2, 2, 'a'")),
        "F.adaptive_avg_pool3d(torch.ones(2, 2, 4, 5, 6, 0), 2)", "F.conv1d(torch.ones(2, 2, 2), torch.ones(1, 1, 1, 1, 1))"],
    "biases and weights of other dtypes": [
        *(f"F.conv1d(torch.ones({size}).double(), torch.ones(1, {c}, 2){more}, torch.ones(1), padding={padding})"
          for size in (2, (2, 2), (0, 2, 2)) for c in (1, 2) for more in ("", ".double()") for padding in (-1, 0, "'same'")),
        *(f"F.conv{kind}1d(torch.ones(0, 2, 2){a}, torch.ones(2, 2, 2){b}, torch.ones(2){a})"
          for kind in ("", "_transpose") for a, b in ((".long()", ""), ("", ".double()"), (".double()", ""), (".half()", "")))],
    "sizes that no number holds": [
        *(f"nn.{kind}Pool{d}d(2, {name}={n})(torch.ones(1, {'6, ' * d}))" for kind, names in (
            ("Max", ("stride", "padding", "dilation")), ("Avg", ("stride", "padding"))) for name in names
          for d in (1, 2, 3) for n in ("2 ** 63", "10 ** 30")
          if (name, n) != ("stride", "2 ** 63") and (kind, d) != ("Avg", 1))],
    "layers with one broken argument": [
        *(f"nn.LPPool{d}d({args})(torch.ones(1, {'6, ' * d}))" for d in (1, 2, 3) for args in (
            "2.0, None", "2.0, 1.5", "2.0, True", "2.0, 2, 'a'", "2.0, 2, 1.5", "2.0, 2, True", "2.0, 2, 1, 'a'")),
        *(f"nn.InstanceNorm1d(2, eps={eps})(torch.ones(1, 2, 3))" for eps in ("'a'", "None", "[1]")),
        *(f"nn.{kind}Pad{d}d(1)(torch.ones(1, {'6, ' * d}).bool())" for kind in ("Reflection", "Replication") for d in (1, 2, 3)),
        *(f"nn.{kind}(3, 2, {name}={value})(torch.tensor([[0, 1]]))" for kind in ("Embedding", "EmbeddingBag")
          for name, value in (("max_norm", "'a'"), ("max_norm", "[1]"), ("max_norm", "torch.ones(2)"), ("sparse", "1"),
                              ("scale_grad_by_freq", "'a'"), ("scale_grad_by_freq", "None"), ("norm_type", "'a'"))),
        "nn.Hardtanh(1.5)", "nn.Hardtanh(0, -1)", "nn.LazyLinear(-1)(torch.ones(2, 3))", "nn.LazyConv1d(-1, 2)(torch.ones(2, 3))",
        "nn.Linear(1, True)(torch.ones(2, 1)).shape", "torch.empty((2, True)).shape", "torch.empty((True, 2))",
        "F.conv_transpose1d(torch.ones(1, 2, 2).bool(), torch.ones(2, 1, 2))"],
    "rankings of integers": [
        "x, y = torch.tensor([1, 2]), torch.tensor([2, 1])", "t = torch.tensor([1, -1])",
        *(f"F.margin_ranking_loss({args})" for args in (
            "x, y, t", "x, y, t, 1", "x, y, t, True, reduction='none'", "x.bool(), y.bool(), t.bool()"))],
    "blocks of too few dims": ["F.unfold(torch.tensor(1.0), 1)", "F.unfold(torch.ones(2), 1)", "F.unfold(torch.ones(2, 2), 1)"],
    "of two faults the same one is named": [
        "F.pad(torch.ones(2, 3), [1], mode='zeros')", "F.pad(torch.ones(2, 3), [1] * 10, mode='zeros')",
        "F.pad(torch.ones(2, 3), [1, 1], mode='zeros', value=2)",
        *(f"nn.AvgPool{d}d({k}, 1, {p})(torch.ones(1, {'3, ' * d}))" for d in (1, 2, 3) for k in (-1, 0) for p in (0, 1, -1)),
        *(f"nn.MaxPool{d}d({k}, 1, {p})(torch.ones(1, {'3, ' * d}))" for d in (1, 2, 3) for k in (-1, 0) for p in (0, 1, -1)),
        "nn.MultiLabelMarginLoss()(torch.ones(2, 3).long(), torch.ones(2, 3).long() * 9)",
        "nn.MultiMarginLoss()(torch.ones(2, 3).long(), torch.ones(2).long() * 9)",
        "F.unfold(torch.ones(1, 1, 2, 2), 2, padding=-1, stride=0)", "F.unfold(torch.ones(1, 1, 2, 2).long(), 4)",
        "F.fold(torch.ones(2, 9, 3).long(), (3, 4), 3)", "F.nll_loss(torch.ones(2, 3, 2).long(), torch.zeros(2, 2).long())",
        "nn.MaxPool2d(1, dilation=(1, 1, 2))(torch.ones(2, 5, 4))",
        "nn.ConvTranspose2d(2, 3, (3, 0))(torch.ones(3, 2, 0, 6))", "nn.Conv2d(2, 3, (3, 0))(torch.ones(3, 2, 0, 6))",
        "F.ctc_loss(torch.ones(4, 2, 2), torch.ones(2, 1).long(), torch.tensor([4, 5]), torch.tensor([1, 2]))"],
    "renormed rows of tables": [
        "nn.Embedding(1, 2, max_norm=1.0)(torch.zeros(6))", "nn.Embedding(0, 2, max_norm=0.5)(torch.zeros(1, 7).long())",
        "nn.Embedding(2, 3, max_norm=1.0)(torch.tensor([1, 5, 7]))", "nn.Embedding(2, 3, max_norm=1.0)(torch.tensor([-5]))",
        "nn.EmbeddingBag(0, 2, max_norm=0.5)(torch.zeros(1, 7).long())", "nn.Bilinear(0, 4, 7)"],
    "grids and shuffles of nothing": [
        "x, g = torch.ones(0, 2, 7, 7, requires_grad=True), torch.ones(0, 3, 4, 2, requires_grad=True)",
        "F.grid_sample(x, g, align_corners=False).sum().backward()",
        "F.grid_sample(torch.ones(0, 2, 7, 7, 1), torch.ones(0, 2, 4, 4, 3), 'nearest', align_corners=False)",
        "nn.PixelUnshuffle(3)(torch.ones(1, 2, 18, 0, requires_grad=True))"],
    "the gradient of a loss of ignored targets alone": [
        "x = torch.ones(2, 3, requires_grad=True)", "t = torch.zeros(2).long()",
        "(F.cross_entropy(x, t, ignore_index=0) ** 2).backward()",
        "torch.autograd.grad(F.nll_loss(x, t, ignore_index=0) ** 2, x, create_graph=True)",
        "(F.nll_loss(x.unsqueeze(2), t.unsqueeze(1), ignore_index=0) ** 2).backward()"],
    "gradients that are not sparse": [
        "p = nn.Parameter(torch.ones(2))", "o = torch.optim.SparseAdam([p])", "o.step()", "p.sum().backward()", "o.step()",
        "o.state_dict()", "torch.optim.SparseAdam([p], betas=(1.0, 2.0))", "torch.optim.SparseAdam([])"],
    "gradients of convolutions": [
        "torch.manual_seed(0)", "x = torch.randn(2, 2, 5).requires_grad_()", "w = torch.randn(4, 1, 2).requires_grad_()",
        "g = torch.randn(2, 4, 3).requires_grad_()",
        "y = nn.grad.conv1d_input(x.shape, w, g, stride=2, padding=1, groups=2) * 1",
        "z = nn.grad.conv1d_weight(x, w.shape, g, stride=2, padding=1, groups=2) * 1",
        "(y.square().sum() + z.square().sum()).backward()",
        *(f"nn.grad.conv{d}d_input([1, 1, {'3, ' * d}], torch.ones(1, 1, {'2, ' * d}), torch.ones(1, 1, {'2, ' * d}))"
          for d in (2, 3)),
        *(f"nn.grad.conv{d}d_weight(torch.ones(1, 1, {'3, ' * d}), [1, 1, {'2, ' * d}], torch.ones(1, 1, {'2, ' * d}))"
          for d in (2, 3))],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_odd_inputs_do_as_in_pytorch(torch: Any, name: str) -> None:
    found = difference(PROGRAMS[name], retrograd, torch, versions=False)
    assert found is None, f"\n{found}"


@pytest.mark.parametrize("kind", ["Reflection", "Replication", "Zero", "Circular"])
def test_padding_that_no_number_holds_is_refused(torch: Any, kind: str) -> None:
    for package in (torch, retrograd):
        with pytest.raises(TypeError, match="argument 'pad' failed to unpack the object at pos 1 with error \"Overflow when"):
            getattr(package.nn, f"{kind}Pad1d")(10**30)(package.ones(1, 6))


@pytest.mark.parametrize("kernel, padding, stride, ceil", [
    (2**31 - 2, 2**30 - 1, None, False), (2**31 - 4, 2**30 - 2, 2**30 - 3, True), (4096, 2048, 1, False), (6, 3, 1, True),
    (2, 0, 7, False), (2**40, 2**39, None, False), (2, 0, 2**40, False)])  # fmt: skip
def test_averages_over_windows_far_larger_than_what_they_lie_over(kernel: int, padding: int, stride: Any, ceil: bool) -> None:
    """Only what meets the input is added up, so they take no time; numbers that PyTorch's ints cannot hold are refused."""
    found = []
    for t in (retrograd, importlib.import_module("torch")):
        x = (t.arange(16.0).reshape(1, 1, 4, 4) - 5).requires_grad_()
        try:
            y = t.nn.functional.avg_pool2d(x, kernel, stride, padding, ceil)
            (y * 2.0**60).sum().backward()
            found.append((tuple(y.shape), y.flatten()[:8].tolist(), x.grad.flatten().tolist()))
        except RuntimeError as error:
            found.append((type(error), str(error).splitlines()[0], []))
    assert found[0][:1] == found[1][:1]
    assert found[0][1] == pytest.approx(found[1][1]) and found[0][2] == pytest.approx(found[1][2])


@pytest.mark.parametrize("batch, rows, columns, features, values", [*itertools.product((0, 1), (0, 2), (0, 2), (0, 2), (0, 2))])
def test_attention_where_nothing_looks_or_at_nothing(batch: int, rows: int, columns: int, features: int, values: int) -> None:
    theirs = pytest.importorskip("torch")
    told = []
    for module in (theirs, retrograd):
        for heads, masked, causal in itertools.product(((), (1,)), (False, True), (False, True)):
            q = module.ones(batch, *heads, rows, features, requires_grad=True)
            k, v = module.ones(batch, *heads, columns, features), module.ones(batch, *heads, columns, values)
            mask = module.zeros(rows, columns) if masked else None
            try:
                y = module.nn.functional.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)
                y.sum().backward()
                told.append((y.tolist(), tuple(y.shape), type(y.grad_fn).__name__, q.grad.tolist()))
            except RuntimeError as error:
                told.append(str(error))
    assert told[8:] == told[:8]


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("size", [(7, 3), (3, 7), (2, 4), (4, 9), (5, 2)])
def test_images_of_bytes_are_resized_with_whole_weights(antialias: bool, size: tuple[int, int]) -> None:
    theirs = pytest.importorskip("torch")
    image = np.random.default_rng(0).integers(0, 256, (1, 3, 4, 4)).astype(np.uint8)
    ours, expected = (module.nn.functional.interpolate(
        module.tensor(image), size=size, mode="bilinear", antialias=antialias, align_corners=False).numpy()
        for module in (retrograd, theirs))
    np.testing.assert_array_equal(ours, expected)
