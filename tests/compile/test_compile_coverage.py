"""Functions and layers that a plan takes as one call."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from replaying import alike, grads, numbers, replays, same, skipping

import retrograd as torch
import retrograd.nn.functional as F
from retrograd import nn

ROWS, IMAGES, STEPS = numbers(6, 8), numbers(2, 3, 8, 8), numbers(5, 2, 8)
TOKENS = torch.tensor([[1, 2, 3], [4, 5, 1]])


class First(nn.Module):
    """The outputs of a recurrent layer."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Any) -> Any:
        return self.layer(x)[0]


class Masked(First):
    """The layer with a causal mask and one of padding."""

    def forward(self, x: Any) -> Any:
        padding = torch.arange(x.shape[0]).expand(x.shape[1], -1) >= 3
        causal = nn.Transformer.generate_square_subsequent_mask(x.shape[0]) < 0
        if isinstance(self.layer, nn.MultiheadAttention):
            return self.layer(x, x, x, key_padding_mask=padding)[0]
        return self.layer(x, src_mask=causal, src_key_padding_mask=padding)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = square(), square()
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Any) -> Any:
        y = self.relu(self.one(x))
        z = self.two(y)
        z += y
        z.mul_(2).sigmoid_()
        return self.relu(z + 1)


def stacked(*layers: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: nn.Sequential(*[layer() for layer in layers])


def square() -> Any:
    return nn.Linear(8, 8)


MODELS: dict[str, tuple[Callable[[], Any], Any]] = {
    "batch norm": (stacked(square, lambda: nn.BatchNorm1d(8), nn.ReLU, square), ROWS),
    "batch norm without statistics": (stacked(square, lambda: nn.BatchNorm1d(8, track_running_stats=False), square), ROWS),
    "batch norm in eval": (lambda: nn.Sequential(square(), nn.BatchNorm1d(8)).eval(), ROWS),
    "layer norm": (stacked(square, lambda: nn.LayerNorm(8), nn.GELU, square), ROWS),
    "group norm": (stacked(square, lambda: nn.GroupNorm(2, 8), nn.SiLU, square), ROWS),
    "instance norm": (stacked(lambda: nn.Conv2d(3, 4, 3), lambda: nn.InstanceNorm2d(4)), IMAGES),
    "convolution": (stacked(lambda: nn.Conv2d(3, 4, 3), nn.ReLU, lambda: nn.MaxPool2d(2), nn.Flatten,
                            lambda: nn.Linear(36, 2)), IMAGES),
    "convolution and batch norm": (stacked(lambda: nn.Conv2d(3, 4, 3, bias=False), lambda: nn.BatchNorm2d(4), nn.ReLU,
                                           lambda: nn.AdaptiveAvgPool2d(1), nn.Flatten, lambda: nn.Linear(4, 2)), IMAGES),
    "transposed convolution": (stacked(lambda: nn.ConvTranspose2d(3, 2, 3), nn.Tanh), IMAGES),
    "embedding": (stacked(lambda: nn.Embedding(7, 8), square), TOKENS),
    "embedding bag": (stacked(lambda: nn.EmbeddingBag(7, 8), square), TOKENS),
    "LSTM": (lambda: First(nn.LSTM(8, 5, num_layers=2)), STEPS),
    "GRU": (lambda: First(nn.GRU(8, 5, bidirectional=True)), STEPS),
    "RNN": (lambda: First(nn.RNN(8, 5, batch_first=True)), STEPS),
    "LSTM cell": (lambda: First(nn.LSTMCell(8, 5)), ROWS),
    "transformer": (lambda: nn.TransformerEncoderLayer(8, 2, dropout=0.0), STEPS),
    "transformer in eval": (lambda: nn.TransformerEncoderLayer(8, 2).eval(), STEPS),
    "transformer with masks": (lambda: Masked(nn.TransformerEncoderLayer(8, 2, dropout=0.0)), STEPS),
    "attention with an empty key": (lambda: Masked(nn.MultiheadAttention(8, 2, add_zero_attn=True)), STEPS),
    "residual in place": (lambda: Residual(), ROWS),
    "PReLU": (stacked(square, nn.PReLU, square), ROWS),
}


@pytest.mark.parametrize("name", list(MODELS))
def test_steps_of_models_are_replayed(name: str) -> None:
    make_model, x = MODELS[name]

    def make() -> Any:
        torch.manual_seed(0)
        model = make_model()
        optimizer = torch.optim.Adam(model.parameters())

        def step() -> Any:
            optimizer.zero_grad()
            out = model(x)
            loss = (out * out).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step, lambda: [*[t.clone() for t in (*model.parameters(), *model.buffers())], *grads(*model.parameters())]

    alike(make)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: x.max(1)[0],
    "min": lambda x: torch.min(x, 0).values,
    "topk": lambda x: x.topk(2).values,
    "split": lambda x: x.split(4, 1)[0] * x.split(4, 1)[1],
    "chunk": lambda x: torch.cat([t.exp() for t in x.chunk(2, 1)]),
    "unbind": lambda x: x.unbind(0)[1] * x.unbind(0)[0],
    "sort": lambda x: x.sort(1)[0],
    "std_mean": lambda x: sum(torch.std_mean(x, 1)),
    "var": lambda x: x.var(),
    "clamp": lambda x: x.clamp(-0.5, 0.5),
    "lerp": lambda x: x.lerp(x * 2, 0.3),
    "where": lambda x: torch.where(x > 0, x, x * 2),
    "masked_fill": lambda x: x.masked_fill(x > 0, 1.0),
    "comparison": lambda x: x * (x >= 0.2).float(),
    "argmax": lambda x: x * x.argmax(1, keepdim=True),
    "norm": lambda x: x.norm(),
    "gather": lambda x: x.gather(1, torch.zeros(6, 1, dtype=torch.int64)),
    "index": lambda x: x[torch.tensor([0, 2])],
    "index_select": lambda x: x.index_select(0, torch.tensor([0, 2, 2])),
    "cumsum": lambda x: x.cumsum(1),
    "tril": lambda x: x.tril() * x,
    "double": lambda x: x.double() * 2,
    "half": lambda x: x.half() * 2,
    "logsumexp": lambda x: x.logsumexp(1),
    "prod": lambda x: x.prod(1),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "maximum": lambda x: torch.maximum(x, x * x),
    "amax": lambda x: x.amax(1),
    "repeat": lambda x: x.repeat(2, 1),
    "roll": lambda x: x.roll(1),
    "pad": lambda x: F.pad(x, (1, 1)),
    "glu": F.glu,
    "normalize": F.normalize,
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
    "one input in several places": lambda x: torch.lerp(x, x.exp(), x.max()) + x * x,
    "inverse": lambda x: torch.linalg.inv(x[:, :6] @ x[:, :6].T + torch.eye(6)),
    "triu mask": lambda x: (x @ x.T + torch.triu(torch.full((6, 6), float("-inf")), 1)).softmax(1),
}


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_functions_are_replayed(name: str) -> None:
    f = FUNCTIONS[name]

    def make() -> Any:
        x = ROWS.clone().requires_grad_()

        def step() -> Any:
            x.grad = None
            out = f(x)
            loss = (out * out).sum()
            loss.backward()
            return loss.detach(), out.detach() * 1

        return step, lambda: grads(x)

    alike(make)


