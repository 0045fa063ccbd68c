"""A batch of gradients in one pass: for every row of the table of operations what a pass for each gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import opdb
import pytest
from opdb import Op
from test_ops import SMOOTH, Call

import retrograd as torch


def batches(call: Call, count: int) -> list[Any]:
    rng = np.random.default_rng(3)
    return [torch.from_numpy(rng.uniform(-1, 1, (count, *y.shape)).astype(y.detach().numpy().dtype)) for y in call.smooth()]


def jacobian(call: Call, seeds: list[Any], graph: bool) -> Any:
    return torch.autograd.grad(call.smooth(), call.leaves, seeds, retain_graph=True, create_graph=graph, allow_unused=True,
                               is_grads_batched=True)


@pytest.mark.parametrize("op", [op for op in SMOOTH if opdb.f64 in op.dtypes], ids=str)
def test_rows_of_one_pass(op: Op) -> None:
    for sample in op.make(opdb.f64):
        if not sample.grad:
            continue
        call = Call(op, sample, grad=True)
        sizes = {2, 3, *[n for y in call.smooth() for n in y.shape[:1]], *[n for x in call.leaves for n in x.shape[:1]]}
        for count in sorted(n for n in sizes if n > 1):
            seeds = batches(call, count)
            for graph in (False, True):
                got = jacobian(call, seeds, graph)
                rows = [torch.autograd.grad(call.smooth(), call.leaves, [s[k] for s in seeds], retain_graph=True,
                                            create_graph=graph, allow_unused=True) for k in range(count)]
                for g, column in zip(got, zip(*rows)):
                    assert (g is None) == (column[0] is None), f"{op}{sample}"
                    if g is None:
                        continue
                    want = torch.stack(column)
                    assert g.shape == want.shape and g.dtype is want.dtype, f"{op}{sample}"
                    np.testing.assert_allclose(g.detach().numpy(), want.detach().numpy(), 1e-12, 1e-13, err_msg=f"{op}{sample}")
                    if not graph or not g.requires_grad or not (op.order2 and sample.order2):
                        continue
                    leaves = [x for x in call.leaves if x.requires_grad]
                    ways = torch.linspace(-1, 1, g.numel(), dtype=g.dtype).reshape(g.shape)
                    pairs = [torch.autograd.grad((y * ways).sum(), leaves, retain_graph=True, allow_unused=True)
                             for y in (g, want)]
                    for a, b in zip(*pairs):
                        a, b = [torch.zeros(()) if x is None else x.detach() for x in (a, b)]
                        np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-10, 1e-11, err_msg=f"second order of {op}{sample}")
