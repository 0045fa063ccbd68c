"""The program in C that a plan becomes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from replaying import grads, numbers, replays, same, skipping

import retrograd as torch
from retrograd import _kernels
from retrograd._compile.code import Program
from retrograd._compile.promises import Track


def does_as_eagerly(step: Any, inputs: list[Any], *leaves: Any) -> None:
    """Replayed, step gives the results and the gradients of leaves that it gives by itself."""
    fast = skipping(step)
    for x in inputs:
        want, want_grads = step(x), grads(*leaves)
        got = fast(x)
        assert same([t.detach() for t in want], [t.detach() for t in got]) and same(want_grads, grads(*leaves)), fast.explain()
    assert replays(fast) >= 2


@pytest.mark.parametrize("n", [1, 7, 8, 511, 512, 513, 1024, 1500, 5000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_runs_of_operations_go_block_by_block(n: int, dtype: Any) -> None:
    a, b, c = (numbers(n, seed=i, dtype=dtype).requires_grad_(i < 2) for i in range(3))

    def step(x: Any) -> Any:
        a.grad = b.grad = None
        y = torch.tanh(a * b + x) - torch.exp(-a * a) / (b * b + 1.5) * c.sum()
        y = torch.relu(y) * torch.sigmoid(b) + torch.sqrt(y * y + 1) - 2 / (torch.cos(y) + 3)
        loss = (y * torch.sin(y)).mean() + (torch.log(y * y + 1) * 0.5).sum()
        loss.backward()
        return loss, y.detach() + 1

    does_as_eagerly(step, [numbers(n, seed=seed, dtype=dtype) for seed in range(4)], a, b)


@pytest.mark.parametrize("n", [2, 3, 8, 9, 512, 513])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_small_results_of_all_shapes_are_one_list(n: int, dtype: Any) -> None:
    a, b = (numbers(n, seed=i, dtype=dtype).requires_grad_() for i in range(2))

    def step(x: Any) -> Any:
        a.grad = b.grad = None
        u, v = a[0] * x[1:], b[-1] - x[:-1]
        rows = torch.stack([u * v, u + a[1:], torch.tanh(v)]) * a[0]
        row = torch.cat([rows[1], rows[0][:1], (a * b).view(1, -1).squeeze(0) * 2.0])
        many = torch.stack([row[1], row[-1] * b[0], a.sum()]).unsqueeze(0) + rows[:1, :1]
        loss = (row * row[0]).sum() + torch.exp(many * 0.1).mean() / rows[2][0].cos()
        loss.backward()
        return loss, rows.detach()[1], many.detach() + 1, row[1:].detach()

    does_as_eagerly(step, [numbers(n, seed=seed, dtype=dtype) for seed in range(4)], a, b)


@pytest.mark.skipif(Program is None, reason="an install without C")
def test_a_list_computes_in_its_own_memory() -> None:
    base = ((0, 0, 11, (2, 2)), (4, 1, 11, (4,)))
    ops = (
        (2, 11, 4, 2, 2, 0, 1, 0, -1, 0, 0, 16, None),              # all times the number
        (10, 11, 4, 1, 2, 4, -1, 0, -1, 0, 3, 0, None),             # its second element everywhere
        (13, 11, 2, 0, 0, 24, -1, 0, -1, 0, 3, 4, None),            # the last two products in the middle
        (12, 11, 2, 0, 2, 0, 0, 16, 2, 8, 3, 8, None),
    )
    made = Program((None, None), (0,), ((2, base, ((11, 3.0),), ops),), ((),), (1,))
    x = np.arange(1, 5, dtype=np.float32).reshape(2, 2)
    assert made.run([x])[0].tolist() == [2, 9, 3 + 1 * 3, 4 + 2 * 6]
    with pytest.raises(ValueError, match="Program"):
        made.run([x.T[:1]])


@pytest.mark.parametrize("batch", [1, 2, 16, 17])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_small_products_and_sums_are_in_the_list(batch: int, dtype: Any) -> None:
    sizes = (3, 5, 1)
    weights = [numbers(m, n, seed=n, dtype=dtype).requires_grad_() for n, m in zip(sizes, sizes[1:])]
    biases = [numbers(m, seed=m, dtype=dtype).requires_grad_() for m in sizes[1:]]
    own = numbers(5, 3, seed=9, dtype=dtype)

    def step(x: Any) -> Any:
        for p in (*weights, *biases):
            p.grad = None
        h = torch.tanh(torch.nn.functional.linear(x, weights[0], biases[0]))
        loss = torch.nn.functional.mse_loss(torch.nn.functional.linear(h, weights[1], biases[1]), h @ own @ own.T[:, :1])
        loss = loss + (h * h).mean() + h[0].sum()
        loss.backward()
        return loss, (h.detach() @ own).sum(), h.detach()[:, :1].mean()

    fast = skipping(step)
    for seed in range(4):
        x = numbers(batch, 3, seed=seed, dtype=dtype)
        want, want_grads = step(x), grads(*weights, *biases)
        got = fast(x)
        assert same([t.detach() for t in want], [t.detach() for t in got]), fast.explain()
        assert same(want_grads, grads(*weights, *biases)), fast.explain()
    assert replays(fast) >= 2


@pytest.mark.skipif(Program is None, reason="an install without C")
@pytest.mark.parametrize("op", [
    (15, 11, 2, 0, 2, 0, 2, 0, -1, 0, 0, 0, (2, 3, 2, 1, 3, 1)), (15, 11, 3, 0, 2, 0, 2, 0, -1, 0, 0, 0, (2, 2, 2, 1, 2, 1)),
    (15, 11, 2, 0, 2, 0, 2, 0, 2, 16, 0, 0, (2, 2, 2, 1, 2, 1)), (15, 11, 2, 0, 2, 0, 2, 0, -1, 0, 0, 0, None),
    (15, 11, 2, 0, 2, 0, 2, 0, -1, 0, 0, 0, (2, 2, -2, 1, 2, 1)), (15, 11, 2, 0, 2, 0, 2, 0, -1, 0, 0, 0, (0, 2, 2, 1, 2, 1)),
    (15, 11, 2, 0, 2, 0, 2, 0, -1, 0, 0, 0, (2048, 2, 0, 0, 0, 0)), (14, 11, 4, 0, 2, 0, -1, 0, -1, 0, 0, 0, None),
    (14, 11, 5, 0, 2, 0, -1, 0, -1, 0, 0, 0, np.add), (14, 11, 4, 0, 2, 0, -1, 0, -1, 0, 0, 0, np.exp),
])
def test_a_product_or_sum_that_makes_no_sense_is_refused(op: Any) -> None:
    fine = (15, 11, 2, 0, 2, 0, 2, 0, 2, 0, 0, 0, (2, 2, 2, 1, 2, 1)), (14, 11, 4, 0, 2, 0, -1, 0, -1, 0, 0, 0, np.add)
    Program((None,), (), ((2, ((0, 0, 11, (2, 2)),), (), fine),), ((),), ())
    with pytest.raises(ValueError, match="Program"):
        Program((None,), (), ((2, ((0, 0, 11, (2, 2)),), (), (op,)),), ((),), ())


GOOD = (2, 11, 4, 2, 2, 0, 1, 0, -1, 0, 0, 0, None)


@pytest.mark.skipif(Program is None, reason="an install without C")
@pytest.mark.parametrize("at, value", [
    (0, 14), (0, -1), (0, 4), (0, 10), (0, 11), (0, 13), (1, 7), (2, 0), (2, 5), (2, 513), (3, 4), (3, 0), (4, 3), (4, -1),
    (5, 4), (5, 2), (5, -4), (6, -1), (7, 8), (8, 0), (10, -1), (10, 1), (10, 2), (11, -4), (11, 1 << 40),
])
def test_a_list_that_makes_no_sense_is_refused(at: int, value: int) -> None:
    base, number = ((0, 0, 11, (2, 2)),), ((11, 3.0),)
    Program((None,), (), ((2, base, number, (GOOD,)),), ((),), ())
    with pytest.raises(ValueError, match="Program"):
        Program((None,), (), ((2, base, number, ((*GOOD[:at], value, *GOOD[at + 1:]),)),), ((),), ())


@pytest.mark.skipif(Program is None, reason="an install without C")
@pytest.mark.parametrize("parts", [
    ((None,), (), ((3,),), ((),), ()),
    ((None,), (), ((2, (), ()),), ((),), ()),
    ((None,), (), ((2, (), (), 3),), ((),), ()),
    ((None,), (), ((2, ((0, 1, 11, (2,)),), (), ()),), ((),), ()),
    ((None,), (), ((2, ((1, 0, 11, (2,)),), (), ()),), ((),), ()),
    ((None,), (), ((2, ((0, 0, 7, (2,)),), (), ()),), ((),), ()),
    ((None,), (), ((2, ((0, 0, 11, 2),), (), ()),), ((),), ()),
    ((None,), (), ((2, ((0, 0, 11, (1 << 40, 1 << 40)),), (), ()),), ((),), ()),
    ((None,), (), ((2, (), ((7, 1.0),), ()),), ((),), ()),
    ((None,), (), ((2, (), (), ((2,),)),), ((),), ()),
    ((None,), (0,), ((False, None, abs, (5,), (0,), False),), ((),), ()),
    ((None,), (3,), (), (), ()),
    ((None,), (), ((False, None, abs),), ((),), ()),
    ((None,), (), ((True, 11, (2,), (), (), -1),), ((),), ()),
    ((None,), (), ((True, 7, (2,), (), (), 0),), ((),), ()),
    ((None,), (), ((True, 11, (1 << 40, 1 << 40), (), (), 0),), ((),), ()),
    ((None,), (), ((True, 11, (2,), ((0, 9),), (), 0),), ((),), ()),
    ((None,), (), ((True, 11, (2,), ((0, 0), (4, 0)), ((0, 0, 7, 1, None),), 0),), ((),), ()),
    ((None,), (), ((True, 11, (2,), ((0, 0), (4, 0)), ((0, 0, -1, 1, None),), 0),), ((),), ()),
    ((None,), (), ((True, 11, (2,), ((0, 0), (4, 0)), ((0, 0, 0, 0, None),), 0),), ((),), ()),
    ((None,), (), ((True, 11, (2,), ((0, 0), (4, 0)), ((4, 0, -1, 1, abs),), 0),), ((),), ()),
    ((None,), (), ((True, 12, (2,), ((0, 0), (4, 0)), ((6, 0, -1, 1, None),), 0),), ((),), ()),
    ((None,), (), ((True, 11, (2,), ((1, 0), (4, 0)), ((5, 0, -1, 1, None),), 0),), ((),), ()),
    ((None,), (), ((True, 11, (2,), ((3, 5),), (), 2),), ((),), ()),
    ((None,), (), ((True, 11, (2,), ((0, 0), (4, 0)), ((11, 0, 0, 1, None),), 0),), ((),), ()),
    ((None,), (), ((True, 11, (2,), ((0, 0), (4, 0)), ((12, 0, 0, 1, 2),), 0),), ((),), ()),
    ((None,), (), (), ((),), ()),
])
def test_a_program_that_makes_no_sense_is_refused(parts: Any) -> None:
    with pytest.raises(ValueError, match="Program"):
        Program(*parts)


@pytest.mark.skipif(Program is None, reason="an install without C")
def test_arrays_of_another_kind_are_refused_when_a_program_runs() -> None:
    made = Program((None, None), (0,), ((True, 11, (3,), ((0, 0), (4, 1), (2, 2.0)), ((2, 0, 2, 1, None),), 0),), ((),), (1,))
    x = np.arange(3, dtype=np.float32)
    assert made.run([x])[0].tolist() == [0, 2, 4] and not made.wrote
    for wrong in (x[::2], x[:2], x.astype(np.float64), x.astype(">f4"), None, 3, np.zeros((), np.float32), [1.0]):
        with pytest.raises(ValueError, match="Program"):
            made.run([wrong])
    for wrong in ((x,), [], [x, x]):
        with pytest.raises(ValueError, match="Program"):
            made.run(wrong)
    failing = Program((None,), (), ((False, None, fails, (), (0,), True),), ((),), (0,))
    with pytest.raises(ZeroDivisionError):
        failing.run([])
    assert failing.wrote


def fails() -> None:
    raise ZeroDivisionError


@pytest.mark.skipif(Track is None, reason="an install without C")
@pytest.mark.parametrize("call", [
    (), (abs, abs, (), None, (3,)), (abs, abs, ((5, 0),), None, (3,), b"....."), (abs, abs, ((0, 9),), None, (3,), b"....."),
    (abs, abs, ((1, 0),), None, (3,), b"....."), (abs, abs, ((3, 1, ()),), None, (3,), b"....."),
    (abs, abs, (), (1, 2), (3,), b"....."),
    (abs, abs, (), None, (0, 7), b"....."), (abs, abs, (), None, (9,), b"....."), (abs, abs, (), None, (3,), b"."),
    (abs, abs, ((4, (2, 1), 1, 1),), None, (3,), b"....."), (abs, abs, 3, None, (3,), b"....."), "text",
])
def test_a_track_that_makes_no_sense_is_refused(call: Any) -> None:
    with pytest.raises(ValueError, match="Track"):
        Track((call,), 2)
    with pytest.raises(ValueError, match="Track"):
        Track((), -1)


@pytest.mark.skipif(_kernels.nn is None, reason="the pure build has no kernels")
@pytest.mark.parametrize("given", [(1, True, print), (property(), True, None), (print, False, print)])
def test_a_field_of_tensors_needs_a_descriptor_and_a_callable(given: Any) -> None:
    with pytest.raises(TypeError, match="expected a descriptor"):
        _kernels.nn.Field(*given)


@pytest.mark.parametrize("reduction", ["sum", "mean", "none"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_gradient_alone_needs_no_loss(reduction: Any, dtype: Any) -> None:
    """What is never asked for is not computed: here the logarithms."""
    x, y = numbers(40, 3, dtype=dtype), (numbers(40, seed=1, dtype=dtype) > 0).to(dtype)

    def force(q: Any) -> Any:
        q = q.detach().requires_grad_()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(x @ q, y, reduction=reduction)
        (g,) = torch.autograd.grad(loss.sum() + (q * q).sum() * 0.5, (q,))
        return g

    fast = skipping(force)
    for seed in range(4):
        q = numbers(3, seed=seed, dtype=dtype)
        assert same(force(q), fast(q)), fast.explain()
    assert replays(fast) >= 2
    assert reduction == "none" or f"BinaryCrossEntropyWithLogitsBackward0 -> {str(dtype)[6:]}[] " not in fast.explain()
