"""torch.func.vmap: rules for whole batches, what is refused, what is computed sample by sample; nests with derivatives."""
from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd as torch
from retrograd.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, stack_module_state, vjp, vmap

F = torch.nn.functional


def on_both(program: Callable[[Any, Any], list[Any]]) -> None:
    """program(torch, torch.func) gives the same arrays on both."""
    import torch as theirs

    got = program(torch, importlib.import_module("retrograd.func"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = program(theirs, importlib.import_module("torch.func"))
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert tuple(a.shape) == tuple(b.shape)
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-4, atol=1e-5)


def numbers(torch: Any, *shape: int, salt: int = 0) -> Any:
    return torch.from_numpy(np.random.default_rng(salt).standard_normal(shape).astype("float32"))


def calls_of(function: Callable[..., Any]) -> tuple[list[Any], Callable[..., Any]]:
    seen: list[Any] = []

    def counted(*args: Any) -> Any:
        seen.append(tuple(args[0].shape))
        return function(*args)
    return seen, counted


def test_the_function_is_called_once_with_the_shape_of_a_sample() -> None:
    seen, f = calls_of(lambda x: (x * 2).sum())
    assert vmap(f)(torch.ones(3, 4)).tolist() == [8.0] * 3
    assert seen == [(4,)]
    assert vmap(f, chunk_size=2)(torch.ones(5, 4)).tolist() == [8.0] * 5
    assert seen[1:] == [(4,)] * 3


@pytest.mark.parametrize(("randomness", "alike"), [("same", True), ("different", False)])
def test_chunks_draw_the_same_numbers_where_samples_do(randomness: str, alike: bool) -> None:
    rows = vmap(lambda x: x + torch.rand(2), chunk_size=2, randomness=randomness)(torch.zeros(5, 2)).tolist()
    assert all((row == rows[0]) is alike for row in rows[1:])


@pytest.mark.oracle
def test_a_transform_inside_vmap_asks_a_function_for_its_derivative_not_its_rule_for_batches() -> None:
    def program(torch: Any, func: Any) -> list[Any]:
        class Rounded(torch.autograd.Function):  # type: ignore[misc]
            @staticmethod
            def forward(x: Any) -> Any:
                return x.round()

            @staticmethod
            def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
                pass

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g

            @staticmethod
            def jvp(ctx: Any, tangent: Any) -> Any:
                return tangent * 3

            @staticmethod
            def vmap(info: Any, in_dims: Any, x: Any) -> Any:
                return x.round(), in_dims[0]

        def f(x: Any) -> Any:
            return (Rounded.apply(x) * x).sum()

        x = torch.tensor([[0.4, 1.6], [2.2, -0.7]])
        outer = func.vmap(func.vmap(func.grad(f)))
        return [func.vmap(func.grad(f))(x), func.vmap(lambda x: func.jvp(f, (x,), (x,)))(x)[1], func.vmap(func.jacrev(f))(x),
                outer(x[None]), func.grad(lambda x: func.vmap(f)(x).sum())(x)]
    on_both(program)


def test_jacfwd_calls_a_function_once() -> None:
    W = numbers(torch, 4, 5).requires_grad_()
    seen, f = calls_of(lambda x: torch.tanh(W @ x))
    J = jacfwd(f)(numbers(torch, 5, salt=1))
    assert seen == [(5,)]
    seen, f = calls_of(lambda x: x.tolist() and x * 2)
    assert jacfwd(f)(torch.ones(6)).tolist() == (2 * torch.eye(6)).tolist() and seen == [(6,)]
    J.pow(2).sum().backward()
    assert W.grad is not None and W.grad.abs().sum() > 0


def test_jacrev_is_one_backward_pass_or_as_many_as_chunk_size_asks_for() -> None:
    passes: list[int] = []

    class Seen(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            passes.append(torch._C._current_graph_task_id())
            return g * 2

    x = numbers(torch, 6)
    assert torch.equal(jacrev(Seen.apply)(x), 2 * torch.eye(6)) and len(set(passes)) == 1
    passes.clear()
    assert torch.equal(jacrev(Seen.apply, chunk_size=2)(x), 2 * torch.eye(6)) and len(set(passes)) == 3


def per_sample_gradients(torch: Any, func: Any) -> list[Any]:
    functional = torch.nn.functional
    w, b, x = numbers(torch, 5, 4), numbers(torch, 5, salt=1), numbers(torch, 3, 4, salt=2)
    y = torch.tensor([0, 2, 4])

    def loss(p: Any, x: Any, y: Any) -> Any:
        return functional.cross_entropy(functional.linear(x, p[0], p[1])[None].tanh(), y[None])
    return list(func.vmap(func.grad(loss), (None, 0, 0))((w, b), x, y))


def jacobians(torch: Any, func: Any) -> list[Any]:
    w, x = numbers(torch, 5, 4), numbers(torch, 3, 4, salt=2)

    def f(x: Any) -> Any:
        return torch.nn.functional.linear(x, w).tanh()

    def total(x: Any) -> Any:
        return f(x).pow(3).sum()
    _, pull = func.vjp(f, x[0])
    return [
        func.vmap(func.jacrev(f))(x), func.vmap(func.jacfwd(f))(x), func.vmap(func.hessian(total))(x), func.hessian(total)(x),
        func.vmap(lambda x, v: func.jvp(f, (x,), (v,))[1])(x, x), func.vmap(pull)(torch.eye(5))[0],
        func.vmap(func.grad(func.grad(lambda x: x.sin() * x)))(x[:, 0]),
    ]


def nests(torch: Any, func: Any) -> list[Any]:
    w, x = numbers(torch, 5, 4), numbers(torch, 3, 4, salt=2)
    linear, grad, vmap = torch.nn.functional.linear, func.grad, func.vmap
    return [
        grad(lambda w: vmap(lambda x: linear(x, w).pow(3).sum())(x).sum())(w),
        grad(lambda w: vmap(lambda x: grad(lambda x: linear(x, w).pow(3).sum())(x))(x).sum())(w),
        vmap(lambda w: vmap(grad(lambda x: linear(x, w).pow(3).sum()))(x))(torch.stack([w, 2 * w])),
        vmap(lambda x: grad(lambda z: (z * x).sum() ** 2)(w[0]))(x),
        vmap(vmap(lambda a, b: a * b + a, (None, 0)), (0, None))(x, x),
        vmap(lambda x: vmap(lambda v: v * x.sum(), 1, 1)(x))(numbers(torch, 2, 3, 4)),
    ]


def indexing(torch: Any, func: Any) -> list[Any]:
    x, i = numbers(torch, 3, 4, 5, 6), torch.tensor([[0, 1], [3, 2], [1, 1]])
    shared, vmap = torch.tensor([2, 0]), func.vmap

    def put(x: Any, v: Any) -> Any:
        y = x.clone()
        y[1:3, 0] = v
        return y
    return [
        vmap(lambda x: x[1, ..., None, 2:])(x), vmap(lambda x: x[shared])(x), vmap(lambda x: x[:, shared])(x),
        vmap(lambda x: x[:, shared, :, None])(x), vmap(lambda x: x[shared, :, shared])(x), vmap(lambda x, i: x[i])(x, i),
        vmap(lambda x, i: x[:, i])(x, i), vmap(lambda x, i: x[i, :, i])(x, i), vmap(lambda x, i: x[0, i])(x, i),
        vmap(lambda i: x[0][i])(i), vmap(lambda x, i: x[:, i, shared])(x, i), vmap(put)(x, x[:, 0, 0]),
        vmap(lambda x, i: x.index_select(1, i))(x, i), vmap(lambda x, i: x[:, 0].gather(0, i[:, None]))(x, i),
    ]


def dtypes_of_samples_without_dims(torch: Any, func: Any) -> list[Any]:
    x = torch.tensor([1.5, 2.5], dtype=torch.float64)
    found = [func.vmap(lambda v: v * torch.ones(2))(x), func.vmap(lambda v: v * torch.tensor(2.0))(x),
             func.vmap(lambda v, w: torch.where(v > 2, w, 0.0))(x, x.float())]
    assert [str(t.dtype)[-7:] for t in found] == ["float32", "float64", "float32"]
    return found


def layers(torch: Any, func: Any) -> list[Any]:
    functional, vmap = torch.nn.functional, func.vmap
    x, w, b = numbers(torch, 3, 2, 4, 6, 6), numbers(torch, 3, 6, 4, 3, 3), numbers(torch, 3, 6)
    vector = numbers(torch, 3, 4)
    return [
        vmap(functional.conv2d)(x, w, b), vmap(functional.conv2d, (0, None, None))(x, w[0], b[0]),
        vmap(functional.conv2d, (None, 0))(x[0], w), vmap(functional.conv2d)(x[:, 0], w),
        vmap(lambda x: functional.max_pool2d(x, 2))(x), vmap(lambda x: functional.batch_norm(x, None, None, training=True))(x),
        vmap(lambda x, w: functional.group_norm(x, 2, w))(x, vector), vmap(lambda x, w: functional.layer_norm(x, (6,), w))(x, b),
        vmap(lambda x, y: functional.mse_loss(x, y))(vector, vector + 1),
        vmap(lambda x, y: functional.cross_entropy(x, y, label_smoothing=0.1))(
            x[:, 0, :, 0].transpose(1, 2), torch.tensor([[0, 1, 2, 3, 0, -100]] * 3)),
        vmap(lambda i, w: functional.embedding(i, w))(torch.tensor([[0, 1], [3, 2], [1, 1]]), numbers(torch, 3, 4, 2)),
        vmap(lambda q, k: functional.scaled_dot_product_attention(q, k, k))(x[:, 0], x[:, 1]),
        vmap(lambda x: torch.einsum("cij,dij->cd", x, x))(x[:, 0]), vmap(torch.linalg.solve)(x[:, 0, 0], b),
    ]


def rows(torch: Any, func: Any) -> list[Any]:
    """Passes for many gradients at once."""
    w, x, vmap = numbers(torch, 5, 4), numbers(torch, 3, 4, salt=2), func.vmap
    functional = torch.autograd.functional

    def f(x: Any) -> Any:
        h = torch.nn.functional.layer_norm(torch.cat([x, x.sin()])[:4] @ w.T, (5,))
        return torch.softmax(h.tanh(), -1).view(5, 1) * x[1:3]

    def pair(x: Any, w: Any) -> Any:
        return {"y": (w @ x).tanh(), "z": x.sum() * w[0]}
    _, pull = func.vjp(f, x[0])
    value, pull_pair = func.vjp(pair, x[0], w)
    _, push = func.linearize(f, x[0])
    units = torch.eye(10).view(10, 5, 2)
    several = func.jacrev(pair, (0, 1), chunk_size=2)(x[0], w)
    by_vmap = vmap(lambda a: vmap(lambda b: pull_pair({"y": value["y"] * a, "z": value["z"] * b}))(x[1]))(x[2])
    return [
        vmap(pull)(units)[0], vmap(vmap(pull))(units.view(2, 5, 5, 2))[0], vmap(push)(torch.eye(4)),
        vmap(lambda x: vmap(func.vjp(f, x)[1])(units)[0])(x), func.jacrev(func.jacrev(f))(x[0]),
        func.jacrev(f, chunk_size=3)(x[0]),
        *several["y"], *several["z"], *by_vmap,
        functional.jacobian(f, x[0], vectorize=True), functional.hessian(lambda x: f(x).pow(2).sum(), x[0], vectorize=True),
        *[g for row in functional.jacobian(lambda a, b: (a * b, b.sum(), a.detach()), (x[0], x[1]), vectorize=True) for g in row],
    ]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "program", [per_sample_gradients, jacobians, nests, indexing, dtypes_of_samples_without_dims, layers, rows])
def test_programs_give_what_they_give_on_pytorch(program: Any) -> None:
    on_both(program)


def test_an_ensemble_is_one_call_of_the_module() -> None:
    models = [torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2)) for _ in range(3)]
    params, buffers = stack_module_state(models)
    x = torch.randn(5, 3)
    found = vmap(lambda p, b, x: functional_call(models[0], (p, b), (x,)), (0, 0, None))(params, buffers, x)
    torch.testing.assert_close(found, torch.stack([m(x) for m in models]))


