"""Calls that are wrong, as users write them: what PyTorch says, and we say the same.

A row is an expression of `torch`, `nn`, `F`, `optim` and the tensors below; run on PyTorch and here, it must give the same
class and first sentence, or on both an answer of one shape and dtype.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import retrograd
import retrograd.optim

ROWS = """
nn.BatchNorm1d(4, eps=-1.0)(x)
F.batch_norm(x, None, None, training=True, eps=-1.0)
F.layer_norm(x, (4,), eps=-1.0)
torch.amax(x, 0, keepdim=1)
torch.mean(x, 0, 1)
torch.sum(x, 0, 1)
torch.flip(x, 1)
x.requires_grad_("a")
setattr(x, "requires_grad", "a")
F.adaptive_avg_pool2d(x, 2)
F.adaptive_avg_pool3d(x, 2)
torch.trapezoid(torch.ones(0))
torch.trapezoid(torch.ones(3, 0))
torch.cumulative_trapezoid(torch.ones(0))
torch.linalg.svd(x, driver="gesvd").S
torch.linalg.svdvals(x, driver="gesvd")
nn.utils.rnn.pack_padded_sequence(torch.ones(4, 2, 3), [3, 0]).data
nn.utils.rnn.pack_padded_sequence(torch.ones(4, 2, 3), [3, 4]).data
nn.utils.rnn.pack_padded_sequence(torch.ones(4, 2, 3), [3]).data
F.elu(x, float("nan"))
F.elu(x, "a")
nn.ELU("a")(x)
nn.LeakyReLU("a")(x)
nn.Softmax("a")(x)
nn.Softmax(5)(x)
nn.Dropout("a")
nn.Threshold("a", 1)(x)
F.threshold(u, 300, 1)
F.threshold(u, 0, 300)
F.glu(x, one)
F.glu(x, torch.tensor(2**40))
F.cross_entropy(torch.ones(3, 0), torch.zeros(3, dtype=torch.int64))
F.cross_entropy(torch.ones(0, 3), torch.zeros(0, dtype=torch.int64))
F.nll_loss(torch.ones(3, 0), torch.zeros(3, dtype=torch.int64))
F.lp_pool1d(torch.ones(1, 2, 0), 2, 2)
F.lp_pool1d(point, 2, 2)
F.lp_pool2d(torch.ones(1, 1, 4, 4), "a", 2)
F.lp_pool2d(torch.ones(1, 1, 4, 4), 0, 2)
F.multi_margin_loss(point, torch.tensor(0))
F.multi_margin_loss(x, torch.zeros(3, dtype=torch.int64), p=3)
F.multi_margin_loss(x, torch.zeros(3, dtype=torch.int64), weight=torch.ones(2))
torch.linalg.pinv(torch.ones(2, 2, dtype=torch.float16))
torch.linalg.pinv(torch.ones(2, 2, dtype=torch.int64))
torch.linalg.cross(torch.ones(3, dtype=torch.bool), torch.ones(3, dtype=torch.bool))
torch.linalg.cross(point, point)
F.grid_sample(point, torch.ones(1, 2, 2, 2))
F.grid_sample(torch.ones(1, 1, 2, 2), point)
F.bilinear(point, point, torch.ones(1, 1, 1))
F.bilinear(x, x, point)
nn.Bilinear(1, 1, 1)(point)
nn.Bilinear(1, 1, 1)(point, point)
F.embedding_bag(one, torch.ones(3, 2))
F.embedding_bag(torch.tensor([1]), torch.ones(3, 2), torch.tensor(0))
F.embedding_bag(torch.tensor([[1]]), point)
F.embedding(torch.tensor([1]), point)
nn.LSTM(2, 3)(point)
nn.GRU(2, 3)(point)
nn.LSTM(2, 3)(torch.ones(2))
nn.LSTMCell(2, 3)(point)
nn.Conv2d(1, 1, 1)(point)
nn.Linear(1, 1)(point)
nn.Linear(1, 1)("a")
nn.BatchNorm1d(1)(point)
nn.LayerNorm(1)(point)
nn.GroupNorm(1, 1)(point)
nn.InstanceNorm1d(1)(point)
nn.MaxPool2d(2)(point)
nn.Upsample(scale_factor=2)(point)
nn.PixelShuffle(2)(point)
F.pairwise_distance(x, x, "a")
F.cosine_similarity(x, x, "a")
F.cosine_similarity(x, x, 1, "a")
torch.cdist(x, x, "a")
torch.norm(x, "a")
torch.linalg.vector_norm(x, "a")
F.normalize(x, "a")
torch.renorm(x, "a", 0, 1)
x ** "a"
torch.lerp(x, x, "a")
torch.add(x, x, alpha="a")
torch.addcmul(x, x, "a")
torch.addcmul(x, x, x, value="a")
torch.addcmul(x, torch.ones(2), x)
torch.addcmul(i, i, i, value=0.5)
torch.block_diag(torch.ones(2, 2, dtype=torch.uint8), torch.ones(1, 1, dtype=torch.uint8))
torch.block_diag(torch.ones(2, 2, dtype=torch.uint8), torch.ones(1, 1))
F.binary_cross_entropy_with_logits(x, torch.ones(3, 4, dtype=torch.float16))
F.binary_cross_entropy_with_logits(x.double(), torch.ones(3, 4))
F.binary_cross_entropy_with_logits(x, torch.ones(3, 4, dtype=torch.float64), torch.ones(4, dtype=torch.float64))
torch.dist(x, torch.ones(3, 4, dtype=torch.int64))
torch.dist(x, torch.ones(3, 4, dtype=torch.float64))
torch.dist(i, i)
torch.cumsum(x, one)
torch.argmax(x, one)
torch.sort(x, one)[0]
torch.unbind(x, one)[0]
torch.std(x, one)
torch.median(x, one)[0]
torch.flip(x, (one,))
torch.chunk(x, 2, one)[0]
torch.cat([x, x], one)
torch.stack([x, x], one)
x.transpose(one, 0)
x.select(one, 0)
x.split(2, one)[0]
x.gather(one, torch.zeros(1, 1, dtype=torch.int64))
x.sum(one)
x.mean(one)
x.norm(2, one)
F.softmax(x, one)
F.normalize(x, 2.0, one)
nn.Softmax(one)(x)
x.max(one)[0]
x.unfold(one, 2, 1)
torch.movedim(x, one, 0)
x.view(one * 3, 4)
torch.zeros(one, 2)
x.reshape(one * 3, -1)
x.expand(one, 3, 4)
x.repeat(one, 2)
torch.arange(one)
torch.eye(one)
x.topk(one)[0]
x.permute(one, 0)
x.flatten(0, one)
x.unsqueeze(one)
torch.diagonal(x, one)
x.roll(one, 0)
"""
PAIRS = ("mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div "
         "soft_margin_loss hinge_embedding_loss poisson_nll_loss multilabel_margin_loss multilabel_soft_margin_loss").split()
DTYPES = ("int64", "int32", "uint8", "bool", "float16")
OPTIMIZERS = "SGD Adam AdamW RMSprop Adagrad Adadelta NAdam RAdam Adamax ASGD Rprop LBFGS".split()
WRONG = ("([torch.ones(2, dtype=torch.int64)], lr=0.1)", "([p], lr='a')", "([p], lr=-1.0)", "([p], lr=None)", "([p * 2], lr=0.1)",
         "(['a'], lr=0.1)", "([], lr=0.1)", "(p, lr=0.1)")


def rows() -> Iterator[str]:
    yield from filter(None, ROWS.splitlines())
    for loss, dtype, reduction in itertools.product(PAIRS, DTYPES, ("mean", "none")):
        for given in (f"i.to(torch.{dtype}), i.to(torch.{dtype})", f"i.to(torch.{dtype}), half", f"half, i.to(torch.{dtype})"):
            yield f"F.{loss}({given}, reduction={reduction!r})"
    for dtype in (*DTYPES, "float64"):
        for loss in ("nll_loss", "cross_entropy", "multi_margin_loss"):
            for given in (f"i.to(torch.{dtype}), i[:, 0]", f"half, i[:, 0].to(torch.{dtype})",
                          f"half, i[:, 0], weight=i[0].to(torch.{dtype})"):
                yield f"F.{loss}({given})"
    for name, wrong in itertools.product(OPTIMIZERS, WRONG):
        yield f"optim.{name}{wrong}.state_dict()['state']"


def outcome(lib: Any, row: str) -> str:
    names = {
        "torch": lib, "nn": lib.nn, "F": lib.nn.functional, "optim": lib.optim, "x": lib.ones(3, 4), "point": lib.tensor(1.0),
        "one": lib.tensor(1), "i": lib.ones(2, 3, dtype=lib.int64), "u": lib.ones(2, dtype=lib.uint8),
        "half": lib.full((2, 3), 0.5), "p": lib.ones(2, requires_grad=True), "float": float, "setattr": setattr,
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = eval(row, names)
        except Exception as e:
            return f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}".split(". ")[0]
    return f"{str(found.dtype).rpartition('.')[2]}{list(found.shape)}" if hasattr(found, "shape") else type(found).__name__


@pytest.mark.oracle
def test_wrong_calls_are_answered_as_by_pytorch() -> None:
    pytorch = pytest.importorskip("torch")
    differing = []
    for row in rows():
        ours, theirs = outcome(retrograd, row), outcome(pytorch, row)
        if ours != theirs:
            differing.append(f"{row}: {ours!r}, not {theirs!r}")
    assert differing == []


@pytest.mark.parametrize("name", OPTIMIZERS[:-1])
def test_a_step_with_the_state_of_another_size_names_the_sizes(name: str) -> None:
    def made(size: int) -> Any:
        p = retrograd.ones(size, requires_grad=True)
        p.grad = retrograd.ones(size)
        return getattr(retrograd.optim, name)([p], lr=0.1, **({"momentum": 0.9} if name == "SGD" else {}))

    first, second = made(2), made(3)
    first.step()
    second.load_state_dict(first.state_dict())
    with pytest.raises(RuntimeError, match=r"^The size of tensor a \(2\) must match the size of tensor b \(3\)"):
        second.step()


@pytest.mark.parametrize("name", OPTIMIZERS[:-1])
def test_integers_are_not_optimised(name: str) -> None:
    p = retrograd.ones(2, dtype=retrograd.int64)
    p.grad = retrograd.ones(2, dtype=retrograd.int64)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        getattr(retrograd.optim, name)([p], lr=0.1).step()


def test_lengths_beyond_the_input_are_refused() -> None:
    """PyTorch reads memory that is not the tensor's."""
    with pytest.raises(RuntimeError, match="Expected every length to be at most 4, but got 5"):
        retrograd.nn.utils.rnn.pack_padded_sequence(retrograd.ones(4, 2, 3), [5, 4])


@pytest.mark.parametrize("op", ["+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "<<="])
@pytest.mark.parametrize("wants", [True, False])
def test_what_is_no_operand_of_an_in_place_operator_is_a_type_error_also_of_leaves(op: str, wants: bool) -> None:
    for other in ("a", None, [1], object()):
        x = retrograd.ones(2, requires_grad=wants)
        with pytest.raises(TypeError):
            exec(f"x {op} other", {"x": x, "other": other})
        assert x._version == 0
