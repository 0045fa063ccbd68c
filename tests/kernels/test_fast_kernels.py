"""Kernels of `_fast` that decide about memory, and those of linear layers, beside NumPy.  What they decline stays as it was."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from kernel_tools import native

import retrograd as torch
from retrograd import _kernels

F4, F8 = np.dtype("f4"), np.dtype("f8")
both = pytest.mark.parametrize("dtype", [F4, F8])
r = np.random.RandomState(0)


@native
@both
def test_sum_rows_sums_leading_dims_into_an_array_of_its_own(dtype: Any) -> None:
    for shape, to in [((5, 3), (3,)), ((5, 3), (1, 3)), ((2, 4, 3), (3,)), ((2, 4, 3), (4, 3)), ((2, 4, 3), (1, 4, 3)),
                      ((1, 3), (3,)), ((300, 70), (70,)), ((6, 1), (1,)), ((4, 3), ()), ((2, 1, 3), (1, 3))]:
        x = r.randn(*shape).astype(dtype)
        axes = tuple(range(len(shape) - len(to))) + tuple(
            i + len(shape) - len(to) for i, n in enumerate(to) if n == 1 and shape[i + len(shape) - len(to)] != 1)
        got, want = _kernels.sum_rows(x, to), x.sum(axes, dtype="f8").reshape(to)
        assert got.shape == to and got.dtype == dtype and got.base is None and not np.shares_memory(got, x)
        np.testing.assert_allclose(got, want, rtol=0, atol=np.finfo(dtype).eps * 2 * x.size)
    x = np.ones((4, 3), dtype)
    for a, to in [(x, (4, 1)), (x, (2,)), (x, (4, 3, 1)), (x.T, (4,)), (x[:0], (3,)), (x.astype("f2"), (3,)), (x[:, :0], (0,))]:
        assert _kernels.sum_rows(a, to) is None
    special = np.array([[np.nan, np.inf], [1, -np.inf]], dtype)
    np.testing.assert_array_equal(_kernels.sum_rows(special, (2,)), [np.nan, np.nan])
    assert not np.signbit(_kernels.sum_rows(np.full((3, 2), -0.0, dtype), (2,))).any()         # as in PyTorch


class Slot:
    """Holds an array by an attribute, as a node holds a gradient."""

    def __init__(self, x: Any) -> None:
        self.x = x


@native
def test_a_sum_takes_the_memory_of_an_array_that_one_slot_holds_and_no_other() -> None:
    b = np.full(4, 2, F4)
    for mine, held in [(True, False), (True, True), (False, False)]:
        slot = Slot(np.ones(4, F4))
        other = slot.x if held else None
        got = _kernels.add_up(slot.x, b, mine)
        assert (got is slot.x) == (mine and not held) and (got == 3).all()
        assert other is None or (other == 1).all()
    whole = np.ones(8, F4)
    for a in (whole[:4], whole[::2]):
        before = a.copy()
        assert _kernels.add_up(a, b, True) is not a and (a == before).all()      # a view: somebody holds its base
    frozen = Slot(np.ones(4, F4))
    frozen.x.flags.writeable = False
    assert _kernels.add_up(frozen.x, b, True) is not frozen.x and (frozen.x == 1).all()
    assert _kernels.add_up(np.ones(4, F4), b.astype(F8), True) is None and _kernels.add_up(np.ones(3, F4), b, True) is None


@native
def test_what_may_become_a_gradient_as_it_is() -> None:
    own = np.zeros((3, 4), F4)
    takes = _kernels.takes
    fresh = np.ones((3, 4), F4)
    assert takes(fresh, own)
    assert takes(np.ones((4, 3), F4).T.copy(), own)
    assert takes(np.ones((3, 4), F4)[:], own)
    held = np.ones((3, 4), F4)
    assert not takes(held[:], own)
    assert not takes(np.ones((4, 3), F4).T, own)      # lies otherwise
    assert not takes(np.ones((4, 4), F4)[:3], own)    # part of an array
    assert not takes(fresh.astype(F8), own) and not takes(fresh[:2], own) and not takes(np.float32(1), own)
    assert not takes(np.broadcast_to(np.float32(1), (3, 4)), own)


@native
def test_each_thread_finds_what_it_gave_last_or_nothing() -> None:
    _kernels.mine("one")
    assert _kernels.mine() == "one"
    found: list[Any] = []

    def other() -> None:
        found.append(_kernels.mine())
        found.append(_kernels.mine("two"))
        found.append(_kernels.mine())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [None, "two", "two"] and _kernels.mine() is None
    assert torch.is_grad_enabled()                    # modes notice that what lies there is not theirs


@native
@both
def test_linear_takes_small_products_and_leaves_the_rest(dtype: Any) -> None:
    linear, linear_grad = _kernels.kernel("linear"), _kernels.kernel("linear_grad")
    for n, m, p in [(1, 4, 16), (1, 16, 1), (3, 1, 5), (32, 64, 10), (2, 0, 3), (0, 3, 2), (70, 300, 40)]:
        x, w, b, g = (r.randn(*s).astype(dtype) for s in ((n, m), (p, m), (p,), (n, p)))
        tiny = n * m * p <= 2048
        want, back = x.astype(F8) @ w.T.astype(F8) + b, g.T.astype(F8) @ x.astype(F8)
        atol = np.finfo(dtype).eps * 8 * max(m, n, 1)
        assert (linear(x, w, b, False) is None) != tiny
        got, turned = linear(x, w, b, True), linear_grad(g, x)
        assert got.dtype == dtype and got.flags.c_contiguous and turned.shape == (m, p) and turned.T.flags.c_contiguous
        np.testing.assert_allclose(got, want, rtol=0, atol=atol)
        np.testing.assert_allclose(turned, back.T, rtol=0, atol=atol)
    x, w, b = np.ones((2, 3), dtype), np.ones((4, 3), dtype), np.ones(4, dtype)
    odd = np.ones((3, 2), dtype).T
    for args in [(odd, w, b), (x, w.astype("f2"), b), (x, w, b[:3]), (x, w[:, :2].copy(), b), (x[0], w, b), (x, w, x)]:
        assert linear(*args, True) is None
    assert linear_grad(odd, x) is None and linear_grad(x[:1], x) is None


@native
@both
def test_mse_grad_has_the_bits_of_numpy(dtype: Any) -> None:
    run = _kernels.kernel("mse_grad")
    for shape in [(), (7,), (3, 5), (0, 2), (33, 70)]:
        a, b, g = (np.asarray(r.randn(*shape), dtype) for _ in range(3))
        np.testing.assert_array_equal(run(g, a, b, 1.0, -2.0), g * ((a - b) * dtype.type(-2)))
        one, share = np.asarray(0.3, dtype), 1 / 3
        np.testing.assert_array_equal(run(one, a, b, share, 2.0), (one * dtype.type(share)) * ((a - b) * dtype.type(2)))
    a = np.ones((2, 3), dtype)
    assert run(a[0], a, a, 1.0, 2.0) is None and run(a, a, a.T, 1.0, 2.0) is None and run(a, a.T, a.T, 1.0, 2.0) is None


@native
@both
def test_long_sums_are_as_exact_as_numpys(dtype: Any) -> None:
    """From 4,096 elements on a loop of ours adds, in blocks; before, NumPy's."""
    for n in (1, 4095, 4096, 4097, 5119, 5120, 70_001):
        x = r.randn(n).astype(dtype)
        want = x.astype("f8").sum()
        limit = np.finfo(dtype).eps * 4 * np.abs(x).sum() / min(n, 32) ** 0.5
        assert _kernels.sum(x).dtype == dtype and abs(float(_kernels.sum(x)) - want) <= limit
        assert abs(float(_kernels.mean(x)) - want / n) <= limit / n + np.finfo(dtype).eps
    x = np.ones(5000, dtype)
    x[7] = np.nan
    assert np.isnan(_kernels.sum(x))
    x[7] = np.inf
    assert _kernels.sum(x) == np.inf
    x[4999] = -np.inf
    assert np.isnan(_kernels.sum(x))
