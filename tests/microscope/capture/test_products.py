"""Products of factors: the same numbers by kernels and by the engine, and the engine's wherever kernels have no business."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograd import _kernels
from retrograd.microscope import KFAC, capture
from retrograd.microscope.capture import products

DTYPES = ("float32", "float64")
wide = pytest.mark.skipif(
    _kernels.nn is None or _kernels.nn.vectors(4) < 4, reason="vectors are not wide here: products are BLAS's")


def drawn(torch: Any, *shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def exact(x: Any) -> np.ndarray:
    return np.asarray(x.detach().numpy(), "f8")


def near(got: Any, want: np.ndarray, dtype: str, size: float = 1e-30) -> None:
    """To what rounding does to numbers of that size, or of the largest of `want`."""
    assert str(got.dtype).endswith(dtype) and tuple(got.shape) == want.shape
    scale = np.abs(want).max(initial=size)
    np.testing.assert_allclose(exact(got), want, rtol=0, atol=scale * (2e-5 if dtype == "float32" else 1e-13))


@pytest.fixture(params=["kernels", "engine"])
def road(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "engine":
        monkeypatch.setattr(products, "ours", lambda T, x: False)
    else:
        monkeypatch.setattr(products, "torch_is_fast", lambda: False)
    return str(request.param)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("lead", "n", "m", "p"), [((), 3, 700, 4), ((), 40, 20, 50), ((5,), 33, 7, 64), ((2,), 2, 0, 40)])
def test_multiplied(torch: Any, road: str, lead: tuple[int, ...], n: int, m: int, p: int, dtype: str) -> None:
    a, b = drawn(torch, *lead, n, m, dtype=dtype), drawn(torch, *lead, p, m, dtype=dtype, seed=1).transpose(-1, -2)
    near(products.multiplied(torch, a, b), exact(a) @ exact(b), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "k"), [(5, 4000), (64, 10), (130, 33), (200, 1)])
def test_with_itself(torch: Any, road: str, n: int, k: int, dtype: str) -> None:
    x = drawn(torch, n, k, dtype=dtype)
    got = products.with_itself(torch, x)
    near(got, exact(x) @ exact(x).T, dtype)
    if n >= 64 and road == "kernels" and products.there():
        np.testing.assert_array_equal(got.numpy(), got.numpy().T)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (7, 130), (300, 40), (90, 300)])
def test_add_gram_is_a_running_mean(torch: Any, road: str, n: int, k: int, dtype: str) -> None:
    x, A = drawn(torch, n, k, dtype=dtype), drawn(torch, k, k, dtype=dtype, seed=1)
    A = A + A.T
    want = 0.75 * exact(A) + 0.5 * exact(x).T @ exact(x)
    products.add_gram(torch, A, x, 0.75, 0.5)
    near(products.whole(torch, A), want, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("outs", [(6,), (40, 3, 17)])
@pytest.mark.parametrize(("N", "tokens", "I"), [(3, 2, 9), (2, 65, 20), (1, 40, 5)])
def test_ghost_norms(torch: Any, road: str, N: int, tokens: int, I: int, outs: tuple[int, ...], dtype: str) -> None:
    a = drawn(torch, N, tokens, I, dtype=dtype)
    ds = [drawn(torch, N, O, tokens, dtype=dtype, seed=1 + O).transpose(1, 2) for O in outs]
    want = sum((np.einsum("nto,nti->noi", exact(d), exact(a)) ** 2).sum((1, 2)) for d in ds)
    near(products.ghost_norms2(torch, a, ds), want, dtype)


def attention(torch: Any) -> Any:
    """Three maps of one input, and one of another: Gram matrices that are shared, and some that are not."""
    nn = torch.nn

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v, self.o = (nn.Linear(48, 48) for _ in range(4))
            self.wide = nn.Linear(48, 96)

        def forward(self, x: Any) -> Any:
            y = (self.q(x) @ self.k(x).transpose(1, 2)).softmax(-1) @ self.v(x)
            return self.wide(self.o(y).tanh())
    return Model()


@pytest.mark.parametrize("tokens", [3, 20, 70])
def test_norms_dots_clip_and_kfac_are_those_of_the_gradients(torch: Any, road: str, tokens: int) -> None:
    torch.manual_seed(0)
    model, x = attention(torch), drawn(torch, 5, tokens, 48)
    with capture(model) as cap:
        model(x).pow(2).sum().backward()
    grads = cap.grads()
    alone: list[dict[str, np.ndarray]] = []
    for n in range(5):
        model.zero_grad()
        model(x[n:n + 1]).pow(2).sum().backward()
        alone.append({name: exact(p.grad) for name, p in model.named_parameters()})
    flat = np.stack([np.concatenate([one[name].ravel() for name in grads.names]) for one in alone])
    norms = np.sqrt((flat**2).sum(1))
    near(grads.norms(), norms, "float32")
    for name, got in grads.norms(per_layer=True).items():
        near(got, np.array([np.sqrt((one[name] ** 2).sum()) for one in alone]), "float32", norms.max())
    near(grads.dots(), flat @ flat.T, "float32")
    limit = float(np.median(norms))
    for name, got in grads.clip(limit).items():
        near(got, sum(one[name] * min(1, limit / norm) for one, norm in zip(alone, norms)), "float32", norms.max())
    curvature = KFAC(ema=0.5).update(grads).update(grads)
    for name in ("q.weight", "o.weight", "wide.weight"):
        a, d = (exact(t) for t in grads.factors(name))
        a = np.concatenate([a, np.ones((*a.shape[:2], 1))], 2).reshape(-1, a.shape[2] + 1)
        d = d.reshape(-1, d.shape[2])
        A, G = curvature.factors[name]
        near(A, a.T @ a / len(a), "float32")
        near(G, d.T @ d / 5, "float32")


@wide
def test_kernels_are_taken_in_the_processors_memory_only(torch: Any) -> None:
    x = drawn(torch, 40, 40)
    assert products.arrays(torch, x, x.T) is not None
    for other in (x.to(torch.float16), x.to(torch.int64), x.clone().requires_grad_(), torch.nn.Parameter(x)):
        assert products.arrays(torch, x, other) is None


@wide
@pytest.mark.oracle
def test_tensors_that_are_more_than_memory_are_left_to_torch() -> None:
    import torch

    class Own(torch.Tensor):
        pass

    x = drawn(torch, 40, 40)
    negated = torch.view_as_complex(drawn(torch, 40, 40, 2)).conj().imag
    assert negated.is_neg()
    for other in (x.as_subclass(Own), negated, x.to_sparse(), x.to("meta")):
        assert products.arrays(torch, other) is None
    near(products.multiplied(torch, negated, x), exact(negated.resolve_neg()) @ exact(x), "float32")
    mapped = torch.func.vmap(lambda y: products.multiplied(torch, y, x))(drawn(torch, 3, 40, 40))
    near(mapped, exact(drawn(torch, 3, 40, 40)) @ exact(x), "float32")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert products.multiplied(torch, x, x).dtype == torch.bfloat16


@wide
@pytest.mark.oracle
def test_kernels_run_on_as_many_threads_as_torch_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    asked: list[int] = []

    def told(x: Any, c: Any, keep: float, share: float, threads: int) -> bool:
        asked.append(threads)
        return bool(_kernels.kernel("gram")(x, c, keep, share, threads))
    monkeypatch.setattr(products, "_gram", told)
    before = torch.get_num_threads()
    try:
        for number in (1, 3):
            torch.set_num_threads(number)
            products.with_itself(torch, drawn(torch, 70, 9))
    finally:
        torch.set_num_threads(before)
    assert asked[-2:] == [1, 3]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 1, 9), (2, 70, 5), (2, 6, 3, 4), (0, 4, 2)])
def test_token_sums(torch: Any, road: str, shape: tuple[int, ...], dtype: str) -> None:
    d, x = drawn(torch, *shape, dtype=dtype), drawn(torch, *shape, dtype=dtype, seed=1)
    near(products.token_sums(torch, d), exact(d).sum(1), dtype)
    near(products.token_sums(torch, d, x), (exact(d) * exact(x)).sum(1), dtype)
    flipped = d.transpose(-1, -2) if len(shape) > 3 else d.transpose(1, 2).contiguous().transpose(1, 2)
    near(products.token_sums(torch, flipped), exact(flipped).sum(1), dtype)
    got = products.token_sums(torch, d)
    assert not got.numel() or got.data_ptr() != d.data_ptr()        # the caller may edit it


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5,), (4, 5)])
def test_layer_norm(torch: Any, road: str, shape: tuple[int, ...], dtype: str) -> None:
    x = drawn(torch, 3, 4, 5, dtype=dtype)
    axes = tuple(range(-len(shape), 0))
    centred = exact(x) - exact(x).mean(axes, keepdims=True)
    want = centred / np.sqrt((centred**2).mean(axes, keepdims=True) + 1e-3)
    near(products.layer_norm(torch, x, shape, 1e-3), want, dtype)


def test_positions_that_are_looked_up_are_rows(torch: Any, road: str) -> None:
    """A table of positions, the same for every sample, with a place that is looked up twice and padding."""
    nn = torch.nn

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(11, 6), nn.Embedding(7, 6, padding_idx=5)

        def forward(self, ids: Any) -> Any:
            at = torch.tensor([[0, 3, 3, 5]]).expand(ids.shape[0], 4)
            return (self.words(ids) + self.places(at)).tanh()
    torch.manual_seed(1)
    model, ids = Model(), torch.tensor([[1, 2, 2, 3], [4, 4, 4, 4], [0, 9, 10, 0]])
    with capture(model, check=True) as cap:
        model(ids).pow(2).sum().backward()
    assert cap.coverage().complete
    assert max(cap.check().values()) < 1e-5
    grads = cap.grads()
    alone: dict[str, list[np.ndarray]] = {"words.weight": [], "places.weight": []}
    for n in range(3):
        model.zero_grad()
        model(ids[n:n + 1]).pow(2).sum().backward()
        for name, p in model.named_parameters():
            alone[name].append(exact(p.grad))
    for name, each in alone.items():
        near(grads.per_sample()[name], np.stack(each), "float32")
        near(grads.norms(per_layer=True)[name], np.sqrt((np.stack(each) ** 2).sum((1, 2))), "float32")
        near(grads.weight_grad()[name], np.stack(each).sum(0), "float32")
    flat = np.concatenate([np.stack(each).reshape(3, -1) for each in alone.values()], 1)
    near(grads.dots(), flat @ flat.T, "float32")


@pytest.mark.parametrize("asked", [True, False])
def test_large_results_are_the_same_with_huge_pages(torch: Any, asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not asked:
        monkeypatch.setattr(products, "advice", lambda: None)
    a, d = drawn(torch, 5, 1, 600), drawn(torch, 5, 700, 1, seed=1)
    assert 5 * 600 * 700 * 4 > products.LARGE
    near(products.times(torch, d, a), exact(d) * exact(a), "float32")
    near(products.times(torch, drawn(torch, 1100, 1000), 0.5), exact(drawn(torch, 1100, 1000)) / 2, "float32")
    near(products.multiplied(torch, drawn(torch, 1100, 9), drawn(torch, 9, 1000)), exact(
        drawn(torch, 1100, 9)) @ exact(drawn(torch, 9, 1000)), "float32")
    near(products.times(torch, d[:1], 3), exact(d[:1]) * 3, "float32")


def test_per_sample_gradients_of_a_large_layer_with_a_scale(torch: Any) -> None:
    torch.manual_seed(0)
    model, x = torch.nn.Linear(500, 600), drawn(torch, 4, 500)
    with capture(model) as cap:
        model(x).pow(2).mean().backward()
    got = cap.grads(scale="sum").per_sample()["weight"]
    for n in range(4):
        model.zero_grad()
        (model(x[n:n + 1]).pow(2).sum()).backward()
        near(got[n], exact(model.weight.grad), "float32")
