"""Arguments of the wrong type, and what PyTorch says of them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import retrograd as torch
import retrograd.nn.functional as F


@pytest.mark.parametrize("dim", [torch.tensor(1), np.int64(1), np.int32(1)])
def test_a_tensor_or_numpy_int_stands_for_an_int(dim: Any) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    for f in (torch.cumsum, torch.sum, torch.argmax, torch.softmax, torch.diff):
        arguments = {"dim": dim}
        assert torch.equal(f(x, **arguments), f(x, dim=1))
    assert torch.equal(x.narrow(dim, 0, dim), x[:, :1])
    assert torch.equal(torch.flip(x, (dim,)), torch.flip(x, (1,)))


def test_a_tensor_of_one_number_stands_for_a_number() -> None:
    x = torch.linspace(-2, 2, 5)
    assert torch.equal(F.elu(x, torch.tensor(2.0)), F.elu(x, 2.0))
    assert torch.equal(F.leaky_relu(x, torch.tensor(0.5)), F.leaky_relu(x, 0.5))
    with pytest.raises(TypeError, match=r"elu\(\): argument 'alpha' \(position 2\) must be Number, not Tensor"):
        F.elu(x, torch.tensor(2.0, requires_grad=True))
    with pytest.raises(TypeError, match="must be Number, not Tensor"):
        F.elu(x, torch.ones(2))


def test_a_call_of_types_seen_before_is_looked_at_where_types_do_not_tell() -> None:
    x = torch.ones(2, 3)
    for good, bad in (((0, 1), (0, "a")), ([0], ["a"]), ((1,), (True,))):
        torch.flip(x, good)
        torch.flip(x, good)
        with pytest.raises(TypeError, match=r"flip\(\): argument 'dims'"):
            torch.flip(x, bad)
    torch.cat([x, x])
    with pytest.raises(TypeError, match="expected Tensor as element 1 in argument 0, but got int"):
        torch.cat([x, 1])


def test_names_of_numpy_stand_for_pytorchs() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(torch.amax(x, axis=1, keepdims=True), torch.amax(x, 1, True))
    assert torch.equal(torch.maximum(input=x, other=-x), torch.maximum(x, -x))
    assert torch.equal(torch.floor(x=x), torch.floor(x))


@pytest.mark.parametrize("f", [torch.flip, torch.exp, torch.linalg.inv, torch.special.expit, torch.multiply, F.softplus,
                               F.softmax, F.max_pool2d, F.elu])
def test_functions_are_pickled_by_their_name(f: Any) -> None:
    assert pickle.loads(pickle.dumps(f)) is f


def test_a_method_counts_its_arguments_without_itself() -> None:
    x = torch.ones(2, 3)
    with pytest.raises(TypeError, match=r"cumsum\(\): argument 'dim' \(position 1\) must be int, not str"):
        x.cumsum("a")
    with pytest.raises(TypeError, match=r"cumsum\(\): argument 'dim' \(position 2\) must be int, not str"):
        torch.cumsum(x, "a")
    with pytest.raises(TypeError, match="descriptor 'cumsum' for 'torch._C.TensorBase' objects doesn't apply to a 'list' object"):
        torch.Tensor.cumsum([1.0], 0)


@pytest.mark.oracle
@pytest.mark.parametrize("call", [call.strip() for line in """
    F.unfold(x, 2, stride=N) | F.unfold(x, (2, N)) | F.fold(y, N, 2) | F.fold(y, 4, 2, stride=N) | F.conv2d(x, w, stride=N)
    F.conv2d(x, w, padding=N) | F.conv2d(x, w, dilation=(1, N)) | F.conv_transpose2d(x, v, output_padding=N) | F.max_pool2d(x, N)
    F.avg_pool2d(x, 2, N) | F.adaptive_avg_pool2d(x, N) | F.adaptive_avg_pool2d(x, (N, 2)) | F.adaptive_max_pool2d(x, N)
    x.tensor_split(N) | torch.tensor_split(x, [N]) | F.interpolate(x, N) | F.interpolate(x, (2, N))
    F.embedding(i[0, 0, 0], x[0, 0], N) | F.max_unpool2d(x, i, N) | F.max_unpool3d(x, i, 1, 1, N)
""".strip().splitlines() for call in line.split(" | ")])
@pytest.mark.parametrize("number", [10**30, -10**30, 2**63])
def test_a_number_of_more_than_64_bits_is_refused_also_where_such_types_were_seen(call: str, number: int) -> None:
    theirs = pytest.importorskip("torch")
    told = []
    for module, functional in ((theirs, theirs.nn.functional), (torch, F)):
        shapes = {"x": (1, 2, 4, 4), "y": (1, 8, 4), "w": (1, 2, 2, 2), "v": (2, 1, 2, 2)}
        names = {key: module.ones(shape) for key, shape in shapes.items()} | {"F": functional, "torch": module}
        names["i"] = module.arange(32).reshape(1, 2, 4, 4) % 16
        for n in (number, 1, number):
            try:
                eval(call, names | {"N": n})
            except (TypeError, ValueError, RuntimeError, AssertionError) as error:
                if n != 1:
                    told.append((type(error), str(error).splitlines()[0].rstrip('"')))
    assert len(told) == 4 and told[2:] == told[:2]


def test_more_sections_than_memory_holds_are_refused_at_once() -> None:
    with pytest.raises(RuntimeError, match="bad_alloc"):
        torch.ones(3).tensor_split(10**12)


@pytest.mark.parametrize("taken", [
    torch.tensor, torch.as_tensor, torch.from_numpy, torch.asarray, torch.from_dlpack, torch.Tensor, torch.ones(1).new_tensor,
    lambda x: torch.tensor([x, x])[0], lambda x: torch.stack([torch.tensor(list(x))])[0], lambda x: torch.zeros(2, 3) + x,
    lambda x: torch.ones(2, 3) * x, lambda x: torch.utils.data.default_collate([x])[0],
    lambda x: torch.from_numpy(x) + torch.zeros(3, dtype=torch.int64)])
def test_arrays_that_were_unpickled_or_turned_to_native_bytes_are_as_any(taken: Any) -> None:
    """Their dtype is another object than NumPy's own, and equal to it."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    swapped = x.astype(">f4")
    for array in (pickle.loads(pickle.dumps(x)), swapped.astype(swapped.dtype.newbyteorder("="))):
        assert array.dtype is not x.dtype
        t = taken(array)
        assert t.tolist() == x.tolist() and t.numpy().dtype is x.dtype
        assert (t @ torch.ones(3, 1)).tolist() == [[3.0], [12.0]]
