"""Generators, seeds and draws: PyTorch's rules and errors; distributions checked by their moments."""

from __future__ import annotations

import copy
import pickle
import re
import threading
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd import random
from retrograd._engine.tensor import wrap
from retrograd._tensor import dtypes

FLOATS = [np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.float16), dtypes.bfloat16.numpy]
INTS = [np.dtype(code) for code in ("i8", "i4", "i2", "i1", "u1")]
F4 = FLOATS[1]
N = 40_000


def seeded(seed: int = 0) -> Any:
    return random.Generator().manual_seed(seed)


# ---- seeds and states ----


def test_a_seed_repeats_the_numbers() -> None:
    a = random.uniform((5,), F4, generator=seeded(3))
    assert (a == random.uniform((5,), F4, generator=seeded(3))).all()
    assert (a != random.uniform((5,), F4, generator=seeded(4))).any()
    random.manual_seed(3)
    assert (a == random.uniform((5,), F4)).all()


def test_new_generators_are_alike_and_the_default_one_is_not() -> None:
    assert random.Generator().initial_seed() == random.Generator(device="cpu").initial_seed() == 67280421310721
    assert random.Generator(None).device == dtypes.device("cpu")
    first, second = random.seed(), random.seed()
    assert first != second == random.initial_seed()


@pytest.mark.parametrize(
    ("seed", "initial"),
    [(0, 0), (-1, 2**64 - 1), (2**63, 2**63), (2**64 - 1, 2**64 - 1), (-(2**63), 2**63)],
)
def test_manual_seed_takes_every_64_bit_number(seed: int, initial: int) -> None:
    assert seeded(seed).initial_seed() == initial
    assert random.manual_seed(seed) is random.default_generator
    assert random.initial_seed() == initial


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_manual_seed_refuses_more_than_64_bits(seed: int) -> None:
    for set_seed in (random.manual_seed, random.Generator().manual_seed):
        with pytest.raises(ValueError, match="^Overflow when unpacking long long$"):
            set_seed(seed)


def test_a_transform_can_ask_for_a_generator_of_its_thread() -> None:
    generator = random.thread_safe_generator()
    random.manual_seed(0)
    first = torch.randint(0, 10, (5,), generator=generator).tolist()
    random.manual_seed(0)
    assert generator is None and torch.randint(0, 10, (5,)).tolist() == first


