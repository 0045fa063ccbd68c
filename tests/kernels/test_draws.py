"""A seed gives PyTorch's numbers: every draw, layer, sampler and a training run beside PyTorch's; kernels beside Python."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd
from retrograd import _kernels
from retrograd._kernels import draws

Draw = Callable[[Any], Any]
SIZES = [0, 1, 2, 7, 15, 16, 17, 33, 100, 1000, 1501]
HALVES = ("float16", "bfloat16")
FLOATS = ("float32", "float64", *HALVES)
INTS = ("int64", "int32", "int16", "int8", "uint8", "bool")

CPU = Path("/proc/cpuinfo")
MKL = CPU.exists() and "GenuineIntel" in CPU.read_text()    # there PyTorch draws bernoulli_(p), and dropout, by MKL


@pytest.fixture
def real() -> Any:
    return pytest.importorskip("torch")


def same(real: Any, draw: Draw, tolerance: float = 0.0, *, rounded: bool = False) -> None:
    """draw(torch) gives as much on both engines, and leaves both streams at the same place."""
    found = []
    for torch in (real, retrograd):
        torch.manual_seed(77)
        made = draw(torch).detach().double().numpy()
        found.append((made, torch.rand(3).numpy(), torch.get_rng_state().numpy()[:5016]))     # without the spare normal
    (want, after, state), (got, after_got, state_got) = found
    assert want.shape == got.shape and (after == after_got).all() and (state == state_got).all()
    if tolerance and (rounded or not to_the_last_bit(real)):
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(got, want)


def to_the_last_bit(real: Any) -> bool:
    """With kernels, where PyTorch multiplies and adds in one step."""
    return _kernels.nn is not None and real.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512")


# How near without kernels: logarithm, sine and cosine differ in last bits, and a half has few of them.
CONTINUOUS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "uniform_": (lambda x: x.uniform_(-0.3, 0.7), 1e-15), "normal_": (lambda x: x.normal_(1.5, 0.3), 2e-6),
    "exponential_": (lambda x: x.exponential_(1.7), 1e-14), "cauchy_": (lambda x: x.cauchy_(0.2, 2.0), 1e-6),
    "log_normal_": (lambda x: x.log_normal_(0.2, 0.5), 1e-6), "geometric_": (lambda x: x.geometric_(0.2), 0),
    "random_": (lambda x: x.random_(), 0), "random_ to": (lambda x: x.random_(5), 0),
    "random_ from": (lambda x: x.random_(-3, 200), 0),
}


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_methods_draw_pytorchs_numbers(real: Any, name: str, dtype: str) -> None:
    draw, near = CONTINUOUS[name]
    near = near and (max(near, 1e-2) if dtype in HALVES else max(near, 1e-6 if name == "cauchy_" else near))
    for size in [(), *SIZES]:
        same(real, lambda torch, size=size: draw(torch.empty(size, dtype=getattr(torch, dtype))), near)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", FLOATS)
def test_rand_and_randn_are_pytorchs(real: Any, dtype: str) -> None:
    for n in SIZES:
        same(real, lambda torch, n=n: torch.rand(n, dtype=getattr(torch, dtype)))
        same(real, lambda torch, n=n: torch.randn(n, dtype=getattr(torch, dtype)), 1e-2 if dtype in HALVES else 2e-6)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", INTS)
def test_integers_are_pytorchs(real: Any, dtype: str) -> None:
    for n in SIZES:
        same(real, lambda torch, n=n: torch.empty(n, dtype=getattr(torch, dtype)).random_())
        if dtype != "bool":
            same(real, lambda torch, n=n: torch.randint(3, 100, (n,), dtype=getattr(torch, dtype)))
        if dtype in ("int64", "int32"):
            for count in (2**28 - 1, 2**28, 2**31 - 1):
                same(real, lambda torch, n=n, count=count: torch.randint(0, count, (n,), dtype=getattr(torch, dtype)))
        if dtype == "int64":
            same(real, lambda torch, n=n: torch.randint(-(2**40), 2**50, (n,)))
            same(real, lambda torch, n=n: torch.empty(n, dtype=torch.int64).random_(-(2**63), None))


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:.* is out of bounds")
@pytest.mark.parametrize("dtype", FLOATS)
def test_integers_that_a_float_does_not_hold_are_pytorchs(real: Any, dtype: str) -> None:
    for low, high in ((0, 2**30), (-5, 2**40), (2000, 3000), (0, 60000), (-2051, -1000), (250, 300), (-(2**24) - 9, 2**24 + 9),
                      (0, 2**28 + 1), (3, None), (-5, None), (-(2**63), None)):
        if dtype == "float16" and (low == -(2**63) or abs(low) > 65504 or (high or 0) > 65504):
            continue
        same(real, lambda torch, low=low, high=high: torch.empty(50, dtype=getattr(torch, dtype)).random_(low, high))
        if high is not None:
            same(real, lambda torch, low=low, high=high: torch.randint(low, high, (50,), dtype=getattr(torch, dtype)))


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:.* is out of bounds")
@pytest.mark.parametrize(("dtype", "bounds"), [
    ("bfloat16", (2**24 + 1, 2**24 + 2)), ("bfloat16", (2049, 2050)), ("float16", (-(2**63), None)), ("bool", (-(2**63), None)),
    ("int32", (-(2**63), None)), ("uint8", (-(2**63), None)), ("bool", (5, None)), ("float16", (2049, None)), ("int8", (0, 300))])
def test_bounds_that_a_dtype_cannot_draw_between(real: Any, dtype: str, bounds: Any) -> None:
    told = []
    for torch in (real, retrograd):
        with pytest.raises(RuntimeError) as caught:
            torch.empty(3, dtype=getattr(torch, dtype)).random_(*bounds)
        told.append((caught.type, str(caught.value).splitlines()[0]))
    assert told[0] == told[1]


OUTS: dict[str, Callable[[Any, int, Any, Callable[..., Any]], Any]] = {
    "a mean": lambda torch, n, kind, empty: torch.normal(torch.ones(n, dtype=kind), 2.3, out=empty(n)),
    "a deviation": lambda torch, n, kind, empty: torch.normal(0.3, torch.ones(n, dtype=kind) * 3, out=empty(0)),
    "both": lambda torch, n, kind, empty: torch.normal(torch.rand(n), torch.ones(n, dtype=kind), out=empty(n)),
    "numbers": lambda torch, n, kind, empty: torch.normal(0.3, 2.0, (n,), out=empty(0)),
    "a mean for each row": lambda torch, n, kind, empty: torch.normal(torch.ones(n, dtype=kind), 2.3, out=empty(2, n)),
    "as many as out has": lambda torch, n, kind, empty: torch.normal(torch.ones(n, dtype=kind), 2.3, out=empty(4, 1)),
    "columns": lambda torch, n, kind, empty: torch.normal(torch.ones(5, n, dtype=kind), 2.3, out=empty(n, 5).t()),
    "deviations in columns": lambda torch, n, kind, empty: torch.normal(0.3, torch.ones(5, n, dtype=kind), out=empty(n, 5).t()),
}


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("kind", ["int64", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("of", OUTS)
def test_normals_are_drawn_in_the_dtype_of_out(real: Any, of: str, dtype: str, kind: str) -> None:
    def draw(torch: Any, n: int) -> Any:
        return OUTS[of](torch, n, getattr(torch, kind), lambda *size: torch.empty(*size, dtype=getattr(torch, dtype)))

    for n in (3, 20, 33):
        same(real, lambda torch, n=n: draw(torch, n), 2e-2 if dtype in HALVES else 1e-5)


@pytest.mark.oracle
def test_out_of_a_normal_that_does_not_fit(real: Any) -> None:
    told = []
    for torch in (real, retrograd):
        for call in (lambda torch: torch.normal(torch.ones(20), 2.0, out=torch.empty(0)),
                     lambda torch: torch.normal(torch.ones(3), torch.ones(4)),
                     lambda torch: torch.normal(torch.ones(3), 1.0, out=torch.empty(3, dtype=torch.int64)),
                     lambda torch: torch.normal(0.0, 1.0, (3,), dtype=torch.float64, out=torch.empty(3))):
            with pytest.raises(RuntimeError) as caught:
                call(torch)
            told.append((caught.type, str(caught.value)))
    assert told[:4] == told[4:]


FUNCTIONS: dict[str, tuple[Callable[[Any, int], Any], float]] = {
    "randperm": (lambda torch, n: torch.randperm(n), 0),
    "bernoulli": (lambda torch, n: torch.bernoulli(torch.rand(n)), 0),
    "bernoulli of doubles": (lambda torch, n: torch.bernoulli(torch.rand(n, dtype=torch.float64)), 0),
    "bernoulli_ of a tensor": (lambda torch, n: torch.empty(n, dtype=torch.int64).bernoulli_(torch.rand(n)), 0),
    "poisson": (lambda torch, n: torch.poisson(torch.rand(n) * 30), 0),
    "poisson of large rates": (lambda torch, n: torch.poisson(torch.rand(n, dtype=torch.float64) * 9e18), 0),
    "randperm of bfloat16": (lambda torch, n: torch.randperm(n, dtype=torch.bfloat16), 0),
    "multinomial with zeros": (
        lambda torch, n: torch.multinomial((torch.rand(3, n + 2) - 0.4).relu() + torch.eye(n + 2)[:1], 1), 0),
    "multinomial with zeros and replacement": (
        lambda torch, n: torch.multinomial((torch.rand(3, n + 2) - 0.4).relu() + torch.eye(n + 2)[:1], 9, True), 0),
    "multinomial of halves": (lambda torch, n: torch.multinomial(torch.rand(3, n + 2).half(), 2), 0),
    "multinomial of halves with replacement": (lambda torch, n: torch.multinomial(torch.rand(3, n + 2).half(), 9, True), 0),
    "binomial": (lambda torch, n: torch.binomial((torch.rand(n) * 90).floor(), torch.rand(n)), 0),
    "gamma": (lambda torch, n: torch._standard_gamma(torch.rand(n, dtype=torch.float64) * 3), 1e-12),
    "gamma of short floats": (lambda torch, n: torch._standard_gamma(torch.rand(n) * 3), 1e-6),
    "normal after gamma": (lambda torch, n: (torch._standard_gamma(torch.ones(n)), torch.randn(5))[1], 2e-6),
    "dirichlet": (lambda torch, n: torch._sample_dirichlet(torch.rand(n, 3) * 2 + 1e-3), 1e-6),
    "rrelu": (lambda torch, n: torch.nn.functional.rrelu(torch.randn(n), training=True), 1e-6),
    "gumbel_softmax": (lambda torch, n: torch.nn.functional.gumbel_softmax(torch.zeros(2, n + 1)), 1e-5),
    "normal of tensors": (lambda torch, n: torch.normal(torch.arange(float(n)), torch.ones(n) * 2), 2e-6),
    "normal of a tensor": (lambda torch, n: torch.normal(1.0, torch.ones(n) * 2), 2e-6),
    "normal of numbers": (lambda torch, n: torch.normal(1.0, 2.0, (n,)), 2e-6),
    "multinomial": (lambda torch, n: torch.multinomial(torch.rand(3, n + 2), 2), 0),
    "multinomial with replacement": (lambda torch, n: torch.multinomial(torch.rand(3, n + 2), 5, True), 0),
    "multinomial of doubles": (lambda torch, n: torch.multinomial(torch.rand(n + 2, dtype=torch.float64), 1, True), 0),
    "multinomial of huge weights": (lambda torch, n: torch.multinomial(torch.rand(3, n + 2) * 3e38, 1), 0),
    "multinomial of columns": (lambda torch, n: torch.multinomial((torch.rand(4, n + 5) + 1).t(), 3), 0),
    "randint_like of columns": (lambda torch, n: torch.randint_like(torch.zeros(4, n).t(), 9), 0),
    "one after the other": (lambda torch, n: (torch.randn(3), torch.rand(2), torch.randperm(n), torch.randn(4))[-1], 2e-6),
}
BY_MKL: dict[str, tuple[Callable[[Any, int], Any], float]] = {
    "bernoulli_": (lambda torch, n: torch.empty(n).bernoulli_(0.3), 0),
    "bernoulli_ of int8": (lambda torch, n: torch.empty(n, dtype=torch.int8).bernoulli_(0.3), 0),
    "bernoulli with p": (lambda torch, n: torch.bernoulli(torch.zeros(n), 0.4), 0),
    "dropout": (lambda torch, n: torch.nn.functional.dropout(torch.ones(n), 0.3), 0),
    "dropout, transposed": (lambda torch, n: torch.nn.functional.dropout(torch.ones(n, 5).t(), 0.3), 0),
    "dropout of features": (lambda torch, n: torch.nn.functional.dropout2d(torch.ones(n + 1, 7, 2, 2), 0.3), 0),
    "dropout of volumes": (lambda torch, n: torch.nn.functional.dropout3d(torch.ones(n + 1, 7, 1, 2, 2), 0.3), 0),
    "dropout of volumes without batch": (lambda torch, n: torch.nn.functional.dropout3d(torch.ones(n + 1, 1, 2, 2), 0.3), 0),
    "alpha_dropout": (lambda torch, n: torch.nn.functional.alpha_dropout(torch.ones(n), 0.3), 1e-6),
    "attention": (lambda torch, n: torch.nn.functional.scaled_dot_product_attention(*[torch.ones(1, 2, 4, 3)] * 3, dropout_p=0.3),
                  1e-6),
}


ROUNDED = {"gamma", "gumbel_softmax"}           # by powers and logarithms of other libraries


@pytest.mark.oracle
@pytest.mark.parametrize("name", [*FUNCTIONS, *BY_MKL])
def test_functions_draw_pytorchs_numbers(real: Any, name: str) -> None:
    if MKL and name in BY_MKL:
        pytest.skip("PyTorch draws these by MKL on this processor")
    draw, near = (FUNCTIONS | BY_MKL)[name]
    for n in SIZES:
        same(real, lambda torch, n=n: draw(torch, n), near, rounded=name in ROUNDED)


@pytest.mark.oracle
@pytest.mark.skipif(MKL, reason="PyTorch draws these by MKL on this processor")
@pytest.mark.filterwarnings("ignore:dropout3d. Received a")
def test_dropout3d_of_other_ranks_drops_along_the_first_dim(real: Any) -> None:
    for shape in ((7,), (7, 2), (7, 2, 3), (7, 2, 1, 1, 2, 2)):
        same(real, lambda torch, shape=shape: torch.nn.functional.dropout3d(torch.ones(shape), 0.3))


@pytest.mark.oracle
@pytest.mark.parametrize("method", ["uniform_", "normal_", "exponential_", "random_", "cauchy_", "log_normal_"])
def test_draws_over_strided_memory_are_in_pytorchs_order(real: Any, method: str) -> None:
    for make in (lambda torch: torch.empty(5, 7).t(), lambda torch: torch.empty(3, 4, 5).permute(2, 0, 1),
                 lambda torch: torch.empty(8, 9)[::2, ::3], lambda torch: torch.empty(20, 30)[:, 3],
                 lambda torch: torch.empty(4, 5)[1:]):
        same(real, lambda torch, make=make: getattr(make(torch), method)(), 2e-6)
        like = {"uniform_": "rand_like", "normal_": "randn_like"}.get(method)
        if like:
            same(real, lambda torch, make=make, like=like: getattr(torch, like)(make(torch)), 2e-6)


LAYERS: dict[str, tuple[Any, ...]] = {
    "Linear": (5, 7), "Bilinear": (3, 4, 5), "Conv1d": (3, 4, 3), "Conv2d": (3, 4, 3), "Conv3d": (3, 4, 3),
    "ConvTranspose2d": (3, 4, 3), "Embedding": (10, 6), "EmbeddingBag": (10, 6), "LSTM": (5, 6, 2), "GRU": (5, 6, 2),
    "RNN": (5, 6, 2), "LSTMCell": (5, 6), "GRUCell": (5, 6), "MultiheadAttention": (8, 2), "TransformerEncoderLayer": (8, 2),
    "Transformer": (8, 2, 1, 1), "AdaptiveLogSoftmaxWithLoss": (10, 20, [5, 10]),
}


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", LAYERS)
def test_new_layers_have_pytorchs_weights(real: Any, name: str) -> None:
    found = []
    for torch in (real, retrograd):
        torch.manual_seed(3)
        found.append(dict(getattr(torch.nn, name)(*LAYERS[name]).named_parameters()))
    assert list(found[0]) == list(found[1])
    for key, want in found[0].items():
        near = 0.0 if to_the_last_bit(real) else 1e-6
        np.testing.assert_allclose(found[1][key].detach().numpy(), want.detach().numpy(), rtol=near, atol=near)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_",
                                  "trunc_normal_", "sparse_", "uniform_", "normal_"])
def test_initialisers_draw_pytorchs_numbers(real: Any, name: str) -> None:
    more = (0.3,) if name == "sparse_" else ()
    same(real, lambda torch: getattr(torch.nn.init, name)(torch.empty(9, 11), *more), 3e-6, rounded=name == "orthogonal_")
    if name == "trunc_normal_":
        same(real, lambda torch: torch.nn.init.trunc_normal_(torch.empty(40, 11), 0.0, 1.0, 1.0, 1.5), 3e-6)
    if name == "orthogonal_":
        same(real, lambda torch: torch.nn.init.orthogonal_(torch.empty(5, 4, dtype=torch.float64)), 1e-12, rounded=True)


def batches(torch: Any) -> list[Any]:
    data = importlib.import_module(torch.__name__ + ".utils.data")
    torch.manual_seed(4)
    numbers = data.TensorDataset(torch.arange(23))
    found: list[Any] = []
    for options in (
        {"batch_size": 4, "shuffle": True}, {"batch_size": 4, "shuffle": True, "generator": torch.Generator().manual_seed(2)},
        {"batch_size": 3, "sampler": data.RandomSampler(numbers, replacement=True, num_samples=40)},
        {"batch_size": 3, "sampler": data.RandomSampler(numbers, num_samples=50, generator=torch.Generator().manual_seed(5))},
        {"batch_size": 5, "sampler": data.WeightedRandomSampler([0.1] * 10 + [0.5] * 13, 30)},
        {"batch_size": 2, "sampler": data.SubsetRandomSampler(range(5))},
    ):
        loader = data.DataLoader(numbers, **options)
        for _ in range(3):
            found += [batch[0].tolist() for batch in loader]
        found.append(torch.rand(2).tolist())
    found += [list(part.indices) for part in data.random_split(numbers, [10, 13])]
    return found


@pytest.mark.oracle
def test_loaders_shuffle_as_pytorchs(real: Any) -> None:
    assert batches(retrograd) == batches(real)


def losses(torch: Any, p: float) -> list[str]:
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x, y = torch.randn(200, 10), torch.randint(0, 3, (200,))
    found = []
    for _ in range(40):
        at = torch.randperm(200)[:32]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[at]), y[at])
        loss.backward()
        optimizer.step()
        found.append(f"{loss.item():.3f}")
    return found


@pytest.mark.oracle
def test_a_seeded_training_run_prints_what_pytorchs_prints(real: Any) -> None:
    p = 0.0 if MKL else 0.2
    assert losses(retrograd, p) == losses(real, p)


@pytest.mark.oracle
def test_states_go_both_ways(real: Any) -> None:
    real.manual_seed(5)
    real.randn(3)                               # half a pair of normals is left
    retrograd.set_rng_state(retrograd.from_numpy(real.get_rng_state().numpy()))
    assert retrograd.initial_seed() == 5
    np.testing.assert_allclose(retrograd.randn(7).numpy(), real.randn(7).numpy(), rtol=1e-6)
    retrograd.rand(11)
    real.set_rng_state(real.from_numpy(retrograd.get_rng_state().numpy()))
    np.testing.assert_array_equal(real.rand(700).numpy(), retrograd.rand(700).numpy())


# Kernels


@pytest.mark.skipif(_kernels.nn is None, reason="no kernels in this build")
@pytest.mark.parametrize("n", [0, 1, 3, 511, 512, 513, 5000])
def test_kernels_draw_what_python_draws(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    rates = np.abs(np.random.RandomState(2).standard_normal(n)) * 20
    counts, chances = np.floor(rates * 3), np.random.RandomState(3).random_sample(n)

    def drawn() -> list[Any]:
        bits = np.random.MT19937(3)
        f4, f8 = np.dtype("f4"), np.dtype("f8")
        return [draws.uniform(bits, (n,), f4), draws.uniform(bits, (n,), f8), draws.keep(bits, (n,), f4, 0.3, 1 / 0.3),
                draws.keep(bits, (n,), f8, 0.6, 2.0), draws.integers(bits, (n,), -5, 12, False),
                draws.integers(bits, (n,), 3, 2**40, True), draws.integers(bits, (n,), -(2**63), 2**64, True),
                draws.permutation(bits, n), draws.poisson(bits, rates),
                draws.gammas(draws.Stream(bits, 0.3), rates / 9), draws.binomials(draws.Stream(bits, None), counts, chances),
                draws.normal_groups(bits, n + 16, f4, False), draws.move(draws.uniform(bits, (n,), f4), 0.3, -0.7),
                draws.words(bits, 2)]
    fast = drawn()
    for name in ("uniform", "keep", "integers", "permute", "poisson", "gammas", "binomials", "groups", "move"):
        monkeypatch.setattr(draws, "quick_" + name, _kernels.absent)
    for quick, slow in zip(fast, drawn()):
        assert quick.dtype == slow.dtype
        np.testing.assert_array_equal(quick, slow)


@pytest.mark.skipif(_kernels.nn is None, reason="no kernels in this build")
def test_kernels_leave_other_cases_alone() -> None:
    capsule = np.random.MT19937(3).capsule
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    uniform, keep, integers = (_kernels.kernel(name) for name in ("uniform", "keep", "integers"))
    for bad in (np.zeros(6)[::2], frozen, np.zeros(3, np.int64), 3.0):
        assert not uniform(capsule, bad) and not keep(capsule, bad, 0.5, 1.0)
    assert not uniform(object(), np.zeros(3)) and not integers(capsule, np.zeros(3), 5, 0, False)
    assert not _kernels.kernel("permute")(capsule, np.zeros(3, np.int32))
    assert not _kernels.kernel("poisson")(capsule, np.zeros(3), np.zeros(4))
    assert not _kernels.kernel("gammas")(capsule, np.zeros(3), np.zeros(3), np.zeros(1), np.zeros(3))
    assert not _kernels.kernel("binomials")(capsule, np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(4))
    with pytest.raises(TypeError):
        keep(capsule, np.zeros(3), "p", 1.0)


def test_dropping_nearly_everything_of_a_half_gives_zeros() -> None:
    assert retrograd.nn.functional.dropout(retrograd.ones(9, dtype=retrograd.float16), 1 - 1e-8).tolist() == [0.0] * 9
