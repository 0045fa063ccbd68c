"""What a function under torch.func may not do to tensors that it was not given, as in PyTorch."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest

import retrograd

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script")          # PyTorch's make_dual calls it


def under_no_grad(torch: Any, c: Any) -> None:
    with torch.no_grad():
        c.mul_(2)


def of_an_outer_function(torch: Any, c: Any) -> None:
    def outer(x: Any) -> Any:
        made = torch.zeros(2)
        return torch.func.grad(lambda y: (y * made.add_(1)).sum())(x).sum()

    torch.func.grad(outer)(torch.ones(2))


EDITS: dict[str, Callable[[Any, Any], Any]] = {
    "an edit": lambda torch, c: c.mul_(2), "an operator": lambda torch, c: c.__iadd__(1),
    "an item": lambda torch, c: c.__setitem__(0, 1.0), "a view": lambda torch, c: c.view(2).mul_(2),
    "a part": lambda torch, c: c[:1].add_(1), "its alias": lambda torch, c: c.detach().mul_(2),
    "its data": lambda torch, c: c.data.mul_(2), "its shape": lambda torch, c: c.t_(), "its size": lambda torch, c: c.resize_(2),
    "filled": lambda torch, c: c.fill_(1.0), "zeroed": lambda torch, c: c.zero_(),
    "copied to": lambda torch, c: c.copy_(torch.zeros(2)),
    "drawn": lambda torch, c: c.uniform_(0, 1), "in a layer": lambda torch, c: torch.nn.functional.relu(c, inplace=True),
    "its history": lambda torch, c: c.detach_(), "a truth": lambda torch, c: c.logical_not_(),
    "truths": lambda torch, c: c.logical_and_(c), "under no_grad": under_no_grad,
    "of an outer function": of_an_outer_function,
    "requires_grad_()": lambda torch, c: c.requires_grad_(False),
    "backward()": lambda torch, c: torch.ones(1, requires_grad=True).backward(),
}
ALLOWED: dict[str, Callable[[Any, Any], Any]] = {
    "a new tensor": lambda torch, c: torch.zeros(2).add_(1), "its view": lambda torch, c: torch.zeros(2)[:1].add_(1),
    "the alias of its view": lambda torch, c: torch.zeros(2)[:1].detach().add_(1), "a copy": lambda torch, c: c.clone().add_(1),
    "a result": lambda torch, c: (c * 2).mul_(c), "out=": lambda torch, c: torch.add(c, 1, out=torch.zeros(2)),
    "out= outside": lambda torch, c: torch.add(torch.ones(2), 1, out=c),
    "given data": lambda torch, c: torch.tensor([1.0]).mul_(2),
    "a layer of its own": lambda torch, c: torch.nn.BatchNorm1d(2)(torch.ones(2, 2)),
    "a parameter": lambda torch, c: torch.nn.Parameter(torch.ones(2)).data.add_(1),
    "of a function inside": lambda torch, c: torch.func.grad(lambda y: (y * 2).mul_(y).sum())(torch.ones(2)).add_(1),
    "copied deeply": lambda torch, c: copy.deepcopy(c).add_(1), "the class's": lambda torch, c: torch.Tensor([1.0]).add_(1),
}


def outcome(torch: Any, edit: Callable[[Any, Any], Any], transform: str) -> tuple[str, list[float]]:
    c, x = torch.ones(2), torch.ones(2)

    def f(x: Any) -> Any:
        edit(torch, c)
        return x.sum()

    try:
        if transform in ("vjp", "linearize"):
            getattr(torch.func, transform)(f, x)
        elif transform == "jvp":
            torch.func.jvp(f, (x,), (x,))
        else:
            getattr(torch.func, transform)(f)(x)
    except RuntimeError as error:
        return re.sub(r" \(aten::\w+(\.\w+)?\)", "", str(error)), c.tolist()
    return "done", c.tolist()


@pytest.mark.oracle
@pytest.mark.parametrize("transform", ["grad", "vjp", "jvp", "jacrev", "jacfwd", "hessian"])
@pytest.mark.parametrize("about", [*EDITS, *ALLOWED])
def test_captured_tensors_are_not_edited(about: str, transform: str) -> None:
    import torch

    edit = {**EDITS, **ALLOWED}[about]
    ours = outcome(retrograd, edit, transform)
    assert (ours[0] == "done") == (about in ALLOWED)
    if about != "drawn" or transform not in ("jacfwd", "hessian"):
        assert ours == outcome(torch, edit, transform)


def test_a_function_may_edit_its_tensors_again_once_a_transform_has_failed() -> None:
    c = retrograd.ones(2)
    with pytest.raises(RuntimeError, match="mutate a captured Tensor"):
        retrograd.func.grad(lambda x: (x * c.mul_(2)).sum())(retrograd.ones(2))
    assert c.mul_(2).tolist() == [2.0, 2.0]