def test_recurrent_layers_see_samples_step_by_step() -> None:
    lstm, x = torch.nn.LSTM(4, 3), torch.randn(2, 5, 1, 4)
    torch.testing.assert_close(vmap(lambda x: lstm(x)[0])(x), torch.stack([lstm(v)[0] for v in x]))


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "branch": lambda torch, x: x if x.sum() > 0 else -x,
    "item": lambda torch, x: x.sum().item(),
    "float": lambda torch, x: float(x.sum()),
    "index": lambda torch, x: [1, 2][x.sum().long()],
    "nonzero": lambda torch, x: x.nonzero(),
    "unique": lambda torch, x: x.unique(),
    "masked_select": lambda torch, x: x.masked_select(x > 0),
    "mask": lambda torch, x: x[x > 0],
    "numpy": lambda torch, x: x.numpy(),
    "allclose": lambda torch, x: torch.allclose(x, x),
    "requires_grad_": lambda torch, x: x.requires_grad_(),
    "backward": lambda torch, x: x.sum().backward(),
    "copy into a captured tensor": lambda torch, x: torch.zeros(4).copy_(x),
    "part of a captured tensor": lambda torch, x: torch.zeros(4).__setitem__(0, x[0]),
    "fill": lambda torch, x: torch.zeros(4).fill_(x[0]),
    "draw": lambda torch, x: x + torch.randn(4),
    "dropout": lambda torch, x: torch.nn.functional.dropout(x),
    "tensor of samples": lambda torch, x: torch.tensor([x[0], x[1]]),
    "data": lambda torch, x: x.data,
    "running statistics": lambda torch, x: torch.nn.functional.batch_norm(
        x.view(2, 2), torch.zeros(2), torch.ones(2), training=True),
    "out": lambda torch, x: torch.add(x, x, out=torch.empty(4)),
    "no output": lambda torch, x: torch.where(x > 0),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", REFUSED)