def test_manual_seed_converts_and_the_method_does_not() -> None:
    random.manual_seed(1.5)
    assert random.initial_seed() == 1
    with pytest.raises(ValueError, match="invalid literal for int"):
        random.manual_seed("a")
    for wrong, name in ((1.5, "float"), ("a", "str"), (None, "NoneType"), (True, "bool")):
        with pytest.raises(RuntimeError, match=f"^manual_seed expected a long, but got {name}$"):
            random.Generator().manual_seed(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("before", [0, 1, 2, 3])
def test_a_state_goes_on_where_it_was_taken(before: int) -> None:
    g = seeded()
    random.uniform((before,), F4, generator=g)          # an odd number of float32 leaves half of a 64-bit draw over
    state = g.get_state()
    assert state.array.dtype == np.uint8
    want = random.uniform((7,), F4, generator=g)
    for other in (g.set_state(state), random.Generator().set_state(state)):
        assert (random.uniform((7,), F4, generator=other) == want).all()
        assert other.initial_seed() == 0


def test_a_state_is_a_snapshot() -> None:
    g = seeded()
    state = g.get_state()
    bits = state.array.copy()
    random.normal((3,), F4, generator=g)
    assert (state.array == bits).all()


def test_generators_are_copied_and_pickled_with_their_state() -> None:
    g = seeded()
    random.uniform((3,), F4, generator=g)
    others = [copy.copy(g), copy.deepcopy(g), pickle.loads(pickle.dumps(g)), g.clone_state()]
    want = random.normal((4,), F4, generator=g)
    for other in others:
        assert (random.normal((4,), F4, generator=other) == want).all()


def test_states_that_are_none_are_refused() -> None:
    g = seeded()
    with pytest.raises(RuntimeError, match="of size 5056 but found the input RNG state size to be 3$"):
        g.set_state(wrap(np.zeros(3, np.uint8)))
    with pytest.raises(RuntimeError, match="^Invalid mt19937 state$"):
        g.set_state(wrap(np.zeros(5056, np.uint8)))
    with pytest.raises(TypeError, match="^RNG state must be a torch.ByteTensor$"):
        g.set_state(wrap(np.zeros(56, np.float32)))
    with pytest.raises(TypeError, match=r"^expected a torch.ByteTensor, but got list$"):
        random.set_rng_state([1])  # type: ignore[arg-type]


def test_fork_rng_leaves_no_trace() -> None:
    random.manual_seed(0)
    want = random.uniform((4,), F4)
    random.manual_seed(0)
    with pytest.raises(ZeroDivisionError), random.fork_rng():
        random.uniform((9,), F4)
        raise ZeroDivisionError
    assert (random.uniform((4,), F4) == want).all()
    state = random.get_rng_state()
    with random.fork_rng(enabled=False):
        random.uniform((1,), F4)
    assert (random.get_rng_state().array != state.array).any()
    with random.fork_rng(devices=[]):
        pass
    with pytest.raises(AssertionError, match="has no device 'cuda:0'"), random.fork_rng(devices=[0]):
        pass


def test_only_cpu_generators() -> None:
    with pytest.raises(AssertionError, match="has no device 'cuda'"):
        random.Generator("cuda")
    with pytest.raises(TypeError, match="'generator' must be torch._C.Generator, not int"):
        random.uniform((2,), F4, generator=3)  # type: ignore[arg-type]


def test_threads_share_a_generator_without_repeating_draws() -> None:
    g, out = seeded(), []

    def work() -> None:
        for _ in range(200):
            out.append(random.uniform((4,), FLOATS[0], generator=g))
            g.get_state()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    together = np.sort(np.concatenate(out))
    assert (together == np.sort(random.uniform((3200,), FLOATS[0], generator=seeded()))).all()


# ---- distributions ----


def near(x: Any, mean: float, std: float) -> None:
    """x's mean is within 5 standard errors of `mean`, its standard deviation within 5 % of `std`."""
    x = np.asarray(x, np.float64)
    assert abs(x.mean() - mean) < 5 * std / x.size**0.5 + abs(mean) * 0.002
    assert abs(x.std() - std) < 0.05 * std


@pytest.mark.parametrize("d", FLOATS, ids=str)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 5), (2.0, 2.25), (-1e-3, 1e-3)])
def test_uniform_stays_in_its_interval_and_has_its_moments(d: Any, low: float, high: float) -> None:
    x = random.uniform((N,), d, low, high, seeded())
    assert x.dtype == d
    bottom, top = np.asarray(low).astype(d), np.asarray(high).astype(d)
    assert (x >= bottom).all()
    assert (x < top).all()
    rounded = 0.0 if low != 2.0 or d != FLOATS[3] else 2.0**-6 / 2 / (high - low)   # what rounds up to high becomes low
    near(x, (low + high) / 2 - rounded * (high - low), (high - low) / 12**0.5)


def test_uniform_of_an_empty_interval() -> None:
    assert random.uniform((3,), F4, 1, 1).tolist() == [1, 1, 1]


def test_uniform_never_returns_high_where_rounding_would() -> None:
    high = 1 + 2.0**-23                                  # only 1.0 itself lies in [1, high)
    assert set(random.uniform((1000,), F4, 1, high, seeded()).tolist()) == {1.0}


@pytest.mark.parametrize("d", FLOATS, ids=str)
def test_normal_has_its_moments(d: Any) -> None:
    x = random.normal((N,), d, 2, 3, seeded())
    assert x.dtype == d
    near(x, 2, 3)


def test_normal_with_tensors() -> None:
    mean, std = torch.tensor([[0.0], [100.0]]), torch.tensor([1.0, 0.0])
    x = torch.normal(mean, std, generator=seeded())
    assert x[:, 1].tolist() == [0, 100] and x.dtype == torch.float32
    with pytest.raises(RuntimeError, match="all elements of std >= 0.0"):
        torch.normal(mean, -std, generator=seeded())


@pytest.mark.parametrize("d", FLOATS, ids=str)
def test_exponential_is_positive_and_has_its_moments(d: Any) -> None:
    x = random.exponential((N,), d, 2.0, seeded())
    assert x.dtype == d
    assert (x > 0).all()
    near(x, 0.5, 0.5)
    assert random.exponential((2,), d, float("inf")).tolist() == [0, 0]


@pytest.mark.parametrize("d", [*FLOATS, *INTS], ids=str)
def test_integers_reach_all_of_their_range_alike(d: Any) -> None:
    x = random.integers((N,), d, 3, 13, seeded())
    assert x.dtype == d
    assert set(x.tolist()) == set(range(3, 13))
    near(x, 7.5, (99 / 12) ** 0.5)


