"""Gradients of half precision: each has the dtype of what it belongs to, and is as close to the exact one as PyTorch's."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd

oracle = pytest.mark.oracle
FUNCTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "gelu": lambda T, F, h: F.gelu(h), "gelu tanh": lambda T, F, h: F.gelu(h, approximate="tanh"),
    "elu": lambda T, F, h: F.elu(h), "selu": lambda T, F, h: F.selu(h), "celu": lambda T, F, h: F.celu(h, 0.7),
    "leaky_relu": lambda T, F, h: F.leaky_relu(h), "hardswish": lambda T, F, h: F.hardswish(h),
    "hardsigmoid": lambda T, F, h: F.hardsigmoid(h), "silu": lambda T, F, h: F.silu(h), "mish": lambda T, F, h: F.mish(h),
    "softplus": lambda T, F, h: F.softplus(h), "erf": lambda T, F, h: T.erf(h), "var": lambda T, F, h: h.var(0),
    "std": lambda T, F, h: h.std(1), "softmax": lambda T, F, h: h.softmax(1), "logsumexp": lambda T, F, h: h.logsumexp(1),
    "layer_norm": lambda T, F, h: F.layer_norm(h, (5,)),
    "attention": lambda T, F, h: F.scaled_dot_product_attention(h[None], h[None], h[None]),
    "mse_loss": lambda T, F, h: F.mse_loss(h, T.zeros_like(h)), "huber_loss": lambda T, F, h: F.huber_loss(h, T.zeros_like(h)),
    "smooth_l1_loss": lambda T, F, h: F.smooth_l1_loss(h, T.zeros_like(h)),
    "cross_entropy": lambda T, F, h: F.cross_entropy(h, T.tensor([0, 4, 2, 1, 0, 3])),
    "nll_loss": lambda T, F, h: F.nll_loss(h, T.tensor([0, 4, 2, 1, 0, 3])),
    "bce": lambda T, F, h: F.binary_cross_entropy_with_logits(h, T.zeros_like(h)),
}


def gradient(T: Any, name: str, kind: str, computed: str = "") -> tuple[str, Any]:
    """What a hook of the argument is shown, where it is rounded to `kind`, then `computed`: its dtype and value."""
    x = T.tensor(np.random.RandomState(0).randn(6, 5).astype(np.float32)).to(getattr(T, kind))
    h, seen = x.to(getattr(T, computed or kind)).requires_grad_() * 1, []
    h.register_hook(seen.append)
    FUNCTIONS[name](T, T.nn.functional, h).sum().backward()
    total = seen[0]
    return str(total.dtype).rpartition(".")[2], total.double().numpy()


@oracle
@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_gradients_have_pytorchs_dtype_and_are_as_close(name: str, kind: str) -> None:
    torch = pytest.importorskip("torch")
    exact = gradient(torch, name, kind, "float64")[1]
    want, got = gradient(torch, name, kind), gradient(retrograd, name, kind)
    assert got[0] == want[0] == kind
    last_place = np.abs(exact).max() * (2.0**-8 if kind == "bfloat16" else 2.0**-11)
    assert np.abs(got[1] - exact).max() <= np.abs(want[1] - exact).max() + last_place
