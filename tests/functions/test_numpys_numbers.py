"""NumPy's scalars and arrays, and tensors of one element, where functions take numbers: as in PyTorch."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd

GIVEN: dict[str, Callable[[Any], Any]] = {
    "bool_": lambda T: np.bool_(True), "int8": lambda T: np.int8(1), "int64": lambda T: np.int64(1),
    "float16": lambda T: np.float16(1),
    "float32": lambda T: np.float32(1), "float64": lambda T: np.float64(1), "0-dim int": lambda T: np.array(1),
    "tensor": lambda T: T.tensor(1), "tensor of uint8": lambda T: T.tensor(1, dtype=T.uint8), "[tensor]": lambda T: T.tensor([1]),
    "float tensor": lambda T: T.tensor(1.0), "two": lambda T: T.tensor([1, 0]),
}
# (torch, a matrix, what is given): where a number is asked for
NUMBERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "clamp": lambda T, x, s: x.clamp(s), "clamp_": lambda T, x, s: x.clamp_(max=s), "lerp": lambda T, x, s: T.lerp(x, x + 1, s),
    "leaky_relu": lambda T, x, s: T.nn.functional.leaky_relu(x, s), "alpha": lambda T, x, s: T.add(x, x, alpha=s),
    "addcmul": lambda T, x, s: T.addcmul(x, x, x, value=s), "masked_fill": lambda T, x, s: x.masked_fill(x > 0, s),
    "fill_": lambda T, x, s: x.fill_(s), "full": lambda T, x, s: T.full((2,), s), "threshold": lambda T, x, s:
    T.nn.functional.threshold(x, s, s), "where": lambda T, x, s: T.where(x > 0, x, s), "fmod": lambda T, x, s: T.fmod(x, s),
    "eq": lambda T, x, s: T.eq(x, s), "tensor ** s": lambda T, x, s: T.pow(x, s), "s ** tensor": lambda T, x, s: T.pow(s, x),
    "isclose": lambda T, x, s: T.isclose(x, x, s), "arange": lambda T, x, s: T.arange(s),
    "linspace": lambda T, x, s: T.linspace(0, s, 3),
    "add to int8": lambda T, x, s: T.ones(2, dtype=T.int8).add(s), "mul of bool": lambda T, x, s: (x > 0).mul(s),
    "add to a 0-dim int8": lambda T, x, s: T.ones((), dtype=T.int8).add(s),
    "int32 &": lambda T, x, s: T.ones(2, dtype=T.int32) & s,
    "correction": lambda T, x, s: x.std(0, correction=s), "keepdim": lambda T, x, s: x.sum(0, keepdim=s),
    "eps": lambda T, x, s: x.cosine_similarity(x, 0, s),
}
# where an int or a list of them is
INTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "eye": lambda T, x, s: T.eye(s), "kthvalue": lambda T, x, s: x.kthvalue(s)[0], "topk": lambda T, x, s: x.topk(s)[0],
    "randperm": lambda T, x, s: T.randperm(s), "bincount": lambda T, x, s: T.bincount(T.tensor([0, 1]), minlength=s),
    "multinomial": lambda T, x, s: T.multinomial(x.abs(), s).shape, "select": lambda T, x, s: x.select(0, s),
    "narrow": lambda T, x, s: x.narrow(0, s, 1), "triu": lambda T, x, s: x.triu(s), "randint": lambda T, x, s: T.randint(s, (2,)),
    "tensor_split": lambda T, x, s: x.tensor_split(s)[0], "sum": lambda T, x, s: x.sum(s),
    "sum of dims": lambda T, x, s: x.sum((s,)),
    "mean": lambda T, x, s: x.mean(dim=s), "unsqueeze": lambda T, x, s: x.unsqueeze(s), "zeros": lambda T, x, s: T.zeros(s),
    "reshape": lambda T, x, s: x.reshape(s, 6), "view": lambda T, x, s: x.view([s, 6]), "repeat": lambda T, x, s: x.repeat(s, 2),
    "split list": lambda T, x, s: x.split([s, 1])[0],
    "conv1d": lambda T, x, s: T.nn.functional.conv1d(x[None], x[None], stride=s),
    "stride": lambda T, x, s: x.stride(s), "size": lambda T, x, s: x.size(s), "chunk": lambda T, x, s: x.chunk(s)[0],
}
# PyTorch fails an assertion of its own, or refuses what works here
BESIDES = {(name, "0-dim int") for name in ("sum", "mean", "conv1d", "size", "stride")}
BESIDES |= {("size", "[tensor]"), ("stride", "[tensor]")}


def outcome(T: Any, run: Callable[[Any, Any, Any], Any], given: str) -> Any:
    x = T.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            T.manual_seed(0)
            y = run(T, x, GIVEN[given](T))
    except Exception as error:
        return type(error).__name__
    return (str(y.dtype).removeprefix("torch."), y.tolist()) if isinstance(y, T.Tensor) else y


@pytest.mark.oracle
@pytest.mark.parametrize("name", [*NUMBERS, *INTS])
def test_what_stands_for_a_number_does_so_as_in_pytorch(name: str) -> None:
    import torch

    run = {**NUMBERS, **INTS}[name]
    differ = {given: (ours, theirs) for given in GIVEN if (name, given) not in BESIDES
              if (ours := outcome(retrograd, run, given)) != (theirs := outcome(torch, run, given))}
    assert not differ


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "& 1j": lambda T, x: x & 1j, "| 1+0j": lambda T, x: x | (1 + 0j), "<< 1j": lambda T, x: x << 1j,
    "^ float32": lambda T, x: x ^ np.float32(2), "int8 ** 128": lambda T, x: x.to(T.int8) ** 128,
    "uint8 ** 256": lambda T, x: x.to(T.uint8) ** 256, "int32 ** 2**31": lambda T, x: x.to(T.int32) ** 2**31,
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", REFUSED)
def test_numbers_that_bits_and_powers_refuse(name: str) -> None:
    import torch

    said = []
    for T in (retrograd, torch):
        with pytest.raises((RuntimeError, NotImplementedError)) as caught:
            REFUSED[name](T, T.tensor([1, 2]))
        said.append((caught.type, str(caught.value)))
    assert said[0] == said[1]


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:__array")              # PyTorch's tensors lack arguments that NumPy 2 wants
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float32", "float64", "bool"])
def test_an_array_beside_a_tensor_meets_it_by_numpys_rules(dtype: str) -> None:
    import torch

    for tensors in ("float32", "int32", "int8"):
        for shape in ((), (1,), (3,), (2, 3)):
            array = np.ones(shape, dtype)
            for f in (lambda x, a: x + a, lambda x, a: x * a, lambda x, a: x / a, lambda x, a: x ** (a > 0)):
                ours, theirs = (f(T.ones(2, 3, dtype=getattr(T, tensors)), array) for T in (retrograd, torch))
                assert str(ours.dtype) == str(theirs.dtype) and ours.tolist() == theirs.tolist()
        ours, theirs = (T.ones(2, 3, dtype=getattr(T, tensors)) @ np.ones((3, 2), dtype) for T in (retrograd, torch))
        assert str(ours.dtype) == str(theirs.dtype) and ours.tolist() == theirs.tolist()


def test_an_array_beside_a_tensor_takes_no_gradient_from_it() -> None:
    w = retrograd.ones(2, 3, requires_grad=True)
    for y in (w * np.array([1, 2, 3]), w @ np.ones((3, 2)), w + np.array(2)):
        assert y.dtype is retrograd.float64
        g, = retrograd.autograd.grad(y.sum(), w)
        assert g.dtype is retrograd.float32 and g.shape == w.shape


def test_a_tensor_of_one_int_is_a_size_of_split() -> None:
    x = retrograd.arange(3)
    for size in (retrograd.tensor(2), retrograd.tensor([2]), np.int64(2)):
        assert [part.tolist() for part in x.split(size)] == [[0, 1], [2]]


@pytest.mark.parametrize("write", [
    lambda x: x.fill_(1j), lambda x: x.masked_fill(x == x, 1j), lambda x: x.masked_fill_(x == x, 1j),
    lambda x: x.__setitem__(x == x, 1j), lambda x: x.__setitem__(0, 1j),
    lambda x: retrograd.full_like(x, 1j)])
def test_a_complex_number_is_true_where_it_is_not_zero(write: Callable[[Any], Any]) -> None:
    x = retrograd.tensor([False])
    y = write(x)
    assert (x if y is None else y).tolist() == [True]


@pytest.mark.parametrize("array", [np.array(["a", "b"]), np.array([None, 1]), np.array([2, 1], object)])
def test_an_array_of_other_things_is_no_operand(array: Any) -> None:
    x = retrograd.ones(2)
    assert (x == array) is False and (x != array) is True        # as in PyTorch
    for call in (lambda: x < array, lambda: x * array, lambda: array * x, lambda: x @ array):
        with pytest.raises(TypeError, match="array"):
            call()
    assert x.tolist() == [1, 1]