@pytest.mark.parametrize("d", INTS, ids=str)
def test_integers_of_the_whole_range(d: Any) -> None:
    info = np.iinfo(d)
    x = random.integers((N,), d, generator=seeded())
    assert x.min() >= 0
    assert abs(float(x.max()) / info.max - 1) < 0.01
    low = int(info.min)
    assert random.integers((N,), d, low, generator=seeded()).min() < 0.9 * low or low == 0


def test_integers_of_bool() -> None:
    x = random.integers((N,), np.dtype(bool), 0, 2, seeded())
    assert x.dtype == bool
    near(x, 0.5, 0.5)


@pytest.mark.parametrize("d", [*FLOATS, *INTS, np.dtype(bool)], ids=str)
def test_bernoulli_comes_as_often_as_asked(d: Any) -> None:
    x = random.bernoulli(0.3, (N,), d, seeded())
    assert x.dtype == d
    near(x, 0.3, 0.21**0.5)
    p = np.array([0.0, 1.0, 0.5])
    y = random.bernoulli(p, (N, 3), d, seeded()).astype(float).mean(0)
    assert y[:2].tolist() == [0, 1]
    assert abs(y[2] - 0.5) < 0.02


def test_bernoulli_of_a_tiny_probability() -> None:
    assert random.bernoulli(1e-8, (2_000_000,), np.dtype(bool), seeded()).sum() <= 1


@pytest.mark.parametrize("d", FLOATS, ids=str)
def test_poisson_has_its_moments(d: Any) -> None:
    rates = np.array([0, 3, 50]).astype(d)
    x = random.poisson(np.broadcast_to(rates, (N, 3)), seeded())
    assert x.dtype == d
    assert not x[:, 0].any()
    near(x[:, 1], 3, 3**0.5)
    near(x[:, 2], 50, 50**0.5)


def test_poisson_of_huge_rates() -> None:
    x = random.poisson(np.array([1e10, 1e16, 1e30, np.inf]), seeded())
    assert np.allclose(x[:3], [1e10, 1e16, 1e30], rtol=1e-4)
    assert x[3] == np.inf


@pytest.mark.parametrize("d", [*FLOATS, *INTS], ids=str)
def test_permutation_holds_each_number_once(d: Any) -> None:
    x = random.permutation(100, d, seeded())
    assert x.dtype == d
    assert sorted(x.tolist()) == list(range(100))
    assert x.tolist() != list(range(100))
    assert random.permutation(0, d).shape == (0,)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("d", FLOATS, ids=str)
def test_multinomial_follows_the_weights(d: Any, replacement: bool) -> None:
    weights = np.broadcast_to(np.array([1, 0, 3, 4]).astype(d), (N, 4))
    first = random.multinomial(weights, 2, replacement, seeded())
    assert first.shape == (N, 2)
    assert first.dtype == np.int64
    share = np.bincount(first[:, 0], minlength=4) / N
    assert np.abs(share - [0.125, 0, 0.375, 0.5]).max() < 0.015
    if not replacement:
        assert (first[:, 0] != first[:, 1]).all()
        assert not (first == 1).any()


def test_multinomial_shapes_and_ends() -> None:
    assert random.multinomial(np.array([1.0, 0.0]), 5, True).tolist() == [0] * 5
    assert random.multinomial(np.array([0.0, 0.0, 1e308, 0.0]), 9, True).tolist() == [2] * 9
    assert random.multinomial(np.array([1.0, 0.0, 0.0]), 3).tolist() == [0, 1, 2]
    assert random.multinomial(np.ones((0, 3)), 2).shape == (0, 2)
    assert sorted(random.multinomial(np.full(3, 1e308), 3).tolist()) == [0, 1, 2]


@pytest.mark.parametrize("d", [*FLOATS, *INTS, np.dtype(bool)], ids=str)
def test_0_dim_draws_are_arrays(d: Any) -> None:
    draws = [random.bernoulli(0.5, (), d), random.integers((), d, 0, 2)]
    if d in FLOATS:
        draws += [random.uniform((), d), random.normal((), d), random.exponential((), d), random.uniform((), d, 1, 2)]
        draws += [random.poisson(np.asarray(3).astype(d))]
    for x in draws:
        assert type(x) is np.ndarray
        assert x.shape == ()
        assert x.dtype == d


# ---- errors, in PyTorch's words ----

I8, U1, I4, I2, F2, BF = INTS[0], INTS[4], INTS[1], INTS[2], FLOATS[2], FLOATS[3]
W = np.array

