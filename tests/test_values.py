"""Values, gradients and strides at the places that are easily wrong, beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch

BASES: dict[str, Callable[[Any], Any]] = {
    "whole": lambda lib: lib.arange(24.0).reshape(4, 6),
    "columns": lambda lib: lib.arange(24.0).reshape(4, 6)[:, :3],
    "steps": lambda lib: lib.arange(24.0).reshape(4, 6)[::2, ::3],
    "transposed": lambda lib: lib.arange(24.0).reshape(4, 6).t(),
    "rows of it": lambda lib: lib.arange(24.0).reshape(4, 6).t()[::2],
    "expanded": lambda lib: lib.arange(24.0)[:4].expand(3, 4),
    "from the middle": lambda lib: lib.arange(24.0).reshape(4, 6)[1:, 2:],
    "overlapping": lambda lib: lib.arange(24.0).as_strided((3, 4), (2, 1)),
}
LAID = [((2, 2), (1, 2), None), ((2, 2), (1, 2), 1), ((3,), (0,), 0), ((2, 2), (1, 1), 2), ((2, 2), (6, 1), 0),
        ((2, 3), (3, 1), None), ((), (), 3), ((0, 2), (1, 1), 0), ((3, 2), (4, 2), 1)]  # fmt: skip


@pytest.fixture(scope="module")
def pytorch() -> Any:
    return pytest.importorskip("torch")


def outcome(work: Callable[..., Any], *args: Any) -> Any:
    try:
        return work(*args)
    except Exception as e:
        return type(e).__name__, str(e).split("\n")[0]


def laid(lib: Any, base: str, size: Any, stride: Any, offset: Any, how: str) -> Any:
    """The values and the gradient of as_strided on a leaf, on a product, on a copy, or written through."""
    x = BASES[base](lib).detach().requires_grad_()
    of = {"leaf": x, "product": x * 2, "copy": x, "written": x.clone()}[how]
    y = lib.as_strided_copy(of, size, stride, offset) if how == "copy" else of.as_strided(size, stride, offset)
    if how == "written":
        y.mul_(3)
        y = of
    (g,) = lib.autograd.grad((y * lib.arange(1.0, 1 + y.numel()).reshape(y.shape)).sum(), x)
    return y.tolist(), g.tolist(), g.stride()


@pytest.mark.oracle
@pytest.mark.parametrize("base", BASES)
def test_as_strided_of_any_memory(base: str, pytorch: Any) -> None:
    """A gradient lands where the base shows the memory: gaps take none, a place shown twice its mean."""
    for size, stride, offset in LAID:
        for how in ("leaf", "product", "copy", "written"):
            if how == "written" and (stride == (0,) or stride == (1, 1)):
                continue                                # an edit of one place twice
            case = (base, size, stride, offset, how)
            assert outcome(laid, torch, *case) == outcome(laid, pytorch, *case), case


@pytest.mark.parametrize("base", BASES)
def test_second_derivative_of_as_strided(base: str) -> None:
    for size, stride, offset in LAID[:-1]:
        x = BASES[base](torch).double().detach()
        x = torch.from_numpy(np.array(x.numpy())) if base in ("expanded", "overlapping") else x
        x.requires_grad_()
        if x.storage_offset() or not x.is_contiguous():
            offset = None
        if not inside(x, size, stride, offset):
            continue
        assert torch.autograd.gradcheck(squares, (x, size, stride, offset))
        assert torch.autograd.gradgradcheck(squares, (x, size, stride, offset))


def squares(x: Any, size: Any, stride: Any, offset: Any) -> Any:
    return x.as_strided(size, stride, offset) ** 2


def inside(x: Any, size: Any, stride: Any, offset: Any) -> bool:
    """Does the base itself show all that the view shows?  (What lies in gaps is no function of it.)"""
    at = [(offset or 0) + sum(i * s for i, s in zip(where, stride)) for where in np.ndindex(*size)]
    own = {sum(i * s for i, s in zip(where, x.stride())) for where in np.ndindex(*x.shape)}
    return set(at) <= own
