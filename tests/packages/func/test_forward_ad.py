"""torch.autograd.forward_ad, and gradcheck of tangents."""
from __future__ import annotations

import importlib
from typing import Any

import pytest
from both_engines import both

import retrograd

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script")          # PyTorch's make_dual calls it


def of(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.autograd.forward_ad")


def close(found: Any, wanted: list[float]) -> None:
    assert [round(x, 4) for x in found.tolist()] == wanted


@both
def test_tangents_follow_values_into_views_and_edits_in_place(torch: Any) -> None:
    fwd, x, v = of(torch), torch.tensor([1.0, 2.0]), torch.tensor([0.5, 1.0])
    with fwd.dual_level() as level:
        assert level == 0
        d = fwd.make_dual(x, v)
        assert fwd.unpack_dual(d).tangent is v and repr(d) == "tensor([1., 2.], tangent=tensor([0.5000, 1.0000]))"
        close(fwd.unpack_dual(d.exp() * 2).tangent, [2.7183, 14.7781])
        buffer = torch.zeros(2)
        buffer[0] = d[1] * 3
        buffer.mul_(2)
        primal, tangent = fwd.unpack_dual(buffer)
        assert primal.tolist() == [12.0, 0.0] and tangent.tolist() == [6.0, 0.0]
        assert fwd.unpack_dual(primal).tangent is None and fwd.unpack_dual(tangent).tangent is None
        e = d.clone()
        e[0].mul_(10)
        assert fwd.unpack_dual(e).tangent.tolist() == [5.0, 1.0]
        for constant in (d.detach(), d > 1, d.long(), x * 2):
            assert fwd.unpack_dual(constant).tangent is None
    assert fwd.unpack_dual(e).tangent is None and not e.requires_grad and e.grad_fn is None


@both
def test_dual_tensors_look_like_constants_and_no_grad_leaves_tangents(torch: Any) -> None:
    fwd = of(torch)
    with fwd.dual_level():
        d = fwd.make_dual(torch.tensor([1.0, 2.0]), torch.ones(2))
        y = d * 2
        assert not d.requires_grad and d.is_leaf and y.grad_fn is None and y.numpy().tolist() == [2.0, 4.0]
        with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
            y.sum().backward()
        with torch.no_grad():
            assert fwd.unpack_dual(d * d).tangent.tolist() == [2.0, 4.0]
        with fwd._set_fwd_grad_enabled(False):
            assert fwd.unpack_dual(d * d).tangent is None


@both
def test_tangents_have_gradients_and_gradients_tangents(torch: Any) -> None:
    fwd, p, v = of(torch), torch.tensor([3.0, 4.0], requires_grad=True), torch.tensor([0.5, 1.0])
    with fwd.dual_level():
        y = fwd.make_dual(p, v) ** 3
        assert y.requires_grad
        tangent = fwd.unpack_dual(y).tangent
        assert torch.autograd.grad(tangent.sum(), p)[0].tolist() == [9.0, 24.0]
        d = fwd.make_dual(p, v)
        product, = torch.autograd.grad((d ** 3).sum(), d)
        assert fwd.unpack_dual(product).tangent.tolist() == [9.0, 24.0]


@both
def test_modules_take_dual_parameters(torch: Any) -> None:
    fwd, layer, x = of(torch), torch.nn.Linear(2, 2), torch.tensor([[1.0, -2.0]])
    params = {name: p for name, p in layer.named_parameters()}
    tangents = {name: torch.ones_like(p) for name, p in params.items()}
    with fwd.dual_level():
        duals = {name: fwd.make_dual(p, tangents[name]) for name, p in params.items()}
        out = torch.func.functional_call(layer, duals, (x,))
        assert fwd.unpack_dual(out).tangent.tolist() == [[0.0, 0.0]]


@both
def test_levels_refuse_to_nest_and_duals_what_fits_not(torch: Any) -> None:
    fwd, x = of(torch), torch.ones(2)
    with pytest.raises(RuntimeError, match="no level exists"):
        fwd.make_dual(x, x)
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fwd.exit_dual_level()
    assert fwd.unpack_dual(x) == (x, None)
    with fwd.dual_level():
        d = fwd.make_dual(x, x)
        for call, text in (
                (lambda: fwd.enter_dual_level(), "Nested forward mode AD"),
                (lambda: torch.func.jvp(torch.sin, (x,), (x,)), "Nested forward mode AD"),
                (lambda: fwd.make_dual(d, x), "already has a forward gradient at the same level 0"),
                (lambda: fwd.make_dual(x, d), "itself has a forward gradient at the same level0"),
                (lambda: fwd.make_dual(x, torch.ones(3)), "has a different size than that of the original"),
                (lambda: fwd.unpack_dual(d, level=3), "Invalid level given to _fw_primal"),
                (lambda: fwd.exit_dual_level(level=3), "not the last one")):
            with pytest.raises(RuntimeError, match=text):
                call()
        for pair, text in (((x.long(), x), "primal .* int64"), ((x, x.long()), "tangent .* int64")):
            with pytest.raises(ValueError, match=f"Expected {text.split()[0]} to be floating point or complex"):
                fwd.make_dual(*pair)


def cube(torch: Any, factor: float | None) -> Any:
    """x^3; its jvp multiplies by factor x^2, where there is one."""
    class Cube(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any) -> Any:
            return x ** 3

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(inputs[0])
            ctx.save_for_forward(inputs[0])

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3 * ctx.saved_tensors[0] ** 2

        if factor is not None:
            @staticmethod
            def jvp(ctx: Any, tangent: Any) -> Any:
                return tangent * factor * ctx.saved_tensors[0] ** 2

    return Cube


@both
def test_a_rule_that_forgets_an_output_is_refused(torch: Any) -> None:
    class Two(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, x * 3

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            return tangent * 2

    fwd, x = of(torch), torch.ones(2)
    with fwd.dual_level(), pytest.raises(RuntimeError, match=r"invalid number of forward gradients \(expected 2 but got 1\)"):
        fwd.unpack_dual(Two.apply(fwd.make_dual(x, x))[0])
    with fwd.dual_level(), pytest.raises(TypeError, match=r"argument 'dual' \(position 1\) must be Tensor, not float"):
        fwd.unpack_dual(3.0)


@both
def test_a_functions_own_rule_makes_its_tangents(torch: Any) -> None:
    fwd, x = of(torch), torch.tensor([1.0, 2.0])
    assert torch.func.jvp(cube(torch, 7).apply, (x,), (x,))[1].tolist() == [7.0, 56.0]
    assert torch.func.grad(lambda x: cube(torch, 7).apply(x).sum())(x).tolist() == [3.0, 12.0]
    with fwd.dual_level():
        d = fwd.make_dual(x, x)
        assert fwd.unpack_dual(cube(torch, 7).apply(d) * 2).tangent.tolist() == [14.0, 112.0]
        with torch.no_grad():
            assert fwd.unpack_dual(cube(torch, 7).apply(d)).tangent.tolist() == [7.0, 56.0]
        assert cube(torch, None).apply(x).tolist() == [1.0, 8.0]
        with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
            cube(torch, None).apply(d)
    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        torch.func.jvp(cube(torch, None).apply, (x,), (x,))


@both
def test_gradcheck_compares_tangents(torch: Any) -> None:
    x = torch.rand(2, 3, dtype=torch.float64, requires_grad=True)
    w = torch.rand(3, 2, dtype=torch.float64, requires_grad=True)
    z = torch.tensor([1 + 2j, 0.5 - 1j], dtype=torch.complex128, requires_grad=True)
    for f, args in ((lambda x, w: (x @ w).sin(), (x, w)), (lambda z: z * z, (z,)), (lambda z: z.abs(), (z,)),
                    (cube(torch, 3).apply, (x,))):
        assert torch.autograd.gradcheck(f, args, check_forward_ad=True)
    layer = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4)).double()
    assert torch.autograd.gradcheck(layer, (x,), check_forward_ad=True, check_batched_forward_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: x.sin(), (x,), check_fwd_over_rev=True)
    wrong = cube(torch, 4).apply
    assert torch.autograd.gradcheck(wrong, (x,))
    with pytest.raises(RuntimeError, match="Jacobian computed with forward mode mismatch for output 0 with respect to input 0"):
        torch.autograd.gradcheck(wrong, (x,), check_forward_ad=True)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("fast", [False, True])