ERRORS: list[tuple[Any, type[Exception], str]] = [
    (lambda: random.uniform((2,), F4, 2, 1), RuntimeError,
     "uniform_ expects to return a [from, to) range, but found from=2 > to=1"),
    (lambda: random.uniform((2,), F4, 0.123456789, 0.1), RuntimeError,
     "uniform_ expects to return a [from, to) range, but found from=0.123457 > to=0.1"),
    (lambda: random.uniform((2,), F4, 0, 1e39), RuntimeError, "to is out of bounds for float"),
    (lambda: random.uniform((2,), F2, 0, 1e6), RuntimeError, "to is out of bounds for c10::Half"),
    (lambda: random.uniform((2,), F4, float("nan"), 1), RuntimeError, "from is out of bounds for float"),
    (lambda: random.uniform((2,), F4, -3e38, 3e38), RuntimeError,
     "uniform_ expects to-from <= std::numeric_limits<Float>::max(), but found to=3e+38 and from=-3e+38 which result "
     "in to-from to exceed the limit"),
    (lambda: random.uniform((2,), I8), NotImplementedError, "\"check_uniform_bounds\" not implemented for 'Long'"),
    (lambda: random.normal((2,), F4, 0, -1), RuntimeError, "normal expects std >= 0.0, but found std -1"),
    (lambda: random.normal((2,), F4, 0, float("nan")), RuntimeError, "normal expects std >= 0.0, but found std nan"),
    (lambda: random.normal((2,), I4), NotImplementedError, "\"normal_kernel_cpu\" not implemented for 'Int'"),
    (lambda: random.exponential((2,), F4, 0), RuntimeError, "exponential_ expects lambda > 0.0, but found lambda=0"),
    (lambda: random.exponential((2,), U1), RuntimeError,
     "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
     "specified Byte"),
    (lambda: random.integers((2,), I8, 3, 3), RuntimeError,
     "random_ expects 'from' to be less than 'to', but got from=3 >= to=3"),
    (lambda: random.integers((2,), U1, 0, 300), RuntimeError, "to - 1 is out of bounds for unsigned char"),
    (lambda: random.integers((2,), U1, -1, 3), RuntimeError, "from is out of bounds for unsigned char"),
    (lambda: random.integers((2,), I2, 0, 2**40), RuntimeError, "to - 1 is out of bounds for short int"),
    (lambda: random.integers((2,), np.dtype(bool), 0, 3), RuntimeError, "to - 1 is out of bounds for bool"),
    (lambda: random.integers((2,), F2, 0, 100000), RuntimeError, "to - 1 is out of bounds for c10::Half"),
    (lambda: random.integers((2,), I8, 0, 2**63), ValueError, "Overflow when unpacking long long"),
    (lambda: random.permutation(-1, I8), RuntimeError, "Trying to create tensor with negative dimension -1: [-1]"),
    (lambda: random.permutation(257, U1), RuntimeError, "value cannot be converted to type uint8_t without overflow"),
    (lambda: random.permutation(2050, F2), RuntimeError, "n cannot be greater than 2049 for Half type."),
    (lambda: random.permutation(2**24 + 2, F4), RuntimeError, "n cannot be greater than 2^24+1 for Float type."),
    (lambda: random.permutation(3, np.dtype(bool)), NotImplementedError, "\"randperm\" not implemented for 'Bool'"),
    (lambda: random.bernoulli(W([1.5]), (1,), F4), RuntimeError,
     "Expected p_in >= 0 && p_in <= 1 to be true, but got false."),
    (lambda: random.bernoulli(1.5, (1,), F4), RuntimeError, "bernoulli_ expects p to be in [0, 1], but got p=1.5"),
    (lambda: random.poisson(W([-1.0])), RuntimeError, "invalid Poisson rate, expected rate to be non-negative"),
    (lambda: random.poisson(W([np.nan])), RuntimeError, "invalid Poisson rate, expected rate to be non-negative"),
    (lambda: random.poisson(W([1])), NotImplementedError, "\"poisson_cpu\" not implemented for 'Long'"),
    (lambda: random.multinomial(W([0.0, 0.0]), 1), RuntimeError,
     "invalid multinomial distribution (sum of probabilities <= 0)"),
    (lambda: random.multinomial(W([-1.0, 1.0]), 2, True), RuntimeError,
     "invalid multinomial distribution (encountering probability entry < 0)"),
    (lambda: random.multinomial(W([np.inf, 1.0]), 2, True), RuntimeError,
     "invalid multinomial distribution (encountering probability entry = infinity or NaN)"),
    (lambda: random.multinomial(W([1.0, np.inf]), 1), RuntimeError,
     "probability tensor contains either `inf`, `nan` or element < 0"),
    (lambda: random.multinomial(W([1.0, -1.0]), 1), RuntimeError,
     "probability tensor contains either `inf`, `nan` or element < 0"),
    (lambda: random.multinomial(W([1, 2]), 1), RuntimeError,
     "multinomial only supports floating-point dtypes for input, got: Long"),
    (lambda: random.multinomial(W([1.0]), 2), RuntimeError,
     "cannot sample n_sample > prob_dist.size(-1) samples without replacement"),
    (lambda: random.multinomial(W([1.0]), 0), RuntimeError, "cannot sample n_sample <= 0 samples"),
    (lambda: random.multinomial(W(1.0), 1), RuntimeError, "prob_dist must be 1 or 2 dim"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), ERRORS, ids=range(len(ERRORS)))
