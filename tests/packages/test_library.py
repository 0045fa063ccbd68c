"""torch.library besides what tests/conformance/programs/library_ops.py prints: opcheck, redefinition, schemas, derivatives."""

from __future__ import annotations

import copy
import importlib
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


def said(caught: Any) -> str:
    return f"{type(caught.value).__name__}: {caught.value}"


def fake_tensors(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}._subclasses.fake_tensor")


@both
def test_kernels_are_not_asked_about_tensors_without_values(torch: Any) -> None:
    calls: list[Any] = []

    def kernel(x):  # type: ignore[no-untyped-def]
        calls.append(x)
        return x * 2
    kernel.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
    op = torch.library.custom_op("without_values::twice", kernel, mutates_args=())
    torch.library.define("without_values::cpu", "(Tensor x) -> Tensor")
    torch.library.impl("without_values::cpu", "cpu", kernel)
    mode, meta = fake_tensors(torch).FakeTensorMode(), torch.ones(2, 3, device="meta", requires_grad=True)
    for x in (meta, mode.from_tensor(torch.ones(2, 3))):
        with pytest.raises(RuntimeError, match="There was no fake impl registered for <CustomOpDef.without_values::twice.>. This"
                           " is necessary for .* `kernel.register_fake`"):
            op(x)
    with pytest.raises(NotImplementedError, match="no fake impl or Meta kernel registered"):
        torch.ops.without_values.cpu(meta)

    @op.register_fake
    def _(x: Any) -> Any:
        assert x.device.type == "meta" or torch.library.get_ctx() is not None
        return torch.empty_like(x)
    op.register_autograd(lambda ctx, g: g * 2)
    assert op(meta).shape == (2, 3) and op(meta).device.type == "meta" and op(meta).requires_grad and not calls
    assert type(op(mode.from_tensor(torch.ones(2)))).__name__ == "FakeTensor" and not calls and torch.library.get_ctx() is None


@both
def test_a_fake_function_whose_sizes_depend_on_values(torch: Any) -> None:
    torch.library.define("sizes_of_values::nonzero", "(Tensor x) -> Tensor")

    @torch.library.register_fake("sizes_of_values::nonzero")
    def _(x: Any) -> Any:
        return x.new_empty([torch.library.get_ctx().new_dynamic_size(), x.dim()], dtype=torch.int64)
    op, fakes = torch.ops.sizes_of_values.nonzero, fake_tensors(torch)
    with pytest.raises(RuntimeError, match="with meta Tensors .as opposed to FakeTensors., but this operator may return"):
        op(torch.ones(2, device="meta"))
    with fakes.FakeTensorMode() as mode, pytest.raises(fakes.DynamicOutputShapeException, match="_of_values.nonzero.default"):
        op(mode.from_tensor(torch.ones(2)))


@both
def test_autocast_casts_the_arguments_of_an_operator(torch: Any) -> None:
    def kernel(x, ys):  # type: ignore[no-untyped-def]
        assert not torch.is_autocast_enabled("cpu")
        return x + sum(ys)
    kernel.__annotations__ = {"x": torch.Tensor, "ys": list[torch.Tensor], "return": torch.Tensor}
    op = torch.library.custom_op("autocasts::added", kernel, mutates_args=())
    op.register_autograd(lambda ctx, g: (g, [g]))
    op.register_autocast("cpu", torch.bfloat16)
    op.register_autocast("cuda", torch.float16)
    x = torch.ones(2, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.float16):
        found = [op(x, [x]), op(x.double(), [x.double()]), op(x.int(), [x.int()])]
        assert torch.is_autocast_enabled("cpu")
    assert [str(y.dtype).rpartition(".")[2] for y in [*found, op(x, [x])]] == ["bfloat16", "float64", "int32", "float32"]
    found[0].sum().backward()
    assert x.grad.tolist() == [2, 2] and x.grad.dtype is torch.float32
    for wrong in (lambda: op.register_autocast(3, torch.float16), lambda: op.register_autocast("meta", torch.float16),
                  lambda: torch.library.register_autocast(3, "cpu", torch.float16)):
        with pytest.raises(ValueError, match=r"Expected `device_type`|does not support autocast|unexpected type for op"):
            wrong()
    op._lib._destroy()