def test_what_samples_cannot_be_asked_for_is_refused_in_pytorchs_words(name: str) -> None:
    import torch as theirs

    with pytest.raises(RuntimeError) as want:
        theirs.func.vmap(lambda x: REFUSED[name](theirs, x))(theirs.ones(3, 4))
    with pytest.raises(RuntimeError) as got:
        vmap(lambda x: REFUSED[name](torch, x))(torch.ones(3, 4))
    assert str(got.value) == str(want.value)


def test_a_function_without_a_rule_runs_sample_by_sample_and_says_so() -> None:
    x = torch.rand(3, 8)
    with pytest.warns(UserWarning, match="not yet implemented the batching rule for aten::histc"):
        found = vmap(lambda v: torch.histc(v, 4, 0, 1))(x)
    assert torch.equal(found, torch.stack([torch.histc(v, 4, 0, 1) for v in x]))


def test_an_escaped_sample_cannot_be_used() -> None:
    left: list[Any] = []
    vmap(lambda x: left.append(x) or x)(torch.ones(3))
    with pytest.raises(RuntimeError, match="may have escaped from inside a function being vmapped"):
        left[0] + 1


def test_randomness_is_of_the_kind_asked_for() -> None:
    x = torch.ones(4, 50)
    for f in (torch.rand_like, lambda v: torch.rand(50), F.dropout, lambda v: v.clone().normal_()):
        same = vmap(f, randomness="same")(x)
        assert bool((same == same[0]).all())
        assert not bool((vmap(f, randomness="different")(x) == same[0]).all())
        with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
            vmap(f)(x)