def test_errors_are_pytorchs(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.type is kind
    assert str(caught.value).startswith(text)


def test_integers_beyond_what_a_float_counts_warn() -> None:
    with pytest.warns(UserWarning, match=r"to - 1 is out of bounds \[-\(2\^24\), 2\^24\]. Due to precision"):
        random.integers((2,), F4, 0, 2**30)


# As PyTorch 2.13 names the node.
DRAWN = [
    ("NormalBackward0", lambda x: (x * 1).normal_()), ("UniformBackward0", lambda x: (x * 1).uniform_()),
    ("BernoulliBackward2", lambda x: (x * 1).bernoulli_(0.5)), ("ExponentialBackward0", lambda x: (x * 1).exponential_()),
    ("BernoulliBackward1", lambda x: (x * 1).bernoulli_(torch.ones(3))), ("CauchyBackward0", lambda x: (x * 1).cauchy_()),
    ("GeometricBackward0", lambda x: (x * 1).geometric_(0.5)), ("LogNormalBackward0", lambda x: (x * 1).log_normal_()),
    ("RandomBackward2", lambda x: (x * 1).random_()), ("RandomBackward1", lambda x: (x * 1).random_(5)),
    ("RandomBackward0", lambda x: (x * 1).random_(1, 5)), ("PoissonBackward0", torch.poisson),
    ("BernoulliBackward0", torch.bernoulli), ("NormalBackward1", lambda x: torch.normal(x, 1.0)),
    ("NormalBackward2", lambda x: torch.normal(0.0, x)), ("NormalBackward3", lambda x: torch.normal(x, x)),
]


@pytest.mark.parametrize(("node", "draw"), DRAWN, ids=[node for node, _ in DRAWN])
def test_what_was_drawn_gives_a_gradient_of_zero(node: str, draw: Any) -> None:
    x = torch.full((3,), 0.5, requires_grad=True)
    y = draw(x)
    assert y.grad_fn.name() == node
    y.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [0.0, 0.0, 0.0]


def test_draws_refuse_parameters_out_of_range() -> None:
    for draw, text in ((lambda x: x.geometric_(1.0), "geometric_ expects p to be in (0, 1), but got p=1"),
                       (lambda x: x.cauchy_(0.0, 0.0), "cauchy_ expects sigma > 0.0, but found sigma=0"),
                       (lambda x: x.log_normal_(0.0, 0.0), "log_normal_ expects std > 0.0, but found std=0")):
        with pytest.raises(RuntimeError, match=re.escape(text)):
            draw(torch.ones(2))


@pytest.mark.oracle
def test_everything_of_the_module_is_what_pytorch_has() -> None:
    oracle = pytest.importorskip("torch")
    assert set(torch.random.__all__) == set(oracle.random.__all__)


@pytest.mark.parametrize("before", [0, 1, 700])
def test_a_generator_goes_back_to_a_mark(before: int) -> None:
    g = torch.Generator().manual_seed(5)
    if before:
        torch.rand(before, generator=g), torch.randn(1, generator=g)    # the second leaves half a pair of normals
    mark, state = g._mark(), g.clone_state()
    want = [torch.randn(3, generator=g), torch.rand(2000, generator=g), torch.randn(1, generator=g)]
    g.manual_seed(6)
    torch.rand(5, generator=g)
    for _ in range(2):
        g._back(mark)
        assert g.initial_seed() == 5 and torch.equal(g.get_state(), state.get_state())
        got = [torch.randn(3, generator=g), torch.rand(2000, generator=g), torch.randn(1, generator=g)]
        assert all(map(torch.equal, want, got))