@both
def test_kernels_are_switched_off_and_on(torch: Any) -> None:
    def kernel(x):  # type: ignore[no-untyped-def]
        return x + 1
    kernel.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
    op = torch.library.custom_op("switched::one", kernel, mutates_args=())
    op.register_kernel("cpu")(lambda x: x + 100)
    x = torch.zeros(())
    with op.set_kernel_enabled("cpu", enabled=False):
        assert op(x) == 1
        with op.set_kernel_enabled("cpu"):
            assert op(x) == 100
        assert op(x) == 1
    assert op(x) == 100


READS: dict[str, Any] = {
    "item": lambda T, y: y.sum().item(), "bool": lambda T, y: bool(y.sum() > 0), "int": lambda T, y: int(y.sum()),
    "float": lambda T, y: float(y.sum()), "tolist": lambda T, y: y.tolist(), "nonzero": lambda T, y: y.nonzero(),
    "mask": lambda T, y: y[y > 0], "unique": lambda T, y: y.unique(), "masked_select": lambda T, y: y.masked_select(y > 0),
    "equal": lambda T, y: T.equal(y, y), "allclose": lambda T, y: T.allclose(y, y), "numpy": lambda T, y: y.numpy(),
    "bincount": lambda T, y: y.long().view(-1).bincount(), "where": lambda T, y: T.where(y > 0),
    "repeats": lambda T, y: y.repeat_interleave(T.ones(2, dtype=T.int64), 0), "shape": lambda T, y: (y @ y.T).shape,
    "repeat": lambda T, y: y.repeat_interleave(2, 0).shape, "device": lambda T, y: (y.device, T.ones(2).device, y.is_meta),
    "constant": lambda T, y: T.tensor(3.0).item(), "repr": lambda T, y: repr(y), "double": lambda T, y: repr(y.double()),
    "to": lambda T, y: (y.to("meta").device, y.to(T.float64).dtype, y.to("meta", T.float64).dtype, y.cpu().device),
    "edit": lambda T, y: repr(y.add_(1).mul_(y)), "ones": lambda T, y: repr(T.ones(2, 3, device="meta").device),
    "layer": lambda T, y: repr(T.nn.Linear(3, 2)(y)), "like": lambda T, y: repr(T.zeros_like(y).device),
    "grad": lambda T, y: repr(T.autograd.grad(y.requires_grad_().sum(), y)[0]),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", READS)
def test_fake_tensors_answer_as_pytorchs(name: str) -> None:
    import torch as theirs

    def answer(torch: Any, inside: bool) -> str:
        mode = fake_tensors(torch).FakeTensorMode()
        y = mode.from_tensor(torch.ones(2, 3))
        try:
            with mode if inside else warnings.catch_warnings():
                return str(READS[name](torch, y))
        except Exception as e:
            return f"{type(e).__name__}: {e}"
    assert answer(torch, True) == answer(theirs, True)
    if name not in ("device", "constant", "layer", "ones", "repeats"):
        assert answer(torch, False) == answer(theirs, False)


@both
def test_fake_tensors_do_not_mix_with_others(torch: Any) -> None:
    FakeTensorMode, x = fake_tensors(torch).FakeTensorMode, torch.ones(2)
    for inside in (True, False):
        mode = FakeTensorMode()
        y = mode.from_tensor(x)
        with mode if inside else warnings.catch_warnings():
            with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTensors first or instantiate"):
                y + x
            with pytest.raises(AssertionError, match="Mixing fake modes NYI"):
                y + FakeTensorMode().from_tensor(x)
    with mode:
        assert x.shape == (2,) and x.size(0) == 2 and x.is_floating_point()
        with pytest.raises(AssertionError, match="Please convert"):
            x + x
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        found = [mode.from_tensor(x) + x, x + x]
    assert [type(y).__name__ for y in found] == ["FakeTensor"] * 2 and found[0].fake_mode is mode


@both
def test_autocast_reaches_into_operators_and_can_be_switched_there(torch: Any) -> None:
    def kernel(x):  # type: ignore[no-untyped-def]
        with torch.autocast("cpu", enabled=False):
            plain = x @ x
        return plain.to((x @ x).dtype)
    kernel.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
    op, x = torch.library.custom_op("autocasts::inside", kernel, mutates_args=()), torch.ones(2, 2)
    with torch.autocast("cpu"):
        found = [op(x), torch.ops.autocasts.inside(x), x @ x]
    assert [y.dtype for y in found] == [torch.bfloat16] * 3 and (x @ x).dtype is torch.float32
    op._lib._destroy()