def test_jacfwd_takes_inputs_without_elements() -> None:
    assert jacfwd(lambda v: v * 2)(torch.ones(2, 0)).shape == (2, 0, 2, 0)
    by_x, by_y = jacfwd(lambda x, y: x.sum() + y, argnums=(0, 1))(torch.ones(0), torch.ones(2))
    assert by_x.shape == (2, 0) and by_y.tolist() == torch.eye(2).tolist()
    assert vmap(jacfwd(lambda v: v * 2))(torch.ones(3, 0)).shape == (3, 0, 0)


def test_jacfwd_refuses_draws_before_they_are_made() -> None:
    x, state, reached = torch.ones(3), torch.get_rng_state(), []
    with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
        torch.func.jacfwd(lambda v: reached.append(F.dropout(v)) or v)(x)
    with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
        torch.func.jacfwd(lambda v: v * torch.randn(3, generator=torch.Generator()))(x)
    assert not reached and torch.equal(torch.get_rng_state(), state)
    kept = torch.func.jacfwd(lambda v: F.dropout(v), randomness="same")(x).diagonal()
    assert set(kept.tolist()) <= {0.0, 2.0}


class Cubed(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return 3 * ctx.saved_tensors[0] ** 2 * g


class Ruled(Cubed):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        assert (info.batch_size, in_dims) == (3, (0,))
        return Ruled.apply(x), 0


class Unruled(Cubed):
    generate_vmap_rule = False


def test_custom_functions_need_a_rule_inside_too() -> None:
    x = torch.arange(6.0).view(3, 2)
    for f in (Cubed, Ruled):
        assert torch.equal(vmap(lambda v, f=f: f.apply(v) + 1)(x), x**3 + 1)
        assert torch.equal(vmap(grad(lambda v, f=f: f.apply(v).sum()))(x), 3 * x**2)
    with pytest.raises(RuntimeError, match="You tried to vmap over Unruled, but it does not have vmap support"):
        vmap(lambda v: Unruled.apply(v))(x)


def test_transforms_leave_nothing_of_theirs_on_results() -> None:
    w, x = torch.randn(5, 4), torch.randn(4)
    assert not grad(lambda w: grad(lambda x: F.linear(x, w).pow(3).sum())(x).sum())(w).requires_grad
    assert not vmap(jacrev(lambda v: v.sin()))(torch.randn(3, 4)).requires_grad
    assert not jacfwd(jacrev(lambda v: v.sin()))(x).requires_grad and not hessian(lambda v: v.pow(3).sum())(x).requires_grad
    assert not jvp(lambda v: v.sin(), (x,), (x,))[1].requires_grad and not vjp(lambda v: v.sin(), x)[0].requires_grad


@pytest.mark.oracle
@pytest.mark.parametrize("part", range(12))
def test_samples_of_operations_agree_with_pytorchs_vmap(part: int) -> None:
    """Every 48th operation, whose first sample; `python -m tests.opinfo.batches` runs all."""
    pytest.importorskip("expecttest")
    from opinfo.batches import compare, expected
    from test_opinfo import operations

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = [w for op in operations()[part * 4::48] for w in compare(op, 1)[1] if not expected(op.name)]
    assert wrong == []


@pytest.mark.oracle
def test_jacobians_reach_what_the_function_reads() -> None:
    def program(T: Any, func: Any) -> list[Any]:
        W, b, x = numbers(T, 4, 5, salt=3).requires_grad_(), numbers(T, 4, salt=3).requires_grad_(), numbers(T, 5, salt=4)

        def several(x: Any) -> Any:
            return T.sin(W @ x + b)

        def one(x: Any) -> Any:
            return several(x).pow(2).sum()
        found = [func.jacrev(several)(x), func.jacfwd(several)(x), func.hessian(one)(x)]
        return found + [g for J in found for g in T.autograd.grad(J.pow(2).sum(), (W, b))]

    on_both(program)


def test_rows_of_a_jacobian_come_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    W, x = numbers(torch, 7, 3), numbers(torch, 2, 3, salt=1)
    whole = vmap(jacrev(lambda x: torch.sin(W @ x)))(x)
    monkeypatch.setattr("retrograd.func._derivatives.UNITS", 30)       # two rows of 2 x 7
    assert torch.equal(vmap(jacrev(lambda x: torch.sin(W @ x)))(x), whole)
    np.testing.assert_allclose(whole.numpy(), np.cos(x.numpy() @ W.numpy().T)[:, :, None] * W.numpy(), rtol=1e-5)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["mH", "H", "adjoint", "vdot", "nested", "derivative", "is_conj"])
