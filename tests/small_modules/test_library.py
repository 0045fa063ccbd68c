"""torch.library besides what tests/conformance/programs/library_ops.py prints: opcheck, redefinition, schemas, derivatives."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from both_engines import both

import retrograd as torch
from retrograd._library.schema import FunctionSchema
from retrograd.library import Library, custom_op, opcheck


@pytest.fixture
def lib() -> Iterator[Library]:
    made = Library("of_a_test", "FRAGMENT")
    yield made
    made._destroy()


def test_opcheck_tells_what_an_operator_does_besides(lib: Library) -> None:
    lib.define("clean(Tensor x) -> Tensor")
    lib.impl("clean", lambda x: x + 1, "CPU")
    lib.define("dirty(Tensor x) -> Tensor")
    lib.impl("dirty", lambda x: x.add_(1).clone(), "CPU")
    x = torch.zeros(2)
    for name in ("clean", "dirty"):
        torch.library.register_fake(f"of_a_test::{name}", lambda x: torch.empty_like(x))
    assert opcheck(torch.ops.of_a_test.clean, (x,)) == dict.fromkeys(
        ("test_schema", "test_autograd_registration", "test_faketensor"), "SUCCESS")
    with pytest.raises(torch.library.OpCheckError, match="test_schema failed with Argument x is not defined as mutable"):
        opcheck(torch.ops.of_a_test.dirty, (x,))
    found = opcheck(torch.ops.of_a_test.clean, (x.requires_grad_(),), raise_exception=False)
    assert "no derivative registered" in str(found["test_autograd_registration"])


def test_opcheck_needs_no_fake_function_where_nothing_is_returned_and_leaves_the_arguments_alone(lib: Library) -> None:
    @custom_op("of_a_test::sine", mutates_args={"out"})
    def sine(x: torch.Tensor, out: torch.Tensor) -> None:
        out.copy_(x.sin())

    out = torch.zeros(2)
    assert set(opcheck(sine, (torch.ones(2), out)).values()) == {"SUCCESS"} and out.tolist() == [0, 0]
    lib.define("two(Tensor x) -> (Tensor, Tensor)")
    lib.impl("two", lambda x: (x + 1, x + 2), "CPU")
    torch.library.register_fake("of_a_test::two", lambda x: (torch.empty_like(x),))
    with pytest.raises(torch.library.OpCheckError, match="gives 1 results, the operator 2"):
        opcheck(torch.ops.of_a_test.two, (out,))


def test_a_derivative_that_is_registered_is_checked_by_finite_differences() -> None:
    def cube(x: torch.Tensor, n: int = 3) -> torch.Tensor:
        return x ** n

    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.n * ctx.saved_tensors[0] ** (ctx.n - 1), None

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.n = inputs[1]
    op = custom_op("of_a_test::cube", mutates_args=(), schema="(Tensor x, int n=3) -> Tensor")(cube)
    op.register_autograd(backward, setup_context=setup)
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(op, (x, 3)) and torch.autograd.gradgradcheck(op, (x, 3))


def test_operators_are_themselves_when_copied_and_pickled(lib: Library) -> None:
    lib.define("same.over(Tensor x) -> Tensor")
    op = torch.ops.of_a_test.same.over
    assert copy.deepcopy(op) is op is pickle.loads(pickle.dumps(op)) and torch.ops.of_a_test.same is pickle.loads(
        pickle.dumps(torch.ops.of_a_test.same))


@pytest.mark.parametrize("schema", [
    "f(Tensor x, Tensor(a!)? y=None, *, int[2] ns=[1, 2], str s=\"a, b\", float e=0.5) -> (Tensor, Tensor[])",
    "f() -> ()", "f(Tensor[] xs, ScalarType? dtype=None) -> Tensor",
])
def test_a_schema_prints_as_it_was_written(schema: str, lib: Library) -> None:
    assert str(FunctionSchema(schema)) == schema


@pytest.mark.parametrize("schema", ["f(Tensor x", "f(Tensor) -> Tensor", "f(Tensor x)", "f"])
def test_a_schema_that_is_none_is_refused_and_leaves_nothing(schema: str, lib: Library) -> None:
    with pytest.raises(RuntimeError, match="expected"):
        lib.define(schema)
    assert not hasattr(torch.ops.of_a_test, "f")


@pytest.mark.oracle
@pytest.mark.parametrize("schema", [
    "(Tensr x) -> Tensor", "(Tensor x) -> Tensorz", "(Tensor x) -> (Tensor, Tensrz[])", "(List[int] x) -> ()",
    "(Dict(int, t) x) -> ()", "(Tensor x,, int y) -> Tensor", "(Tensor x=3) -> Tensor", "(int x=a) -> Tensor", "(Tensor x) -> ",
    "(int y=1, int z) -> Tensor", "(Tensor[ x) -> Tensor", "(Tensor x -> Tensor", "Tensor x -> Tensor",
    "(Dict(int, str)? x, int[2]? y=1, *, Generator g) -> Any",
])
def test_schemas_are_refused_where_pytorch_refuses_them(schema: str, lib: Library) -> None:
    import torch as pytorch

    kinds = []
    for library in (torch.library, pytorch.library):
        try:
            library.define("of_schemas::f" + str(abs(hash(schema))), schema)
            kinds.append("")
        except (RuntimeError, ValueError) as error:
            kinds.append(type(error).__name__)
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("name", ["nons", "a::b::c", "a::", "a::1b"])
def test_an_operator_has_a_namespace_and_a_name(name: str) -> None:
    with pytest.raises((ValueError, RuntimeError), match="Expected `qualname` to be of the form|expected ident but found"):
        torch.library.define(name, "(Tensor x) -> Tensor")


def test_an_aten_operator_is_the_function_of_that_name() -> None:
    x = torch.randn(3, requires_grad=True)
    [want] = torch.autograd.grad(torch.softmax(x, 0)[0], x)
    [got] = torch.autograd.grad(torch.ops.aten.softmax.int(x, 0)[0], x)
    assert torch.equal(want, got) and torch.ops.aten.linalg_det(torch.eye(2)).item() == 1
    with pytest.raises(AttributeError, match="'_OpNamespace' 'aten' object has no attribute 'nope'"):
        _ = torch.ops.aten.nope


@both
def test_vmap_calls_the_rule_that_an_operator_registers(torch: Any) -> None:
    seen: list[Any] = []
    name = "batched_rule::weighted"
    torch.library.define(name, "(Tensor x, Tensor[] ys, float s=2.0) -> Tensor")
    torch.library.impl(name, "cpu", lambda x, ys, s=2.0: sum(ys) * x * s)

    @torch.library.register_vmap(name)
    def rule(info: Any, in_dims: Any, x: Any, ys: Any, s: float = 2.0) -> Any:
        seen.append((info.batch_size, info.randomness, in_dims, s))
        return sum(ys) * x.movedim(in_dims[0], -1) * s * 10, 1              # tells itself apart from the kernel by the 10

    x, y = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 1.0])
    op = torch.ops.batched_rule.weighted
    assert torch.func.vmap(lambda a: op(a, [y], 2.0))(x).tolist() == [[20.0, 40.0], [60.0, 80.0]]
    assert torch.func.vmap(lambda a: op(a, ys=[y], s=1.0), in_dims=1)(x).tolist() == [[10.0, 30.0], [20.0, 40.0]]
    assert seen == [(2, "error", (0, [None]), 2.0), (2, "error", (1, [None], None), 1.0)]


@both
def test_vmap_of_an_operator_of_aten_is_vmap_of_its_function(torch: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.tensor([[0.0, 1.0]])
        for op in (torch.ops.aten.add, torch.ops.aten.add.Tensor):
            assert torch.func.vmap(op)(x, x).tolist() == [[0.0, 2.0]]


@both
def test_schemas_write_defaults_as_their_language_does(torch: Any) -> None:
    cpu = torch.device("cpu")

    def f(x, *, kind=torch.float32, where=cpu):  # type: ignore[no-untyped-def]
        return x

    f.__annotations__ = {"x": torch.Tensor, "kind": torch.dtype, "where": torch.device, "return": torch.Tensor}
    assert torch.library.infer_schema(f, mutates_args=()) == (
        '(Tensor x, *, ScalarType kind=float32, Device where="cpu") -> Tensor')


@both
def test_impl_abstract_warns_of_its_newer_name(torch: Any) -> None:
    torch.library.define("renamed::f", "(Tensor x) -> Tensor")
    with pytest.warns(FutureWarning, match="was renamed to `torch.library.register_fake`"):
        torch.library.impl_abstract("renamed::f", lambda x: x.clone())