def test_gradcheck_leaves_the_global_generator_where_pytorch_leaves_it(dtype: str, fast: bool) -> None:
    import torch as theirs

    following: list[float] = []
    for torch in (retrograd, theirs):
        torch.manual_seed(0)
        x = torch.ones(3, dtype=getattr(torch, dtype), requires_grad=True)
        assert torch.autograd.gradcheck(lambda v: v * v, (x,), check_forward_ad=True, fast_mode=fast)
        following.append(torch.rand(1).item())
    assert following[0] == following[1]


@both
def test_integers_have_no_tangents(torch: Any) -> None:
    func, x, i = torch.func, torch.ones(2), torch.tensor([1, 2])
    for run in (func.jacfwd(torch.sin), func.hessian(lambda x: (x * 2.0).sum()), lambda i: func.jvp(torch.sin, (i,), (x,)),
                lambda i: func.linearize(torch.sin, i), func.vmap(func.jacfwd(torch.sin)),
                lambda i: func.jacfwd(torch.mul, argnums=(0, 1))(x, i)):
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex, but got: torch.int64"):
            run(i)
    with pytest.raises(ValueError, match="Expected tangent to be floating point or complex, but got: torch.int64"):
        func.jvp(torch.sin, (x,), (i,))


@both
@pytest.mark.parametrize("materialized", [False, True])
def test_a_constant_has_no_tangent_where_none_are_made(torch: Any, materialized: bool) -> None:
    class Product(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(a: Any, b: Any) -> Any:
            return a * b

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_forward(*inputs)
            ctx.set_materialize_grads(materialized)

        @staticmethod
        def jvp(ctx: Any, a: Any, b: Any) -> Any:
            assert (b is not None) is materialized
            return a * ctx.saved_tensors[1]

    x = torch.tensor([1.0, 2.0])
    assert torch.func.jvp(lambda a: Product.apply(a, x), (x,), (x,))[1].tolist() == [1.0, 4.0]
