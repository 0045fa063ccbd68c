"""torch.autocast("cpu"): which dtype each function computes in, what it costs in accuracy, what it leaves alone."""
from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd
from retrograd._functions.autocast import LOWER, SINGLE, WIDER

CALLS = """
    x @ x|x.mm(x)|torch.matmul(x, x[0])|torch.addmm(x, x, x)|F.linear(x, x)|F.conv1d(x[None], x[None])
    torch.bmm(x[None], x[None])|torch.einsum("ij,jk->ik", x, x)|torch.einsum("ij,ij->ij", x, x)|torch.einsum("ij->i", x)
    torch.tensordot(x, x)|torch.mv(x, x[0])|torch.tensordot(x, x, 1)|torch.inner(x, x)|torch.inner(x[0], x[0])
    torch.dot(x[0], x[0])|torch.outer(x[0], x[0])|torch.cov(x)|F.scaled_dot_product_attention(x[None], x[None], x[None])
    F.prelu(x, x[0, :1])|F.gelu(x)|torch.linalg.multi_dot([x, x])|x.double() @ x.double()|x.half() @ x
    torch.mm(x, x, out=torch.empty(3, 3))|torch.empty(3, 3).addmm_(x, x)|torch.kron(x, x)|F.softmax(b, 0)
    F.layer_norm(b, (3,))|b.sum()|b.prod()|b.var()|torch.trace(b)|F.mse_loss(b, b)|F.l1_loss(b, x)|F.gelu(b)
    F.cross_entropy(b, y)|F.nll_loss(b, y)|F.cross_entropy(x.double(), y)|F.kl_div(b, b, reduction="sum")|F.normalize(b)
    torch.cat([x, b])|torch.cat([b, b])|torch.stack([x, b])|torch.index_copy(b, 0, y[:1], x[:1])|torch.fft.fft(b)
    torch.cdist(x, x)|F.pad(b[None], (1, 1), mode="reflect")|F.pad(b[None], (1, 1))|F.max_pool2d(b[None], 2)
    F.max_pool3d(b[None, None], 1)|F.interpolate(b[None, None], scale_factor=2)|torch.linalg.eigvalsh(b)
    torch.quantile(b, 0.5)|F.embedding(y, x)|F.binary_cross_entropy(b.sigmoid(), b.sigmoid())
    F.gaussian_nll_loss(b, b, b.abs() + 1)|F.huber_loss(b, x)
"""


@both
def test_functions_are_cast_as_in_pytorchs_lists(torch: Any) -> None:
    made = names(torch)
    with warnings.catch_warnings(), torch.autocast("cpu"):
        warnings.simplefilter("ignore")
        found = [str(eval(call, made).dtype) for line in CALLS.strip().splitlines() for call in line.strip().split("|")]
    assert found == EXPECTED.split()


def names(torch: Any) -> dict[str, Any]:
    x = torch.tensor(np.random.default_rng(0).standard_normal((3, 3)).astype("float32"))
    return {"torch": torch, "F": torch.nn.functional, "x": x, "b": x.bfloat16(), "y": torch.tensor([0, 1, 2])}


EXPECTED = " ".join(f"torch.{name}" for name in """
    bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16
    bfloat16 float32 float32 float32 float32
    bfloat16 bfloat16 float32 float32 float32 bfloat16
    bfloat16 bfloat16 float32 bfloat16
    float64 bfloat16 float32 float32 float32
    bfloat16 bfloat16 bfloat16 float32 bfloat16 float32 float32 float32 bfloat16
    float32 float32 float64 float32 bfloat16
    float32 bfloat16 float32 float32 complex64 float32
    float32 bfloat16 bfloat16 float32
    bfloat16 float32 float32 float32
    float32 bfloat16 float32
""".split())


@pytest.mark.oracle
def test_the_tables_are_pytorchs() -> None:
    torch = pytest.importorskip("torch")
    theirs = {name.removeprefix("aten::").partition(".")[0]
              for name in torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCPU")}
    ours = LOWER | WIDER | SINGLE
    inside = set("""_addmm_activation _convolution _grid_sampler_2d_cpu_fallback _lu_with_info _native_multi_head_attention
        cross_entropy_loss fake_quantize_per_tensor_affine grid_sampler_2d grid_sampler_3d mkldnn_rnn_layer
        multilabel_margin_loss_forward nll_loss2d reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d
        replication_pad3d""".split())
    assert theirs - ours == inside


@both
def test_autocast_nests_caches_and_ends(torch: Any) -> None:
    x, w = torch.ones(2, 2), torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.float16) as outer:
        assert torch.is_autocast_enabled("cpu") and not torch.is_autocast_enabled() and outer.fast_dtype == torch.float16
        with torch.autocast("cpu", enabled=False):
            assert (x @ x).dtype == torch.float32 and torch.get_autocast_dtype("cpu") == torch.float16
            with torch.autocast("cpu"):
                assert (x @ x).dtype == torch.float16
        y, z = x @ w, x @ w
        assert y.grad_fn.next_functions[1][0] is z.grad_fn.next_functions[1][0]
        assert y.grad_fn.next_functions[1][0].name() == "ToCopyBackward0"
        with torch.no_grad():
            assert not (x @ w).requires_grad
        seen: list[Any] = []
        thread = threading.Thread(target=lambda: seen.append((x @ x).dtype))
        thread.start()
        thread.join()
        y.register_hook(lambda g: seen.append((x @ x).dtype))
        (y.sum() + z.sum()).backward()
        assert seen == [torch.float32, torch.float16]
    assert w.grad.dtype == torch.float32 and w.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]
    with torch.autocast("cpu", cache_enabled=False):
        assert (x @ w).grad_fn.next_functions[1][0] is not (x @ w).grad_fn.next_functions[1][0]

    @torch.autocast("cpu")
    def product(a: Any) -> Any:
        return a @ a
    assert product(x).dtype == torch.bfloat16 and product.__name__ == "product" and (x @ x).dtype == torch.float32
    with torch.autocast("cpu"):
        assert torch.vmap(lambda a: a @ w)(torch.ones(3, 2)).dtype == torch.bfloat16
        assert torch.func.grad(lambda a: (a @ w).float().sum())(x).dtype == torch.float32


