"""Calls at the edges of the functions' domains give and raise what PyTorch gives and raises."""

from __future__ import annotations

from typing import Any

import pytest
from random_programs.program import difference

import retrograd

BYTES = "torch.tensor([1, 0], dtype=torch.uint8)"
NONE = "torch.tensor([], dtype=torch.int64)"
CASES: dict[str, list[str]] = {
    "a tensor of bytes is a mask for index_put, too": [
        f"torch.zeros(2, 2).index_put_(({BYTES},), torch.tensor(9.))",
        f"torch.zeros(2, 2).index_put_(({BYTES}, torch.tensor([1])), torch.tensor([9.]))",
        f"torch.zeros(2, 2).index_put(({BYTES},), torch.tensor([9.]), accumulate=True)",
        f"torch.zeros(2, 2)[None, {BYTES}].fill_(1)",
        "torch.zeros(2, 2).index_put((torch.tensor([1.]),), torch.tensor(9.))",
        "torch.zeros(2, 2).index_put((torch.tensor(1, dtype=torch.int16),), torch.tensor(9.))",
    ],
    "numbers out of range are no error where nothing is picked": [
        "torch.ones(3, 2)[torch.tensor([0, 9]), :0]", "torch.ones(2, 0)[torch.tensor([7])]",
        f"torch.ones(0, 2)[{NONE}, torch.tensor([7])]", "torch.ones(0, 2)[torch.tensor([7])]",
        "torch.ones(3, 0).index_fill(0, torch.tensor([7]), 1)",
        "torch.ones(3, 0).index_copy(0, torch.tensor([5]), torch.ones(1, 0))",
        "torch.ones(0, 2).index_add(0, torch.tensor([0]), torch.ones(1, 2))", "torch.ones(0).take(torch.tensor([0]))",
        "torch.ones(0).put(torch.tensor([0]), torch.ones(1))", "torch.ones(0, 3).index_select(0, torch.tensor([0]))",
    ],
    "the first number out of range is named, and what is wrong before it": [
        "torch.ones(3, 2)[torch.tensor([0, 9]), torch.tensor([7, 0])]", "torch.ones(3, 2).take(torch.tensor([7, -9]))",
        "torch.ones(3, 2).gather(0, torch.tensor([[0, 7], [-3, 0]]))",
        "torch.ones(3, 2).scatter(0, torch.tensor([[0, 7], [-3, 0]]), 1.)",
        "torch.ones(2, 2).index_put((torch.tensor([7]),), torch.ones(3, dtype=torch.int64))",
        "torch.ones(2, 2).index_put((torch.tensor([7]),), torch.ones(2, dtype=torch.int64))",
        "torch.ones(3, 2).index_add(1, torch.tensor([0]), torch.ones(1))",
        "torch.tensor(1.).index_add(0, torch.tensor([0, 0]), torch.tensor(1.))",
        "torch.ones(3, 2).index_fill(7, torch.tensor([0.]), 1)",
        "torch.ones(3, 2).index_copy(0, torch.tensor([0]), torch.tensor(1.))",
        "torch.take_along_dim(torch.tensor(1.), torch.tensor(0), 0)",
        "torch.slice_scatter(torch.tensor(1.), torch.tensor(1.), 0)",
        "torch.ones(3, dtype=torch.uint8).index_add(0, torch.tensor([0]), torch.ones(1, dtype=torch.uint8), alpha=-1.7)",
        "torch.ones(3, dtype=torch.bool).index_reduce(0, torch.tensor([0]), torch.ones(1, dtype=torch.bool), 'mean')",
        "torch.ones(3).scatter_reduce(0, torch.tensor([0]), torch.ones(3) * 5, 'max')",
    ],
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_calls_agree(name: str) -> None:
    import torch

    found = [difference([*call.split("; ")], retrograd, torch) for call in CASES[name]]
    assert [str(f) for f in found if f] == []


@pytest.mark.oracle
def test_gradients_of_reductions_into_a_transposed_tensor_count_who_shares_an_extreme() -> None:
    import torch

    def run(lib: Any) -> Any:
        x = lib.tensor([[1.0, 5.0], [2.0, 0.0], [3.0, 4.0]], requires_grad=True)
        y = lib.tensor([[9.0, 2.0, 1.0]], requires_grad=True)
        x.t().index_reduce(0, lib.tensor([0]), y, "amax").sum().backward()
        return x.grad.tolist(), y.grad.tolist()

    assert run(retrograd) == run(torch)
