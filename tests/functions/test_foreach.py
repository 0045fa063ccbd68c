"""torch._foreach_*: values, gradients, edits in place and errors beside PyTorch's."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import retrograd
from retrograd._functions import LATER
from retrograd._functions.foreach import UNARY

pytestmark = pytest.mark.oracle
NAMES = sorted(name for name in LATER if name.startswith("_foreach_"))
VALUES = [np.array([0.3, 0.8, 0.45]), np.array([[0.25, 0.6]]), np.array(0.7)]
OTHERS = [np.array([0.5, 0.2, 0.35]), np.array([[0.9], [0.4]]), np.array(0.15)]


@pytest.fixture
def real() -> Any:
    return pytest.importorskip("torch")


def tensors(torch: Any, arrays: list[Any], dtype: str, grad: bool = False) -> list[Any]:
    made = [torch.tensor(a.tolist(), dtype=getattr(torch, dtype)) for a in arrays]
    return [t.requires_grad_() for t in made] if grad else made


def calls(name: str) -> list[Any]:
    """Arguments after the first list, as functions of (torch, a list of other tensors)."""
    base = name.removeprefix("_foreach_").rstrip("_")
    if base in UNARY or base in ("zero", "max", "clone"):
        return [lambda torch, b: ()]
    if base in ("norm", "powsum"):
        return [lambda torch, b, p=p: p for p in ((), (1,), (3.0,), (2, "float64"))]
    if base == "copy":
        return [lambda torch, b: (b,)]
    each = [lambda torch, b: (2,), lambda torch, b: (0.5,), lambda torch, b: ([0.5, 2, 0.25],), lambda torch, b: (b,)]
    if base == "lerp":
        return [lambda torch, b, c=c: (b, *c(torch, b)) for c in each]
    if base in ("addcmul", "addcdiv"):
        return [lambda torch, b, c=c: (b, b, *c) for c in ((), (0.5,), ([0.5, 2, 0.25],))] + [
            lambda torch, b: (b, b, torch.tensor([0.5, 2.0, 0.25]))]
    if base in ("add", "mul", "div"):
        each.append(lambda torch, b: (torch.tensor(0.5),))
    return each



def outcome(torch: Any, call: Any) -> Any:
    try:
        found = call()
    except (RuntimeError, TypeError, NotImplementedError) as error:
        return type(error), str(error).splitlines()[0].partition("  (Could")[0]
    return [(str(t.dtype), tuple(t.shape), t.detach().double().numpy()) for t in found]


def same(want: Any, got: Any, near: float) -> None:
    if isinstance(want, tuple) or isinstance(got, tuple):
        assert want == got
        return
    assert [w[:2] for w in want] == [g[:2] for g in got]
    for w, g in zip(want, got):
        np.testing.assert_allclose(g[2], w[2], rtol=near, atol=near)


def arguments(torch: Any, given: Any, others: list[Any]) -> tuple[Any, ...]:
    return tuple(getattr(torch, a) if isinstance(a, str) else a for a in given(torch, others))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "bool"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "_foreach_mm"])
def test_values_are_pytorchs(real: Any, name: str, dtype: str) -> None:
    near = {"float64": 1e-12, "float32": 1e-5}.get(dtype, 1e-2)
    shapes = [a.shape for a in VALUES]
    for given in calls(name):
        found = []
        for torch in (real, retrograd):
            xs, others = tensors(torch, VALUES, dtype), tensors(torch, OTHERS, dtype)
            if name.endswith("_"):
                others = [o if o.shape == s else o[:1] for o, s in zip(others, shapes)]

            def call(torch: Any = torch, xs: Any = xs, others: Any = others) -> Any:
                y = getattr(torch, name)(xs, *arguments(torch, given, others))  # noqa: B023
                assert (y is xs) if name.endswith("_") else type(y) is tuple
                return y
            found.append(outcome(torch, call))
        if name == "_foreach_powsum" and dtype == "bool" and isinstance(found[0], tuple):
            found[0] = found[0][0], found[0][1].replace("'Long'", "'Bool'")        # PyTorch's names another dtype
        same(*found, near)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("_") and name not in (
    "_foreach_clone", "_foreach_mm", "_foreach_powsum")])
def test_gradients_are_pytorchs(real: Any, name: str) -> None:
    compared = 0
    for given in calls(name):
        found: list[Any] = [[], []]
        for i, torch in enumerate((real, retrograd)):
            some = slice(2 if name == "_foreach_addcdiv" else 3)    # PyTorch's fails at a 0-dim tensor
            xs, others = (tensors(torch, arrays[some], "float64", True) for arrays in (VALUES, OTHERS))
            args = arguments(torch, given, others)
            if name.startswith("_foreach_addc") and isinstance(args[-1], (list, torch.Tensor)) and len(args) == 3:
                continue                        # PyTorch's has no derivative, or breaks on a 0-dim tensor
            ys = getattr(torch, name)(xs, *args)
            grads = torch.autograd.grad(sum((y * y).sum() for y in ys), [*xs, *others], allow_unused=True)
            found[i] = [None if g is None else g.numpy() for g in grads]
        for want, got in zip(*found):
            assert (want is None) == (got is None)
            if want is not None:
                np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
                compared += 1
    assert compared


def test_edits_in_place_are_recorded() -> None:
    x = retrograd.tensor([1.0, 2.0], requires_grad=True)
    y = [x * 1]
    retrograd._foreach_mul_(y, 3.0)
    retrograd._foreach_add_(y, [x])
    y[0].sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_matrix_products(real: Any) -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for torch in (real, retrograd):
        (y, z) = torch._foreach_mm([torch.tensor(a), torch.tensor(a)], (torch.tensor(b), torch.tensor(b * 2)))
        assert (y.numpy() == a @ b).all() and (z.numpy() == a @ b * 2).all()


WRONG: list[Any] = [
    lambda T, a: T._foreach_add([], []), lambda T, a: T._foreach_add([], 1.0), lambda T, a: T._foreach_sqrt([]),
    lambda T, a: T._foreach_add([], a), lambda T, a: T._foreach_norm([]), lambda T, a: T._foreach_mm([], a),
    lambda T, a: T._foreach_add(a, a[:1]), lambda T, a: T._foreach_add(a, [1.0]), lambda T, a: T._foreach_mul(a, T.ones(1)),
    lambda T, a: T._foreach_div_(a, T.ones(2)), lambda T, a: T._foreach_lerp(a, a[:1], 0.5),
    lambda T, a: T._foreach_lerp(a, a, [0.5]), lambda T, a: T._foreach_lerp(a, a, a[:1]),
    lambda T, a: T._foreach_addcmul(a, a, a[:1]), lambda T, a: T._foreach_addcmul_(a, a, a, [1.0]),
    lambda T, a: T._foreach_addcmul(a, a, a, T.ones(3)), lambda T, a: T._foreach_addcmul(a, a, a, T.tensor(1.0)),
    lambda T, a: T._foreach_pow(a, [1.0]), lambda T, a: T._foreach_copy_(a, a[:1]), lambda T, a: T._foreach_mm(a, a[:1]),
    lambda T, a: T._foreach_max([T.ones(0)]), lambda T, a: T._foreach_norm([T.ones(0)], float("inf")),
    lambda T, a: T._foreach_norm([T.ones(2, dtype=T.int64)]), lambda T, a: T._foreach_powsum([T.ones(2, dtype=T.int64)]),
    lambda T, a: T._foreach_add([1], 2), lambda T, a: T._foreach_sqrt(3), lambda T, a: T._foreach_norm(a, "x"),
    lambda T, a: T._foreach_add(a), lambda T, a: T._foreach_add([T.ones(2)], [T.ones(3)]),
    lambda T, a: T._foreach_add_([T.ones(2, requires_grad=True)], 1), lambda T, a: T._foreach_sub([T.ones(2) > 0], True),
    lambda T, a: T._foreach_div_([T.ones(2, dtype=T.int64)], 2), lambda T, a: T._foreach_neg([T.ones(2) > 0]),
]


@pytest.mark.parametrize("i", range(len(WRONG)))
def test_errors_are_pytorchs(real: Any, i: int) -> None:
    found = [outcome(torch, lambda torch=torch: WRONG[i](torch, tensors(torch, VALUES[:2], "float32"))) for torch in (
        real, retrograd)]
    assert isinstance(found[0], tuple) and found[0] == found[1]


def test_arguments_by_name(real: Any) -> None:
    for call in (lambda T, a: T._foreach_add(self=a, other=a), lambda T, a: T._foreach_add(a, scalar=3),
                 lambda T, a: T._foreach_add(a, a, alpha=2), lambda T, a: T._foreach_add(a, T.tensor(2.0), alpha=3),
                 lambda T, a: T._foreach_mul(a, scalars=[1, 2, 3]), lambda T, a: T._foreach_lerp(a, a, weights=a),
                 lambda T, a: T._foreach_addcmul(a, tensor1=a, tensor2=a, value=3), lambda T, a: T._foreach_pow(2.0, a),
                 lambda T, a: T._foreach_addcdiv(a, a, a, scalars=[1, 2, 3]), lambda T, a: T._foreach_pow(a, exponent=2),
                 lambda T, a: T._foreach_clone(a, memory_format=T.preserve_format)):
        same(*(outcome(torch, lambda torch=torch, call=call: call(torch, tensors(torch, VALUES, "float64"))) for torch in (
            real, retrograd)), near=1e-12)


def test_tensors_are_grouped_as_pytorch_groups_them(real: Any) -> None:
    def found(torch: Any, call: Any) -> Any:
        utils = importlib.import_module(f"{torch.__name__}.utils._foreach_utils")
        a = [torch.ones(1), torch.ones(2, dtype=torch.float64), torch.ones(3)]
        try:
            groups = call(utils._group_tensors_by_device_and_dtype, torch, a)
        except RuntimeError as error:
            return str(error).partition("  (Could")[0]
        return {str(key): ([[None if t is None else (str(t.dtype), t.tolist()) for t in lst] for lst in lists], places)
                for key, (lists, places) in groups.items()}

    for call in (lambda f, T, a: f([a, a]), lambda f, T, a: f([a, a], with_indices=True),
                 lambda f, T, a: f([a, [None] * 3], True),
                 lambda f, T, a: f([[None] * 3, a]), lambda f, T, a: f([a, []]), lambda f, T, a: f([]), lambda f, T, a: f([[]]),
                 lambda f, T, a: f([a, [x.half() for x in a]]), lambda f, T, a: f([a, [T.tensor(1.0) for x in a]]),
                 lambda f, T, a: f([[T.ones(1).half()], [T.ones(1).bfloat16()]])):
        assert found(retrograd, call) == found(real, call)
    with pytest.raises(RuntimeError, match=r"Expected lists of 3 tensors or of none, but got \[3, 2\]"):
        retrograd.utils._foreach_utils._group_tensors_by_device_and_dtype([[retrograd.ones(1)] * 3, [retrograd.ones(1)] * 2])


def test_what_optimizers_ask_of_devices(real: Any) -> None:
    for torch in (real, retrograd):
        utils = importlib.import_module(f"{torch.__name__}.utils._foreach_utils")
        cpu = torch.device("cpu")
        assert utils._has_foreach_support([torch.ones(1), None], cpu)
        assert not utils._has_foreach_support([torch.nn.Parameter(torch.ones(1))], cpu)
        assert not utils._has_foreach_support([3], cpu) and not utils._device_has_foreach_support(torch.device("mps"))
        assert "cpu" in utils._get_fused_kernels_supported_devices()
        assert "cpu" not in utils._get_foreach_kernels_supported_devices()
        assert utils._foreach_supported_types[0] is torch.Tensor       # torch.distributed adds its own