@both
def test_what_autocast_cannot_do_is_said(torch: Any) -> None:
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        torch.autocast(3)
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        torch.autocast("foo")
    with pytest.warns(UserWarning, match="In CPU autocast, but the target dtype is not supported"):
        assert not torch.autocast("cpu", torch.float64)._enabled
    with pytest.warns(UserWarning, match="CUDA is not available or torch_xla is imported. Disabling"):
        torch.autocast("cuda")
    with pytest.raises(TypeError, match="requires a callable, but got int"):
        torch.autocast("cpu")(3)
    with pytest.warns(FutureWarning, match="Please use `torch.amp.autocast"), torch.cpu.amp.autocast():
        assert torch.is_autocast_enabled("cpu")
    assert torch.amp.is_autocast_available("cpu") and not torch.amp.is_autocast_available("meta")


@both
def test_a_functions_forward_and_backward_are_cast_alike(torch: Any) -> None:
    seen: list[Any] = []

    def function(cast_inputs: Any) -> Any:
        class Product(torch.autograd.Function):  # type: ignore[misc]
            @staticmethod
            @torch.amp.custom_fwd(device_type="cpu", cast_inputs=cast_inputs)
            def forward(ctx: Any, a: Any, b: Any) -> Any:
                ctx.save_for_backward(a, b)
                seen.append((a.dtype, torch.is_autocast_enabled("cpu")))
                return a @ b

            @staticmethod
            @torch.amp.custom_bwd(device_type="cpu")
            def backward(ctx: Any, g: Any) -> Any:
                a, b = ctx.saved_tensors
                seen.append((g.dtype, torch.is_autocast_enabled("cpu")))
                return g @ b.t(), a.t() @ g
        return Product
    x, w = torch.ones(2, 2), torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        y = function(torch.float32).apply(x.bfloat16(), w)
        z = function(None).apply(x, w)
    y.sum().backward()
    z.sum().backward()
    function(torch.float64).apply(x, w)
    single, half = torch.float32, torch.bfloat16
    assert seen == [(single, False), (single, True), (single, False), (half, True), (single, False)]


@both
@pytest.mark.parametrize("reentrant", [True, False])
def test_a_checkpoint_is_cast_the_second_time_too(torch: Any, reentrant: bool) -> None:
    seen, x = [], torch.ones(2, 2, requires_grad=True)

    def function(a: Any) -> Any:
        seen.append((a @ a).dtype)
        return (a @ a).sin()
    with torch.autocast("cpu"):
        y = torch.utils.checkpoint.checkpoint(function, x, use_reentrant=reentrant)
    y.sum().backward()
    assert seen == [torch.bfloat16] * 2


def train(torch: Any, dtype: Any, scaled: bool) -> list[float]:
    nn, draw = torch.nn, np.random.default_rng(1)
    model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(144, 16), nn.LayerNorm(16), nn.GELU(),
                          nn.Linear(16, 3))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.tensor(draw.standard_normal(tuple(p.shape)).astype("float32") * 0.2))
    x, y = torch.tensor(draw.standard_normal((8, 1, 6, 6)).astype("float32")), torch.arange(8) % 3
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cpu", init_scale=512.0, enabled=scaled)
    found = []
    for _ in range(5):
        with torch.autocast("cpu", dtype=dtype):
            loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        found += [loss.item(), norm.item()]
    return found


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
def test_a_training_has_pytorchs_losses_and_gradients(kind: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = (train(engine, getattr(engine, kind), kind == "float16") for engine in (retrograd, torch))
    np.testing.assert_allclose(ours, theirs, rtol=0.02 if kind == "bfloat16" else 0.003)


@both
def test_the_last_argument_is_cast_first(torch: Any) -> None:
    def order(call: Any) -> list[int]:
        leaves, seen = [torch.ones(3, 3, requires_grad=True) for _ in range(3)], []
        for i, leaf in enumerate(leaves):
            leaf.register_post_accumulate_grad_hook(lambda _, i=i: seen.append(i))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = call(*leaves).sum()
        y.backward()
        return seen

    F = torch.nn.functional
    assert order(lambda x, w, _: F.linear(x, w)) == [0, 1] and order(lambda x, w, b: F.linear(x, w, b[0])) == [0, 1, 2]
    assert order(lambda x, w, b: F.linear(x, bias=b[0], weight=w)) == [0, 1, 2]
    assert order(lambda a, b, _: a @ b) == [0, 1] and order(torch.addmm) == [0, 1, 2]