def test_a_sample_is_conjugated(name: str) -> None:
    def program(torch: Any, func: Any) -> list[Any]:
        vmap = func.vmap
        a = torch.complex(numbers(torch, 3, 2, 2), numbers(torch, 3, 2, 2, salt=1))
        u = a[0]
        if name == "adjoint":
            return [vmap(torch.adjoint)(a), vmap(lambda y: y.adjoint())(a)]
        if name == "vdot":
            return [vmap(torch.vdot, in_dims)(*pair) for in_dims, pair in (
                ((0, 0), (u, u)), ((0, None), (u, u[0])), ((None, 0), (u[0], u)))]
        if name == "nested":
            return [vmap(vmap(lambda y: y.mH))(a[None])]
        if name == "derivative":
            return [vmap(func.grad(lambda y: (y.mH @ y).real.sum()))(a).resolve_conj()]
        if name == "is_conj":
            seen: list[bool] = []
            for view in (lambda y: y, lambda y: y.conj(), lambda y: y.mH, lambda y: y.conj().mT):
                vmap(lambda y: (seen.append(view(y).is_conj()), view(y))[1])(a)      # noqa: B023
            return [torch.tensor(seen)]
        return [vmap(lambda y: getattr(y, name))(x) for x in ((a, u[0]) if name == "H" else (a,))]

    on_both(lambda torch, func: [x.resolve_conj() for x in program(torch, func)])


@both
def test_the_function_and_the_caller_of_a_transform_see_plain_tensors(torch: Any) -> None:
    class Sub(torch.Tensor):  # type: ignore[name-defined, misc]
        pass

    s, seen = torch.ones(3).as_subclass(Sub), []

    def sine(x: Any) -> Any:
        seen.append(isinstance(x, Sub))
        return x.sin()

    def total(*inputs: Any) -> Any:
        return sum(sine(x) for x in inputs).sum()

    func = torch.func
    value, pull = func.vjp(sine, s)
    found = [
        func.vmap(sine)(s), func.vmap(func.vmap(sine))(torch.stack([s, s])), func.vmap(lambda d: sine(d["x"]))({"x": s}),
        func.grad(total)(s), *func.grad(total, (0, 1))(s, s), *func.grad_and_value(total)(s), func.jacrev(sine)(s),
        func.vmap(func.grad(sine))(s), func.grad(lambda x: func.vmap(sine)(x).sum())(s), value, *pull(torch.ones(3)),
    ]
    assert not any(seen) and {type(x) for x in found} == {torch.Tensor}
    x = torch.ones(3).as_subclass(Sub).requires_grad_()
    func.vmap(sine)(x).sum().backward()
    assert torch.equal(x.grad, x.cos())
