"""dtypes, promotion, devices, Size: equal to PyTorch's answers in transcripts/dtypes.json; then what is ours alone."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import types
from typing import Any

import dtype_cases
import numpy as np
import pytest

import retrograd
from retrograd._engine import promote
from retrograd._engine.tensor import wrap
from retrograd._missing import dtypes as _dtype_names
from retrograd._tensor import dtypes, size

PYTORCH = json.loads(dtype_cases.TRANSCRIPT.read_text(encoding="utf-8"))
OURS = types.SimpleNamespace(**{**vars(_dtype_names), **vars(dtypes)}, Size=size.Size)


def make(shape: tuple[int, ...], d: Any) -> Any:
    return wrap(np.zeros(shape, d.numpy))


def test_attributes_are_pytorchs() -> None:
    assert dtype_cases.attributes(OURS) == PYTORCH["attributes"]


def test_promote_types_for_all_pairs() -> None:
    assert dtype_cases.promotions(OURS) == PYTORCH["promote_types"]


def test_the_engine_promotes_arrays_in_the_same_way() -> None:
    for a in dtype_cases.NAMES:
        for b in dtype_cases.NAMES:
            found = promote.promote_types(getattr(dtypes, a).numpy, getattr(dtypes, b).numpy)
            assert str(dtypes.of(found)) == PYTORCH["promote_types"][f"{a} {b}"], (a, b)


def test_can_cast_for_all_pairs() -> None:
    assert dtype_cases.casts(OURS) == PYTORCH["can_cast"]


def test_result_type_for_all_pairs_of_tensors_and_numbers() -> None:
    assert dtype_cases.result_types(OURS, make) == PYTORCH["result_type"]


def test_result_type_names_what_it_cannot_take() -> None:
    with pytest.raises(TypeError, match=r"result_type\(\) received .* got \(str, int\)"):
        dtypes.result_type("a", 1)


def test_device_arguments() -> None:
    assert dtype_cases.devices(OURS) == PYTORCH["device"]


@pytest.mark.parametrize("expression", dtype_cases.SIZES)
def test_size_behaves_as_pytorchs(expression: str) -> None:
    found = dtype_cases.evaluated(OURS, (expression,))[expression]
    assert found == PYTORCH["size"][expression]


@pytest.mark.parametrize("expression", dtype_cases.LIMITS)
def test_finfo_and_iinfo_are_pytorchs(expression: str) -> None:
    found = dtype_cases.evaluated(OURS, (expression,))[expression]
    if "unhashable" not in found:
        assert found == PYTORCH["limits"][expression]


@pytest.mark.parametrize("expression", dtype_cases.CALLS)
def test_dtypes_and_devices_answer_calls_as_pytorchs(expression: str) -> None:
    found = dtype_cases.evaluated(OURS, (expression,))[expression]
    assert found == PYTORCH["calls"][expression]


def test_dtypes_that_are_only_named_answer_as_pytorchs() -> None:
    found = dtype_cases.named(OURS)
    assert {e: found[e] for e in PYTORCH["named"]} == PYTORCH["named"]


def test_a_tensor_of_a_dtype_that_is_only_named_is_refused() -> None:
    for name in _dtype_names.__all__:
        d = getattr(retrograd, name)
        if d in (retrograd.complex64, retrograd.complex128):
            continue
        for make in (lambda d: retrograd.zeros(2, dtype=d), lambda d: retrograd.tensor([1], dtype=d),
                     lambda d: retrograd.ones(2).to(d), lambda d: retrograd.ones(2).view(d),
                     lambda d: retrograd.ones(2).sum(dtype=d)):
            with pytest.raises(NotImplementedError, match=f"retrograd has no tensors of {d}: the dtype can only be named"):
                make(d)


@pytest.mark.oracle
def test_the_transcript_is_what_pytorch_says() -> None:
    torch = pytest.importorskip("torch")
    if torch.__version__.split("+")[0] != PYTORCH["torch"]:
        pytest.skip(f"the transcript is PyTorch {PYTORCH['torch']}'s")
    found = dtype_cases.answers(torch, lambda shape, d: torch.zeros(shape, dtype=d))
    assert json.loads(json.dumps(found)) == {k: v for k, v in PYTORCH.items() if k != "torch"}


CONSTANTS = [
    *(getattr(dtypes, name) for name in dtype_cases.NAMES), *(getattr(_dtype_names, name) for name in dtype_cases.NAMED),
    dtypes.strided, dtypes.contiguous_format,
    dtypes.preserve_format, dtypes.channels_last, dtypes.channels_last_3d]  # fmt: skip


@pytest.mark.parametrize("constant", CONSTANTS, ids=str)
def test_constants_stay_one_object(constant: Any) -> None:
    assert copy.copy(constant) is constant
    assert copy.deepcopy([constant])[0] is constant
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        if protocol > 0 or not isinstance(constant, dtypes.dtype):
            assert pickle.loads(pickle.dumps(constant, protocol)) is constant


@pytest.mark.parametrize("d", [dtypes.device("cpu"), dtypes.device("cuda:3")], ids=str)
def test_device_is_copied_and_pickled(d: Any) -> None:
    assert copy.deepcopy(d) == d
    assert pickle.loads(pickle.dumps(d)) == d
    assert len({d, pickle.loads(pickle.dumps(d))}) == 1


def test_size_is_copied_and_pickled() -> None:
    s = size.Size([2, 3])
    for again in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s)), size.of((2, 3))):
        assert type(again) is size.Size
        assert again == s


@pytest.mark.parametrize("name", dtype_cases.NAMES)
def test_of_is_the_inverse_of_numpy(name: str) -> None:
    d = getattr(dtypes, name)
    assert dtypes.of(d.numpy) is d
    assert dtypes.of(np.zeros(2, d.numpy).dtype) is d
    assert dtypes.to_numpy(d, "zeros") is d.numpy


def test_of_knows_both_names_of_64_bit_integers() -> None:
    assert dtypes.of(np.dtype("q")) is dtypes.int64
    assert dtypes.of(np.dtype("l")) is (dtypes.int64 if np.dtype("l").itemsize == 8 else dtypes.int32)


@pytest.mark.parametrize("code", ["u2", "u4", "u8", "O", "U3", "S2", "M8[s]", "V4", "g"])
def test_of_refuses_other_dtypes(code: str) -> None:
    if code == "g" and np.dtype("g") == np.dtype("d"):
        pytest.skip("long double is double here")
    with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type numpy\.\w+\. The only supported types are"):
        dtypes.of(np.dtype(code))


def test_of_refuses_foreign_byte_order() -> None:
    with pytest.raises(ValueError, match="byte order different from the native byte order"):
        dtypes.of(np.dtype("f4").newbyteorder())


def test_python_types_as_dtype_arguments() -> None:
    assert [dtypes.to_numpy(t, "zeros").name for t in (float, int, bool)] == ["float64", "int64", "bool"]
    for wrong, name in (("float32", "str"), (str, "type"), (None, "NoneType"), (3, "int")):
        with pytest.raises(TypeError, match=rf"zeros\(\): argument 'dtype' must be torch.dtype, not {name}$"):
            dtypes.to_numpy(wrong, "zeros")


def test_default_dtype() -> None:
    try:
        for d in (dtypes.float64, dtypes.float16, dtypes.bfloat16):
            dtypes.set_default_dtype(d)
            assert dtypes.get_default_dtype() is d
            assert promote.default.float_ is d.numpy
    finally:
        dtypes.set_default_dtype(dtypes.float32)
    assert dtypes.get_default_dtype() is dtypes.float32


def test_only_the_cpu_computes() -> None:
    for d in (None, "cpu", "cpu:0", dtypes.device("cpu"), dtypes.device("cpu", 0)):
        dtypes.check_device(d)
    for d in ("cuda", dtypes.device("mps"), "xpu"):
        with pytest.raises((RuntimeError, AssertionError), match="retrograd computes on the CPU and has no device"):
            dtypes.check_device(d)
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda, .* device type at start of device string: foo"):
        dtypes.check_device("foo")
    with dtypes.device("cpu") as d:
        assert d == dtypes.device("cpu")


def test_bfloat16_without_ml_dtypes_names_the_package() -> None:
    program = """
import sys
sys.modules["ml_dtypes"] = None
from retrograd._tensor import dtypes
print(dtypes.bfloat16, dtypes.promote_types(dtypes.bfloat16, dtypes.float16), dtypes.finfo(dtypes.bfloat16).eps)
try:
    dtypes.set_default_dtype(dtypes.bfloat16)
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "torch.bfloat16 torch.float32 0.0078125",
        "torch.bfloat16 needs the package ml_dtypes: pip install ml_dtypes"]  # fmt: skip
