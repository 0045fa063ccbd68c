"""torch.utils.benchmark.Fuzzer: for a seed PyTorch's parameters and tensors, and its errors."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd as torch


def of(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.utils.benchmark")


def drawn(torch: Any) -> list[Any]:
    B = of(torch)
    fuzzer = B.Fuzzer(
        [B.FuzzedParameter("k0", 3, 90, "loguniform"), [B.FuzzedParameter("k1", 1, 9, "uniform"),
         B.FuzzedParameter("x", 0.5, 2, "uniform")], B.FuzzedParameter("dim", 1, 3, "uniform", strict=True)],
        [B.FuzzedTensor("a", ("k0", "k1", 2), ("k1", 2), 0.5, 4, 400, 4000, "dim"),
         [B.FuzzedTensor("b", (3, "k1"), probability_contiguous=0.2, dtype=torch.int64),
          B.FuzzedTensor("c", ("k1",), tensor_constructor=lambda size, dtype, k0, **_: torch.full(size, k0, dtype=dtype))]],
        [lambda p: p["k0"] != 5, lambda p: p["x"] < 1.9], 7)
    found: list[Any] = []
    for tensors, told, params in fuzzer.take(25):
        found += [params, {name: (x.numpy(), x.stride()) for name, x in tensors.items()}, told]
    assert 0 < fuzzer.rejection_rate < 1
    return [*found, fuzzer.rejection_rate]


@pytest.mark.oracle
def test_a_seed_gives_pytorchs_parameters_and_tensors() -> None:
    import torch as theirs
    for got, want in zip(drawn(torch), drawn(theirs), strict=True):
        np.testing.assert_equal(got, want)


def test_values_with_probabilities_which_may_be_other_parameters() -> None:
    B = of(torch)                               # PyTorch refuses them all: it asks for a sum that is not 1
    fuzzer = B.Fuzzer(
        [B.FuzzedParameter("n", 3, 9, "uniform"), B.FuzzedParameter("m", distribution={1: 0.5, B.ParameterAlias("n"): 0.5})],
        [B.FuzzedTensor("x", ("m",))], seed=1)
    sizes = [(tensors["x"].numel(), params["n"]) for tensors, _, params in fuzzer.take(40)]
    assert {1} < {m for m, _ in sizes} and all(m in (1, n) for m, n in sizes)
    around = [B.FuzzedParameter(a, distribution={B.ParameterAlias(b): 1.0}) for a, b in ("ab", "ba")]
    with pytest.raises(ValueError, match="ParameterAlias cycle detected"):
        next(B.Fuzzer(around, []).take(1))


@both
def test_what_a_fuzzer_refuses(torch: Any) -> None:
    B = of(torch)
    for wrong, words in {
        lambda: B.FuzzedParameter("a", 1, 2, "normal"): "Unknown distribution: normal",
        lambda: B.FuzzedParameter("a", distribution={1: -1, 2: 2}): "Probabilities cannot be negative",
        lambda: B.FuzzedParameter("a", 1, distribution={1: 0.5, 2: 0.4}): "When passing a custom distribution, 'minval'",
        lambda: B.Fuzzer([B.FuzzedParameter("a", 1, 2, "uniform")], [B.FuzzedTensor("a", (1,))]): "Duplicate names",
        lambda: next(B.Fuzzer([B.FuzzedParameter("a", 1, 2, "uniform")], [], [lambda p: False]).take(1)): "Failed to generate",
    }.items():
        with pytest.raises((AssertionError, ValueError), match=words):
            wrong()
