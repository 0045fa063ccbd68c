"""The LSTM layer as one node equals a chain of LSTMCells, values and derivatives to order 2, with and without kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd as torch
from retrograd import _kernels
from retrograd._rules import recurrent

T, B, I, H = 5, 3, 4, 6


def leaves(dtype: str, bias: bool) -> list[Any]:
    r = np.random.RandomState(0)
    shapes = [(T, B, I), (B, H), (B, H), (4 * H, I), (4 * H, H), *([(4 * H,), (4 * H,)] if bias else [])]
    return [torch.tensor(r.randn(*s).astype(dtype), requires_grad=True) for s in shapes]


def by_layer(xs: list[Any]) -> list[Any]:
    layer = torch.nn.LSTM(I, H, bias=len(xs) > 5, dtype=xs[0].dtype)
    for name in list(layer._parameters):
        delattr(layer, name)
    for name, x in zip(("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"), xs[3:]):
        object.__setattr__(layer, name, x)
    out, (h, c) = layer(xs[0], (xs[1][None], xs[2][None]))
    return [out, h[0], c[0]]


def by_cells(xs: list[Any]) -> list[Any]:
    h, c = xs[1], xs[2]
    outs = []
    for t in range(T):
        gates = torch.nn.functional.linear(xs[0][t], xs[3], xs[5] if len(xs) > 5 else None)
        gates = gates + torch.nn.functional.linear(h, xs[4], xs[6] if len(xs) > 5 else None)
        i, f, g, o = gates.chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        outs.append(h)
    return [torch.stack(outs), h, c]


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("dtype", "close"), [("f4", 2e-5), ("f8", 1e-12)])
def test_layer_equals_cells(dtype: str, close: float, bias: bool, kernels: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not kernels:
        if not str(recurrent.__file__).endswith(".py"):
            pytest.skip("compiled code has its kernels bound")
        monkeypatch.setattr(recurrent, "quick_layer", _kernels.absent)
        monkeypatch.setattr(recurrent, "quick_grad", _kernels.absent)
    found = []
    for run in (by_layer, by_cells):
        xs = leaves(dtype, bias)
        out, h, c = run(xs)
        loss = (out * out).sum() + (h * h * h).sum() + (c * c).sum()
        first = torch.autograd.grad(loss, xs, retain_graph=True)
        again = torch.autograd.grad(loss, xs, create_graph=True)
        second = torch.autograd.grad(sum((g * g).sum() for g in again), xs)
        found.append([t.detach().numpy() for t in (out, h, c, *first, *again, *second)])
    for got, want in zip(*found, strict=True):
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_allclose(got, want, rtol=close * 10, atol=close * max(1.0, float(np.abs(want).max())))


def test_gradients_of_some_inputs_only() -> None:
    xs = leaves("f8", True)
    whole = torch.autograd.grad(by_layer(xs)[0].sum(), xs)
    for k in range(len(xs)):
        few = leaves("f8", True)
        for i, x in enumerate(few):
            x.requires_grad_(i == k)
        (g,) = torch.autograd.grad(by_layer(few)[0].sum(), few[k])
        np.testing.assert_allclose(g.numpy(), whole[k].numpy(), rtol=1e-12)


def test_node_is_freed_and_watches_what_it_keeps() -> None:
    xs = leaves("f8", True)
    out = by_layer(xs)[0]
    out.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        out.sum().backward()
    out = by_layer(xs)[0]
    with torch.no_grad():
        xs[4].mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


@both
def test_the_result_is_of_the_inputs_subclass(torch: Any) -> None:
    kind = type("Own", (torch.Tensor,), {})
    output, (h, c) = torch.nn.LSTM(3, 4)(torch.ones(5, 1, 3).as_subclass(kind))
    assert (type(output), type(h), type(c)) == (kind, kind, kind)


def test_parameters_and_plain_tensors_make_one_node() -> None:
    (edge,) = torch.nn.LSTM(3, 4)(torch.ones(5, 1, 3))[0].grad_fn.next_functions
    assert edge[0].name() == "MkldnnRnnLayerBackward0"