DRAWS: dict[str, Callable[[Any], Any]] = {
    "dropout": lambda x: F.dropout(x, 0.3),
    "dropout2d": lambda x: F.dropout2d(x[None, :, :, None]),
    "randn": lambda x: x * torch.randn(8),
    "rand_like": lambda x: x + torch.rand_like(x),
    "bernoulli": lambda x: x * torch.bernoulli(torch.full((6, 1), 0.5)),
    "normal_": lambda x: x * torch.zeros(8).normal_(),
    "randint": lambda x: x * torch.randint(0, 5, (8,)),
    "randperm": lambda x: x[torch.randperm(6)],
    "multinomial": lambda x: x[torch.multinomial(torch.ones(6), 3)],
    "gumbel_softmax": F.gumbel_softmax,
    "rrelu": lambda x: F.rrelu(x, training=True),
}


@pytest.mark.parametrize("check", [0, 1])
@pytest.mark.parametrize("name", list(DRAWS))
def test_random_draws_are_those_of_eager_calls(name: str, check: int) -> None:
    f = DRAWS[name]

    def seen(call: Any) -> Any:
        torch.manual_seed(3)
        return [(call(), torch.rand(2), x.grad.clone()) for _ in range(5)]

    x = ROWS.clone().requires_grad_()

    def step() -> Any:
        x.grad = None
        loss = (f(x) ** 2).sum()
        loss.backward()
        return loss.detach()

    want = seen(step)
    fast = skipping(step, check=check)
    assert same(want, seen(fast))
    assert replays(fast) >= 3, fast.explain()


@pytest.mark.parametrize(("name", "f"), [
    ("nonzero", lambda x: x.nonzero()),
    ("a mask", lambda x: x[x > 0]),
    ("masked_select", lambda x: x.masked_select(x > 0)),
    ("unique", torch.unique),
])
def test_results_whose_shape_depends_on_numbers_stay_eager(name: str, f: Any) -> None:
    x = ROWS.clone()
    fast = skipping(lambda: f(x).sum())
    for scale in (1, -1, 0.5):
        assert same(f(x).sum(), fast())
        x.mul_(scale)
    assert replays(fast) == 0, name


def test_gradients_meet_in_the_order_of_an_eager_call() -> None:
    def make() -> Any:
        x = numbers(5, 7).requires_grad_()

        def step() -> Any:
            x.grad = None
            h = x * 1.5
            a = torch.lerp(h, h.exp(), h.sigmoid())         # h is three inputs of it
            loss = (h.sin() + a * h + F.normalize(h) + h.tanh()).sum()
            loss.backward()
            return loss.detach()

        return step, lambda: grads(x)

    alike(make)


def test_calls_that_write_their_argument_are_replayed() -> None:
    def make() -> Any:
        weights, mean = numbers(8).requires_grad_(), torch.zeros(8)
        count = torch.zeros((), dtype=torch.int64)

        def step() -> Any:
            with torch.no_grad():
                mean.lerp_(weights * 2, 0.1)
                count.add_(1)
                weights.clamp_(-1, 1).mul_(0.9)
                mean[2:4] = 1.0
            return mean + count

        return step, lambda: (mean.clone(), count.clone(), weights.detach().clone(), mean._version, count._version)

    alike(make)


def test_an_index_out_of_range_raises_as_eagerly() -> None:
    table = numbers(5, 2)
    fast = skipping(lambda i: F.embedding(i, table) * 2)
    for _ in range(3):
        fast(torch.tensor([0, 4]))
    assert replays(fast) == 2
    with pytest.raises(IndexError, match="out of range"):
        fast(torch.tensor([0, 5]))


class Odd(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.ops = [random.randrange(2) for _ in range(3)]
        self.layer = nn.Linear(8, 8)

    def forward(self, x: Any) -> Any:
        for op in self.ops:
            x = self.layer(x).tanh() if op else self.layer(x).relu()
        return x


def test_how_a_model_was_made_does_not_matter() -> None:
    model = Odd()
    fast = skipping(model)
    for _ in range(3):
        assert same(model(ROWS).detach(), fast(ROWS).detach())
    assert replays(fast) == 2, fast.explain()
